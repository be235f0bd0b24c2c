use std::path::Path;
#[cfg(feature = "folders")]
use std::path::PathBuf;
use std::time::Duration;

use super::choice::{Choice, chosen};
#[cfg(feature = "folders")]
use super::folders::resolved;
use super::tree::{Node, Table, Tree};
use super::{LinkedSetting, ProfileSetting, SecretText, Settings, duration};
use crate::audit::AuditKey;
use crate::engine::{AllowedToolsMode, BinaryFiles, BodyDelivery};
use crate::session::PslControl;
use crate::skill::Limits;
#[cfg(feature = "folders")]
use crate::source::ScopePrecedence;

/// A setting that is there under one name.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) slot: Slot,
}

/// The type of a setting, and the way to its value.
pub(super) enum Slot {
    Switch(fn(&mut Settings) -> &mut bool),
    Count(fn(&mut Settings) -> &mut usize),
    Time(fn(&mut Settings) -> &mut Duration),
    Secret(fn(&mut Settings) -> &mut Option<SecretText>),
    Crates(fn(&mut Settings) -> &mut LinkedSetting),
    Control(fn(&mut Settings) -> &mut PslControl),
    Profile(fn(&mut Settings) -> &mut ProfileSetting),
    Delivery(fn(&mut Settings) -> &mut BodyDelivery),
    Binary(fn(&mut Settings) -> &mut BinaryFiles),
    Tools(fn(&mut Settings) -> &mut AllowedToolsMode),
    #[cfg(feature = "folders")]
    Scopes(fn(&mut Settings) -> &mut ScopePrecedence),
    #[cfg(feature = "folders")]
    Paths(fn(&mut Settings) -> &mut Vec<PathBuf>),
    #[cfg(feature = "folders")]
    Path(fn(&mut Settings) -> &mut PathBuf),
}

const OWN: &[Key] = &[
    Key {
        name: "audit_key",
        slot: Slot::Secret(|settings| &mut settings.audit_key),
    },
    Key {
        name: "enabled",
        slot: Slot::Switch(|settings| &mut settings.enabled),
    },
    Key {
        name: "linked",
        slot: Slot::Crates(|settings| &mut settings.linked),
    },
    Key {
        name: "loading.allowed_tools",
        slot: Slot::Tools(|settings| &mut settings.loading.allowed_tools),
    },
    Key {
        name: "loading.binary_files",
        slot: Slot::Binary(|settings| &mut settings.loading.binary_files),
    },
    Key {
        name: "loading.body_delivery",
        slot: Slot::Delivery(|settings| &mut settings.loading.body_delivery),
    },
    Key {
        name: "profile",
        slot: Slot::Profile(|settings| &mut settings.profile),
    },
    Key {
        name: "psl_control",
        slot: Slot::Control(|settings| &mut settings.psl_control),
    },
    Key {
        name: "tokens",
        slot: Slot::Count(|settings| &mut settings.tokens),
    },
];

macro_rules! limits {
    ($($name:literal is $slot:ident $field:ident,)*) => {
        const LIMITS: &[Key] = &[$(
            Key { name: $name, slot: Slot::$slot(|settings| &mut settings.limits.$field) },
        )*];

        // A limit without a key does not compile: the pattern lacks its field.
        const _: fn(&Limits) = |Limits { $($field: _,)* }| {};
    };
}

limits! {
    "lazy_timeout" is Time lazy_timeout,
    "max_string_length" is Count max_string_length,
    "session_idle" is Time session_idle,
    "view_deadline" is Time view_deadline,
    "limits.arguments" is Count arguments,
    "limits.result" is Count result,
    "limits.attribute" is Count attribute,
    "limits.view_attributes" is Count view_attributes,
    "limits.restated" is Count restated,
    "limits.reason" is Count reason,
    "limits.query" is Count query,
    "limits.min_ttl" is Time min_ttl,
    "limits.max_ttl" is Time max_ttl,
    "limits.grants" is Count grants,
    "limits.sessions_per_principal" is Count sessions_per_principal,
    "limits.calls_in_flight" is Count calls_in_flight,
    "limits.calls_per_reply" is Count calls_per_reply,
    "limits.tool_timeout" is Time tool_timeout,
    "limits.hook_timeout" is Time hook_timeout,
    "limits.turn_tools" is Count turn_tools,
    "limits.store_timeout" is Time store_timeout,
    "limits.source_timeout" is Time source_timeout,
    "limits.refresh_debounce" is Time refresh_debounce,
    "limits.blocking_threads" is Count blocking_threads,
    "limits.approvals" is Count approvals,
    "limits.approval_ttl" is Time approval_ttl,
    "limits.view_cache" is Count view_cache,
    "limits.audit_queue" is Count audit_queue,
    "limits.contents_waiting" is Count contents_waiting,
    "limits.contents_kept" is Count contents_kept,
    "limits.contents_retention" is Time contents_retention,
}

