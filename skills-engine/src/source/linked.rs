use std::any::TypeId;
use std::collections::HashMap;

use crate::skill::{BlockEntry, SkillEntry};

/// Which linked skills an engine takes.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum Linked {
    /// All of them.
    #[default]
    All,
    /// Those defined in these packages, by the names in their manifests.
    Only(&'static [&'static str]),
    /// None.
    None,
}

/// The annotated structs that the linker brought of the packages taken, in the order of their ids.
pub(crate) fn linked_entries(takes: impl Fn(&str) -> bool) -> Vec<&'static SkillEntry> {
    let mut entries: Vec<_> = inventory::iter::<SkillEntry>()
        .filter(|entry| takes(entry.origin.crate_name))
        .collect();
    entries.sort_by_key(|entry| (entry.id, entry.origin.place));
    entries
}

/// The annotated impl blocks of every type, sorted by place: the linker gives them in any order.
pub(crate) fn blocks_by_type() -> HashMap<TypeId, Vec<&'static BlockEntry>> {
    let mut blocks: HashMap<TypeId, Vec<&'static BlockEntry>> = HashMap::new();
    for block in inventory::iter::<BlockEntry>() {
        blocks.entry((block.type_id)()).or_default().push(block);
    }
    for of_type in blocks.values_mut() {
        of_type.sort_by_key(|block| block.place);
    }
    blocks
}
