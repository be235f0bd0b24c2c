use std::sync::Arc;

use super::epoch::Epoch;
use super::inner::EngineInner;
use super::rights::Rights;
use super::session::Session;
use super::turn::Turn;
use crate::registry::{SkillIndex, whence};
use crate::session::{
    Decision, Explanation, MemberFacts, Question, SessionState, TurnGrants, TurnStanding, Why,
    explain,
};
use crate::skill::{AllowedTools, Expose, Level, Principal, ToolPattern, shown};

/// What the body of a skill is called.
const BODY: &str = "SKILL.md";

impl Session {
    /// Says why the model can see a member of a skill, or why not; grants of running turns left out.
    ///
    /// A tool or an attribute goes by its name. Of a skill with a body, `SKILL.md` is the body, and a path of its list a
    /// file.
    #[must_use]
    pub fn explain(&self, skill: &str, member: &str) -> Explanation {
        let (engine, cell) = self.parts();
        let epoch = engine.epoch();
        let (state, access) = cell.standing();
        let rights = engine.rights_of_session(&epoch, cell, access.as_ref(), &state, None);
        Explained {
            engine,
            epoch: &epoch,
            rights: &rights,
            narrowing: engine.narrowing(
                &epoch,
                &rights,
                &state,
                &TurnGrants::default(),
                engine.clock.now(),
            ),
            state: &state,
            turn: TurnStanding::default(),
            own: None,
            principal: cell.principal(),
        }
        .explanation(skill, member)
    }
}

impl Turn {
    /// Says why the model can see a member of a skill in this turn, or why not; members are named as in
    /// [`Session::explain`].
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
            narrowing: core.narrowing(epoch, &rights),
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
    /// The open skills whose lists of tools hold.
    narrowing: Box<[SkillIndex]>,
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
        if explanation.decision == Decision::Denied(Why::NotAllowed) {
            let at = explanation.reasons.len().saturating_sub(1);
            explanation.reasons.insert(at, self.lists());
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
        if explanation.decision == Decision::Unknown
            && found.is_some_and(|index| registry.skill(index).content().is_some())
        {
            let reason =
                format!("`{BODY}` is the body of `{skill}`, and its files go by their paths");
            explanation.reasons.push(reason);
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

    /// Names the open skills whose lists of tools hold.
    fn lists(&self) -> String {
        let skills = self.narrowing.iter().map(|index| {
            let registered = self.epoch.registry.skill(*index);
            let allowed = registered.definition().allowed_tools.as_ref();
            let patterns = allowed.map_or(&[][..], AllowedTools::patterns).iter();
            let patterns: Vec<_> = patterns.take(20).map(ToolPattern::as_str).collect();
            match (allowed, patterns.is_empty()) {
                (Some(allowed), _) if allowed.is_unparsable() => {
                    format!(
                        "that of `{}` cannot be read and names no tool",
                        registered.id
                    )
                }
                (_, true) => format!("that of `{}` names no tool", registered.id),
                _ => format!(
                    "that of `{}` begins `{}`",
                    registered.id,
                    shown(&patterns.join(" "), 200)
                ),
            }
        });
        format!(
            "of the lists of tools of open skills, {}",
            skills.collect::<Vec<_>>().join(", ")
        )
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
        if let Some(attribute) = registry.attribute_index(skill, member) {
            return Some(self.rights.attribute(registry, attribute));
        }
        self.content_facts(skill, member)
    }

    /// The same of what a skill holds: its body, or a listed file.
    fn content_facts(&self, skill: SkillIndex, member: &str) -> Option<MemberFacts> {
        let content = self.epoch.registry.skill(skill).content()?;
        let level = if member == BODY {
            Level::Context
        } else {
            let mut files = content.resources().iter();
            files.find(|file| *file.path == *member)?.level()
        };
        // Lists and roles that name single members leave out what else the skill holds.
        let is_left_out = !self.rights.has_instructions(skill);
        let facts = MemberFacts::new(level, Expose::Psl);
        Some(facts.denied(is_left_out.then_some(Why::NotListed)))
    }
}
