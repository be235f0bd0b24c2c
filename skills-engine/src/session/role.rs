use std::collections::BTreeMap;

use super::{Coverage, Pattern};
use crate::skill::{Fault, Level};

/// What a role gives: patterns, each with the highest level it opens.
///
#[doc = include_str!("../docs/governance.md")]
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Role {
    patterns: Vec<(String, Level)>,
}

impl Role {
    /// Lets those who have the role open what a pattern names, up to a level. The pattern is checked when the
    /// engine is built.
    pub fn allow(mut self, pattern: impl Into<String>, level: Level) -> Self {
        self.patterns.push((pattern.into(), level));
        self
    }

    /// The patterns, in the order they were given.
    pub(crate) fn patterns(&self) -> &[(String, Level)] {
        &self.patterns
    }
}

/// The roles that are configured; none means that everything is allowed to everyone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roles {
    by_name: BTreeMap<String, Vec<(Pattern, Level)>>,
}

impl Roles {
    /// Checks and adds a role; a second one of a name adds to the first.
    pub(crate) fn add(&mut self, name: String, role: Role) -> Result<(), Vec<Fault>> {
        let known = self.by_name.entry(name).or_default();
        let mut faults = Vec::new();
        for (pattern, level) in role.patterns {
            match Pattern::parse(&pattern) {
                Ok(pattern) => known.push((pattern, level)),
                Err(fault) => faults.push(fault),
            }
        }
        if faults.is_empty() {
            Ok(())
        } else {
            Err(faults)
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Every pattern of every role, with the role's name.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = (&str, &Pattern)> {
        self.by_name.iter().flat_map(|(name, patterns)| {
            patterns.iter().map(move |(pattern, _)| (&**name, pattern))
        })
    }

    /// What some of the roles give together. Names that are not configured give nothing.
    pub(crate) fn of<'a>(&'a self, names: impl Iterator<Item = &'a str>) -> Given<'a> {
        let roles = names.filter_map(|name| self.by_name.get(name));
        Given {
            patterns: roles.flatten().collect(),
        }
    }
}

/// What the roles of a principal give together: of several, the highest level counts.
pub(crate) struct Given<'a> {
    patterns: Vec<&'a (Pattern, Level)>,
}

/// What roles give of one skill.
pub(crate) struct GivenSkill<'a> {
    patterns: Vec<&'a (Pattern, Level)>,
    /// The highest level for anything of it.
    pub(crate) most: Level,
    /// The level for all of it.
    pub(crate) whole: Option<Level>,
}

impl<'a> Given<'a> {
    /// What is given of a skill, if anything is.
    pub(crate) fn skill(&self, skill: &str) -> Option<GivenSkill<'a>> {
        let patterns: Vec<_> = self
            .patterns
            .iter()
            .filter(|(pattern, _)| pattern.coverage(skill) > Coverage::Nothing)
            .copied()
            .collect();
        let most = patterns.iter().map(|(_, level)| *level).max()?;
        let whole = patterns
            .iter()
            .filter(|(pattern, _)| pattern.member().is_none())
            .map(|(_, level)| *level)
            .max();
        Some(GivenSkill {
            patterns,
            most,
            whole,
        })
    }
}

impl GivenSkill<'_> {
    /// The highest level for a member, if it is named at all.
    pub(crate) fn member(&self, member: &str) -> Option<Level> {
        let named = self
            .patterns
            .iter()
            .filter(|(pattern, _)| pattern.covers_member(member));
        named.map(|(_, level)| *level).max()
    }

    /// Whether every member is given what the skill is given.
    pub(crate) fn is_even(&self) -> bool {
        self.whole == Some(self.most)
    }
}
