//! Compares all that an engine tells, shows and runs with what the model says.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use proptest::prelude::*;
use skills_engine::Level;
use skills_engine::engine::{ToolCall, View};
use skills_engine::session::{Decision, Explanation, Why};
use skills_engine::skill::Code;

use super::model::{Eye, Verdict};
use super::universe::{CONTROL, Kind, MEMBERS, Member, member_name, skill_id};
use super::words::{code, kind_of, level, why};
use super::world::{Checked, Shown, World, check_unchanged};

impl World {
    /// Asks what can be asked without changing anything: of each member in the turns of the session that a step was
    /// about, or in all turns when it was about no single one; else of one member of each skill, in turn. A session as
    /// such sees what a turn that opened nothing sees, so of these one beside, now and then, is enough.
    pub(super) async fn check(&mut self, about: Option<usize>) -> Checked {
        self.checks += 1;
        let live = self.model.live_sessions();
        let other = live.get(self.checks % (3 * live.len())).copied();
        let is_asked = |session| [about, other].contains(&Some(session)) || about.is_none();
        for session in live.into_iter().filter(|session| is_asked(*session)) {
            let explain = |skill: &str, member: &str| self.sessions[session].explain(skill, member);
            self.check_explained(self.model.eye(session, None), false, explain)?;
        }
        for (turn, running) in self.turns.iter().enumerate() {
            let session = self.model.turns[turn].session;
            let is_about = about.is_none_or(|about| about == session);
            let explain = |skill: &str, member: &str| running.turn.explain(skill, member);
            self.check_explained(self.model.eye(session, Some(turn)), is_about, explain)?;
        }
        match self.checks.checked_rem(self.turns.len()) {
            Some(turn) => self.check_calls(turn).await,
            None => Ok(()),
        }
    }

    fn check_explained(
        &self,
        eye: Eye<'_>,
        is_whole: bool,
        explain: impl Fn(&str, &str) -> Explanation,
    ) -> Checked {
        for (skill, of_skill) in eye.registry.iter().enumerate() {
            let count = of_skill.as_ref().map_or(1, |skill| skill.members.len());
            let one = self.checks % count;
            let members = if is_whole { 0..count } else { one..one + 1 };
            for member in members {
                let (id, name) = (skill_id(skill), member_name(skill, member));
                let told = explain(&id, &name);
                let verdict = self.model.verdict(eye, skill, member);
                prop_assert!(
                    self.agrees(eye, (skill, member), &verdict, told.decision),
                    "{}/{} in session {} and turn {:?}: explain says {:?}, the model {:?}",
                    id,
                    name,
                    eye.session,
                    eye.turn,
                    told.decision,
                    verdict
                );
                // What takes no part has no level that could be seen.
                if self.model.denied(eye, skill).is_empty() {
                    let at = of_skill.as_ref();
                    let at = at.map(|_| level(self.model.level(eye, skill)));
                    prop_assert_eq!(
                        told.level,
                        at,
                        "level of {} in session {}",
                        &id,
                        eye.session
                    );
                }
                self.count("explain", kind_of(told.decision));
            }
        }
        Ok(())
    }

    fn agrees(
        &self,
        eye: Eye<'_>,
        (skill, member): (usize, usize),
        verdict: &Verdict,
        told: Decision,
    ) -> bool {
        match (verdict, told) {
            (Verdict::Visible, Decision::Visible)
            | (Verdict::Disabled, Decision::Disabled)
            | (Verdict::Unknown, Decision::Unknown) => true,
            (Verdict::Hidden { have, need }, Decision::Hidden { have: h, need: n }) => {
                (level(*have), level(*need)) == (h, n)
            }
            // What a parent does not see may be told of as that, whatever else there is to say.
            (
                Verdict::Hidden { .. } | Verdict::Disabled | Verdict::Denied(_),
                Decision::Denied(Why::Parent),
            ) => self.is_kept_by_parent(eye, skill, member),
            (Verdict::Denied(reasons), Decision::Denied(told)) => {
                reasons.iter().any(|reason| why(*reason) == told)
            }
            _ => false,
        }
    }

    fn is_kept_by_parent(&self, eye: Eye<'_>, skill: usize, member: usize) -> bool {
        let parent = self.model.parent(eye);
        parent.is_some_and(|parent| self.model.verdict(parent, skill, member) != Verdict::Visible)
    }

