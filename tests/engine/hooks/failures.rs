//! Hooks that fail, panic, hang or answer with what cannot be used.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use skills_engine::skill::{BoxFuture, Clock as _, Hooks, Limits};
use skills_engine::testing::ManualClock;
use tests::after;

use super::*;

/// The records of failed hooks, as `skill hook failure`, oldest first.
async fn failures(engine: &Engine) -> Vec<String> {
    engine.audit().flush().await;
    let records = engine.audit_ring().unwrap().records();
    records
        .iter()
        .filter_map(|record| {
            let entry = record.entry().unwrap();
            let fields: Value = serde_json::from_str(entry.fields.get()).unwrap();
            (entry.kind == "hook_failed").then(|| {
                assert_eq!(fields.as_object().unwrap().len(), 3);
                let words = ["skill", "hook", "failure"]
                    .map(|key| fields[key].as_str().unwrap().to_owned());
                words.join(" ")
            })
        })
        .collect()
}

/// All the ways to fail, each with the name of its hook.
fn failing() -> Vec<(&'static str, &'static str, Hooks)> {
    fn fails(_: &TurnRequest) -> Result<bool, String> {
        Err("marker".to_owned())
    }
    let unknown = |_: &TurnRequest| ToolSelection::only(["look", "loook"]); // misspelled on purpose
    vec![
        ("supports", "error", Hooks::new().supports(fails)),
        (
            "supports",
            "panic",
            Hooks::new().supports(|_: &TurnRequest| -> bool { panic!("marker") }),
        ),
        (
            "on_attach",
            "error",
            Hooks::new().on_attach(|_: &mut TurnRequest, _: &AttachContext| Err::<(), _>("marker")),
        ),
        (
            "on_attach",
            "panic",
            Hooks::new().on_attach_async(|_, _| -> BoxFuture<'_, ()> {
                Box::pin(async {
                    tokio::task::yield_now().await;
                    panic!("marker")
                })
            }),
        ),
        (
            "instructions",
            "error",
            Hooks::new().instructions_async(|_, _| Box::pin(async { Err::<String, _>("marker") })),
        ),
        (
            "instructions",
            "panic",
            Hooks::new().instructions(|_: &TurnRequest| -> String { panic!("marker") }),
        ),
        ("tools", "answer", Hooks::new().tools(unknown)),
        (
            "tools",
            "error",
            Hooks::new().tools_async(|_, _| Box::pin(async { Err::<ToolSelection, _>("marker") })),
        ),
    ]
}

#[tokio::test]
async fn so04_a_failing_hook_leaves_out_its_skill_alone_and_is_audited() {
    for (hook, failure, hooks) in failing() {
        let name = format!("{hook} {failure}");
        let engine = built([
            desk("before").dynamic_instructions(|_: &TurnRequest| "Before."),
            desk("failing").hooks(hooks),
            desk("later").dynamic_instructions(|_: &TurnRequest| "Later."),
        ])
        .await;
        let session = session(&engine).await;
        let mut turn = session.turn("the user's words").await.unwrap();
        assert_absent(&mut turn, "failing", "look").await;
        let view = turn.view().await.unwrap();
        assert_eq!(tools(&view).len(), 4, "{name}");
        assert!(view.system_prompt().contains("Before."), "{name}");
        assert!(view.system_prompt().contains("Later."), "{name}");
        let explanation = turn.explain("failing", "look");
        let expected = Decision::Denied(Why::HookFailed);
        assert_eq!(explanation.decision, expected, "{name}");
        assert_eq!(
            failures(&engine).await,
            [format!("failing {hook} {failure}")]
        );
        // Neither what went wrong nor what the user said is written down.
        for record in engine.audit_ring().unwrap().records() {
            let record = record.to_string();
            assert!(
                !record.contains("marker") && !record.contains("words"),
                "{record}"
            );
        }
        // The next turn asks again.
        drop(session.turn("more").await.unwrap());
        assert_eq!(failures(&engine).await.len(), 2, "{name}");
    }
}

