use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::tokens::{Purpose, Token, comparable, each_token};
use super::{SearchIndex, SearchQuery, Searched, SkillSearch};

/// Different words of a query that count.
const WORDS: usize = 32;
/// How soon a word that comes again counts no more.
const SATURATION: f32 = 1.2;
/// How much a text's length counts.
const LENGTH: f32 = 0.75;
/// What a word counts that only begins like the one that is looked for.
const KIN: f32 = 0.5;

/// Finds skills by the words of their ids, names, tags and descriptions, in any script and without regard to case: BM25,
/// with a weight for each field.
///
/// - A word also finds those that begin with it, and those that differ in their last letters, as `tickets` finds `ticket`.
///   They count half.
/// - Texts in scripts without spaces are found by pairs of characters, Korean ones too.
/// - Of a query, 32 different words count.
/// - How rare a word is goes by the skills that the one who asks may know of, and how long a text is by fixed lengths: what
///   a session may not know of has no part in what it finds, nor in the order. Equal skills come in the order of their ids.
///
/// The index takes a few times the memory of the texts.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Bm25Search;

impl SkillSearch for Bm25Search {
    fn index(&self, skills: &[Searched<'_>]) -> Box<dyn SearchIndex> {
        let mut builder = IndexBuilder::default();
        for (position, skill) in (0..).zip(skills) {
            builder.add(position, skill);
        }
        Box::new(builder.finish(skills.len()))
    }
}

/// The skills that each word is found in, by word.
#[derive(Debug)]
struct Bm25Index {
    skills: usize,
    /// All words, in order, one after another.
    letters: Box<str>,
    terms: Box<[Term]>,
    /// Those of one word after those of another, each in the order of skills.
    postings: Box<[Posting]>,
}

#[derive(Debug)]
struct Term {
    letters: Range<usize>,
    postings: Range<usize>,
}

/// A skill that a word is found in, and what the word counts there.
#[derive(Clone, Copy, Debug, Default)]
struct Posting {
    skill: u32,
    weight: f32,
}

#[derive(Debug, Default)]
struct IndexBuilder {
    terms: HashMap<Box<str>, usize>,
    found: Vec<(usize, Posting)>,
    /// The words of one field, and of one skill with what they count.
    field: Vec<usize>,
    counts: Vec<(usize, f32)>,
}

impl IndexBuilder {
    fn add(&mut self, position: u32, skill: &Searched<'_>) {
        // What a word counts in a field, and in how many words such a field is said to be of common length.
        self.field([skill.id], 3.0, 3.0);
        self.field([skill.name], 3.0, 3.0);
        self.field(skill.tags.iter().map(|tag| &**tag), 2.0, 4.0);
        self.field([skill.description], 1.0, 25.0);
        self.counts.sort_unstable_by_key(|(term, _)| *term);
        for counts in self.counts.chunk_by(|left, right| left.0 == right.0) {
            let count: f32 = counts.iter().map(|(_, count)| count).sum();
            let weight = count * (SATURATION + 1.0) / (count + SATURATION);
            let posting = Posting {
                skill: position,
                weight,
            };
            self.found.push((counts[0].0, posting));
        }
        self.counts.clear();
    }

    fn field<'s>(&mut self, texts: impl IntoIterator<Item = &'s str>, weight: f32, common: f32) {
        let Self {
            terms,
            field,
            counts,
            ..
        } = self;
        for text in texts {
            each_token(&comparable(text), Purpose::Index, |token| {
                let (Token::Word(text) | Token::Gram(text)) = token;
                let next = terms.len();
                let term = match terms.get(text) {
                    Some(term) => *term,
                    None => *terms.entry(text.into()).or_insert(next),
                };
                field.push(term);
            });
        }
        let length = 1.0 - LENGTH + LENGTH * real(field.len()) / common;
        counts.extend(field.drain(..).map(|term| (term, weight / length)));
    }

