//! States are written and read by stores that outlive a process.

use skills_engine::session::SessionState;

use super::{
    Complete, Context, Host, Metadata, Model, Session, User, clear, clear_all, limit, set,
};

#[test]
fn a_state_comes_back_whole() {
    let mut session = Session::at(Metadata);
    session.must(&set("b", Context, Host));
    session.must(&set("a", Complete, Model));
    session.must(&session.ttl("b", Complete, User, 60));
    session.must(&limit("c", Context));
    session.must(&clear_all(Model));
    session.must(&clear("d", Host));
    let text = serde_json::to_string(&*session.state).unwrap();
    let read: SessionState = serde_json::from_str(&text).unwrap();
    assert_eq!(read, *session.state);
    assert_eq!(read.next_expiry(), session.state.next_expiry());
}

#[test]
fn the_default_state_is_short() {
    let text = serde_json::to_string(&SessionState::default()).unwrap();
    assert_eq!(text, r#"{"version":0,"forgotten":0}"#);
}

#[test]
fn what_cannot_be_a_state_is_refused() {
    let skill = r#"{"skill":"a","touched":1,"base":"METADATA","ceiling":"CONTEXT"}"#;
    let rows = [
        (
            "an unknown field",
            r#"{"version":1,"forgotten":0,"denied":["a"]}"#.to_owned(),
            "unknown field `denied`",
        ),
        (
            "a skill twice",
            format!(r#"{{"version":1,"skills":[{skill},{skill}]}}"#),
            "the skill `a` stands there twice",
        ),
        (
            "a change to come",
            format!(r#"{{"version":0,"skills":[{skill}]}}"#),
            "the skill `a` was changed at a version that is still to come",
        ),
        (
            "an opening without a grant",
            r#"{"version":1,"admissions":[{"skill":"a","level":"CONTEXT"}]}"#.to_owned(),
            "the skill `a` was opened by no grant",
        ),
    ];
    for (name, text, message) in rows {
        let fault = serde_json::from_str::<SessionState>(&text).expect_err(name);
        assert!(fault.to_string().starts_with(message), "{name}: {fault}");
    }
}
