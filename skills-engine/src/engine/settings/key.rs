use std::time::Duration;

use super::choice::{Choice, chosen};
use super::tree::{Node, Table, Tree};
use super::{LinkedSetting, ProfileSetting, SecretText, Settings, duration};
use crate::audit::AuditKey;
use crate::engine::{AllowedToolsMode, BinaryFiles, BodyDelivery};
use crate::session::PslControl;
use crate::skill::Limits;

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

/// The names of all limits' keys.
pub(in crate::engine) fn limit_names() -> impl Iterator<Item = &'static str> {
    LIMITS.iter().map(|key| key.name)
}

/// All keys with a fixed name.
pub(super) fn keys() -> impl Iterator<Item = &'static Key> {
    OWN.iter().chain(LIMITS)
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
                LinkedSetting::Only(packages) => texts(packages),
                LinkedSetting::None => Tree::text("none"),
            },
            Slot::Control(value) => match value(settings) {
                PslControl::Model => Tree::text("model"),
                PslControl::Roles(roles) => {
                    Tree::Table(Table::from([("roles".to_owned(), texts(roles).into())]))
                }
                PslControl::HostOnly => Tree::text("host_only"),
            },
            Slot::Profile(value) => Tree::text(value(settings).name()),
            Slot::Delivery(value) => Tree::text(value(settings).name()),
            Slot::Binary(value) => Tree::text(value(settings).name()),
            Slot::Tools(value) => Tree::text(value(settings).name()),
        }
    }

    /// Takes a value; the error says what is wrong with it, and never what a secret is.
    pub(super) fn set(&self, settings: &mut Settings, tree: Tree) -> Result<(), String> {
        match self.slot {
            Slot::Switch(value) => match tree {
                Tree::Switch(is_on) => *value(settings) = is_on,
                other => return Err(self.refuse(&other, "write `true` or `false`")),
            },
            Slot::Count(value) => match tree {
                Tree::Integer(number) => match usize::try_from(number) {
                    Ok(number) => *value(settings) = number,
                    Err(_) if number < 0 => {
                        return Err(self.refuse(&tree, "write 0 or more"));
                    }
                    Err(_) => return Err(self.refuse(&tree, "write a smaller number")),
                },
                other => {
                    return Err(self.refuse(&other, "write a whole number, such as `65536`"));
                }
            },
            Slot::Time(value) => match &tree {
                Tree::Text(text) => {
                    let time =
                        duration::read(text).map_err(|advice| self.refuse(&tree, &advice))?;
                    *value(settings) = time;
                }
                Tree::Integer(number) => {
                    let advice = duration::unit_missing(&number.to_string());
                    return Err(self.refuse(&tree, &advice));
                }
                other => return Err(self.refuse(other, duration::FORM)),
            },
            Slot::Secret(value) => match tree {
                Tree::Text(text) => {
                    AuditKey::new(&text)
                        .map_err(|fault| format!("`{}`: {}", self.name, fault.message))?;
                    *value(settings) = Some(SecretText::new(text));
                }
                other => {
                    let kind = other.kind();
                    return Err(format!("`{}` cannot be {kind}; write a text", self.name));
                }
            },
            Slot::Crates(value) => *value(settings) = self.crates(&tree)?,
            Slot::Control(value) => *value(settings) = self.control(&tree)?,
            Slot::Profile(value) => *value(settings) = self.choice(&tree)?,
            Slot::Delivery(value) => *value(settings) = self.choice(&tree)?,
            Slot::Binary(value) => *value(settings) = self.choice(&tree)?,
            Slot::Tools(value) => *value(settings) = self.choice(&tree)?,
        }
        Ok(())
    }

    fn choice<T: Choice>(&self, tree: &Tree) -> Result<T, String> {
        chosen(tree).map_err(|advice| self.refuse(tree, &advice))
    }

    fn crates(&self, tree: &Tree) -> Result<LinkedSetting, String> {
        let packages = match tree {
            Tree::Text(text) if text == "all" => return Ok(LinkedSetting::All),
            Tree::Text(text) if text == "none" => return Ok(LinkedSetting::None),
            Tree::List(nodes) => list(nodes),
            _ => None,
        };
        packages.map(LinkedSetting::Only).ok_or_else(|| {
            self.refuse(
                tree,
                "write `all`, `none`, or a list of packages, such as `[\"helpdesk-skill\"]`",
            )
        })
    }

    fn control(&self, tree: &Tree) -> Result<PslControl, String> {
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
            self.refuse(
                tree,
                "write `model`, `host_only`, or a table of roles, such as `{ roles = [\"support\"] }`",
            )
        })
    }

    fn refuse(&self, found: &Tree, advice: &str) -> String {
        format!("`{}` cannot be {}; {advice}", self.name, found.found())
    }
}

fn texts(values: &[String]) -> Tree {
    Tree::List(
        values
            .iter()
            .map(|value| Tree::text(value).into())
            .collect(),
    )
}

/// The texts of a list of texts, none of them empty.
fn list(nodes: &[Node]) -> Option<Vec<String>> {
    let text = |node: &Node| match &node.tree {
        Tree::Text(text) if !text.is_empty() => Some(text.clone()),
        _ => None,
    };
    nodes.iter().map(text).collect()
}
