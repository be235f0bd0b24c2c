use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use sha2::{Digest as _, Sha256};

use super::epoch::Epoch;
use super::listing::load_tool;
use super::rights::{Rights, is_let_through};
use crate::registry::{AttributeIndex, SkillIndex, ToolIndex};
use crate::session::SkillFacts;
use crate::skill::{Evaluation, Level};
use crate::snapshot::ToolWords;
use crate::tools::Dialect;

/// One step of what is visible, packed so that a whole sequence compares and hashes as plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step(u64);

const DEVIATION: u64 = 1 << 63;
const OPENED: u64 = 1 << 7;

/// How the catalogue of one session shows a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) skill: SkillIndex,
    pub(crate) level: Level,
    /// The ceiling of the session.
    pub(crate) ceiling: Option<Level>,
    /// Whether someone other than the model opened the skill, where that counts.
    pub(crate) is_opened: bool,
}

impl Shown {
    /// How it is shown to a session that did not move it.
    pub(crate) fn unmoved(skill: SkillIndex, facts: SkillFacts) -> Self {
        let ceiling = facts.outer_ceiling();
        Self {
            skill,
            level: ceiling.map_or(facts.base, |ceiling| ceiling.min(facts.base)),
            ceiling: None,
            is_opened: false,
        }
    }
}

impl Step {
    /// The catalogue shows a skill in another way than to a session that changed nothing.
    pub(crate) fn deviation(shown: Shown) -> Self {
        let ceiling = shown.ceiling.map_or(0, |ceiling| ceiling as u64 + 1);
        let opened = if shown.is_opened { OPENED } else { 0 };
        let skill = u64::from(shown.skill) << 16;
        Self(DEVIATION | skill | (shown.level as u64) << 8 | opened | ceiling)
    }

    /// An opening added what lies between two levels.
    pub(crate) fn opening(skill: SkillIndex, from: Level, to: Level) -> Self {
        Self(u64::from(skill) << 16 | (from as u64) << 8 | to as u64)
    }

    /// Whether it belongs to the catalogue.
    pub(crate) fn is_deviation(self) -> bool {
        self.0 & DEVIATION != 0
    }

    /// A number that tells sequences apart, almost always.
    pub(crate) fn fingerprint(rights: &Rights, steps: &[Self]) -> u64 {
        let mix = |hash: u64, step: &Self| {
            (hash.rotate_left(5) ^ step.0).wrapping_mul(0x517c_c1b7_2722_0a95)
        };
        let first = rights.fingerprint() ^ steps.len() as u64;
        let hash = steps.iter().fold(first, mix);
        hash ^ (hash >> 32)
    }

    pub(super) fn kind(self) -> StepKind {
        let skill = u32::try_from((self.0 & !DEVIATION) >> 16).unwrap_or(u32::MAX);
        let high = level(self.0 >> 8);
        if !self.is_deviation() {
            return StepKind::Opening(Opening {
                skill,
                from: high,
                to: level(self.0),
            });
        }
        StepKind::Deviation(Shown {
            skill,
            level: high,
            ceiling: (self.0 & 0x7f).checked_sub(1).map(level),
            is_opened: self.0 & OPENED != 0,
        })
    }
}

fn level(bits: u64) -> Level {
    Level::ALL[usize::try_from(bits & 0xff).unwrap_or(0).min(2)]
}

pub(super) enum StepKind {
    Deviation(Shown),
    Opening(Opening),
}

/// A skill was opened, from one level to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    pub(crate) skill: SkillIndex,
    pub(crate) from: Level,
    pub(crate) to: Level,
}

