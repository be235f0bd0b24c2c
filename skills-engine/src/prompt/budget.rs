use std::fmt;
use std::sync::Arc;

/// Counts the tokens of a text.
///
/// A catalogue is counted line by line and the counts are added up, so that a change costs no new counting; what is
/// shown is then counted as a whole.
pub trait TokenCounter: Send + Sync + 'static {
    /// How many tokens a text has.
    fn count(&self, text: &str) -> usize;
}

/// How many tokens a text may have, and how they are counted.
///
/// A token is four characters unless a counter says otherwise; a part of one counts as a whole one.
///
/// # Examples
///
/// ```
/// use skills_engine::prompt::TokenBudget;
///
/// let budget = TokenBudget::new(2_000);
/// assert_eq!(budget.limit(), 2_000);
/// assert_eq!(budget.count("nine char"), 3);
/// ```
#[derive(Clone)]
pub struct TokenBudget {
    limit: usize,
    counter: Option<Arc<dyn TokenCounter>>,
}

/// How many characters stand for a token where nothing else is known.
pub(super) const CHARACTERS: usize = 4;

impl TokenBudget {
    /// A budget of so many tokens.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            counter: None,
        }
    }

    /// A budget that nothing exceeds.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::new(usize::MAX)
    }

    /// Has another way of counting: a tokenizer's.
    ///
    /// ```
    /// use skills_engine::prompt::{TokenBudget, TokenCounter};
    ///
    /// struct Words;
    ///
    /// impl TokenCounter for Words {
    ///     fn count(&self, text: &str) -> usize {
    ///         text.split_whitespace().count()
    ///     }
    /// }
    ///
    /// assert_eq!(TokenBudget::new(10).counted_by(Words).count("one two"), 2);
    /// ```
    #[must_use]
    pub fn counted_by(mut self, counter: impl TokenCounter) -> Self {
        self.counter = Some(Arc::new(counter));
        self
    }

    /// The most tokens.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// How many tokens a text has.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        match &self.counter {
            Some(counter) => counter.count(text),
            None => text.chars().count().div_ceil(CHARACTERS),
        }
    }

    /// Whether tokens are four characters each.
    pub(super) fn counts_characters(&self) -> bool {
        self.counter.is_none()
    }
}

impl fmt::Debug for TokenBudget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TokenBudget")
            .field("limit", &self.limit)
            .field("counts_characters", &self.counts_characters())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::TokenBudget;

    #[test]
    fn four_characters_are_a_token() {
        let budget = TokenBudget::new(7);
        for (text, tokens) in [
            ("", 0),
            ("a", 1),
            ("abcd", 1),
            ("abcde", 2),
            ("漢字漢字", 1),
        ] {
            assert_eq!(budget.count(text), tokens, "{text}");
        }
        assert_eq!(budget.limit(), 7);
        assert_eq!(TokenBudget::unlimited().limit(), usize::MAX);
    }
}
