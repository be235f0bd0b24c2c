use super::super::control::Control;
use super::super::session::Session;
use super::{Begun, held_back, not_for};
use crate::skill::{Actor, Code, Fault, Level, SetVisibility, shown};

/// A skill that was invoked, for the host to hand to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Invocation {
    /// The skill's id.
    pub skill: String,
    /// The skill's instructions with the arguments in their places, as a message of the user's.
    pub message: String,
}

/// A skill that someone may begin, as a list for them shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Invocable {
    /// The skill's id.
    pub skill: String,
    /// Name for people.
    pub name: String,
    /// What the skill is for.
    pub description: String,
    /// What its arguments look like, such as `[environment]`.
    pub argument_hint: Option<String>,
}

impl Session {
    /// Begins a skill for someone: opens it at CONTEXT, if it is not, and gives its instructions with the arguments in
    /// their places. The host puts them before the model as a message; prompt and `load_skill` do not repeat them.
    ///
    /// # Errors
    ///
    /// `unknown_skill`, which names those that the actor may begin; `not_permitted` when the actor may not begin it, it
    /// is limited below CONTEXT, or roles and lists name single members of it alone; `invalid_arguments` for a skill without a body of its own; `limit_exceeded` for
    /// arguments that make it too long; those of opening a skill, and of reading its body.
    pub async fn invoke(
        &self,
        actor: Actor,
        skill: &str,
        arguments: &str,
    ) -> Result<Invocation, Fault> {
        self.control(async |control: Control<'_>| {
            let control = Control { actor, ..control };
            control.invoke(skill, arguments).await
        })
        .await
    }

    /// The skills that someone may begin with [`invoke`](Self::invoke), by id.
    ///
    /// # Errors
    ///
    /// `not_permitted` when the session has ended, `store_unavailable`.
    pub async fn invocable(&self, actor: Actor) -> Result<Vec<Invocable>, Fault> {
        self.control(async |control: Control<'_>| {
            let control = Control { actor, ..control };
            Ok(control.invocable())
        })
        .await
    }
}

impl Control<'_> {
    async fn invoke(&self, skill: &str, arguments: &str) -> Result<Invocation, Fault> {
        let Some(index) = self
            .known(skill)
            .ok()
            .filter(|it| !self.rights.is_denied(*it))
        else {
            return Err(self.unknown(skill));
        };
        let registered = self.epoch.registry.skill(index);
        let id = &registered.id;
        let definition = registered.definition();
        let may = match self.actor {
            Actor::Model => definition.model_invocable,
            Actor::User => definition.user_invocable,
            _ => true,
        };
        if !may {
            return Err(not_for(self.actor, id));
        }
        if !self.rights.has_instructions(index) {
            return Err(held_back(id));
        }
        let Some(content) = registered.content() else {
            return Err(Fault::new(
                Code::InvalidArguments,
                format!("`{id}` has no body to begin with. Open it with `Session::open` instead"),
            ));
        };
        let before = self.cell.published().1;
        if self.level(index, &before) < Level::Context {
            let request = SetVisibility::new(&**id, Level::Context).reason("invoked");
            self.set(request).await?;
        }
        let now = self.renewed();
        let state = self.cell.published().1;
        let level = now.level(index, &state);
        if level < Level::Context {
            return Err(Fault::new(
                Code::NotPermitted,
                format!("`{id}` is limited to {level} in this session. Raise its limit first"),
            ));
        }
        if !now.rights.has_instructions(index) {
            return Err(held_back(id));
        }
        let arguments = arguments.trim();
        let message = now.give(index, content, arguments, |_| true).await?;
        let begun = Begun::new(id, arguments, self.actor, state.version());
        self.cell.begin(begun);
        Ok(Invocation {
            skill: (**id).to_owned(),
            message,
        })
    }

    /// Says that there is no such skill, and which ones the actor may begin.
    fn unknown(&self, skill: &str) -> Fault {
        const MOST: usize = 20;
        let all = self.invocable();
        let named = all.iter().take(MOST);
        let named: Vec<_> = named.map(|skill| format!("`{}`", skill.skill)).collect();
        let shown = shown(skill, 64);
        let next = match (named.is_empty(), all.len().saturating_sub(MOST)) {
            (true, _) => "There is none to begin".to_owned(),
            (false, 0) => format!("Use one of {}", named.join(", ")),
            (false, more) => format!("Use one of {} and {more} more", named.join(", ")),
        };
        Fault::new(
            Code::UnknownSkill,
            format!("there is no skill `{shown}`. {next}"),
        )
    }

    fn invocable(&self) -> Vec<Invocable> {
        let registry = &self.epoch.registry;
        (0..)
            .zip(&registry.skills)
            .filter(|(index, skill)| {
                skill.content().is_some()
                    && self.rights.has_instructions(*index)
                    && match self.actor {
                        Actor::Model => skill.definition().model_invocable,
                        Actor::User => skill.definition().user_invocable,
                        _ => true,
                    }
            })
            .map(|(index, skill)| {
                let told = self.epoch.words.skill(registry, index);
                Invocable {
                    skill: (*skill.id).to_owned(),
                    name: told.name.clone().into_owned(),
                    description: told.description.clone().into_owned(),
                    argument_hint: told.argument_hint.as_deref().map(str::to_owned),
                }
            })
            .collect()
    }
}
