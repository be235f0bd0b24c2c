use serde::de::{Deserialize, Deserializer, Error as _};
#[cfg(feature = "folders")]
use serde::ser::Error as _;
use serde::ser::{Serialize, Serializer};

#[cfg(feature = "folders")]
use super::FolderSettings;
use super::Settings;
use super::draft::Draft;
#[cfg(feature = "folders")]
use super::draft::no_folder_name;
use super::key::{Slot, keys};
#[cfg(feature = "folders")]
use super::key::{folder_keys, is_folder_name};
use super::report::levels;
use super::tree::{Node, Table, Tree};
#[cfg(feature = "folders")]
use crate::skill::shown;

/// By hand, so that all problems are told at once, and a wrong key with the one that was meant.
impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut draft = Draft::default();
        match Tree::deserialize(deserializer)? {
            Tree::Table(root) => draft.add(root, &|_| None),
            other => {
                let message = format!("settings cannot be {}; write a table", other.kind());
                return Err(D::Error::custom(message));
            }
        }
        draft.finish().map_err(D::Error::custom)
    }
}

/// Without secrets.
impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[cfg(feature = "folders")]
        if let Some(name) = self.named_folders.keys().find(|name| !is_folder_name(name)) {
            return Err(S::Error::custom(no_folder_name(name)));
        }
        #[cfg(feature = "folders")]
        if let Some(path) = self.all_folders().find_map(FolderSettings::unwritable) {
            let path = shown(&path.to_string_lossy(), 240);
            let message = format!("the path `{path}` is not UTF-8; rename the folder");
            return Err(S::Error::custom(message));
        }
        let mut copy = self.clone();
        let mut root = Table::new();
        for key in keys().filter(|key| !matches!(key.slot, Slot::Secret(_))) {
            let value = key.get(&mut copy);
            match key.name.split_once('.') {
                Some((section, name)) => put(&mut root, &[section, name], value),
                None => put(&mut root, &[key.name], value),
            }
        }
        #[cfg(feature = "folders")]
        for (name, folders) in std::mem::take(&mut copy.named_folders) {
            copy.folders = folders;
            for key in folder_keys() {
                if let Some((section, leaf)) = key.name.split_once('.') {
                    put(&mut root, &[section, &name, leaf], key.get(&mut copy));
                }
            }
        }
        for (role, settings) in copy.roles {
            put(
                &mut root,
                &["roles", &role, "allow"],
                levels(settings.allow),
            );
        }
        for (id, settings) in copy.skills {
            let value = Tree::Switch(settings.enabled);
            put(&mut root, &["skills", &id, "enabled"], value);
        }
        Node::from(Tree::Table(root)).serialize(serializer)
    }
}

/// Puts a value into a table of tables.
fn put(table: &mut Table, path: &[&str], value: Tree) {
    match path {
        [] => {}
        [name] => drop(table.insert((*name).to_owned(), value.into())),
        [name, rest @ ..] => {
            let inner = table
                .entry((*name).to_owned())
                .or_insert_with(|| Tree::Table(Table::new()).into());
            if let Tree::Table(inner) = &mut inner.tree {
                put(inner, rest, value);
            }
        }
    }
}
