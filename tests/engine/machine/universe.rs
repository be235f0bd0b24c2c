//! What a random engine is made of: skills and their members, roles, control, and the steps that sessions take.

use std::fmt;

use proptest::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Metadata,
    Context,
    Complete,
}

pub(super) const LEVELS: [Level; 3] = [Level::Metadata, Level::Context, Level::Complete];

/// From the lowest to the highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Actor {
    Model,
    User,
    Host,
    System,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expose {
    Psl,
    Always,
    Disabled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Tool,
    Constant,
    Live,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) kind: Kind,
    pub(super) level: Level,
    pub(super) expose: Expose,
}

/// What a skill makes of a request that does not bear the attribute that hooks look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hook {
    /// It has no hook.
    None,
    /// It takes no part.
    Supports,
    /// It offers none of its tools but its first member, if that is one.
    Selects,
    /// It offers a tool that it has in such turns only, in place of all others: its last member.
    Replaces,
}

#[derive(Clone, Debug)]
pub(super) struct Skill {
    pub(super) base: Level,
    pub(super) host_only: bool,
    pub(super) code_only: bool,
    /// Whether it is switched off at the beginning.
    pub(super) off: bool,
    pub(super) hook: Hook,
    pub(super) members: Vec<Member>,
}

/// What roles and allow-lists name. Skills and members are told by their places.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    All,
    Skill(usize),
    Member(usize, usize),
    /// What there is not.
    Nothing,
}

/// Who may open skills beside host and user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Control {
    Model,
    Roles(Vec<usize>),
    HostOnly,
}

/// Skills of a universe, the control skill aside.
pub(super) const SKILLS: usize = 3;
/// The place of the skill that comes from a source, which may give another version of it, or none.
pub(super) const SOURCED: usize = SKILLS - 1;
/// The place of the skill through which the model opens others.
pub(super) const CONTROL: usize = SKILLS;
/// Members that a skill is registered with.
pub(super) const MEMBERS: usize = 4;
/// The request attribute that hooks look for.
pub(super) const ATTRIBUTE: &str = "asked";
/// Names of roles, whether they are configured or not.
pub(super) const ROLES: [&str; 3] = ["r0", "r1", "r2"];
/// Sessions: their principals and ids. Two principals use one id.
pub(super) const SESSIONS: [(&str, &str); 3] = [("ada", "s1"), ("bob", "s1"), ("ada", "s2")];

#[derive(Clone, Debug)]
pub(super) struct Universe {
    /// The control skill comes last.
    pub(super) skills: Vec<Skill>,
    /// What the source may give from some time on; at first it gives what stands among the skills.
    pub(super) versions: Vec<Option<Skill>>,
    /// What each role gives; none at all means that everyone may everything.
    pub(super) roles: Vec<Vec<(Pattern, Level)>>,
    pub(super) control: Control,
    /// The roles that the principal of each session has at first.
    pub(super) holders: Vec<Vec<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    UntilCleared,
    Seconds(u64),
    Turn,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    Finish,
    Drop,
    Fail,
}

/// What happens. Sessions and turns are meant by their places among those that live, counted round and round.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Through the session's handle, as an actor.
    Open(usize, Actor, usize, Level, Span),
    /// By the host, until the turn ends.
    OpenForTurn(usize, usize, Level),
    /// By the model, through the control skill.
    Ask(usize, usize, Level, Span),
    /// By the model, through the control skill: one skill or all.
    AskToClear(usize, Option<usize>),
    Limit(usize, Actor, usize, Option<Level>),
    Clear(usize, Actor, Option<usize>),
    Pass(u64),
    /// Begins a turn, with lists of the request, roles if it brings some, and the attribute that hooks look for or not.
    Begin(usize, Vec<Vec<Pattern>>, Option<Vec<usize>>, bool),
    End(usize, End),
    /// Takes a view.
    Look(usize),
    SetRoles(usize, Vec<usize>),
    Allow(usize, Vec<Pattern>),
    Narrow(usize, Control),
    Switch(usize, bool),
    /// Begins a child session, of a session or of a turn.
    Child(usize),
    ChildOfTurn(usize),
    /// Has the source give one of its versions.
    Refresh(usize),
    /// Ends a session, and begins it again unless it is a child.
    Restart(usize),
}

