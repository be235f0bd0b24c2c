use std::sync::Arc;

use serde_json::Value;

use super::approval::ask;
use super::control::Control;
use super::turn_core::TurnCore;
use crate::skill::{
    Actor, BoxFuture, Cleared, Fault, Question, SetVisibility, SkillMatch, SkillVisibility,
    ToolContext, ToolOutput, TurnAccess, TurnScope, Visibility, VisibilityChange, sealed,
};

/// What the tools of a turn are given: the turn's session as the model sees and changes it.
pub(super) struct TurnVisibility {
    pub(super) core: Arc<TurnCore>,
    pub(super) scope: Arc<TurnScope>,
}

impl TurnVisibility {
    pub(super) fn control(&self) -> Control<'_> {
        let TurnCore {
            engine,
            cell,
            epoch,
            ..
        } = &*self.core;
        Control {
            engine,
            cell,
            epoch,
            rights: self.core.rights(),
            turn: Some(&self.core),
            actor: Actor::Model,
            by: None,
        }
    }
}

impl sealed::Sealed for TurnVisibility {}

impl TurnAccess for TurnVisibility {
    fn load<'a>(
        &'a self,
        cx: &'a ToolContext,
        skill: &'a str,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<String, Fault>> {
        Box::pin(async move { self.control().load(cx, skill, arguments).await })
    }

    fn list(&self, offset: u64) -> Result<String, Fault> {
        self.control().listed(offset)
    }

    fn read<'a>(
        &'a self,
        skill: &'a str,
        path: &'a str,
        offset: u64,
        limit: Option<u64>,
    ) -> BoxFuture<'a, Result<ToolOutput, Fault>> {
        Box::pin(async move { self.control().read_file(skill, path, offset, limit).await })
    }

    fn scope(&self) -> &Arc<TurnScope> {
        &self.scope
    }

    fn ask<'a>(
        &'a self,
        cx: &'a ToolContext,
        question: Question,
    ) -> BoxFuture<'a, Result<Value, Fault>> {
        Box::pin(ask(&self.core, cx, question))
    }
}

impl Visibility for TurnVisibility {
    fn set(&self, request: SetVisibility) -> BoxFuture<'_, Result<VisibilityChange, Fault>> {
        Box::pin(async move {
            let changed = self.control().set(request).await?;
            Ok(self.control().with_instructions(changed).await)
        })
    }

    fn get(&self) -> BoxFuture<'_, Result<Vec<SkillVisibility>, Fault>> {
        Box::pin(async move { Ok(self.control().list()) })
    }

    fn clear<'a>(&'a self, skill: Option<&'a str>) -> BoxFuture<'a, Result<Cleared, Fault>> {
        Box::pin(async move { self.control().clear(skill, "").await })
    }

    fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Vec<SkillMatch>, Fault>> {
        Box::pin(async move { self.control().search(query).await })
    }
}
