use serde::Serialize;

use crate::skill::{Expose, Level, Timestamp};

use super::{Decision, MemberFacts, SkillFacts, Standing, TurnStanding, Why, decide, effective};

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
    /// What the live grants of this turn open.
    pub turn: TurnStanding,
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
    let level = effective(facts, standing, *turn, now);
    let mut reasons = level_reasons(question, **facts, now);
    reasons.push(format!("so `{skill}` is at {level}"));
    if facts.host_only {
        reasons.push(format!(
            "`{skill}` is opened by the host or the user alone, never by the model"
        ));
    }
    if let Some(facts) = member_facts {
        if let Some(ceiling) = facts.ceiling {
            reasons.push(format!(
                "the principal's roles give `{member}` {ceiling} at most"
            ));
        }
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

fn level_reasons(question: &Question<'_>, facts: SkillFacts, now: Timestamp) -> Vec<String> {
    let (skill, standing) = (question.skill, &question.standing);
    let mut reasons = vec![format!("`{skill}` starts at {}", facts.base)];
    for grant in standing.grants() {
        let (actor, level) = (grant.actor(), grant.level());
        reasons.push(match grant.expires_at() {
            None => format!("the {actor} set it to {level} until it is cleared"),
            Some(at) if grant.is_live(now) => format!("the {actor} opened {level} until {at}"),
            Some(at) => format!("the {actor} opened {level}, which ended at {at}"),
        });
    }
    if let Some(level) = question.turn.level {
        reasons.push(format!("this turn opened {level}"));
    }
    if let Some(ceiling) = standing.ceiling() {
        reasons.push(format!("the session limits it to {ceiling}"));
    }
    if let Some(ceiling) = facts.role_ceiling {
        reasons.push(format!("the principal's roles give {ceiling} at most"));
    }
    if let Some(ceiling) = facts.parent_ceiling {
        reasons.push(format!("the parent session is at {ceiling}"));
    }
    reasons
}

fn verdict(question: &Question<'_>, decision: Decision) -> String {
    let (skill, member) = (question.skill, question.member);
    match decision {
        Decision::Visible => format!("the model sees `{member}`"),
        Decision::Hidden { need, .. } => hidden(question, need),
        Decision::Denied(why) => denied(question, why),
        Decision::Disabled => {
            format!("nothing opens `{member}`; call it in code, or expose it another way")
        }
        Decision::Unknown => {
            format!("`{skill}` has no tool or attribute `{member}`; check the name")
        }
    }
}

/// Everything that has to change before a member shows.
fn hidden(question: &Question<'_>, need: Level) -> String {
    let (skill, member) = (question.skill, question.member);
    let mut steps = Vec::new();
    let is_below = |ceiling: Option<Level>| ceiling.is_some_and(|ceiling| ceiling < need);
    let role_ceilings = [
        question.skill_facts.and_then(|facts| facts.role_ceiling),
        question.member_facts.and_then(|facts| facts.ceiling),
    ];
    if role_ceilings.into_iter().any(is_below) {
        steps.push(format!("give the principal a role that allows {need}"));
    }
    if is_below(question.skill_facts.and_then(|facts| facts.parent_ceiling)) {
        steps.push(format!("open `{skill}` at {need} in the parent session"));
    }
    if is_below(question.standing.ceiling()) {
        steps.push(format!("lift the limit of `{skill}` to {need}"));
    }
    let is_capped = !steps.is_empty();
    let exposed = question.member_facts.map(|facts| facts.expose);
    if exposed == Some(Expose::Always) {
        if question.skill_facts.is_some_and(|facts| facts.host_only) {
            steps.push(format!("open `{skill}` as the host or the user"));
        }
    } else {
        let condition = if is_capped { " if it is below" } else { "" };
        steps.push(format!("set `{skill}` to {need}{condition}"));
    }
    format!("to show `{member}`, {}", steps.join(" and "))
}

fn denied(question: &Question<'_>, why: Why) -> String {
    let (skill, member) = (question.skill, question.member);
    match why {
        Why::SwitchedOff => {
            format!("`{skill}` is switched off; to show `{member}`, enable `{skill}`")
        }
        Why::CodeOnly => format!(
            "`{skill}` is for code alone; to show `{member}`, take `code_only` off the skill"
        ),
        Why::Unmet => format!(
            "`{skill}` needs what this machine lacks; to show `{member}`, see to that and refresh the skills"
        ),
        Why::NoRole => format!(
            "no role of the principal covers `{skill}/{member}`; to show it, give the principal a role that does"
        ),
        Why::NotListed => format!(
            "an allow-list leaves `{skill}/{member}` out; to show it, name it in every list of the session and the request"
        ),
        Why::NoControl => format!(
            "the model of this session may not open skills, so `{skill}` is not shown; to show it, let the model control them"
        ),
        Why::Parent => format!(
            "the parent session, or the turn of it that made this session, does not see `{skill}/{member}`; ask there why, and open it there"
        ),
        Why::NotSupported => format!(
            "`{skill}` does not support the request of this turn; a request that it supports shows `{member}`"
        ),
        Why::HookFailed => format!(
            "a hook of `{skill}` failed when this turn began, which the audit trail tells of; the next turn asks it again"
        ),
        Why::NotAsked => format!(
            "`{skill}` took no part when this turn began, so its hooks were not asked; the next turn asks them"
        ),
        Why::NotSelected => format!(
            "`{skill}` does not offer `{member}` in this turn; a request for which it does shows it"
        ),
        Why::NotAllowed => format!(
            "skills that are open list the tools that may be used meanwhile, and not `{skill}/{member}`; to show it, close them, or list it in one of them"
        ),
        Why::NothingToLoad => format!(
            "this session sees no skill that `{member}` could load or read from; let it see one"
        ),
    }
}
