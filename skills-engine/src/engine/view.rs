use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde_json::value::RawValue;
use sha2::Digest as _;

use super::epoch::Epoch;
use super::layout::Layout;
use super::turn_part::TurnPart;
use crate::prompt::LiveText;
use crate::registry::{RegisteredTool, ToolIndex};
use crate::skill::{Level, ToolDefinition};
use crate::snapshot::{LiveValues, SnapshotTool, compose_snapshot};
use crate::tools::Dialect;

/// What one model call may see: prompt, tool list, snapshots. It never changes.
pub struct View {
    epoch: Arc<Epoch>,
    layout: Arc<Layout>,
    /// What hooks gave for the turn; mostly nothing.
    turn_part: Option<Arc<TurnPart>>,
    /// What is open, said again; mostly empty.
    restated: Arc<str>,
    live: LiveValues,
    live_text: Box<str>,
    digest: [u8; 32],
    /// Prompt with live values, joined when it is asked for.
    joined: OnceLock<Box<str>>,
}

/// The parts of a prompt, for hosts that place them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prompt<'a> {
    /// The catalogue: the same for every session that deviates from it in nothing.
    pub stable: &'a str,
    /// What was opened, in the order of the openings.
    pub opened: &'a str,
    /// What skills have to say of the turn's request; mostly empty.
    pub turn: &'a str,
    /// What is open, said again after earlier messages have gone; mostly empty.
    pub restated: &'a str,
    /// Values that may differ in the next view.
    pub live: &'a str,
}

/// A tool of a view.
#[derive(Clone, Copy)]
pub struct ViewTool<'a> {
    view: &'a View,
    tool: ToolIndex,
}

impl View {
    pub(super) fn new(
        epoch: Arc<Epoch>,
        layout: Arc<Layout>,
        turn_part: Option<Arc<TurnPart>>,
        restated: Arc<str>,
        live: LiveValues,
    ) -> Self {
        let live_text = live_text(&epoch, &live);
        let digest = digest_of(&layout, turn_part.as_deref(), &restated, &live);
        Self {
            epoch,
            layout,
            turn_part,
            restated,
            live,
            live_text,
            digest,
            joined: OnceLock::new(),
        }
    }

    /// The whole text for a system prompt; empty when there is no skill to tell of.
    #[must_use]
    pub fn system_prompt(&self) -> &str {
        let parts = [
            &*self.layout.prompt,
            self.turn_text(),
            &*self.restated,
            &*self.live_text,
        ];
        if parts[1..].iter().all(|part| part.is_empty()) {
            return &self.layout.prompt;
        }
        self.joined.get_or_init(|| parts.concat().into_boxed_str())
    }

