use super::ProfileSetting;
use super::tree::Tree;
use crate::engine::{AllowedToolsMode, BinaryFiles, BodyDelivery};
use crate::skill::nearest;
#[cfg(feature = "folders")]
use crate::source::ScopePrecedence;

/// One of a few values, each with a name.
pub(super) trait Choice: Copy + 'static {
    /// All of them, as they are listed in messages: two or more.
    const ALL: &'static [Self];

    fn name(self) -> &'static str;
}

impl Choice for ProfileSetting {
    const ALL: &'static [Self] = &[
        Self::Psl,
        Self::Spring,
        Self::Solon,
        Self::Dawn,
        Self::Claude,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Psl => "psl",
            Self::Spring => "spring",
            Self::Solon => "solon",
            Self::Dawn => "dawn",
            Self::Claude => "claude",
        }
    }
}

impl Choice for BodyDelivery {
    const ALL: &'static [Self] = &[Self::ToolResult, Self::Prompt];

    fn name(self) -> &'static str {
        match self {
            Self::ToolResult => "tool_result",
            Self::Prompt => "prompt",
        }
    }
}

impl Choice for BinaryFiles {
    const ALL: &'static [Self] = &[Self::Base64, Self::Refuse];

    fn name(self) -> &'static str {
        match self {
            Self::Base64 => "base64",
            Self::Refuse => "refuse",
        }
    }
}

impl Choice for AllowedToolsMode {
    const ALL: &'static [Self] = &[Self::Ignore, Self::Preapprove, Self::Restrict];

    fn name(self) -> &'static str {
        match self {
            Self::Ignore => "ignore",
            Self::Preapprove => "preapprove",
            Self::Restrict => "restrict",
        }
    }
}

#[cfg(feature = "folders")]
impl Choice for ScopePrecedence {
    const ALL: &'static [Self] = &[Self::ProjectFirst, Self::UserFirst];

    fn name(self) -> &'static str {
        match self {
            Self::ProjectFirst => "project_first",
            Self::UserFirst => "user_first",
        }
    }
}

/// The value of a name; the error says what to write.
pub(super) fn chosen<T: Choice>(tree: &Tree) -> Result<T, String> {
    let Tree::Text(text) = tree else {
        return Err(advice::<T>());
    };
    let found = T::ALL.iter().copied().find(|choice| choice.name() == text);
    found.ok_or_else(|| {
        let names = T::ALL.iter().map(|choice| choice.name());
        let near = nearest(text, names);
        let near = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
        advice::<T>() + &near
    })
}

fn advice<T: Choice>() -> String {
    let names: Vec<_> = T::ALL
        .iter()
        .map(|choice| format!("`{}`", choice.name()))
        .collect();
    match &*names {
        [before @ .., last] => format!("write {} or {last}", before.join(", ")),
        [] => "remove it".to_owned(),
    }
}
