//! What changes who sees what.

use std::sync::Arc;

use super::{
    Doer, Eye, Grant, GrantEnd, Hooked, Model, Parent, Reason, Refusal, Session, Turn, Verdict,
};
use crate::machine::universe::{Actor, Control, Hook, Level, Pattern, SOURCED, Span};

impl Model {
    pub(in crate::machine) fn set(
        &mut self,
        doer: Doer,
        skill: usize,
        level: Level,
        span: Span,
    ) -> Result<(), Refusal> {
        let Doer {
            session,
            turn,
            actor,
        } = doer;
        self.check_known(doer, skill)?;
        let eye = self.eye(session, turn);
        let is_denied = !self.denied(eye, skill).is_empty();
        let is_above = actor < Actor::Host && level > self.ceiling(eye, skill);
        let is_kept_back = actor == Actor::Model && !self.lets_model(session);
        if is_denied || is_above || is_kept_back {
            return Err(Refusal::NotPermitted);
        }
        let is_host_only = eye.registry[skill]
            .as_ref()
            .is_some_and(|skill| skill.host_only);
        let before = self.clone();
        self.grant(doer, skill, level, span);
        let refusal = if span == Span::UntilCleared && self.is_held(doer, skill, level) {
            Refusal::HeldBy
        } else if actor == Actor::Model
            && is_host_only
            && self.opens_more_than(&before, doer, skill)
        {
            Refusal::NotPermitted
        } else {
            return Ok(());
        };
        *self = before;
        Err(refusal)
    }

    /// Whether someone higher holds a skill above the level that was set. What the session's limit caps is not held
    /// there; what roles and the parent cap is, since these may change at any time.
    fn is_held(&self, doer: Doer, skill: usize, level: Level) -> bool {
        let granted = self.granted(self.eye(doer.session, doer.turn), skill);
        granted.min(self.sessions[doer.session].limits[skill]) > level
    }

    /// Whether a skill is higher than it was, now or when what ends has ended.
    fn opens_more_than(&self, before: &Self, doer: Doer, skill: usize) -> bool {
        let ends = self.sessions[doer.session].grants.iter();
        let ends = ends.filter_map(|grant| match grant.end {
            GrantEnd::At(time) => Some(time),
            GrantEnd::Cleared | GrantEnd::WithTurn => None,
        });
        let mut times = [self.now].into_iter().chain(ends);
        times.any(|time| {
            let granted = |model: &Self, turn: Option<usize>| {
                let then = Self {
                    now: time,
                    ..model.clone()
                };
                let eye = then.eye(doer.session, doer.turn);
                then.granted(Eye { turn, ..eye }, skill)
            };
            // The turn may end at any moment, and its grants with it.
            [doer.turn, None]
                .into_iter()
                .any(|turn| granted(self, turn) > granted(before, turn))
        })
    }

    fn grant(&mut self, doer: Doer, skill: usize, level: Level, span: Span) {
        let grant = |end| Grant {
            skill,
            level,
            actor: doer.actor,
            end,
        };
        match (span, doer.turn) {
            (Span::UntilCleared, _) => self.set_floor(doer, grant(GrantEnd::Cleared)),
            (Span::Seconds(seconds), _) => {
                let grant = grant(GrantEnd::At(self.now + seconds));
                self.sessions[doer.session].grants.push(grant);
            }
            (Span::Turn, Some(turn)) => self.turns[turn].grants.push(grant(GrantEnd::WithTurn)),
            (Span::Turn, None) => unreachable!("only turns make grants for a turn"),
        }
    }

