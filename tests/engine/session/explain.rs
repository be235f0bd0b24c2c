//! Why a model cannot see something, and what would open it.

use skills_engine::session::{
    Decision, MemberFacts, Question, SkillFacts, TurnStanding, Why, explain,
};
use skills_engine::skill::{Expose, Level};

use super::{Complete, Context, Host, Metadata, Model, Session, limit, set};

const MEMBER: MemberFacts = MemberFacts::new(Complete, Expose::Psl);

fn question<'a>(
    session: &'a Session,
    skill: Option<&'a SkillFacts>,
    member: Option<&'a MemberFacts>,
    turn: Option<Level>,
) -> Question<'a> {
    Question {
        skill: "helpdesk",
        member: "reopen",
        skill_facts: skill,
        member_facts: member,
        standing: session.state.standing("helpdesk"),
        turn: turn.map_or_else(TurnStanding::default, TurnStanding::by_model),
    }
}

#[test]
fn every_number_is_named_with_what_would_open_it() {
    let mut session = Session::at(Metadata);
    session.must(&set("helpdesk", Context, Host));
    session.must(&session.ttl("helpdesk", Complete, Model, 60));
    session.must(&limit("helpdesk", Context));
    let facts = SkillFacts::new(Metadata);
    let question = question(&session, Some(&facts), Some(&MEMBER), Some(Complete));
    let explanation = explain(&question, session.now);
    let (have, need) = (Context, Complete);
    assert_eq!(explanation.decision, Decision::Hidden { have, need });
    assert_eq!(explanation.level, Some(Context));
    assert_eq!(
        explanation.reasons,
        [
            "`helpdesk` starts at METADATA",
            "the host set it to CONTEXT until it is cleared",
            "the model opened COMPLETE until 2023-11-14T22:14:20.000Z",
            "this turn opened COMPLETE",
            "the session limits it to CONTEXT",
            "so `helpdesk` is at CONTEXT",
            "`reopen` is visible from COMPLETE on",
            "to show `reopen`, lift the limit of `helpdesk` to COMPLETE and set `helpdesk` to COMPLETE if it is below",
        ]
    );
}

#[test]
fn the_last_reason_says_what_to_do() {
    let on = SkillFacts::new(Metadata);
    let off = on.denied(Some(Why::SwitchedOff));
    let disabled = MemberFacts::new(Metadata, Expose::Disabled);
    let always = MemberFacts::new(Complete, Expose::Always);
    let rows = [
        (
            "unknown skill",
            None,
            Some(&MEMBER),
            Decision::Unknown,
            "there is no skill `helpdesk`; check the id",
        ),
        (
            "unknown member",
            Some(&on),
            None,
            Decision::Unknown,
            "`helpdesk` has no tool or attribute `reopen`; check the name",
        ),
        (
            "switched off",
            Some(&off),
            Some(&MEMBER),
            Decision::Denied(Why::SwitchedOff),
            "`helpdesk` is switched off; to show `reopen`, enable `helpdesk`",
        ),
        (
            "disabled",
            Some(&on),
            Some(&disabled),
            Decision::Disabled,
            "nothing opens `reopen`; call it in code, or expose it another way",
        ),
        (
            "hidden",
            Some(&on),
            Some(&MEMBER),
            Decision::Hidden {
                have: Metadata,
                need: Complete,
            },
            "to show `reopen`, set `helpdesk` to COMPLETE",
        ),
        (
            "visible",
            Some(&on),
            Some(&always),
            Decision::Visible,
            "the model sees `reopen`",
        ),
    ];
    let session = Session::at(Metadata);
    for (name, skill, member, decision, last) in rows {
        let explanation = explain(&question(&session, skill, member, None), session.now);
        assert_eq!(explanation.decision, decision, "{name}");
        assert_eq!(explanation.reasons.last().unwrap(), last, "{name}");
    }
}

#[test]
fn a_grant_that_ended_is_told_as_ended() {
    let mut session = Session::at(Metadata);
    session.must(&session.ttl("helpdesk", Complete, Model, 60));
    session.advance(60);
    let facts = SkillFacts::new(Metadata);
    let question = question(&session, Some(&facts), Some(&MEMBER), None);
    let explanation = explain(&question, session.now);
    assert_eq!(
        explanation.reasons[1],
        "the model opened COMPLETE, which ended at 2023-11-14T22:14:20.000Z"
    );
}
