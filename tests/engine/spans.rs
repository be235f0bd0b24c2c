//! The spans that a turn leaves behind, with the names of OpenTelemetry's conventions for generative AI.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use skills_engine::Level;
use skills_engine::engine::{ApprovalAnswer, ApprovalHandler, ApprovalRequest, ToolCall};
use skills_engine::skill::{Attribute, BoxFuture, SkillBuilder};
use tests::{bare, session, turn};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::with_default;
use tracing::{Event, Metadata, Subscriber};

use crate::made::tool;

/// A span: its name, its parent and its fields.
#[derive(Clone, Debug, Default)]
struct Seen {
    name: &'static str,
    parent: Option<u64>,
    fields: BTreeMap<String, String>,
}

impl Visit for Seen {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields
            .insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields
            .insert(field.name().to_owned(), format!("{value:?}"));
    }
}

/// Notes every span of this library, and in which spans the events of tests happened.
#[derive(Clone, Default)]
struct Notes {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    spans: Vec<Seen>,
    entered: Vec<u64>,
    events: Vec<(String, Option<&'static str>)>,
}

impl Notes {
    fn spans(&self, name: &str) -> Vec<Seen> {
        let state = self.state.lock().unwrap();
        state
            .spans
            .iter()
            .filter(|span| span.name == name)
            .cloned()
            .collect()
    }

    fn parent(&self, span: &Seen) -> Option<Seen> {
        let state = self.state.lock().unwrap();
        span.parent.map(|id| state.spans[index(id)].clone())
    }
}

fn index(id: u64) -> usize {
    usize::try_from(id).unwrap() - 1
}

impl Subscriber for Notes {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("skills_engine") || metadata.target() == "test"
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut state = self.state.lock().unwrap();
        let contextual = state
            .entered
            .last()
            .copied()
            .filter(|_| attributes.is_contextual());
        let mut span = Seen {
            name: attributes.metadata().name(),
            parent: attributes.parent().map(Id::into_u64).or(contextual),
            ..Seen::default()
        };
        attributes.record(&mut span);
        state.spans.push(span);
        Id::from_u64(state.spans.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        values.record(&mut self.state.lock().unwrap().spans[index(span.into_u64())]);
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut told = Seen::default();
        event.record(&mut told);
        let mut state = self.state.lock().unwrap();
        let within = state.entered.last().map(|id| state.spans[index(*id)].name);
        state.events.push((told.fields["message"].clone(), within));
    }

    fn enter(&self, span: &Id) {
        self.state.lock().unwrap().entered.push(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        let mut state = self.state.lock().unwrap();
        let left = state.entered.iter().rposition(|id| *id == span.into_u64());
        state
            .entered
            .remove(left.expect("a span that is left was entered"));
    }
}

fn told(message: &'static str) {
    tracing::info!(target: "test", "{message}");
}

/// Approves after a while.
struct Clerk;

impl ApprovalHandler for Clerk {
    fn ask<'a>(&'a self, _request: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalAnswer> {
        Box::pin(async {
            tokio::task::yield_now().await;
            told("approval");
            ApprovalAnswer::Approve
        })
    }
}

async fn work() {
    let attribute = |name: &'static str| {
        Attribute::lazy(name, "", move |_| async move {
            tokio::task::yield_now().await;
            told(name);
            Ok(1)
        })
        .level(Level::Metadata)
    };
    let look = tool("look", |_| async {
        tokio::task::yield_now().await;
        told("tool");
    });
    let pay = tool("pay", |_| async {}).requires_approval();
    let skill = SkillBuilder::new("desk")
        .attribute(attribute("lazy"))
        .tool(look)
        .tool(pay)
        .build()
        .unwrap();
    let builder = bare().with_skill(skill).approvals(Clerk);
    let engine = builder.build().await.unwrap();
    let mut turn = turn(&session(&engine).await).await;
    turn.view().await.unwrap();
    let names = ["desk__look", "made_up\u{202e}", "desk__pay"];
    turn.calls(names.map(|name| ToolCall::new(format!("id of {name}"), name, "{}")))
        .await;
    turn.finish().await.unwrap();
}

#[test]
fn spans_have_the_names_of_the_conventions() {
    let notes = Notes::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    with_default(notes.clone(), || runtime.block_on(work()));

    let turns = notes.spans("turn");
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0].fields["session"], "s1");
    let views = notes.spans("view");
    assert_eq!(views.len(), 1);
    assert_eq!(notes.parent(&views[0]).unwrap().name, "turn");

    let attributes = notes.spans("attribute");
    assert_eq!(attributes.len(), 1);
    assert_eq!(notes.parent(&attributes[0]).unwrap().name, "view");
    assert_eq!(attributes[0].fields["skill"], "desk");
    assert_eq!(attributes[0].fields["attribute"], "lazy");

    let calls = notes.spans("execute_tool");
    assert_eq!(calls.len(), 3);
    for call in &calls {
        assert_eq!(notes.parent(call).unwrap().name, "turn");
        assert_eq!(call.fields["gen_ai.operation.name"], "execute_tool");
    }
    assert_eq!(calls[0].fields["gen_ai.tool.name"], "desk__look");
    assert_eq!(calls[0].fields["gen_ai.tool.call.id"], "id of desk__look");
    assert_eq!(calls[0].fields["skill"], "desk");
    // Names that a model made up become no label.
    assert!(!calls[1].fields.contains_key("gen_ai.tool.name"));

    let events = notes.state.lock().unwrap().events.clone();
    for (message, within) in [
        ("lazy", "attribute"),
        ("tool", "execute_tool"),
        ("approval", "execute_tool"),
    ] {
        let event = events.iter().find(|(text, _)| text == message).unwrap();
        assert_eq!(event.1, Some(within), "{message}");
    }
}
