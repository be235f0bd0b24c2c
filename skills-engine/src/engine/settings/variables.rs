use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use super::SettingOrigin;
use super::draft::{Draft, Target, nearest_key, needs_feature};
use super::file::value;
use super::key::{Key, Slot, find, keys, missing_feature};
use super::tree::{Node, Table, Tree};
use crate::skill::{nearest, shown};

const PREFIX: &str = "SKILLS_ENGINE_";
/// Stands for the dot of a key.
const DOT: &str = "__";

/// Whether a variable is a setting, a mistyped one included.
pub(super) fn is_ours(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(PREFIX.as_bytes())
}

/// Reads variables into a draft, in the order of their names.
pub(super) fn read_into(draft: &mut Draft, mut variables: Vec<(OsString, OsString)>) {
    variables.sort();
    // Which variable set a key.
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for (name, text) in variables {
        let shown_name = shown(&name.to_string_lossy(), 240);
        let origin = SettingOrigin::Variable(shown_name.clone());
        let Some(name) = name.to_str() else {
            let message = "the name is not UTF-8; write it in ASCII".to_owned();
            draft.problem(None, Some(origin), message);
            continue;
        };
        let found = target(draft, name);
        let Some((target, part)) = found else {
            let key = dotted(name);
            let message = match missing_feature(&key) {
                Some(feature) => needs_feature(&key, feature),
                None => format!("there is no such setting; {}", advice(name)),
            };
            draft.problem(Some(key), Some(origin), message);
            continue;
        };
        let key = target.name();
        if let Some(other) = seen.insert(key.clone(), shown_name) {
            let key = target.brief_name();
            let message = format!("`{key}` is set by `{other}` too; keep one of them");
            draft.problem(Some(key), Some(origin), message);
            continue;
        }
        let tree = match text.to_str() {
            None => Err("the value is not UTF-8; write it in that encoding".to_owned()),
            Some("") => Err("the value is empty; give one, or remove the variable".to_owned()),
            Some(text) => tree(&target, part, text),
        };
        match tree {
            Ok(tree) => draft.set(&target, tree.into(), &|_| Some(origin.clone())),
            Err(message) => draft.problem(Some(target.brief_name()), Some(origin), message),
        }
    }
}

/// The part of a key that a variable sets.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Whole,
    /// The roles of `psl_control`.
    Roles,
}

/// The setting that a variable names.
fn target(draft: &Draft, name: &str) -> Option<(Target, Part)> {
    let path = path(name);
    match &*path.split(DOT).collect::<Vec<_>>() {
        ["psl_control", "roles"] => Some((Target::Key(find("psl_control")?), Part::Roles)),
        ["skills", id @ .., "enabled"] if !id.is_empty() => {
            let id = id.join(DOT);
            let known = known(draft.settings.skills.keys(), &id);
            // Ids have no `_`.
            let id = known.unwrap_or_else(|| id.replace('_', "-"));
            Some((Target::Skill(id), Part::Whole))
        }
        ["roles", role @ .., "allow"] if !role.is_empty() => {
            let role = role.join(DOT);
            let known = known(draft.settings.roles.keys(), &role);
            Some((Target::Role(known.unwrap_or(role)), Part::Whole))
        }
        #[cfg(feature = "folders")]
        ["folders", source @ .., leaf] if !source.is_empty() => {
            let key = find(&format!("folders.{leaf}"))?;
            let source = source.join(DOT);
            let known = known(draft.settings.named_folders.keys(), &source);
            let source = known.unwrap_or(source);
            Some((Target::Folders(source, key), Part::Whole))
        }
        parts => Some((Target::Key(find(&parts.join("."))?), Part::Whole)),
    }
}

/// The one name among those of a file that a variable can only mean, since it has no other letters.
fn known<'a>(names: impl Iterator<Item = &'a String>, part: &str) -> Option<String> {
    let mut fitting = names.filter(|name| in_variable(name).eq_ignore_ascii_case(part));
    match (fitting.next(), fitting.next()) {
        (Some(name), None) => Some(name.clone()),
        _ => None,
    }
}

