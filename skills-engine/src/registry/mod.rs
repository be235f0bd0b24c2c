//! The set of all skills: immutable, sorted by id, replaced whole.

mod build;
mod index;
mod member;

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use sha2::{Digest as _, Sha256};

pub use self::build::BuildError;
pub(crate) use self::build::whence;
use self::index::AddressIndex;
pub(crate) use self::member::{MemberRange, RegisteredAttribute, RegisteredTool};
use crate::skill::{
    Code, Fault, Instance, Level, Resource, ResourcePart, Skill, SkillContent, SkillDefinition,
    SkillType, shown,
};

/// The position of a skill in its registry.
pub(crate) type SkillIndex = u32;
/// The position of a tool among all tools of its registry.
pub(crate) type ToolIndex = u32;
/// The position of an attribute among all attributes of its registry.
pub(crate) type AttributeIndex = u32;

/// All skills of an engine at one moment.
///
/// Members are stored by skill and, within a skill, by the level they are visible from: what one step of opening
/// adds is therefore one range.
#[derive(Debug)]
pub struct Registry {
    pub(crate) generation: u64,
    pub(crate) digest: [u8; 32],
    pub(crate) skills: Vec<RegisteredSkill>,
    pub(crate) tools: Vec<RegisteredTool>,
    pub(crate) attributes: Vec<RegisteredAttribute>,
    by_type: HashMap<TypeId, SkillIndex>,
    by_address: AddressIndex,
    /// The skill that holds the engine's own tools for content, where any skill has some.
    pub(crate) loader: Option<SkillIndex>,
    /// The skills with content that are open wider than METADATA from the beginning.
    pub(crate) open_with_content: Box<[SkillIndex]>,
    /// The skills with a list of tools that are open wider than METADATA from the beginning.
    pub(crate) open_with_allowed_tools: Box<[SkillIndex]>,
}

/// A skill and where its members are.
#[derive(Debug)]
pub(crate) struct RegisteredSkill {
    pub(crate) id: Arc<str>,
    pub(crate) skill: Arc<dyn Skill>,
    pub(crate) tools: MemberRange,
    pub(crate) attributes: MemberRange,
    base: Level,
    is_host_only: bool,
    is_told_of: bool,
    is_built_in: bool,
    content_digest: OnceLock<[u8; 32]>,
}

impl RegisteredSkill {
    pub(crate) fn definition(&self) -> &SkillDefinition {
        self.skill.definition()
    }

    pub(crate) fn base(&self) -> Level {
        self.base
    }

    /// Whether a model cannot open it by itself.
    pub(crate) fn is_host_only(&self) -> bool {
        self.is_host_only
    }

    /// Whether a model knows of it before somebody else has opened it.
    pub(crate) fn is_told_of(&self) -> bool {
        self.is_told_of
    }

    /// SHA-256 over what the skill holds, its content: the body and the list of its files.
    pub(crate) fn content_digest(&self, content: &dyn SkillContent) -> [u8; 32] {
        *self.content_digest.get_or_init(|| {
            let mut digest = Sha256::new_with_prefix(content.digest());
            for file in content.resources() {
                digest.update((file.path.len() as u64).to_le_bytes());
                digest.update(file.path.as_bytes());
            }
            digest.update((content.total_resources() as u64).to_le_bytes());
            digest.finalize().into()
        })
    }

    /// Whether it is no skill to tell of, but holds tools of the engine's own.
    pub(crate) fn is_built_in(&self) -> bool {
        self.is_built_in
    }

    /// Its body and files.
    pub(crate) fn content(&self) -> Option<&dyn SkillContent> {
        self.skill.content()
    }

    /// Whether it has files.
    pub(crate) fn has_files(&self) -> bool {
        self.content()
            .is_some_and(|content| !content.resources().is_empty())
    }
}

