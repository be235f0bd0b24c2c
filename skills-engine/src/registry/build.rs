use std::any::{Any, TypeId};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

use super::index::AddressIndex;
use super::member::{MemberRange, RegisteredAttribute, RegisteredTool, shown_from};
use super::{RegisteredSkill, Registry, SkillIndex};
use crate::skill::{Expose, Instance, Level, SchemaCache, Skill, SkillContent};

/// Why an engine or a registry cannot be built: every problem found, not only the first.
#[derive(Clone, PartialEq, Eq)]
pub struct BuildError {
    problems: Vec<String>,
}

impl BuildError {
    pub(crate) fn new(problems: Vec<String>) -> Self {
        Self { problems }
    }

    /// The problems, a sentence or two each.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.problems {
            [problem] => formatter.write_str(problem),
            problems => {
                write!(formatter, "{} problems", problems.len())?;
                for problem in problems {
                    write!(formatter, "\n- {problem}")?;
                }
                Ok(())
            }
        }
    }
}

/// As [`Display`](fmt::Display): a `main` that returns the error prints it this way.
impl fmt::Debug for BuildError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl std::error::Error for BuildError {}

impl Registry {
    /// Builds the first registry of these skills.
    ///
    /// # Errors
    ///
    /// Lists every id and name used twice and every schema that cannot be made.
    pub fn build(skills: Vec<Arc<dyn Skill>>) -> Result<Self, BuildError> {
        Self::build_generation(1, skills)
    }

    pub(crate) fn build_generation(
        generation: u64,
        mut skills: Vec<Arc<dyn Skill>>,
    ) -> Result<Self, BuildError> {
        skills.sort_by(|left, right| left.definition().id.cmp(&right.definition().id));
        let mut problems = duplicate_ids(&skills);
        let mut assembly = Assembly::default();
        for skill in skills {
            problems.extend(names_used_twice(&*skill));
            problems.extend(opens_unasked(&*skill));
            assembly.add(skill, &mut problems);
        }
        let count = assembly
            .skills
            .len()
            .max(assembly.tools.len())
            .max(assembly.attributes.len());
        if u32::try_from(count).is_err() {
            problems.push(format!(
                "{count} skills or members are more than a registry can hold"
            ));
        }
        if !problems.is_empty() {
            return Err(BuildError::new(problems));
        }
        let Assembly {
            skills,
            tools,
            attributes,
            by_type,
            ..
        } = assembly;
        let by_address = AddressIndex::new(&skills);
        let loader = (0..).zip(&skills).find(|(_, skill)| skill.is_built_in);
        let loader = loader.map(|(index, _)| index);
        let open_with_content = (0..)
            .zip(&skills)
            .filter(|(_, skill)| skill.base >= Level::Context && skill.content().is_some());
        let open_with_content = open_with_content.map(|(index, _)| index).collect();
        let open_with_allowed_tools = (0..).zip(&skills).filter(|(_, skill)| {
            skill.base >= Level::Context && skill.definition().allowed_tools.is_some()
        });
        let open_with_allowed_tools = open_with_allowed_tools.map(|(index, _)| index).collect();
        let digest = digest_of(&skills, &tools, &attributes);
        Ok(Self {
            generation,
            digest,
            skills,
            tools,
            attributes,
            by_type,
            by_address,
            loader,
            open_with_content,
            open_with_allowed_tools,
        })
    }
}

fn duplicate_ids(sorted: &[Arc<dyn Skill>]) -> Vec<String> {
    sorted
        .windows(2)
        .filter(|pair| pair[0].definition().id == pair[1].definition().id)
        .map(|pair| {
            let [first, second] = [&pair[0], &pair[1]].map(|skill| whence(&**skill));
            format!(
                "two skills have the id `{}`: {first} and {second}; give one another id, or pass it with `builder.skill_as(\"…\", value)`",
                pair[0].definition().id,
            )
        })
        .collect()
}

/// Where a skill was defined, for messages.
pub(crate) fn whence(skill: &dyn Skill) -> String {
    let origin = skill.definition().origin;
    if let Some(folder) = skill.content().and_then(SkillContent::base_dir) {
        return format!("that of the folder `{folder}`");
    }
    if origin.crate_name.is_empty() {
        return "one made at run time".to_owned();
    }
    if origin.type_name.is_empty() {
        return format!(
            "a folder embedded in crate `{}` ({})",
            origin.crate_name, origin.place
        );
    }
    format!(
        "`{}` of crate `{}` ({})",
        origin.type_name, origin.crate_name, origin.place
    )
}