/// One line for each skill and role.
impl fmt::Display for Universe {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, skill) in self.skills.iter().enumerate().take(SKILLS) {
            writeln!(formatter, "{}: {skill}", skill_id(index))?;
        }
        for version in &self.versions {
            write!(formatter, "{} later: ", skill_id(SOURCED))?;
            match version {
                Some(skill) => writeln!(formatter, "{skill}")?,
                None => writeln!(formatter, "gone")?,
            }
        }
        for (name, given) in ROLES.iter().zip(&self.roles) {
            writeln!(formatter, "{name}: {given:?}")?;
        }
        let Self {
            control, holders, ..
        } = self;
        writeln!(
            formatter,
            "control: {control:?}, roles of the sessions: {holders:?}"
        )
    }
}

impl fmt::Display for Skill {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            base,
            host_only,
            code_only,
            off,
            hook,
            members,
        } = self;
        write!(formatter, "{base:?}")?;
        if *hook != Hook::None {
            write!(formatter, " {hook:?}")?;
        }
        for (is_so, word) in [
            (host_only, "host_only"),
            (code_only, "code_only"),
            (off, "off"),
        ] {
            if *is_so {
                write!(formatter, " {word}")?;
            }
        }
        for Member {
            kind,
            level,
            expose,
        } in members
        {
            write!(formatter, ", {kind:?} {level:?} {expose:?}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}

impl Pattern {
    pub(super) fn text(self) -> String {
        match self {
            Self::All => "*".to_owned(),
            Self::Skill(skill) => skill_id(skill),
            Self::Member(skill, member) => {
                format!("{}/{}", skill_id(skill), member_name(skill, member))
            }
            Self::Nothing => "no-such-skill".to_owned(),
        }
    }
}

pub(super) fn skill_id(skill: usize) -> String {
    match skill {
        CONTROL => "psl-skill".to_owned(),
        skill => format!("s{skill}"),
    }
}

/// Names of the control skill's tools.
pub(super) const CONTROL_TOOLS: [&str; 4] = [
    "set_skill_visibility",
    "get_visibility",
    "clear_visibility",
    "search_skills",
];

/// The name of a member says of whom it is, so that it stands in a prompt once.
pub(super) fn member_name(skill: usize, member: usize) -> String {
    match (skill, CONTROL_TOOLS.get(member)) {
        (CONTROL, Some(tool)) => (*tool).to_owned(),
        _ => format!("m{member}_s{skill}"),
    }
}

fn level() -> impl Strategy<Value = Level> {
    prop::sample::select(LEVELS.to_vec())
}

fn roles() -> impl Strategy<Value = Vec<usize>> {
    prop::sample::subsequence(vec![0, 1, 2], 0..=2)
}

fn pattern() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        3 => Just(Pattern::All),
        6 => (0..=SKILLS).prop_map(Pattern::Skill),
        4 => (0..=SKILLS, 0..=MEMBERS).prop_map(|(skill, member)| Pattern::Member(skill, member)),
        1 => Just(Pattern::Nothing),
    ]
}

fn control() -> impl Strategy<Value = Control> {
    prop_oneof![
        4 => Just(Control::Model),
        2 => roles().prop_map(Control::Roles),
        1 => Just(Control::HostOnly),
    ]
}

fn list() -> impl Strategy<Value = Vec<Pattern>> {
    prop::collection::vec(pattern(), 0..5)
}

fn member() -> impl Strategy<Value = Member> {
    let kind = prop_oneof![3 => Just(Kind::Tool), 1 => Just(Kind::Constant), 1 => Just(Kind::Live)];
    let expose = prop_oneof![
        5 => Just(Expose::Psl),
        2 => Just(Expose::Always),
        1 => Just(Expose::Disabled),
    ];
    (kind, level(), expose).prop_map(|(kind, level, expose)| Member {
        kind,
        level,
        expose,
    })
}

fn skill() -> impl Strategy<Value = Skill> {
    let one_in = |most: u32| prop::bool::weighted(1.0 / f64::from(most));
    let hook = prop_oneof![
        6 => Just(Hook::None),
        1 => Just(Hook::Supports),
        1 => Just(Hook::Selects),
        1 => Just(Hook::Replaces),
    ];
    let members = prop::collection::vec(member(), MEMBERS + 1);
    (level(), one_in(5), one_in(12), one_in(12), hook, members).prop_map(
        |(base, host_only, code_only, off, hook, mut members)| {
            if hook == Hook::Replaces {
                members[MEMBERS].kind = Kind::Tool;
            } else {
                members.truncate(MEMBERS);
            }
            Skill {
                base,
                host_only,
                code_only,
                off,
                hook,
                members,
            }
        },
    )
}

