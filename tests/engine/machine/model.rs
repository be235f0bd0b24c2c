//! A model of the rule: who sees what, in plain data and as few words as it takes. It shares no code with the engine,
//! keeps everything that was granted and not taken back, and works every answer out anew.

mod changes;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::universe::{
    Actor, CONTROL, Control, Expose, Kind, Level, MEMBERS, Member, Pattern, SESSIONS, Skill,
    Universe,
};

/// What the rule says of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Visible,
    Hidden {
        have: Level,
        need: Level,
    },
    Denied(BTreeSet<Reason>),
    Disabled,
    /// There is no such skill.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    SwitchedOff,
    CodeOnly,
    NoRole,
    NotListed,
    NoControl,
    /// The parent session does not see it.
    Parent,
    NotSupported,
    /// It took no part when the turn began, so it was not asked.
    NotAsked,
    /// The skill offers other tools in this turn.
    NotSelected,
}

/// Why a change, or a call, is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Refusal {
    UnknownSkill,
    NotPermitted,
    HeldBy,
    /// The tool itself is not there for the model, or not yet.
    UnknownTool,
    Hidden,
    /// A child has no children.
    LimitExceeded,
}

/// The skills there are, by place.
pub(super) type Registry = Arc<Vec<Option<Skill>>>;

#[derive(Clone, Debug)]
pub(super) struct Model {
    universe: Arc<Universe>,
    /// What turns that begin now see.
    registry: Registry,
    off: Vec<bool>,
    /// Seconds.
    now: u64,
    /// Those that ended keep their places.
    pub(super) sessions: Vec<Session>,
    pub(super) turns: Vec<Turn>,
    turns_begun: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) parent: Option<Parent>,
    pub(super) has_ended: bool,
    roles: Vec<usize>,
    lists: Vec<Vec<Pattern>>,
    control: Control,
    grants: Vec<Grant>,
    limits: Vec<Level>,
}

/// What made a child session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parent {
    pub(super) session: usize,
    /// The number of the turn, if it was one.
    turn: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Grant {
    skill: usize,
    level: Level,
    actor: Actor,
    end: GrantEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GrantEnd {
    /// It is a floor.
    Cleared,
    At(u64),
    WithTurn,
}

#[derive(Clone, Debug)]
pub(super) struct Turn {
    number: usize,
    pub(super) session: usize,
    registry: Registry,
    lists: Vec<Vec<Pattern>>,
    /// What the hooks of each skill said when it began.
    hooked: Vec<Hooked>,
    grants: Vec<Grant>,
    /// What its latest view shows: by skill and member.
    pub(super) view: Option<Vec<Vec<bool>>>,
}

/// What the hooks of a skill made of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hooked {
    Nothing,
    Left(Reason),
    Selected,
    Replaced,
}

/// Who looks: a session, or a turn of it (by its place), at these skills.
#[derive(Clone, Copy)]
pub(super) struct Eye<'a> {
    pub(super) registry: &'a Registry,
    pub(super) session: usize,
    pub(super) turn: Option<usize>,
}

/// Who does something: an actor, in a session or in a turn of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doer {
    pub(super) session: usize,
    pub(super) turn: Option<usize>,
    pub(super) actor: Actor,
}

impl Model {
    pub(super) fn new(universe: Arc<Universe>) -> Self {
        let sessions = 0..SESSIONS.len();
        Self {
            sessions: sessions
                .map(|session| Session::new(universe.holders[session].clone()))
                .collect(),
            registry: Arc::new(universe.skills.iter().cloned().map(Some).collect()),
            off: universe.skills.iter().map(|skill| skill.off).collect(),
            now: 0,
            turns: Vec::new(),
            turns_begun: 0,
            universe,
        }
    }

