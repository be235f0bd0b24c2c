use std::sync::OnceLock;

use sha2::{Digest as _, Sha256};

use super::epoch::Epoch;
use super::listing::Listed;
use crate::prompt::ProfileTool;
use crate::registry::{AttributeIndex, MemberRange, Registry, SkillIndex, ToolIndex};
use crate::session::{AllowList, Coverage, Given, MemberFacts, SkillFacts, Why, least};
use crate::skill::{Expose, Level, SkillDefinition, SkillType as _};
use crate::tools::PslSkill;

/// What switches, roles, allow-lists, the parent session and hooks let through of a registry: everything that
/// goes into the rule beside what a session opened.
///
/// Immutable, and shared by all sessions for which it comes out the same. It is the one place through which a skill
/// or member is taken out: prompt, list, snapshot, dispatch and explanations all read their facts here.
#[derive(Debug)]
pub(crate) struct Rights {
    skills: Box<[SkillRight]>,
    tools: Box<[MemberRight]>,
    attributes: Box<[MemberRight]>,
    /// The skills that the catalogue shows in another way than as they are registered, by index.
    exceptions: Box<[Exception]>,
    /// Over all of the above.
    digest: [u8; 32],
    has_control: bool,
    has_skills: bool,
    /// What the skills are told of by, made when it is first shown.
    listed: OnceLock<Listed>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SkillRight {
    denied: Option<Why>,
    role: Option<Level>,
    parent: Option<Level>,
    /// Whether some members are let through and others are not.
    is_partial: bool,
    /// Whether only single members of it are named, by a role or a list: its instructions are not.
    is_named_in_part: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct MemberRight {
    denied: Option<Why>,
    ceiling: Option<Level>,
}

/// A skill with texts of its own, each rendered once.
#[derive(Debug)]
pub(crate) struct Exception {
    pub(crate) skill: SkillIndex,
    pub(crate) shown: OnceLock<Box<str>>,
    pub(crate) opened: [OnceLock<Box<str>>; 3],
}

impl Rights {
    /// Whether a skill takes no part.
    pub(crate) fn is_denied(&self, skill: SkillIndex) -> bool {
        self.skills[skill as usize].denied.is_some()
    }

    /// Whether the model can open skills by itself.
    pub(crate) fn has_control(&self) -> bool {
        self.has_control
    }

    /// Whether any skill takes part.
    pub(crate) fn has_skills(&self) -> bool {
        self.has_skills
    }

    pub(crate) fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// What the skills are told of by, beside the composer's own text.
    pub(crate) fn listed(&self, epoch: &Epoch) -> &Listed {
        self.listed
            .get_or_init(|| epoch.listing.listed(epoch, self))
    }

    /// A number that tells rights apart, almost always.
    pub(crate) fn fingerprint(&self) -> u64 {
        let first = self.digest.first_chunk().copied();
        u64::from_le_bytes(first.unwrap_or_default())
    }

    pub(crate) fn exceptions(&self) -> &[Exception] {
        &self.exceptions
    }

    /// The exception of a skill, if it is one.
    pub(crate) fn exception(&self, skill: SkillIndex) -> Option<&Exception> {
        let found = self
            .exceptions
            .binary_search_by_key(&skill, |exception| exception.skill);
        found.ok().map(|at| &self.exceptions[at])
    }

    /// Whether some members of a skill are let through and others are not.
    pub(crate) fn is_partial(&self, skill: SkillIndex) -> bool {
        self.skills[skill as usize].is_partial
    }

    /// Whether the instructions of a skill go with it: not where it takes no part, or only single members are named.
    pub(crate) fn has_instructions(&self, skill: SkillIndex) -> bool {
        let right = self.skills[skill as usize];
        right.denied.is_none() && !right.is_named_in_part
    }

    /// What the rule needs to know of a skill.
    pub(crate) fn skill(&self, registry: &Registry, skill: SkillIndex) -> SkillFacts {
        let right = self.skills[skill as usize];
        let registered = registry.skill(skill);
        SkillFacts::new(registered.base())
            .denied(right.denied)
            .host_only(registered.is_host_only())
            .role_ceiling(right.role)
            .parent_ceiling(right.parent)
    }

    /// What the rule needs to know of a tool.
    pub(crate) fn tool(&self, registry: &Registry, tool: ToolIndex) -> MemberFacts {
        let definition = &registry.tool(tool).definition;
        let right = self.tools[tool as usize];
        MemberFacts::new(definition.level, definition.expose)
            .denied(right.denied)
            .ceiling(right.ceiling)
    }

    /// What the rule needs to know of an attribute.
    pub(crate) fn attribute(&self, registry: &Registry, attribute: AttributeIndex) -> MemberFacts {
        let definition = &registry.attribute(attribute).definition;
        let right = self.attributes[attribute as usize];
        MemberFacts::new(definition.level, definition.expose)
            .denied(right.denied)
            .ceiling(right.ceiling)
    }
}

/// Whether a member that its skill's level shows is let through, too.
pub(crate) fn is_let_through(
    skill: SkillFacts,
    member: MemberFacts,
    ceiling: Option<Level>,
    is_opened: bool,
) -> bool {
    let is_under = |ceiling: Option<Level>| ceiling.is_none_or(|ceiling| member.level <= ceiling);
    let waits = skill.host_only && !is_opened && member.expose == Expose::Always;
    member.denied.is_none()
        && !waits
        && is_under(member.ceiling)
        && is_under(least(skill.outer_ceiling(), ceiling))
}

/// Works out [`Rights`]: begins with everything, and each step only takes away.
pub(crate) struct RightsBuilder<'a> {
    registry: &'a Registry,
    skills: Vec<SkillRight>,
    tools: Vec<MemberRight>,
    attributes: Vec<MemberRight>,
    control: Option<SkillIndex>,
}

/// What keeps a skill from every model, whatever the session.
fn denied_always(definition: &SkillDefinition) -> Option<Why> {
    if definition.code_only {
        Some(Why::CodeOnly)
    } else if definition.unmet.is_empty() {
        None
    } else {
        Some(Why::Unmet)
    }
}

impl<'a> RightsBuilder<'a> {
    /// Everything but what is for code alone, and what this machine cannot run.
    pub(crate) fn new(registry: &'a Registry) -> Self {
        let skills = registry.skills.iter().map(|skill| SkillRight {
            denied: denied_always(skill.definition()),
            ..SkillRight::default()
        });
        Self {
            registry,
            skills: skills.collect(),
            tools: vec![MemberRight::default(); registry.tools.len()],
            attributes: vec![MemberRight::default(); registry.attributes.len()],
            control: registry.find(PslSkill::entry().id).map(|(index, _)| index),
        }
    }