/// A name with the letters that variables have.
fn in_variable(name: &str) -> String {
    let letter = |letter: char| match letter {
        letter if letter.is_ascii_alphanumeric() => letter.to_ascii_uppercase(),
        _ => '_',
    };
    name.chars().map(letter).collect()
}

fn path(name: &str) -> String {
    name.strip_prefix(PREFIX)
        .unwrap_or(name)
        .to_ascii_lowercase()
}

fn dotted(name: &str) -> String {
    shown(&path(name).replace(DOT, "."), 240)
}

/// What to write instead of a name that is no setting.
fn advice(name: &str) -> String {
    let path = path(name);
    let parts: Vec<_> = path.split(DOT).collect();
    let named = match &*parts {
        [_, id @ .., _] if !id.is_empty() => Some(id.join(DOT)),
        [_, id] if *id != "enabled" => Some((*id).to_owned()),
        _ => None,
    };
    let named: Vec<_> = named
        .into_iter()
        .flat_map(|id| {
            let of_folders = keys().filter_map(|key| key.name.strip_prefix("folders."));
            let of_folders: Vec<_> = of_folders
                .map(|leaf| format!("folders{DOT}{id}{DOT}{leaf}"))
                .collect();
            let of_others = [
                format!("skills{DOT}{id}{DOT}enabled"),
                format!("roles{DOT}{id}{DOT}allow"),
            ];
            of_others.into_iter().chain(of_folders)
        })
        .collect();
    let near = nearest(&path, named.iter().map(String::as_str))
        .map(str::to_owned)
        .or_else(|| nearest_key(&parts.join(".")).filter(|key| find(key).is_some()));
    near.map_or_else(
        || {
            format!(
                "remove it, or check its name: `{DOT}` stands for a dot, as in `{PREFIX}SKILLS__SOME_ID__ENABLED`"
            )
        },
        |near| format!("write `{}`, or remove it", shown(&variable(&near), 240)),
    )
}

/// The variable of a dotted key.
fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', DOT).to_ascii_uppercase())
}

/// A variable's text as the value of a setting.
fn tree(target: &Target, part: Part, text: &str) -> Result<Tree, String> {
    if part == Part::Roles {
        let roles = names(text)?;
        return Ok(Tree::Table(Table::from([(
            "roles".to_owned(),
            roles.into(),
        )])));
    }
    let slot = match target {
        Target::Key(Key { slot, .. }) => slot,
        #[cfg(feature = "folders")]
        Target::Folders(_, Key { slot, .. }) => slot,
        Target::Role(_) => return written(text),
        Target::Skill(_) => return Ok(switch(text)),
    };
    match slot {
        Slot::Switch(_) => Ok(switch(text)),
        Slot::Count(_) => Ok(text
            .parse()
            .map_or_else(|_| Tree::text(text), Tree::Integer)),
        Slot::Crates(_) if matches!(text, "all" | "none") => Ok(Tree::text(text)),
        Slot::Crates(_) => names(text),
        Slot::Control(_) if text.starts_with('{') => written(text),
        Slot::Time(_)
        | Slot::Secret(_)
        | Slot::Control(_)
        | Slot::Profile(_)
        | Slot::Delivery(_)
        | Slot::Binary(_)
        | Slot::Tools(_) => Ok(Tree::text(text)),
        #[cfg(feature = "folders")]
        Slot::Scopes(_) | Slot::Path(_) => Ok(Tree::text(text)),
        #[cfg(feature = "folders")]
        Slot::Paths(_) => names(text),
    }
}

fn switch(text: &str) -> Tree {
    match text {
        "true" => Tree::Switch(true),
        "false" => Tree::Switch(false),
        other => Tree::text(other),
    }
}

/// Names between commas, or a list as in TOML.
fn names(text: &str) -> Result<Tree, String> {
    if text.starts_with('[') {
        return written(text);
    }
    let name = |name: &str| Node::from(Tree::text(name.trim()));
    Ok(Tree::List(text.split(',').map(name).collect()))
}

fn written(text: &str) -> Result<Tree, String> {
    value(text)
        .map_err(|message| format!("the value is not TOML: {message}; write it as in a file"))
}
