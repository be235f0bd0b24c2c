use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::{Answer, HarnessError, HarnessSession, ManualClock, SkillUnderTest};
use crate::audit::MemoryRing;
use crate::engine::{Engine, EngineBuilder};
use crate::skill::{Clock, Level, Principal, SkillType, Span, TurnRequest};
use crate::source::Linked;

/// Tests a skill as an engine runs it: the real engine, a session, a turn, and calls as a model makes them.
///
/// The engine has the skill, those that [`skill`](Self::skill) adds, and `psl-skill`; linked skills are left out. Its
/// clock stands still, so that nothing is ever too late, unless [`clock`](Self::clock) gives it another.
///
/// # Examples
///
/// ```standalone_crate
/// # use skills_engine::{skill, skill_tool};
/// use serde_json::json;
/// use skills_engine::Level;
/// use skills_engine::testing::{Harness, HarnessError};
///
/// # /// Counts words.
/// # #[skill]
/// # #[derive(Default)]
/// # struct Counter;
/// #
/// # #[skill]
/// # impl Counter {
/// #     /// Counts the words of a text.
/// #     #[skill_tool(read_only)]
/// #     fn words(&self, text: &str) -> usize {
/// #         text.split_whitespace().count()
/// #     }
/// # }
/// #
/// // Under `#[tokio::test]`.
/// async fn words_are_counted() -> Result<(), HarnessError> {
///     let harness = Harness::with(Counter).open(Level::Context);
///     let answer = harness.call("words", json!({ "text": "to be" })).await?;
///     assert_eq!(answer.json(), 2);
///     Ok(())
/// }
///
/// async fn words_are_hidden_at_first() {
///     let call = Harness::with(Counter).call("words", json!({ "text": "to be" }));
///     let err = call.await.unwrap_err().to_string();
///     assert!(err.contains("write `.open(Level::Context)`"), "{err}");
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// #     words_are_counted().await.unwrap();
/// #     words_are_hidden_at_first().await;
/// # }
/// ```
#[must_use = "a harness does nothing until something is called"]
pub struct Harness {
    id: String,
    builder: EngineBuilder,
    ring: Arc<MemoryRing>,
    principal: Principal,
    request: TurnRequest,
    level: Option<Level>,
}

impl Harness {
    /// Begins with a skill: a value of an annotated type, or any [`Skill`](crate::skill::Skill).
    pub fn with<Kind>(skill: impl SkillUnderTest<Kind>) -> Self {
        let id = skill.id();
        Self::begin(id, |builder| skill.add_to(builder))
    }

    /// Begins with a type that the engine makes an instance of, by `Default` or by its factory.
    ///
    /// A factory finds what [`resource`](Self::resource) puts, and the skills that [`skill`](Self::skill) adds.
    pub fn of<T: SkillType>() -> Self {
        Self::begin(T::entry().id.to_owned(), EngineBuilder::make::<T>)
    }

    fn begin(id: String, add: impl FnOnce(EngineBuilder) -> EngineBuilder) -> Self {
        let ring = Arc::new(MemoryRing::default());
        let builder = Engine::builder()
            .linked(Linked::None)
            .clock(Arc::new(ManualClock::default()))
            .audit(Arc::clone(&ring) as _);
        Self {
            id,
            builder: add(builder),
            ring,
            principal: Principal::local(),
            request: TurnRequest::empty(),
            level: None,
        }
    }

    /// Adds another skill, such as one that this one needs.
    pub fn skill<Kind>(self, skill: impl SkillUnderTest<Kind>) -> Self {
        self.engine(|builder| skill.add_to(builder))
    }

    /// Puts a value for factories, found with [`Resources::get`](crate::skill::Resources::get).
    pub fn resource<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.engine(|builder| builder.resource(value))
    }

    /// Sets the clock that everything goes by, such as a [`ManualClock`] that the test advances.
    pub fn clock(self, clock: impl Clock) -> Self {
        self.engine(|builder| builder.clock(Arc::new(clock)))
    }

    /// Sets whatever else an engine can be told.
    pub fn engine(mut self, adapt: impl FnOnce(EngineBuilder) -> EngineBuilder) -> Self {
        self.builder = adapt(self.builder);
        self
    }

    /// Sets whose session it is.
    pub fn principal(mut self, principal: Principal) -> Self {
        self.principal = principal;
        self
    }

    /// Sets the request of the first turn.
    pub fn request(mut self, request: impl Into<TurnRequest>) -> Self {
        self.request = request.into();
        self
    }

    /// Opens the skill before the first turn, as the host, until it is cleared.
    pub fn open(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }

    /// Builds the engine, begins a session, opens what is to be open, and begins a turn.
    ///
    /// # Errors
    ///
    /// All that is wrong with the skill, or why its session cannot be begun.
    pub async fn start(self) -> Result<HarnessSession, HarnessError> {
        let Self {
            id,
            builder,
            ring,
            principal,
            request,
            level,
        } = self;
        let engine = builder.build().await?;
        let session = engine.session(principal, "test").await?;
        if let Some(level) = level {
            session.open(&id, level, Span::UntilCleared, "").await?;
        }
        let turn = session.turn(request).await?;
        Ok(HarnessSession::new(engine, session, turn, id.into(), ring))
    }

    /// [Starts](Self::start) and makes one call, as [`HarnessSession::call`] does.
    ///
    /// # Errors
    ///
    /// As both of them.
    pub async fn call(self, tool: &str, arguments: Value) -> Result<Answer, HarnessError> {
        self.start().await?.call(tool, arguments).await
    }
}

impl fmt::Debug for Harness {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Harness")
            .field("skill", &self.id)
            .finish_non_exhaustive()
    }
}