#[tokio::test]
async fn a_required_skill_fails_the_turn() {
    for (hook, failure, hooks) in failing() {
        let engine = built([desk("failing").hooks(hooks).required(), desk("other")]).await;
        let session = session(&engine).await;
        let fault = session.turn("hello").await.unwrap_err();
        let expected = if failure == "panic" {
            Code::Panic
        } else {
            Code::ToolError
        };
        assert_eq!(fault.code, expected, "{hook} {failure}");
        for part in ["`failing`", hook, failure] {
            assert!(fault.message.contains(part), "{fault}");
        }
        assert!(!fault.message.contains("marker"), "{fault}");
        assert_eq!(failures(&engine).await.len(), 1);
    }
    // One that says no has not failed.
    let declining = desk("declining").supports(|_: &TurnRequest| false);
    let engine = built([declining.required()]).await;
    assert!(session(&engine).await.turn("hello").await.is_ok());
}

/// A hook of each kind that never answers.
fn hanging() -> Vec<(&'static str, Hooks)> {
    vec![
        (
            "supports",
            Hooks::new()
                .supports_async(|_, _| -> BoxFuture<'_, bool> { Box::pin(std::future::pending()) }),
        ),
        (
            "on_attach",
            Hooks::new().on_attach_async(|request, cx| -> BoxFuture<'_, ()> {
                request.attributes.insert("half".into(), true.into());
                cx.set_state("half");
                Box::pin(std::future::pending())
            }),
        ),
        (
            "instructions",
            Hooks::new().instructions_async(|_, _| -> BoxFuture<'_, String> {
                Box::pin(std::future::pending())
            }),
        ),
        (
            "tools",
            Hooks::new().tools_async(|_, _| -> BoxFuture<'_, ToolSelection> {
                Box::pin(std::future::pending())
            }),
        ),
    ]
}

fn clocked(skills: impl IntoIterator<Item = SkillBuilder>) -> (EngineBuilder, ManualClock) {
    let clock = ManualClock::default();
    let builder = bare().clock(Arc::new(clock.clone()));
    let builder = skills.into_iter().fold(builder, |builder, skill| {
        builder.with_skill(skill.build().unwrap())
    });
    (builder, clock)
}

#[tokio::test]
async fn a_hook_that_hangs_is_left_after_its_time() {
    for (hook, hooks) in hanging() {
        let seen = tool("seen", |cx: ToolContext| async move {
            cx.attribute("half").is_some().to_string()
        });
        let (builder, clock) = clocked([
            desk("hanging").hooks(hooks.clone()),
            desk("other").tool(seen),
        ]);
        let engine = builder.build().await.unwrap();
        let session = session(&engine).await;
        // The reaper sleeps, too.
        let limit = Duration::from_millis(500);
        let turn = after(&clock, 2, limit, session.turn("hello")).await;
        let mut turn = turn.unwrap();
        assert_absent(&mut turn, "hanging", "look").await;
        assert_eq!(failures(&engine).await, [format!("hanging {hook} timeout")]);
        // Of a hook that did not come to its end, nothing stays in the request.
        assert_eq!(answer(&mut turn, "other__seen", "{}").await, "false");

        let (builder, clock) = clocked([desk("hanging").hooks(hooks).required()]);
        let engine = builder.build().await.unwrap();
        let session = tests::session(&engine).await;
        let turn = after(&clock, 2, limit, session.turn("hello")).await;
        assert_eq!(turn.unwrap_err().code, Code::Timeout, "{hook}");
    }
}

#[tokio::test]
async fn instructions_and_tools_of_all_skills_wait_side_by_side() {
    let hanging = || {
        Hooks::new()
            .instructions_async(|_, _| -> BoxFuture<'_, String> {
                Box::pin(std::future::pending())
            })
            .tools_async(|_, _| -> BoxFuture<'_, ToolSelection> {
                Box::pin(std::future::pending())
            })
    };
    let (builder, clock) = clocked(["one", "two", "three"].map(|id| desk(id).hooks(hanging())));
    let engine = builder.build().await.unwrap();
    let session = session(&engine).await;
    // Six hooks and the reaper sleep at once, and time passes once.
    let turn = after(&clock, 7, Duration::from_millis(500), session.turn("hello")).await;
    assert_eq!(tools(&turn.unwrap().view().await.unwrap()), [] as [&str; 0]);
}

