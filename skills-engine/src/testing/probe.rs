use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use serde_json::Value;

use super::under_test::no_such_member;
use super::{Answer, ManualClock, SkillUnderTest};
use crate::engine::{LoneSkill, View};
use crate::prompt::{CatalogueText, LiveText, PromptComposer, SkillText, StandardComposer};
use crate::registry::{BuildError, RegisteredAttribute, Registry};
use crate::skill::{
    Actor, Attribute, AttributeContext, AttributeFault, AttributeReader, Clock, Code, Evaluation,
    Fault, Level, PoolError, Principal, SessionId, SessionScope, Skill, Tool, ToolContext, TurnId,
    TurnRequest, TurnScope, check_skill_id, no_turn,
};
use crate::tools::{Dispatch, dispatch};

/// One skill without an engine: what a model would see of it at each level, and its tools and attributes, called
/// whatever their level.
///
/// Its clock stands still, so that nothing is ever too late, unless [`clock`](Self::clock) gives it another. What is
/// decided for a session or a turn (grants, ceilings, approvals, hooks, the audit trail) takes no part: that is what a
/// [`Harness`](super::Harness) tests.
///
/// # Examples
///
/// ```standalone_crate
/// use serde_json::json;
/// use skills_engine::testing::Probe;
/// use skills_engine::{Level, skill, skill_tool};
///
/// /// Counts words.
/// #[skill]
/// #[derive(Default)]
/// struct Counter;
///
/// #[skill]
/// impl Counter {
///     /// Counts the words of a text.
///     #[skill_tool(read_only)]
///     fn words(&self, text: &str) -> usize {
///         text.split_whitespace().count()
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let probe = Probe::new(Counter)?;
/// assert!(probe.tools(Level::Metadata).is_empty());
/// assert_eq!(probe.tools(Level::Context), ["counter__words"]);
/// assert_eq!(probe.call("words", json!({ "text": "to be" })).await?.json(), 2);
/// assert_eq!(probe.snapshot(Level::Context).await["description"], "Counts words.");
/// # Ok(())
/// # }
/// ```
pub struct Probe {
    skill: LoneSkill,
    clock: Arc<dyn Clock>,
    principal: Principal,
    request: TurnRequest,
}

impl Probe {
    /// Takes a skill apart: a value of an annotated type, or any [`Skill`](crate::skill::Skill).
    ///
    /// # Errors
    ///
    /// Lists all that is wrong: ids and names that are illegal or used twice, schemas that cannot be made, fields that
    /// cannot be read, tools that would have one name on the wire.
    pub fn new<Kind>(skill: impl SkillUnderTest<Kind>) -> Result<Self, BuildError> {
        let skill = skill.into_skill().map_err(BuildError::new)?;
        let mut problems = illegal_names(&*skill);
        let registry = match Registry::build(vec![skill]) {
            Ok(registry) if problems.is_empty() => registry,
            built => {
                let found = built.err().map(|err| err.problems().to_vec());
                problems.extend(found.into_iter().flatten());
                return Err(BuildError::new(problems));
            }
        };
        Ok(Self {
            skill: LoneSkill::new(registry, Arc::new(SkillAlone(StandardComposer::default())))?,
            clock: Arc::new(ManualClock::default()),
            principal: Principal::local(),
            request: TurnRequest::empty(),
        })
    }

    /// Sets the clock that deadlines and caches go by.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Sets whose session the skill is told it is in.
    #[must_use]
    pub fn principal(mut self, principal: Principal) -> Self {
        self.principal = principal;
        self
    }

    /// Sets the request the skill is told of.
    #[must_use]
    pub fn request(mut self, request: impl Into<TurnRequest>) -> Self {
        self.request = request.into();
        self
    }

    /// The skill's id.
    #[must_use]
    pub fn id(&self) -> &str {
        self.skill.id()
    }

    /// All that a model sees of the skill at a level. Live attributes are evaluated, within the engine's default limits.
    pub async fn view(&self, level: Level) -> View {
        let (cx, clock) = (self.attribute_context(), &self.clock);
        self.skill.view(level, cx, clock).await
    }

    /// The snapshot at a level, with the values that its attributes have now; [`View::snapshot`] says what it holds.
    pub async fn snapshot(&self, level: Level) -> Value {
        let view = self.view(level).await;
        let json = view.snapshot(self.id()).unwrap_or_default();
        serde_json::from_str(&json).unwrap_or_default()
    }

    /// What a prompt says of the skill at a level: its part of the catalogue, what opening it adds, and the values that
    /// its live attributes have now, as [`StandardComposer`] writes them.
    pub async fn prompt(&self, level: Level) -> String {
        self.view(level).await.system_prompt().to_owned()
    }

    /// Wire names of the tools that are visible at a level, in the order they are listed.
    #[must_use]
    pub fn tools(&self, level: Level) -> Vec<String> {
        self.skill.tool_names(level)
    }