/// What a sequence of openings makes visible, shared by all sessions that opened the same.
pub(crate) struct Layout {
    pub(crate) rights: Arc<Rights>,
    pub(crate) steps: Box<[Step]>,
    /// Visible tools, in the order they are listed.
    pub(crate) tools: Vec<Range<ToolIndex>>,
    /// Visible attributes, in the order they are told of.
    pub(crate) attributes: Vec<Range<AttributeIndex>>,
    /// The visible attributes that are evaluated in each view.
    pub(crate) live: Box<[AttributeIndex]>,
    /// One bit per tool.
    visible: Box<[u64]>,
    /// Prompt without live values: the catalogue up to `stable`, then what was opened.
    pub(crate) prompt: Box<str>,
    pub(crate) stable: usize,
    /// Bytes of names, descriptions and schemas of the visible tools.
    pub(crate) tool_bytes: u64,
    /// Fed with the registry's digest and the steps; live values are to be added.
    pub(crate) digest: Sha256,
    /// Whether the prompt holds values of sensitive attributes, and whether live ones come to it.
    pub(super) has_secrets: bool,
    pub(crate) has_live_secrets: bool,
    /// The prompt without the values of sensitive attributes, where it holds any.
    pub(super) told: OnceLock<(Box<str>, usize)>,
    lists: [OnceLock<String>; 5],
    /// The bytes it is charged for where it is kept for reuse.
    charged: AtomicUsize,
}

impl Layout {
    pub(crate) fn new(epoch: &Epoch, rights: &Arc<Rights>, steps: &[Step]) -> Self {
        let registry = &epoch.registry;
        let mut building = Building::default();
        let openings = steps
            .iter()
            .position(|step| matches!(step.kind(), StepKind::Opening(_)));
        let (deviations, openings) = steps.split_at(openings.unwrap_or(steps.len()));
        let special = special(epoch, rights, deviations);
        building.catalogue(epoch, rights, &special);
        building.tools.reserve_exact(openings.len());
        building.attributes.reserve_exact(openings.len());
        let mut prompt = String::with_capacity(
            epoch.texts.catalogue_bytes() + opened_bytes(epoch, rights, openings),
        );
        epoch.texts.catalogue(epoch, rights, &special, &mut prompt);
        let stable = prompt.len();
        for step in openings {
            if let StepKind::Opening(opening) = step.kind() {
                building.open(epoch, rights, opening);
                prompt.push_str(epoch.texts.opened(epoch, rights, opening));
            }
        }
        let Building { tools, attributes } = building;
        let mut visible = vec![0_u64; registry.tools.len().div_ceil(64)].into_boxed_slice();
        let mut tool_bytes = 0;
        for tool in tools.iter().cloned().flatten() {
            visible[tool as usize / 64] |= 1 << (tool % 64);
        }
        for run in &tools {
            tool_bytes += epoch.texts.tool_bytes(epoch, run);
        }
        let is_live = |index: &AttributeIndex| {
            registry.attribute(*index).definition.evaluation != Evaluation::Constant
        };
        let live = attributes
            .iter()
            .cloned()
            .flatten()
            .filter(is_live)
            .collect();
        let is_secret = |is_live: bool| {
            let visible = || attributes.iter().cloned().flatten();
            epoch.has_sensitive
                && visible().any(|index| {
                    let definition = &registry.attribute(index).definition;
                    let constant = definition.evaluation == Evaluation::Constant;
                    definition.sensitive && constant != is_live
                })
        };
        let [has_secrets, has_live_secrets] = [false, true].map(is_secret);
        let mut digest = Sha256::new();
        digest.update(registry.digest);
        if let Some(sealed) = &epoch.sealed {
            digest.update(sealed);
        }
        digest.update(rights.digest());
        digest.update((steps.len() as u64).to_le_bytes());
        // A block of the digest at a time.
        for steps in steps.chunks(8) {
            let mut block = [0; 64];
            for (bytes, step) in block.chunks_exact_mut(8).zip(steps) {
                bytes.copy_from_slice(&step.0.to_le_bytes());
            }
            digest.update(&block[..8 * steps.len()]);
        }
        let mut layout = Self {
            rights: Arc::clone(rights),
            steps: steps.into(),
            tools,
            attributes,
            live,
            visible,
            prompt: prompt.into_boxed_str(),
            stable,
            tool_bytes,
            digest,
            has_secrets,
            has_live_secrets,
            told: OnceLock::new(),
            lists: Default::default(),
            charged: AtomicUsize::new(0),
        };
        if epoch.covers_rendered {
            layout.cover(epoch);
        }
        if epoch.snapshots.is_own() {
            layout.live = layout.selected_live(epoch);
        }
        layout
    }

