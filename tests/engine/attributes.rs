//! Values of attributes: their deadlines, their failures, their limits and how long they are kept.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::ThreadId;
use std::time::Duration;

use serde_json::{Value, json};
use skills_engine::engine::{TurnView, View};
use skills_engine::skill::{
    Attribute, AttributeContext, AttributeFault, Cache, Clock as _, Limits, SkillBuilder,
    TurnRequest,
};
use skills_engine::testing::ManualClock;
use skills_engine::{Engine, Level, Principal, Session, Turn, skill, skill_attribute};
use tests::{ada, after, at_rest, bare, session, snapshot, turn, until};
use tokio::sync::Notify;

fn attribute(view: &View, name: &str) -> Value {
    snapshot(view, "gauge")["attributes"][name].clone()
}

fn gauge(attributes: impl IntoIterator<Item = Attribute>) -> SkillBuilder {
    attributes
        .into_iter()
        .map(|attribute| attribute.level(Level::Metadata))
        .fold(SkillBuilder::new("gauge"), SkillBuilder::attribute)
}

async fn engine_on(clock: &ManualClock, skill: SkillBuilder) -> Engine {
    bare()
        .with_skill(skill.build().unwrap())
        .clock(Arc::new(clock.clone()))
        .build()
        .await
        .unwrap()
}

#[tokio::test]
async fn se05_twenty_slow_attributes_cost_one_timeout() {
    let clock = ManualClock::default();
    let slow = (0..20).map(|number| {
        Attribute::lazy(format!("slow_{number:02}"), "Slow.", |_| async {
            std::future::pending::<Result<u32, AttributeFault>>().await
        })
    });
    let quick = Attribute::lazy("quick", "Quick.", |_| async { Ok(7_u32) });
    let engine = engine_on(&clock, gauge(slow.chain([quick]))).await;
    let mut turn = turn(&session(&engine).await).await;
    at_rest(&clock).await;
    let begun = clock.now();
    let view = after(&clock, 21, Duration::from_millis(500), turn.view())
        .await
        .unwrap();
    let passed = clock.now().since(begun);
    assert_eq!(passed, Duration::from_millis(500));
    for number in 0..20 {
        let late = attribute(&view, &format!("slow_{number:02}"));
        assert_eq!(late["value"], Value::Null);
        assert_eq!(late["status"], "timeout");
        assert_eq!(late["schema"]["type"], "integer");
    }
    assert_eq!(attribute(&view, "quick")["value"], 7);
    let prompt = view.system_prompt();
    assert!(
        prompt.contains("- gauge.slow_00 = null (timeout) (schema: {"),
        "{prompt}"
    );
    assert!(prompt.contains("- gauge.quick = 7\n"), "{prompt}");
    // They had their time: the next view does not wait for them again.
    assert!(turn.view().await.unwrap().is_unchanged());
    engine.audit().flush().await;
    let records = engine.audit_ring().unwrap().records();
    let recorded = records
        .iter()
        .map(ToString::to_string)
        .find(|record| record.contains("\"view\""));
    assert!(recorded.unwrap().contains("slow_19"));
}

#[tokio::test]
async fn se05_a_late_value_is_shown_by_the_next_view_with_its_time() {
    let clock = ManualClock::default();
    let gate = Arc::new(Notify::new());
    let gate_of_attribute = Arc::clone(&gate);
    let slow = Attribute::lazy("slow", "Slow.", move |_| {
        let gate = Arc::clone(&gate_of_attribute);
        async move {
            gate.notified().await;
            Ok(42_u32)
        }
    })
    .timeout(Duration::from_millis(100));
    let engine = engine_on(&clock, gauge([slow])).await;
    let mut turn = turn(&session(&engine).await).await;
    at_rest(&clock).await;
    let view = after(&clock, 2, Duration::from_millis(100), turn.view())
        .await
        .unwrap();
    assert_eq!(attribute(&view, "slow")["status"], "timeout");
    clock.advance(Duration::from_secs(3));
    gate.notify_one();
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    let view = turn.view().await.unwrap();
    let late = attribute(&view, "slow");
    assert_eq!(
        (&late["value"], &late["status"]),
        (&json!(42), &Value::Null)
    );
    assert_eq!(late["as_of"], "2026-01-01T00:00:03.100Z");
    assert!(
        view.system_prompt()
            .contains("- gauge.slow = 42 (as of 2026-01-01T00:00:03.100Z)\n")
    );
}

