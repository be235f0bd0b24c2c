use std::sync::Arc;

use super::epoch::Epoch;
use super::layout::{Layout, Shown, Step, unmoved};
use super::load::ContentPart;
use super::rights::{Rights, RightsBuilder};
use super::telling::Telling;
use super::view::View;
use crate::audit::SecretDigest;
use crate::prompt::PromptComposer;
use crate::registry::{BuildError, Registry, SkillIndex, ToolIndex};
use crate::skill::{AttributeContext, BlockingPool, Clock, Level, Limits};
use crate::snapshot::{Evaluator, LiveValues, OwnValues, Viewer, bound_constants};

/// The only skill of a registry, rendered as engines do, without a session.
pub(crate) struct LoneSkill {
    epoch: Arc<Epoch>,
    rights: Arc<Rights>,
    limits: Limits,
    pool: BlockingPool,
    kept: Arc<OwnValues>,
}

impl LoneSkill {
    const INDEX: SkillIndex = 0;

    /// The skill of a registry that has no other.
    ///
    /// The error lists what an engine would refuse.
    pub(crate) fn new(
        mut registry: Registry,
        composer: Arc<dyn PromptComposer>,
    ) -> Result<Self, BuildError> {
        let limits = Limits::default();
        bound_constants(&mut registry, &limits, false)?;
        let telling = Telling {
            prompts: Some(composer),
            ..Telling::standard()
        };
        let epoch = Epoch::new(registry, telling, SecretDigest::random(), &limits)?;
        Ok(Self {
            rights: Arc::new(RightsBuilder::new(&epoch.registry).finish(&epoch)),
            epoch: Arc::new(epoch),
            pool: BlockingPool::new(limits.blocking_threads),
            limits,
            kept: Arc::default(),
        })
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.epoch.registry
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn pool(&self) -> &BlockingPool {
        &self.pool
    }

    pub(crate) fn id(&self) -> &str {
        &self.registry().skill(Self::INDEX).id
    }

    /// A tool by its own name.
    pub(crate) fn tool(&self, name: &str) -> Option<ToolIndex> {
        self.registry().tool_index(Self::INDEX, name)
    }

    /// Wire names of the tools that a session at a level sees.
    pub(crate) fn tool_names(&self, level: Level) -> Vec<String> {
        let tools = self.layout(level).tools.clone();
        let name = |tool| self.epoch.catalogue.name(tool).to_string();
        tools.into_iter().flatten().map(name).collect()
    }

    /// What a session at a level sees, with the live values of this moment.
    pub(crate) async fn view(
        &self,
        level: Level,
        cx: AttributeContext,
        clock: &Arc<dyn Clock>,
    ) -> View {
        let layout = self.layout(level);
        let evaluator = Evaluator {
            registry: &self.epoch.registry,
            words: &self.epoch.words,
            table: &self.epoch.live,
            pool: &self.pool,
            clock,
            limits: &self.limits,
        };
        // Each view is one of a turn of its own.
        let mut viewer = Viewer {
            cx,
            session: &self.kept,
            turn: &OwnValues::default(),
        };
        let mut live = LiveValues::default();
        let visible = layout.live.iter().copied();
        evaluator.evaluate(visible, &mut viewer, &mut live).await;
        View::new(
            Arc::clone(&self.epoch),
            layout,
            ContentPart::default(),
            None,
            Arc::default(),
            live,
        )
    }

    /// What there is to see once the host set the skill to a level.
    fn layout(&self, level: Level) -> Arc<Layout> {
        let definition = self.registry().skill(Self::INDEX).definition();
        let base = definition.base_level;
        let unmoved = unmoved(&self.epoch, &self.rights, Self::INDEX);
        let shown = Shown {
            level: level.min(base),
            is_opened: definition.host_only && level != base && level > Level::Metadata,
            ..unmoved
        };
        let deviation = (shown != unmoved).then(|| Step::deviation(shown));
        let opening = (level > base).then(|| Step::opening(Self::INDEX, base, level));
        let steps: Vec<_> = deviation.into_iter().chain(opening).collect();
        self.epoch.layout(&self.rights, &steps)
    }
}
