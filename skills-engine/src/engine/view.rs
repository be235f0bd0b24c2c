use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::value::RawValue;
use sha2::Digest as _;

use super::epoch::Epoch;
use super::layout::Layout;
use super::load::ContentPart;
use super::telling::Audience;
use super::told::material;
use super::turn_part::TurnPart;
use crate::prompt::{CatalogueCut, LiveText};
use crate::registry::{SkillIndex, ToolIndex};
use crate::skill::{Level, ToolDefinition};
use crate::snapshot::{AttributeStatus, LiveValues, ToolWords};
use crate::tools::{Dialect, Listed};

/// What one model call may see: prompt, tool list, snapshots. It never changes.
pub struct View {
    epoch: Arc<Epoch>,
    layout: Arc<Layout>,
    /// Bodies of skills; mostly none.
    contents: ContentPart,
    /// What hooks gave for the turn; mostly nothing.
    turn_part: Option<Arc<TurnPart>>,
    /// What is open, said again; mostly empty.
    restated: Arc<str>,
    live: LiveValues,
    live_text: Box<str>,
    digest: [u8; 32],
    audience: Audience,
    /// Prompt with live values, joined when it is asked for.
    joined: OnceLock<Box<str>>,
}

/// The parts of a prompt, for hosts that place them apart. `Debug` shows their lengths: they may hold what is sensitive.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prompt<'a> {
    /// The catalogue: the same for every session that deviates from it in nothing.
    pub stable: &'a str,
    /// What was opened, in the order of the openings.
    pub opened: &'a str,
    /// Bodies of skills that stand in no result of a call; mostly empty.
    pub contents: &'a str,
    /// What skills have to say of the turn's request; mostly empty.
    pub turn: &'a str,
    /// What is open, said again after earlier messages have gone; mostly empty.
    pub restated: &'a str,
    /// Values that may differ in the next view.
    pub live: &'a str,
}

