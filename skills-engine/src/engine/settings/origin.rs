use std::fmt;
use std::path::PathBuf;

use crate::skill::shown;

/// Where a value of the settings comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingOrigin {
    /// Nobody set it.
    #[default]
    Default,
    /// A file.
    #[non_exhaustive]
    File {
        /// The file, as the program named it.
        path: PathBuf,
        /// The line, counted from 1, where it is known.
        line: Option<usize>,
    },
    /// A variable of this name.
    Variable(String),
    /// The program: a method of the builder, or the settings themselves, changed or made by it.
    Builder,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::File { path, line } => {
                formatter.write_str(&shown(&path.to_string_lossy(), 240))?;
                line.map_or(Ok(()), |line| write!(formatter, ":{line}"))
            }
            Self::Variable(name) => formatter.write_str(&shown(name, 240)),
            Self::Builder => formatter.write_str("builder"),
        }
    }
}