    /// Goes on from rights there are already.
    pub(crate) fn from(registry: &'a Registry, rights: &Rights) -> Self {
        Self {
            skills: rights.skills.to_vec(),
            tools: rights.tools.to_vec(),
            attributes: rights.attributes.to_vec(),
            ..Self::new(registry)
        }
    }

    /// Takes a skill out; what was taken out for another reason stays so.
    pub(crate) fn deny(&mut self, skill: SkillIndex, why: Why) {
        self.skills[skill as usize].denied.get_or_insert(why);
    }

    /// Takes a tool out; what was taken out for another reason stays so.
    pub(crate) fn deny_tool(&mut self, tool: ToolIndex, why: Why) {
        self.tools[tool as usize].denied.get_or_insert(why);
    }

    /// Leaves the tools that open skills list, and those of the engine itself.
    pub(crate) fn allowed_tools(&mut self, is_allowed: impl Fn(SkillIndex, ToolIndex) -> bool) {
        for (index, skill) in (0..).zip(&self.registry.skills) {
            if self.control == Some(index) || skill.is_built_in() {
                continue;
            }
            for tool in skill.tools.all().filter(|tool| !is_allowed(index, *tool)) {
                self.deny_tool(tool, Why::NotAllowed);
            }
        }
    }

    /// Takes the skills out that are switched off.
    pub(crate) fn switch_off(&mut self, is_off: impl Fn(&str) -> bool) {
        for (index, skill) in (0..).zip(&self.registry.skills) {
            if is_off(&skill.id) {
                self.deny(index, Why::SwitchedOff);
            }
        }
    }

    /// Takes the skill out through which the model opens others.
    pub(crate) fn without_control(&mut self) {
        if let Some(control) = self.control {
            self.deny(control, Why::NoControl);
        }
    }

