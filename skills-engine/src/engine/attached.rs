use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::access::Access;
use super::cell::Cell;
use super::epoch::Epoch;
use super::governance::Governance;
use super::rights::{Rights, RightsBuilder};
use crate::registry::{RegisteredTool, SkillIndex, ToolIndex};
use crate::session::{AllowList, MemberFacts, Why, least};
use crate::skill::{Expose, Level, Timestamp};

/// What the hooks of all skills made of one turn. It belongs to this turn alone.
#[derive(Default)]
pub(super) struct Attached {
    /// The skills that take no part, by index.
    denied: Vec<(SkillIndex, Why)>,
    /// The skills whose tools were selected, by index, and those of their registered tools that are not offered.
    selected: Vec<SkillIndex>,
    left_out: Vec<ToolIndex>,
    /// The turn's own instructions, by skill.
    instructions: Vec<(SkillIndex, Box<str>)>,
    tools: TurnTools,
}

/// Tools that exist in one turn only. Their positions go on where those of the registry end.
#[derive(Default)]
pub(super) struct TurnTools {
    first: ToolIndex,
    tools: Vec<RegisteredTool>,
    names: Vec<Arc<str>>,
    by_name: HashMap<Arc<str>, ToolIndex>,
}

impl TurnTools {
    pub(super) fn new(epoch: &Epoch) -> Self {
        Self {
            // A registry with more tools is not built.
            first: ToolIndex::try_from(epoch.registry.tools.len()).unwrap_or(ToolIndex::MAX),
            ..Self::default()
        }
    }

    /// Adds a tool under a name that is not taken.
    pub(super) fn add(&mut self, name: Arc<str>, tool: RegisteredTool) {
        let position = ToolIndex::try_from(self.tools.len()).unwrap_or(ToolIndex::MAX);
        let index = self.first.saturating_add(position);
        self.by_name.insert(Arc::clone(&name), index);
        self.names.push(name);
        self.tools.push(tool);
    }

    pub(super) fn find(&self, name: &str) -> Option<ToolIndex> {
        self.by_name.get(name).copied()
    }

    pub(super) fn position(&self, index: ToolIndex) -> Option<usize> {
        let position = usize::try_from(index.checked_sub(self.first)?).ok()?;
        (position < self.tools.len()).then_some(position)
    }

    /// A tool with its name on the wire; `None` when it is one of the registry.
    pub(super) fn get(&self, index: ToolIndex) -> Option<(&Arc<str>, &RegisteredTool)> {
        let position = self.position(index)?;
        Some((&self.names[position], &self.tools[position]))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ToolIndex, &RegisteredTool)> {
        (self.first..).zip(&self.tools)
    }

    /// The tool of a skill with a name of its own.
    pub(super) fn of_skill(&self, skill: SkillIndex, name: &str) -> Option<ToolIndex> {
        let mut own = self.iter();
        let found = own.find(|(_, tool)| tool.skill == skill && *tool.name == *name);
        found.map(|(index, _)| index)
    }
}

impl Attached {
    pub(super) fn new(tools: TurnTools) -> Self {
        Self {
            tools,
            ..Self::default()
        }
    }

    /// Takes a skill out of the turn.
    pub(super) fn deny(&mut self, skill: SkillIndex, why: Why) {
        self.denied.push((skill, why));
    }

    /// Leaves a skill without these of its registered tools.
    pub(super) fn select(&mut self, skill: SkillIndex, left_out: impl Iterator<Item = ToolIndex>) {
        self.selected.push(skill);
        self.left_out.extend(left_out);
    }

    pub(super) fn instruct(&mut self, skill: SkillIndex, instructions: Box<str>) {
        self.instructions.push((skill, instructions));
    }

    /// Puts everything in the order of the skills.
    pub(super) fn sorted(mut self) -> Self {
        self.denied.sort_unstable_by_key(|(skill, _)| *skill);
        self.selected.sort_unstable();
        self
    }

    pub(super) fn tools(&self) -> &TurnTools {
        &self.tools
    }

    pub(super) fn tools_mut(&mut self) -> &mut TurnTools {
        &mut self.tools
    }

    /// The turn's own instructions, by skill.
    pub(super) fn instructions(&self) -> &[(SkillIndex, Box<str>)] {
        &self.instructions
    }

    /// Whether the turn offers a tool of a skill that is in no registry.
    fn offers(&self, skill: SkillIndex, name: &str) -> bool {
        self.selected.binary_search(&skill).is_err() || self.tools.of_skill(skill, name).is_some()
    }