#[tokio::test]
async fn a_sync_hook_that_overran_counts_as_late() {
    for (over, is_late) in [(500, false), (501, true)] {
        let clock = ManualClock::default();
        let slow = clock.clone();
        let supports = move |_: &TurnRequest| {
            slow.advance(Duration::from_millis(over));
            true
        };
        let slow = desk("slow").supports(supports).build().unwrap();
        let builder = bare().clock(Arc::new(clock)).with_skill(slow);
        let engine = builder.build().await.unwrap();
        let turn = asked(&engine, "hello").await;
        assert_eq!(
            turn.visibility().iter().any(|told| told.skill == "slow"),
            !is_late
        );
        let expected = if is_late {
            vec!["slow supports timeout"]
        } else {
            vec![]
        };
        assert_eq!(failures(&engine).await, expected);
    }
}

#[tokio::test]
async fn the_time_of_a_hook_is_a_limit() {
    let (_, hooks) = hanging().remove(0);
    let (builder, clock) = clocked([desk("hanging").hooks(hooks)]);
    let mut limits = Limits::default();
    limits.hook_timeout = Duration::from_secs(7);
    let engine = builder.limits(limits).build().await.unwrap();
    let session = session(&engine).await;
    let begun = clock.now();
    let turn = after(&clock, 2, Duration::from_secs(7), session.turn("hello")).await;
    assert!(turn.is_ok());
    assert_eq!(clock.now().since(begun), Duration::from_secs(7));
}

#[tokio::test]
async fn dropping_the_future_of_a_turn_leaves_nothing_behind() {
    struct Ended(Arc<AtomicUsize>);
    impl Drop for Ended {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let ended = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&ended);
    let hooks = Hooks::new().on_attach_async(move |request, _| -> BoxFuture<'_, ()> {
        let ended = Ended(Arc::clone(&counter));
        let waits = request.text.as_deref() == Some("wait");
        Box::pin(async move {
            let _ended = ended;
            if waits {
                std::future::pending::<()>().await;
            }
        })
    });
    let engine = built([desk("desk").hooks(hooks)]).await;
    let session = session(&engine).await;
    {
        let mut beginning = Box::pin(session.turn("wait"));
        for _ in 0..100 {
            let polled =
                std::future::poll_fn(|cx| std::task::Poll::Ready(beginning.as_mut().poll(cx)));
            assert!(polled.await.is_pending());
            tokio::task::yield_now().await;
        }
        assert_eq!(ended.load(Ordering::Relaxed), 0);
    }
    assert_eq!(ended.load(Ordering::Relaxed), 1);
    engine.audit().flush().await;
    let records = engine.audit_ring().unwrap().records();
    let kinds: Vec<_> = records
        .iter()
        .map(|record| record.entry().unwrap().kind.into_owned())
        .collect();
    assert_eq!(kinds, ["registry_built", "session_opened", "anchor"]);
    // The session is as good as before.
    let mut turn = session.turn("go").await.unwrap();
    assert_eq!(
        tools(&turn.view().await.unwrap()),
        ["desk__look", "desk__act"]
    );
}

#[tokio::test]
async fn a_context_that_is_kept_writes_no_events_once_the_turn_has_begun() {
    let kept = Arc::new(Mutex::new(None));
    let keeping = Arc::clone(&kept);
    let attach = move |_: &mut TurnRequest, cx: &AttachContext| {
        for number in 0..64 {
            cx.audit("event", &number).unwrap();
        }
        assert_eq!(
            cx.audit("event", &64).unwrap_err().code,
            Code::LimitExceeded
        );
        *keeping.lock().unwrap() = Some(cx.clone());
    };
    let quiet = |_: &mut TurnRequest, cx: &AttachContext| cx.audit("event", &0);
    let engine = built([desk("one").on_attach(attach), desk("two").on_attach(quiet)]).await;
    let _turn = asked(&engine, "hello").await;
    assert_eq!(failures(&engine).await, [] as [&str; 0]);
    let cx = kept.lock().unwrap().take().unwrap();
    let refused = cx.audit("event", &0).unwrap_err();
    assert!(matches!(refused.code, Code::LimitExceeded), "{refused}");
    assert_eq!(cx.session_id().as_str(), "s1");
}
