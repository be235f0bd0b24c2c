//! How an engine is put together: what it takes, what it leaves out, and what it says of mistakes.

use std::sync::Arc;

use skills_engine::__private::inventory;
use skills_engine::engine::EngineBuilder;
use skills_engine::skill::{
    Attribute, Code, Expose, MissingResource, Resources, Skill, SkillBuilder, SkillDefinition,
    SkillEntry, Tool,
};
use skills_engine::source::Linked;
use skills_engine::{Engine, Level, skill, skill_attribute, skill_tool};
use tests::{answer, attributes, bare, session, tools, turn};

use crate::helpdesk::{Helpdesk, helpdesk};
use crate::made::{self, tool};

/// Begins an engine with those of the linked skills that are named; tests of other subjects link theirs too.
fn linked(ids: &[&str]) -> EngineBuilder {
    inventory::iter::<SkillEntry>()
        .filter(|entry| entry.id != "psl-skill" && !ids.contains(&entry.id))
        .fold(Engine::builder(), |builder, entry| {
            builder.without(entry.id)
        })
}

async fn problems(builder: EngineBuilder) -> Vec<String> {
    match builder.build().await {
        Ok(_) => Vec::new(),
        Err(err) => err.problems().to_vec(),
    }
}

/// Keeps orders.
#[skill(id = "orders", name = "Orders")]
#[derive(Default)]
struct Orders {
    /// Where they are kept.
    #[skill_attribute(level = Metadata)]
    place: String,
}

#[skill]
impl Orders {
    /// How many orders there are.
    #[skill_tool(level = Metadata)]
    fn count(&self) -> usize {
        self.place.len()
    }
}

/// Bills orders.
#[skill(id = "bills", factory = Bills::new)]
struct Bills {
    orders: Arc<Orders>,
    rate: Arc<Rate>,
}

struct Rate(usize);

#[skill]
impl Bills {
    fn new(resources: &Resources) -> Result<Self, MissingResource> {
        Ok(Self {
            orders: resources.skill()?,
            rate: resources.require()?,
        })
    }

    /// The sum of all bills.
    #[skill_tool(level = Metadata)]
    async fn sum(&self) -> usize {
        self.orders.count() * self.rate.0
    }
}

/// Needs `chain-b`.
#[skill(id = "chain-a", factory = ChainA::new)]
struct ChainA {
    _next: Arc<ChainB>,
}

/// Needs `chain-c`.
#[skill(id = "chain-b", factory = ChainB::new)]
struct ChainB {
    _next: Arc<ChainC>,
}

/// Needs `chain-a`.
#[skill(id = "chain-c", factory = ChainC::new)]
struct ChainC {
    _next: Arc<ChainA>,
}

macro_rules! chained {
    ($($ty:ident),*) => {$(
        impl $ty {
            fn new(resources: &Resources) -> Result<Self, MissingResource> {
                Ok(Self { _next: resources.skill()? })
            }
        }
    )*};
}
chained!(ChainA, ChainB, ChainC);

/// Cannot be made.
#[skill(id = "broken", factory = Broken::new)]
struct Broken;

impl Broken {
    fn new(_: &Resources) -> Result<Self, String> {
        Err("the disk is full".to_owned())
    }
}

/// Panics when it is made.
#[skill(id = "panicking", factory = Panicking::new)]
struct Panicking;

impl Panicking {
    fn new(_: &Resources) -> Result<Self, String> {
        panic!("no disk")
    }
}

/// Has the id of another skill.
#[skill(id = "orders")]
#[derive(Default)]
struct OtherOrders;

/// Has names twice, in two blocks.
#[skill(id = "twice")]
#[derive(Default)]
struct Twice {
    /// A field.
    #[skill_attribute(name = "same")]
    field: u8,
}

#[skill]
impl Twice {
    /// The first.
    #[skill_tool]
    fn act(&self) {}
}

#[skill]
impl Twice {
    /// The second.
    #[skill_tool(name = "act")]
    fn act_again(&self) {}

    /// A method.
    #[skill_attribute]
    fn same(&self) -> u8 {
        self.field
    }
}

