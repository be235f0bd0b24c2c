use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::key::{Key, find, keys, missing_feature};
#[cfg(feature = "folders")]
use super::key::{folder_keys, is_folder_name};
use super::problem::MOST_SHOWN;
use super::tree::{Node, Table, Tree, brief_segment, segment};
use super::{RoleSettings, SettingOrigin, Settings, SettingsError, SettingsProblem, SkillSettings};
use crate::session::Pattern;
use crate::skill::{Level, nearest};

/// What was read, and where each value of it stood.
pub(super) struct Loaded {
    pub(super) settings: Settings,
    pub(super) origins: BTreeMap<String, SettingOrigin>,
}

/// The values stand in the settings themselves, where nobody changed them.
impl fmt::Debug for Loaded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Loaded(..)")
    }
}

/// One setting.
pub(super) enum Target {
    Key(&'static Key),
    /// What a source of folders has, by its name: the key is that of the source without a name.
    #[cfg(feature = "folders")]
    Folders(String, &'static Key),
    /// What a role allows.
    Role(String),
    /// Whether a skill is enabled.
    Skill(String),
}

impl Target {
    /// The dotted key.
    pub(super) fn name(&self) -> String {
        self.name_with(segment)
    }

    /// The dotted key, short enough for a message.
    pub(super) fn brief_name(&self) -> String {
        self.name_with(brief_segment)
    }

    fn name_with(&self, segment: fn(&str) -> String) -> String {
        match self {
            Self::Key(key) => key.name.to_owned(),
            #[cfg(feature = "folders")]
            Self::Folders(name, key) => {
                format!("folders.{}.{}", segment(name), last_part(key.name))
            }
            Self::Role(role) => format!("roles.{}.allow", segment(role)),
            Self::Skill(id) => format!("skills.{}.enabled", segment(id)),
        }
    }
}

/// Settings that are being put together, layer by layer; a later value takes the place of an earlier one.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) settings: Settings,
    pub(super) origins: BTreeMap<String, SettingOrigin>,
    pub(super) problems: Vec<SettingsProblem>,
}

/// Says where the value at a line comes from.
type OriginOf<'a> = &'a dyn Fn(Option<usize>) -> Option<SettingOrigin>;

impl Draft {
    pub(super) fn problem(
        &mut self,
        key: Option<String>,
        origin: Option<SettingOrigin>,
        message: String,
    ) {
        self.problems.push(SettingsProblem {
            key,
            origin,
            message,
        });
    }

    /// Adds a layer that is a table of settings.
    pub(super) fn add(&mut self, root: Table, origin: OriginOf<'_>) {
        for (name, node) in root {
            match (&*name, node.tree) {
                ("limits" | "loading", Tree::Table(members)) => {
                    for (member, node) in members {
                        let key = format!("{name}.{}", brief_segment(&member));
                        self.add_key(&key, node, origin);
                    }
                }
                #[cfg(feature = "folders")]
                ("folders", Tree::Table(members)) => {
                    for (member, node) in members {
                        self.add_folders(&member, node, origin);
                    }
                }
                ("roles", Tree::Table(roles)) => {
                    for (role, node) in roles {
                        self.add_role(role, node, origin);
                    }
                }
                ("skills", Tree::Table(skills)) => {
                    for (id, node) in skills {
                        self.add_skill(id, node, origin);
                    }
                }
                #[cfg(feature = "folders")]
                ("folders", tree) => {
                    let message = format!(
                        "`folders` cannot be {}; write `folders.user = [\"~/.agents/skills\"]`",
                        tree.found()
                    );
                    self.problem(Some(name), origin(node.line), message);
                }
                ("limits" | "loading" | "roles" | "skills", tree) => {
                    let message = format!("`{name}` cannot be {}; write a table", tree.found());
                    self.problem(Some(name), origin(node.line), message);
                }
                (_, tree) => {
                    let line = node.line;
                    self.add_key(&brief_segment(&name), Node { tree, line }, origin);
                }
            }
        }
    }

    fn add_key(&mut self, name: &str, node: Node, origin: OriginOf<'_>) {
        match find(name) {
            Some(key) => self.set(&Target::Key(key), node, origin),
            None => self.unknown(name, None, origin(node.line)),
        }
    }

    /// Adds a setting of the source of folders without a name, or all of one with a name.
    #[cfg(feature = "folders")]
    fn add_folders(&mut self, member: &str, node: Node, origin: OriginOf<'_>) {
        let parent = format!("folders.{}", brief_segment(member));
        let Node {
            tree: Tree::Table(members),
            line,
        } = node
        else {
            return self.add_key(&parent, node, origin);
        };
        if !is_folder_name(member) {
            let message = no_folder_name(member);
            return self.problem(Some(parent), origin(line), message);
        }
        for (name, node) in members {
            if let Some(key) = find(&format!("folders.{name}")) {
                self.set(&Target::Folders(member.to_owned(), key), node, origin);
                continue;
            }
            let names = folder_keys().map(|key| last_part(key.name));
            let near = nearest(&name, names).map(|near| format!("{parent}.{near}"));
            let name = format!("{parent}.{}", brief_segment(&name));
            self.unknown(&name, near.as_deref(), origin(node.line));
        }
    }