    pub(super) fn eye(&self, session: usize, turn: Option<usize>) -> Eye<'_> {
        Eye {
            registry: turn.map_or(&self.registry, |turn| &self.turns[turn].registry),
            session,
            turn,
        }
    }

    /// The parent of a child session, as the child sees it: with the grants of the turn that made it while that lives.
    pub(super) fn parent<'a>(&self, eye: Eye<'a>) -> Option<Eye<'a>> {
        let Parent { session, turn } = self.sessions[eye.session].parent?;
        let turn = turn.and_then(|number| self.turns.iter().position(|turn| turn.number == number));
        Some(Eye {
            session,
            turn,
            ..eye
        })
    }

    pub(super) fn verdict(&self, eye: Eye<'_>, skill: usize, member: usize) -> Verdict {
        let is_there = is_registered(skill, member) || self.hooked(eye, skill) == Hooked::Replaced;
        if eye.registry[skill].is_none() || !is_there {
            return Verdict::Unknown;
        }
        self.verdict_of_known(eye, skill, member)
    }

    fn verdict_of_known(&self, eye: Eye<'_>, skill: usize, member: usize) -> Verdict {
        let Some(of_skill) = &eye.registry[skill] else {
            return Verdict::Unknown;
        };
        let Member {
            level: need,
            expose,
            ..
        } = of_skill.members[member];
        // 1. Who takes part at all.
        let mut reasons = self.denied(eye, skill);
        let role = self.role(eye.session, |pattern| pattern.names(skill, member));
        if role.is_none() {
            reasons.insert(Reason::NoRole);
        }
        if !self.is_listed(eye, skill, |pattern| pattern.names(skill, member)) {
            reasons.insert(Reason::NotListed);
        }
        if !self.is_offered(eye, skill, member) {
            reasons.insert(Reason::NotSelected);
        }
        let of_parent = self
            .parent(eye)
            .map(|parent| self.verdict_of_known(parent, skill, member));
        if let Some(Verdict::Denied(_)) = of_parent {
            reasons.insert(Reason::Parent);
        }
        if !reasons.is_empty() {
            return Verdict::Denied(reasons);
        }
        // 2. The level, which roles may cap for the member too.
        let most = role.unwrap_or(Level::Complete);
        let level = self.level(eye, skill).min(most);
        // 3. The member.
        let is_visible = match expose {
            Expose::Disabled => return Verdict::Disabled,
            Expose::Psl => level >= need,
            Expose::Always => {
                let waits = of_skill.host_only && !self.is_opened(eye, skill);
                self.ceiling(eye, skill).min(most) >= need && !waits
            }
        };
        // A child never sees more than its parent.
        if is_visible && of_parent.is_none_or(|of_parent| of_parent == Verdict::Visible) {
            return Verdict::Visible;
        }
        Verdict::Hidden { have: level, need }
    }

    /// The effective level: the least of all ceilings and of what is granted.
    pub(super) fn level(&self, eye: Eye<'_>, skill: usize) -> Level {
        self.granted(eye, skill).min(self.ceiling(eye, skill))
    }

    /// Why a skill takes no part, if it takes none.
    pub(super) fn denied(&self, eye: Eye<'_>, skill: usize) -> BTreeSet<Reason> {
        let mut reasons = BTreeSet::new();
        if self.off[skill] {
            reasons.insert(Reason::SwitchedOff);
        }
        if eye.registry[skill]
            .as_ref()
            .is_some_and(|skill| skill.code_only)
        {
            reasons.insert(Reason::CodeOnly);
        }
        if self
            .role(eye.session, |pattern| pattern.touches(skill))
            .is_none()
        {
            reasons.insert(Reason::NoRole);
        }
        if !self.is_listed(eye, skill, |pattern| pattern.touches(skill)) {
            reasons.insert(Reason::NotListed);
        }
        if skill == CONTROL && !self.lets_model(eye.session) {
            reasons.insert(Reason::NoControl);
        }
        if let Hooked::Left(reason) = self.hooked(eye, skill) {
            reasons.insert(reason);
        }
        if let Some(parent) = self.parent(eye)
            && !self.denied(parent, skill).is_empty()
        {
            reasons.insert(Reason::Parent);
        }
        reasons
    }

    fn hooked(&self, eye: Eye<'_>, skill: usize) -> Hooked {
        let turn = eye.turn.map(|turn| &self.turns[turn]);
        turn.map_or(Hooked::Nothing, |turn| turn.hooked[skill])
    }

    /// Whether a skill offers a member in a turn, in which it may offer some of its tools only.
    fn is_offered(&self, eye: Eye<'_>, skill: usize, member: usize) -> bool {
        let of_skill = eye.registry[skill].as_ref();
        let is_tool = of_skill.is_some_and(|skill| skill.members[member].kind == Kind::Tool);
        match self.hooked(eye, skill) {
            Hooked::Nothing | Hooked::Left(_) => true,
            Hooked::Selected => !is_tool || member == 0,
            Hooked::Replaced => !is_tool || !is_registered(skill, member),
        }
    }

    /// Whether something is named in every list that counts. The control skill is exempt.
    fn is_listed(&self, eye: Eye<'_>, skill: usize, names: impl Fn(&Pattern) -> bool) -> bool {
        let of_turn = eye
            .turn
            .into_iter()
            .flat_map(|turn| &self.turns[turn].lists);
        let mut lists = self.sessions[eye.session].lists.iter().chain(of_turn);
        skill == CONTROL || lists.all(|list| list.iter().any(&names))
    }

    /// Whether a skill is named as a whole wherever it must be named: its instructions go with that.
    pub(super) fn is_named_whole(&self, eye: Eye<'_>, skill: usize) -> bool {
        let names = |pattern: &Pattern| pattern.is_whole(skill);
        self.role(eye.session, names).is_some()
            && self.is_listed(eye, skill, names)
            && self
                .parent(eye)
                .is_none_or(|parent| self.is_named_whole(parent, skill))
    }

    fn lets_model(&self, session: usize) -> bool {
        let Session {
            parent,
            roles,
            control,
            ..
        } = &self.sessions[session];
        let lets = |control: &Control| match control {
            Control::Model => true,
            Control::HostOnly => false,
            Control::Roles(named) => named.iter().any(|role| roles.contains(role)),
        };
        // The model of a child may do nothing that its parent's may not.
        lets(control)
            && lets(&self.universe.control)
            && parent.is_none_or(|parent| self.lets_model(parent.session))
    }

    /// The highest level that the roles of a session's principal give with a pattern that counts.
    fn role(&self, session: usize, counts: impl Fn(&Pattern) -> bool) -> Option<Level> {
        if self.universe.roles.is_empty() {
            return Some(Level::Complete);
        }
        let roles = self.sessions[session].roles.iter();
        let given = roles.flat_map(|role| &self.universe.roles[*role]);
        let given = given.filter(|(pattern, _)| counts(pattern));
        given.map(|(_, level)| *level).max()
    }

    /// The least of all ceilings: of session, roles and parent.
    fn ceiling(&self, eye: Eye<'_>, skill: usize) -> Level {
        self.outer_ceiling(eye, skill)
            .min(self.sessions[eye.session].limits[skill])
    }

    fn outer_ceiling(&self, eye: Eye<'_>, skill: usize) -> Level {
        let role = self.role(eye.session, |pattern| pattern.touches(skill));
        let parent = self.parent(eye).map(|parent| self.level(parent, skill));
        let most = Level::Complete;
        role.unwrap_or(most).min(parent.unwrap_or(most))
    }

    /// The highest floor, or else the base level, raised by what ends by itself.
    fn granted(&self, eye: Eye<'_>, skill: usize) -> Level {
        let level_of = |is_floor: bool| {
            let grants = self.live(eye, skill);
            let of_kind = grants.filter(|grant| grant.is_floor() == is_floor);
            of_kind.map(|grant| grant.level).max()
        };
        let floor = level_of(true).unwrap_or(self.base(eye, skill));
        floor.max(level_of(false).unwrap_or(Level::Metadata))
    }

    fn base(&self, eye: Eye<'_>, skill: usize) -> Level {
        let of_skill = eye.registry[skill].as_ref();
        of_skill.map_or(Level::Metadata, |skill| skill.base)
    }

    fn live(&self, eye: Eye<'_>, skill: usize) -> impl Iterator<Item = &Grant> {
        let of_turn = eye
            .turn
            .into_iter()
            .flat_map(|turn| &self.turns[turn].grants);
        let grants = self.sessions[eye.session].grants.iter().chain(of_turn);
        grants.filter(move |grant| grant.skill == skill && grant.is_live(self.now))
    }

    /// Whether someone other than the model opened a skill.
    fn is_opened(&self, eye: Eye<'_>, skill: usize) -> bool {
        self.live(eye, skill)
            .any(|grant| grant.actor > Actor::Model && grant.level > Level::Metadata)
    }

    /// What a call of a tool answers: nothing runs that is not visible now and in the turn's latest view.
    pub(super) fn call(&self, turn: usize, skill: usize, member: usize) -> Result<(), Refusal> {
        let Turn { session, view, .. } = &self.turns[turn];
        match self.verdict(self.eye(*session, Some(turn)), skill, member) {
            Verdict::Denied(_) | Verdict::Disabled | Verdict::Unknown => Err(Refusal::UnknownTool),
            Verdict::Hidden { .. } => Err(Refusal::Hidden),
            Verdict::Visible => match view {
                Some(view) if !view[skill][member] => Err(Refusal::Hidden),
                Some(_) | None => Ok(()),
            },
        }
    }

    /// Whether a turn still runs.
    pub(super) fn has_turn(&self, turn: &Turn) -> bool {
        self.turns.iter().any(|other| other.number == turn.number)
    }

    /// The roles that a session begins with, unless it is a child.
    pub(super) fn holders(&self, session: usize) -> Option<&[usize]> {
        self.universe.holders.get(session).map(Vec::as_slice)
    }

    /// The sessions that live.
    pub(super) fn live_sessions(&self) -> Vec<usize> {
        let all = 0..self.sessions.len();
        all.filter(|session| !self.sessions[*session].has_ended)
            .collect()
    }
}