    /// Calls a tool by its own name, whatever its level and however it is exposed. No approval is asked for.
    ///
    /// A panic is an error, and so is a call that takes longer than it may on the probe's clock.
    ///
    /// # Errors
    ///
    /// Those of the tool, `invalid_arguments` among them, and `unknown_tool` when the skill has none of the name.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Answer, Fault> {
        let index = self.skill.tool(tool).unwrap_or_default();
        let cx = ToolContext::new(
            no_turn(self.turn()),
            "probe".into(),
            self.id().into(),
            Actor::Model,
            index,
        );
        self.call_with(&cx, tool, arguments).await
    }

    /// Calls a tool in a context of the test's own.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    pub async fn call_with(
        &self,
        cx: &ToolContext,
        tool: &str,
        arguments: Value,
    ) -> Result<Answer, Fault> {
        let registry = self.skill.registry();
        let Some(index) = self.skill.tool(tool) else {
            let names = registry.tools.iter().map(|tool| &*tool.name);
            return Err(Fault::new(
                Code::UnknownTool,
                no_such_member(self.id(), "tool", tool, names),
            ));
        };
        let registered = registry.tool(index);
        let timeout = registered.definition.timeout;
        let output = dispatch(Dispatch {
            handler: &registered.handler,
            arguments: arguments.to_string().as_bytes(),
            cx,
            timeout: timeout.unwrap_or(self.skill.limits().tool_timeout),
            clock: &*self.clock,
            pool: self.skill.pool(),
            thread: &|| Some(Box::new(())),
        })
        .await?;
        Ok(Answer::new(output))
    }

    /// Evaluates an attribute, whatever its level and however it is exposed: anew, without a deadline, and without
    /// cutting what is long.
    ///
    /// # Errors
    ///
    /// `tool_error` with the text of the attribute's error, `panic`, and `invalid_arguments` when the skill has no
    /// attribute of the name.
    pub async fn attribute(&self, name: &str) -> Result<Value, Fault> {
        self.attribute_with(&self.attribute_context(), name).await
    }

    /// Evaluates an attribute in a context of the test's own.
    ///
    /// # Errors
    ///
    /// As [`attribute`](Self::attribute).
    pub async fn attribute_with(&self, cx: &AttributeContext, name: &str) -> Result<Value, Fault> {
        let attributes = &self.skill.registry().attributes;
        let Some(found) = attributes.iter().find(|attribute| *attribute.name == *name) else {
            let names = attributes.iter().map(|attribute| &*attribute.name);
            return Err(Fault::new(
                Code::InvalidArguments,
                no_such_member(self.id(), "attribute", name, names),
            ));
        };
        let failed = |code, why: &dyn fmt::Display| {
            Fault::new(code, format!("attribute `{name}` has no value: {why}"))
        };
        let json = match self.read(found, cx).await {
            Ok(Ok(json)) => json,
            Ok(Err(fault)) => return Err(failed(Code::ToolError, &fault)),
            Err(PoolError::Panicked) => return Err(failed(Code::Panic, &"it panicked")),
            Err(PoolError::Full) => {
                return Err(failed(Code::LimitExceeded, &"too many are evaluated"));
            }
        };
        serde_json::from_slice(&json)
            .map_err(|err| failed(Code::ToolError, &format_args!("it is not JSON: {err}")))
    }

    /// The value as JSON text, obtained where an engine obtains it: a blocking one on a thread of its own.
    async fn read(
        &self,
        attribute: &RegisteredAttribute,
        cx: &AttributeContext,
    ) -> Result<Result<Vec<u8>, AttributeFault>, PoolError> {
        let (reader, cx) = (attribute.reader.clone(), cx.clone());
        let is_lazy = attribute.definition.evaluation == Evaluation::Lazy;
        let in_task = async {
            match reader.future(&cx) {
                Some(value) => Some(value.await),
                None if is_lazy => None,
                None => Some(read_now(&reader, &cx)),
            }
        };
        match AssertUnwindSafe(in_task).catch_unwind().await {
            Err(_) => Err(PoolError::Panicked),
            Ok(Some(value)) => Ok(value),
            Ok(None) => self.skill.pool().run(move || read_now(&reader, &cx)).await,
        }
    }

    fn turn(&self) -> Arc<TurnScope> {
        let id = SessionId::new("probe").expect("the id is a legal one");
        let session = SessionScope::new(id, self.principal.clone(), 0);
        Arc::new(TurnScope::new(
            Arc::new(session),
            TurnId(0),
            self.request.clone(),
        ))
    }

    fn attribute_context(&self) -> AttributeContext {
        let mut cx = AttributeContext::new(self.turn());
        cx.enter(&self.id().into(), 0);
        cx
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Probe")
            .field("skill", &self.id())
            .finish_non_exhaustive()
    }
}

/// What annotations and builders refuse; other implementations of the trait are not checked before.
fn illegal_names(skill: &dyn Skill) -> Vec<String> {
    let id = check_skill_id(&skill.definition().id);
    let attributes = skill.attributes().iter().map(Attribute::check);
    let tools = skill.tools().iter().map(Tool::check);
    let checks = [id].into_iter().chain(attributes).chain(tools);
    checks
        .filter_map(|check| Some(check.err()?.message))
        .collect()
}

fn read_now(reader: &AttributeReader, cx: &AttributeContext) -> Result<Vec<u8>, AttributeFault> {
    let mut json = Vec::new();
    reader.read_now(cx, &mut json).unwrap_or(Ok(()))?;
    Ok(json)
}

/// Writes what the standard composer writes of a skill, and nothing around it.
struct SkillAlone(StandardComposer);

impl PromptComposer for SkillAlone {
    fn open_catalogue(&self, _text: &CatalogueText, _out: &mut String) {}

    fn skill(&self, skill: &SkillText<'_>, out: &mut String) {
        self.0.skill(skill, out);
    }

    fn close_catalogue(&self, _out: &mut String) {}

    fn opened(&self, from: Level, skill: &SkillText<'_>, out: &mut String) {
        self.0.opened(from, skill, out);
    }

    fn live(&self, values: &[LiveText<'_>], out: &mut String) {
        self.0.live(values, out);
    }
}
