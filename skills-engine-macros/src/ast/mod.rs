//! The second stage: what the user annotated, as data.

mod block;
mod embed_reader;
mod embedded;
mod method;
mod parameter;
mod skill;

pub(crate) use self::block::{Block, Member, MemberOptions};
pub(crate) use self::embedded::{Bounds, EmbeddedFolder, EmbeddedRoot};
pub(crate) use self::method::{Method, Receiver};
pub(crate) use self::parameter::{Parameter, ParameterKind};
pub(crate) use self::skill::{FieldAttribute, SkillStruct};
