use std::time::Duration;

use skills_engine_macros::{skill, skill_tool};

use crate::skill::{
    Cleared, Code, Fault, Level, SetVisibility, SkillMatch, SkillVisibility, Span, ToolContext,
    VisibilityChange,
};

/// Opens and closes skills in this conversation, and finds them.
#[skill(crate = crate, id = "psl-skill", name = "Skill control", tags = ["control"], manual)]
pub(crate) struct PslSkill;

// What opens and closes is not marked `idempotent`, though it is: idempotent calls of one reply run side by side, and
// these decide about the calls after them.
#[skill(crate = crate)]
impl PslSkill {
    /// Sets how much of a skill is open: METADATA closes it, CONTEXT opens what it knows and commonly does, COMPLETE
    /// opens everything. Answers the old and new level and what became visible; new tools can be called from the next
    /// step on.
    #[skill_tool(level = Metadata, expose = Always)]
    async fn set_skill_visibility(
        &self,
        /// Id of the skill.
        skill_id: String,
        /// The level wanted.
        level: Level,
        /// True: only until this turn ends. Not together with `ttl_seconds`.
        ephemeral: Option<bool>,
        /// Only for so many seconds. Not together with `ephemeral`.
        ttl_seconds: Option<u64>,
        /// Why; goes to the audit trail.
        reason: Option<String>,
        cx: &ToolContext,
    ) -> Result<VisibilityChange, Fault> {
        let span = match (ephemeral.unwrap_or(false), ttl_seconds) {
            (true, Some(_)) => {
                return Err(Fault::new(
                    Code::InvalidArguments,
                    "`ephemeral` and `ttl_seconds` exclude each other; give one of them or none",
                ));
            }
            (true, None) => Span::Turn,
            (false, Some(seconds)) => Span::Ttl(Duration::from_secs(seconds)),
            (false, None) => Span::UntilCleared,
        };
        let request = SetVisibility::new(skill_id, level)
            .span(span)
            .reason(reason.unwrap_or_default());
        cx.visibility().set(request).await
    }

    /// Tells the level of every skill: what is open, where it started, what caps it and what ends by itself.
    #[skill_tool(level = Metadata, expose = Always, read_only)]
    async fn get_visibility(&self, cx: &ToolContext) -> Result<Vec<SkillVisibility>, Fault> {
        cx.visibility().get().await
    }

    /// Takes back what you opened: of one skill, or of all. Answers what went and what remains because another opened it.
    #[skill_tool(level = Metadata, expose = Always)]
    async fn clear_visibility(
        &self,
        /// Id of the skill; all skills when it is left out.
        skill_id: Option<String>,
        cx: &ToolContext,
    ) -> Result<Cleared, Fault> {
        cx.visibility().clear(skill_id.as_deref()).await
    }

    /// Finds skills by words in their ids, names, tags and descriptions, best first.
    #[skill_tool(level = Metadata, expose = Always, read_only)]
    async fn search_skills(
        &self,
        /// Words to look for.
        query: String,
        cx: &ToolContext,
    ) -> Result<Vec<SkillMatch>, Fault> {
        cx.visibility().search(&query).await
    }
}
