use serde::{Deserialize, Serialize};

use crate::skill::{Actor, Code, Fault, Level, Limits, StandingGrant, Timestamp};

/// Stands for "until cleared" where an end is compared.
pub(super) const NEVER: Timestamp = Timestamp(i64::MAX);

/// How long a grant of the session lasts. Turn-bound grants live in [`TurnGrants`](super::TurnGrants).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GrantSpan {
    /// A floor: it stands in for the base level until it is cleared or replaced.
    UntilCleared,
    /// A grant that only raises, live before this moment.
    Ttl(Timestamp),
}

impl GrantSpan {
    /// A grant that is live for `duration` from `now`.
    ///
    /// # Errors
    ///
    /// `limit_exceeded` when the duration is outside `min_ttl` to `max_ttl`.
    pub fn for_time(
        duration: std::time::Duration,
        now: Timestamp,
        limits: &Limits,
    ) -> Result<Self, Fault> {
        let span = now.checked_add(duration).map(Self::Ttl);
        match span {
            Some(span) if duration >= limits.min_ttl && duration <= limits.max_ttl => Ok(span),
            Some(_) | None => Err(ttl_out_of_range(limits)),
        }
    }

    pub(super) fn end(self, now: Timestamp, limits: &Limits) -> Result<Timestamp, Fault> {
        let expires_at = match self {
            Self::UntilCleared => return Ok(NEVER),
            Self::Ttl(expires_at) => expires_at,
        };
        let duration = expires_at.since(now);
        if expires_at == NEVER || duration < limits.min_ttl || duration > limits.max_ttl {
            return Err(ttl_out_of_range(limits));
        }
        Ok(expires_at)
    }
}

fn ttl_out_of_range(limits: &Limits) -> Fault {
    Fault::new(
        Code::LimitExceeded,
        format!(
            "a time to live is {} to {} seconds; give one in that range, or none to keep the level until it is cleared",
            limits.min_ttl.as_secs_f64(),
            limits.max_ttl.as_secs_f64()
        ),
    )
}

/// What opened a skill: a floor, or a grant with an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    pub(super) id: u64,
    pub(super) expires: Timestamp,
    pub(super) level: Level,
    pub(super) actor: Actor,
}

impl Grant {
    /// The session version the grant was made at; what [`Change::Revoke`](super::Change::Revoke) takes.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The level granted.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Who granted it.
    #[must_use]
    pub fn actor(&self) -> Actor {
        self.actor
    }

    /// When it ends by itself; a floor does not.
    #[must_use]
    pub fn expires_at(&self) -> Option<Timestamp> {
        (!self.is_floor()).then_some(self.expires)
    }

    /// Whether it lasts until it is cleared, and so stands in for the base level.
    #[must_use]
    pub fn is_floor(&self) -> bool {
        self.expires == NEVER
    }

    /// Whether it has not ended at `now`.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires
    }

    /// Whether `other` adds nothing while this one stands.
    ///
    /// Whoever can remove this grant can remove `other` too, so what is covered need not be kept.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.level >= other.level && self.expires >= other.expires && self.actor >= other.actor
    }

    /// The grant as it is shown to whoever asks.
    #[must_use]
    pub fn to_standing(&self, skill: &str) -> StandingGrant {
        StandingGrant {
            skill: skill.to_owned(),
            level: self.level,
            actor: self.actor,
            span: if self.is_floor() {
                "until_cleared"
            } else {
                "ttl"
            },
            expires_at: self.expires_at(),
        }
    }
}

/// That an actor lowered a skill, or asked for no more than a level: ends turn-bound grants made before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lowered {
    pub(super) version: u64,
    pub(super) level: Level,
    pub(super) actor: Actor,
}

impl Lowered {
    /// Whether this ends a turn-bound grant of `level` by `actor`, made at version `made_at`.
    pub(super) fn ends(&self, level: Level, actor: Actor, made_at: u64) -> bool {
        self.version > made_at && self.level < level && self.actor >= actor
    }

    /// Adds a newer note and drops those it makes superfluous: at most one for each actor and level remains.
    pub(super) fn note(self, notes: &mut Vec<Self>) {
        notes.retain(|old| old.actor > self.actor || old.level < self.level);
        notes.push(self);
    }
}

/// `held_by`: who holds the skill, and what would be allowed.
pub(super) fn held_by(skill: &str, holder: &StandingGrant, asked: Level, actor: Actor) -> Fault {
    let (level, owner) = (holder.level, holder.actor);
    let until = match (holder.span, holder.expires_at) {
        (_, Some(expires_at)) => format!("until {expires_at}"),
        ("turn", None) => "until its turn ends".to_owned(),
        (_, None) => "until it is cleared".to_owned(),
    };
    Fault::new(
        Code::HeldBy,
        format!(
            "the {owner} holds `{skill}` at {level} {until}, so the {actor} cannot set it to {asked}; set {level} or higher, or ask the {owner} to lower it"
        ),
    )
}

/// `not_permitted`: a level above the session's ceiling.
pub(super) fn above_ceiling(skill: &str, ceiling: Level, asked: Level, actor: Actor) -> Fault {
    Fault::new(
        Code::NotPermitted,
        format!(
            "`{skill}` is limited to {ceiling} in this session, so the {actor} cannot set it to {asked}; set {ceiling} or lower, or ask the host to lift the limit"
        ),
    )
}

/// `limit_exceeded`: no room for another grant.
pub(super) fn too_many_grants(limits: &Limits) -> Fault {
    Fault::new(
        Code::LimitExceeded,
        format!(
            "a session holds at most {} grants; clear some first",
            limits.grants
        ),
    )
}
