//! One change of each kind, for the tests that cut changes off or let their store or sink fail.

use std::time::Duration;

use skills_engine::session::{SkillFacts, TurnStanding, effective};
use skills_engine::skill::{Clock, Fault};
use skills_engine::{Level, Session, Span};

use super::stage::Stage;

/// A kind of change: what stands before it, and the change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Open,
    OpenMore,
    OpenForATime,
    OpenForLonger,
    Close,
    Clear,
    ClearAll,
    ClearBelowBase,
    ClearAllBelowBase,
    Limit,
    RaiseLimit,
    LiftLimit,
    LiftLimitBelowBase,
}

impl Kind {
    pub(crate) const ALL: [Self; 13] = [
        Self::Open,
        Self::OpenMore,
        Self::OpenForATime,
        Self::OpenForLonger,
        Self::Close,
        Self::Clear,
        Self::ClearAll,
        Self::ClearBelowBase,
        Self::ClearAllBelowBase,
        Self::Limit,
        Self::RaiseLimit,
        Self::LiftLimit,
        Self::LiftLimitBelowBase,
    ];

    pub(crate) async fn prepare(self, session: &Session) {
        let prepared = match self {
            Self::Open | Self::OpenForATime => Ok(()),
            Self::OpenMore => floor(session, "alpha", Level::Context).await,
            Self::OpenForLonger => for_a_time(session, 900).await,
            Self::Close | Self::Clear | Self::ClearAll | Self::Limit => {
                floor(session, "alpha", Level::Complete).await
            }
            Self::ClearBelowBase | Self::ClearAllBelowBase => {
                floor(session, "gamma", Level::Metadata).await
            }
            Self::RaiseLimit | Self::LiftLimit => {
                floor(session, "alpha", Level::Complete).await.unwrap();
                session.limit("alpha", Level::Metadata).await
            }
            Self::LiftLimitBelowBase => session.limit("gamma", Level::Metadata).await,
        };
        prepared.unwrap();
    }

    pub(crate) async fn make(self, session: &Session) -> Result<(), Fault> {
        match self {
            Self::Open | Self::OpenMore => floor(session, "alpha", Level::Complete).await,
            Self::OpenForATime => for_a_time(session, 900).await,
            Self::OpenForLonger => for_a_time(session, 2_000).await,
            Self::Close => floor(session, "alpha", Level::Metadata).await,
            Self::Clear => session.clear("alpha").await.map(drop),
            Self::ClearBelowBase => session.clear("gamma").await.map(drop),
            Self::ClearAll | Self::ClearAllBelowBase => session.clear_all().await.map(drop),
            Self::Limit => session.limit("alpha", Level::Metadata).await,
            Self::RaiseLimit => session.limit("alpha", Level::Context).await,
            Self::LiftLimit => session.lift_limit("alpha").await,
            Self::LiftLimitBelowBase => session.lift_limit("gamma").await,
        }
    }

    pub(crate) fn raises(self) -> bool {
        !matches!(
            self,
            Self::Close | Self::Clear | Self::ClearAll | Self::Limit
        )
    }
}

pub(crate) async fn floor(session: &Session, skill: &str, to: Level) -> Result<(), Fault> {
    let opened = session.open(skill, to, Span::UntilCleared, "because").await;
    opened.map(drop)
}

async fn for_a_time(session: &Session, seconds: u64) -> Result<(), Fault> {
    let span = Span::Ttl(Duration::from_secs(seconds));
    let opened = session.open("alpha", Level::Context, span, "because").await;
    opened.map(drop)
}

pub(crate) fn base(skill: &str) -> Level {
    if skill == "gamma" {
        Level::Context
    } else {
        Level::Metadata
    }
}

/// The level of a skill by what is stored.
pub(crate) async fn stored_level(stage: &Stage, session: &Session, skill: &str) -> Level {
    let stored = stage.store.state(session).await;
    effective(
        &SkillFacts::new(base(skill)),
        &stored.standing(skill),
        TurnStanding::default(),
        stage.clock.now(),
    )
}