    /// Whether it is the layout of a sequence under some rights.
    pub(crate) fn is_for(&self, rights: &Arc<Rights>, steps: &[Step]) -> bool {
        self.has_rights(rights) && *self.steps == *steps
    }

    pub(crate) fn has_rights(&self, rights: &Arc<Rights>) -> bool {
        Arc::ptr_eq(&self.rights, rights) || self.rights.digest() == rights.digest()
    }

    /// The level of a skill.
    pub(crate) fn level(&self, epoch: &Epoch, skill: SkillIndex) -> Level {
        // Asked for seldom, and then for few skills; making views must not pay for it.
        let last = self.steps.iter().rev().find_map(|step| match step.kind() {
            StepKind::Deviation(shown) => (shown.skill == skill).then_some(shown.level),
            StepKind::Opening(opening) => (opening.skill == skill).then_some(opening.to),
        });
        last.unwrap_or_else(|| unmoved(epoch, &self.rights, skill).level)
    }

    /// Whether the session, or somebody in it, moved a skill that only others than the model open.
    pub(crate) fn is_moved(&self, skill: SkillIndex) -> bool {
        self.steps.iter().any(|step| match step.kind() {
            StepKind::Deviation(shown) => shown.skill == skill && shown.is_opened,
            StepKind::Opening(_) => false,
        })
    }

    pub(crate) fn shows(&self, tool: ToolIndex) -> bool {
        self.visible
            .get(tool as usize / 64)
            .is_some_and(|bits| bits >> (tool % 64) & 1 == 1)
    }

    /// The tool that loads skills, as it is shown to the session: with the names of those it may load.
    pub(crate) fn load_tool<'a>(&'a self, epoch: &'a Epoch) -> Option<(ToolIndex, ToolWords<'a>)> {
        let load = load_tool(&epoch.registry, epoch.listing.profile())?;
        if !self.shows(load) {
            return None;
        }
        let words = epoch.words.tool(&epoch.registry, load);
        let listed = self.rights.listed(epoch);
        let words = ToolWords {
            definition: listed.definition.as_ref().unwrap_or(words.definition),
            input_schema: &listed.schema,
        };
        Some((load, words))
    }

    /// The tool list as JSON text.
    pub(crate) fn list(&self, epoch: &Epoch, dialect: Dialect) -> &str {
        let mut new_bytes = 0;
        let list = self.lists[dialect as usize].get_or_init(|| {
            let own = self.load_tool(epoch);
            let list =
                epoch
                    .catalogue
                    .list(&epoch.registry, &epoch.words, dialect, &self.tools, own);
            new_bytes = list.capacity();
            list
        });
        if new_bytes > 0 {
            epoch.has_grown(self, new_bytes);
        }
        list
    }

    /// Roughly what keeping it costs before its tools were listed in any dialect.
    pub(crate) fn cost(&self) -> usize {
        // The steps are the key of the map and of its queue, too; both have room for more.
        const BESIDE: usize = 128;
        size_of::<Self>()
            + self.prompt.len()
            + size_of_val(&*self.visible)
            + 3 * size_of_val(&*self.steps)
            + size_of_val(&*self.live)
            + self.tools.capacity() * size_of::<Range<ToolIndex>>()
            + self.attributes.capacity() * size_of::<Range<AttributeIndex>>()
            + BESIDE
    }

    /// Adds to what it is charged for.
    pub(crate) fn charge(&self, bytes: usize) {
        self.charged.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn charged(&self) -> usize {
        self.charged.load(Ordering::Relaxed)
    }
}

fn opened_bytes(epoch: &Epoch, rights: &Rights, openings: &[Step]) -> usize {
    openings
        .iter()
        .map(|step| match step.kind() {
            StepKind::Opening(opening) => epoch.texts.opened(epoch, rights, opening).len(),
            StepKind::Deviation(_) => 0,
        })
        .sum()
}

