use super::super::change::ended;
use super::super::control::Control;
use super::super::epoch::{unknown_among, unknown_skill};
use crate::prompt::{ProfileTool, name_as_told};
use crate::registry::{RegisteredSkill, SkillIndex};
use crate::skill::{Code, Fault, Level};

impl Control<'_> {
    /// A skill by its id, or by its id as lists tell it. Where there is none, those that are offered are named.
    pub(super) fn known_by_list(
        &self,
        name: &str,
        is_offered: impl Fn(SkillIndex, &RegisteredSkill) -> bool,
    ) -> Result<SkillIndex, Fault> {
        self.known(name).or_else(|_| {
            let is_plain = |id: &str| {
                let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
                id.bytes().all(is_part)
            };
            let skills = self.epoch.registry.skills.iter();
            // One that takes no part must not be found out by how its name is written.
            let mut meant = skills
                .filter(|skill| !is_plain(&skill.id) && name_as_told(&skill.id) == name)
                .filter_map(|skill| self.known(&skill.id).ok());
            match (meant.next(), meant.next()) {
                (Some(index), None) => Ok(index),
                _ => Err(unknown_among(self.epoch, &self.rights, name, is_offered)),
            }
        })
    }

    /// Says whether a skill is open at a level still, after something was waited for.
    pub(super) fn check_open(&self, index: SkillIndex, level: Level) -> Result<(), Fault> {
        match self.turn {
            Some(turn) => turn.check_running()?,
            None if self.cell.has_ended() => return Err(ended()),
            None => {}
        }
        let now = self.renewed();
        let state = self.cell.published().1;
        if now.rights.has_instructions(index) && now.level(index, &state) >= level {
            return Ok(());
        }
        let id = &self.epoch.registry.skill(index).id;
        Err(Fault::new(
            Code::Conflict,
            format!("`{id}` was closed while it was read. Do without it"),
        ))
    }

    /// A skill that is open for whoever asks, with its body and files.
    pub(super) fn open_content(&self, name: &str) -> Result<(SkillIndex, Level), Fault> {
        let state = self.cell.published().1;
        let index = self.known_by_list(name, |index, skill| {
            let files = skill.content().map(|content| content.resources().len());
            files.is_some_and(|count| count > 0)
                && self.level(index, &state) >= Level::Context
                && self.rights.has_instructions(index)
        })?;
        if !self.is_told_of(index, &state) {
            return Err(unknown_skill(self.epoch, &self.rights, name, self.actor));
        }
        let level = self.level(index, &state);
        let id = &self.epoch.registry.skill(index).id;
        if level < Level::Context {
            let load = self.epoch.listing.profile().tool(ProfileTool::Load);
            return Err(Fault::new(
                Code::Hidden,
                format!("`{id}` is at {level}; open it with {load} first"),
            ));
        }
        if !self.rights.has_instructions(index) {
            return Err(Fault::new(
                Code::NotPermitted,
                format!("the files of `{id}` are not for this session. Do without them"),
            ));
        }
        Ok((index, level))
    }
}
