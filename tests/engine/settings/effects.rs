//! Settings do what they say.

use std::sync::Arc;
use std::time::Duration;

use skills_engine::audit::{AuditKey, Coverage, verify};
use skills_engine::engine::settings::Settings;
use skills_engine::skill::Code;
use skills_engine::source::Linked;
use skills_engine::testing::ManualClock;
use skills_engine::{Engine, Level, Principal, Session, Span};
use tests::{ada, answer, bare, open, session, tools, turn, until};

use super::{builder, from_file, from_variables};
use crate::helpdesk::{self, Helpdesk, helpdesk};
use crate::made::{skill, tool};

async fn engine(settings: &str) -> Engine {
    let settings = from_file(settings).unwrap();
    helpdesk::builder()
        .with_skill(skill("billing", [tool("pay", |_| async { "paid" })]))
        .settings(settings)
        .build()
        .await
        .unwrap()
}

/// Every tool that the model of a session sees, those of the control skill included.
async fn seen(session: &Session) -> Vec<String> {
    let view = turn(session).await.view().await.unwrap();
    view.tools().map(|tool| tool.name().to_owned()).collect()
}

#[tokio::test]
async fn se23_an_engine_that_is_off_shows_models_nothing() {
    let engine = engine("enabled = false").await;
    let session = session(&engine).await;
    assert!(seen(&session).await.is_empty());
    assert_eq!(engine.skill::<Helpdesk>().unwrap().close_ticket().await, 1);
}

#[tokio::test]
async fn se25_a_skill_disabled_by_setting_is_absent_everywhere_and_reachable_in_code() {
    let file = from_file("skills.helpdesk.enabled = false").unwrap();
    let variable = from_variables([("SKILLS_ENGINE_SKILLS__HELPDESK__ENABLED", "false")]).unwrap();
    let mut code = Settings::default();
    code.skills
        .entry("helpdesk".to_owned())
        .or_default()
        .enabled = false;
    for settings in [file, variable, code] {
        let engine = bare()
            .skill(helpdesk())
            .settings(settings)
            .build()
            .await
            .unwrap();
        let session = session(&engine).await;
        let mut turn = turn(&session).await;
        let view = turn.view().await.unwrap();
        assert!(tools(&view).is_empty());
        assert!(!view.system_prompt().contains("helpdesk"));
        assert!(!view.snapshots().contains("helpdesk"));
        let place = (view.snapshot("helpdesk"), view.level("helpdesk"));
        assert_eq!(place, (None, None));
        assert!(session.search("tickets").await.unwrap().is_empty());
        let standing = answer(&mut turn, "psl-skill__get_visibility", "").await;
        assert!(!standing.contains("helpdesk"), "{standing}");
        let set = r#"{"skill_id":"helpdesk","level":"CONTEXT"}"#;
        let set = answer(&mut turn, "psl-skill__set_skill_visibility", set).await;
        assert!(set.starts_with("unknown_skill: "), "{set}");
        let call = answer(&mut turn, "helpdesk__ping", "").await;
        assert!(call.starts_with("unknown_tool: "), "{call}");
        let opened = session
            .open("helpdesk", Level::Context, Span::UntilCleared, "")
            .await;
        assert!(opened.is_err());
        let explained = session.explain("helpdesk", "ping");
        let reasons = explained.reasons.join("\n");
        assert!(reasons.contains("switched off"), "{reasons}");

        let helpdesk: Arc<Helpdesk> = engine.skill().unwrap();
        assert_eq!(helpdesk.close_ticket().await, 1);
    }
}

#[tokio::test]
async fn a_skill_enabled_by_setting_stays_off_where_the_builder_disabled_it() {
    let settings = from_file("skills.helpdesk.enabled = true").unwrap();
    let engine = bare()
        .skill(helpdesk())
        .disable("helpdesk")
        .settings(settings)
        .build()
        .await
        .unwrap();
    assert_eq!(seen(&session(&engine).await).await.len(), 4);
    let row = engine.settings_report().row("skills.helpdesk.enabled");
    assert_eq!(row.unwrap().value, "false");
}

#[tokio::test]
async fn se23_linked_takes_the_skills_of_the_packages_it_names() {
    let ids = |engine: &Engine| -> Vec<String> {
        let skills = engine.skills();
        skills
            .iter()
            .map(|skill| skill.definition().id.to_string())
            .collect()
    };
    // The test binary links skills that cannot be made; `single` can.
    let build = |settings: &str| {
        let settings = from_file(settings).unwrap();
        skills_engine::__private::inventory::iter::<skills_engine::skill::SkillEntry>()
            .filter(|entry| !matches!(entry.id, "psl-skill" | "single"))
            .fold(Engine::builder(), |builder, entry| {
                builder.without(entry.id)
            })
            .settings(settings)
    };
    for (text, expected) in [
        ("", &["psl-skill", "single"][..]),
        ("linked = 'all'", &["psl-skill", "single"]),
        ("linked = ['tests']", &["psl-skill", "single"]),
        ("linked = ['skills-engine']", &["psl-skill"]),
        ("linked = []", &["psl-skill"]),
        ("linked = 'none'", &["psl-skill"]),
        // A skill that is not taken may be switched off all the same.
        (
            "linked = 'none'\nskills.single.enabled = false",
            &["psl-skill"],
        ),
    ] {
        let engine = build(text).build().await.unwrap();
        assert_eq!(ids(&engine), expected, "{text}");
    }
    let engine = build("linked = 'none'")
        .linked(Linked::Only(&["tests"]))
        .build()
        .await
        .unwrap();
    assert_eq!(ids(&engine), ["psl-skill", "single"]);
    let engine = build("linked = ['tests']").build().await.unwrap();
    assert!(engine.report().crates.iter().all(|linked| linked.was_named));
}