pub(super) fn universe() -> impl Strategy<Value = Universe> {
    let given = prop::collection::vec((pattern(), level()), 1..5);
    let roles_given = prop_oneof![
        3 => Just(Vec::new()),
        2 => prop::collection::vec(given, 3),
    ];
    let holders = prop::collection::vec(roles(), SESSIONS.len());
    let skills = prop::collection::vec(skill(), SKILLS);
    let versions = prop::collection::vec(prop::option::weighted(0.7, skill()), 2);
    (skills, versions, roles_given, control(), holders).prop_map(
        |(mut skills, mut versions, roles, control, holders)| {
            // Wishes that the base level grants are written down nowhere, so it stays what it is; and what a hook says of
            // one version means nothing of another.
            let base = skills[SOURCED].base;
            let sourced = skills.get_mut(SOURCED).into_iter();
            for version in sourced.chain(versions.iter_mut().flatten()) {
                version.base = base;
                version.hook = Hook::None;
                version.members.truncate(MEMBERS);
            }
            skills.push(control_skill());
            Universe {
                skills,
                versions,
                roles,
                control,
                holders,
            }
        },
    )
}

fn control_skill() -> Skill {
    let tool = Member {
        kind: Kind::Tool,
        level: Level::Metadata,
        expose: Expose::Always,
    };
    Skill {
        base: Level::Metadata,
        host_only: false,
        code_only: false,
        off: false,
        hook: Hook::None,
        members: vec![tool; CONTROL_TOOLS.len()],
    }
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let session = || 0..6_usize;
    let turn = || 0..6_usize;
    let skill = || 0..SKILLS;
    let actor = || {
        prop_oneof![
            3 => Just(Actor::Model),
            3 => Just(Actor::User),
            3 => Just(Actor::Host),
            1 => Just(Actor::System),
        ]
    };
    let seconds = || (1..30_u64).prop_map(Span::Seconds);
    let of_session = prop_oneof![3 => Just(Span::UntilCleared), 2 => seconds()];
    let of_turn = prop_oneof![2 => Just(Span::UntilCleared), 1 => seconds(), 2 => Just(Span::Turn)];
    let end = prop_oneof![Just(End::Finish), Just(End::Drop), Just(End::Fail)];
    let lists = prop_oneof![
        4 => Just(Vec::new()),
        1 => prop::collection::vec(list(), 1..3),
    ];
    let brought = prop_oneof![4 => Just(None), 1 => roles().prop_map(Some)];
    prop_oneof![
        20 => (session(), actor(), skill(), level(), of_session)
            .prop_map(|(session, actor, skill, level, span)| Step::Open(session, actor, skill, level, span)),
        8 => (turn(), skill(), level()).prop_map(|(turn, skill, level)| Step::OpenForTurn(turn, skill, level)),
        14 => (turn(), skill(), level(), of_turn)
            .prop_map(|(turn, skill, level, span)| Step::Ask(turn, skill, level, span)),
        4 => (turn(), prop::option::of(skill())).prop_map(|(turn, skill)| Step::AskToClear(turn, skill)),
        8 => (session(), prop_oneof![1 => actor(), 3 => Just(Actor::Host)], skill(), prop::option::of(level()))
            .prop_map(|(session, actor, skill, level)| Step::Limit(session, actor, skill, level)),
        6 => (session(), actor(), prop::option::weighted(0.7, skill()))
            .prop_map(|(session, actor, skill)| Step::Clear(session, actor, skill)),
        6 => (1..20_u64).prop_map(Step::Pass),
        8 => (session(), lists, brought, any::<bool>())
            .prop_map(|(session, lists, roles, asked)| Step::Begin(session, lists, roles, asked)),
        8 => (turn(), end).prop_map(|(turn, end)| Step::End(turn, end)),
        16 => turn().prop_map(Step::Look),
        3 => (session(), roles()).prop_map(|(session, roles)| Step::SetRoles(session, roles)),
        1 => (session(), list()).prop_map(|(session, list)| Step::Allow(session, list)),
        1 => (session(), control()).prop_map(|(session, control)| Step::Narrow(session, control)),
        3 => (skill(), prop::bool::weighted(0.6)).prop_map(|(skill, is_on)| Step::Switch(skill, is_on)),
        2 => session().prop_map(Step::Child),
        3 => turn().prop_map(Step::ChildOfTurn),
        2 => (0..3_usize).prop_map(Step::Refresh),
        1 => session().prop_map(Step::Restart),
    ]
}
