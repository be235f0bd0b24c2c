//! Turn-bound grants.

use std::sync::Arc;

use skills_engine::session::{TurnGrants, TurnOutcome, TurnWish};
use skills_engine::skill::{Actor, Code, Fault, Level};

use super::{
    Complete, Context, Host, Metadata, Model, Session, System, User, clear, clear_all, limit, set,
};

fn wish(skill: &str, level: Level, actor: Actor) -> TurnWish {
    TurnWish {
        skill: skill.into(),
        level,
        actor,
        base: Metadata,
    }
}

fn open(
    turn: &mut TurnGrants,
    session: &Session,
    skill: &str,
    level: Level,
    actor: Actor,
) -> Result<TurnOutcome, Fault> {
    let wish = wish(skill, level, actor);
    turn.set(&wish, &session.state, session.now, &session.limits)
}

#[test]
fn se11_a_turn_grant_raises_its_turn_and_no_other() {
    let session = Session::at(Metadata);
    let (mut turn, other) = (TurnGrants::default(), TurnGrants::default());
    let outcome = open(&mut turn, &session, "a", Complete, Model).unwrap();
    assert_eq!((outcome.old_level, outcome.new_level), (Metadata, Complete));
    assert_eq!(turn.level("a", &session.state), Some(Complete));
    assert_eq!(turn.level("b", &session.state), None);
    assert_eq!(other.level("a", &session.state), None);
    assert_eq!(session.state.version(), 0, "no store knows of it");
    let again = open(&mut turn, &session, "a", Context, Model).unwrap();
    assert!(again.already_open, "it only raises");
    assert_eq!(again.new_level, Complete);
}

#[test]
fn se11_what_is_done_outside_ends_a_turn_grant_of_the_same_or_a_lower_actor() {
    let session = Session::at(Metadata);
    let later = |change| {
        let mut session = session.clone();
        session.must(&change);
        session
    };
    let rows = [
        ("a clear by the same actor", later(clear("a", User)), false),
        ("a clear by a higher actor", later(clear("a", Host)), false),
        ("a clear by a lower actor", later(clear("a", Model)), true),
        ("a clear of another skill", later(clear("b", System)), true),
        ("a clear of all", later(clear_all(User)), false),
        (
            "a clear of all by a lower actor",
            later(clear_all(Model)),
            true,
        ),
        (
            "a lower level that opens",
            later(set("a", Context, User)),
            false,
        ),
        (
            "a lower level that was there",
            later(set("a", Metadata, Host)),
            false,
        ),
        (
            "a lower level by a lower actor",
            later(set("a", Context, Model)),
            true,
        ),
        ("the same level", later(set("a", Complete, Host)), true),
        (
            "a grant with an end",
            later(session.ttl("a", Context, Host, 60)),
            true,
        ),
    ];
    for (name, after, is_live) in rows {
        let mut turn = TurnGrants::default();
        open(&mut turn, &session, "a", Complete, User).unwrap();
        let expected = is_live.then_some(Complete);
        assert_eq!(turn.level("a", &after.state), expected, "{name}");
        turn.prune(&after.state);
        assert_eq!(turn.is_empty(), !is_live, "{name}");
    }
}

#[test]
fn se11_a_grant_made_after_a_clear_stands() {
    let mut session = Session::at(Metadata);
    session.must(&clear("a", Host));
    session.must(&clear_all(Host));
    let mut turn = TurnGrants::default();
    open(&mut turn, &session, "a", Complete, Model).unwrap();
    assert_eq!(turn.level("a", &session.state), Some(Complete));
}

#[test]
fn a_turn_grant_is_over_when_what_ended_it_may_be_forgotten() {
    let mut session = Session::at(Metadata);
    let mut turn = TurnGrants::default();
    open(&mut turn, &session, "z", Complete, Model).unwrap();
    for index in 0..64 {
        session.must(&clear(&format!("s{index}"), Model));
    }
    assert_eq!(turn.level("z", &session.state), Some(Complete));
    session.must(&clear("s64", Model));
    assert_eq!(
        turn.level("z", &session.state),
        None,
        "better closed than wrongly open"
    );
    open(&mut turn, &session, "z", Complete, Model).unwrap();
    assert_eq!(turn.level("z", &session.state), Some(Complete));
}

