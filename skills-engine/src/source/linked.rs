use std::any::TypeId;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::SkillSource;
#[cfg(feature = "folders")]
use super::folder::{EmbeddedRoot, EmbeddedSkills, embedded_ids};
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

/// The packages that the linker brought skills of.
pub(crate) fn linked_packages() -> BTreeSet<&'static str> {
    let origins = inventory::iter::<SkillEntry>().map(|entry| entry.origin);
    #[cfg(feature = "folders")]
    let origins = origins.chain(roots().into_iter().map(|root| root.origin));
    origins.map(|origin| origin.crate_name).collect()
}

/// Sources of the folders that the linker brought of the packages taken.
pub(crate) fn linked_sources(takes: impl Fn(&str) -> bool) -> Vec<Arc<dyn SkillSource>> {
    #[cfg(feature = "folders")]
    {
        let chosen = roots()
            .into_iter()
            .filter(|root| takes(root.origin.crate_name));
        chosen
            .map(|root| Arc::new(EmbeddedSkills::new(root)) as _)
            .collect()
    }
    #[cfg(not(feature = "folders"))]
    {
        let _ = takes;
        Vec::new()
    }
}

/// The ids of the skills in folders that the linker brought of the packages taken, which are read for it.
pub(crate) fn linked_folder_ids(takes: impl Fn(&str) -> bool) -> Vec<String> {
    #[cfg(feature = "folders")]
    {
        let chosen = roots()
            .into_iter()
            .filter(|root| takes(root.origin.crate_name));
        chosen.flat_map(embedded_ids).collect()
    }
    #[cfg(not(feature = "folders"))]
    {
        let _ = takes;
        Vec::new()
    }
}

/// The folders that the linker brought, in an order of their own.
#[cfg(feature = "folders")]
fn roots() -> Vec<&'static EmbeddedRoot> {
    let mut roots: Vec<_> = inventory::iter::<EmbeddedRoot>().collect();
    roots.sort_by_key(|root| (root.origin.crate_name, root.path, root.origin.place));
    roots
}
