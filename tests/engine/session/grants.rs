//! What each change does, said in examples.

use skills_engine::session::{Change, SessionState};
use skills_engine::skill::{Code, Level, StandingGrant};

use super::{
    Complete, Context, Host, Metadata, Model, Session, System, User, clear, clear_all, limit, set,
};

#[test]
fn se08_a_second_open_answers_already_open() {
    let mut session = Session::at(Metadata);
    let first = session.must(&set("a", Context, Host)).outcome;
    assert_eq!((first.old_level, first.new_level), (Metadata, Context));
    assert!(first.raised && !first.already_open);
    assert_eq!(first.grant, Some(1));
    let second = session.must(&set("a", Context, Host)).outcome;
    assert!(second.already_open && !second.raised);
    assert_eq!(second.grant, None);
}

#[test]
fn what_a_model_has_already_changes_nothing() {
    let mut session = Session::at(Context);
    for change in [
        set("a", Context, Model),
        session.ttl("a", Context, Model, 60),
        session.ttl("a", Metadata, Host, 60),
        limit("a", Complete),
        limit("a", None),
        Change::Expire,
    ] {
        let applied = session.must(&change);
        assert!(!applied.outcome.changed, "{change:?}");
        assert_eq!(applied.state, SessionState::default(), "{change:?}");
    }
}

#[test]
fn a_request_that_adds_something_is_done() {
    let mut session = Session::at(Metadata);
    session.must(&session.ttl("a", Context, Model, 60));
    let rows = [
        ("a later end", session.ttl("a", Context, Model, 61)),
        ("a higher actor", session.ttl("a", Context, User, 61)),
        ("no end", set("a", Context, User)),
        ("a higher actor still", set("a", Context, Host)),
        ("a higher level", session.ttl("a", Complete, Model, 60)),
    ];
    for (name, change) in rows {
        let applied = session.must(&change);
        assert!(!applied.outcome.already_open, "{name}");
        assert!(session.must(&change).outcome.already_open, "{name}, again");
    }
    let kept = session.state.standing("a").list(session.now);
    let kept: Vec<_> = kept
        .iter()
        .map(|grant| (grant.level, grant.actor, grant.span))
        .collect();
    assert_eq!(
        kept,
        [(Context, Host, "until_cleared"), (Complete, Model, "ttl")],
        "what another grant covers is not kept"
    );
}

#[test]
fn se02_setting_a_lower_level_closes_what_peers_and_lower_actors_opened() {
    let mut session = Session::at(Metadata);
    session.must(&set("a", Complete, Model));
    session.must(&session.ttl("a", Complete, User, 60));
    let lowered = session.must(&set("a", Context, User)).outcome;
    assert_eq!((lowered.old_level, lowered.new_level), (Complete, Context));
    session.must(&set("a", Metadata, Host));
    assert_eq!(session.level("a"), Metadata);
    assert_eq!(session.state.skills().count(), 0, "nothing is left to keep");
}

#[test]
fn nobody_lowers_what_a_higher_actor_holds() {
    let mut session = Session::at(Metadata);
    session.must(&session.ttl("a", Complete, Host, 60));
    let fault = session.apply(&set("a", Context, Model)).unwrap_err();
    assert_eq!(fault.code, Code::HeldBy);
    assert_eq!(
        fault.message,
        "the host holds `a` at COMPLETE until 2023-11-14T22:14:20.000Z, so the model cannot set it to CONTEXT; set COMPLETE or higher, or ask the host to lower it"
    );
    session.must(&set("b", Context, System));
    let fault = session.apply(&set("b", Metadata, Host)).unwrap_err();
    assert_eq!(
        fault.message,
        "the system holds `b` at CONTEXT until it is cleared, so the host cannot set it to METADATA; set CONTEXT or higher, or ask the system to lower it"
    );
}

#[test]
fn a_host_can_pin_the_base_level() {
    let mut session = Session::at(Context);
    session.must(&set("a", Metadata, Model));
    session.must(&set("a", Context, Host));
    assert_eq!(session.refused(&set("a", Metadata, Model)), Code::HeldBy);
}

#[test]
fn a_floor_below_the_base_level_can_be_raised_again() {
    let mut session = Session::at(Complete);
    session.must(&set("a", Metadata, Host));
    assert_eq!(session.level("a"), Metadata);
    let raised = session.must(&set("a", Context, Model)).outcome;
    assert_eq!((raised.old_level, raised.new_level), (Metadata, Context));
    let standing = session.state.standing("a");
    assert_eq!(standing.floor(Host), Some(Metadata));
    assert_eq!(standing.floor(Model), Some(Context));
    assert_eq!(standing.highest_floor(), Some(Context));
}

#[test]
fn nobody_below_the_host_passes_a_ceiling() {
    let mut session = Session::at(Metadata);
    session.must(&set("a", Complete, Model));
    let limited = session.must(&limit("a", Context)).outcome;
    assert_eq!((limited.old_level, limited.new_level), (Complete, Context));
    assert!(!limited.raised);
    for actor in [Model, User] {
        assert_eq!(
            session.refused(&set("a", Complete, actor)),
            Code::NotPermitted
        );
        let ttl = session.ttl("a", Complete, actor, 60);
        assert_eq!(session.refused(&ttl), Code::NotPermitted);
    }
    let fault = session.apply(&set("a", Complete, Model)).unwrap_err();
    assert_eq!(
        fault.message,
        "`a` is limited to CONTEXT in this session, so the model cannot set it to COMPLETE; set CONTEXT or lower, or ask the host to lift the limit"
    );
    let kept = session.must(&set("a", Complete, Host)).outcome;
    assert!(
        !kept.raised,
        "a host's floor is kept, and capped like any other"
    );
    assert_eq!(session.level("a"), Context);
    let lifted = session.must(&limit("a", None)).outcome;
    assert!(lifted.raised);
    assert_eq!((lifted.old_level, lifted.new_level), (Context, Complete));
}

