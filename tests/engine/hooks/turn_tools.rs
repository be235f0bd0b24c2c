//! Tools that a hook selects, or gives for one turn.

use serde::Deserialize;
use skills_engine::Span;
use skills_engine::engine::{ApprovalAnswer, LeavePending};
use skills_engine::skill::{Expose, Hooks, NoArguments, Skill, SkillDefinition};

use super::*;

/// The arguments of a tool made for a turn.
#[derive(Deserialize, schemars::JsonSchema)]
struct Amount {
    amount: u8,
}

/// Gives `quote` (CONTEXT) and `order` (COMPLETE, destructive) for the tenant of the request.
fn shop() -> SkillBuilder {
    desk("shop").dynamic_tools(|request: &TurnRequest| {
        let Some(tenant) = request.attributes.get("tenant") else {
            return ToolSelection::All;
        };
        let tenant = tenant.to_string();
        let quote = Tool::new("quote", "Quotes.", move |arguments: Amount, _| {
            let tenant = tenant.clone();
            async move { format!("{} for {tenant}", arguments.amount) }
        });
        let order = Tool::new("order", "Orders.", |_: NoArguments, _| async { "ordered" });
        ToolSelection::replace([
            quote.read_only(),
            order.level(Level::Complete).destructive(),
        ])
    })
}

async fn decision(turn: &Turn, tool: &str) -> Decision {
    turn.explain("shop", tool).decision
}