#[derive(Default)]
struct Assembly {
    skills: Vec<RegisteredSkill>,
    tools: Vec<RegisteredTool>,
    attributes: Vec<RegisteredAttribute>,
    by_type: HashMap<TypeId, SkillIndex>,
    schemas: SchemaCache,
}

impl Assembly {
    fn add(&mut self, skill: Arc<dyn Skill>, problems: &mut Vec<String>) {
        let index = position(self.skills.len());
        let id: Arc<str> = (*skill.definition().id).into();

        let first_tool = self.tools.len();
        for tool in skill.tools() {
            match self.schemas.input_schema(&tool.schema_source()) {
                Ok(input_schema) => self.tools.push(RegisteredTool {
                    skill: index,
                    name: (*tool.definition.name).into(),
                    definition: tool.definition.clone(),
                    handler: tool.registered_handler(),
                    input_schema,
                }),
                Err(fault) => {
                    problems.push(format!(
                        "tool `{}` of skill `{id}`: {}",
                        tool.definition.name, fault.message
                    ));
                }
            }
        }
        let tool_level =
            |tool: &RegisteredTool| shown_from(tool.definition.expose, tool.definition.level);
        self.tools[first_tool..].sort_by_key(|tool| never_last(tool_level(tool)));
        let tools = MemberRange::of(
            position(first_tool),
            self.tools[first_tool..].iter().map(tool_level),
        );

        let first_attribute = self.attributes.len();
        self.attributes.extend(
            skill
                .attributes()
                .iter()
                .map(|attribute| RegisteredAttribute {
                    skill: index,
                    name: (*attribute.definition.name).into(),
                    definition: attribute.definition.clone(),
                    reader: attribute.reader.clone(),
                    schema: self.schemas.value_schema(attribute.definition.schema),
                }),
        );
        let attribute_level = |attribute: &RegisteredAttribute| {
            shown_from(attribute.definition.expose, attribute.definition.level)
        };
        self.attributes[first_attribute..]
            .sort_by_key(|attribute| never_last(attribute_level(attribute)));
        let attributes = MemberRange::of(
            position(first_attribute),
            self.attributes[first_attribute..]
                .iter()
                .map(attribute_level),
        );

        if let Some(instance) = skill.instance() {
            let type_id = type_of(&instance);
            // With several instances of one type, `engine.skill::<T>()` gives the one under the type's own id.
            if !skill.definition().is_alias || !self.by_type.contains_key(&type_id) {
                self.by_type.insert(type_id, index);
            }
        }
        self.skills.push(RegisteredSkill {
            id,
            base: skill.definition().base_level,
            is_host_only: skill.definition().host_only || !skill.definition().model_invocable,
            is_told_of: skill.definition().model_invocable && !skill.definition().is_built_in,
            is_built_in: skill.definition().is_built_in,
            content_digest: OnceLock::new(),
            skill,
            tools,
            attributes,
        });
    }
}

/// A model is told nothing of a skill that it may not begin, so there must be nothing to see before someone else does.
fn opens_unasked(skill: &dyn Skill) -> Option<String> {
    let definition = skill.definition();
    let is_seen = |expose, level| expose == Expose::Psl && level == Level::Metadata;
    let tools = skill.tools().iter().map(|tool| &tool.definition);
    let has_tool = tools
        .into_iter()
        .any(|tool| is_seen(tool.expose, tool.level));
    let what = match (definition.base_level, has_tool) {
        (Level::Metadata, false) => return None,
        (Level::Metadata, true) => "a tool at METADATA",
        _ => "a base level above METADATA",
    };
    (!definition.model_invocable && !definition.is_built_in).then(|| {
        format!(
            "skill `{}` has {what}, though a model may not know of it before someone opens it; begin at CONTEXT",
            definition.id
        )
    })
}