    /// Calls the tools of every other skill, in a way that changes nothing.
    async fn check_calls(&mut self, turn: usize) -> Checked {
        let registry = Arc::clone(self.model.eye(0, Some(turn)).registry);
        let skills = registry.iter().enumerate();
        let skills = skills.filter(|(skill, _)| (skill + self.checks).is_multiple_of(2));
        let tools = skills.flat_map(|(skill, of_skill)| {
            let members = of_skill.iter().flat_map(|skill| &skill.members);
            let tools = members
                .enumerate()
                .filter(|(_, member)| member.kind == Kind::Tool);
            tools.map(move |(member, _)| (skill, member))
        });
        let tools: Vec<_> = tools.collect();
        // The control skill's tools refuse an argument that they do not know. Each time it is another text: the same
        // call that fails again and again is not run.
        let arguments = |skill| match skill {
            CONTROL => format!(r#"{{"x":{}}}"#, self.checks),
            _ => format!("{{{}}}", " ".repeat(self.checks % 50)),
        };
        let calls = tools.iter().map(|(skill, member)| {
            let name = format!("{}__{}", skill_id(*skill), member_name(*skill, *member));
            ToolCall::new("", name, arguments(*skill))
        });
        let before = self.runs.load(Ordering::Relaxed);
        let results = self.turns[turn].turn.calls(calls).await;
        let mut runs = 0;
        let eye = self.model.eye(self.model.turns[turn].session, Some(turn));
        for ((skill, member), result) in tools.into_iter().zip(&results) {
            let expected = match self.model.call(turn, skill, member) {
                Ok(()) if skill == CONTROL => Some(Code::InvalidArguments),
                Ok(()) => {
                    runs += 1;
                    None
                }
                Err(refusal) => Some(code(refusal)),
            };
            let answered = result.outcome.as_ref().err().map(|fault| fault.code);
            let is_alike = (expected, answered) == (Some(Code::Hidden), Some(Code::UnknownTool))
                && self.is_kept_by_parent(eye, skill, member);
            prop_assert!(
                answered == expected || is_alike,
                "call of {}: {:?} and not {:?}: {}",
                result.name,
                answered,
                expected,
                result.text()
            );
            self.count("call", answered.map_or("runs", Code::as_str));
        }
        let ran = self.runs.load(Ordering::Relaxed) - before;
        prop_assert_eq!(ran, runs, "tools that ran");
        Ok(())
    }

    /// Takes a view, and compares each part of it with the model.
    pub(super) async fn look(&mut self, turn: usize) -> Checked {
        let running = &mut self.turns[turn];
        check_unchanged(running.view.as_ref())?;
        let view = Arc::clone(running.turn.view().await.unwrap().view());
        self.model.look(turn);
        let shown = Shown::of(&view);
        let before = self.shown.entry(*view.digest());
        let before = before.or_insert_with(|| shown.clone());
        prop_assert!(*before == shown, "two views of one digest differ");
        self.check_view(turn, &view, &shown)?;
        self.turns[turn].view = Some((view, shown));
        self.count("view", "taken");
        Ok(())
    }

    fn check_view(&self, turn: usize, view: &View, shown: &Shown) -> Checked {
        let of_turn = &self.model.turns[turn];
        let eye = self.model.eye(of_turn.session, Some(turn));
        let visible = of_turn.view.as_ref().unwrap();
        let mut count = 0;
        for (skill, of_skill) in eye.registry.iter().enumerate() {
            let id = skill_id(skill);
            let is_shown = of_skill.is_some() && self.model.denied(eye, skill).is_empty();
            let at = level(self.model.level(eye, skill));
            prop_assert_eq!(view.level(&id), is_shown.then_some(at), "{}", &id);
            let snapshot = view.snapshot(&id);
            prop_assert_eq!(snapshot.is_some(), is_shown, "snapshot of {}", &id);
            let snapshot = snapshot.unwrap_or_default();
            if skill != CONTROL {
                let is_instructed =
                    is_shown && at >= Level::Context && self.model.is_named_whole(eye, skill);
                let text = format!("Instructions of {id}.");
                for (part, whole) in [("prompt", &shown.prompt), ("snapshot", &snapshot)] {
                    let is_there = whole.contains(&text);
                    prop_assert_eq!(is_there, is_instructed, "{} in the {}", &text, part);
                }
            }
            let members = of_skill.iter().flat_map(|skill| &skill.members);
            for (place, member) in members.enumerate() {
                let is_visible = visible[skill][place];
                check_member(
                    (&id, &member_name(skill, place)),
                    (*member, place < MEMBERS),
                    is_visible,
                    shown,
                    &snapshot,
                )?;
                count += usize::from(is_visible && member.kind == Kind::Tool);
            }
        }
        prop_assert_eq!(view.tools().count(), count, "tools in the list");
        Ok(())
    }
}

/// A member stands once in each part of a view, or not at all.
fn check_member(
    (id, name): (&str, &str),
    (member, is_registered): (Member, bool),
    is_visible: bool,
    shown: &Shown,
    snapshot: &str,
) -> Checked {
    let wire = format!("\"name\":\"{id}__{name}\"");
    let (in_prompt, in_snapshot) = match member.kind {
        Kind::Tool => (format!("\n- tool {id}__{name}\n"), wire.clone()),
        Kind::Constant => (
            format!("\n- {name} = 1\n"),
            format!("\"{name}\":{{\"value\":1"),
        ),
        Kind::Live => (
            format!("\n- {id}.{name} = 2\n"),
            format!("\"{name}\":{{\"value\":2"),
        ),
    };
    let once = usize::from(is_visible);
    // The tools that a skill has in one turn only are told of in its list.
    let in_prompt_once = usize::from(is_visible && is_registered);
    let count = shown.prompt.matches(&in_prompt).count();
    prop_assert_eq!(count, in_prompt_once, "{:?} in {}", in_prompt, shown.prompt);
    let count = snapshot.matches(&in_snapshot).count();
    prop_assert_eq!(count, once, "{} in {}", in_snapshot, snapshot);
    if member.kind == Kind::Tool {
        let count = shown.tools.matches(&wire).count();
        prop_assert_eq!(count, once, "{} in {}", wire, shown.tools);
    }
    Ok(())
}
