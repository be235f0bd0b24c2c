use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::definition::{Listed, write_definition};
use super::export::ExportOptions;
use super::wire::name_on_wire;
use crate::registry::{Registry, ToolIndex};
use crate::snapshot::{ToolWords, Words};

/// The wire form of a tool list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// `tools` of `OpenAI`'s chat completions, and of what is compatible with it.
    OpenAiChat,
    /// `tools` of `OpenAI`'s responses.
    OpenAiResponses,
    /// `tools` of Anthropic's messages.
    Anthropic,
    /// `tools` of Gemini's content generation.
    Gemini,
    /// `tools` of MCP's `tools/list`.
    Mcp,
}

impl Dialect {
    pub(crate) const COUNT: usize = 5;

    const fn frame(self) -> (&'static str, &'static str) {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses | Self::Anthropic | Self::Mcp => ("[", "]"),
            Self::Gemini => ("[{\"functionDeclarations\":[", "]}]"),
        }
    }
}

/// Every tool of a registry as it stands on the wire.
#[derive(Debug)]
pub(crate) struct Catalogue {
    names: Vec<Arc<str>>,
    by_name: HashMap<Arc<str>, ToolIndex>,
    export: ExportOptions,
    definitions: [OnceLock<Definitions>; Dialect::COUNT],
}

/// All definitions in one dialect, each followed by a comma, so that a run of tools is one copy.
#[derive(Debug)]
struct Definitions {
    text: String,
    ends: Vec<usize>,
}

impl Catalogue {
    /// Names every tool; the error lists the pairs that would have one name.
    pub(crate) fn new(registry: &Registry, export: ExportOptions) -> Result<Self, Vec<String>> {
        let mut names = Vec::with_capacity(registry.tools.len());
        let mut by_name: HashMap<Arc<str>, ToolIndex> =
            HashMap::with_capacity(registry.tools.len());
        let mut problems = Vec::new();
        for (index, tool) in (0..).zip(&registry.tools) {
            let definition = registry.skill(tool.skill).definition();
            let skill = &definition.id;
            let name: Arc<str> = name_on_wire(definition, &tool.name).into();
            if let Some(other) = by_name.insert(Arc::clone(&name), index) {
                let other = registry.tool(other);
                problems.push(format!(
                    "tool `{}` of skill `{}` and tool `{}` of skill `{skill}` would both be called `{name}`; rename one",
                    other.name,
                    registry.skill(other.skill).id,
                    tool.name,
                ));
            }
            names.push(name);
        }
        if problems.is_empty() {
            Ok(Self {
                names,
                by_name,
                export,
                definitions: Default::default(),
            })
        } else {
            Err(problems)
        }
    }

    pub(crate) fn name(&self, tool: ToolIndex) -> &Arc<str> {
        &self.names[tool as usize]
    }

    /// The wire names of all tools.
    pub(crate) fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    pub(crate) fn find(&self, name: &str) -> Option<ToolIndex> {
        self.by_name.get(name).copied()
    }

    /// The list of the tools in `runs`, in that order, as JSON text; `own` is one that is shown in another way. Where a
    /// redactor sees the texts, it sees those alone.
    pub(crate) fn list(
        &self,
        registry: &Registry,
        words: &Words,
        dialect: Dialect,
        runs: &[Range<ToolIndex>],
        own: Option<(ToolIndex, ToolWords<'_>)>,
    ) -> String {
        if words.redaction().is_some() {
            let tools = runs.iter().cloned().flatten();
            let Definitions { text, .. } = self.define(registry, words, dialect, tools, own);
            return framed(dialect, std::iter::once(&*text));
        }
        let definitions = self.definitions[dialect as usize].get_or_init(|| {
            let all = 0..u32::try_from(registry.tools.len()).unwrap_or(u32::MAX);
            self.define(registry, words, dialect, all, None)
        });
        let shared = |run: &Range<ToolIndex>| &definitions.text[definitions.place(run)];
        let Some((tool, _)) = own else {
            return framed(dialect, runs.iter().map(shared));
        };
        let defined = self.define(registry, words, dialect, std::iter::once(tool), own);
        let mut parts = Vec::with_capacity(runs.len() + 2);
        for run in runs {
            if run.contains(&tool) {
                parts.push(shared(&(run.start..tool)));
                parts.push(&*defined.text);
                parts.push(shared(&(tool + 1..run.end)));
            } else {
                parts.push(shared(run));
            }
        }
        framed(dialect, parts.into_iter())
    }

    /// A list with more tools at its end.
    pub(crate) fn append<'a>(
        &self,
        list: &str,
        dialect: Dialect,
        tools: impl Iterator<Item = Listed<'a>>,
    ) -> String {
        let mut text = Vec::new();
        for listed in tools {
            if !text.is_empty() {
                text.push(b',');
            }
            write_definition(listed, dialect, self.export, &mut text);
        }
        if text.is_empty() {
            return list.to_owned();
        }
        let (open, close) = dialect.frame();
        let text = String::from_utf8(text).unwrap_or_default();
        match list.strip_suffix(close).filter(|_| list != "[]") {
            Some(before) => [before, ",", &text, close].concat(),
            None => [open, &text, close].concat(),
        }
    }

    fn define(
        &self,
        registry: &Registry,
        words: &Words,
        dialect: Dialect,
        tools: impl Iterator<Item = ToolIndex>,
        own: Option<(ToolIndex, ToolWords<'_>)>,
    ) -> Definitions {
        let mut text = Vec::new();
        let mut ends = Vec::with_capacity(tools.size_hint().0);
        for index in tools {
            let listed = Listed {
                skill: &registry.skill(registry.tool(index).skill).id,
                name: &self.names[index as usize],
                tool: match own {
                    Some((tool, own)) if tool == index => own,
                    _ => words.tool(registry, index),
                },
            };
            write_definition(listed, dialect, self.export, &mut text);
            text.push(b',');
            ends.push(text.len());
        }
        // serde_json writes UTF-8 and nothing else.
        Definitions {
            text: String::from_utf8(text).unwrap_or_default(),
            ends,
        }
    }
}

/// A list of definitions, each of which ends in a comma.
fn framed<'a>(dialect: Dialect, parts: impl Iterator<Item = &'a str> + Clone) -> String {
    let (open, close) = dialect.frame();
    let length: usize = parts.clone().map(str::len).sum();
    if length == 0 {
        // Gemini refuses declarations that declare nothing.
        return "[]".to_owned();
    }
    let mut list = String::with_capacity(open.len() + length + close.len());
    list.push_str(open);
    for part in parts {
        list.push_str(part);
    }
    list.pop();
    list.push_str(close);
    list
}

impl Definitions {
    /// Where the definitions of a run stand in the text.
    fn place(&self, run: &Range<ToolIndex>) -> Range<usize> {
        let end_before = |index: u32| {
            index
                .checked_sub(1)
                .map_or(0, |before| self.ends[before as usize])
        };
        end_before(run.start)..end_before(run.end.max(run.start))
    }
}