#[tokio::test]
async fn se23_limits_hold() {
    let clock = ManualClock::default();
    let settings = from_file("session_idle = '60s'\nlimits.reason = 3").unwrap();
    let engine = builder()
        .settings(settings)
        .clock(Arc::new(clock.clone()))
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    let open =
        |reason: &'static str| session.open("billing", Level::Context, Span::UntilCleared, reason);
    open("yes").await.unwrap();
    assert_eq!(open("long").await.unwrap_err().code, Code::LimitExceeded);
    for _ in 0..61 {
        until(|| clock.sleepers() == 1).await;
        clock.advance(Duration::from_secs(1));
    }
    until(|| engine.session_count() == 0).await;
}

#[tokio::test]
async fn se23_the_audit_key_of_the_settings_is_the_chain_s() {
    let engine = engine("audit_key = 'a key of this file'").await;
    open(&session(&engine).await, "helpdesk", Level::Context).await;
    engine.audit().flush().await;
    let records = engine.audit_ring().unwrap().records();
    let holds = |key: Option<&str>| {
        let key = key.map(|key| AuditKey::new(key).unwrap());
        verify(&records, key.as_ref(), &[], Coverage::FromOldest).is_ok()
    };
    assert!(holds(Some("a key of this file")));
    assert!(!holds(Some("another key of a file")));
    assert!(!holds(None));
}

#[tokio::test]
async fn a_key_too_short_that_the_program_sets_fails_the_build() {
    let mut settings = Settings::default();
    settings.audit_key = Some(skills_engine::engine::settings::SecretText::new("MARKER"));
    let err = bare().settings(settings).build().await.unwrap_err();
    assert_eq!(
        err.to_string(),
        "`audit_key`: an audit key has at least 16 bytes; give a longer one"
    );
}

#[tokio::test]
async fn se21_control_by_the_host_alone_or_by_a_role_is_a_setting() {
    for (text, principal, has_control) in [
        ("", ada(), true),
        ("psl_control = 'model'", ada(), true),
        ("psl_control = 'host_only'", ada(), false),
        ("psl_control = { roles = ['support'] }", ada(), true),
        ("psl_control = { roles = ['operations'] }", ada(), false),
        ("psl_control = { roles = [] }", ada(), false),
    ] {
        let engine = engine(text).await;
        let session = engine.session(principal, "s1").await.unwrap();
        let seen = seen(&session).await;
        let control = "psl-skill__set_skill_visibility".to_owned();
        assert_eq!(seen.contains(&control), has_control, "{text}: {seen:?}");
        open(&session, "helpdesk", Level::Context).await;
    }
}

#[tokio::test]
async fn se23_a_role_of_the_settings_denies_what_it_does_not_name() {
    let file = "[roles.support]\nallow = { helpdesk = 'CONTEXT' }\n[roles.nothing]\n";
    let engine = engine(file).await;
    let principal = |role| Principal::new("ada", [role]);
    let session = engine.session(principal("support"), "s1").await.unwrap();
    assert_eq!(seen(&session).await, Vec::<String>::new());
    open(&session, "helpdesk", Level::Complete).await;
    assert_eq!(seen(&session).await, ["helpdesk__get_ticket_faq"]);
    let mut turn = turn(&session).await;
    let call = answer(&mut turn, "billing__pay", "").await;
    assert!(call.starts_with("unknown_tool: "), "{call}");
    for role in ["nothing", "unheard-of"] {
        let session = engine.session(principal(role), role).await.unwrap();
        assert!(seen(&session).await.is_empty(), "{role}");
    }
}

#[tokio::test]
async fn se23_a_role_of_the_builder_takes_the_place_of_one_of_the_settings() {
    let file = "[roles.support]\nallow = { helpdesk = 'COMPLETE' }\n[roles.ops]\nallow = { '*' = 'COMPLETE' }\n";
    let engine = helpdesk::builder()
        .with_skill(skill("billing", [tool("pay", |_| async { "paid" })]))
        .role("support", |role| role.allow("billing", Level::Complete))
        .settings(from_file(file).unwrap())
        .build()
        .await
        .unwrap();
    let of = async |role: &str| {
        let session = engine.session(Principal::new("ada", [role]), role).await;
        seen(&session.unwrap()).await
    };
    assert_eq!(of("support").await, ["billing__pay"]);
    assert!(of("ops").await.contains(&"helpdesk__ping".to_owned()));
}

#[tokio::test]
async fn a_pattern_that_the_program_sets_wrongly_fails_the_build() {
    let mut settings = Settings::default();
    let allow = &mut settings.roles.entry("ops".to_owned()).or_default().allow;
    allow.insert("a*".to_owned(), Level::Context);
    let err = bare().settings(settings).build().await.unwrap_err();
    let shown = err.to_string();
    assert!(
        shown.starts_with("builder: `roles.ops.allow`: `a*` is no pattern. "),
        "{shown}"
    );
}