/// The keys of a source of folders: those of the one without a name.
#[cfg(feature = "folders")]
const FOLDERS: &[Key] = &[
    Key {
        name: "folders.precedence",
        slot: Slot::Scopes(|settings| &mut settings.folders.precedence),
    },
    Key {
        name: "folders.project",
        slot: Slot::Paths(|settings| &mut settings.folders.project),
    },
    Key {
        name: "folders.project_root",
        slot: Slot::Path(|settings| &mut settings.folders.project_root),
    },
    Key {
        name: "folders.required",
        slot: Slot::Switch(|settings| &mut settings.folders.required),
    },
    Key {
        name: "folders.strict",
        slot: Slot::Switch(|settings| &mut settings.folders.strict),
    },
    Key {
        name: "folders.trusted",
        slot: Slot::Switch(|settings| &mut settings.folders.trusted),
    },
    Key {
        name: "folders.user",
        slot: Slot::Paths(|settings| &mut settings.folders.user),
    },
    #[cfg(feature = "watch")]
    Key {
        name: "folders.watch",
        slot: Slot::Switch(|settings| &mut settings.folders.watch),
    },
];
#[cfg(not(feature = "folders"))]
const FOLDERS: &[Key] = &[];

/// The names of all limits' keys.
pub(in crate::engine) fn limit_names() -> impl Iterator<Item = &'static str> {
    LIMITS.iter().map(|key| key.name)
}

/// All keys with a fixed name.
pub(super) fn keys() -> impl Iterator<Item = &'static Key> {
    OWN.iter().chain(FOLDERS).chain(LIMITS)
}

/// The keys that each source of folders has.
#[cfg(feature = "folders")]
pub(super) fn folder_keys() -> impl Iterator<Item = &'static Key> {
    FOLDERS.iter()
}

/// Whether a source of folders may have a name: its keys stand beside those of the source without a name.
#[cfg(feature = "folders")]
pub(super) fn is_folder_name(name: &str) -> bool {
    let key = format!("folders.{name}");
    !name.is_empty() && find(&key).is_none() && missing_feature(&key).is_none()
}

/// The feature without which there is no such key.
pub(super) fn missing_feature(key: &str) -> Option<&'static str> {
    let is_of = |section: &str| key.split('.').next() == Some(section);
    if cfg!(not(feature = "folders")) && is_of("folders") {
        return Some("folders");
    }
    let is_watch = is_of("folders") && key.rsplit('.').next() == Some("watch");
    (cfg!(not(feature = "watch")) && is_watch).then_some("watch")
}

pub(super) fn find(name: &str) -> Option<&'static Key> {
    keys().find(|key| key.name == name)
}

impl Key {
    /// The value that the settings have.
    pub(super) fn get(&self, settings: &mut Settings) -> Tree {
        match self.slot {
            Slot::Switch(value) => Tree::Switch(*value(settings)),
            Slot::Count(value) => {
                Tree::Integer(i128::try_from(*value(settings)).unwrap_or(i128::MAX))
            }
            Slot::Time(value) => Tree::Text(duration::text(*value(settings))),
            Slot::Secret(value) => value(settings).clone().map_or(Tree::Nothing, Tree::Secret),
            Slot::Crates(value) => match value(settings) {
                LinkedSetting::All => Tree::text("all"),
                LinkedSetting::Only(packages) => texts(&*packages),
                LinkedSetting::None => Tree::text("none"),
            },
            Slot::Control(value) => match value(settings) {
                PslControl::Model => Tree::text("model"),
                PslControl::Roles(roles) => {
                    Tree::Table(Table::from([("roles".to_owned(), texts(&*roles).into())]))
                }
                PslControl::HostOnly => Tree::text("host_only"),
            },
            Slot::Profile(value) => Tree::text(value(settings).name()),
            Slot::Delivery(value) => Tree::text(value(settings).name()),
            Slot::Binary(value) => Tree::text(value(settings).name()),
            Slot::Tools(value) => Tree::text(value(settings).name()),
            #[cfg(feature = "folders")]
            Slot::Scopes(value) => Tree::text(value(settings).name()),
            #[cfg(feature = "folders")]
            Slot::Paths(value) => texts(value(settings).iter().map(|path| path.to_string_lossy())),
            #[cfg(feature = "folders")]
            Slot::Path(value) => Tree::text(value(settings).to_string_lossy()),
        }
    }

