use std::sync::Arc;

use super::epoch::Epoch;
use super::inner::EngineInner;
use super::rights::Rights;
use super::session::Session;
use super::turn::Turn;
use crate::registry::{SkillIndex, whence};
use crate::session::{
    Decision, Explanation, MemberFacts, Question, SessionState, TurnStanding, Why, explain,
};
use crate::skill::{Principal, shown};

impl Session {
    /// Says why the model can see a member of a skill, or why not; grants of running turns left out.
    #[must_use]
    pub fn explain(&self, skill: &str, member: &str) -> Explanation {
        let (engine, cell) = self.parts();
        let epoch = engine.epoch();
        let (state, access) = cell.standing();
        let rights = engine.resolve(&epoch, cell, access.as_ref(), &[]).rights;
        Explained {
            engine,
            epoch: &epoch,
            rights: &rights,
            state: &state,
            turn: TurnStanding::default(),
            own: None,
            principal: cell.principal(),
        }
        .explanation(skill, member)
    }
}

impl Turn {
    /// Says why the model can see a member of a skill in this turn, or why not.
    #[must_use]
    pub fn explain(&self, skill: &str, member: &str) -> Explanation {
        let core = &*self.core;
        let (state, access) = core.cell.standing();
        let turn = core.standing(skill, &state);
        // While the engine is switched off, the turn's own registry is empty; the explanation says so of each skill.
        let whole = core.engine.off.is_some().then(|| core.engine.epoch());
        let (epoch, rights) = match &whole {
            Some(epoch) => {
                let resolved = core.resolve(epoch, access.as_ref());
                (epoch, resolved.rights)
            }
            None => (&core.epoch, core.with_rights(access.as_ref(), Arc::clone)),
        };
        let own = whole.is_none().then(|| core.own_tool_facts(skill, member));
        let own = own.flatten();
        Explained {
            engine: &core.engine,
            epoch,
            rights: &rights,
            state: &state,
            turn,
            own,
            principal: core.cell.principal(),
        }
        .explanation(skill, member)
    }
}

/// What an explanation is read from.
struct Explained<'a> {
    engine: &'a EngineInner,
    epoch: &'a Epoch,
    rights: &'a Rights,
    state: &'a SessionState,
    turn: TurnStanding,
    /// The member, when it is a tool that the turn alone has.
    own: Option<MemberFacts>,
    principal: Principal,
}

impl Explained<'_> {
    fn explanation(&self, skill: &str, member: &str) -> Explanation {
        let registry = &self.epoch.registry;
        let found = registry.find(skill).map(|(index, _)| index);
        let skill_facts = found.map(|index| {
            let facts = self.rights.skill(registry, index);
            if self.engine.off.is_some() {
                facts.denied(Some(Why::SwitchedOff))
            } else {
                facts
            }
        });
        let member_facts = found.and_then(|index| self.member_facts(index, member));
        let question = Question {
            skill,
            member,
            skill_facts: skill_facts.as_ref(),
            member_facts: member_facts.as_ref(),
            standing: self.state.standing(skill),
            turn: self.turn,
        };
        let mut explanation = explain(&question, self.engine.clock.now());
        if explanation.decision == Decision::Denied(Why::NoRole) {
            let at = explanation.reasons.len().saturating_sub(1);
            explanation.reasons.insert(at, self.roles());
        }
        let unmet = found.map_or(&[][..], |index| &registry.skill(index).definition().unmet);
        if !unmet.is_empty() {
            let at = explanation.reasons.len().saturating_sub(1);
            let reason = format!(
                "`{skill}` needs {}, which this machine lacks, so no model is shown it",
                unmet.join(", ")
            );
            explanation.reasons.insert(at, reason);
        }
        if let Some(index) = found {
            let whence = whence(&*registry.skill(index).skill);
            explanation
                .reasons
                .insert(0, format!("`{skill}` is {whence}"));
        }
        explanation
    }

    /// Names the principal's roles, and those that are none.
    fn roles(&self) -> String {
        let roles = self.principal.roles().map(|role| {
            let name = shown(role, 64);
            if self.engine.governance.roles.has(role) {
                format!("`{name}`")
            } else {
                format!("`{name}` (no such role is configured)")
            }
        });
        let roles: Vec<_> = roles.collect();
        if roles.is_empty() {
            return "the principal has no roles".to_owned();
        }
        format!("the principal's roles are {}", roles.join(", "))
    }

    /// What the rule needs to know of a member; a tool comes before an attribute of the same name.
    fn member_facts(&self, skill: SkillIndex, member: &str) -> Option<MemberFacts> {
        if self.own.is_some() {
            return self.own;
        }
        let registry = &self.epoch.registry;
        if let Some(tool) = registry.tool_index(skill, member) {
            return Some(self.rights.tool(registry, tool));
        }
        let attribute = registry.attribute_index(skill, member)?;
        Some(self.rights.attribute(registry, attribute))
    }
}