    fn set_floor(&mut self, doer: Doer, floor: Grant) {
        let Doer { session, turn, .. } = doer;
        let is_granted = self.is_granted_already(session, floor);
        let eye = self.eye(session, None);
        let lowers = floor.level < self.granted(eye, floor.skill);
        let goes = |grant: &Grant| {
            let is_higher = lowers && grant.level > floor.level;
            grant.skill == floor.skill
                && grant.actor <= floor.actor
                && (is_higher || grant.is_floor())
        };
        let grants = &mut self.sessions[session].grants;
        grants.retain(|grant| !goes(grant));
        grants.push(floor);
        for (place, other) in self.turns.iter_mut().enumerate() {
            // A model that finds its wish granted changes nothing for other turns.
            let is_reached = Some(place) == turn || floor.actor > Actor::Model || !is_granted;
            if other.session == session && is_reached {
                other.grants.retain(|grant| {
                    grant.skill != floor.skill
                        || grant.level <= floor.level
                        || grant.actor > floor.actor
                });
            }
        }
    }

    /// Whether a floor would change nothing in the session.
    fn is_granted_already(&self, session: usize, floor: Grant) -> bool {
        let eye = self.eye(session, None);
        let grants = || self.live(eye, floor.skill);
        let mut floors = grants().filter(|grant| grant.is_floor()).peekable();
        let stands = match floors.peek() {
            None => self.base(eye, floor.skill) == floor.level,
            Some(_) => floors.any(|other| other.level >= floor.level),
        };
        let is_above = |grant: &Grant| grant.level > floor.level && grant.actor <= floor.actor;
        stands && !grants().any(is_above)
    }

    pub(in crate::machine) fn clear(
        &mut self,
        doer: Doer,
        skill: Option<usize>,
    ) -> Result<(), Refusal> {
        if let Some(skill) = skill {
            self.check_known(doer, skill)?;
        }
        if doer.actor == Actor::Model && !self.lets_model(doer.session) {
            return Err(Refusal::NotPermitted);
        }
        let stays = |grant: &Grant| {
            skill.is_some_and(|skill| grant.skill != skill) || grant.actor > doer.actor
        };
        self.sessions[doer.session].grants.retain(stays);
        for turn in &mut self.turns {
            if turn.session == doer.session {
                turn.grants.retain(stays);
            }
        }
        Ok(())
    }

    pub(in crate::machine) fn limit(
        &mut self,
        doer: Doer,
        skill: usize,
        level: Option<Level>,
    ) -> Result<(), Refusal> {
        self.check_known(doer, skill)?;
        if doer.actor < Actor::Host {
            return Err(Refusal::NotPermitted);
        }
        self.sessions[doer.session].limits[skill] = level.unwrap_or(Level::Complete);
        Ok(())
    }

    /// To models and users, what is denied does not exist.
    fn check_known(&self, doer: Doer, skill: usize) -> Result<(), Refusal> {
        let eye = self.eye(doer.session, doer.turn);
        let is_denied = !self.denied(eye, skill).is_empty();
        if eye.registry[skill].is_none() || is_denied && doer.actor < Actor::Host {
            return Err(Refusal::UnknownSkill);
        }
        Ok(())
    }

    pub(in crate::machine) fn pass(&mut self, seconds: u64) {
        self.now += seconds;
    }

    pub(in crate::machine) fn begin(
        &mut self,
        session: usize,
        lists: &[Vec<Pattern>],
        roles: Option<&Vec<usize>>,
        is_asked: bool,
    ) {
        if let Some(roles) = roles {
            self.set_roles(session, roles);
        }
        self.turns_begun += 1;
        self.turns.push(Turn {
            number: self.turns_begun,
            session,
            registry: Arc::clone(&self.registry),
            lists: lists.to_vec(),
            hooked: vec![Hooked::Nothing; self.registry.len()],
            grants: Vec::new(),
            view: None,
        });
        let turn = self.turns.len() - 1;
        let hooked = (0..self.registry.len()).map(|skill| self.ask(turn, skill, is_asked));
        self.turns[turn].hooked = hooked.collect();
    }