#[test]
fn se08_clear_says_what_went_and_what_remains() {
    let mut session = Session::at(Metadata);
    session.must(&set("a", Context, Host));
    session.must(&set("a", Complete, User));
    session.must(&session.ttl("b", Complete, Model, 60));
    let cleared = session.must(&clear("a", User)).outcome;
    assert_eq!((cleared.old_level, cleared.new_level), (Complete, Context));
    let owners = |grants: &[StandingGrant]| {
        let owner = |grant: &StandingGrant| (grant.skill.clone(), grant.actor);
        grants.iter().map(owner).collect::<Vec<_>>()
    };
    assert_eq!(owners(&cleared.cleared), [("a".to_owned(), User)]);
    assert_eq!(owners(&cleared.remaining), [("a".to_owned(), Host)]);
    let all = session.must(&clear_all(User)).outcome;
    assert_eq!(owners(&all.cleared), [("b".to_owned(), Model)]);
    assert_eq!(owners(&all.remaining), [("a".to_owned(), Host)]);
    let moved: Vec<_> = all
        .moved
        .iter()
        .map(|moved| (&*moved.skill, moved.old_level, moved.new_level))
        .collect();
    assert_eq!(moved, [("b", Complete, Metadata)]);
}

#[test]
fn clearing_a_floor_below_the_base_level_raises() {
    let mut session = Session::at(Context);
    session.must(&set("a", Metadata, Host));
    let cleared = session.must(&clear("a", Host)).outcome;
    assert!(cleared.raised);
    assert_eq!((cleared.old_level, cleared.new_level), (Metadata, Context));
}

#[test]
fn lowering_that_lasts_longer_raises_later() {
    let mut session = Session::at(Metadata);
    session.must(&session.ttl("a", Complete, Model, 60));
    let outcome = session.must(&set("a", Context, Host)).outcome;
    assert_eq!((outcome.old_level, outcome.new_level), (Complete, Context));
    assert!(outcome.raised, "after a minute it would have been METADATA");
}

#[test]
fn se12_a_grant_ends_when_its_time_has_passed() {
    let mut session = Session::at(Metadata);
    session.must(&set("a", Context, Model));
    session.must(&session.ttl("a", Complete, Model, 60));
    session.must(&session.ttl("b", Complete, Host, 90));
    assert_eq!(
        session.state.next_expiry(),
        session.now.checked_add(std::time::Duration::from_secs(60))
    );
    session.advance(60);
    assert_eq!(session.level("a"), Context);
    session.advance(30);
    let outcome = session.must(&set("c", Context, Model)).outcome;
    let expired: Vec<_> = outcome.expired.iter().map(|grant| &*grant.skill).collect();
    assert_eq!(expired, ["a", "b"], "the next change reports what ended");
    let moved: Vec<_> = outcome
        .moved
        .iter()
        .map(|moved| (&*moved.skill, moved.new_level))
        .collect();
    assert_eq!(moved, [("b", Metadata), ("a", Context)]);
    assert_eq!(session.state.next_expiry(), None);
    assert!(session.must(&Change::Expire).outcome.expired.is_empty());
}

type Log = &'static [(&'static str, Level)];

#[test]
fn openings_are_logged_in_order() {
    let mut session = Session::at(Metadata);
    let rows: [(&str, Change, Log); 9] = [
        ("open", set("b", Context, Model), &[("b", Context)]),
        (
            "another",
            set("a", Complete, Model),
            &[("b", Context), ("a", Complete)],
        ),
        (
            "more of the first",
            set("b", Complete, Model),
            &[("b", Context), ("a", Complete), ("b", Complete)],
        ),
        (
            "a lowered one is clamped where it is",
            set("a", Context, Model),
            &[("b", Context), ("a", Context), ("b", Complete)],
        ),
        (
            "what a second opening added goes first",
            set("b", Context, Model),
            &[("b", Context), ("a", Context)],
        ),
        ("closed", set("b", Metadata, Model), &[("a", Context)]),
        (
            "reopened, at the end",
            set("b", Context, Model),
            &[("a", Context), ("b", Context)],
        ),
        (
            "a ceiling closes too",
            limit("a", Metadata),
            &[("b", Context)],
        ),
        (
            "and lifting it opens again",
            limit("a", None),
            &[("b", Context), ("a", Context)],
        ),
    ];
    for (name, change, log) in rows {
        session.must(&change);
        assert_eq!(session.log(), log, "{name}");
    }
}

#[test]
fn what_is_at_its_base_level_is_not_in_the_log() {
    let mut session = Session::at(Context);
    session.must(&set("a", Metadata, Host));
    session.must(&set("a", Context, Model));
    assert_eq!(session.log(), []);
    session.must(&set("a", Complete, Model));
    assert_eq!(session.log(), [("a", Complete)]);
}
