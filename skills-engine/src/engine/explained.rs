use super::epoch::Epoch;
use super::inner::EngineInner;
use super::session::Session;
use super::turn::Turn;
use crate::registry::{SkillIndex, whence};
use crate::session::{Explanation, MemberFacts, Question, SessionState, explain};
use crate::skill::Level;

impl Session {
    /// Says why the model can see a member of a skill, or why not; grants of running turns left out.
    #[must_use]
    pub fn explain(&self, skill: &str, member: &str) -> Explanation {
        let (engine, cell) = self.parts();
        explanation(
            engine,
            &engine.epoch(),
            &cell.published().1,
            None,
            skill,
            member,
        )
    }
}

impl Turn {
    /// Says why the model can see a member of a skill in this turn, or why not.
    #[must_use]
    pub fn explain(&self, skill: &str, member: &str) -> Explanation {
        let core = &*self.core;
        let state = core.cell.published().1;
        let turn = core.with_grants(|grants| grants.level(skill, &state));
        // While the engine is switched off, the turn's own registry is empty; the explanation says so of each skill.
        let whole = core.engine.off.is_some().then(|| core.engine.epoch());
        let epoch = whole.as_ref().unwrap_or(&core.epoch);
        explanation(&core.engine, epoch, &state, turn, skill, member)
    }
}

fn explanation(
    engine: &EngineInner,
    epoch: &Epoch,
    state: &SessionState,
    turn: Option<Level>,
    skill: &str,
    member: &str,
) -> Explanation {
    let found = epoch.registry.find(skill).map(|(index, _)| index);
    let skill_facts = found.map(|index| {
        let is_off = engine.off.is_some() || epoch.is_off(index);
        epoch.facts(index).switched_off(is_off)
    });
    let member_facts = found.and_then(|index| member_facts(epoch, index, member));
    let question = Question {
        skill,
        member,
        skill_facts: skill_facts.as_ref(),
        member_facts: member_facts.as_ref(),
        standing: state.standing(skill),
        turn,
    };
    let mut explanation = explain(&question, engine.clock.now());
    if let Some(index) = found {
        let whence = whence(&*epoch.registry.skill(index).skill);
        explanation
            .reasons
            .insert(0, format!("`{skill}` is {whence}"));
    }
    explanation
}

/// What the rule needs to know of a member; a tool comes before an attribute of the same name.
fn member_facts(epoch: &Epoch, skill: SkillIndex, member: &str) -> Option<MemberFacts> {
    let registry = &epoch.registry;
    if let Some(tool) = registry.tool_index(skill, member) {
        let definition = &registry.tool(tool).definition;
        return Some(MemberFacts::new(definition.level, definition.expose));
    }
    let definition = &registry
        .attribute(registry.attribute_index(skill, member)?)
        .definition;
    Some(MemberFacts::new(definition.level, definition.expose))
}