#[tokio::test]
async fn tools_of_a_turn_stand_in_for_the_registered_ones_and_obey_levels() {
    let engine = built([shop(), desk("other")]).await;
    let session = session(&engine).await;
    let mut turn = session.turn(tenant("acme")).await.unwrap();
    let view = turn.view().await.unwrap();
    assert_eq!(tools(&view), ["other__look", "other__act", "shop__quote"]);
    let listed = snapshot(&view, "shop")["tools"].clone();
    assert_eq!(
        listed,
        json!([{ "name": "shop__quote", "description": "Quotes." }])
    );
    let own = view.tools().last().unwrap();
    assert_eq!((own.name(), own.skill()), ("shop__quote", "shop"));
    assert!(own.input_schema().contains("amount"));
    assert!(!view.system_prompt().contains("shop__look"));

    // The same checks as for any other.
    let answered = answer(&mut turn, "shop__quote", r#"{"amount":3}"#).await;
    assert_eq!(answered, r#"3 for "acme""#);
    for (name, arguments, code) in [
        ("shop__quote", r#"{"amount":"3"}"#, Code::InvalidArguments),
        ("shop__quote", r#"{"number":3}"#, Code::InvalidArguments),
        ("shop__order", "{}", Code::Hidden),
        ("shop__look", "{}", Code::UnknownTool),
        ("shop__qoute", "{}", Code::UnknownTool), // misspelled on purpose
    ] {
        let fault = call(&mut turn, name, arguments).await.outcome.unwrap_err();
        assert_eq!(fault.code, code, "{name}: {fault}");
    }
    let typo = call(&mut turn, "shop__qoute", "{}").await; // misspelled on purpose
    assert!(
        typo.text().contains("Did you mean `shop__quote`?"),
        "{}",
        typo.text()
    );

    assert_eq!(decision(&turn, "quote").await, Decision::Visible);
    assert_eq!(
        decision(&turn, "look").await,
        Decision::Denied(Why::NotSelected)
    );
    let hidden = Decision::Hidden {
        have: Level::Context,
        need: Level::Complete,
    };
    assert_eq!(decision(&turn, "order").await, hidden);
    let reasons = turn.explain("shop", "look").reasons.join("\n");
    assert!(
        reasons.contains("does not offer `look` in this turn"),
        "{reasons}"
    );

    // Opened, it is told of, and called once it was seen.
    let opened = turn.open("shop", Level::Complete, "").await.unwrap();
    assert_eq!(opened.new_tools, ["shop__order"]);
    let unseen = call(&mut turn, "shop__order", "{}")
        .await
        .outcome
        .unwrap_err();
    assert_eq!(unseen.code, Code::Hidden);
    let after = turn.view().await.unwrap();
    assert_eq!(tools(&after)[2..], ["shop__quote", "shop__order"]);
    assert_ne!(after.digest(), view.digest());
    assert_eq!(answer(&mut turn, "shop__order", "{}").await, "ordered");
    session.limit("shop", Level::Context).await.unwrap();
    let revoked = call(&mut turn, "shop__order", "{}")
        .await
        .outcome
        .unwrap_err();
    assert_eq!(revoked.code, Code::Hidden);
    // An earlier view is what it was, also when its turn has gone.
    drop(turn);
    assert_eq!(tools(&after).len(), 4);

    // Another turn has what is registered.
    let mut plain = session.turn(TurnRequest::empty()).await.unwrap();
    let view = plain.view().await.unwrap();
    assert_eq!(tools(&view)[2..], ["shop__look", "shop__act"]);
    let foreign = call(&mut plain, "shop__quote", r#"{"amount":3}"#).await;
    assert_eq!(foreign.outcome.unwrap_err().code, Code::UnknownTool);
    assert_eq!(decision(&plain, "quote").await, Decision::Unknown);
}

#[tokio::test]
async fn the_list_has_tools_of_a_turn_last_in_each_dialect() {
    for with_other in [true, false] {
        let builder = bare()
            .without("psl-skill")
            .with_skill(shop().build().unwrap());
        let builder = if with_other {
            builder.with_skill(desk("other").build().unwrap())
        } else {
            builder
        };
        let engine = builder.build().await.unwrap();
        let mut turn = asked(&engine, tenant("acme")).await;
        let view = turn.view().await.unwrap();
        let names: Vec<_> = descriptions(&view)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, tools(&view));
        assert_eq!(names.last().unwrap(), "shop__quote");
        assert_eq!(names.len(), if with_other { 3 } else { 1 });
        assert_eq!(view.tools_json(Dialect::Mcp), view.tools_json(Dialect::Mcp));
    }
}

#[tokio::test]
async fn roles_and_lists_hold_for_tools_of_a_turn() {
    let engine = bare()
        .role("buyer", |role| {
            role.allow("shop", Level::Context)
                .allow("shop/order", Level::Complete)
        })
        .role("clerk", |role| role.allow("shop/look", Level::Complete))
        .with_skill(shop().build().unwrap())
        .build()
        .await
        .unwrap();
    for (role, request, quote, order) in [
        (
            "buyer",
            tenant("acme"),
            Decision::Visible,
            Decision::Visible,
        ),
        (
            "clerk",
            tenant("acme"),
            Decision::Denied(Why::NoRole),
            Decision::Denied(Why::NoRole),
        ),
        (
            "buyer",
            tenant("acme").allow(["shop/order"]),
            Decision::Denied(Why::NotListed),
            Decision::Visible,
        ),
    ] {
        let principal = Principal::new("ada", [role]);
        let session = engine.session(principal, role).await.unwrap();
        open(&session, "shop", Level::Complete).await;
        let mut turn = session.turn(request).await.unwrap();
        for (tool, arguments, expected) in
            [("quote", r#"{"amount":1}"#, quote), ("order", "{}", order)]
        {
            assert_eq!(decision(&turn, tool).await, expected, "{role} {tool}");
            let view = turn.view().await.unwrap();
            let name = format!("shop__{tool}");
            let is_visible = expected == Decision::Visible;
            assert_eq!(tools(&view).contains(&&*name), is_visible, "{role} {tool}");
            let outcome = call(&mut turn, &name, arguments).await.outcome;
            assert_eq!(outcome.is_ok(), is_visible, "{role} {tool}");
        }
    }
    // A role that is taken away in the middle of the turn takes them along.
    let session = engine
        .session(Principal::new("ada", ["buyer"]), "s2")
        .await
        .unwrap();
    let mut turn = session.turn(tenant("acme")).await.unwrap();
    turn.view().await.unwrap();
    session.set_roles(["clerk"]);
    let outcome = call(&mut turn, "shop__quote", r#"{"amount":1}"#)
        .await
        .outcome;
    assert_eq!(outcome.unwrap_err().code, Code::UnknownTool);
    assert!(tools(&turn.view().await.unwrap()).is_empty());
}

#[tokio::test]
async fn a_child_sees_no_tool_of_a_turn_that_its_parent_turn_does_not() {
    let engine = built([shop()]).await;
    let session = session(&engine).await;
    let parent = session.turn(tenant("acme")).await.unwrap();
    let child = parent.child().await.unwrap();
    let mut turn = child.turn(tenant("umbrella")).await.unwrap();
    assert_eq!(tools(&turn.view().await.unwrap()), ["shop__quote"]);
    drop((turn, child));
    // The parent's turn has the registered tools alone.
    let only = desk("shop").dynamic_tools(|request: &TurnRequest| {
        let extra = || Tool::new("extra", "", |_: NoArguments, _| async { "" });
        if request.attributes.contains_key("tenant") {
            ToolSelection::replace([extra()])
        } else {
            ToolSelection::only(["look"])
        }
    });
    let engine = built([only]).await;
    let session = tests::session(&engine).await;
    let parent = session.turn(TurnRequest::empty()).await.unwrap();
    let child = parent.child().await.unwrap();
    let mut turn = child.turn(tenant("acme")).await.unwrap();
    assert!(tools(&turn.view().await.unwrap()).is_empty());
    assert_eq!(
        decision(&turn, "extra").await,
        Decision::Denied(Why::Parent)
    );
    session.limit("shop", Level::Metadata).await.unwrap();
    assert!(tools(&turn.view().await.unwrap()).is_empty());
}

#[tokio::test]
async fn only_takes_the_other_tools_out_of_everything() {
    let engine = built([desk("desk")
        .tool(tool("close", |_| async { "closed" }).level(Level::Complete))
        .dynamic_tools(|_: &TurnRequest| ToolSelection::only(["look", "close"]))])
    .await;
    let mut turn = asked(&engine, "hello").await;
    let opened = turn.open("desk", Level::Complete, "").await.unwrap();
    assert_eq!(opened.new_tools, ["desk__close"]);
    let view = turn.view().await.unwrap();
    assert_eq!(tools(&view), ["desk__look", "desk__close"]);
    assert!(!view.system_prompt().contains("desk__act"));
    assert!(!view.tools_json(Dialect::OpenAiChat).contains("desk__act"));
    assert_eq!(
        snapshot(&view, "desk")["tools"].as_array().unwrap().len(),
        2
    );
    let fault = call(&mut turn, "desk__act", "{}")
        .await
        .outcome
        .unwrap_err();
    assert_eq!(fault.code, Code::UnknownTool);
    let explanation = turn.explain("desk", "act");
    assert_eq!(explanation.decision, Decision::Denied(Why::NotSelected));
    // Nothing of it holds for the session.
    let of_session = session(&engine).await.explain("desk", "act");
    assert_eq!(of_session.decision, Decision::Visible);
    let none = built([desk("desk").dynamic_tools(|_: &TurnRequest| ToolSelection::none())]).await;
    let mut turn = asked(&none, "hello").await;
    let view = turn.view().await.unwrap();
    assert!(tools(&view).is_empty());
    assert!(view.level("desk").is_some());
}

#[tokio::test]
async fn tools_that_cannot_be_taken_leave_the_skill_out() {
    let own = |name: &'static str| Tool::new(name, "", |_: NoArguments, _| async { "" });
    let many = (0..257)
        .map(|number| {
            Tool::from_json(
                format!("t{number}"),
                "",
                r#"{"type":"object"}"#,
                |_, _| async { "" },
            )
            .unwrap()
        })
        .collect::<Vec<_>>();
    let description = "long ".repeat(60_000);
    let long = Tool::new("long", description, |_: NoArguments, _| async { "" });
    for (name, given) in [
        ("a registered tool's name", vec![own("extra"), own("look")]),
        ("a name twice", vec![own("one"), own("one")]),
        ("an illegal name", vec![own("no spaces")]),
        ("too many", many),
        ("too long", vec![own("extra"), long]),
    ] {
        let taking = move |_: &TurnRequest| ToolSelection::replace(given.clone());
        let engine = built([desk("desk").dynamic_tools(taking), desk("other")]).await;
        let mut turn = asked(&engine, "hello").await;
        assert_absent(&mut turn, "desk", "extra").await;
        let why = turn.explain("desk", "look").decision;
        assert_eq!(why, Decision::Denied(Why::HookFailed), "{name}");
    }
}

#[tokio::test]
async fn two_skills_cannot_give_one_name() {
    struct Strange(SkillDefinition, Hooks);
    impl Skill for Strange {
        fn definition(&self) -> &SkillDefinition {
            &self.0
        }
        fn attributes(&self) -> &[Attribute] {
            &[]
        }
        fn tools(&self) -> &[Tool] {
            &[]
        }
        fn hooks(&self) -> Option<&Hooks> {
            Some(&self.1)
        }
    }
    // `a__b` and `c` make the same name on the wire as `a` and `b__c`.
    let strange = |id: &'static str, name: &'static str| {
        let tool = Tool::new(name, id, |_: NoArguments, _| async { "" }).level(Level::Metadata);
        let hooks =
            Hooks::new().tools(move |_: &TurnRequest| ToolSelection::replace([tool.clone()]));
        Strange(SkillDefinition::new(id), hooks)
    };
    let engine = bare()
        .with_skill(strange("a", "b__c"))
        .with_skill(strange("a__b", "c"))
        .build()
        .await
        .unwrap();
    let mut turn = asked(&engine, "hello").await;
    let view = turn.view().await.unwrap();
    // The first by id has it.
    assert_eq!(view.tools().last().unwrap().skill(), "a");
    assert_eq!(view.level("a__b"), None);
}

#[tokio::test]
async fn neither_errors_nor_the_trail_quote_a_sensitive_argument_of_a_turns_tool() {
    let engine = built([desk("desk").dynamic_tools(|_: &TurnRequest| {
        let pay = Tool::new(
            "pay",
            "",
            |arguments: Amount, _| async move { arguments.amount },
        );
        ToolSelection::replace([pay.sensitive("amount")])
    })])
    .await;
    let mut turn = asked(&engine, "hello").await;
    turn.view().await.unwrap();
    let refused = answer(&mut turn, "desk__pay", r#"{"amount":"marker"}"#).await;
    assert!(
        refused.contains("invalid_arguments") && !refused.contains("marker"),
        "{refused}"
    );
    assert_eq!(answer(&mut turn, "desk__pay", r#"{"amount":7}"#).await, "7");
    engine.audit().flush().await;
    let records = engine.audit_ring().unwrap().records();
    let records: Vec<_> = records.iter().map(ToString::to_string).collect();
    assert!(
        records
            .iter()
            .any(|record| record.contains(r#""tool":"pay""#))
    );
    assert!(records.iter().all(|record| !record.contains("marker")));
}

#[tokio::test]
async fn a_view_of_the_same_turn_is_the_same_while_nothing_changes() {
    let live = Attribute::live("mood", "", |cx: &AttributeContext| {
        cx.get::<Mutex<u8>>()
            .map_or(0, |mood| *mood.lock().unwrap())
    });
    let engine = built([shop()
        .attribute(live)
        .dynamic_instructions(|_: &TurnRequest| "Shop.")])
    .await;
    let session: Session = session(&engine).await;
    session.put(Mutex::new(1_u8));
    let mut turn = session.turn(tenant("acme")).await.unwrap();
    let first = turn.view().await.unwrap();
    assert!(turn.view().await.unwrap().is_unchanged());
    *session.get::<Mutex<u8>>().unwrap().lock().unwrap() = 2;
    let second = turn.view().await.unwrap();
    assert_eq!(second.change(), skills_engine::engine::ViewChange::Live);
    assert_eq!(first.prompt().turn, second.prompt().turn);
    assert_eq!(tools(&second), ["shop__quote"]);
    session
        .open("shop", Level::Complete, Span::UntilCleared, "")
        .await
        .unwrap();
    let third = turn.view().await.unwrap();
    assert!(third.prompt().opened.starts_with(second.prompt().opened));
    assert_eq!(tools(&third), ["shop__quote", "shop__order"]);
}

#[tokio::test]
async fn an_approval_of_a_turns_tool_holds_in_its_turn_alone() {
    let runs = Arc::new(Mutex::new(Vec::new()));
    let ran = Arc::clone(&runs);
    let giving = desk("desk").dynamic_tools(move |request: &TurnRequest| {
        let (ran, text) = (Arc::clone(&ran), request.text.clone().unwrap_or_default());
        let pay = Tool::new("pay", "", move |_: NoArguments, _| {
            ran.lock().unwrap().push(text.clone());
            async { "paid" }
        });
        ToolSelection::replace([pay.requires_approval()])
    });
    let nobody = built([giving.clone()]).await;
    let mut turn = asked(&nobody, "first").await;
    let refused = call(&mut turn, "desk__pay", "{}")
        .await
        .outcome
        .unwrap_err();
    assert_eq!(refused.code, Code::ApprovalRequired);

    let builder = bare().with_skill(giving.build().unwrap());
    let builder = builder.approvals(LeavePending);
    let engine = builder.build().await.unwrap();
    let session = session(&engine).await;
    let pending = async |turn: &mut Turn| call(turn, "desk__pay", "{}").await.pending.unwrap();
    let mut first = session.turn("first").await.unwrap();
    let token = pending(&mut first).await;
    session.answer(&token, ApprovalAnswer::Approve).unwrap();
    // Another turn's tool of the name does another thing, so it is asked for anew.
    let mut second = session.turn("second").await.unwrap();
    assert_ne!(pending(&mut second).await, token);
    assert_eq!(
        second.resume(&token).await.unwrap_err().code,
        Code::Conflict
    );
    assert!(runs.lock().unwrap().is_empty());
    assert_eq!(first.resume(&token).await.unwrap().text(), "paid");
    assert_eq!(*runs.lock().unwrap(), ["first"]);
    let token = pending(&mut first).await;
    session.answer(&token, ApprovalAnswer::Approve).unwrap();
    assert_eq!(answer(&mut first, "desk__pay", "{}").await, "paid");
    assert_eq!(*runs.lock().unwrap(), ["first", "first"]);
}

#[tokio::test]
async fn a_child_of_a_turn_sees_no_skill_that_does_not_support_the_turn() {
    for is_refreshed in [false, true] {
        let gated = shop().supports(gates::attribute("tenant"));
        let engine = built([gated, desk("other")]).await;
        let session = session(&engine).await;
        let parent = session.turn(TurnRequest::empty()).await.unwrap();
        let child = parent.child().await.unwrap();
        if is_refreshed {
            drop(engine.refresh().await.unwrap());
        }
        let mut turn = child.turn(tenant("acme")).await.unwrap();
        let seen = turn.view().await.unwrap();
        assert_eq!(
            tools(&seen),
            ["other__look", "other__act"],
            "{is_refreshed}"
        );
        // Once the parent's turn is over, its session counts.
        drop(parent);
        let mut next = child.turn(tenant("acme")).await.unwrap();
        assert!(tools(&next.view().await.unwrap()).contains(&"shop__quote"));
    }
}

#[tokio::test]
async fn a_child_sees_no_tool_of_a_turn_that_waits_for_the_host_in_its_parent() {
    let guarded = desk("shop").host_only().dynamic_tools(|_: &TurnRequest| {
        let page = Tool::new("page", "Pages.", |_: NoArguments, _| async { "paged" });
        ToolSelection::replace([page.expose(Expose::Always)])
    });
    let engine = built([guarded]).await;
    let session = session(&engine).await;
    let child = session.child().await.unwrap();
    open(&child, "shop", Level::Context).await;
    let mut turn = tests::turn(&child).await;
    assert_eq!(tools(&turn.view().await.unwrap()), [] as [&str; 0]);
    open(&session, "shop", Level::Context).await;
    assert_eq!(tools(&turn.view().await.unwrap()), ["shop__page"]);
    session.clear("shop").await.unwrap();
    let answer = call(&mut turn, "shop__page", "{}").await.outcome;
    assert_eq!(answer.unwrap_err().code, Code::UnknownTool);
}