/// Snapshots, and lists of tools, have one place for each name.
fn names_used_twice(skill: &dyn Skill) -> Vec<String> {
    let attributes = skill.attributes().iter();
    let attributes = attributes.map(|attribute| ("attribute", &*attribute.definition.name));
    let tools = skill.tools().iter();
    let tools = tools.map(|tool| ("tool", &*tool.definition.name));
    let mut seen = HashSet::new();
    attributes
        .chain(tools)
        .filter(|member| !seen.insert(*member))
        .map(|(noun, name)| {
            format!(
                "skill `{}` has two {noun}s named `{name}`; rename one",
                skill.definition().id
            )
        })
        .collect()
}

fn type_of(instance: &Instance) -> TypeId {
    let any: &dyn Any = &**instance;
    any.type_id()
}

fn position(count: usize) -> u32 {
    // `build_generation` refuses a registry in which this was cut.
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn never_last<L: Copy>(level: Option<L>) -> (bool, Option<L>) {
    (level.is_none(), level)
}

fn digest_of(
    skills: &[RegisteredSkill],
    tools: &[RegisteredTool],
    attributes: &[RegisteredAttribute],
) -> [u8; 32] {
    let mut digest = Fields(Sha256::new());
    for registered in skills {
        let definition = registered.definition();
        digest
            .text("skill")
            .text(&definition.id)
            .text(&definition.name)
            .text(&definition.description);
        digest
            .text(&definition.version)
            .text(definition.base_level.as_str());
        digest.optional(registered.skill.instructions());
        digest.count(definition.tags.len());
        for tag in &definition.tags {
            digest.text(tag);
        }
        digest
            .optional(definition.argument_hint.as_deref())
            .flags(&[
                u8::from(definition.model_invocable),
                u8::from(definition.user_invocable),
            ]);
        digest.flags(&[u8::from(definition.allowed_tools.is_some())]);
        if let Some(tools) = &definition.allowed_tools {
            digest.flags(&[u8::from(tools.is_unparsable())]);
            digest.count(tools.patterns().len());
            for pattern in tools.patterns() {
                digest.text(pattern.as_str());
            }
        }
        digest.count(definition.unmet.len());
        for unmet in &definition.unmet {
            digest.text(unmet);
        }
        if let Some(content) = registered.skill.content() {
            digest.content(content);
        }
        for tool in
            &tools[registered.tools.all().start as usize..registered.tools.all().end as usize]
        {
            let definition = &tool.definition;
            let annotations = definition.annotations;
            digest
                .text("tool")
                .text(&definition.name)
                .text(&definition.description)
                .text(&tool.input_schema);
            digest
                .optional(definition.title.as_deref())
                .text(definition.level.as_str());
            digest.flags(&[
                definition.expose as u8,
                u8::from(definition.return_direct),
                u8::from(definition.requires_approval),
                u8::from(annotations.read_only),
                u8::from(annotations.destructive),
                u8::from(annotations.idempotent),
                u8::from(annotations.open_world),
            ]);
        }
        let range = registered.attributes.all();
        for attribute in &attributes[range.start as usize..range.end as usize] {
            let definition = &attribute.definition;
            digest
                .text("attribute")
                .text(&definition.name)
                .text(&definition.description)
                .text(&attribute.schema);
            digest
                .text(definition.level.as_str())
                .flags(&[definition.expose as u8, u8::from(definition.sensitive)]);
            // The digest is no place to try guesses of a secret at.
            let value = attribute.reader.constant();
            digest.optional(value.filter(|_| !definition.sensitive));
        }
    }
    digest.0.finalize().into()
}

/// Feeds fields to a hash so that no two lists of fields feed the same bytes.
struct Fields(Sha256);

impl Fields {
    fn text(&mut self, text: &str) -> &mut Self {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
        self
    }

    fn optional(&mut self, text: Option<&str>) -> &mut Self {
        self.flags(&[u8::from(text.is_some())]);
        self.text(text.unwrap_or_default())
    }

    fn content(&mut self, content: &dyn SkillContent) -> &mut Self {
        self.text("content").flags(&content.digest());
        self.count(content.total_resources());
        self.count(content.resources().len());
        for resource in content.resources() {
            self.text(&resource.path)
                .flags(&resource.size.to_le_bytes());
            self.flags(&[u8::from(resource.is_executable)]);
        }
        self
    }

    fn count(&mut self, count: usize) -> &mut Self {
        self.0.update((count as u64).to_le_bytes());
        self
    }

    fn flags(&mut self, flags: &[u8]) -> &mut Self {
        self.0.update(flags);
        self
    }
}
