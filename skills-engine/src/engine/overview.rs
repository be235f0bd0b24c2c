use std::sync::Arc;

use super::control::Control;
use super::search::KeptIndex;
use crate::registry::{SkillIndex, ToolIndex};
use crate::session::{
    Decision, MemberFacts, SessionState, SkillFacts, TurnStanding, decide, effective, is_opened,
};
use crate::skill::{Actor, Fault, Level, SkillMatch, SkillVisibility, Timestamp, VisibilityChange};

/// Skills in one answer to a search.
const MATCHES: usize = 20;

/// What a session, or a turn of it, tells of its skills.
impl Control<'_> {
    pub(super) fn list(&self) -> Vec<SkillVisibility> {
        let state = self.cell.published().1;
        let now = self.engine.clock.now();
        (0..)
            .zip(&self.epoch.registry.skills)
            .filter(|(index, _)| self.is_told_of(*index, &state))
            .map(|(index, registered)| {
                let standing = state.standing(&registered.id);
                let mut grants = standing.list(now);
                if let Some(turn) = self.turn {
                    grants.extend(
                        turn.with_grants(|of_turn| of_turn.list(Some(&registered.id), &state)),
                    );
                }
                SkillVisibility {
                    skill: (*registered.id).to_owned(),
                    level: self.level(index, &state),
                    base: registered.base(),
                    ceiling: self.facts(index).ceiling(&standing),
                    grants,
                }
            })
            .collect()
    }

    pub(super) async fn search(&self, query: &str) -> Result<Vec<SkillMatch>, Fault> {
        let engine = self.engine;
        engine.check_query(query)?;
        let state = self.cell.published().1;
        let skills = (0..).zip(&self.epoch.registry.skills);
        let known: Vec<bool> = skills
            .map(|(index, _)| self.is_told_of(index, &state))
            .collect();
        let index = KeptIndex::get(self.epoch, &known, &engine.search, &engine.pool).await?;
        let found = index.search(query, MATCHES, &known).into_iter();
        let matches = found.map(|skill| {
            let shown = self.epoch.words.skill(&self.epoch.registry, skill);
            SkillMatch {
                skill: (*self.epoch.registry.skill(skill).id).to_owned(),
                name: shown.name.clone().into_owned(),
                description: shown.description.clone().into_owned(),
                level: self.level(skill, &state),
            }
        });
        Ok(matches.collect())
    }

    /// Whether whoever asks may know of a skill: a model only once it was opened, where it may not begin it itself.
    pub(super) fn is_told_of(&self, index: SkillIndex, state: &SessionState) -> bool {
        let registered = self.epoch.registry.skill(index);
        if self.rights.is_denied(index) || registered.is_built_in() {
            return false;
        }
        registered.is_told_of() || self.actor > Actor::Model || {
            let standing = state.standing(&registered.id);
            let turn = self.turn_standing(&registered.id, state);
            is_opened(self.facts(index), standing, turn, self.engine.clock.now())
        }
    }

    pub(super) fn level(&self, index: SkillIndex, state: &SessionState) -> Level {
        let id = &self.epoch.registry.skill(index).id;
        effective(
            &self.facts(index),
            &state.standing(id),
            self.turn_standing(id, state),
            self.engine.clock.now(),
        )
    }

    /// The level of what may be no skill at all.
    pub(super) fn level_of(&self, skill: &str, state: &SessionState) -> Level {
        let found = self.epoch.registry.find(skill);
        found.map_or(Level::Metadata, |(index, _)| self.level(index, state))
    }

    pub(super) fn facts(&self, index: SkillIndex) -> SkillFacts {
        self.rights.skill(&self.epoch.registry, index)
    }

    pub(super) fn turn_standing(&self, skill: &str, state: &SessionState) -> TurnStanding {
        self.turn
            .map_or_else(TurnStanding::default, |turn| turn.standing(skill, state))
    }

    /// The members of a skill that are visible.
    pub(super) fn members(&self, index: SkillIndex, state: &SessionState) -> Members {
        let registry = &self.epoch.registry;
        let registered = registry.skill(index);
        let facts = self.facts(index);
        let standing = state.standing(&registered.id);
        let turn = self.turn_standing(&registered.id, state);
        let now = self.engine.clock.now();
        let is_visible = |member: MemberFacts| {
            decide(Some(&facts), Some(&member), &standing, turn, now) == Decision::Visible
        };
        let mut tools: Vec<_> = registered.tools.all().collect();
        tools.retain(|tool| is_visible(self.rights.tool(registry, *tool)));
        if let Some(turn) = self.turn {
            let own = turn.own_tools(Some(index));
            let access = self.cell.access();
            tools.extend(own.filter(|tool| is_visible(turn.tool_facts(access.as_ref(), *tool).1)));
        }
        Members {
            tools,
            attributes: registered
                .attributes
                .all()
                .filter(|attribute| is_visible(self.rights.attribute(registry, *attribute)))
                .collect(),
        }
    }

    pub(super) fn tool_name(&self, tool: ToolIndex) -> &Arc<str> {
        match self.turn {
            Some(turn) => turn.tool_name(tool),
            None => self.epoch.catalogue.name(tool),
        }
    }

    pub(super) fn told(
        &self,
        index: SkillIndex,
        (old_level, asked): (Level, Level),
        (span, expires_at): (&'static str, Option<Timestamp>),
        already_open: bool,
        before: &Members,
        after: &SessionState,
    ) -> VisibilityChange {
        // It may have waited for the store, or for a person.
        let now = self.renewed();
        let seen = now.members(index, after);
        let new = |now: &[u32], before: &[u32]| -> Vec<u32> {
            now.iter()
                .filter(|member| !before.contains(member))
                .copied()
                .collect()
        };
        VisibilityChange {
            skill: (*self.epoch.registry.skill(index).id).to_owned(),
            old_level,
            new_level: now.level(index, after),
            span,
            expires_at,
            capped_by: now
                .facts(index)
                .ceiling(&after.standing(&self.epoch.registry.skill(index).id))
                .filter(|ceiling| *ceiling < asked),
            already_open,
            new_tools: new(&seen.tools, &before.tools)
                .into_iter()
                .map(|tool| (**self.tool_name(tool)).to_owned())
                .collect(),
            new_attributes: new(&seen.attributes, &before.attributes)
                .into_iter()
                .map(|attribute| (*self.epoch.registry.attribute(attribute).name).to_owned())
                .collect(),
            instructions: None,
        }
    }
}

/// The visible members of a skill.
pub(super) struct Members {
    pub(super) tools: Vec<u32>,
    pub(super) attributes: Vec<u32>,
}
