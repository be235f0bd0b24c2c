use std::borrow::Cow;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::skill::{
    Attribute, AttributeContext, AttributeDefinition, AttributeEntry, AttributeReader, BlockEntry,
    Evaluation, Hooks, InputSchema, Instance, Place, ReadEntry, Skill, SkillDefinition, SkillEntry,
    Tool, ToolDefinition, ToolEntry, ToolHandler,
};

/// A skill made of an annotated type and one instance of it.
struct TypedSkill {
    definition: SkillDefinition,
    attributes: Vec<Attribute>,
    tools: Vec<Tool>,
    hooks: Hooks,
    instance: Instance,
}

impl Skill for TypedSkill {
    fn definition(&self) -> &SkillDefinition {
        &self.definition
    }

    fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    fn tools(&self) -> &[Tool] {
        &self.tools
    }

    fn hooks(&self) -> Option<&Hooks> {
        (!self.hooks.is_empty()).then_some(&self.hooks)
    }

    fn instance(&self) -> Option<Instance> {
        Some(Arc::clone(&self.instance))
    }
}

/// Joins what the annotations of a type say with an instance of it.
///
/// The error lists every name used twice and every constant field that cannot be read.
pub(crate) fn typed_skill(
    id: Cow<'static, str>,
    entry: &'static SkillEntry,
    blocks: &[&'static BlockEntry],
    instance: Instance,
) -> Result<Arc<dyn Skill>, Vec<String>> {
    let mut problems = Vec::new();
    let mut names = Names {
        skill: &id,
        type_name: entry.origin.type_name,
        seen: HashMap::new(),
    };
    let mut attributes = Vec::new();
    for attribute in entry.attributes {
        names.claim(
            "attribute",
            attribute.name,
            entry.origin.place,
            &mut problems,
        );
        match constant_of(attribute, &instance) {
            Ok(json) => attributes.push(attribute_of(
                attribute,
                AttributeReader::Constant(json.into()),
            )),
            Err(message) => {
                problems.push(format!(
                    "attribute `{}` of skill `{id}` cannot be read: {message}",
                    attribute.name
                ));
            }
        }
    }
    let mut tools = Vec::new();
    let mut hooks = Hooks::new();
    let mut places: HashMap<&str, (&str, Place)> = HashMap::new();
    for block in blocks {
        for attribute in block.attributes {
            names.claim("attribute", attribute.name, block.place, &mut problems);
            attributes.push(attribute_of(attribute, reader_of(attribute, &instance)));
        }
        for tool in block.tools {
            names.claim("tool", tool.name, block.place, &mut problems);
            tools.push(tool_of(tool, &instance));
        }
        for method in block.hooks {
            let marker = method.entry.marker();
            let second = (method.name, block.place);
            if let Some(first) = places.insert(marker, second) {
                problems.push(format!(
                    "skill `{id}` (type `{}`) has two methods marked `#[skill({marker})]`, `{}` in the block at {} and `{}` in the block at {}; keep one",
                    entry.origin.type_name, first.0, first.1, second.0, second.1,
                ));
            }
            hooks = hooks.method(method.entry, &instance);
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let definition = SkillDefinition {
        is_alias: id != entry.id,
        is_built_in: false,
        id,
        name: Cow::Borrowed(entry.name),
        description: Cow::Borrowed(entry.description),
        version: Cow::Borrowed(entry.version),
        tags: entry.tags.iter().copied().map(Cow::Borrowed).collect(),
        base_level: entry.base_level,
        host_only: entry.host_only,
        code_only: entry.code_only,
        model_invocable: true,
        user_invocable: true,
        argument_hint: None,
        allowed_tools: None,
        unmet: Vec::new(),
        required: entry.required,
        origin: entry.origin,
    };
    Ok(Arc::new(TypedSkill {
        definition,
        attributes,
        tools,
        hooks,
        instance,
    }))
}

struct Names<'a> {
    skill: &'a str,
    type_name: &'static str,
    seen: HashMap<(&'static str, &'static str), Place>,
}

impl Names<'_> {
    fn claim(
        &mut self,
        noun: &'static str,
        name: &'static str,
        place: Place,
        problems: &mut Vec<String>,
    ) {
        if let Some(first) = self.seen.insert((noun, name), place) {
            problems.push(format!(
                "skill `{}` (type `{}`) has two {noun}s named `{name}`, at {first} and {place}; rename one with `name = \"…\"`",
                self.skill, self.type_name,
            ));
        }
    }
}

fn constant_of(entry: &AttributeEntry, instance: &Instance) -> Result<String, String> {
    let ReadEntry::Sync(read) = entry.read else {
        return Err("a field cannot be read asynchronously".to_owned());
    };
    let mut out = Vec::new();
    let cx = AttributeContext::detached();
    match catch_unwind(AssertUnwindSafe(|| read(instance, &cx, &mut out))) {
        Ok(Ok(())) => String::from_utf8(out).map_err(|_| "its JSON is not UTF-8".to_owned()),
        Ok(Err(_)) if entry.sensitive => {
            Err("its error is not shown, because the value is sensitive".to_owned())
        }
        Ok(Err(fault)) => Err(fault.to_string()),
        Err(_) => Err("serializing it panicked".to_owned()),
    }
}

fn reader_of(entry: &AttributeEntry, instance: &Instance) -> AttributeReader {
    match entry.read {
        ReadEntry::Sync(read) => AttributeReader::Method(Arc::clone(instance), read),
        ReadEntry::Async(read) => AttributeReader::AsyncMethod(Arc::clone(instance), read),
    }
}

fn attribute_of(entry: &AttributeEntry, reader: AttributeReader) -> Attribute {
    let definition = AttributeDefinition {
        name: Cow::Borrowed(entry.name),
        description: Cow::Borrowed(entry.description),
        level: entry.level,
        expose: entry.expose,
        evaluation: if matches!(reader, AttributeReader::Constant(_)) {
            Evaluation::Constant
        } else {
            entry.evaluation
        },
        timeout: entry.timeout_ms.map(Duration::from_millis),
        cache: entry.cache,
        takes_context: entry.takes_context,
        sensitive: entry.sensitive,
        schema: entry.schema,
    };
    Attribute::from_parts(definition, reader)
}

fn tool_of(entry: &ToolEntry, instance: &Instance) -> Tool {
    let definition = ToolDefinition {
        name: Cow::Borrowed(entry.name),
        title: entry.title.map(Cow::Borrowed),
        description: Cow::Borrowed(entry.description),
        level: entry.level,
        expose: entry.expose,
        return_direct: entry.return_direct,
        timeout: entry.timeout_ms.map(Duration::from_millis),
        annotations: entry.annotations,
        requires_approval: entry.requires_approval,
        sensitive: entry
            .parameters
            .iter()
            .filter(|parameter| parameter.sensitive)
            .map(|parameter| Cow::Borrowed(parameter.name))
            .collect(),
        input_schema: InputSchema::Parameters(entry.parameters),
    };
    Tool::from_parts(
        definition,
        ToolHandler::Method(Arc::clone(instance), entry.call),
    )
}
