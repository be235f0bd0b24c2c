//! Makes the instances of linked skills, each once, in whatever order they need each other.

use std::any::TypeId;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use crate::skill::{Instance, Make, Resources, SkillEntry};

/// An instance the host passed, under the id it is to have.
#[derive(Clone)]
pub(crate) struct Provided {
    pub(crate) id: std::borrow::Cow<'static, str>,
    pub(crate) entry: &'static SkillEntry,
    pub(crate) instance: Instance,
}

/// An instance made from a linked entry.
pub(crate) struct Constructed {
    pub(crate) entry: &'static SkillEntry,
    pub(crate) instance: Instance,
}

enum Slot {
    Waiting(&'static SkillEntry),
    Making,
    Made(Instance),
    Failed(String),
}

struct Workshop {
    slots: Mutex<HashMap<TypeId, Slot>>,
    /// Ids of the skills being made, outermost first: what a cycle is told by.
    chain: Mutex<Vec<&'static str>>,
}

/// Makes one instance per entry. Types in `provided` are taken from there and not made.
///
/// Factories run here, one after another, and may ask for each other through [`Resources::skill`]. What cannot be
/// made is told beside what can.
pub(crate) fn construct(
    entries: &[&'static SkillEntry],
    provided: &[Provided],
    resources: &Resources,
) -> (Vec<Constructed>, Vec<String>) {
    let mut slots: HashMap<TypeId, Slot> = entries
        .iter()
        .map(|entry| ((entry.type_id)(), Slot::Waiting(entry)))
        .collect();
    for provided in provided {
        // With several instances of one type, the one under the type's own id is what others are given.
        let is_own_id = provided.id == provided.entry.id;
        let slot = slots
            .entry((provided.entry.type_id)())
            .or_insert_with(|| Slot::Failed(String::new()));
        if is_own_id || matches!(slot, Slot::Failed(_)) {
            *slot = Slot::Made(Arc::clone(&provided.instance));
        }
    }
    let workshop = Arc::new(Workshop {
        slots: Mutex::new(slots),
        chain: Mutex::default(),
    });
    let of_workshop = Arc::clone(&workshop);
    let values = resources.clone();
    let resources = resources.with_skills(Arc::new(move |type_id, id| {
        make(&of_workshop, &values, type_id, id)
    }));
    let mut made = Vec::with_capacity(entries.len());
    let mut problems = Vec::new();
    for entry in entries {
        match make_with(&workshop, &resources, (entry.type_id)(), entry.id) {
            Ok(instance) => made.push(Constructed { entry, instance }),
            // Whoever needed a skill that failed has the whole message in its own.
            Err(message)
                if problems
                    .iter()
                    .any(|problem: &String| problem.contains(&message)) => {}
            Err(message) => problems.push(message),
        }
    }
    (made, problems)
}

fn make(
    workshop: &Arc<Workshop>,
    values: &Resources,
    type_id: TypeId,
    id: &'static str,
) -> Result<Instance, String> {
    let of_workshop = Arc::clone(workshop);
    let inner_values = values.clone();
    let resources = values.with_skills(Arc::new(move |type_id, id| {
        make(&of_workshop, &inner_values, type_id, id)
    }));
    make_with(workshop, &resources, type_id, id)
}

fn make_with(
    workshop: &Workshop,
    resources: &Resources,
    type_id: TypeId,
    id: &'static str,
) -> Result<Instance, String> {
    let entry = {
        let mut slots = workshop
            .slots
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match slots.get_mut(&type_id) {
            None => {
                return Err(format!(
                    "there is no skill `{id}` in this engine; link its crate, or pass it with `builder.skill(value)`"
                ));
            }
            Some(Slot::Made(instance)) => return Ok(Arc::clone(instance)),
            Some(Slot::Failed(message)) => return Err(message.clone()),
            Some(Slot::Making) => {
                let chain = workshop
                    .chain
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                let from = chain.iter().position(|link| *link == id).unwrap_or(0);
                let links: Vec<_> = chain[from..]
                    .iter()
                    .chain([&id])
                    .map(|link| format!("`{link}`"))
                    .collect();
                return Err(format!(
                    "skills need each other in a circle: {}; let one be given the other once the engine is built, from `engine.skill()`",
                    links.join(" -> ")
                ));
            }
            Some(slot @ Slot::Waiting(_)) => {
                let Slot::Waiting(entry) = std::mem::replace(slot, Slot::Making) else {
                    unreachable!("the arm matched a waiting slot");
                };
                entry
            }
        }
    };
    workshop
        .chain
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(id);
    let result = match entry.make {
        Make::Manual => Err(format!(
            "skill `{id}` is `manual`: pass it with `builder.skill(value)`, or leave it out with `builder.without(\"{id}\")`"
        )),
        Make::Factory(factory) => catch_unwind(AssertUnwindSafe(|| factory(resources)))
            .unwrap_or_else(|_| Err("its factory panicked".to_owned()))
            .map_err(|message| format!("skill `{id}` could not be made: {message}")),
    };
    workshop
        .chain
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .pop();
    let mut slots = workshop
        .slots
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    match result {
        Ok(instance) => {
            slots.insert(type_id, Slot::Made(Arc::clone(&instance)));
            Ok(instance)
        }
        Err(message) => {
            slots.insert(type_id, Slot::Failed(message.clone()));
            Err(message)
        }
    }
}