    /// The same text in its parts.
    #[must_use]
    pub fn prompt(&self) -> Prompt<'_> {
        let (stable, opened) = self.layout.prompt.split_at(self.layout.stable);
        Prompt {
            stable,
            opened,
            turn: self.turn_text(),
            restated: &self.restated,
            live: &self.live_text,
        }
    }

    fn turn_text(&self) -> &str {
        self.turn_part.as_deref().map_or("", TurnPart::text)
    }

    /// The visible tools, in the order they are listed: those that a hook gave for the turn come last.
    pub fn tools(&self) -> impl Iterator<Item = ViewTool<'_>> {
        self.tool_indexes()
            .map(|tool| ViewTool { view: self, tool })
    }

    pub(super) fn tool_indexes(&self) -> impl Iterator<Item = ToolIndex> {
        let shared = self.layout.tools.iter().cloned().flatten();
        let own = self.turn_part.iter().flat_map(|part| part.visible());
        shared.chain(own.copied())
    }

    /// Whether a tool is among those that are listed.
    pub(super) fn shows(&self, tool: ToolIndex) -> bool {
        let part = self.turn_part.as_deref();
        self.layout.shows(tool) || part.is_some_and(|part| part.visible().contains(&tool))
    }

    /// A tool of the registry, or of the turn, with its name on the wire.
    fn tool(&self, tool: ToolIndex) -> (&Arc<str>, &RegisteredTool) {
        let part = self.turn_part.as_deref();
        part.and_then(|part| part.tool(tool)).unwrap_or_else(|| {
            let Epoch {
                catalogue,
                registry,
                ..
            } = &*self.epoch;
            (catalogue.name(tool), registry.tool(tool))
        })
    }

    /// The tool list as JSON text, in the wire form of a provider; `[]` when no tool is visible, which some providers
    /// refuse: leave the field out then.
    #[must_use]
    pub fn tools_json(&self, dialect: Dialect) -> &str {
        match &self.turn_part {
            Some(part) => part.list(&self.epoch, &self.layout, dialect),
            None => self.layout.list(&self.epoch, dialect),
        }
    }

    /// The level of a skill, if the view knows the skill.
    #[must_use]
    pub fn level(&self, skill: &str) -> Option<Level> {
        let (index, _) = self.epoch.registry.find(skill)?;
        (!self.layout.rights.is_denied(index)).then(|| self.layout.level(&self.epoch, index))
    }

    /// The snapshot of one skill as JSON text, if the view knows the skill.
    ///
    /// `{"id","name","description","version","tags","level","attributes":{name:{"value","schema","description",
    /// "status"?,"as_of"?}},"tools":[{"name","description"}],"instructions"?}`, with the members that are visible.
    #[must_use]
    pub fn snapshot(&self, skill: &str) -> Option<String> {
        let (index, registered) = self.epoch.registry.find(skill)?;
        if self.layout.rights.is_denied(index) {
            return None;
        }
        let range = registered.attributes.all();
        let attributes: Vec<_> = self
            .layout
            .attributes
            .iter()
            .cloned()
            .flatten()
            .filter(|index| range.contains(index))
            .collect();
        let tools: Vec<_> = self
            .tool_indexes()
            .map(|tool| self.tool(tool))
            .filter(|(_, tool)| tool.skill == index)
            .map(|(name, tool)| SnapshotTool {
                name,
                description: &tool.definition.description,
            })
            .collect();
        let of_turn = self.turn_part.as_deref();
        let of_turn = of_turn.and_then(|part| part.instructions(index));
        let level = self.layout.level(&self.epoch, index);
        Some(compose_snapshot(
            &self.epoch.registry,
            registered,
            level,
            &attributes,
            &tools,
            of_turn,
            &self.live,
        ))
    }

    /// The snapshots of all skills, by id, as one JSON array.
    #[must_use]
    pub fn snapshots(&self) -> String {
        let snapshots: Vec<_> = self
            .epoch
            .registry
            .skills
            .iter()
            .filter_map(|skill| self.snapshot(&skill.id))
            .collect();
        format!("[{}]", snapshots.join(","))
    }

    /// SHA-256 over all that determines the view: the registry, the openings, what hooks gave for the turn, what is said
    /// again, and the live values.
    #[must_use]
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Bytes of the prompt, and of the names, descriptions and schemas of the tools.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let prompt = self.layout.prompt.len() + self.restated.len() + self.live_text.len();
        let of_turn = self.turn_part.as_deref().map_or(0, TurnPart::bytes);
        prompt as u64 + self.layout.tool_bytes + of_turn
    }

    pub(super) fn epoch(&self) -> &Arc<Epoch> {
        &self.epoch
    }

    pub(super) fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    pub(super) fn turn_part(&self) -> Option<&Arc<TurnPart>> {
        self.turn_part.as_ref()
    }

    pub(super) fn restated(&self) -> &Arc<str> {
        &self.restated
    }

    pub(super) fn live(&self) -> &LiveValues {
        &self.live
    }
}

impl fmt::Debug for View {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("View")
            .field("steps", &self.layout.steps)
            .field("live", &self.live)
            .finish_non_exhaustive()
    }
}

impl<'a> ViewTool<'a> {
    /// Its name on the wire.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.view.tool(self.tool).0
    }

    /// The id of the skill it belongs to.
    #[must_use]
    pub fn skill(&self) -> &'a str {
        let (_, tool) = self.view.tool(self.tool);
        &self.view.epoch.registry.skill(tool.skill).id
    }

    /// What its author says of it.
    #[must_use]
    pub fn definition(&self) -> &'a ToolDefinition {
        &self.view.tool(self.tool).1.definition
    }

    /// The schema of its arguments, as JSON text.
    #[must_use]
    pub fn input_schema(&self) -> &'a str {
        &self.view.tool(self.tool).1.input_schema
    }
}

