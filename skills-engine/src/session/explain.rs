use serde::Serialize;

use crate::skill::{Expose, Level, Timestamp};

use super::{Decision, MemberFacts, SkillFacts, Standing, Why, decide, effective};

/// Why a model sees a member or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// What the rule says.
    pub decision: Decision,
    /// The effective level of the skill, if there is such a skill.
    pub level: Option<Level>,
    /// What led there, one sentence each, then what would open it.
    pub reasons: Vec<String>,
}

/// What is to be explained: the same facts that [`decide`] takes, with their names.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the inputs of the rule; another one would have to be given by every caller"
)]
pub struct Question<'a> {
    /// The id asked for.
    pub skill: &'a str,
    /// The tool or attribute asked for.
    pub member: &'a str,
    /// The skill, if there is one with this id.
    pub skill_facts: Option<&'a SkillFacts>,
    /// The member, if the skill has it.
    pub member_facts: Option<&'a MemberFacts>,
    /// How the skill stands in the session.
    pub standing: Standing<'a>,
    /// The highest live grant of this turn.
    pub turn: Option<Level>,
}

/// Answers "why can the model not see X?" with each number that went into the decision, and with what would
/// open it.
#[must_use]
pub fn explain(question: &Question<'_>, now: Timestamp) -> Explanation {
    let Question {
        skill,
        member,
        skill_facts,
        member_facts,
        standing,
        turn,
    } = question;
    let decision = decide(*skill_facts, *member_facts, standing, *turn, now);
    let Some(facts) = skill_facts else {
        return Explanation {
            decision,
            level: None,
            reasons: vec![format!("there is no skill `{skill}`; check the id")],
        };
    };
    let level = effective(facts.base, standing, *turn, now);
    let mut reasons = level_reasons(question, facts.base, now);
    reasons.push(format!("so `{skill}` is at {level}"));
    if let Some(facts) = member_facts {
        reasons.push(match facts.expose {
            Expose::Psl => format!("`{member}` is visible from {} on", facts.level),
            Expose::Always => format!(
                "`{member}` is visible whatever is granted, while no ceiling is below {}",
                facts.level
            ),
            Expose::Disabled => format!("`{member}` is disabled: no model ever sees it"),
        });
    }
    reasons.push(verdict(question, decision));
    Explanation {
        decision,
        level: Some(level),
        reasons,
    }
}

fn level_reasons(question: &Question<'_>, base: Level, now: Timestamp) -> Vec<String> {
    let (skill, standing) = (question.skill, &question.standing);
    let mut reasons = vec![format!("`{skill}` starts at {base}")];
    for grant in standing.grants() {
        let (actor, level) = (grant.actor(), grant.level());
        reasons.push(match grant.expires_at() {
            None => format!("the {actor} set it to {level} until it is cleared"),
            Some(at) if grant.is_live(now) => format!("the {actor} opened {level} until {at}"),
            Some(at) => format!("the {actor} opened {level}, which ended at {at}"),
        });
    }
    if let Some(level) = question.turn {
        reasons.push(format!("this turn opened {level}"));
    }
    if let Some(ceiling) = standing.ceiling() {
        reasons.push(format!("the session limits it to {ceiling}"));
    }
    reasons
}

fn verdict(question: &Question<'_>, decision: Decision) -> String {
    let (skill, member) = (question.skill, question.member);
    match decision {
        Decision::Visible => format!("the model sees `{member}`"),
        Decision::Hidden { need, .. } => match question.standing.ceiling() {
            Some(ceiling) if ceiling < need => format!(
                "to show `{member}`, lift the limit of `{skill}` to {need} and set `{skill}` to {need} if it is below"
            ),
            Some(_) | None => format!("to show `{member}`, set `{skill}` to {need}"),
        },
        Decision::Denied(Why::SwitchedOff) => {
            format!("`{skill}` is switched off; to show `{member}`, enable `{skill}`")
        }
        Decision::Disabled => {
            format!("nothing opens `{member}`; call it in code, or expose it another way")
        }
        Decision::Unknown => {
            format!("`{skill}` has no tool or attribute `{member}`; check the name")
        }
    }
}