    fn add_role(&mut self, role: String, node: Node, origin: OriginOf<'_>) {
        let parent = format!("roles.{}", brief_segment(&role));
        let target = Target::Role(role);
        let Tree::Table(members) = node.tree else {
            let message = format!(
                "`{parent}` cannot be {}; write `{parent}.allow = {{ \"some-skill\" = \"CONTEXT\" }}`",
                node.tree.found()
            );
            return self.problem(Some(parent), origin(node.line), message);
        };
        let empty = Tree::Table(Table::new());
        let line = node.line;
        let allowed = self.only_member(&parent, members, "allow", origin);
        self.set(
            &target,
            allowed.unwrap_or(Node { tree: empty, line }),
            origin,
        );
    }

    fn add_skill(&mut self, id: String, node: Node, origin: OriginOf<'_>) {
        let parent = format!("skills.{}", brief_segment(&id));
        let Tree::Table(members) = node.tree else {
            let message = format!(
                "`{parent}` cannot be {}; write `{parent}.enabled = false`",
                node.tree.found()
            );
            return self.problem(Some(parent), origin(node.line), message);
        };
        let line = node.line;
        let is_known = self.settings.skills.contains_key(&id);
        let enabled = self.only_member(&parent, members, "enabled", origin);
        // Named without a value, the skill must be there all the same.
        let named = (!is_known).then_some(Node {
            tree: Tree::Switch(true),
            line,
        });
        if let Some(node) = enabled.or(named) {
            self.set(&Target::Skill(id), node, origin);
        }
    }

    /// The one member that a table may have; any other is a problem.
    fn only_member(
        &mut self,
        parent: &str,
        members: Table,
        known: &str,
        origin: OriginOf<'_>,
    ) -> Option<Node> {
        let mut found = None;
        for (name, node) in members {
            if name == known {
                found = Some(node);
            } else {
                let near = format!("{parent}.{known}");
                let name = format!("{parent}.{}", brief_segment(&name));
                self.unknown(&name, Some(&near), origin(node.line));
            }
        }
        found
    }

    /// Sets one value, or tells what is wrong with it.
    pub(super) fn set(&mut self, target: &Target, node: Node, origin: OriginOf<'_>) {
        let name = target.brief_name();
        let at = origin(node.line);
        let result = match target {
            Target::Key(key) => {
                let base = base(at.as_ref());
                key.set(&mut self.settings, &name, node.tree, base)
            }
            #[cfg(feature = "folders")]
            Target::Folders(source, _) if !is_folder_name(source) => Err(no_folder_name(source)),
            #[cfg(feature = "folders")]
            Target::Folders(source, key) => {
                let base = base(at.as_ref());
                let own = std::mem::take(&mut self.settings.folders);
                let named = self.settings.named_folders.remove(source);
                self.settings.folders = named.unwrap_or_default();
                let result = key.set(&mut self.settings, &name, node.tree, base);
                let named = std::mem::replace(&mut self.settings.folders, own);
                self.settings.named_folders.insert(source.clone(), named);
                result
            }
            Target::Role(role) => match self.allowed(&name, node.tree, origin) {
                Ok(Some(allow)) => {
                    self.settings
                        .roles
                        .insert(role.clone(), RoleSettings { allow });
                    Ok(())
                }
                Ok(None) => return,
                Err(message) => Err(message),
            },
            Target::Skill(id) => match node.tree {
                Tree::Switch(enabled) => {
                    self.settings
                        .skills
                        .insert(id.clone(), SkillSettings { enabled });
                    Ok(())
                }
                other => Err(format!(
                    "`{name}` cannot be {}; write `true` or `false`",
                    other.found()
                )),
            },
        };
        match result {
            Ok(()) => drop(
                self.origins
                    .insert(name, at.unwrap_or(SettingOrigin::Builder)),
            ),
            Err(message) => self.problem(Some(name), at, message),
        }
    }

    /// The patterns of a role with their levels; `None` when some of them are wrong, which is told.
    fn allowed(
        &mut self,
        name: &str,
        tree: Tree,
        origin: OriginOf<'_>,
    ) -> Result<Option<BTreeMap<String, Level>>, String> {
        let Tree::Table(patterns) = tree else {
            return Err(format!(
                "`{name}` cannot be {}; write a table of patterns and levels, such as `{{ \"deploy/*\" = \"COMPLETE\" }}`",
                tree.found()
            ));
        };
        let problems = self.problems.len();
        let mut allow = BTreeMap::new();
        for (pattern, node) in patterns {
            let key = format!("{name}.{}", brief_segment(&pattern));
            if let Err(fault) = Pattern::parse(&pattern) {
                let message = format!("`{name}`: {}", fault.message);
                self.problem(Some(key.clone()), origin(node.line), message);
            }
            match level(&node.tree) {
                Ok(level) => drop(allow.insert(pattern, level)),
                Err(advice) => {
                    let message = format!("`{key}` cannot be {}; {advice}", node.tree.found());
                    self.problem(Some(key), origin(node.line), message);
                }
            }
        }
        Ok((self.problems.len() == problems).then_some(allow))
    }

