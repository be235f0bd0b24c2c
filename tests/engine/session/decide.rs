//! The rule, row by row.

use skills_engine::session::{Decision, MemberFacts, SkillFacts, TurnStanding, Why, decide};
use skills_engine::skill::{Expose, Level};

use super::{Complete, Context, Host, Metadata, Model, Session, User, limit, set};

/// A skill at base METADATA with a member, in a session that made some changes.
struct Row {
    name: &'static str,
    changes: Vec<skills_engine::session::Change>,
    turn: Option<Level>,
    seconds_later: u64,
    skill: Option<SkillFacts>,
    member: Option<MemberFacts>,
    decision: Decision,
}

const SKILL: SkillFacts = SkillFacts::new(Metadata);

fn row(name: &'static str, member: MemberFacts, decision: Decision) -> Row {
    Row {
        name,
        changes: Vec::new(),
        turn: None,
        seconds_later: 0,
        skill: Some(SKILL),
        member: Some(member),
        decision,
    }
}

const fn hidden(have: Level, need: Level) -> Decision {
    Decision::Hidden { have, need }
}

const VISIBLE: Decision = Decision::Visible;

const fn psl(level: Level) -> MemberFacts {
    MemberFacts::new(level, Expose::Psl)
}

const fn always(level: Level) -> MemberFacts {
    MemberFacts::new(level, Expose::Always)
}

const fn disabled(level: Level) -> MemberFacts {
    MemberFacts::new(level, Expose::Disabled)
}

#[track_caller]
fn check(rows: impl IntoIterator<Item = Row>) {
    for row in rows {
        let mut session = Session::at(row.skill.map_or(Metadata, |skill| skill.base));
        for change in &row.changes {
            session.must(change);
        }
        session.advance(row.seconds_later);
        let standing = session.state.standing("a");
        let decision = decide(
            row.skill.as_ref(),
            row.member.as_ref(),
            &standing,
            row.turn
                .map_or_else(TurnStanding::default, TurnStanding::by_model),
            session.now,
        );
        assert_eq!(decision, row.decision, "{}", row.name);
    }
}

#[test]
fn what_does_not_take_part() {
    let off = Some(SKILL.denied(Some(Why::SwitchedOff)));
    let denied = Decision::Denied(Why::SwitchedOff);
    check([
        Row {
            skill: None,
            ..row("no such skill", psl(Metadata), Decision::Unknown)
        },
        Row {
            member: None,
            ..row("no such member", psl(Metadata), Decision::Unknown)
        },
        Row {
            skill: None,
            member: None,
            ..row("neither", psl(Metadata), Decision::Unknown)
        },
        Row {
            skill: off,
            member: None,
            ..row(
                "no such member of a skill switched off",
                psl(Metadata),
                Decision::Unknown,
            )
        },
        Row {
            skill: off,
            ..row("switched off", psl(Metadata), denied)
        },
        Row {
            skill: off,
            ..row("switched off, always", always(Metadata), denied)
        },
        Row {
            skill: off,
            ..row("switched off, disabled", disabled(Metadata), denied)
        },
        row("disabled", disabled(Metadata), Decision::Disabled),
        Row {
            changes: vec![set("a", Complete, Host)],
            ..row(
                "disabled though open",
                disabled(Complete),
                Decision::Disabled,
            )
        },
    ]);
}

#[test]
fn se01_the_level_decides() {
    let session = Session::at(Metadata);
    let model_ttl = |level, seconds| session.ttl("a", level, Model, seconds);
    check([
        row("psl at its level", psl(Metadata), VISIBLE),
        row("psl above", psl(Context), hidden(Metadata, Context)),
        row("psl far above", psl(Complete), hidden(Metadata, Complete)),
        Row {
            skill: Some(SkillFacts::new(Context)),
            ..row("psl at the base level", psl(Context), VISIBLE)
        },
        Row {
            changes: vec![set("a", Context, Model)],
            ..row("a floor", psl(Context), VISIBLE)
        },
        Row {
            changes: vec![set("a", Context, Model)],
            ..row(
                "a floor that is too low",
                psl(Complete),
                hidden(Context, Complete),
            )
        },
        Row {
            changes: vec![set("b", Complete, Host)],
            ..row(
                "the floor of another skill",
                psl(Context),
                hidden(Metadata, Context),
            )
        },
        Row {
            skill: Some(SkillFacts::new(Complete)),
            changes: vec![set("a", Metadata, Host)],
            ..row(
                "a floor below the base level",
                psl(Context),
                hidden(Metadata, Context),
            )
        },
        Row {
            skill: Some(SkillFacts::new(Complete)),
            changes: vec![set("a", Metadata, Host), set("a", Context, Model)],
            ..row("the highest of two floors", psl(Context), VISIBLE)
        },
        Row {
            changes: vec![model_ttl(Context, 60)],
            ..row("a live ttl", psl(Context), VISIBLE)
        },
        Row {
            changes: vec![model_ttl(Context, 60)],
            seconds_later: 59,
            ..row("a ttl in its last second", psl(Context), VISIBLE)
        },
        Row {
            changes: vec![model_ttl(Context, 60)],
            seconds_later: 60,
            ..row("a ttl at its end", psl(Context), hidden(Metadata, Context))
        },
        Row {
            changes: vec![set("a", Complete, Host), model_ttl(Context, 60)],
            ..row("a ttl never lowers", psl(Complete), VISIBLE)
        },
    ]);
}

#[test]
fn turns_raise_and_ceilings_cap() {
    let session = Session::at(Metadata);
    let model_ttl = |level, seconds| session.ttl("a", level, Model, seconds);
    check([
        Row {
            turn: Some(Context),
            ..row("a grant of this turn", psl(Context), VISIBLE)
        },
        Row {
            changes: vec![set("a", Complete, Host)],
            turn: Some(Context),
            ..row("a grant of this turn never lowers", psl(Complete), VISIBLE)
        },
        Row {
            changes: vec![set("a", Complete, Host), limit("a", Context)],
            ..row(
                "a ceiling caps a floor",
                psl(Complete),
                hidden(Context, Complete),
            )
        },
        Row {
            changes: vec![model_ttl(Complete, 60), limit("a", Context)],
            ..row(
                "a ceiling caps a ttl",
                psl(Complete),
                hidden(Context, Complete),
            )
        },
        Row {
            changes: vec![limit("a", Context)],
            turn: Some(Complete),
            ..row(
                "a ceiling caps the turn",
                psl(Complete),
                hidden(Context, Complete),
            )
        },
        Row {
            skill: Some(SkillFacts::new(Complete)),
            changes: vec![limit("a", Metadata)],
            ..row(
                "a ceiling caps the base level",
                psl(Context),
                hidden(Metadata, Context),
            )
        },
        Row {
            changes: vec![set("a", Context, User), limit("a", Context)],
            ..row("a ceiling is reached", psl(Context), VISIBLE)
        },
    ]);
}

#[test]
fn se04_always_is_visible_under_ceilings() {
    check([
        row("always, whatever the level", always(Complete), VISIBLE),
        Row {
            changes: vec![limit("a", Context)],
            ..row(
                "always under a ceiling",
                always(Complete),
                hidden(Metadata, Complete),
            )
        },
        Row {
            changes: vec![limit("a", Context)],
            ..row("always at a ceiling", always(Context), VISIBLE)
        },
        Row {
            changes: vec![limit("a", Metadata), limit("a", None)],
            ..row(
                "always after a ceiling was lifted",
                always(Complete),
                VISIBLE,
            )
        },
    ]);
}