impl ViewTool<'_> {
    /// The schema of its arguments, as a JSON value that is not parsed again when it is written.
    #[must_use]
    pub fn input_schema_json(&self) -> &RawValue {
        serde_json::from_str(self.input_schema()).unwrap_or(RawValue::NULL)
    }
}

impl fmt::Debug for ViewTool<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ViewTool")
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

/// A view as a turn hands it out: the view, and what changed since the turn's last one.
#[derive(Clone, Debug)]
pub struct TurnView {
    view: Arc<View>,
    change: ViewChange,
}

/// How a view differs from the one its turn had before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViewChange {
    /// It is the first one of its turn.
    First,
    /// In nothing: it is the same `Arc`.
    Unchanged,
    /// In what comes after the openings alone: live values, or what is said again after a compaction.
    Live,
    /// Something was opened: what the earlier prompt said up to its last opening is a prefix of what this one says.
    Appended,
    /// Something was closed, or the skills themselves changed.
    Prefix,
}

impl TurnView {
    pub(super) fn new(view: Arc<View>, change: ViewChange) -> Self {
        Self { view, change }
    }

    /// How it differs from the turn's last view.
    #[must_use]
    pub fn change(&self) -> ViewChange {
        self.change
    }

    /// Whether it is the turn's last view, the same `Arc`.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.change == ViewChange::Unchanged
    }

    /// The view, to keep.
    #[must_use]
    pub fn view(&self) -> &Arc<View> {
        &self.view
    }
}

impl Deref for TurnView {
    type Target = View;

    fn deref(&self) -> &View {
        &self.view
    }
}

/// What changed from one layout to another, live values aside.
pub(super) fn layout_change(before: &View, epoch: &Arc<Epoch>, layout: &Arc<Layout>) -> ViewChange {
    if !Arc::ptr_eq(before.epoch(), epoch) {
        return ViewChange::Prefix;
    }
    if !before.layout().has_rights(&layout.rights) {
        return ViewChange::Prefix;
    }
    if before.layout().steps == layout.steps {
        return ViewChange::Live;
    }
    match layout.steps.strip_prefix(&*before.layout().steps) {
        // What deviates from the catalogue stands first, so it is the same catalogue if none was added.
        Some([added, ..]) if !added.is_deviation() => ViewChange::Appended,
        Some(_) | None => ViewChange::Prefix,
    }
}

fn live_text(epoch: &Epoch, live: &LiveValues) -> Box<str> {
    if live.is_empty() {
        return Box::default();
    }
    let registry = &epoch.registry;
    let values: Vec<_> = live
        .iter()
        .map(|(entry, value)| {
            let attribute = registry.attribute(entry.attribute);
            LiveText {
                skill: &registry.skill(attribute.skill).id,
                attribute: &attribute.name,
                value,
                schema: &attribute.schema,
                status: entry.status,
                as_of: entry.as_of,
            }
        })
        .collect();
    let mut out = String::new();
    epoch.texts.composer().live(&values, &mut out);
    out.into_boxed_str()
}

fn digest_of(
    layout: &Layout,
    turn_part: Option<&TurnPart>,
    restated: &str,
    live: &LiveValues,
) -> [u8; 32] {
    let mut digest = layout.digest.clone();
    if let Some(part) = turn_part {
        // In the place of an attribute that no registry has, as what is said again.
        digest.update((u32::MAX - 1).to_le_bytes());
        part.digest(&mut digest);
    }
    if !restated.is_empty() {
        // In the place of an attribute that no registry has.
        digest.update(u32::MAX.to_le_bytes());
        digest.update((restated.len() as u64).to_le_bytes());
        digest.update(restated);
    }
    for (entry, json) in live.iter() {
        digest.update(entry.attribute.to_le_bytes());
        digest.update([entry.status.map_or(0, |status| status as u8 + 1)]);
        digest.update(entry.as_of.map_or(i64::MIN, |time| time.0).to_le_bytes());
        digest.update((json.len() as u64).to_le_bytes());
        digest.update(json);
    }
    digest.finalize().into()
}