    /// What the hook of a skill says of a turn that begins.
    fn ask(&self, turn: usize, skill: usize, is_asked: bool) -> Hooked {
        let eye = self.eye(self.turns[turn].session, Some(turn));
        let hook = eye.registry[skill].as_ref().map(|skill| skill.hook);
        let has_hook = hook.is_some_and(|hook| hook != Hook::None);
        if has_hook && !self.denied(eye, skill).is_empty() {
            return Hooked::Left(Reason::NotAsked);
        }
        match hook {
            Some(Hook::Supports) if !is_asked => Hooked::Left(Reason::NotSupported),
            Some(Hook::Selects) if !is_asked => Hooked::Selected,
            Some(Hook::Replaces) if !is_asked => Hooked::Replaced,
            _ => Hooked::Nothing,
        }
    }

    pub(in crate::machine) fn end(&mut self, turn: usize) {
        self.turns.remove(turn);
    }

    /// Takes a view: what it shows stays as it is.
    pub(in crate::machine) fn look(&mut self, turn: usize) {
        let eye = self.eye(self.turns[turn].session, Some(turn));
        let skills = eye.registry.iter().enumerate();
        let view = skills
            .map(|(skill, of_skill)| {
                let members = of_skill.iter().flat_map(|skill| 0..skill.members.len());
                let is_shown = |member| self.verdict(eye, skill, member) == Verdict::Visible;
                members.map(is_shown).collect()
            })
            .collect();
        self.turns[turn].view = Some(view);
    }

    pub(in crate::machine) fn set_roles(&mut self, session: usize, roles: &[usize]) {
        self.sessions[session].roles = roles.to_vec();
    }

    pub(in crate::machine) fn allow(&mut self, session: usize, list: &[Pattern]) {
        self.sessions[session].lists.push(list.to_vec());
    }

    pub(in crate::machine) fn narrow(&mut self, session: usize, control: &Control) {
        self.sessions[session].control = control.clone();
    }

    pub(in crate::machine) fn switch(&mut self, skill: usize, is_on: bool) -> Result<(), Refusal> {
        if self.registry[skill].is_none() {
            return Err(Refusal::UnknownSkill);
        }
        self.off[skill] = !is_on;
        Ok(())
    }

    /// Begins a child: with its parent's roles, and under the lists of the turn that makes it.
    pub(in crate::machine) fn child(
        &mut self,
        session: usize,
        turn: Option<usize>,
    ) -> Result<(), Refusal> {
        if self.sessions[session].parent.is_some() {
            return Err(Refusal::LimitExceeded);
        }
        let mut child = Session::new(self.sessions[session].roles.clone());
        child.lists = turn.map_or_else(Vec::new, |turn| self.turns[turn].lists.clone());
        child.parent = Some(Parent {
            session,
            turn: turn.map(|turn| self.turns[turn].number),
        });
        self.sessions.push(child);
        Ok(())
    }

    /// The source gives another version of its skill: to turns that begin from now on.
    pub(in crate::machine) fn refresh(&mut self, version: usize) {
        let mut registry = Vec::clone(&self.registry);
        registry[SOURCED] = match version.checked_sub(1) {
            None => Some(self.universe.skills[SOURCED].clone()),
            Some(version) => self.universe.versions[version].clone(),
        };
        self.registry = Arc::new(registry);
    }

    /// Ends a session with its children and turns; the next one of its name knows nothing of it.
    pub(in crate::machine) fn restart(&mut self, session: usize) {
        let ends = |model: &Self, other: usize| {
            let parent = model.sessions[other].parent.map(|parent| parent.session);
            other == session || parent == Some(session)
        };
        let turns = std::mem::take(&mut self.turns).into_iter();
        self.turns = turns.filter(|turn| !ends(self, turn.session)).collect();
        for other in 0..self.sessions.len() {
            self.sessions[other].has_ended |= ends(self, other);
        }
        if let Some(holders) = self.universe.holders.get(session) {
            self.sessions[session] = Session::new(holders.clone());
        }
    }
}
