use crate::source::Linked;

/// The packages whose linked skills an engine takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkedSetting {
    /// All of them.
    #[default]
    All,
    /// Those of these names.
    Only(Vec<String>),
    /// None.
    None,
}

impl LinkedSetting {
    pub(in crate::engine) fn takes(&self, package: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(_) => self.names(package),
            Self::None => false,
        }
    }

    pub(in crate::engine) fn names(&self, package: &str) -> bool {
        self.listed().iter().any(|listed| listed == package)
    }

    /// The packages that are named one by one.
    pub(in crate::engine) fn listed(&self) -> &[String] {
        match self {
            Self::Only(packages) => packages,
            Self::All | Self::None => &[],
        }
    }
}

impl From<Linked> for LinkedSetting {
    fn from(linked: Linked) -> Self {
        match linked {
            Linked::All => Self::All,
            Linked::Only(packages) => Self::Only(
                packages
                    .iter()
                    .map(|package| (*package).to_owned())
                    .collect(),
            ),
            Linked::None => Self::None,
        }
    }
}