#[test]
fn a_ceiling_refuses_and_caps_the_turn() {
    let mut session = Session::at(Metadata);
    session.must(&limit("a", Context));
    let mut turn = TurnGrants::default();
    let fault = open(&mut turn, &session, "a", Complete, Model).unwrap_err();
    assert_eq!(fault.code, Code::NotPermitted);
    let outcome = open(&mut turn, &session, "a", Complete, Host).unwrap();
    assert_eq!(outcome.new_level, Context);
}

#[test]
fn what_stands_anyway_is_already_open() {
    let mut session = Session::at(Metadata);
    session.must(&set("a", Context, User));
    session.must(&session.ttl("b", Context, User, 60));
    let mut turn = TurnGrants::default();
    let rows = [
        ("a floor of a higher actor", "a", Context, Model, true),
        ("a floor of a lower actor", "a", Context, Host, false),
        (
            "a grant that may end before the turn",
            "b",
            Context,
            Model,
            false,
        ),
        ("metadata", "c", Metadata, System, true),
    ];
    for (name, skill, level, actor, is_open) in rows {
        let outcome = open(&mut turn, &session, skill, level, actor).unwrap();
        assert_eq!(outcome.already_open, is_open, "{name}");
    }
}

#[test]
fn a_turn_keeps_the_order_of_its_openings() {
    let session = Session::at(Metadata);
    let mut turn = TurnGrants::default();
    for (skill, level, actor) in [
        ("b", Context, Model),
        ("a", Context, Model),
        ("b", Complete, Model),
        ("b", Context, Host),
    ] {
        open(&mut turn, &session, skill, level, actor).unwrap();
    }
    let live = turn.live(&session.state);
    let live: Vec<_> = live
        .map(|grant| (&**grant.skill(), grant.level(), grant.actor()))
        .collect();
    assert_eq!(
        live,
        [
            ("b", Context, Host),
            ("a", Context, Model),
            ("b", Complete, Model)
        ]
    );
}

#[test]
fn clearing_in_a_turn_says_what_went_and_what_remains() {
    let session = Session::at(Metadata);
    let mut turn = TurnGrants::default();
    open(&mut turn, &session, "a", Context, Host).unwrap();
    open(&mut turn, &session, "a", Complete, Model).unwrap();
    open(&mut turn, &session, "b", Context, Model).unwrap();
    let cleared = turn.clear(Some("a"), Model, &session.state);
    let shown = |grants: &[skills_engine::skill::StandingGrant]| {
        let one =
            |grant: &skills_engine::skill::StandingGrant| (grant.level, grant.actor, grant.span);
        grants.iter().map(one).collect::<Vec<_>>()
    };
    assert_eq!(shown(&cleared.cleared), [(Complete, Model, "turn")]);
    assert_eq!(shown(&cleared.remaining), [(Context, Host, "turn")]);
    assert_eq!(turn.level("a", &session.state), Some(Context));
    let cleared = turn.clear(None, Host, &session.state);
    assert_eq!((cleared.cleared.len(), cleared.remaining.len()), (2, 0));
    assert!(turn.is_empty());
}

#[test]
fn lowering_in_a_turn_is_held_by_a_higher_actor() {
    let mut session = Session::at(Metadata);
    let mut turn = TurnGrants::default();
    open(&mut turn, &session, "a", Context, Host).unwrap();
    open(&mut turn, &session, "a", Complete, Model).unwrap();
    let fault = turn
        .check_lowering("a", Metadata, Model, &session.state)
        .unwrap_err();
    assert_eq!(
        fault.to_string(),
        "held_by: the host holds `a` at CONTEXT until its turn ends, so the model cannot set it to METADATA; set CONTEXT or higher, or ask the host to lower it"
    );
    turn.check_lowering("a", Context, Model, &session.state)
        .unwrap();
    assert!(turn.lower("a", Context, Model));
    assert_eq!(turn.level("a", &session.state), Some(Context));
    session.must(&limit("a", Metadata));
    turn.check_lowering("a", Metadata, Model, &session.state)
        .unwrap();
}

#[test]
fn session_and_turn_share_the_room_for_grants() {
    let mut session = Session::at(Metadata);
    session.limits.grants = 3;
    session.must(&set("a", Context, Model));
    let mut turn = TurnGrants::default();
    open(&mut turn, &session, "b", Context, Model).unwrap();
    open(&mut turn, &session, "c", Context, Model).unwrap();
    let fault = open(&mut turn, &session, "d", Context, Model).unwrap_err();
    assert_eq!(fault.code, Code::LimitExceeded);
    session.state = Arc::new(session.must(&clear("b", Model)).state);
    open(&mut turn, &session, "d", Context, Model).unwrap();
}
