use std::collections::BTreeMap;

use super::granted::names_something;
use crate::registry::Registry;
use crate::session::Roles;
use crate::source::{Diagnostic, FailedSkill, ShadowedSkill};

/// Where the skills of an engine came from, and what did not become one.
///
/// A linked crate is trusted code; a crate that arrived and that nobody named is worth a look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildReport {
    /// The crates, by name.
    pub crates: Vec<LinkedCrate>,
    /// Patterns of roles that name nothing there is, each after its role.
    pub unmatched_patterns: Vec<String>,
    /// What sources could not give.
    pub failed: Vec<FailedSkill>,
    /// Skills of sources left out because another one has their id and goes first.
    pub shadowed: Vec<ShadowedSkill>,
    /// Whatever else sources had to tell, and the reasons of the former in full.
    pub diagnostics: Vec<Diagnostic>,
}

/// A crate that brought skills.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkedCrate {
    /// The package's name.
    pub name: String,
    /// The package's version.
    pub version: String,
    /// The ids of its skills.
    pub skills: Vec<String>,
    /// Whether the builder named it, in `expect_crate` or `Linked::Only`.
    pub was_named: bool,
}

impl BuildReport {
    pub(super) fn new(
        registry: &Registry,
        roles: &Roles,
        was_named: impl Fn(&str) -> bool,
    ) -> Self {
        let mut crates: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
        for skill in registry.list() {
            let definition = skill.definition();
            let origin = definition.origin;
            // The engine's own skill is no news, and what was made at run time was handed over by the host.
            if !origin.crate_name.is_empty() && origin.crate_name != env!("CARGO_PKG_NAME") {
                let of_crate = crates
                    .entry((origin.crate_name, origin.crate_version))
                    .or_default();
                of_crate.push(definition.id.clone().into_owned());
            }
        }
        let linked = |((name, version), skills): ((&str, &str), Vec<String>)| LinkedCrate {
            name: name.to_owned(),
            version: version.to_owned(),
            skills,
            was_named: was_named(name),
        };
        Self {
            crates: crates.into_iter().map(linked).collect(),
            failed: Vec::new(),
            shadowed: Vec::new(),
            diagnostics: Vec::new(),
            unmatched_patterns: roles
                .patterns()
                .filter(|(_, pattern)| !names_something(registry, pattern))
                .map(|(role, pattern)| format!("role `{role}`: `{pattern}`"))
                .collect(),
        }
    }

    /// The crates that arrived without being named.
    pub fn unnamed(&self) -> impl Iterator<Item = &LinkedCrate> {
        self.crates.iter().filter(|linked| !linked.was_named)
    }
}