#[tokio::test]
async fn se24_a_skill_is_given_another_one_and_both_are_the_engine_s() {
    let engine = linked(&["bills"])
        .skill(Orders {
            place: "shed".to_owned(),
        })
        .resource(Rate(10))
        .build()
        .await
        .unwrap();
    let bills: Arc<Bills> = engine.skill().unwrap();
    let orders: Arc<Orders> = engine.skill().unwrap();
    assert!(Arc::ptr_eq(&bills.orders, &orders));
    assert_eq!(bills.sum().await, 40);
    let mut turn = turn(&session(&engine).await).await;
    assert_eq!(answer(&mut turn, "bills__sum", "").await, "40");
}

#[tokio::test]
async fn se24_what_a_factory_lacks_is_a_build_error() {
    let rate = || Rate(1);
    let no_rate = "skill `bills` could not be made: no resource of type `engine::building::Rate`; put one with \
                   `Engine::builder().resource(value)`";
    let no_orders = "skill `bills` could not be made: there is no skill `orders` in this engine; link its crate, or \
                     pass it with `builder.skill(value)`";
    let rows = [
        (linked(&["bills"]).skill(Orders::default()), vec![no_rate]),
        (linked(&["bills"]).resource(rate()), vec![no_orders]),
        (
            linked(&["broken", "panicking"]),
            vec![
                "skill `broken` could not be made: the disk is full",
                "skill `panicking` could not be made: its factory panicked",
            ],
        ),
    ];
    for (builder, expected) in rows {
        assert_eq!(problems(builder).await, expected);
    }
}

#[tokio::test]
async fn se24_a_circle_is_a_build_error_that_names_the_chain() {
    let problems = problems(linked(&["chain-a", "chain-b", "chain-c"])).await;
    assert_eq!(problems.len(), 1, "{problems:?}");
    let chain =
        "skills need each other in a circle: `chain-a` -> `chain-b` -> `chain-c` -> `chain-a`";
    assert!(problems[0].contains(chain), "{problems:?}");
}

#[tokio::test]
async fn a_manual_skill_is_passed_or_left_out() {
    let missing = problems(linked(&["helpdesk"])).await;
    assert_eq!(
        missing,
        [
            "skill `helpdesk` is `manual`: pass it with `builder.skill(value)`, or leave it out with \
             `builder.without(\"helpdesk\")`"
        ]
    );
    let engine = linked(&["helpdesk"])
        .skill(helpdesk())
        .build()
        .await
        .unwrap();
    assert!(engine.skill::<Helpdesk>().is_ok());
    let engine = linked(&[]).build().await.unwrap();
    let fault = engine.skill::<Helpdesk>().err().unwrap();
    assert_eq!(
        fault.to_string(),
        "unknown_skill: there is no skill `helpdesk` in this engine. Link its crate, or pass it to the builder"
    );
}

#[tokio::test]
async fn ids_that_name_nothing_are_build_errors() {
    let rows = [
        (
            bare().disable("helpdsk"),
            "`builder.disable(\"helpdsk\")` names no skill; check the id",
        ),
        (
            linked(&[]).without("helpdsk"),
            "`builder.without(\"helpdsk\")` names no skill (did you mean `helpdesk`?); check the id",
        ),
    ];
    for (builder, expected) in rows {
        assert_eq!(problems(builder).await, [expected]);
    }
}

#[tokio::test]
async fn se19_linked_skills_come_by_themselves_those_of_named_crates_or_none() {
    let rows = [
        ("all", linked(&["single"]), vec!["psl-skill", "single"]),
        (
            "of this crate",
            linked(&["single"]).linked(Linked::Only(&["tests"])),
            vec!["psl-skill", "single"],
        ),
        (
            "of another crate",
            Engine::builder().linked(Linked::Only(&["elsewhere"])),
            vec!["psl-skill"],
        ),
        ("none", bare(), vec!["psl-skill"]),
        (
            "not even the control skill",
            bare().without("psl-skill"),
            vec![],
        ),
    ];
    for (name, builder, expected) in rows {
        let engine = builder.build().await.unwrap();
        let skills = engine.skills();
        let ids: Vec<_> = skills.iter().map(|skill| &*skill.definition().id).collect();
        assert_eq!(ids, expected, "{name}");
    }
}

/// The only one of its id.
#[skill(id = "single")]
#[derive(Default)]
struct Single;

