use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::prompt::{Profile, ProfileParameter, ProfileTool};
use crate::skill::{
    Attribute, Code, Fault, Level, Skill, SkillDefinition, Tool, ToolContext, ToolOutput, nearest,
    shown,
};

/// Unknown arguments that are told.
const MOST_TOLD: usize = 8;

/// The id of the skill that holds the tools of the engine's own for what skills hold.
pub(crate) const LOADER: &str = "skill-loader";

/// Holds the tools that load skills and read their files. It is no skill to tell of: its tools go by the names that a
/// profile gives them, and are offered where there is something for them.
struct Loader {
    definition: SkillDefinition,
    tools: Vec<Tool>,
}

impl Skill for Loader {
    fn definition(&self) -> &SkillDefinition {
        &self.definition
    }

    fn attributes(&self) -> &[Attribute] {
        &[]
    }

    fn tools(&self) -> &[Tool] {
        &self.tools
    }
}

/// The loader, with the names of a profile.
///
/// # Errors
///
/// Says when names of the profile do not go together.
pub(crate) fn loader(profile: &Profile) -> Result<Arc<dyn Skill>, Fault> {
    let mut definition = SkillDefinition::new(LOADER);
    definition.version = env!("CARGO_PKG_VERSION").into();
    definition.is_built_in = true;
    let tools = vec![load(profile)?, list(profile)?, read(profile)?];
    Ok(Arc::new(Loader { definition, tools }))
}

/// The name of a parameter; those that a profile leaves out have an empty one.
fn parameter(profile: &Profile, parameter: ProfileParameter) -> String {
    profile.parameter(parameter).unwrap_or_default().to_owned()
}

fn load(profile: &Profile) -> Result<Tool, Fault> {
    let skill = parameter(profile, ProfileParameter::LoadSkill);
    let arguments = parameter(profile, ProfileParameter::LoadArguments);
    let mut properties = Map::new();
    let described = json!({ "type": "string", "description": "Name of the skill." });
    properties.insert(skill.clone(), described);
    if !arguments.is_empty() {
        let described = json!({
            "type": "string",
            "description": "What the skill is to work on, where it takes arguments.",
        });
        properties.insert(arguments.clone(), described);
    }
    let description = "Loads a skill: answers its instructions and the list of its files, and opens it. Load one when it \
                       fits the task, before you act.";
    let required = [skill.clone()];
    let call = move |given: Value, cx: ToolContext| {
        let known = [&*skill, &*arguments];
        let mut given = Given::new(given, &known);
        let taken = (given.required_text(&skill), given.text(&arguments));
        let taken = given.finish(taken);
        async move {
            let (skill, arguments) = taken?;
            let access = cx.access();
            let loaded = access.load(&cx, &skill, arguments.as_deref().unwrap_or_default());
            loaded.await.map(ToolOutput::text)
        }
    };
    let name = profile.tool(ProfileTool::Load).to_owned();
    let tool = Tool::from_json(name, description, &schema(&properties, &required), call)?;
    Ok(tool.level(Level::Metadata))
}

fn list(profile: &Profile) -> Result<Tool, Fault> {
    let mut properties = Map::new();
    properties.insert(
        "offset".to_owned(),
        json!({
            "type": "integer",
            "minimum": 0,
            "description": "How many skills to pass over; 0 when left out.",
        }),
    );
    let call = move |given: Value, cx: ToolContext| {
        let mut given = Given::new(given, &["offset"]);
        let offset = given.number("offset", 0);
        let offset = given.finish(offset);
        async move { cx.access().list(offset?.unwrap_or(0)).map(ToolOutput::text) }
    };
    let name = profile.tool(ProfileTool::List).to_owned();
    let description = "Lists skills by name, with what they are for.";
    let tool = Tool::from_json(name, description, &schema(&properties, &[]), call)?;
    Ok(tool.level(Level::Metadata).read_only())
}

