use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::draft::Target;
#[cfg(feature = "folders")]
use super::key::folder_keys;
use super::key::keys;
use super::tree::{Table, Tree};
use super::{SettingOrigin, Settings};
use crate::skill::Level;

/// Characters of a key or value that later columns are moved for.
const WIDEST: usize = 40;

/// All settings, with what they are and where that comes from. Printed as a table; secrets are not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingsReport {
    /// The settings, by key.
    pub rows: Vec<SettingRow>,
}

/// A setting, what it is, and where that comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingRow {
    /// The key, dotted.
    pub key: String,
    /// The value as text; `***` for a secret that is set.
    pub value: String,
    /// Where the value comes from.
    pub from: SettingOrigin,
}

impl SettingsReport {
    /// The row of a key.
    #[must_use]
    pub fn row(&self, key: &str) -> Option<&SettingRow> {
        self.rows.iter().find(|row| row.key == key)
    }

    /// Says what the builder was given where settings have no form for it.
    pub(in crate::engine) fn put(&mut self, key: &str, value: &str) {
        for row in self.rows.iter_mut().filter(|row| row.key == key) {
            value.clone_into(&mut row.value);
            row.from = SettingOrigin::Builder;
        }
    }
}

/// A line for each setting, in columns.
impl fmt::Display for SettingsReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |text: &str| text.chars().count();
        let column = |text: fn(&SettingRow) -> &str| {
            let widths = self.rows.iter().map(|row| width(text(row)));
            widths.filter(|width| *width <= WIDEST).max().unwrap_or(0)
        };
        let keys = column(|row| &row.key);
        let values = column(|row| &row.value);
        for (index, SettingRow { key, value, from }) in self.rows.iter().enumerate() {
            if index > 0 {
                formatter.write_str("\n")?;
            }
            write!(formatter, "{key:keys$}  {value:values$}  {from}")?;
        }
        Ok(())
    }
}

impl Settings {
    /// What the settings are, and where each value comes from.
    #[must_use]
    pub fn report(&self) -> SettingsReport {
        self.report_with(&BTreeSet::new())
    }

    /// As [`report`](Self::report); some keys were set by the builder, whatever the settings were before.
    pub(in crate::engine) fn report_with(&self, by_builder: &BTreeSet<String>) -> SettingsReport {
        let loaded = self.loaded.as_deref();
        let before = loaded.map_or_else(
            || Self::default().values(),
            |loaded| loaded.settings.values(),
        );
        let from = |key: &str, value: &Tree| {
            if by_builder.contains(key) || before.get(key).is_some_and(|before| before != value) {
                return SettingOrigin::Builder;
            }
            match loaded.and_then(|loaded| loaded.origins.get(key)) {
                Some(origin) => origin.clone(),
                None if before.contains_key(key) => SettingOrigin::Default,
                None => SettingOrigin::Builder,
            }
        };
        let row = |(key, value): (String, Tree)| SettingRow {
            from: from(&key, &value),
            value: value.to_string(),
            key,
        };
        SettingsReport {
            rows: self.values().into_iter().map(row).collect(),
        }
    }

    /// Every value by its key.
    fn values(&self) -> BTreeMap<String, Tree> {
        // Keys know the way to a value that can be set, and so to one that can be read.
        let mut copy = self.clone();
        let mut values: BTreeMap<_, _> = keys()
            .map(|key| (key.name.to_owned(), key.get(&mut copy)))
            .collect();
        #[cfg(feature = "folders")]
        for (name, folders) in std::mem::take(&mut copy.named_folders) {
            copy.folders = folders;
            for key in folder_keys() {
                let target = Target::Folders(name.clone(), key);
                values.insert(target.name(), key.get(&mut copy));
            }
        }
        for (role, settings) in copy.roles {
            values.insert(Target::Role(role).name(), levels(settings.allow));
        }
        for (id, settings) in copy.skills {
            let value = Tree::Switch(settings.enabled);
            values.insert(Target::Skill(id).name(), value);
        }
        values
    }
}

pub(super) fn levels(allow: BTreeMap<String, Level>) -> Tree {
    let node = |(pattern, level): (String, Level)| (pattern, Tree::text(level.as_str()).into());
    Tree::Table(allow.into_iter().map(node).collect::<Table>())
}
