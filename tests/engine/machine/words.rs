//! What the model says in its own words, in those of the engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use skills_engine::session::{Decision, PslControl, Why};
use skills_engine::skill::{
    self, Attribute, BuiltSkill, Code, NoArguments, SkillBuilder, Tool, ToolSelection, TurnRequest,
    gates,
};

use super::model::{Reason, Refusal};
use super::universe::{
    ATTRIBUTE, Actor, Control, Expose, Hook, Kind, Level, MEMBERS, Member, Pattern, ROLES, Skill,
    Span, member_name, skill_id,
};

/// A skill whose tools count their runs.
pub(super) fn built(index: usize, of_model: &Skill, runs: &Arc<AtomicU64>) -> BuiltSkill {
    let mut skill = SkillBuilder::new(skill_id(index))
        .base_level(level(of_model.base))
        .instructions(format!("Instructions of {}.", skill_id(index)));
    if of_model.host_only {
        skill = skill.host_only();
    }
    if of_model.code_only {
        skill = skill.code_only();
    }
    for (place, member) in of_model.members.iter().enumerate().take(MEMBERS) {
        let name = member_name(index, place);
        let (from, exposed) = (level(member.level), expose(member.expose));
        skill = match member.kind {
            Kind::Tool => skill.tool(tool(index, place, *member, runs)),
            Kind::Constant => {
                let constant = Attribute::constant(name, "", &1).unwrap();
                skill.attribute(constant.level(from).expose(exposed))
            }
            Kind::Live => {
                let live = Attribute::live(name, "", |_| 2);
                skill.attribute(live.level(from).expose(exposed))
            }
        };
    }
    let is_asked = gates::attribute(ATTRIBUTE);
    let otherwise = match of_model.hook {
        Hook::None => return skill.build().unwrap(),
        Hook::Supports => return skill.supports(is_asked).build().unwrap(),
        Hook::Selects if of_model.members[0].kind == Kind::Tool => {
            ToolSelection::only([member_name(index, 0)])
        }
        Hook::Selects => ToolSelection::none(),
        Hook::Replaces => {
            ToolSelection::replace([tool(index, MEMBERS, of_model.members[MEMBERS], runs)])
        }
    };
    let select = move |request: &TurnRequest| {
        if is_asked(request) {
            ToolSelection::All
        } else {
            otherwise.clone()
        }
    };
    skill.dynamic_tools(select).build().unwrap()
}

fn tool(skill: usize, place: usize, member: Member, runs: &Arc<AtomicU64>) -> Tool {
    let runs = Arc::clone(runs);
    let run = move |_: NoArguments, _| {
        runs.fetch_add(1, Ordering::Relaxed);
        async {}
    };
    Tool::new(member_name(skill, place), "", run)
        .level(level(member.level))
        .expose(expose(member.expose))
}

fn expose(expose: Expose) -> skill::Expose {
    match expose {
        Expose::Psl => skill::Expose::Psl,
        Expose::Always => skill::Expose::Always,
        Expose::Disabled => skill::Expose::Disabled,
    }
}

pub(super) fn level(level: Level) -> skills_engine::Level {
    match level {
        Level::Metadata => skills_engine::Level::Metadata,
        Level::Context => skills_engine::Level::Context,
        Level::Complete => skills_engine::Level::Complete,
    }
}

pub(super) fn actor(actor: Actor) -> skill::Actor {
    match actor {
        Actor::Model => skill::Actor::Model,
        Actor::User => skill::Actor::User,
        Actor::Host => skill::Actor::Host,
        Actor::System => skill::Actor::System,
    }
}

pub(super) fn span(span: Span) -> skill::Span {
    match span {
        Span::UntilCleared => skill::Span::UntilCleared,
        Span::Seconds(seconds) => skill::Span::Ttl(Duration::from_secs(seconds)),
        Span::Turn => skill::Span::Turn,
    }
}

pub(super) fn names(roles: &[usize]) -> Vec<&'static str> {
    roles.iter().map(|role| ROLES[*role]).collect()
}

pub(super) fn texts(list: &[Pattern]) -> Vec<String> {
    list.iter().map(|pattern| pattern.text()).collect()
}

pub(super) fn psl_control(control: &Control) -> PslControl {
    match control {
        Control::Model => PslControl::Model,
        Control::Roles(roles) => PslControl::roles(names(roles)),
        Control::HostOnly => PslControl::HostOnly,
    }
}

pub(super) fn why(reason: Reason) -> Why {
    match reason {
        Reason::SwitchedOff => Why::SwitchedOff,
        Reason::CodeOnly => Why::CodeOnly,
        Reason::NoRole => Why::NoRole,
        Reason::NotListed => Why::NotListed,
        Reason::NoControl => Why::NoControl,
        Reason::Parent => Why::Parent,
        Reason::NotSupported => Why::NotSupported,
        Reason::NotAsked => Why::NotAsked,
        Reason::NotSelected => Why::NotSelected,
    }
}

pub(super) fn code(refusal: Refusal) -> Code {
    match refusal {
        Refusal::UnknownSkill => Code::UnknownSkill,
        Refusal::NotPermitted => Code::NotPermitted,
        Refusal::HeldBy => Code::HeldBy,
        Refusal::UnknownTool => Code::UnknownTool,
        Refusal::Hidden => Code::Hidden,
        Refusal::LimitExceeded => Code::LimitExceeded,
    }
}

pub(super) fn kind_of(decision: Decision) -> &'static str {
    match decision {
        Decision::Visible => "visible",
        Decision::Hidden { .. } => "hidden",
        Decision::Denied(why) => why.as_str(),
        Decision::Disabled => "disabled",
        Decision::Unknown => "unknown",
    }
}
