use crate::engine::{AllowedToolsMode, BinaryFiles, BodyDelivery};
use crate::prompt::Profile;

/// How skills are loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadingSettings {
    /// Key `loading.body_delivery`: where the body of a skill stands that a model has opened, `tool_result` or `prompt`.
    pub body_delivery: BodyDelivery,
    /// Key `loading.binary_files`: what a model is told of a file that is no text, `base64` or `refuse`.
    pub binary_files: BinaryFiles,
    /// Key `loading.allowed_tools`: what becomes of the tools that skills list, `ignore`, `preapprove` or `restrict`.
    pub allowed_tools: AllowedToolsMode,
}

/// A profile of the engine's own, by its name in lower case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProfileSetting {
    /// [`Profile::psl`].
    #[default]
    Psl,
    /// [`Profile::spring`].
    Spring,
    /// [`Profile::solon`].
    Solon,
    /// [`Profile::dawn`].
    Dawn,
    /// [`Profile::claude`].
    Claude,
}

impl From<ProfileSetting> for Profile {
    fn from(setting: ProfileSetting) -> Self {
        match setting {
            ProfileSetting::Psl => Self::psl(),
            ProfileSetting::Spring => Self::spring(),
            ProfileSetting::Solon => Self::solon(),
            ProfileSetting::Dawn => Self::dawn(),
            ProfileSetting::Claude => Self::claude(),
        }
    }
}