    /// Tells of a key that is not there. Its value is not shown: it may be a secret under a mistyped name.
    fn unknown(&mut self, name: &str, near: Option<&str>, origin: Option<SettingOrigin>) {
        if let Some(feature) = missing_feature(name) {
            let message = needs_feature(name, feature);
            return self.problem(Some(name.to_owned()), origin, message);
        }
        // Nobody reads more, and each takes its time.
        let is_read = self.problems.len() < MOST_SHOWN;
        let near = near
            .map(str::to_owned)
            .or_else(|| is_read.then(|| nearest_key(name)).flatten());
        let advice = near.map_or_else(
            || "remove it, or see the documentation of `Settings` for all keys".to_owned(),
            |near| format!("write `{near}`, or remove it"),
        );
        let message = format!("`{name}` is not a setting; {advice}");
        self.problem(Some(name.to_owned()), origin, message);
    }

    /// Takes the folder of the file that names the roots of a project as the folder of the project, unless told otherwise.
    #[cfg(feature = "folders")]
    fn infer_project_roots(&mut self) {
        let named = self.settings.named_folders.iter_mut();
        let named =
            named.map(|(name, folders)| (format!("folders.{}", brief_segment(name)), folders));
        let own = ("folders".to_owned(), &mut self.settings.folders);
        for (parent, folders) in std::iter::once(own).chain(named) {
            let key = format!("{parent}.project_root");
            let origin = self.origins.get(&format!("{parent}.project")).cloned();
            let folder = base(origin.as_ref());
            if !folder.as_os_str().is_empty() && !self.origins.contains_key(&key) {
                folder.clone_into(&mut folders.project_root);
                self.origins.extend(origin.map(|origin| (key, origin)));
            }
        }
    }

    /// What holds, when nothing is wrong.
    pub(super) fn finish(mut self) -> Result<Settings, SettingsError> {
        #[cfg(feature = "folders")]
        self.infer_project_roots();
        let limits = &self.settings.limits;
        if limits.min_ttl > limits.max_ttl {
            let key = "limits.min_ttl";
            let origin = self.origins.get(key).cloned();
            let message = format!(
                "`{key}` is longer than `limits.max_ttl`; shorten it, or lengthen that one"
            );
            self.problem(Some(key.to_owned()), origin, message);
        }
        if !self.problems.is_empty() {
            return Err(SettingsError::new(self.problems));
        }
        let loaded = Loaded {
            settings: self.settings.clone(),
            origins: self.origins,
        };
        self.settings.loaded = Some(Arc::new(loaded));
        Ok(self.settings)
    }
}

/// The folder that relative paths are relative to: that of the file, or of this process.
fn base(origin: Option<&SettingOrigin>) -> &Path {
    let file = match origin {
        Some(SettingOrigin::File { path, .. }) => path.parent(),
        _ => None,
    };
    file.unwrap_or(Path::new(""))
}

/// What is wrong with the name of a source of folders.
#[cfg(feature = "folders")]
pub(super) fn no_folder_name(name: &str) -> String {
    format!(
        "`folders.{}` cannot be a source of folders of its own; choose another name",
        brief_segment(name)
    )
}

/// What is wrong with a key that only a feature brings.
pub(super) fn needs_feature(key: &str, feature: &str) -> String {
    format!(
        "`{key}` needs the feature `{feature}` of `skills-engine`; build the program with it, or remove the setting"
    )
}

fn level(tree: &Tree) -> Result<Level, String> {
    let advice = "write METADATA, CONTEXT or COMPLETE";
    let Tree::Text(text) = tree else {
        return Err(advice.to_owned());
    };
    text.parse().map_err(|_| {
        let names = Level::ALL.map(Level::as_str);
        nearest(text, names.into_iter()).map_or_else(
            || advice.to_owned(),
            |near| format!("{advice} (did you mean {near}?)"),
        )
    })
}

/// The key that a mistyped one most likely means: the same name in another place, or a similar name.
pub(super) fn nearest_key(name: &str) -> Option<String> {
    let moved = keys().find(|key| last_part(key.name) == last_part(name));
    let names = keys()
        .map(|key| key.name)
        .chain(["folders", "limits", "loading", "roles", "skills"]);
    moved
        .map(|key| key.name)
        .or_else(|| nearest(name, names))
        .map(str::to_owned)
}

fn last_part(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, last)| last)
}
