use std::fmt;

use tiktoken::CoreBpe;

use super::budget::TokenCounter;

/// Counts tokens as a real tokenizer does.
///
/// Models of one vendor have one, others come close to it; what is certain is only that it is nearer than characters,
/// above all for languages other than English and for code.
///
/// # Examples
///
/// ```
/// use skills_engine::prompt::{TokenBudget, Tokenizer};
///
/// let budget = TokenBudget::new(2_000).counted_by(Tokenizer::o200k());
/// assert_eq!(budget.count("Deploys a service."), 5);
/// ```
#[derive(Clone, Copy)]
pub struct Tokenizer(&'static CoreBpe);

impl Tokenizer {
    /// The one with the vocabulary `o200k_base`.
    ///
    /// The first one of a process unpacks the vocabulary, which takes a fraction of a second and then some thirty
    /// megabytes: make it where the engine is built, not in a turn.
    #[must_use]
    #[expect(
        clippy::missing_panics_doc,
        reason = "it would panic only without the vocabulary that the feature compiles in"
    )]
    pub fn o200k() -> Self {
        Self(tiktoken::get_encoding("o200k_base").expect("its vocabulary is compiled in"))
    }
}

impl TokenCounter for Tokenizer {
    fn count(&self, text: &str) -> usize {
        self.0.count(text)
    }
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Tokenizer").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Tokenizer;
    use crate::prompt::{
        Catalogue, CatalogueEntry, CatalogueFormat, Profile, TokenBudget, TokenCounter,
    };

    #[test]
    fn tokens_are_those_of_the_vocabulary() {
        let tokenizer = Tokenizer::o200k();
        for (text, tokens) in [
            ("", 0),
            ("hello world", 2),
            ("Deploys a service.", 5),
            ("<|endoftext|>", 7),
        ] {
            assert_eq!(tokenizer.count(text), tokens, "{text}");
        }
    }

    #[test]
    fn a_list_never_exceeds_its_tokens_and_grows_with_them() {
        let texts: Vec<(String, String)> = (0..12)
            .map(|index| {
                let text = [
                    "Развёртывает службу и пишет об этом. ",
                    "部署服务。",
                    "/ Deploys\n",
                ][index % 3];
                (format!("skill-{index}"), text.repeat(index))
            })
            .collect();
        for format in [
            CatalogueFormat::Lines,
            CatalogueFormat::SkillList,
            CatalogueFormat::AvailableSkills,
        ] {
            let profile = Profile::psl().with_format(format);
            let mut before = (12, 12, 12);
            for tokens in (0..2_000).step_by(50) {
                let budget = TokenBudget::new(tokens).counted_by(Tokenizer::o200k());
                let entries = texts
                    .iter()
                    .map(|(name, text)| CatalogueEntry::new(name, text));
                let list = Catalogue::new(&profile, &budget, entries).all();
                let count = budget.count(&list.text);
                assert!(
                    count <= tokens || list.cut.left_out == 12,
                    "{count} of {tokens}"
                );
                let unnamed = list.cut.left_out;
                let now = (unnamed, unnamed + list.cut.names_only, 12);
                assert!(now <= before, "{tokens}: {now:?} after {before:?}");
                before = now;
            }
            assert_eq!(before.1, 0, "{format:?}");
        }
    }
}
