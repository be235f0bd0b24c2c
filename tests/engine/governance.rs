//! Who may, and under which conditions: roles, allow-lists, switches, policies, children, and those who look on.

mod children;
mod policies;

use serde_json::{Value, json};
use skills_engine::engine::{EngineBuilder, View};
use skills_engine::session::{Decision, PslControl, Why};
use skills_engine::skill::{
    Actor, Attribute, BuiltSkill, Code, Expose, SetVisibility, SkillBuilder, TurnRequest,
};
use skills_engine::tools::Dialect;
use skills_engine::{Engine, Level, Principal, Session, Span, Turn};
use tests::{bare, call, open, session, snapshot, tools, turn};

use crate::made::tool;

/// Tools `status` (METADATA), `plan` (CONTEXT) and `roll_back` (COMPLETE), and the attribute `region`.
fn deploy(id: &'static str) -> SkillBuilder {
    SkillBuilder::new(id)
        .attribute(
            Attribute::constant("region", "", &"eu-1")
                .unwrap()
                .level(Level::Metadata),
        )
        .tool(tool("status", |_| async { "up" }).read_only())
        .tool(tool("plan", |_| async { "planned" }).level(Level::Context))
        .tool(
            tool("roll_back", |_| async { "rolled back" })
                .level(Level::Complete)
                .destructive(),
        )
}

fn skill(id: &'static str) -> BuiltSkill {
    deploy(id).build().unwrap()
}

fn two_skills() -> EngineBuilder {
    bare()
        .with_skill(skill("billing"))
        .with_skill(skill("deploy"))
}

async fn built(builder: EngineBuilder) -> Engine {
    builder.build().await.unwrap()
}

async fn opens(turn: &mut Turn, skill: &str, level: Level) -> Result<(), Code> {
    let wish = json!({ "skill_id": skill, "level": level }).to_string();
    let result = call(turn, "psl-skill__set_skill_visibility", &wish).await;
    result.outcome.map(drop).map_err(|fault| fault.code)
}

async fn calls(turn: &mut Turn, tool: &str) -> Result<(), Code> {
    let outcome = call(turn, tool, "{}").await.outcome;
    outcome.map(drop).map_err(|fault| fault.code)
}