impl Registry {
    /// Counts the registries an engine has had, from 1.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// SHA-256 over everything a model could be shown of these skills, but for the values of sensitive attributes.
    #[must_use]
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// How many skills there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.skills.len() - usize::from(self.loader.is_some())
    }

    /// Whether there is no skill at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All skills, by id.
    pub fn list(&self) -> impl Iterator<Item = &Arc<dyn Skill>> {
        let skills = self.skills.iter().filter(|skill| !skill.is_built_in);
        skills.map(|registered| &registered.skill)
    }

    /// The skill with an id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Arc<dyn Skill>> {
        let found = self.find(id).filter(|(_, skill)| !skill.is_built_in);
        found.map(|(_, registered)| &registered.skill)
    }

    /// The files of a skill, by path; none for a skill that has none, or that there is not.
    #[must_use]
    pub fn resources(&self, id: &str) -> &[Resource] {
        let content = self.get(id).and_then(|skill| skill.content());
        content.map_or(&[], |content| content.resources())
    }

    /// Reads a part of a file of a skill, at most `limit` bytes from the byte `offset` on. For the host itself: it asks
    /// for no session and no level, but for nothing beside the files that are listed either.
    ///
    /// # Errors
    ///
    /// `unknown_skill`; those of [`SkillContent::read`], among them
    /// `invalid_arguments`, with the reason, for a path that is not listed.
    pub async fn read_resource(
        &self,
        id: &str,
        path: &str,
        offset: u64,
        limit: usize,
    ) -> Result<ResourcePart, Fault> {
        let skill = self.get(id).ok_or_else(|| {
            let id = shown(id, 64);
            Fault::new(
                Code::UnknownSkill,
                format!("there is no skill `{id}`. Use an id of `list`"),
            )
        })?;
        let refused = |what: &str| {
            let (id, path) = (shown(id, 64), shown(path, 128));
            Fault::new(
                Code::InvalidArguments,
                format!("`{path}` {what} `{id}`. Use a path of `resources`"),
            )
        };
        let Some(content) = skill.content() else {
            return Err(refused("cannot be a file of"));
        };
        let listed = content.resources();
        if listed.iter().all(|file| *file.path != *path) {
            // It is asked for the reason; whatever it answers, nothing of it is handed on.
            let reason = content.read(path, 0, 0).await.err();
            return Err(reason.unwrap_or_else(|| refused("is not among the files of")));
        }
        content.read(path, offset, limit).await
    }

    /// The instance of an annotated type.
    #[must_use]
    pub fn instance<T: SkillType>(&self) -> Option<Arc<T>> {
        let index = *self.by_type.get(&TypeId::of::<T>())?;
        let instance: Instance = self.skills[index as usize].skill.instance()?;
        instance.downcast().ok()
    }

    /// The values of all sensitive constants, which are not in the digest, in a form that no other values have; empty
    /// when there are none.
    pub(crate) fn sensitive_constants(&self) -> Vec<u8> {
        let mut values = Vec::new();
        for (index, attribute) in (0_u32..).zip(&self.attributes) {
            if let Some(value) = attribute.reader.constant()
                && attribute.definition.sensitive
            {
                values.extend_from_slice(&index.to_le_bytes());
                values.extend_from_slice(&(value.len() as u64).to_le_bytes());
                values.extend_from_slice(value.as_bytes());
            }
        }
        values
    }

    pub(crate) fn find(&self, id: &str) -> Option<(SkillIndex, &RegisteredSkill)> {
        let index = self
            .skills
            .binary_search_by(|registered| (*registered.id).cmp(id))
            .ok()?;
        // Registries are refused beyond `u32::MAX` members.
        Some((u32::try_from(index).ok()?, &self.skills[index]))
    }

    /// The skill with an id that is mostly the registry's own `Arc`, as states of sessions hold it.
    pub(crate) fn find_shared(&self, id: &Arc<str>) -> Option<SkillIndex> {
        self.by_address
            .find(id)
            .or_else(|| self.find(id).map(|(index, _)| index))
    }

    pub(crate) fn skill(&self, index: SkillIndex) -> &RegisteredSkill {
        &self.skills[index as usize]
    }

    pub(crate) fn tool(&self, index: ToolIndex) -> &RegisteredTool {
        &self.tools[index as usize]
    }

    pub(crate) fn attribute(&self, index: AttributeIndex) -> &RegisteredAttribute {
        &self.attributes[index as usize]
    }

    pub(crate) fn tool_index(&self, skill: SkillIndex, name: &str) -> Option<ToolIndex> {
        let range = self.skill(skill).tools.all();
        range
            .clone()
            .zip(&self.tools[range.start as usize..range.end as usize])
            .find_map(|(index, tool)| (*tool.name == *name).then_some(index))
    }

    pub(crate) fn attribute_index(&self, skill: SkillIndex, name: &str) -> Option<AttributeIndex> {
        let range = self.skill(skill).attributes.all();
        range
            .clone()
            .zip(&self.attributes[range.start as usize..range.end as usize])
            .find_map(|(index, attribute)| (*attribute.name == *name).then_some(index))
    }
}
