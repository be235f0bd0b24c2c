//! How skills are found: an index of a registry, made once, and queries by those who may know a part of it.

mod bm25;
mod kept;
mod tokens;

use std::borrow::Cow;

pub use self::bm25::Bm25Search;
pub(super) use self::kept::KeptIndex;

/// A skill as a search is given it, as it may be shown: with a host's redactor, what it left.
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

/// What is looked for, and by whom.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SearchQuery<'a> {
    /// What a model or a host wrote, in at most `limits.query` characters.
    pub text: &'a str,
    /// How many skills to answer with at most.
    pub most: usize,
    known: &'a [bool],
}

impl<'a> SearchQuery<'a> {
    /// A query by someone who may know of the skills at the positions where `known` is true.
    #[must_use]
    pub fn new(text: &'a str, most: usize, known: &'a [bool]) -> Self {
        Self { text, most, known }
    }

    /// Whether the one who asks may know of the skill at a position.
    #[must_use]
    pub fn knows(&self, position: usize) -> bool {
        self.known.get(position).copied().unwrap_or(false)
    }

    /// How many skills the one who asks may know of.
    #[must_use]
    pub fn known_count(&self) -> usize {
        self.known.iter().filter(|known| **known).count()
    }
}

/// Finds skills by what is said of them. The default is [`Bm25Search`].
///
/// An engine asks for an index when something is first searched in a registry, once for all sessions, on a thread that
/// may block. A refresh leads to a new one. Where a redactor stands between, an index holds only the skills that someone
/// who searched may know of, and gives way to a larger one when another may know of more.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use skills_engine::engine::{SearchIndex, SearchQuery, Searched, SkillSearch};
/// use skills_engine::Engine;
///
/// /// Finds skills by the start of their ids.
/// struct ByStart;
///
/// struct Ids(Vec<String>);
///
/// impl SkillSearch for ByStart {
///     fn index(&self, skills: &[Searched<'_>]) -> Box<dyn SearchIndex> {
///         Box::new(Ids(skills.iter().map(|skill| skill.id.to_owned()).collect()))
///     }
/// }
///
/// impl SearchIndex for Ids {
///     fn search(&self, query: &SearchQuery<'_>) -> Vec<usize> {
///         let found = (0..self.0.len()).filter(|at| query.knows(*at) && self.0[*at].starts_with(query.text));
///         found.take(query.most).collect()
///     }
/// }
///
/// let builder = Engine::builder().search(Arc::new(ByStart));
/// # let _ = builder;
/// ```
pub trait SkillSearch: Send + Sync + 'static {
    /// Makes an index of skills, which are in the order of their ids.
    ///
    /// It may take its time, and the first search waits for it.
    fn index(&self, skills: &[Searched<'_>]) -> Box<dyn SearchIndex>;
}

/// What a [`SkillSearch`] made of a registry.
pub trait SearchIndex: Send + Sync + 'static {
    /// Positions, in the list that the index was made of, of the skills that match, best first and `query.most` at most.
    ///
    /// The same query by someone who knows the same skills must come out the same. A skill that
    /// [is not known](SearchQuery::knows) must not be among them, and should have no part in their order: otherwise it
    /// can be guessed. What is answered beyond this is left out.
    ///
    /// It is called on the threads of async tasks: it must neither block nor take long.
    fn search(&self, query: &SearchQuery<'_>) -> Vec<usize>;
}