impl fmt::Debug for Prompt<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Prompt")
            .field("stable", &self.stable.len())
            .field("opened", &self.opened.len())
            .field("contents", &self.contents.len())
            .field("turn", &self.turn.len())
            .field("restated", &self.restated.len())
            .field("live", &self.live.len())
            .finish()
    }
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
        contents: ContentPart,
        turn_part: Option<Arc<TurnPart>>,
        restated: Arc<str>,
        live: LiveValues,
    ) -> Self {
        let live_text = live_text(&epoch, &live, Audience::Model);
        let mut view = Self {
            epoch,
            layout,
            contents,
            turn_part,
            restated,
            live,
            live_text,
            digest: [0; 32],
            audience: Audience::Model,
            joined: OnceLock::new(),
        };
        view.digest = view.digest_of();
        view
    }

    /// The whole text for a system prompt; empty when there is no skill to tell of.
    #[must_use]
    pub fn system_prompt(&self) -> &str {
        let (base, _) = self.base();
        let parts = [
            base,
            self.contents.text(),
            self.turn_text(),
            &self.restated,
            &self.live_text,
        ];
        if parts[1..].iter().all(|part| part.is_empty()) {
            return base;
        }
        self.joined.get_or_init(|| parts.concat().into_boxed_str())
    }

    /// The same text in its parts.
    #[must_use]
    pub fn prompt(&self) -> Prompt<'_> {
        let (base, stable) = self.base();
        let (stable, opened) = base.split_at(stable);
        Prompt {
            stable,
            opened,
            contents: self.contents.text(),
            turn: self.turn_text(),
            restated: &self.restated,
            live: &self.live_text,
        }
    }

    fn turn_text(&self) -> &str {
        self.turn_part.as_deref().map_or("", TurnPart::text)
    }

    /// What the list of skills leaves out; nothing where a composer of the host's own writes it.
    #[must_use]
    pub fn catalogue_cut(&self) -> CatalogueCut {
        self.layout.rights.listed(&self.epoch).cut
    }

    /// The list of skills as a message of its own, where the profile has it so
    /// ([`Reminder`](crate::prompt::CataloguePlace::Reminder)): the host puts it before the model beside the user's
    /// words. Empty otherwise, and without a skill.
    #[must_use]
    pub fn reminder(&self) -> &str {
        &self.layout.rights.listed(&self.epoch).reminder
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

    /// A tool of the registry, or of the turn, as it may be shown.
    fn tool(&self, tool: ToolIndex) -> Listed<'_> {
        let registry = &self.epoch.registry;
        let part = self.turn_part.as_deref();
        let (name, skill, tool) = if let Some((name, own)) = part.and_then(|part| part.tool(tool)) {
            let words = ToolWords {
                definition: &own.definition,
                input_schema: &own.input_schema,
            };
            (name, own.skill, words)
        } else {
            let own = self.layout.load_tool(&self.epoch);
            let own = own.filter(|(load, _)| *load == tool);
            let words = own.map_or_else(|| self.epoch.words.tool(registry, tool), |(_, own)| own);
            (
                self.epoch.catalogue.name(tool),
                registry.tool(tool).skill,
                words,
            )
        };
        Listed {
            skill: &registry.skill(skill).id,
            name,
            tool,
        }
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
        self.knows(index)
            .then(|| self.layout.level(&self.epoch, index))
    }

    /// Whether the model is told of a skill.
    fn knows(&self, index: SkillIndex) -> bool {
        let registered = self.epoch.registry.skill(index);
        let is_known = registered.is_told_of() || self.layout.is_moved(index);
        is_known && !registered.is_built_in() && !self.layout.rights.is_denied(index)
    }

    /// The snapshot of one skill as JSON text, if the view knows the skill.
    ///
    /// `{"id","name","description","version","tags","level","attributes":{name:{"value","schema","description",
    /// "status"?,"as_of"?}},"tools":[{"name","description"}],"instructions"?}`, with the members that are visible, or as
    /// the host's [`SnapshotComposer`](crate::snapshot::SnapshotComposer) has it. A sensitive attribute has a null value
    /// and the status `redacted`.
    #[must_use]
    pub fn snapshot(&self, skill: &str) -> Option<String> {
        let (index, _) = self.epoch.registry.find(skill)?;
        if !self.knows(index) {
            return None;
        }
        let part = self.turn_part.as_deref();
        let chosen = self.layout.chosen(&self.epoch, part, index);
        let of_turn = part.and_then(|part| part.instructions(index));
        let material = material(&self.epoch, part);
        let snapshots = &self.epoch.snapshots;
        Some(snapshots.compose(material, &chosen, of_turn, &self.live))
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
    /// again, and the live values; with a composer or redactor of the host's own, over what these made of it, too.
    ///
    /// Sensitive values enter it through a digest that is keyed with the audit key, or without one with a random key of
    /// the engine: nobody can find them out by hashing guesses. Without an audit key, views that show such values have
    /// other digests in another process.
    #[must_use]
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Bytes of the prompt, and of the names, descriptions and schemas of the tools.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let prompt = self.layout.prompt.len() + self.restated.len() + self.live_text.len();
        let prompt = prompt + self.contents.text().len() + self.reminder().len();
        let of_turn = self.turn_part.as_deref().map_or(0, TurnPart::bytes);
        prompt as u64 + self.layout.tool_bytes + of_turn
    }

    /// The same view as it may be shown to others than the model: its prompt has no value of a sensitive attribute.
    #[must_use]
    pub fn redacted(self: &Arc<Self>) -> Arc<Self> {
        let has_secrets = self.layout.has_secrets || self.layout.has_live_secrets;
        if !has_secrets || self.audience == Audience::Others {
            return Arc::clone(self);
        }
        Arc::new(Self {
            epoch: Arc::clone(&self.epoch),
            layout: Arc::clone(&self.layout),
            contents: self.contents.clone(),
            turn_part: self.turn_part.clone(),
            restated: Arc::clone(&self.restated),
            live: self.live.clone(),
            live_text: live_text(&self.epoch, &self.live, Audience::Others),
            digest: self.digest,
            audience: Audience::Others,
            joined: OnceLock::new(),
        })
    }

    /// The prompt before what is of the turn, said again, or live, and the end of its catalogue.
    fn base(&self) -> (&str, usize) {
        match self.audience {
            Audience::Model => (&self.layout.prompt, self.layout.stable),
            Audience::Others => self.layout.told(&self.epoch),
        }
    }

    /// The prompt without the values of sensitive attributes.
    pub(super) fn told_prompt(&self) -> String {
        let (told, _) = self.layout.told(&self.epoch);
        let live = if self.layout.has_live_secrets {
            &live_text(&self.epoch, &self.live, Audience::Others)
        } else {
            &self.live_text
        };
        let contents = self.contents.text();
        [told, contents, self.turn_text(), &self.restated, live].concat()
    }

    /// As [`bytes`](Self::bytes), without the values of sensitive attributes: a length may tell a value.
    pub(super) fn told_bytes(&self) -> u64 {
        if !self.layout.has_secrets && !self.layout.has_live_secrets {
            return self.bytes();
        }
        let shown = self.layout.prompt.len() + self.restated.len() + self.live_text.len();
        let shown = shown + self.turn_text().len() + self.contents.text().len();
        let beside = self.bytes().saturating_sub(shown as u64);
        self.told_prompt().len() as u64 + beside
    }

    fn digest_of(&self) -> [u8; 32] {
        let Self {
            epoch,
            layout,
            contents,
            turn_part,
            restated,
            live,
            ..
        } = self;
        let mut digest = layout.digest.clone();
        if !contents.text().is_empty() {
            // In the place of an attribute that no registry has, as what follows.
            digest.update((u32::MAX - 2).to_le_bytes());
            digest.update((contents.text().len() as u64).to_le_bytes());
            digest.update(contents.text());
        }
        if let Some(part) = turn_part {
            // In the place of an attribute that no registry has, as what is said again.
            digest.update((u32::MAX - 1).to_le_bytes());
            part.digest(&mut digest);
        }
        if !restated.is_empty() {
            // In the place of an attribute that no registry has.
            digest.update(u32::MAX.to_le_bytes());
            digest.update((restated.len() as u64).to_le_bytes());
            digest.update(&**restated);
        }
        for (entry, json) in live.iter() {
            digest.update(entry.attribute.to_le_bytes());
            digest.update([entry.status.map_or(0, |status| status as u8 + 1)]);
            digest.update(entry.as_of.map_or(i64::MIN, |time| time.0).to_le_bytes());
            if layout.has_live_secrets
                && epoch
                    .registry
                    .attribute(entry.attribute)
                    .definition
                    .sensitive
            {
                digest.update(u64::MAX.to_le_bytes());
                digest.update(epoch.secrets.digest(json.as_bytes()));
            } else {
                digest.update((json.len() as u64).to_le_bytes());
                digest.update(json);
            }
        }
        if epoch.covers_rendered {
            epoch.cover(&mut digest, &self.live_text, layout.has_live_secrets);
            if epoch.snapshots.is_own() {
                epoch.cover(&mut digest, &self.snapshots(), false);
            }
        }
        digest.finalize().into()
    }

    pub(super) fn epoch(&self) -> &Arc<Epoch> {
        &self.epoch
    }

    pub(super) fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    pub(super) fn contents(&self) -> &ContentPart {
        &self.contents
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
        self.view.tool(self.tool).name
    }

    /// The id of the skill it belongs to.
    #[must_use]
    pub fn skill(&self) -> &'a str {
        self.view.tool(self.tool).skill
    }

    /// What its author says of it, as far as a redactor leaves it.
    #[must_use]
    pub fn definition(&self) -> &'a ToolDefinition {
        self.view.tool(self.tool).tool.definition
    }

    /// The schema of its arguments, as JSON text.
    #[must_use]
    pub fn input_schema(&self) -> &'a str {
        self.view.tool(self.tool).tool.input_schema
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

fn live_text(epoch: &Epoch, live: &LiveValues, audience: Audience) -> Box<str> {
    if live.is_empty() {
        return Box::default();
    }
    let registry = &epoch.registry;
    let values: Vec<_> = live
        .iter()
        .map(|(entry, value)| {
            let attribute = registry.attribute(entry.attribute);
            let sensitive = attribute.definition.sensitive;
            let is_redacted = sensitive && audience == Audience::Others;
            LiveText {
                skill: &registry.skill(attribute.skill).id,
                attribute: &attribute.name,
                value: if is_redacted { "null" } else { value },
                schema: epoch.words.attribute(registry, entry.attribute).schema,
                status: if is_redacted {
                    Some(AttributeStatus::Redacted)
                } else {
                    entry.status
                },
                as_of: entry.as_of.filter(|_| !is_redacted),
                sensitive,
            }
        })
        .collect();
    let mut out = String::new();
    epoch.texts.composer().live(&values, &mut out);
    out.into_boxed_str()
}