#[tokio::test]
async fn se05_the_view_has_one_deadline_for_all() {
    let clock = ManualClock::default();
    let patient = Attribute::lazy("patient", "Slow.", |_| async {
        std::future::pending::<Result<u32, AttributeFault>>().await
    })
    .timeout(Duration::from_secs(60));
    let engine = engine_on(&clock, gauge([patient])).await;
    let mut turn = turn(&session(&engine).await).await;
    at_rest(&clock).await;
    let view = after(&clock, 2, Duration::from_secs(2), turn.view())
        .await
        .unwrap();
    assert_eq!(attribute(&view, "patient")["status"], "timeout");
}

#[tokio::test]
async fn se06_one_that_fails_leaves_the_others_fine() {
    let fault = || AttributeFault("secret".to_owned());
    let engine = bare()
        .with_skill(
            gauge([
                Attribute::lazy("lazy_panic", "", |_| async {
                    assert!(std::hint::black_box(false), "secret");
                    Ok(1_u32)
                }),
                Attribute::lazy("begin_panic", "", |_| {
                    assert!(std::hint::black_box(false), "secret");
                    async { Ok(1_u32) }
                }),
                Attribute::lazy(
                    "lazy_error",
                    "",
                    move |_| async move { Err::<u32, _>(fault()) },
                ),
                Attribute::blocking("blocking_panic", "", |_| {
                    assert!(std::hint::black_box(false), "secret");
                    Ok(1_u32)
                }),
                Attribute::blocking("blocking_error", "", move |_| Err::<u32, _>(fault())),
                Attribute::live("live_panic", "", |_| {
                    assert!(std::hint::black_box(false), "secret");
                    1_u32
                }),
                Attribute::lazy("lazy", "", |_| async { Ok(1_u32) }),
                Attribute::blocking("blocking", "", |_| Ok(2_u32)),
                Attribute::live("live", "", |_| 3_u32),
            ])
            .build()
            .unwrap(),
        )
        .build()
        .await
        .unwrap();
    let mut turn = turn(&session(&engine).await).await;
    let view = turn.view().await.unwrap();
    let rows = [
        ("lazy_panic", Value::Null, json!("panic")),
        ("begin_panic", Value::Null, json!("panic")),
        ("lazy_error", Value::Null, json!("error")),
        ("blocking_panic", Value::Null, json!("panic")),
        ("blocking_error", Value::Null, json!("error")),
        ("live_panic", Value::Null, json!("panic")),
        ("lazy", json!(1), Value::Null),
        ("blocking", json!(2), Value::Null),
        ("live", json!(3), Value::Null),
    ];
    for (name, value, status) in rows {
        let shown = attribute(&view, name);
        assert_eq!(
            (&shown["value"], &shown["status"]),
            (&value, &status),
            "{name}"
        );
    }
    assert!(!view.system_prompt().contains("secret"));
    assert!(!view.snapshots().contains("secret"));
}

#[tokio::test]
async fn se06_one_that_hangs_is_started_once_in_a_hundred_views() {
    let clock = ManualClock::default();
    let (_keep, never) = mpsc::channel::<u32>();
    let never = std::sync::Mutex::new(never);
    let started = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&started);
    let hangs = Attribute::blocking("hangs", "Never known.", move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(never.lock().map_or(0, |gate| gate.recv().unwrap_or(0)))
    });
    let threads = Arc::new(std::sync::Mutex::new(std::collections::HashSet::new()));
    let seen = Arc::clone(&threads);
    let quick = Attribute::blocking("quick", "On a thread too.", move |_| {
        seen.lock().unwrap().insert(std::thread::current().id());
        Ok(1_u32)
    });
    let engine = engine_on(&clock, gauge([hangs, quick])).await;
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    at_rest(&clock).await;
    let pass = async {
        until(|| started.load(Ordering::Relaxed) == 1).await;
        until(|| clock.sleepers() == 2).await;
        clock.advance(Duration::from_millis(500));
    };
    let (view, ()) = tokio::join!(turn.view(), pass);
    assert_eq!(attribute(&view.unwrap(), "hangs")["status"], "timeout");
    for _ in 0..99 {
        let view = turn.view().await.unwrap();
        assert_eq!(attribute(&view, "hangs")["status"], "timeout");
        assert_eq!(attribute(&view, "quick")["value"], 1);
    }
    assert_eq!(started.load(Ordering::Relaxed), 1);
}

/// Has a constant and a live text of 10,000 characters.
#[skill(id = "gauge", manual)]
struct LongTexts {
    /// Written once.
    #[skill_attribute(level = Metadata)]
    constant: String,
}

