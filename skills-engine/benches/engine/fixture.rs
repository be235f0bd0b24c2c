use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Deserialize;
use skills_engine::engine::EngineBuilder;
use skills_engine::session::{AskWhenUntrusted, Role};
use skills_engine::skill::gates;
use skills_engine::skill::{
    Attribute, Clock as _, Skill, SkillBuilder, SystemClock, Timestamp, Tool, ToolContext,
    ToolOutput,
};
use skills_engine::source::Linked;
use skills_engine::{Engine, Level, Principal, Session};

pub(crate) const SKILLS: usize = 250;
pub(crate) const ARGUMENTS: &str = r#"{"ticket_id":"T-1042","language":"en"}"#;

#[derive(Deserialize, schemars::JsonSchema)]
pub(crate) struct Lookup {
    /// Ticket number, such as `T-1042`.
    ticket_id: String,
    /// Language of the answer.
    language: String,
}

pub(crate) fn skill_id(index: usize) -> String {
    format!("skill-{index:03}")
}

/// What a call costs without an engine.
pub(crate) fn floor(arguments: &str) -> ToolOutput {
    let lookup: Lookup = serde_json::from_str(arguments).expect("legal arguments");
    ToolOutput::json(&answer(&lookup)).expect("a text")
}

fn answer(lookup: &Lookup) -> String {
    format!("{} in {}", lookup.ticket_id, lookup.language)
}

pub(crate) struct World {
    runtime: tokio::runtime::Runtime,
    engine: Engine,
    clock: SystemClock,
}

impl World {
    pub(crate) fn new(live: usize) -> Self {
        Self::with(live, false, |builder| builder)
    }

    /// A world in which a role names each skill by itself, and of ten skills only one tool; one skill is off.
    pub(crate) fn governed() -> Self {
        Self::with(0, true, |builder| {
            let role = |mut role: Role| {
                for skill in 0..SKILLS {
                    let id = skill_id(skill);
                    role = if skill % 25 == 24 {
                        role.allow(format!("{id}/tool_0"), Level::Complete)
                    } else {
                        role.allow(id, Level::Complete)
                    };
                }
                role.allow("psl-skill", Level::Complete)
            };
            builder
                .role("measured", role)
                .policy(AskWhenUntrusted::default())
                .disable(skill_id(SKILLS - 3))
        })
    }

    fn with(live: usize, is_gated: bool, set: impl FnOnce(EngineBuilder) -> EngineBuilder) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let mut builder = Engine::builder().linked(Linked::None);
        for index in 0..SKILLS {
            let live = if index == 0 { live } else { 0 };
            builder = builder.with_skill(skill(index, live, is_gated));
        }
        let engine = runtime.block_on(set(builder).build());
        let engine = engine.expect("an engine");
        Self {
            runtime,
            engine,
            clock: SystemClock::default(),
        }
    }

    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    /// Lets the audit log's writer catch up, as it does whenever a program waits for its model.
    pub(crate) fn settle(&self) {
        self.block_on(self.engine.audit().flush());
    }

    pub(crate) fn session(&self, id: &str) -> Session {
        let principal = Principal::new("local", ["measured"]);
        self.block_on(self.engine.session(principal, id))
            .expect("a session")
    }

    /// Sessions of others, 100 to a principal.
    pub(crate) fn others(&self, count: usize) {
        self.block_on(async {
            for index in 0..count {
                let owner = Principal::new(format!("p{}", index / 100), [] as [&str; 0]);
                self.engine
                    .session(owner, &format!("s{index}"))
                    .await
                    .expect("a session");
            }
        });
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

fn skill(index: usize, live: usize, is_gated: bool) -> impl Skill {
    let mut builder = SkillBuilder::new(skill_id(index))
        .description("Answers questions about one part of the help desk and manages its tickets.")
        .tag("support");
    // Every tenth skill looks at the request first, and half of those do not support it.
    if is_gated && index % 10 == 3 {
        builder = builder.supports(gates::attribute("tenant"));
    }
    if is_gated && index % 20 == 13 {
        builder = builder.supports(gates::attribute("project"));
    }
    let counter = Arc::new(AtomicU64::new(17));
    for attribute in 0..live {
        let counter = Arc::clone(&counter);
        let read = move |_: &_| counter.load(Ordering::Relaxed);
        builder = builder.attribute(Attribute::live(
            format!("open_{attribute}"),
            "Open tickets.",
            read,
        ));
    }
    for tool in 0..4 {
        let call = |lookup: Lookup, _cx: ToolContext| async move { answer(&lookup) };
        let level = if tool < 2 {
            Level::Context
        } else {
            Level::Complete
        };
        let description =
            "Looks up the entry of the knowledge base for a ticket and says what to do about it.";
        builder = builder.tool(
            Tool::new(format!("tool_{tool}"), description, call)
                .level(level)
                .read_only(),
        );
    }
    builder.build().expect("a skill")
}

macro_rules! argument_types {
    ($($name:ident)*) => {
        $(#[derive(Deserialize, schemars::JsonSchema)]
        #[expect(dead_code, reason = "only its schema matters")]
        struct $name {
            /// Ticket number, such as `T-1042`.
            ticket_id: String,
            /// How many entries at most.
            limit: Option<u32>,
            /// Words to look for.
            terms: Vec<String>,
        })*

        fn tools(index: usize) -> Tool {
            let tools: &[fn(String) -> Tool] = &[$(
                |name| Tool::new(name, "Looks something up.", |_: $name, _: ToolContext| async { "found" }),
            )*];
            tools[index % tools.len()](format!("tool_{index}"))
        }
    };
}
argument_types! { A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 B0 B1 B2 B3 B4 B5 B6 B7 B8 B9 }

/// 10,000 tools in 1,000 skills.
pub(crate) fn many_skills() -> Vec<Arc<dyn Skill>> {
    (0..1_000)
        .map(|skill| {
            let mut builder =
                SkillBuilder::new(format!("many-{skill}")).description("One of many.");
            for tool in 0..10 {
                builder = builder.tool(tools(skill * 10 + tool));
            }
            Arc::new(builder.build().expect("a skill")) as Arc<dyn Skill>
        })
        .collect()
}
