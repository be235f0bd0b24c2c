//! What skills hold beside their members: how it reaches a model, once and in one place.

mod begun;
mod files;
mod given;
mod invoke;
mod listed;
mod open;
mod part;

pub(super) use self::begun::Begun;
pub use self::files::BinaryFiles;
pub(super) use self::given::Given;
pub use self::invoke::{Invocable, Invocation};
pub(super) use self::part::ContentPart;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;

use super::control::Control;
use crate::audit::AuditKind;
use crate::prompt::{LoadedSkill, ProfileTool, Template, TemplateError};
use crate::registry::SkillIndex;
use crate::session::SessionState;
use crate::skill::{
    Actor, Code, Fault, Level, SetVisibility, SkillContent, SkillType as _, ToolContext,
    VisibilityChange, shown, within,
};
use crate::tools::PslSkill;

/// Where a body stands that a model has opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyDelivery {
    /// In the result of the call that opened the skill.
    #[default]
    ToolResult,
    /// In the prompt, as that of a skill that the user or the host opened.
    Prompt,
}

impl Control<'_> {
    /// Opens a skill at CONTEXT, if it is not, and answers what it holds.
    pub(super) async fn load(
        &self,
        cx: &ToolContext,
        name: &str,
        arguments: &str,
    ) -> Result<String, Fault> {
        if let Some(turn) = self.turn {
            turn.check_running()?;
        }
        let known = self.cell.published().1;
        let index = self.known_by_list(name, |index, skill| {
            *skill.id != *PslSkill::entry().id && self.is_told_of(index, &known)
        })?;
        let before = self.cell.published().1;
        let seen = self.members(index, &before);
        let registered = self.epoch.registry.skill(index);
        if self.level(index, &before) < Level::Context {
            if !self.is_told_of(index, &before) {
                return Err(not_for(Actor::Model, &registered.id));
            }
            if !self.rights.has_control() {
                return Err(Fault::new(
                    Code::NotPermitted,
                    format!(
                        "`{}` is not open, and you may not open it. Ask the user to, or do without it",
                        registered.id
                    ),
                ));
            }
            let mut request =
                SetVisibility::new(&*registered.id, Level::Context).reason("load_skill");
            request.call = Some(cx.clone());
            self.set(request).await?;
        }
        let now = self.renewed();
        let state = self.cell.published().1;
        let level = now.level(index, &state);
        if level < Level::Context || now.rights.is_denied(index) {
            let id = &registered.id;
            let ceiling = now.facts(index).ceiling(&state.standing(id));
            let is_limited = ceiling.is_some_and(|ceiling| ceiling < Level::Context);
            return Err(if is_limited || now.rights.is_denied(index) {
                Fault::new(
                    Code::NotPermitted,
                    format!("`{id}` is limited to {level} in this session. Do without it"),
                )
            } else {
                // An earlier opening that was given up is still on its way.
                Fault::new(
                    Code::Conflict,
                    format!("`{id}` is just being opened. Try again"),
                )
            });
        }
        match registered.content() {
            Some(content) => {
                let most = self.engine.limits.result;
                now.deliver(index, content, arguments, &state, |told| told.len() <= most)
                    .await
            }
            None => Ok(now.described(index, &state, &seen)),
        }
    }

    /// Adds to a change what the skill holds, where a model has just opened it. The change took effect, so that whatever
    /// goes wrong is told in place of the instructions.
    pub(super) async fn with_instructions(&self, mut change: VisibilityChange) -> VisibilityChange {
        let found = self.epoch.registry.find(&change.skill);
        if let Some((index, registered)) = found
            && let Some(content) = registered.content()
            && change.new_level >= Level::Context
            && self.engine.loading.body_delivery == BodyDelivery::ToolResult
        {
            let state = self.cell.published().1;
            if !self.has_body(index, content, &state) {
                // What else the answer tells has the other half.
                let most = self.engine.limits.result / 2;
                let fits = |told: &str| {
                    serde_json::to_string(told).is_ok_and(|quoted| quoted.len() <= most)
                };
                let told = self.deliver(index, content, "", &state, fits).await;
                change.instructions = Some(told.unwrap_or_else(|fault| {
                    if fault.code == Code::LimitExceeded {
                        let load = self.epoch.listing.profile().tool(ProfileTool::Load);
                        format!("too long to stand here. Call {load} for them")
                    } else {
                        fault.message
                    }
                }));
            }
        }
        change
    }

    /// The body of an open skill with its arguments, unless the model has it. What does not fit is not given at all:
    /// instructions that end somewhere say something else.
    async fn deliver(
        &self,
        index: SkillIndex,
        content: &dyn SkillContent,
        arguments: &str,
        state: &SessionState,
        fits: impl FnOnce(&str) -> bool,
    ) -> Result<String, Fault> {
        let profile = self.epoch.listing.profile();
        let registered = self.epoch.registry.skill(index);
        let id = &registered.id;
        if !self.rights.has_instructions(index) {
            return Err(held_back(id));
        }
        let arguments = arguments.trim();
        let given = Given::new(registered, content, arguments);
        let has_it = if arguments.is_empty() {
            self.has_body(index, content, state)
        } else {
            self.was_given(&given)
        };
        if has_it {
            return Ok(profile.already_loaded(id));
        }
        self.give(index, content, arguments, fits).await
    }

    /// The body of an open skill with its arguments; from now on the model has it.
    async fn give(
        &self,
        index: SkillIndex,
        content: &dyn SkillContent,
        arguments: &str,
        fits: impl FnOnce(&str) -> bool,
    ) -> Result<String, Fault> {
        let told = self.enveloped(index, content, arguments).await?;
        self.check_open(index, Level::Context)?;
        let registered = self.epoch.registry.skill(index);
        let id = &registered.id;
        if !fits(&told) {
            let (long, most) = (told.len(), self.engine.limits.result);
            return Err(Fault::new(
                Code::LimitExceeded,
                format!(
                    "the instructions of `{id}` have {long} bytes, and a result holds {most}. Do without them, and tell \
                     the user that parts of them belong into files of the skill"
                ),
            ));
        }
        let given = Given::new(registered, content, arguments);
        match self.turn {
            // Once the result is handed out.
            Some(turn) => turn.giving(|giving| giving.push(given)),
            None => self.cell.give(given),
        }
        let kind = AuditKind::SkillLoaded {
            skill: id.clone(),
            body: content.digest(),
            told: self.engine.audit.argument_digest(told.as_bytes()),
            bytes: told.len() as u64,
        };
        let mut event = self.engine.event(self.cell, self.actor, kind);
        event.turn = self.turn.map(|turn| turn.id);
        self.engine.audit.record(event.by(self.by.clone()));
        Ok(told)
    }

    /// The body of a skill with its arguments and the list of its files, in the profile's form.
    async fn enveloped(
        &self,
        index: SkillIndex,
        content: &dyn SkillContent,
        arguments: &str,
    ) -> Result<String, Fault> {
        let telling = AssertUnwindSafe(self.written(index, content, arguments));
        telling.catch_unwind().await.unwrap_or_else(|_| {
            let id = &self.epoch.registry.skill(index).id;
            Err(Fault::new(
                Code::Panic,
                format!("reading the instructions of `{id}` failed inside. Do without them"),
            ))
        })
    }

    async fn written(
        &self,
        index: SkillIndex,
        content: &dyn SkillContent,
        arguments: &str,
    ) -> Result<String, Fault> {
        let profile = self.epoch.listing.profile();
        let body = self.body(index, content).await?;
        let text = self.expanded(index, content, &body, arguments)?;
        let definition = self.epoch.words.skill(&self.epoch.registry, index);
        let listed = content.resources().iter().take(profile.listed_resources());
        let listed: Vec<_> = listed.map(|file| (*file.path).to_owned()).collect();
        let id = &self.epoch.registry.skill(index).id;
        let mut loaded = LoadedSkill::new(id, &definition.description, &text);
        loaded.directory = content.base_dir();
        loaded.resources = &listed;
        loaded.total_resources = content.total_resources();
        Ok(profile.loaded(&loaded))
    }

    /// A body as its author wrote it, if it comes in time.
    async fn body(&self, index: SkillIndex, content: &dyn SkillContent) -> Result<Arc<str>, Fault> {
        let limit = self.engine.limits.tool_timeout;
        let read = within(&*self.engine.clock, limit, content.body()).await;
        read.unwrap_or_else(|| {
            let id = &self.epoch.registry.skill(index).id;
            Err(Fault::new(
                Code::Timeout,
                format!(
                    "the instructions of `{id}` were not read within {} ms. Try again, or do without them",
                    limit.as_millis()
                ),
            ))
        })
    }

    /// A body with everything put in its place.
    fn expanded(
        &self,
        index: SkillIndex,
        content: &dyn SkillContent,
        body: &str,
        arguments: &str,
    ) -> Result<String, Fault> {
        let registered = self.epoch.registry.skill(index);
        let body = self
            .epoch
            .words
            .instructions_of_turn(&self.epoch.registry, index, body);
        let names = content.argument_names();
        let mut template = Template::new(&body)
            .arguments(arguments)
            .names(names.iter().map(String::as_str))
            .base(self.epoch.listing.profile().argument_base())
            .session_id(self.cell.scope.id.as_str());
        if let Some(folder) = content.base_dir() {
            template = template.skill_dir(folder);
        }
        let most = body.len().saturating_add(self.engine.limits.result);
        let expanded = template
            .expand(most)
            .map_err(|TemplateError::TooLong { .. }| {
                Fault::new(
                    Code::LimitExceeded,
                    format!(
                        "`{}` is longer than {most} bytes with these arguments. Give shorter ones",
                        registered.id
                    ),
                )
            })?;
        if !expanded.commands.is_empty() {
            tracing::warn!(
                skill = &*registered.id,
                commands = expanded.commands.len(),
                "a skill asks to run commands, which stay text"
            );
        }
        Ok(expanded.text)
    }

    /// Whether the model has the body of a skill before it, in its prompt or in an earlier result.
    fn has_body(
        &self,
        index: SkillIndex,
        content: &dyn SkillContent,
        state: &SessionState,
    ) -> bool {
        let registered = self.epoch.registry.skill(index);
        let id = &registered.id;
        let is_being_given = || {
            let digest = registered.content_digest(content);
            self.turn.is_some_and(|turn| {
                turn.giving(|giving| giving.iter().any(|given| given.is_body(id, &digest)))
            })
        };
        // One that could not be read stands nowhere, wherever it belongs.
        let is_missing = || self.turn.is_some_and(|turn| turn.lacks_body(index));
        self.cell
            .has_body(id, || registered.content_digest(content))
            || is_being_given()
            || (self.is_in_prompt(index, content, state) && !is_missing())
    }

    /// Whether the model was given a body with these arguments.
    fn was_given(&self, given: &Given) -> bool {
        self.cell.was_given(given)
            || self
                .turn
                .is_some_and(|turn| turn.giving(|giving| giving.contains(given)))
    }

    /// Whether the prompt holds the body of a skill: of one that others than the model opened, unless it was given
    /// before.
    fn is_in_prompt(
        &self,
        index: SkillIndex,
        content: &dyn SkillContent,
        state: &SessionState,
    ) -> bool {
        let registered = self.epoch.registry.skill(index);
        let standing = state.standing(&registered.id);
        let turn = self.turn_standing(&registered.id, state);
        let now = self.engine.clock.now();
        part::belongs_in_prompt(self.engine, registered, standing, turn, now)
            && self.level(index, state) >= Level::Context
            && self.rights.has_instructions(index)
            && !self
                .cell
                .has_body(&registered.id, || registered.content_digest(content))
    }

    /// What opening a skill without a body came to.
    fn described(
        &self,
        index: SkillIndex,
        state: &SessionState,
        before: &super::overview::Members,
    ) -> String {
        let Self { epoch, .. } = self;
        let registry = &epoch.registry;
        let id = &registry.skill(index).id;
        let definition = epoch.words.skill(registry, index);
        let mut text = String::new();
        if self.rights.has_instructions(index)
            && let Some(instructions) = epoch.words.instructions(registry, index)
        {
            text.push_str(instructions.trim_end());
            text.push_str("\n\n");
        }
        let members = self.members(index, state);
        let tools = members.tools.iter().map(|tool| {
            let mark = if before.tools.contains(tool) {
                ""
            } else {
                " (new)"
            };
            format!("{}{mark}", self.tool_name(*tool))
        });
        let attributes = members.attributes.iter();
        let attributes = attributes.map(|index| registry.attribute(*index).name.to_string());
        for (what, names) in [
            ("Attributes", attributes.collect::<Vec<_>>()),
            ("Tools", tools.collect()),
        ] {
            if !names.is_empty() {
                text.push_str(what);
                text.push_str(": ");
                text.push_str(&names.join(", "));
                text.push_str(".\n");
            }
        }
        let loaded = LoadedSkill::new(id, &definition.description, &text);
        self.epoch.listing.profile().loaded(&loaded)
    }
}

/// Says that roles or lists leave out what the skill holds.
fn held_back(skill: &str) -> Fault {
    Fault::new(
        Code::NotPermitted,
        format!("the instructions of `{skill}` are not for this session. Do without them"),
    )
}

/// Says that nobody but the user, or nobody but the model, begins a skill.
fn not_for(actor: Actor, skill: &str) -> Fault {
    let skill = shown(skill, 64);
    Fault::new(
        Code::NotPermitted,
        match actor {
            Actor::Model => {
                format!("only the user starts `{skill}`. Ask the user to, or do without it")
            }
            _ => format!("`{skill}` is for the model alone. Ask the model for what it does"),
        },
    )
}
