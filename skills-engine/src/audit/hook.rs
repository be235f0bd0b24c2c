/// How a hook of a skill failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HookFailure {
    /// It gave an error.
    Error,
    /// It panicked.
    Panic,
    /// It took too long.
    Timeout,
    /// Its answer cannot be used: it names a tool that there is not, or gives tools that cannot be taken.
    Answer,
}

impl HookFailure {
    /// The word for it in a record.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Panic => "panic",
            Self::Timeout => "timeout",
            Self::Answer => "answer",
        }
    }
}