#[tokio::test]
async fn se19_a_crate_that_did_not_arrive_is_told_with_both_causes() {
    assert!(problems(bare().expect_crate("tests")).await.is_empty());
    assert_eq!(
        problems(bare().expect_crate("helpdesk-skill")).await,
        [
            "no skill of crate `helpdesk-skill` arrived: either nothing uses the crate, so that it is not linked (write \
             `skills_engine::link!(helpdesk_skill);`), or the build holds two versions of `skills-engine` (see `cargo tree -d`)"
        ]
    );
}

#[tokio::test]
async fn an_instance_under_another_id_stands_beside_the_one_the_engine_makes() {
    let engine = linked(&["single"])
        .skill_as("second", Single)
        .build()
        .await
        .unwrap();
    let mut ids = engine.skills();
    ids.retain(|skill| skill.definition().id.starts_with('s'));
    let ids: Vec<_> = ids
        .iter()
        .map(|skill| skill.definition().id.to_string())
        .collect();
    assert_eq!(ids, ["second", "single"]);
}

#[test]
fn a_runtime_without_timers_and_none_at_all_are_build_errors() {
    let build = || bare().build();
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(problem) = std::pin::pin!(build()).poll(&mut cx) else {
        panic!("it fails at once");
    };
    assert!(
        problem
            .unwrap_err()
            .to_string()
            .contains("inside a tokio runtime")
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let problem = runtime.block_on(build()).unwrap_err();
    assert!(problem.to_string().contains("enable_time"), "{problem}");
}

#[tokio::test]
async fn one_type_can_be_several_skills() {
    let orders = |place: &str| Orders {
        place: place.to_owned(),
    };
    let engine = bare()
        .skill_as("orders-north", orders("north"))
        .skill(orders("here"))
        .skill_as("orders-south", orders("southern"))
        .build()
        .await
        .unwrap();
    let mut turn = turn(&session(&engine).await).await;
    let view = turn.view().await.unwrap();
    assert_eq!(
        tools(&view),
        [
            "orders__count",
            "orders-north__count",
            "orders-south__count"
        ]
    );
    for (name, count) in [
        ("orders", "4"),
        ("orders-north", "5"),
        ("orders-south", "8"),
    ] {
        assert_eq!(
            answer(&mut turn, &format!("{name}__count"), "").await,
            count
        );
        assert_eq!(attributes(&view, name), ["place"]);
    }
    assert_eq!(engine.skill::<Orders>().unwrap().place, "here");
    let north = engine.skill_by_id::<Orders>("orders-north").unwrap();
    assert_eq!(north.place, "north");
    let other = engine
        .skill_by_id::<Helpdesk>("orders-north")
        .err()
        .unwrap();
    assert_eq!(other.code, Code::UnknownSkill);
    let illegal = problems(bare().skill_as("Orders/North", orders("north"))).await;
    assert_eq!(illegal.len(), 1);
    assert!(
        illegal[0].starts_with("`Orders/North` is not a skill id"),
        "{illegal:?}"
    );
}

#[tokio::test]
async fn two_skills_with_one_id_are_told_with_both_types_and_places() {
    let clash = problems(linked(&["orders"])).await;
    assert_eq!(clash.len(), 1, "{clash:?}");
    for part in [
        "two skills have the id `orders`: ",
        "`Orders` of crate `tests` (",
        "`OtherOrders` of crate `tests` (",
        "building.rs:",
        "builder.skill_as",
    ] {
        assert!(clash[0].contains(part), "{part} is not in {clash:?}");
    }
    assert_eq!(clash[0].matches("building.rs:").count(), 2);
    let made = || SkillBuilder::new("psl-skill").build().unwrap();
    let clash = problems(bare().with_skill(made())).await;
    assert!(clash[0].contains("one made at run time"), "{clash:?}");
}

#[tokio::test]
async fn names_used_twice_are_told_all_at_once_with_their_places() {
    let clashes = problems(linked(&["twice"])).await;
    assert_eq!(clashes.len(), 2, "{clashes:?}");
    for (clash, noun) in clashes.iter().zip(["attribute", "tool"]) {
        assert!(
            clash.starts_with("skill `twice` (type `Twice`) has two "),
            "{clash}"
        );
        assert!(
            clashes
                .iter()
                .any(|clash| clash.contains(&format!("two {noun}s named")))
        );
        assert_eq!(clash.matches("building.rs:").count(), 2, "{clash}");
    }
}

/// A skill of some other source, whose ids are not those of Rust skills.
struct Foreign {
    definition: SkillDefinition,
    tools: Vec<Tool>,
}

impl Foreign {
    fn new(id: String, tools: Vec<Tool>) -> Self {
        let mut definition = SkillBuilder::new("foreign")
            .build()
            .unwrap()
            .definition()
            .clone();
        definition.id = id.into();
        Self { definition, tools }
    }
}

impl Skill for Foreign {
    fn definition(&self) -> &SkillDefinition {
        &self.definition
    }

    fn attributes(&self) -> &[Attribute] {
        &[]
    }

    fn tools(&self) -> &[Tool] {
        &self.tools
    }
}

#[tokio::test]
async fn se17_a_tool_name_in_two_skills_works() {
    let count = |answer: &'static str| tool("count", move |_| async move { answer });
    let engine = bare()
        .with_skill(made::skill("bills", [count("bills")]))
        .with_skill(made::skill("orders", [count("orders")]))
        .build()
        .await
        .unwrap();
    let mut turn = turn(&session(&engine).await).await;
    for skill in ["bills", "orders"] {
        assert_eq!(
            answer(&mut turn, &format!("{skill}__count"), "").await,
            skill
        );
    }
}

#[tokio::test]
async fn se17_one_name_on_the_wire_for_two_tools_is_a_build_error_that_names_both() {
    let act = |name: &'static str| tool(name, |_| async { "" });
    let long = || "a".repeat(40);
    // Found by trying: the marks of these two, cut to 64 characters, are the same.
    let (left, right) = (
        "tttttttttttttttttttttttttttttt95fd",
        "tttttttttttttttttttttttttttttta12e",
    );
    let rows = [
        (
            "joined",
            Foreign::new("a".to_owned(), vec![act("b__c")]),
            Foreign::new("a__b".to_owned(), vec![act("c")]),
            [
                "tool `b__c` of skill `a`",
                "tool `c` of skill `a__b`",
                "`a__b__c`",
            ],
        ),
        (
            "disabled",
            Foreign::new("a".to_owned(), vec![act("b__c").expose(Expose::Disabled)]),
            Foreign::new("a__b".to_owned(), vec![act("c")]),
            [
                "tool `b__c` of skill `a`",
                "tool `c` of skill `a__b`",
                "`a__b__c`",
            ],
        ),
        (
            "cut",
            Foreign::new(long(), vec![act(left), act(right)]),
            Foreign::new("b".to_owned(), vec![]),
            [left, right, "ttttttttttttt_690485dd`"],
        ),
    ];
    for (name, first, second, parts) in rows {
        let clash = problems(bare().with_skill(first).with_skill(second)).await;
        assert_eq!(clash.len(), 1, "{name}: {clash:?}");
        for part in parts {
            assert!(
                clash[0].contains(part),
                "{name}: {part} is not in {clash:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_disabled_skill_looks_to_a_model_as_if_there_were_none() {
    let engine = bare()
        .skill(Orders::default())
        .disable("orders")
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    let view = turn.view().await.unwrap();
    assert!(!view.system_prompt().contains("orders"));
    assert!(!view.snapshots().contains("orders"));
    assert_eq!(
        (view.snapshot("orders"), view.level("orders")),
        (None, None)
    );
    assert!(session.search("orders").await.unwrap().is_empty());
    let standing = answer(&mut turn, "psl-skill__get_visibility", "").await;
    assert!(!standing.contains("orders"), "{standing}");
    let set = r#"{"skill_id":"orders","level":"CONTEXT"}"#;
    let text = answer(&mut turn, "psl-skill__set_skill_visibility", set).await;
    assert!(
        text.starts_with("unknown_skill: there is no skill `orders`. Use one of `psl-skill`"),
        "{text}"
    );
    let opened = session
        .open(
            "orders",
            Level::Context,
            skills_engine::Span::UntilCleared,
            "",
        )
        .await;
    assert!(opened.is_err());
    assert_eq!(engine.skill::<Orders>().unwrap().count(), 0);
}

#[tokio::test]
async fn an_error_lists_every_problem() {
    let built = linked(&["broken", "twice"]).build().await;
    let text = built.err().unwrap().to_string();
    assert!(
        text.starts_with("3 problems\n- skill `broken` could not be made"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 4);
}
