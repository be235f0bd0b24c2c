use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use super::draft::Draft;
use super::{Settings, SettingsError, file, variables};

/// Where settings are read from. Later ones win: defaults, files in the order they are named, variables.
///
/// # Examples
///
/// ```
/// use skills_engine::engine::settings::SettingsSources;
///
/// let settings = SettingsSources::new()
///     .file_if_exists("skills-engine.toml")
///     .variables([("SKILLS_ENGINE_LAZY_TIMEOUT", "250ms")])
///     .load()?;
/// println!("{}", settings.report());
/// # Ok::<(), skills_engine::engine::settings::SettingsError>(())
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct SettingsSources {
    files: Vec<File>,
    variables: Vec<(OsString, OsString)>,
}

#[derive(Clone)]
struct File {
    path: PathBuf,
    may_be_missing: bool,
}

impl SettingsSources {
    /// No sources yet: the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a TOML file, of at most 1 MiB. It is an error when there is none.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.push(File {
            path: path.into(),
            may_be_missing: false,
        });
        self
    }

    /// Adds a TOML file that need not be there.
    pub fn file_if_exists(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.push(File {
            path: path.into(),
            may_be_missing: true,
        });
        self
    }

    /// Adds variables, by name and value. Those that do not begin with `SKILLS_ENGINE_` are left alone.
    pub fn variables<N, V>(mut self, variables: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<OsString>,
        V: Into<OsString>,
    {
        let variables = variables
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .filter(|(name, _)| variables::is_ours(name));
        self.variables.extend(variables);
        self
    }

    /// Adds the variables of this process.
    pub fn environment(self) -> Self {
        self.variables(std::env::vars_os())
    }

    /// Reads all sources. The files are read here, so call it before work begins, not while it goes on.
    ///
    /// # Errors
    ///
    /// Lists every problem there is: files that cannot be read, keys that are not there with the one that was meant,
    /// values that do not fit.
    pub fn load(self) -> Result<Settings, SettingsError> {
        let mut draft = Draft::default();
        for File {
            path,
            may_be_missing,
        } in &self.files
        {
            file::read_into(&mut draft, path, *may_be_missing);
        }
        variables::read_into(&mut draft, self.variables);
        draft.finish()
    }
}

/// The names only: values may be secrets.
impl fmt::Debug for SettingsSources {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: Vec<_> = self.files.iter().map(|file| &file.path).collect();
        let variables: Vec<_> = self.variables.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("SettingsSources")
            .field("files", &files)
            .field("variables", &variables)
            .finish()
    }
}
