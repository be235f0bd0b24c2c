//! What is visible at which level, in snapshot, prompt, tool list and dispatch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use skills_engine::engine::ViewChange;
use skills_engine::skill::Code;
use skills_engine::{Level, skill, skill_attribute, skill_tool};
use tests::{answer, attributes, bare, call, open, session, snapshot, tools, turn};

use crate::helpdesk::{self, Helpdesk};

/// Watches and switches a traffic light.
#[skill(id = "traffic-light", manual)]
struct TrafficLight {
    /// The intersection it stands at.
    #[skill_attribute(level = Metadata)]
    intersection: &'static str,
    is_red: AtomicBool,
}

#[skill]
impl TrafficLight {
    /// The lamp that is lit.
    #[skill_attribute(lazy)]
    async fn lamp(&self) -> &'static str {
        if self.is_red.load(Ordering::Relaxed) {
            "red"
        } else {
            "green"
        }
    }

    /// Switches between red and green.
    #[skill_tool(level = Complete)]
    async fn change_switch(&self) {
        self.is_red.fetch_xor(true, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn se01_a_new_session_has_every_skill_at_its_base_level() {
    let engine = helpdesk::engine().await;
    let mut turn = turn(&session(&engine).await).await;
    let view = turn.view().await.unwrap();

    assert_eq!(tools(&view), ["helpdesk__ping"]);
    let snapshot = snapshot(&view, "helpdesk");
    assert_eq!(
        snapshot,
        json!({
            "id": "helpdesk",
            "name": "Helpdesk",
            "description": "Answers help-desk questions and manages tickets.",
            "version": "1.2.3",
            "tags": ["support"],
            "level": "METADATA",
            "attributes": {
                "default_sla": {
                    "value": "24h",
                    "schema": { "type": "string" },
                    "description": "Default time to resolve a ticket.",
                },
                "open_tickets": {
                    "value": 3,
                    "schema": snapshot["attributes"]["open_tickets"]["schema"],
                    "description": "Tickets that wait for an answer.",
                },
            },
            "tools": [{
                "name": "helpdesk__ping",
                "description": "Tells whether the help desk is reachable.",
            }],
        })
    );
    let prompt = view.system_prompt();
    for shown in [
        "<skill id=\"helpdesk\" name=\"Helpdesk\" level=\"METADATA\" tags=\"support\">",
        "- default_sla = \"24h\": Default time to resolve a ticket.",
        "- helpdesk.open_tickets = 3",
        "- tool helpdesk__ping",
    ] {
        assert!(prompt.contains(shown), "{shown} is not in\n{prompt}");
    }
    for hidden in [
        "get_ticket_faq",
        "recent_sla",
        "close_ticket",
        "on_duty",
        "internal_note",
        "wipe",
    ] {
        assert!(!prompt.contains(hidden), "{hidden} is in\n{prompt}");
    }
    let all: Vec<Value> = serde_json::from_str(&view.snapshots()).unwrap();
    assert_eq!(all[0], snapshot);
    assert_eq!(all[1]["id"], "psl-skill");
    assert_eq!(all.len(), 2);
}

#[tokio::test]
async fn se02_what_a_level_shows_comes_and_goes_with_it() {
    let engine = helpdesk::engine().await;
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    let at_metadata = ["helpdesk__ping"];
    let at_context = ["helpdesk__ping", "helpdesk__get_ticket_faq"];
    let at_complete = [
        "helpdesk__ping",
        "helpdesk__get_ticket_faq",
        "helpdesk__close_ticket",
    ];
    let steps: [(Level, &[&str], &[&str]); 5] = [
        (
            Level::Metadata,
            &at_metadata,
            &["default_sla", "open_tickets"],
        ),
        (
            Level::Context,
            &at_context,
            &["default_sla", "on_duty", "open_tickets"],
        ),
        (
            Level::Complete,
            &at_complete,
            &[
                "default_sla",
                "on_duty",
                "open_tickets",
                "recent_sla_exceptions",
            ],
        ),
        (
            Level::Context,
            &at_context,
            &["default_sla", "on_duty", "open_tickets"],
        ),
        (
            Level::Metadata,
            &at_metadata,
            &["default_sla", "open_tickets"],
        ),
    ];
    for (level, visible, observed) in steps {
        open(&session, "helpdesk", level).await;
        let view = turn.view().await.unwrap();
        assert_eq!(view.level("helpdesk"), Some(level));
        assert_eq!(tools(&view), visible, "{level}");
        assert_eq!(attributes(&view, "helpdesk"), observed, "{level}");
        let faq = call(
            &mut turn,
            "helpdesk__get_ticket_faq",
            r#"{"ticket_id":"T-1042"}"#,
        )
        .await;
        let expected = if level == Level::Metadata {
            "hidden: `helpdesk` is at METADATA; open `helpdesk` at CONTEXT with psl-skill__set_skill_visibility first"
        } else {
            "Restart the router."
        };
        assert_eq!(faq.text(), expected, "{level}");
    }
}

#[tokio::test]
async fn se03_the_traffic_light_shows_more_at_each_level() {
    let light = TrafficLight {
        intersection: "A-123",
        is_red: AtomicBool::new(true),
    };
    let engine = bare().skill(light).build().await.unwrap();
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    let view = turn.view().await.unwrap();
    assert_eq!(
        snapshot(&view, "traffic-light")["attributes"]["intersection"]["value"],
        "A-123"
    );
    assert_eq!(attributes(&view, "traffic-light"), ["intersection"]);
    assert!(tools(&view).is_empty());

    open(&session, "traffic-light", Level::Context).await;
    let view = turn.view().await.unwrap();
    assert_eq!(
        snapshot(&view, "traffic-light")["attributes"]["lamp"]["value"],
        "red"
    );
    assert!(
        view.system_prompt()
            .contains("- traffic-light.lamp = \"red\"")
    );
    assert!(tools(&view).is_empty());

    open(&session, "traffic-light", Level::Complete).await;
    assert_eq!(
        tools(&turn.view().await.unwrap()),
        ["traffic-light__change_switch"]
    );
    assert_eq!(
        answer(&mut turn, "traffic-light__change_switch", "{}").await,
        "done"
    );
    let view = turn.view().await.unwrap();
    assert_eq!(view.change(), ViewChange::Live);
    assert_eq!(
        snapshot(&view, "traffic-light")["attributes"]["lamp"]["value"],
        "green"
    );
}

#[tokio::test]
async fn se04_always_is_visible_at_any_level_and_disabled_at_none() {
    let engine = helpdesk::engine().await;
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    for level in Level::ALL {
        open(&session, "helpdesk", level).await;
        let view = turn.view().await.unwrap();
        assert!(tools(&view).contains(&"helpdesk__ping"), "{level}");
        assert!(!view.snapshots().contains("wipe"), "{level}");
        assert!(!view.snapshots().contains("internal_note"), "{level}");
        assert!(!view.system_prompt().contains("wipe"), "{level}");
        assert_eq!(
            answer(&mut turn, "helpdesk__ping", "{}").await,
            "pong",
            "{level}"
        );
        let wipe = call(&mut turn, "helpdesk__wipe", "{}").await;
        assert_eq!(wipe.outcome.unwrap_err().code, Code::UnknownTool, "{level}");
    }
    assert_eq!(helpdesk::closed(&engine), 0);
    let helpdesk: Arc<Helpdesk> = engine.skill().unwrap();
    assert_eq!(helpdesk.wipe(), "wiped");
    assert_eq!(helpdesk::closed(&engine), u32::MAX);
}

#[tokio::test]
async fn se04_a_ceiling_hides_even_what_is_exposed_always() {
    let engine = helpdesk::engine().await;
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    session.limit("helpdesk", Level::Context).await.unwrap();
    let view = turn.view().await.unwrap();
    assert!(tools(&view).is_empty());
    assert!(!view.system_prompt().contains("ping"));
    assert_eq!(
        answer(&mut turn, "helpdesk__ping", "{}").await,
        "hidden: `helpdesk` is limited to CONTEXT in this session. Do without it"
    );
    session.lift_limit("helpdesk").await.unwrap();
    assert_eq!(tools(&turn.view().await.unwrap()), ["helpdesk__ping"]);
}

#[tokio::test]
async fn se13_a_view_taken_before_a_change_stays_and_the_next_has_it() {
    let engine = helpdesk::engine().await;
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    let before = turn.view().await.unwrap();
    let told = || {
        (
            before.system_prompt().to_owned(),
            before.snapshots(),
            *before.digest(),
        )
    };
    let at_first = told();
    let unchanged = turn.view().await.unwrap();
    assert!(unchanged.is_unchanged());
    assert!(Arc::ptr_eq(before.view(), unchanged.view()));

    open(&session, "helpdesk", Level::Complete).await;
    let helpdesk: Arc<Helpdesk> = engine.skill().unwrap();
    helpdesk.close_ticket().await;
    let after = turn.view().await.unwrap();
    assert_eq!(after.change(), ViewChange::Appended);
    assert!(tools(&after).contains(&"helpdesk__close_ticket"));
    assert_eq!(
        snapshot(&after, "helpdesk")["attributes"]["open_tickets"]["value"],
        2
    );
    assert_eq!(told(), at_first);
    assert!(!tools(&before).contains(&"helpdesk__close_ticket"));
    assert_ne!(before.digest(), after.digest());
}
