#![doc = include_str!("../../docs/settings.md")]

mod choice;
mod crates;
mod draft;
mod duration;
#[cfg(feature = "settings")]
mod file;
#[cfg(feature = "folders")]
mod folders;
mod key;
mod loading;
mod origin;
mod problem;
mod report;
mod secret;
mod serial;
#[cfg(feature = "settings")]
mod sources;
mod tree;
#[cfg(feature = "settings")]
mod variables;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use self::crates::LinkedSetting;
use self::draft::{Loaded, Target};
#[cfg(feature = "folders")]
pub use self::folders::FolderSettings;
pub use self::loading::{LoadingSettings, ProfileSetting};
pub use self::origin::SettingOrigin;
pub use self::problem::{SettingsError, SettingsProblem};
pub use self::report::{SettingRow, SettingsReport};
pub use self::secret::SecretText;
#[cfg(feature = "settings")]
pub use self::sources::SettingsSources;
use super::telling::CATALOGUE_TOKENS;
use crate::session::PslControl;
use crate::skill::{Level, Limits};
#[cfg(feature = "folders")]
use crate::source::SkillFolders;

pub(super) use self::key::limit_names as limit_keys;

/// The key that says what a role allows.
pub(super) fn role_key(name: &str) -> String {
    Target::Role(name.to_owned()).name()
}

/// The key that says whether a skill is enabled.
pub(super) fn skill_key(id: &str) -> String {
    Target::Skill(id.to_owned()).name()
}

/// What can be said about an engine without changing its program. Every key has a default.
///
/// [`SettingsSources`] reads them from files and variables; any format of serde does too. Pass them with
/// [`EngineBuilder::settings`](crate::engine::EngineBuilder::settings); what the builder is told otherwise wins.
///
/// Written out with serde, the settings lack their secrets.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Key `enabled`: whether models see anything at all.
    pub enabled: bool,
    /// Key `linked`: the packages whose linked skills are taken.
    pub linked: LinkedSetting,
    /// Keys `lazy_timeout`, `view_deadline`, `max_string_length`, `session_idle`, and all others below `limits`.
    pub limits: Limits,
    /// Key `psl_control`: whether a model may open and close skills by itself.
    pub psl_control: PslControl,
    /// Keys `roles.NAME.allow`: what each role gives.
    pub roles: BTreeMap<String, RoleSettings>,
    /// Keys `skills.ID.enabled`.
    pub skills: BTreeMap<String, SkillSettings>,
    /// Key `tokens`: how many tokens of four characters the list of skills may take of a prompt.
    pub tokens: usize,
    /// Key `profile`: how skills with content are shown and loaded.
    pub profile: ProfileSetting,
    /// Keys below `loading`.
    pub loading: LoadingSettings,
    /// Keys below `folders`: a source of skills from folders, beside those that the builder is given.
    #[cfg(feature = "folders")]
    pub folders: FolderSettings,
    /// Keys `folders.NAME.KEY`: further such sources, each with a name for reports.
    #[cfg(feature = "folders")]
    pub named_folders: BTreeMap<String, FolderSettings>,
    /// Key `audit_key`: the secret of the audit chain, 16 bytes or more.
    pub audit_key: Option<SecretText>,
    /// What was read, so that a report can tell it from what the program changed later.
    loaded: Option<Arc<Loaded>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            linked: LinkedSetting::All,
            limits: Limits::default(),
            psl_control: PslControl::default(),
            roles: BTreeMap::new(),
            skills: BTreeMap::new(),
            tokens: CATALOGUE_TOKENS,
            profile: ProfileSetting::default(),
            loading: LoadingSettings::default(),
            #[cfg(feature = "folders")]
            folders: FolderSettings::default(),
            #[cfg(feature = "folders")]
            named_folders: BTreeMap::new(),
            audit_key: None,
            loaded: None,
        }
    }
}

impl Settings {
    /// What is set of all sources of folders.
    #[cfg(feature = "folders")]
    fn all_folders(&self) -> impl Iterator<Item = &FolderSettings> {
        std::iter::once(&self.folders).chain(self.named_folders.values())
    }

    /// The sources of folders that have roots.
    #[cfg(feature = "folders")]
    pub(super) fn folder_sources(&self) -> impl Iterator<Item = SkillFolders> {
        let named = |(name, folders): (&String, &FolderSettings)| {
            Some(folders.source()?.named(name.clone()))
        };
        let named = self.named_folders.iter().filter_map(named);
        self.folders.source().into_iter().chain(named)
    }
}

/// What a role gives. One that allows nothing denies everything to those who have no other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RoleSettings {
    /// The highest level for what each pattern names.
    pub allow: BTreeMap<String, Level>,
}

/// What is set of one skill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillSettings {
    /// Whether models see the skill. One that is off stays reachable in code.
    pub enabled: bool,
}

impl Default for SkillSettings {
    fn default() -> Self {
        Self { enabled: true }
    }
}

#[cfg(test)]
mod tests;
