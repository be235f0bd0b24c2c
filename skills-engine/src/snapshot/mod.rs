//! What a model may see: the values of attributes, and the JSON of skills at a level.

mod bounds;
mod compose;
mod composer;
mod constant;
mod cut;
mod live;
mod own;
mod redactor;
mod rewrite;
mod slot;
mod words;

pub(crate) use self::compose::{Chosen, Material, OwnTools, Snapshots};
pub use self::composer::{
    AttributeSnapshot, JsonComposer, Member, Members, SkillSnapshot, SnapshotComposer, ToolSnapshot,
};
pub(crate) use self::constant::bound_constants;
pub(crate) use self::live::{Evaluator, LiveTable, LiveValues, Viewer};
pub(crate) use self::own::{HoldsValues, OwnValues};
pub(crate) use self::redactor::Redaction;
pub use self::redactor::{RedactionPlace, Redactor, TextKind};
pub use self::slot::AttributeStatus;
pub(crate) use self::words::{ToolWords, Words};
