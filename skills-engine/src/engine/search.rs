use std::borrow::Cow;

use crate::skill::folded;

/// A skill as a search is given it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Searched<'a> {
    /// Id.
    pub id: &'a str,
    /// Name for people.
    pub name: &'a str,
    /// What the skill is for.
    pub description: &'a str,
    /// Labels.
    pub tags: &'a [Cow<'static, str>],
}

impl<'a> Searched<'a> {
    /// What a search looks at.
    #[must_use]
    pub fn new(
        id: &'a str,
        name: &'a str,
        description: &'a str,
        tags: &'a [Cow<'static, str>],
    ) -> Self {
        Self {
            id,
            name,
            description,
            tags,
        }
    }
}

/// Finds skills for a query of the model.
pub trait SkillSearch: Send + Sync + 'static {
    /// Positions in `skills` of those that match, best first, `most` at most. The list holds only what the session may
    /// know of.
    fn search(&self, query: &str, skills: &[Searched<'_>], most: usize) -> Vec<usize>;
}

/// Counts the query's words in ids, names, tags and descriptions, without regard to case in any script.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TermSearch;

impl SkillSearch for TermSearch {
    fn search(&self, query: &str, skills: &[Searched<'_>], most: usize) -> Vec<usize> {
        let query = folded(query);
        let terms: Vec<&str> = words(&query).collect();
        let mut scored: Vec<(u32, usize)> = skills
            .iter()
            .enumerate()
            .map(|(position, skill)| (score(&terms, skill), position))
            .filter(|(score, _)| *score > 0)
            .collect();
        // Equal scores stay in the order of the ids.
        scored.sort_by_key(|(score, position)| (std::cmp::Reverse(*score), *position));
        scored
            .into_iter()
            .take(most)
            .map(|(_, position)| position)
            .collect()
    }
}

fn score(terms: &[&str], skill: &Searched<'_>) -> u32 {
    let id = folded(skill.id);
    let name = folded(skill.name);
    let tags: Vec<_> = skill.tags.iter().map(|tag| folded(tag)).collect();
    let description = folded(skill.description);
    terms
        .iter()
        .map(|term| {
            let in_tags = tags
                .iter()
                .map(|tag| weight(term, tag, 6, 3))
                .max()
                .unwrap_or(0);
            weight(term, &id, 8, 4)
                + weight(term, &name, 8, 4)
                + in_tags
                + weight(term, &description, 2, 1)
        })
        .sum()
}

/// What a term is worth in a text: as a whole word, or as a part of one.
fn weight(term: &str, text: &str, whole: u32, part: u32) -> u32 {
    if words(text).any(|word| word == term) {
        whole
    } else if text.contains(term) {
        part
    } else {
        0
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_found_in_any_script_and_case_best_first() {
        let tags = [Cow::Borrowed("Deutsch")];
        let skills = [
            Searched::new("billing", "Billing", "Invoices and refunds.", &[]),
            Searched::new("strasse", "Straße", "Wege in der Stadt.", &tags), // misspelled on purpose
            Searched::new("sigma", "ΟΔΥΣΣΕΥΣ", "Greek refunds.", &[]),
            Searched::new("refund", "Refund", "Pays back.", &[]),
        ];
        let rows: [(&str, &[usize]); 7] = [
            ("REFUND", &[3, 0, 2]),
            ("οδυσσευς", &[2]),
            ("STRASSE", &[1]),
            ("deutsch", &[1]),
            ("refunds invoices", &[0, 2]),
            ("", &[]),
            ("no-such-thing", &[]),
        ];
        for (query, found) in rows {
            assert_eq!(TermSearch.search(query, &skills, 10), found, "{query}");
        }
        assert_eq!(TermSearch.search("refund", &skills, 1), [3]);
    }
}