    /// Leaves what roles give.
    pub(crate) fn roles(&mut self, given: &Given<'_>) {
        for (index, skill) in (0..).zip(&self.registry.skills) {
            if skill.is_built_in() {
                continue;
            }
            let Some(of_skill) = given.skill(&skill.id) else {
                self.deny(index, Why::NoRole);
                continue;
            };
            let right = &mut self.skills[index as usize];
            right.role = Some(of_skill.most).filter(|level| *level < Level::Complete);
            right.is_named_in_part |= of_skill.whole.is_none();
            if of_skill.is_even() {
                continue;
            }
            self.members(index, |name, right| match of_skill.member(name) {
                None => {
                    right.denied.get_or_insert(Why::NoRole);
                }
                Some(level) if level < Level::Complete => {
                    right.ceiling = least(right.ceiling, Some(level));
                }
                Some(_) => {}
            });
        }
    }

    /// Leaves what a list allows. The skill through which the model opens others is exempt, and so is that which loads
    /// them.
    pub(crate) fn list(&mut self, list: &AllowList) {
        for (index, skill) in (0..).zip(&self.registry.skills) {
            if self.control == Some(index) || skill.is_built_in() {
                continue;
            }
            match list.coverage(&skill.id) {
                Coverage::Whole => {}
                Coverage::Nothing => self.deny(index, Why::NotListed),
                Coverage::SomeMembers => {
                    self.skills[index as usize].is_named_in_part = true;
                    self.members(index, |name, right| {
                        if !list.covers(&skill.id, name) {
                            right.denied.get_or_insert(Why::NotListed);
                        }
                    });
                }
            }
        }
    }

    /// Caps everything at what a parent session sees: `level` gives the parent's level of each skill, and whether
    /// what is exposed always is shown there.
    pub(crate) fn parent(
        &mut self,
        rights: &Rights,
        level: impl Fn(SkillIndex, SkillFacts) -> (Level, bool),
    ) {
        let registry = self.registry;
        for index in 0..u32::try_from(registry.skills.len()).unwrap_or(u32::MAX) {
            if rights.is_denied(index) {
                self.deny(index, Why::Parent);
                continue;
            }
            if registry.skill(index).is_built_in() {
                // It follows from what the session itself sees.
                continue;
            }
            let facts = rights.skill(registry, index);
            let (level, is_opened) = level(index, facts);
            let right = &mut self.skills[index as usize];
            right.is_named_in_part |= !rights.has_instructions(index);
            right.parent = least(
                right.parent,
                Some(level).filter(|level| *level < Level::Complete),
            );
            let registered = registry.skill(index);
            let is_seen = |member: MemberFacts| is_let_through(facts, member, None, is_opened);
            for tool in registered.tools.all() {
                if !is_seen(rights.tool(registry, tool)) {
                    self.tools[tool as usize].denied.get_or_insert(Why::Parent);
                }
            }
            for attribute in registered.attributes.all() {
                if !is_seen(rights.attribute(registry, attribute)) {
                    let right = &mut self.attributes[attribute as usize];
                    right.denied.get_or_insert(Why::Parent);
                }
            }
        }
    }

    /// Takes everything out: the parent session has ended.
    pub(crate) fn deny_all_of_parent(&mut self) {
        for right in &mut self.skills {
            right.denied.get_or_insert(Why::Parent);
        }
    }

    fn members(&mut self, skill: SkillIndex, mut edit: impl FnMut(&str, &mut MemberRight)) {
        let registered = self.registry.skill(skill);
        for tool in registered.tools.all() {
            edit(
                &self.registry.tool(tool).name,
                &mut self.tools[tool as usize],
            );
        }
        for attribute in registered.attributes.all() {
            edit(
                &self.registry.attribute(attribute).name,
                &mut self.attributes[attribute as usize],
            );
        }
    }

    pub(crate) fn finish(mut self, epoch: &Epoch) -> Rights {
        let registry = self.registry;
        let mut exceptions = Vec::new();
        self.loader(epoch);
        for (index, registered) in (0..).zip(&registry.skills) {
            let is_partial = self.is_partial(&registered.tools, &registered.attributes);
            let right = &mut self.skills[index as usize];
            let is_partial = is_partial || right.is_named_in_part;
            right.is_partial = is_partial;
            let right = *right;
            if right.denied.is_some() || is_partial || self.caps_what_is_shown(index) {
                exceptions.push(Exception {
                    skill: index,
                    shown: OnceLock::new(),
                    opened: Default::default(),
                });
            }
        }
        let is_on = |index: SkillIndex| self.skills[index as usize].denied.is_none();
        let has_control = self.control.is_some_and(is_on);
        let mut told_of = self.skills.iter().zip(&registry.skills);
        let has_skills =
            told_of.any(|(right, skill)| right.denied.is_none() && !skill.is_built_in());
        Rights {
            digest: self.digest(),
            skills: self.skills.into(),
            tools: self.tools.into(),
            attributes: self.attributes.into(),
            exceptions: exceptions.into(),
            has_control,
            has_skills,
            listed: OnceLock::new(),
        }
    }

