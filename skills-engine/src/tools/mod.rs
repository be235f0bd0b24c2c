//! What the model may do: names and definitions on the wire, and how a call is carried out.

mod catalogue;
mod definition;
mod dispatch;
mod export;
mod loader;
mod psl_skill;
mod wire;

pub(crate) use self::catalogue::Catalogue;
pub use self::catalogue::Dialect;
pub(crate) use self::definition::Listed;
pub(crate) use self::dispatch::{Dispatch, dispatch};
pub use self::export::{ExportOptions, OWNER_KEY};
pub(crate) use self::loader::{LOADER, loader};
pub(crate) use self::psl_skill::PslSkill;
pub(crate) use self::wire::name_on_wire;
pub use self::wire::wire_name;
