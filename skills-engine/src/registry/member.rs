use std::ops::Range;
use std::sync::Arc;

use super::SkillIndex;
use crate::skill::{
    AttributeDefinition, AttributeReader, Expose, Level, ToolDefinition, ToolHandler,
};

/// The members of one skill: a range over all members of the registry, cut by the level they are visible from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MemberRange {
    start: u32,
    /// Ends of the members visible from METADATA, CONTEXT and COMPLETE.
    ends: [u32; 3],
    /// End of all, those that are never visible included.
    end: u32,
}

impl MemberRange {
    /// Counts members that are sorted by `shown_from`; `None` comes last.
    pub(crate) fn of(start: u32, shown_from: impl Iterator<Item = Option<Level>>) -> Self {
        let mut range = Self {
            start,
            ends: [start; 3],
            end: start,
        };
        for level in shown_from {
            range.end += 1;
            if let Some(level) = level {
                for end in &mut range.ends[level as usize..] {
                    *end += 1;
                }
            }
        }
        range
    }

    /// All members, in whatever way they are exposed.
    pub(crate) fn all(&self) -> Range<u32> {
        self.start..self.end
    }

    /// What is visible at a level.
    pub(crate) fn up_to(&self, level: Level) -> Range<u32> {
        self.start..self.ends[level as usize]
    }

    /// What the step from one level to a higher one adds.
    pub(crate) fn between(&self, from: Level, to: Level) -> Range<u32> {
        let start = self.ends[from as usize];
        start..self.ends[to as usize].max(start)
    }
}

/// The level a member is visible from when nothing caps it; `None` is never.
pub(crate) fn shown_from(expose: Expose, level: Level) -> Option<Level> {
    match expose {
        Expose::Psl => Some(level),
        Expose::Always => Some(Level::Metadata),
        Expose::Disabled => None,
    }
}

/// A tool with all that is known of it.
#[derive(Debug)]
pub(crate) struct RegisteredTool {
    pub(crate) skill: SkillIndex,
    pub(crate) name: Arc<str>,
    pub(crate) definition: ToolDefinition,
    pub(crate) handler: ToolHandler,
    /// JSON Schema of the arguments, as text.
    pub(crate) input_schema: Arc<str>,
}

/// An attribute with all that is known of it.
#[derive(Debug)]
pub(crate) struct RegisteredAttribute {
    pub(crate) skill: SkillIndex,
    pub(crate) name: Arc<str>,
    pub(crate) definition: AttributeDefinition,
    pub(crate) reader: AttributeReader,
    /// JSON Schema of the value, as text.
    pub(crate) schema: Arc<str>,
}