    /// Rights without what takes no part in the turn.
    pub(super) fn restrict(&self, epoch: &Epoch, rights: Arc<Rights>) -> Arc<Rights> {
        if self.denied.is_empty() && self.left_out.is_empty() {
            return rights;
        }
        // Turns for which it comes out the same have the same layouts, and need not work it out again.
        let mut key = Sha256::new();
        key.update(b"turn");
        key.update(rights.digest());
        key.update((self.denied.len() as u64).to_le_bytes());
        for (skill, why) in &self.denied {
            key.update(skill.to_le_bytes());
            key.update(why.as_str());
            key.update([0]);
        }
        for tool in &self.left_out {
            key.update(tool.to_le_bytes());
        }
        epoch.rights(key.finalize().into(), || {
            let mut builder = RightsBuilder::from(&epoch.registry, &rights);
            for (skill, why) in &self.denied {
                builder.deny(*skill, *why);
            }
            for tool in &self.left_out {
                builder.deny_tool(*tool, Why::NotSelected);
            }
            builder.finish(epoch)
        })
    }

    /// Rights of another registry than the turn's own, without what takes no part in the turn.
    pub(super) fn restrict_other(
        &self,
        own: &Epoch,
        other: &Epoch,
        rights: &Rights,
    ) -> Arc<Rights> {
        let mut builder = RightsBuilder::from(&other.registry, rights);
        let found = |skill| other.registry.find(&own.registry.skill(skill).id);
        for (skill, why) in &self.denied {
            if let Some((skill, _)) = found(*skill) {
                builder.deny(skill, *why);
            }
        }
        let left_out: HashSet<_> = self.left_out.iter().collect();
        for skill in &self.selected {
            let Some((_, registered)) = found(*skill) else {
                continue;
            };
            // What only the other one has was not selected either.
            for tool in registered.tools.all() {
                let name = &other.registry.tool(tool).name;
                let known = own.registry.tool_index(*skill, name);
                if known.is_none_or(|known| left_out.contains(&known)) {
                    builder.deny_tool(tool, Why::NotSelected);
                }
            }
        }
        Arc::new(builder.finish(other))
    }
}

/// What the rule needs to know of a tool that is in no registry: `access` is what its session's cell says, `lists`
/// are the request's.
pub(super) fn turn_tool_facts(
    governance: &Governance,
    epoch: &Epoch,
    cell: &Cell,
    access: Option<&Arc<Access>>,
    lists: &[AllowList],
    tool: &RegisteredTool,
    now: Timestamp,
) -> MemberFacts {
    let definition = &tool.definition;
    let mut facts = MemberFacts::new(definition.level, definition.expose);
    let id = &epoch.registry.skill(tool.skill).id;
    let own_lists = access.map_or(&[][..], |access| &access.lists);
    let mut all_lists = own_lists.iter().chain(lists);
    if !all_lists.all(|list| list.covers(id, &tool.name)) {
        facts.denied = Some(Why::NotListed);
    }
    if !governance.roles.is_empty() {
        let principal = access.and_then(|access| access.principal.as_ref());
        let principal = principal.unwrap_or(&cell.scope.principal);
        let given = governance.roles.of(principal.roles());
        match given
            .skill(id)
            .and_then(|of_skill| of_skill.member(&tool.name))
        {
            Some(level) => facts.ceiling = Some(level).filter(|level| *level < Level::Complete),
            None => facts.denied = Some(Why::NoRole),
        }
    }
    let Some(parent) = access.and_then(|access| access.parent.as_ref()) else {
        return facts;
    };
    let of_parent = turn_tool_facts(
        governance,
        epoch,
        &parent.cell,
        parent.cell.access().as_ref(),
        &[],
        tool,
        now,
    );
    facts.ceiling = least(facts.ceiling, of_parent.ceiling);
    let is_offered = parent.live_turn().is_none_or(|turn| {
        let found = turn.epoch.registry.find(id);
        let asked = turn.attached.as_deref().zip(found);
        asked.is_none_or(|(attached, (skill, _))| attached.offers(skill, &tool.name))
    });
    let host_only = epoch.registry.skill(tool.skill).is_host_only();
    let waits = host_only && definition.expose == Expose::Always && !parent.is_opened(id, now);
    if of_parent.denied.is_some() || !is_offered || waits {
        facts.denied.get_or_insert(Why::Parent);
    }
    facts
}