/// The skills that the catalogue of a session shows in another way than as they are registered, or not at all:
/// those that its rights single out, and those that the session itself moved. By index.
pub(super) fn special(epoch: &Epoch, rights: &Rights, deviations: &[Step]) -> Vec<Shown> {
    let mut moved = deviations
        .iter()
        .filter_map(|step| match step.kind() {
            StepKind::Deviation(shown) => Some(shown),
            StepKind::Opening(_) => None,
        })
        .peekable();
    let mut special = Vec::with_capacity(rights.exceptions().len() + deviations.len());
    for exception in rights.exceptions() {
        let skill = exception.skill;
        while let Some(earlier) = moved.next_if(|shown| shown.skill < skill) {
            special.push(earlier);
        }
        special.push(
            moved
                .next_if(|shown| shown.skill == skill)
                .unwrap_or_else(|| unmoved(epoch, rights, skill)),
        );
    }
    special.extend(moved);
    special
}

/// How the catalogue shows a skill to a session that did not move it.
pub(crate) fn unmoved(epoch: &Epoch, rights: &Rights, skill: SkillIndex) -> Shown {
    Shown::unmoved(skill, rights.skill(&epoch.registry, skill))
}

#[derive(Default)]
struct Building {
    tools: Vec<Range<ToolIndex>>,
    attributes: Vec<Range<AttributeIndex>>,
}

impl Building {
    /// What the catalogue shows: the epoch's own runs where nothing is special.
    fn catalogue(&mut self, epoch: &Epoch, rights: &Rights, special: &[Shown]) {
        if special.is_empty() {
            self.tools.clone_from(&epoch.base_tools);
            self.attributes.clone_from(&epoch.base_attributes);
            return;
        }
        let registry = &epoch.registry;
        let mut special = special.iter().peekable();
        for (skill, registered) in (0..).zip(&registry.skills) {
            let Some(shown) = special.next_if(|shown| shown.skill == skill) else {
                push_run(&mut self.tools, registered.tools.up_to(registered.base()));
                push_run(
                    &mut self.attributes,
                    registered.attributes.up_to(registered.base()),
                );
                continue;
            };
            if rights.is_denied(skill) {
                continue;
            }
            let facts = rights.skill(registry, skill);
            for tool in registered.tools.up_to(shown.level) {
                let member = rights.tool(registry, tool);
                if is_let_through(facts, member, shown.ceiling, shown.is_opened) {
                    push_run(&mut self.tools, tool..tool + 1);
                }
            }
            for attribute in registered.attributes.up_to(shown.level) {
                let member = rights.attribute(registry, attribute);
                if is_let_through(facts, member, shown.ceiling, shown.is_opened) {
                    push_run(&mut self.attributes, attribute..attribute + 1);
                }
            }
        }
    }

    /// What an opening adds.
    fn open(&mut self, epoch: &Epoch, rights: &Rights, opening: Opening) {
        let Opening { skill, from, to } = opening;
        let registry = &epoch.registry;
        let registered = registry.skill(skill);
        let (tools, attributes) = (
            registered.tools.between(from, to),
            registered.attributes.between(from, to),
        );
        if !rights.is_partial(skill) {
            push_run(&mut self.tools, tools);
            push_run(&mut self.attributes, attributes);
            return;
        }
        let facts = rights.skill(registry, skill);
        for tool in tools {
            if is_let_through(facts, rights.tool(registry, tool), None, true) {
                push_run(&mut self.tools, tool..tool + 1);
            }
        }
        for attribute in attributes {
            if is_let_through(facts, rights.attribute(registry, attribute), None, true) {
                push_run(&mut self.attributes, attribute..attribute + 1);
            }
        }
    }
}

/// Without what it shows: that may be sensitive.
impl fmt::Debug for Layout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Layout")
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}

/// Appends a run, joined with the one before it where they touch.
pub(crate) fn push_run(runs: &mut Vec<Range<u32>>, run: Range<u32>) {
    if run.is_empty() {
        return;
    }
    match runs.last_mut() {
        Some(last) if last.end == run.start => last.end = run.end,
        _ => runs.push(run),
    }
}