/// Whether a member is there in whatever turn.
fn is_registered(skill: usize, member: usize) -> bool {
    skill == CONTROL || member < MEMBERS
}

impl Session {
    fn new(roles: Vec<usize>) -> Self {
        Self {
            parent: None,
            has_ended: false,
            roles,
            lists: Vec::new(),
            control: Control::Model,
            grants: Vec::new(),
            limits: vec![Level::Complete; CONTROL + 1],
        }
    }
}

impl Grant {
    fn is_floor(&self) -> bool {
        self.end == GrantEnd::Cleared
    }

    fn is_live(&self, now: u64) -> bool {
        match self.end {
            GrantEnd::At(time) => now < time,
            GrantEnd::Cleared | GrantEnd::WithTurn => true,
        }
    }
}

impl Pattern {
    /// Whether it names anything of a skill.
    fn touches(self, skill: usize) -> bool {
        match self {
            Self::All => true,
            Self::Skill(named) | Self::Member(named, _) => named == skill,
            Self::Nothing => false,
        }
    }

    /// Whether it names all of a skill.
    fn is_whole(self, skill: usize) -> bool {
        match self {
            Self::All => true,
            Self::Skill(named) => named == skill,
            Self::Member(..) | Self::Nothing => false,
        }
    }

    /// Whether it names a member.
    fn names(self, skill: usize, member: usize) -> bool {
        match self {
            Self::All => true,
            Self::Skill(named) => named == skill,
            Self::Member(of, named) => (of, named) == (skill, member),
            Self::Nothing => false,
        }
    }
}
