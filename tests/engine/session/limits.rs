//! What input can drive is bounded.

use std::time::Duration;

use skills_engine::session::{Change, GrantSpan};
use skills_engine::skill::{Code, Limits, Timestamp};

use super::{Complete, Context, Host, Metadata, Model, Session, User, clear, set};

#[test]
fn a_session_holds_so_many_grants() {
    let mut session = Session::at(Metadata);
    for index in 0..256 {
        session.must(&set(&format!("s{index}"), Context, Model));
    }
    assert_eq!(
        session.refused(&set("one-more", Context, Host)),
        Code::LimitExceeded
    );
    let ttl = session.ttl("s0", Complete, Model, 60);
    assert_eq!(session.refused(&ttl), Code::LimitExceeded);
    session.must(&set("s0", Complete, Model));
    session.must(&set("s1", Metadata, User));
    session.must(&set("one-more", Context, Host));
}

#[test]
fn lowering_is_never_refused_for_want_of_room() {
    let mut session = Session::at(Context);
    session.limits.grants = 1;
    session.must(&set("a", Complete, Model));
    session.must(&set("b", Metadata, Model));
    assert_eq!(session.level("b"), Metadata);
    assert_eq!(
        session.refused(&set("c", Complete, Model)),
        Code::LimitExceeded
    );
}

#[test]
fn renewing_a_grant_takes_no_room() {
    let mut session = Session::at(Metadata);
    for seconds in 60..400 {
        session.must(&session.ttl("a", Context, Model, seconds));
    }
    assert_eq!(session.state.grant_count(), 1);
}

#[test]
fn a_time_to_live_has_a_range() {
    let session = Session::at(Metadata);
    let limits = Limits::default();
    let rows = [
        (Duration::ZERO, false),
        (Duration::from_millis(999), false),
        (Duration::from_secs(1), true),
        (Duration::from_secs(30 * 24 * 3_600), true),
        (Duration::from_millis(30 * 24 * 3_600_000 + 1), false),
        (Duration::MAX, false),
    ];
    for (duration, is_legal) in rows {
        let span = GrantSpan::for_time(duration, session.now, &limits);
        assert_eq!(span.is_ok(), is_legal, "{duration:?}");
    }
    let fault = GrantSpan::for_time(Duration::ZERO, session.now, &limits).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "limit_exceeded: a time to live is 1 to 2592000 seconds; give one in that range, or none to keep the level until it is cleared"
    );
    let at_the_end = GrantSpan::for_time(Duration::from_secs(60), Timestamp(i64::MAX - 1), &limits);
    assert_eq!(at_the_end.unwrap_err().code, Code::LimitExceeded);
}

#[test]
fn an_end_given_as_a_moment_is_checked_too() {
    let mut session = Session::at(Metadata);
    for moment in [i64::MIN, 0, session.now.0, session.now.0 + 999, i64::MAX] {
        let change = Change::Set {
            skill: "a".into(),
            level: Context,
            actor: Model,
            span: GrantSpan::Ttl(Timestamp(moment)),
        };
        assert_eq!(session.refused(&change), Code::LimitExceeded, "{moment}");
    }
}

#[test]
fn toggling_leaves_nothing_behind() {
    let mut session = Session::at(Metadata);
    for round in 0..10_000 {
        let skill = format!("s{}", round % 500);
        session.must(&set(&skill, Context, Model));
        session.must(&clear(&skill, Model));
    }
    assert_eq!(session.state.grant_count(), 0);
    assert_eq!(session.log(), []);
    let text = serde_json::to_string(&*session.state).unwrap();
    assert!(
        text.len() < 64 * 200,
        "notes are bounded: {} bytes",
        text.len()
    );
}
