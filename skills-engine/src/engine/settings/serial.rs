use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};

use super::Settings;
use super::draft::Draft;
use super::key::{Slot, keys};
use super::report::levels;
use super::tree::{Node, Table, Tree};

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
        let mut copy = self.clone();
        let mut root = Table::new();
        for key in keys().filter(|key| !matches!(key.slot, Slot::Secret(_))) {
            let value = key.get(&mut copy);
            match key.name.split_once('.') {
                Some((section, name)) => put(&mut root, &[section, name], value),
                None => put(&mut root, &[key.name], value),
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