fn read(profile: &Profile) -> Result<Tool, Fault> {
    let skill = parameter(profile, ProfileParameter::ResourceSkill);
    let path = parameter(profile, ProfileParameter::ResourcePath);
    let mut properties = Map::new();
    for (name, kind, description) in [
        (
            &*skill,
            "string",
            "Name of the skill, which must be loaded.",
        ),
        (&*path, "string", "Path of the file, as the skill lists it."),
        (
            "offset",
            "integer",
            "The byte to begin at; 0 when left out.",
        ),
        (
            "limit",
            "integer",
            "How many bytes at most, and at least one character; as many as fit when left out.",
        ),
    ] {
        let mut described = json!({ "type": kind, "description": description });
        if kind == "integer" {
            described["minimum"] = i32::from(name == "limit").into();
        }
        properties.insert(name.to_owned(), described);
    }
    let required = [skill.clone(), path.clone()];
    let call = move |given: Value, cx: ToolContext| {
        let known = [&*skill, &*path, "offset", "limit"];
        let mut given = Given::new(given, &known);
        let taken = (
            given.required_text(&skill),
            given.required_text(&path),
            given.number("offset", 0).unwrap_or(0),
            given.number("limit", 1),
        );
        let taken = given.finish(taken);
        async move {
            let (skill, path, offset, limit) = taken?;
            cx.access().read(&skill, &path, offset, limit).await
        }
    };
    let name = profile.tool(ProfileTool::ReadResource).to_owned();
    let description = "Reads a file of a loaded skill. A long file is read in parts.";
    let tool = Tool::from_json(name, description, &schema(&properties, &required), call)?;
    Ok(tool.level(Level::Context).read_only())
}

fn schema(properties: &Map<String, Value>, required: &[String]) -> String {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
    .to_string()
}

/// Arguments that are taken apart; all that is wrong with them is told at once.
struct Given<'a> {
    values: Map<String, Value>,
    known: &'a [&'a str],
    problems: Vec<String>,
}

impl<'a> Given<'a> {
    /// Arguments of which there may be none but those known. A parameter without a name is not there.
    fn new(given: Value, known: &'a [&'a str]) -> Self {
        let (values, mut problems) = match given {
            Value::Object(values) => (values, Vec::new()),
            _ => (
                Map::new(),
                vec!["the arguments must be one JSON object".to_owned()],
            ),
        };
        let is_unknown = |name: &&String| name.is_empty() || !known.contains(&name.as_str());
        for name in values.keys().filter(is_unknown).take(MOST_TOLD) {
            let near = nearest(name, known.iter().copied().filter(|name| !name.is_empty()));
            let near = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
            let made_up = shown(name, 64);
            problems.push(format!("`{made_up}` is not a parameter{near}"));
        }
        Self {
            values,
            known,
            problems,
        }
    }

    fn required_text(&mut self, name: &str) -> String {
        if matches!(self.values.get(name), None | Some(Value::Null)) {
            self.problems.push(format!("`{name}` is missing"));
        }
        self.text(name).unwrap_or_default()
    }

    fn text(&mut self, name: &str) -> Option<String> {
        match self.values.remove(name)? {
            Value::Null => None,
            Value::String(text) => Some(text),
            _ => {
                self.problems.push(format!("`{name}` must be a string"));
                None
            }
        }
    }

    /// A whole number of at least so many.
    fn number(&mut self, name: &str, least: u64) -> Option<u64> {
        match self.values.remove(name)? {
            Value::Null => None,
            value => {
                let number = value.as_u64().filter(|number| *number >= least);
                if number.is_none() {
                    let problem = format!("`{name}` must be a whole number from {least} on");
                    self.problems.push(problem);
                }
                number
            }
        }
    }

    /// What was taken, unless something was wrong.
    fn finish<T>(self, taken: T) -> Result<T, Fault> {
        if self.problems.is_empty() {
            return Ok(taken);
        }
        let known = self.known.iter().filter(|name| !name.is_empty());
        let known: Vec<_> = known.map(|name| format!("`{name}`")).collect();
        Err(Fault::new(
            Code::InvalidArguments,
            format!(
                "{}. There are the parameters {}; correct the arguments and call again",
                self.problems.join("; "),
                known.join(", ")
            ),
        ))
    }
}
