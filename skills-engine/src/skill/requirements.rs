/// What a skill needs of the machine it runs on, from the keys `requires.…` of its `metadata`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Requirements {
    /// Programs that must all be there.
    pub bins: Vec<String>,
    /// Programs of which one must be there, when there are any.
    pub any_bins: Vec<String>,
    /// Variables of the environment that must all be set.
    pub env: Vec<String>,
    /// Operating systems of which it must be one, when there are any; as their authors name them, such as `linux`.
    pub os: Vec<String>,
    /// Keys whose values cannot be read, such as `requires.bins`: what they ask for is not known, so it is not met.
    pub unreadable: Vec<String>,
}

impl Requirements {
    /// Whether nothing is asked for.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        let Self {
            bins,
            any_bins,
            env,
            os,
            unreadable,
        } = self;
        bins.is_empty()
            && any_bins.is_empty()
            && env.is_empty()
            && os.is_empty()
            && unreadable.is_empty()
    }
}