    /// Takes the tools out that load and read what skills hold, where there is nothing for them.
    fn loader(&mut self, epoch: &Epoch) {
        let Some(loader) = self.registry.loader else {
            return;
        };
        let reaches_context = |index: SkillIndex| {
            let right = self.skills[index as usize];
            let ceiling = least(right.role, right.parent);
            right.denied.is_none()
                && !right.is_named_in_part
                && ceiling.is_none_or(|ceiling| ceiling >= Level::Context)
        };
        let with_content = || {
            let skills = (0..).zip(&self.registry.skills);
            skills.filter(|(index, skill)| skill.content().is_some() && reaches_context(*index))
        };
        let can_open = self
            .control
            .is_some_and(|control| self.skills[control as usize].denied.is_none());
        let can_load = with_content()
            .any(|(_, skill)| skill.is_told_of() && (can_open || skill.base() >= Level::Context));
        let can_read = with_content().any(|(_, skill)| skill.has_files());
        let Epoch { listing, words, .. } = epoch;
        let profile = listing.profile();
        for tool in self.registry.skill(loader).tools.all() {
            let name = &*self.registry.tool(tool).name;
            let is_offered = if name == profile.tool(ProfileTool::ReadResource) {
                can_read
            } else if name == profile.tool(ProfileTool::List) {
                let is_denied = |index: SkillIndex| self.skills[index as usize].denied.is_some();
                can_load && listing.cuts(self.registry, words, is_denied)
            } else {
                can_load
            };
            if !is_offered {
                self.deny_tool(tool, Why::NothingToLoad);
            }
        }
    }

    /// Whether any member of a skill is kept back, whatever the level.
    fn is_partial(&self, tools: &MemberRange, attributes: &MemberRange) -> bool {
        let is_kept_back = |right: MemberRight, level: Level| {
            right.denied.is_some() || right.ceiling.is_some_and(|ceiling| ceiling < level)
        };
        tools.all().any(|tool| {
            let level = self.registry.tool(tool).definition.level;
            is_kept_back(self.tools[tool as usize], level)
        }) || attributes.all().any(|attribute| {
            let level = self.registry.attribute(attribute).definition.level;
            is_kept_back(self.attributes[attribute as usize], level)
        })
    }

    /// Whether a skill, as every session sees it at first, shows less than it is registered with.
    fn caps_what_is_shown(&self, skill: SkillIndex) -> bool {
        let registered = self.registry.skill(skill);
        let right = self.skills[skill as usize];
        let outer = least(right.role, right.parent);
        let host_only = registered.is_host_only();
        let is_capped = |level: Level| outer.is_some_and(|ceiling| ceiling < level);
        let is_kept_back = |expose: Expose, level: Level| {
            expose == Expose::Always && (host_only || is_capped(level))
        };
        is_capped(registered.base())
            || registered.tools.all().any(|tool| {
                let definition = &self.registry.tool(tool).definition;
                is_kept_back(definition.expose, definition.level)
            })
            || registered.attributes.all().any(|attribute| {
                let definition = &self.registry.attribute(attribute).definition;
                is_kept_back(definition.expose, definition.level)
            })
    }

    fn digest(&self) -> [u8; 32] {
        let level = |level: Option<Level>| level.map_or(0, |level| level as u8 + 1);
        let why = |why: Option<Why>| why.map_or(0, |why| why as u8 + 1);
        let mut bytes = Vec::with_capacity(
            4 * self.skills.len() + 2 * (self.tools.len() + self.attributes.len()),
        );
        for right in &self.skills {
            bytes.extend([why(right.denied), level(right.role), level(right.parent)]);
            bytes.push(u8::from(right.is_named_in_part));
        }
        for right in self.tools.iter().chain(&self.attributes) {
            bytes.extend([why(right.denied), level(right.ceiling)]);
        }
        Sha256::digest(&bytes).into()
    }
}