    /// Takes a value that stands under a name; the error says what is wrong with it, and never what a secret is. Relative
    /// paths are relative to `base`.
    #[cfg_attr(
        not(feature = "folders"),
        expect(unused_variables, reason = "only folders have paths")
    )]
    pub(super) fn set(
        &self,
        settings: &mut Settings,
        name: &str,
        tree: Tree,
        base: &Path,
    ) -> Result<(), String> {
        match self.slot {
            Slot::Switch(value) => match tree {
                Tree::Switch(is_on) => *value(settings) = is_on,
                other => return Err(refuse(name, &other, "write `true` or `false`")),
            },
            Slot::Count(value) => match tree {
                Tree::Integer(number) => match usize::try_from(number) {
                    Ok(number) => *value(settings) = number,
                    Err(_) if number < 0 => {
                        return Err(refuse(name, &tree, "write 0 or more"));
                    }
                    Err(_) => return Err(refuse(name, &tree, "write a smaller number")),
                },
                other => {
                    return Err(refuse(
                        name,
                        &other,
                        "write a whole number, such as `65536`",
                    ));
                }
            },
            Slot::Time(value) => match &tree {
                Tree::Text(text) => {
                    let time =
                        duration::read(text).map_err(|advice| refuse(name, &tree, &advice))?;
                    *value(settings) = time;
                }
                Tree::Integer(number) => {
                    let advice = duration::unit_missing(&number.to_string());
                    return Err(refuse(name, &tree, &advice));
                }
                other => return Err(refuse(name, other, duration::FORM)),
            },
            Slot::Secret(value) => match tree {
                Tree::Text(text) => {
                    AuditKey::new(&text).map_err(|fault| format!("`{name}`: {}", fault.message))?;
                    *value(settings) = Some(SecretText::new(text));
                }
                other => {
                    let kind = other.kind();
                    return Err(format!("`{name}` cannot be {kind}; write a text"));
                }
            },
            Slot::Crates(value) => *value(settings) = crates(name, &tree)?,
            Slot::Control(value) => *value(settings) = control(name, &tree)?,
            Slot::Profile(value) => *value(settings) = choice(name, &tree)?,
            Slot::Delivery(value) => *value(settings) = choice(name, &tree)?,
            Slot::Binary(value) => *value(settings) = choice(name, &tree)?,
            Slot::Tools(value) => *value(settings) = choice(name, &tree)?,
            #[cfg(feature = "folders")]
            Slot::Scopes(value) => *value(settings) = choice(name, &tree)?,
            #[cfg(feature = "folders")]
            Slot::Paths(value) => *value(settings) = paths(name, &tree, base)?,
            #[cfg(feature = "folders")]
            Slot::Path(value) => *value(settings) = path(name, &tree, base)?,
        }
        Ok(())
    }
}

fn choice<T: Choice>(name: &str, tree: &Tree) -> Result<T, String> {
    chosen(tree).map_err(|advice| refuse(name, tree, &advice))
}

fn crates(name: &str, tree: &Tree) -> Result<LinkedSetting, String> {
    let packages = match tree {
        Tree::Text(text) if text == "all" => return Ok(LinkedSetting::All),
        Tree::Text(text) if text == "none" => return Ok(LinkedSetting::None),
        Tree::List(nodes) => list(nodes),
        _ => None,
    };
    packages.map(LinkedSetting::Only).ok_or_else(|| {
        refuse(
            name,
            tree,
            "write `all`, `none`, or a list of packages, such as `[\"helpdesk-skill\"]`",
        )
    })
}

fn control(name: &str, tree: &Tree) -> Result<PslControl, String> {
    let roles = match tree {
        Tree::Text(text) if text == "model" => return Ok(PslControl::Model),
        Tree::Text(text) if text == "host_only" => return Ok(PslControl::HostOnly),
        Tree::Table(table) if table.len() == 1 => match table.get("roles") {
            Some(Node {
                tree: Tree::List(nodes),
                ..
            }) => list(nodes),
            _ => None,
        },
        _ => None,
    };
    roles.map(PslControl::roles).ok_or_else(|| {
        refuse(
            name,
            tree,
            "write `model`, `host_only`, or a table of roles, such as `{ roles = [\"support\"] }`",
        )
    })
}

fn refuse(name: &str, found: &Tree, advice: &str) -> String {
    format!("`{name}` cannot be {}; {advice}", found.found())
}

fn texts<T: Into<String>>(values: impl IntoIterator<Item = T>) -> Tree {
    let node = |value| Tree::text(value).into();
    Tree::List(values.into_iter().map(node).collect())
}

#[cfg(feature = "folders")]
fn paths(name: &str, tree: &Tree, base: &Path) -> Result<Vec<PathBuf>, String> {
    let texts = match tree {
        Tree::List(nodes) => list(nodes),
        _ => None,
    };
    let Some(texts) = texts else {
        let advice = "write a list of folders, such as `[\"~/.agents/skills\"]`";
        return Err(refuse(name, tree, advice));
    };
    let path = |text: &String| {
        resolved(text, base).map_err(|advice| refuse(name, &Tree::text(text), &advice))
    };
    texts.iter().map(path).collect()
}

#[cfg(feature = "folders")]
fn path(name: &str, tree: &Tree, base: &Path) -> Result<PathBuf, String> {
    let resolved = match tree {
        Tree::Text(text) if !text.is_empty() => resolved(text, base),
        _ => Err("write the path of a folder, such as `.`".to_owned()),
    };
    resolved.map_err(|advice| refuse(name, tree, &advice))
}

/// The texts of a list of texts, none of them empty.
fn list(nodes: &[Node]) -> Option<Vec<String>> {
    let text = |node: &Node| match &node.tree {
        Tree::Text(text) if !text.is_empty() => Some(text.clone()),
        _ => None,
    };
    nodes.iter().map(text).collect()
}