    fn finish(self, skills: usize) -> Bm25Index {
        let mut terms: Vec<_> = self.terms.into_iter().collect();
        terms.sort_unstable();
        let mut counts = vec![0_usize; terms.len()];
        for (term, _) in &self.found {
            counts[*term] += 1;
        }
        let mut letters = String::new();
        let mut sorted = Vec::with_capacity(terms.len());
        // Where the next posting of each term goes.
        let mut next = vec![0_usize; terms.len()];
        let mut start = 0;
        for (text, term) in terms {
            let begin = letters.len();
            letters.push_str(&text);
            next[term] = start;
            let end = start + counts[term];
            sorted.push(Term {
                letters: begin..letters.len(),
                postings: start..end,
            });
            start = end;
        }
        let mut postings = vec![Posting::default(); self.found.len()];
        for (term, posting) in self.found {
            postings[next[term]] = posting;
            next[term] += 1;
        }
        Bm25Index {
            skills,
            letters: letters.into(),
            terms: sorted.into(),
            postings: postings.into(),
        }
    }
}

impl SearchIndex for Bm25Index {
    fn search(&self, query: &SearchQuery<'_>) -> Vec<usize> {
        let text = comparable(query.text);
        // In order, so that sums do not depend on the order of words.
        let mut words = BTreeSet::new();
        each_token(&text, Purpose::Query, |token| {
            if words.len() < WORDS {
                words.insert(token);
            }
        });
        let known = query.known_count();
        let mut scores = vec![0.0_f32; self.skills];
        for word in words {
            self.count(word, query, known, &mut scores);
        }
        let mut found: Vec<(usize, f32)> = scores.into_iter().enumerate().collect();
        found.retain(|(_, score)| *score > 0.0);
        let better = |left: &(usize, f32), right: &(usize, f32)| -> Ordering {
            right.1.total_cmp(&left.1).then(left.0.cmp(&right.0))
        };
        if found.len() > query.most {
            found.select_nth_unstable_by(query.most, better);
            found.truncate(query.most);
        }
        found.sort_unstable_by(better);
        found.into_iter().map(|(position, _)| position).collect()
    }
}

impl Bm25Index {
    /// Adds what a word counts to the scores of the skills it is found in.
    fn count(&self, word: Token<'_>, query: &SearchQuery<'_>, known: usize, scores: &mut [f32]) {
        let terms = self.matching(word);
        let in_skills = |term: &Term| {
            let postings = self.postings[term.postings.clone()].iter();
            postings.filter(|posting| query.knows(posting.skill as usize))
        };
        let found: usize = terms.iter().map(|(term, _)| in_skills(term).count()).sum();
        if found == 0 {
            return;
        }
        // A skill that holds several of them counts more than once.
        let found = real(found.min(known));
        let rarity = ((real(known) - found + 0.5) / (found + 0.5)).ln_1p();
        for (term, weight) in terms {
            for posting in in_skills(term) {
                scores[posting.skill as usize] += rarity * weight * posting.weight;
            }
        }
    }

    /// The words of the index that a word of a query finds, with what they count.
    fn matching(&self, word: Token<'_>) -> Vec<(&Term, f32)> {
        let (word, letters) = match word {
            Token::Gram(gram) => (gram, 0),
            Token::Word(word) => (word, word.chars().count()),
        };
        if letters < 3 {
            let found = self.terms[self.starting(word)].first();
            let found = found.filter(|term| self.letters(term) == word);
            return found.map(|term| (term, 1.0)).into_iter().collect();
        }
        let cut = (letters / 4).min(3).min(letters.saturating_sub(4));
        let stem = word.char_indices().nth(letters - cut);
        let stem = stem.map_or(word, |(end, _)| &word[..end]);
        let terms = self.terms[self.starting(stem)].iter();
        let found = terms.filter_map(|term| {
            let text = self.letters(term);
            if text == word {
                return Some((term, 1.0));
            }
            let is_kin = text.starts_with(word) || text.chars().count() <= letters + cut;
            is_kin.then_some((term, KIN))
        });
        found.collect()
    }

    /// The words that start with a text.
    fn starting(&self, text: &str) -> Range<usize> {
        let start = self.terms.partition_point(|term| self.letters(term) < text);
        let count =
            self.terms[start..].partition_point(|term| self.letters(term).starts_with(text));
        start..start + count
    }

    fn letters(&self, term: &Term) -> &str {
        &self.letters[term.letters.clone()]
    }
}

/// A count as a number to reckon with.
#[allow(
    clippy::cast_precision_loss,
    reason = "beyond sixteen million the last digits do not matter"
)]
fn real(count: usize) -> f32 {
    count as f32
}
