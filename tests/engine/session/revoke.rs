//! A change whose audit record could not be written is taken back.

use std::sync::Arc;

use skills_engine::session::{Applied, Change};

use super::{Complete, Context, Host, Metadata, Model, Session, User, clear, limit, set};

/// Makes a change, and gives what takes it back.
#[track_caller]
fn make(session: &mut Session, skill: &str, change: &Change) -> (Change, Applied) {
    let before = Arc::clone(&session.state);
    let applied = session.must(change);
    let revoke = Change::Revoke {
        skill: skill.into(),
        grant: applied.outcome.version,
        before,
    };
    (revoke, applied)
}

#[test]
fn what_it_replaced_comes_back() {
    let mut session = Session::at(Metadata);
    session.must(&set("a", Context, Model));
    session.must(&session.ttl("a", Context, User, 60));
    let before = session.state.standing("a").list(session.now);
    let (revoke, _) = make(&mut session, "a", &set("a", Complete, Host));
    let outcome = session.must(&revoke).outcome;
    assert_eq!((outcome.old_level, outcome.new_level), (Complete, Context));
    assert_eq!(session.state.standing("a").list(session.now), before);
    assert_eq!(session.log(), [("a", Context)]);
}

#[test]
fn nothing_comes_back_when_the_skill_was_changed_since() {
    let mut session = Session::at(Metadata);
    session.must(&set("a", Context, Model));
    let (revoke, _) = make(&mut session, "a", &set("a", Complete, Model));
    session.must(&session.ttl("a", Complete, User, 60));
    session.must(&revoke);
    assert_eq!(session.state.standing("a").highest_floor(), None);
    assert_eq!(
        session.level("a"),
        Complete,
        "the later grant is another one's"
    );
}

#[test]
fn a_revoked_grant_does_not_come_back_with_the_one_that_replaced_it() {
    let mut session = Session::at(Metadata);
    let (first, _) = make(&mut session, "a", &set("a", Context, Model));
    let (second, _) = make(&mut session, "a", &set("a", Complete, Host));
    session.must(&first);
    session.must(&second);
    assert_eq!(session.level("a"), Metadata);
}

#[test]
fn other_skills_are_left_alone() {
    let mut session = Session::at(Metadata);
    let (revoke, _) = make(&mut session, "a", &set("a", Context, Model));
    session.must(&set("b", Context, Model));
    session.must(&revoke);
    assert_eq!(
        (session.level("a"), session.level("b")),
        (Metadata, Context)
    );
}

#[test]
fn a_lowering_stays() {
    let mut session = Session::at(Metadata);
    session.must(&session.ttl("a", Complete, Model, 60));
    let (revoke, applied) = make(&mut session, "a", &set("a", Context, Host));
    assert!(applied.outcome.raised, "it lasts longer");
    session.must(&revoke);
    assert_eq!(session.level("a"), Metadata);
}

#[test]
fn a_floor_is_not_replaced_by_a_higher_base_level() {
    let mut session = Session::at(Complete);
    session.must(&set("a", Metadata, Host));
    let (revoke, _) = make(&mut session, "a", &set("a", Context, Host));
    session.must(&session.ttl("a", Context, User, 60));
    session.must(&revoke);
    session.advance(60);
    assert_eq!(session.level("a"), Metadata);
}

#[test]
fn a_lifted_limit_and_a_clear_that_raised_are_taken_back() {
    let mut session = Session::at(Complete);
    session.must(&limit("a", Context));
    let (revoke, applied) = make(&mut session, "a", &limit("a", None));
    assert!(applied.outcome.raised);
    session.must(&limit("b", Context));
    session.must(&set("a", Complete, Host));
    session.must(&revoke);
    assert_eq!(session.level("a"), Context, "whatever was set since");

    let mut session = Session::at(Context);
    session.must(&set("a", Metadata, Host));
    session.must(&session.ttl("a", Complete, Host, 60));
    let (revoke, applied) = make(&mut session, "a", &clear("a", Host));
    assert!(applied.outcome.raised);
    session.must(&revoke);
    assert_eq!(
        session.level("a"),
        Metadata,
        "the floor is back, what it lowered is not"
    );
}

#[test]
fn revoking_twice_or_what_never_was_changes_no_level() {
    let mut session = Session::at(Metadata);
    let (revoke, _) = make(&mut session, "a", &set("a", Context, Model));
    session.must(&revoke);
    let outcome = session.must(&revoke).outcome;
    assert_eq!((outcome.old_level, outcome.new_level), (Metadata, Metadata));
    let before = Arc::clone(&session.state);
    let grant = 99;
    let skill = "b".into();
    let unknown = session.must(&Change::Revoke {
        skill,
        grant,
        before,
    });
    assert!(!unknown.outcome.changed);
}