#[skill]
impl LongTexts {
    /// Written each time.
    #[skill_attribute(level = Metadata)]
    fn live(&self) -> Vec<String> {
        vec![self.constant.clone(), "short".to_owned()]
    }
}

#[tokio::test]
async fn se07_a_long_string_is_cut_between_characters_and_marked() {
    let text = "a".to_owned() + &"漢".repeat(9_999);
    let engine = bare()
        .skill(LongTexts { constant: text })
        .build()
        .await
        .unwrap();
    let mut turn = turn(&session(&engine).await).await;
    let view = turn.view().await.unwrap();
    let cut = "a".to_owned() + &"漢".repeat(2_047) + "… [cut: 7952 more characters]";
    assert_eq!(attribute(&view, "constant")["value"], cut.as_str());
    assert_eq!(attribute(&view, "live")["value"], json!([cut, "short"]));
    assert!(
        view.system_prompt()
            .contains(&format!("- constant = \"{cut}\""))
    );
    assert!(!view.system_prompt().contains(&"漢".repeat(2_048)));
}

#[tokio::test]
async fn values_over_the_limit_show_as_null_with_a_status() {
    let numbers = |count: usize| vec![7_u8; count];
    let mut limits = Limits::default();
    limits.attribute = 100;
    limits.view_attributes = 150;
    let engine = bare()
        .with_skill(
            gauge([
                Attribute::live("first", "", move |_| numbers(49)),
                Attribute::live("too_long", "", move |_| numbers(50)),
                Attribute::live("too_many", "", move |_| numbers(40)),
                Attribute::live("fits", "", move |_| numbers(20)),
            ])
            .build()
            .unwrap(),
        )
        .limits(limits)
        .build()
        .await
        .unwrap();
    let mut turn = turn(&session(&engine).await).await;
    let view = turn.view().await.unwrap();
    for (name, status) in [
        ("first", None),
        ("too_long", Some("limit_exceeded")),
        ("too_many", Some("limit_exceeded")),
        ("fits", None),
    ] {
        let shown = attribute(&view, name);
        assert_eq!(shown["status"].as_str(), status, "{name}");
        assert_eq!(shown["value"].is_null(), status.is_some(), "{name}");
    }
}

#[tokio::test]
async fn a_constant_over_the_limit_is_a_build_error_that_names_it() {
    let large = Attribute::constant("table", "", &vec![1_u8; 10_000]).unwrap();
    let built = bare()
        .with_skill(gauge([large]).build().unwrap())
        .build()
        .await;
    assert_eq!(
        built.err().unwrap().problems(),
        [
            "attribute `table` of skill `gauge` has 20001 bytes as JSON, and at most 16384 are shown; shorten it"
        ]
    );
}

/// Counts how often it is looked at, in each way of keeping a value.
#[skill(id = "gauge", manual)]
#[derive(Default)]
struct Counting {
    each: AtomicU32,
    turn: AtomicU32,
    session: AtomicU32,
    time: AtomicU32,
    of_context: AtomicU32,
}

#[skill]
impl Counting {
    /// Fails without being lazy.
    #[skill_attribute(level = Metadata)]
    fn error(&self) -> Result<u32, String> {
        Err("no sensor".to_owned())
    }

    /// Panics without being lazy.
    #[skill_attribute(level = Metadata)]
    fn panic(&self) -> u32 {
        panic!("no sensor")
    }