/// A skill is in no prompt, list, snapshot, answer or search of a turn.
async fn assert_absent(turn: &mut Turn, skill: &str) {
    let view = turn.view().await.unwrap();
    assert!(
        !view.system_prompt().contains(skill),
        "{}",
        view.system_prompt()
    );
    assert!(!view.tools_json(Dialect::Mcp).contains(skill));
    assert_eq!(view.snapshot(skill), None);
    assert!(!view.snapshots().contains(skill));
    assert_eq!(view.level(skill), None);
    assert!(turn.visibility().iter().all(|told| told.skill != skill));
    let status = format!("{skill}__status");
    assert_eq!(calls(turn, &status).await, Err(Code::UnknownTool));
    assert_ne!(opens(turn, skill, Level::Complete).await, Ok(()));
    let found = call(turn, "psl-skill__search_skills", r#"{"query":"deploy"}"#).await;
    assert!(!found.text().contains(&format!("\"skill\":\"{skill}\"")));
}

fn control_tools(view: &View) -> usize {
    let tools = view.tools();
    tools.filter(|tool| tool.skill() == "psl-skill").count()
}

#[tokio::test]
async fn se21_without_control_the_model_has_no_control_tools_and_the_host_has_its_api() {
    let by_roles = || PslControl::roles(["operations"]);
    let cases = [
        ("host only", two_skills().psl_control(PslControl::HostOnly)),
        ("a missing role", two_skills().psl_control(by_roles())),
        (
            "no role for the control skill",
            two_skills().role("support", |role| role.allow("deploy", Level::Complete)),
        ),
    ];
    for (name, builder) in cases {
        let engine = built(builder).await;
        let session = session(&engine).await;
        let mut turn = turn(&session).await;
        let view = turn.view().await.unwrap();
        assert_eq!(control_tools(&view), 0, "{name}");
        assert!(!view.system_prompt().contains("psl-skill"), "{name}");
        let refused = opens(&mut turn, "deploy", Level::Context).await;
        assert_eq!(refused, Err(Code::UnknownTool), "{name}");
        open(&session, "deploy", Level::Context).await;
        let view = turn.view().await.unwrap();
        assert!(tools(&view).contains(&"deploy__plan"), "{name}");
    }
    let engine = built(two_skills().psl_control(by_roles())).await;
    let session = session(&engine).await;
    session.set_roles(["operations"]);
    let mut turn = turn(&session).await;
    assert_eq!(control_tools(&turn.view().await.unwrap()), 4);
    assert_eq!(opens(&mut turn, "deploy", Level::Context).await, Ok(()));
    session.psl_control(PslControl::HostOnly);
    assert_eq!(control_tools(&turn.view().await.unwrap()), 0);
}

#[tokio::test]
async fn se21_a_tool_of_the_host_cannot_open_skills_for_a_model_without_control() {
    let opener = tool("opener", |cx| async move {
        let wish = SetVisibility::new("deploy", Level::Complete);
        cx.visibility().set(wish).await.map(drop)
    });
    let engine = built(
        two_skills()
            .with_skill(crate::made::skill("helper", [opener]))
            .psl_control(PslControl::HostOnly),
    )
    .await;
    let mut turn = turn(&session(&engine).await).await;
    let answer = call(&mut turn, "helper__opener", "{}").await.text();
    assert!(answer.contains("opens and closes no skills"), "{answer}");
    assert!(!tools(&turn.view().await.unwrap()).contains(&"deploy__plan"));
}

#[tokio::test]
async fn se25_what_is_code_only_or_switched_off_is_absent_everywhere_and_reachable_in_code() {
    let hidden = deploy("deploy-code").code_only().build().unwrap();
    let engine = built(
        two_skills()
            .with_skill(hidden)
            .with_skill(skill("deploy-off"))
            .disable("deploy-off"),
    )
    .await;
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    assert_absent(&mut turn, "deploy-code").await;
    assert_absent(&mut turn, "deploy-off").await;
    assert_eq!(calls(&mut turn, "billing__status").await, Ok(()));
    assert_eq!(engine.set_enabled("billing", false), Ok(true));
    assert_eq!(engine.set_enabled("billing", false), Ok(false));
    // In the same turn, whose latest view still showed it.
    assert_eq!(
        calls(&mut turn, "billing__status").await,
        Err(Code::UnknownTool)
    );
    assert_absent(&mut turn, "billing").await;
    for (id, why) in [
        ("billing", Why::SwitchedOff),
        ("deploy-off", Why::SwitchedOff),
        ("deploy-code", Why::CodeOnly),
    ] {
        let decision = session.explain(id, "status").decision;
        assert_eq!(decision, Decision::Denied(why), "{id}");
        let ids: Vec<_> = engine.skills();
        assert!(ids.iter().any(|skill| skill.definition().id == id));
    }
    assert_eq!(engine.set_enabled("deploy-off", true), Ok(true));
    assert_eq!(engine.set_enabled("billing", true), Ok(true));
    turn.view().await.unwrap();
    assert_eq!(calls(&mut turn, "billing__status").await, Ok(()));
    assert_eq!(calls(&mut turn, "deploy-off__status").await, Ok(()));
    let fault = engine.set_enabled("biling", true).unwrap_err();
    assert_eq!(fault.code, Code::UnknownSkill);
    assert!(fault.message.contains("`billing`"), "{fault}");
}

fn governed() -> EngineBuilder {
    two_skills()
        .role("support", |role| {
            role.allow("deploy/status", Level::Complete)
                .allow("psl-skill", Level::Complete)
        })
        .role("planner", |role| role.allow("deploy", Level::Context))
        .role("ops", |role| role.allow("*", Level::Complete))
}

#[tokio::test]
async fn roles_name_what_is_seen_and_how_far_it_opens() {
    let engine = built(governed()).await;
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    assert_absent(&mut turn, "billing").await;
    let view = turn.view().await.unwrap();
    assert_eq!(tools(&view), ["deploy__status"]);
    assert_eq!(snapshot(&view, "deploy")["attributes"], json!({}));
    assert!(view.system_prompt().contains("deploy"));
    // The skill opens, and still shows no more than the one member that is named.
    assert_eq!(opens(&mut turn, "deploy", Level::Complete).await, Ok(()));
    assert_eq!(tools(&turn.view().await.unwrap()), ["deploy__status"]);
    session.set_roles(["support", "planner"]);
    let view = turn.view().await.unwrap();
    assert_eq!(tools(&view), ["deploy__status", "deploy__plan"]);
    assert_eq!(view.level("deploy"), Some(Level::Complete));
    session.set_roles(["planner"]);
    assert_eq!(
        turn.view().await.unwrap().level("deploy"),
        Some(Level::Context)
    );
    session.set_roles(["ops"]);
    let view = turn.view().await.unwrap();
    assert!(tools(&view).contains(&"deploy__roll_back"));
    assert!(tools(&view).contains(&"billing__status"));
    session.set_roles(["nobody"]);
    let view = turn.view().await.unwrap();
    assert_eq!(
        (view.system_prompt(), view.tools_json(Dialect::OpenAiChat)),
        ("", "[]")
    );
}

#[tokio::test]
async fn a_role_caps_what_the_model_asks_for_and_says_what_would_be_allowed() {
    let engine = built(governed()).await;
    let principal = Principal::new("ada", ["planner", "support-lead"]);
    let session = engine.session(principal, "s1").await.unwrap();
    let refused = session
        .acting_as(Actor::User)
        .open("deploy", Level::Complete, Span::UntilCleared, "")
        .await
        .unwrap_err();
    assert_eq!(refused.code, Code::NotPermitted);
    assert!(
        refused.message.contains("set CONTEXT or lower"),
        "{refused}"
    );
    // The host may: the answer says what caps it.
    let opened = session
        .open("deploy", Level::Complete, Span::UntilCleared, "")
        .await
        .unwrap();
    assert_eq!(opened.capped_by, Some(Level::Context));
    assert_eq!(opened.new_level, Level::Context);
    let denied = session
        .open("billing", Level::Context, Span::UntilCleared, "")
        .await
        .unwrap_err();
    assert_eq!(denied.code, Code::NotPermitted);
    assert!(denied.message.contains("no_role"), "{denied}");
    let user = session.acting_as(Actor::User);
    let denied = user
        .open("billing", Level::Context, Span::UntilCleared, "")
        .await;
    assert_eq!(denied.unwrap_err().code, Code::UnknownSkill);
}

#[tokio::test]
async fn se27_two_principals_have_two_sessions_of_one_name() {
    let engine = built(two_skills()).await;
    let ours = session(&engine).await;
    let bob = Principal::new("bob", ["support"]);
    let theirs = engine.session(bob.clone(), "s1").await.unwrap();
    open(&ours, "deploy", Level::Complete).await;
    let mut turn = turn(&theirs).await;
    assert_eq!(
        tools(&turn.view().await.unwrap()),
        ["billing__status", "deploy__status"]
    );
    // Whoever has neither role finds nothing, whether there is something or not.
    let found = engine.foreign_session(&bob, "ada", "s1").unwrap_err();
    let missing = engine.foreign_session(&bob, "ada", "s2").unwrap_err();
    assert_eq!(found.code, Code::UnknownSession);
    assert_eq!(found.message.replace("s1", "s2"), missing.message);
}

fn records(engine: &Engine, kind: &str) -> Vec<Value> {
    let records = engine.audit_ring().unwrap().records();
    let entries = records.iter().map(|record| {
        let text = std::str::from_utf8(record.bytes()).unwrap();
        serde_json::from_str::<Value>(text).unwrap()
    });
    entries.filter(|record| record["kind"] == kind).collect()
}

#[tokio::test]
async fn se27_observers_look_and_operators_act_and_the_audit_names_both() {
    let engine = built(two_skills()).await;
    let session = session(&engine).await;
    open(&session, "deploy", Level::Context).await;
    let watcher = Principal::new("wendy", ["observer"]);
    let seen = engine.foreign_session(&watcher, "ada", "s1").unwrap();
    let view = seen.view().await.unwrap();
    assert!(tools(&view).contains(&"deploy__plan"));
    assert_eq!(seen.explain("deploy", "plan").decision, Decision::Visible);
    assert_eq!(seen.visibility().await.unwrap().len(), 3);
    let refused = seen
        .open("deploy", Level::Complete, Span::UntilCleared, "")
        .await;
    assert_eq!(refused.unwrap_err().code, Code::NotPermitted);
    assert_eq!(
        seen.clear("deploy").await.unwrap_err().code,
        Code::NotPermitted
    );
    let refused = engine.set_enabled_by(&watcher, "deploy", false);
    assert_eq!(refused.unwrap_err().code, Code::NotPermitted);

    let operator = Principal::new("oscar", ["operator"]);
    let acting = engine.foreign_session(&operator, "ada", "s1").unwrap();
    acting
        .open("billing", Level::Context, Span::UntilCleared, "ticket 7")
        .await
        .unwrap();
    // As the user: what the host set stays.
    assert_eq!(acting.clear("deploy").await.unwrap().remaining.len(), 1);
    assert_eq!(engine.set_enabled_by(&operator, "deploy", false), Ok(true));

    engine.audit().flush().await;
    let granted = records(&engine, "visibility");
    let by_operator = granted
        .iter()
        .find(|record| record["by"] == "oscar")
        .unwrap();
    assert_eq!(by_operator["principal"], "ada");
    assert_eq!(by_operator["actor"], "user");
    assert_eq!(by_operator["reason"], "ticket 7");
    assert_eq!(by_operator["fields"]["skill"], "billing");
    let observed = records(&engine, "observed");
    assert_eq!(observed.len(), 3);
    assert!(observed.iter().all(|record| {
        record["by"] == "wendy" && record["principal"] == "ada" && record["session"] == "s1"
    }));
    assert_eq!(records(&engine, "switched")[0]["by"], "oscar");
    let stranger = Principal::new("mallory", [] as [&str; 0]);
    engine.foreign_session(&stranger, "ada", "s1").unwrap_err();
    engine.audit().flush().await;
    assert_eq!(
        records(&engine, "stranger")[0]["fields"]["principal"],
        "mallory"
    );
    assert!(!seen.audit(&engine).is_empty());
    // A look is no turn of the session.
    assert_eq!(records(&engine, "turn_ended"), Vec::<Value>::new());
}

#[tokio::test]
async fn se32_whoever_looks_on_is_shown_no_sensitive_value() {
    let pin = Attribute::constant("pin", "", &"marker-4711").unwrap();
    let code = Attribute::live("code", "", |_| "marker-4712");
    let vault = SkillBuilder::new("vault")
        .attribute(pin.sensitive().level(Level::Metadata))
        .attribute(code.sensitive().level(Level::Metadata));
    let engine = built(bare().with_skill(vault.build().unwrap())).await;
    let session = session(&engine).await;
    let own = turn(&session).await.view().await.unwrap();
    assert_eq!(own.system_prompt().matches("marker-471").count(), 2);
    let watcher = Principal::new("wendy", ["observer"]);
    let foreign = engine.foreign_session(&watcher, "ada", "s1").unwrap();
    let seen = foreign.view().await.unwrap();
    let shown = [
        seen.system_prompt().to_owned(),
        format!("{:?}", seen.prompt()),
        seen.snapshots(),
        seen.tools_json(Dialect::Mcp).to_owned(),
        format!("{seen:?}"),
    ];
    for text in shown {
        assert!(!text.contains("marker"), "{text}");
    }
    assert!(seen.system_prompt().contains("pin"));
}

#[tokio::test]
async fn se28_lists_intersect_and_an_empty_one_allows_nothing() {
    let engine = built(two_skills()).await;
    let session = session(&engine).await;
    open(&session, "deploy", Level::Complete).await;
    open(&session, "billing", Level::Complete).await;
    assert_eq!(
        session
            .allow(["deploy", "billing/status", "shipping", "deploy/statis"])
            .unwrap(),
        ["deploy/statis", "shipping"]
    );
    let mut turn = session
        .turn(
            TurnRequest::empty()
                .allow(["deploy/plan", "billing/*"])
                .allow(["*"]),
        )
        .await
        .unwrap();
    let view = turn.view().await.unwrap();
    assert_eq!(tools(&view), ["billing__status", "deploy__plan"]);
    assert_eq!(control_tools(&view), 4, "the control skill is exempt");
    assert_eq!(
        calls(&mut turn, "deploy__status").await,
        Err(Code::UnknownTool)
    );
    assert_eq!(calls(&mut turn, "deploy__plan").await, Ok(()));
    // A further list counts at once.
    session.allow(["billing"]).unwrap();
    assert_eq!(
        calls(&mut turn, "deploy__plan").await,
        Err(Code::UnknownTool)
    );
    assert_absent(&mut turn, "deploy").await;
    session.allow([] as [&str; 0]).unwrap();
    assert_absent(&mut turn, "billing").await;
    assert_eq!(control_tools(&turn.view().await.unwrap()), 4);

    let fault = session.allow(["deploy/*/x"]).unwrap_err();
    assert_eq!(fault.code, Code::InvalidArguments);
    let request = TurnRequest::empty().allow(["de*"]);
    assert_eq!(
        session.turn(request).await.unwrap_err().code,
        Code::InvalidArguments
    );
}

#[tokio::test]
async fn se28_with_single_members_named_the_instructions_do_not_show() {
    let told = deploy("deploy").instructions("Ask before you deploy.");
    let asked = deploy("billing").dynamic_instructions(|_| Some("Ask before you bill.".to_owned()));
    let engine = built(
        bare()
            .with_skill(told.build().unwrap())
            .with_skill(asked.build().unwrap())
            .role("all", |role| role.allow("*", Level::Complete))
            .role("one", |role| {
                role.allow("deploy/plan", Level::Complete)
                    .allow("billing/plan", Level::Complete)
            }),
    )
    .await;
    let session = engine.session(Principal::new("ada", ["all"]), "s1").await;
    let session = session.unwrap();
    open(&session, "deploy", Level::Context).await;
    open(&session, "billing", Level::Context).await;
    let mut turn = turn(&session).await;
    let shown = |view: &View| {
        let all = [view.system_prompt(), &view.snapshots()].concat();
        all.matches("Ask before").count()
    };
    assert_eq!(shown(&turn.view().await.unwrap()), 4);
    session.set_roles(["one"]);
    let view = turn.view().await.unwrap();
    assert_eq!(shown(&view), 0);
    assert_eq!(tools(&view), ["deploy__plan", "billing__plan"]);
    session.set_roles(["all"]);
    assert_eq!(shown(&turn.view().await.unwrap()), 4);
    session.allow(["deploy/plan", "billing"]).unwrap();
    assert_eq!(shown(&turn.view().await.unwrap()), 2);
}

#[tokio::test]
async fn se29_what_the_host_holds_and_limits_stands_against_the_model() {
    let engine = built(two_skills()).await;
    let session = session(&engine).await;
    open(&session, "deploy", Level::Complete).await;
    session.limit("billing", Level::Metadata).await.unwrap();
    let mut turn = turn(&session).await;
    turn.view().await.unwrap();
    assert_eq!(
        opens(&mut turn, "deploy", Level::Metadata).await,
        Err(Code::HeldBy)
    );
    call(&mut turn, "psl-skill__clear_visibility", "{}").await;
    assert_eq!(
        turn.view().await.unwrap().level("deploy"),
        Some(Level::Complete)
    );
    assert_eq!(
        opens(&mut turn, "billing", Level::Context).await,
        Err(Code::NotPermitted)
    );
    assert_eq!(
        turn.view().await.unwrap().level("billing"),
        Some(Level::Metadata)
    );
}

#[tokio::test]
async fn se29_a_role_that_is_taken_away_between_opening_and_call_stops_the_call() {
    let engine = built(governed()).await;
    let session = engine
        .session(Principal::new("ada", ["ops"]), "s1")
        .await
        .unwrap();
    let mut turn = turn(&session).await;
    turn.view().await.unwrap();
    assert_eq!(opens(&mut turn, "deploy", Level::Complete).await, Ok(()));
    turn.view().await.unwrap();
    assert_eq!(calls(&mut turn, "deploy__roll_back").await, Ok(()));
    // The next request of the same principal comes with other roles.
    let again = engine
        .session(Principal::new("ada", ["planner"]), "s1")
        .await
        .unwrap();
    assert_eq!(again.principal().roles().collect::<Vec<_>>(), ["planner"]);
    assert_eq!(
        calls(&mut turn, "deploy__roll_back").await,
        Err(Code::Hidden)
    );
    assert_eq!(calls(&mut turn, "deploy__plan").await, Ok(()));
    let request = TurnRequest::empty().roles(["support"]);
    let _later = session.turn(request).await.unwrap();
    assert_eq!(
        calls(&mut turn, "deploy__plan").await,
        Err(Code::UnknownTool)
    );
    engine.audit().flush().await;
    let changes = records(&engine, "access_changed");
    let roles: Vec<_> = changes
        .iter()
        .map(|record| record["fields"]["roles"].clone())
        .collect();
    assert_eq!(roles, [json!(["planner"]), json!(["support"])]);
}

#[tokio::test]
async fn only_others_than_the_model_open_what_is_for_the_host() {
    let always = tool("page", |_| async { "paged" }).expose(Expose::Always);
    let guarded = deploy("deploy").host_only().tool(always).build().unwrap();
    let engine = built(bare().with_skill(guarded)).await;
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    let view = turn.view().await.unwrap();
    assert_eq!(tools(&view), ["deploy__status"]);
    assert_eq!(
        opens(&mut turn, "deploy", Level::Context).await,
        Err(Code::NotPermitted)
    );
    assert_eq!(calls(&mut turn, "deploy__page").await, Err(Code::Hidden));
    let answer = call(&mut turn, "deploy__plan", "{}").await.text();
    assert!(answer.contains("ask the user to open"), "{answer}");
    let user = session.acting_as(Actor::User);
    open(&user, "deploy", Level::Context).await;
    let view = turn.view().await.unwrap();
    assert_eq!(
        tools(&view),
        ["deploy__status", "deploy__page", "deploy__plan"]
    );
    user.clear("deploy").await.unwrap();
    assert_eq!(tools(&turn.view().await.unwrap()), ["deploy__status"]);
    turn.open("deploy", Level::Complete, "").await.unwrap();
    assert!(tools(&turn.view().await.unwrap()).contains(&"deploy__page"));
}

#[tokio::test]
async fn explanations_name_each_reason_and_what_would_open_it() {
    let engine = built(governed()).await;
    let session = engine
        .session(Principal::new("ada", ["planner"]), "s1")
        .await
        .unwrap();
    session.limit("deploy", Level::Metadata).await.unwrap();
    let reasons = |session: &Session, skill: &str, member: &str| {
        let explanation = session.explain(skill, member);
        explanation.reasons.join("\n")
    };
    let told = reasons(&session, "deploy", "roll_back");
    for part in [
        "the principal's roles give CONTEXT at most",
        "the session limits it to METADATA",
        "to show `roll_back`, give the principal a role that allows COMPLETE and lift the limit of `deploy` to COMPLETE and set `deploy` to COMPLETE if it is below",
    ] {
        assert!(told.contains(part), "{told}");
    }
    assert!(
        reasons(&session, "billing", "plan")
            .contains("no role of the principal covers `billing/plan`")
    );
    assert!(reasons(&session, "billing", "plan").contains("the principal's roles are `planner`"));
    session.set_roles(["Planner"]);
    assert!(
        reasons(&session, "billing", "plan").contains("`Planner` (no such role is configured)")
    );
    session.set_roles(["ops"]);
    let child = session.child().await.unwrap();
    open(&child, "deploy", Level::Complete).await;
    let told = reasons(&child, "deploy", "plan");
    assert!(told.contains("the parent session is at METADATA"), "{told}");
    assert!(
        told.contains("open `deploy` at CONTEXT in the parent session"),
        "{told}"
    );
    session.allow(["deploy/status"]).unwrap();
    assert!(reasons(&session, "deploy", "plan").contains("an allow-list leaves `deploy/plan` out"));
    assert!(
        reasons(&child, "deploy", "plan").contains("does not see `deploy/plan`; ask there why")
    );
    session.psl_control(PslControl::HostOnly);
    let told = reasons(&session, "psl-skill", "search_skills");
    assert!(told.contains("may not open skills"), "{told}");
}

#[tokio::test]
async fn a_role_with_a_wrong_pattern_is_a_build_error_and_one_that_matches_nothing_is_reported() {
    let wrong = two_skills().role("ops", |role| {
        role.allow("deploy/a/b", Level::Context)
            .allow("", Level::Context)
    });
    let error = wrong.build().await.unwrap_err().to_string();
    assert_eq!(error.matches("role `ops`").count(), 2, "{error}");
    let engine = built(two_skills().role("ops", |role| {
        role.allow("deploy", Level::Context)
            .allow("shipping", Level::Context)
    }))
    .await;
    assert_eq!(
        engine.report().unmatched_patterns,
        ["role `ops`: `shipping`"]
    );
}

#[tokio::test]
async fn sessions_with_the_same_rights_share_the_same_bytes() {
    let engine = built(governed()).await;
    let mut views = Vec::new();
    for (id, roles) in [
        ("ada", vec!["planner"]),
        ("bob", vec!["planner"]),
        ("eve", vec!["ops"]),
    ] {
        let session = engine
            .session(Principal::new(id, roles), "s1")
            .await
            .unwrap();
        let mut turn = turn(&session).await;
        let view = turn.view().await.unwrap();
        views.push((*view.digest(), view.system_prompt().as_ptr()));
    }
    assert_eq!(views[0], views[1]);
    assert_ne!(views[0].0, views[2].0);
}

#[tokio::test]
async fn the_same_list_again_changes_nothing_and_lists_are_bounded() {
    let engine = built(two_skills()).await;
    let session = session(&engine).await;
    for _ in 0..100 {
        session.allow(["deploy", "billing"]).unwrap();
    }
    for index in 0..63 {
        session
            .allow(["deploy".to_owned(), format!("x{index}")])
            .unwrap();
    }
    let fault = session.allow(["billing"]).unwrap_err();
    assert_eq!(fault.code, Code::LimitExceeded);
    engine.audit().flush().await;
    assert_eq!(records(&engine, "access_changed").len(), 64);
}
