use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::skill::{Actor, Level, Timestamp};

use super::admission::Opening;
use super::grant::{Grant, Lowered, NEVER};
use super::standing::SkillEntry;
use super::state::{SessionState, position};

/// A state as stores write it. An unknown field is an error: what is not understood may be a restriction.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "SessionState")]
pub(super) struct Stored {
    version: u64,
    #[serde(default)]
    forgotten: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    skills: Vec<StoredSkill>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    admissions: Vec<StoredAdmission>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cleared: Vec<Lowered>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredSkill {
    skill: String,
    touched: u64,
    #[serde(default)]
    limited: u64,
    base: Level,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ceiling: Option<Level>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    grants: Vec<StoredGrant>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lowered: Vec<Lowered>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredGrant {
    id: u64,
    level: Level,
    actor: Actor,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredAdmission {
    skill: String,
    level: Level,
    #[serde(default)]
    version: u64,
}

/// Why a stored state is refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum StoredFault {
    #[error("the skill `{0}` stands there twice")]
    Twice(String),
    #[error("the skill `{0}` was changed at a version that is still to come")]
    Future(String),
    #[error("the skill `{0}` was opened by no grant")]
    Unopened(String),
}

impl From<SessionState> for Stored {
    fn from(state: SessionState) -> Self {
        let admissions = state.admissions().iter().map(|admission| StoredAdmission {
            skill: (**admission.skill).to_owned(),
            level: admission.level,
            version: admission.version,
        });
        let admissions = admissions.collect();
        let SessionState {
            version,
            next_expiry: _,
            forgotten,
            entries,
            log: _,
            cleared,
        } = state;
        Self {
            version,
            forgotten,
            skills: entries.iter().map(|entry| entry.as_ref().into()).collect(),
            admissions,
            cleared: cleared.into(),
        }
    }
}

impl From<&SkillEntry> for StoredSkill {
    fn from(entry: &SkillEntry) -> Self {
        let grants = entry.grants.iter().map(|grant| StoredGrant {
            id: grant.id,
            level: grant.level,
            actor: grant.actor,
            expires_at: grant.expires_at(),
        });
        Self {
            skill: (*entry.skill).to_owned(),
            touched: entry.touched,
            limited: entry.limited,
            base: entry.base,
            ceiling: entry.ceiling,
            grants: grants.collect(),
            lowered: entry.lowered.to_vec(),
        }
    }
}

impl From<StoredSkill> for SkillEntry {
    fn from(stored: StoredSkill) -> Self {
        let grants = stored.grants.into_iter().map(|grant| Grant {
            id: grant.id,
            expires: grant.expires_at.unwrap_or(NEVER),
            level: grant.level,
            actor: grant.actor,
        });
        Self {
            skill: stored.skill.into(),
            touched: stored.touched,
            limited: stored.limited,
            grants: grants.collect(),
            lowered: stored.lowered.into(),
            ceiling: stored.ceiling,
            base: stored.base,
        }
    }
}

impl TryFrom<Stored> for SessionState {
    type Error = StoredFault;

    fn try_from(stored: Stored) -> Result<Self, StoredFault> {
        let version = stored.version;
        let is_future = |entry: &&SkillEntry| {
            let grants = entry.grants.iter().map(|grant| grant.id);
            let notes = entry.lowered.iter().map(|note| note.version);
            entry.touched > version || grants.chain(notes).any(|made_at| made_at > version)
        };
        let mut entries: Vec<SkillEntry> = stored.skills.into_iter().map(Into::into).collect();
        entries.sort_by(|left, right| left.skill.cmp(&right.skill));
        if let Some(entry) = entries.iter().find(is_future) {
            return Err(StoredFault::Future((*entry.skill).to_owned()));
        }
        if let Some(pair) = entries
            .windows(2)
            .find(|pair| pair[0].skill == pair[1].skill)
        {
            return Err(StoredFault::Twice((*pair[0].skill).to_owned()));
        }
        let entries: Box<[Arc<SkillEntry>]> = entries.into_iter().map(Arc::new).collect();
        let mut log = Vec::with_capacity(stored.admissions.len());
        for StoredAdmission {
            skill,
            level,
            version,
        } in stored.admissions
        {
            let place = position(&entries, &skill).map(u32::try_from);
            let Ok(Ok(entry)) = place else {
                return Err(StoredFault::Unopened(skill));
            };
            log.push(Opening {
                entry,
                level,
                version,
            });
        }
        let grants = entries.iter().flat_map(|entry| &entry.grants);
        Ok(Self {
            version,
            next_expiry: grants.map(|grant| grant.expires).min().unwrap_or(NEVER),
            forgotten: stored.forgotten,
            log: log.into(),
            cleared: stored.cleared.into(),
            entries,
        })
    }
}