    /// Evaluated in every view.
    #[skill_attribute(level = Metadata)]
    fn each(&self) -> u32 {
        self.each.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Once a turn.
    #[skill_attribute(level = Metadata, cache = turn)]
    fn per_turn(&self) -> u32 {
        self.turn.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Once a session.
    #[skill_attribute(level = Metadata, cache = session)]
    async fn per_session(&self) -> u32 {
        self.session.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Once in ten seconds, for all.
    #[skill_attribute(level = Metadata, cache = "10s")]
    fn per_time(&self) -> u32 {
        self.time.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Once in ten seconds, for each session.
    #[skill_attribute(level = Metadata, cache = "10s")]
    fn own(&self, cx: &AttributeContext) -> String {
        let number = self.of_context.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{number} {} {}", cx.principal().id(), cx.session_id())
    }
}

async fn values(turn: &mut Turn) -> [Value; 5] {
    let view = turn.view().await.unwrap();
    ["each", "per_turn", "per_session", "per_time", "own"]
        .map(|name| attribute(&view, name)["value"].clone())
}

#[tokio::test]
async fn se26_a_cheap_attribute_that_fails_shows_null_with_a_status() {
    let engine = bare().skill(Counting::default()).build().await.unwrap();
    let mut turn = turn(&session(&engine).await).await;
    let view: TurnView = turn.view().await.unwrap();
    for name in ["error", "panic"] {
        let shown = attribute(&view, name);
        assert_eq!(
            (&shown["value"], &shown["status"]),
            (&Value::Null, &json!(name))
        );
        assert_eq!(shown["schema"]["type"], "integer");
    }
    assert_eq!(attribute(&view, "each")["value"], 1);
    assert!(!view.system_prompt().contains("no sensor"));
}

#[tokio::test]
async fn se26_values_are_kept_for_a_turn_a_session_or_a_time() {
    let clock = ManualClock::default();
    let engine = bare()
        .skill(Counting::default())
        .clock(Arc::new(clock.clone()))
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    let own = |number: u32| json!(format!("{number} ada s1"));
    let mut first = turn(&session).await;
    assert_eq!(
        values(&mut first).await,
        [json!(1), json!(1), json!(1), json!(1), own(1)]
    );
    assert_eq!(
        values(&mut first).await,
        [json!(2), json!(1), json!(1), json!(1), own(1)]
    );
    first.finish().await.unwrap();
    let mut second = turn(&session).await;
    assert_eq!(
        values(&mut second).await,
        [json!(3), json!(2), json!(1), json!(1), own(1)]
    );
    clock.advance(Duration::from_millis(9_999));
    assert_eq!(
        values(&mut second).await,
        [json!(4), json!(2), json!(1), json!(1), own(1)]
    );
    clock.advance(Duration::from_millis(1));
    assert_eq!(
        values(&mut second).await,
        [json!(5), json!(2), json!(1), json!(2), own(2)]
    );
}

#[tokio::test]
async fn se26_two_sessions_share_no_value_that_took_the_context() {
    let engine = bare().skill(Counting::default()).build().await.unwrap();
    let begin = async |principal: Principal, id: &str| -> Session {
        engine.session(principal, id).await.unwrap()
    };
    let ada = begin(ada(), "s1").await;
    let other = begin(tests::ada(), "s2").await;
    let bob = begin(Principal::new("bob", [""; 0]), "s1").await;
    let mut told = Vec::new();
    for session in [&ada, &other, &bob, &ada] {
        let mut turn = turn(session).await;
        let [_, _, per_session, per_time, own] = values(&mut turn).await;
        told.push((per_session, per_time, own));
    }
    let expected = [
        (1, "1 ada s1"),
        (2, "2 ada s2"),
        (3, "3 bob s1"),
        (1, "1 ada s1"),
    ];
    for ((per_session, per_time, own), (number, text)) in told.iter().zip(expected) {
        assert_eq!(
            (per_session, per_time, own),
            (&json!(number), &json!(1), &json!(text))
        );
    }
}

#[tokio::test]
async fn se26_a_cheap_attribute_is_evaluated_where_the_view_is_made_kept_or_not() {
    let engine = bare()
        .with_skill(
            gauge([
                Attribute::live("plain", "", thread),
                Attribute::live("kept", "", thread).cache(Cache::Turn),
            ])
            .build()
            .unwrap(),
        )
        .build()
        .await
        .unwrap();
    let mut turn = turn(&session(&engine).await).await;
    let view = turn.view().await.unwrap();
    let here = format!("{:?}", std::thread::current().id());
    assert_eq!(attribute(&view, "plain")["value"], here.as_str());
    assert_eq!(attribute(&view, "kept")["value"], here.as_str());
}

fn thread(_: &AttributeContext) -> String {
    let id: ThreadId = std::thread::current().id();
    format!("{id:?}")
}

#[tokio::test]
async fn attributes_see_the_request_and_the_values_of_the_host() {
    let tenant = Attribute::live("tenant", "", |cx| {
        let tenant = cx
            .attribute("tenant")
            .and_then(Value::as_str)
            .unwrap_or("none")
            .to_owned();
        (tenant, cx.get::<u32>().map(|value| *value))
    });
    let engine = bare()
        .with_skill(gauge([tenant]).build().unwrap())
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    session.put(7_u32);
    let request = TurnRequest::empty().attribute("tenant", "acme");
    let mut turn = session.turn(request).await.unwrap();
    let view = turn.view().await.unwrap();
    assert_eq!(attribute(&view, "tenant")["value"], json!(["acme", 7]));
}
