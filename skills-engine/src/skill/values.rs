use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// What a session carries for its tools: values of the host by type, and what each skill keeps in it.
#[derive(Default)]
pub(crate) struct SessionValues {
    // Most sessions carry none, and must then cost no map.
    values: OnceLock<Box<RwLock<Values>>>,
}

type ByType = HashMap<TypeId, Arc<dyn Any + Send + Sync>>;

#[derive(Default)]
struct Values {
    of_host: ByType,
    of_skills: HashMap<Arc<str>, ByType>,
}

impl SessionValues {
    /// Puts a value of the host, replacing an earlier one of its type.
    pub(crate) fn put<T: Send + Sync + 'static>(&self, value: T) {
        let replaced = self
            .write()
            .of_host
            .insert(TypeId::of::<T>(), Arc::new(value));
        // Not under the lock: its end may look at the session.
        drop(replaced);
    }

    /// The host's value of a type, if one was put.
    pub(crate) fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        found(&self.read()?.of_host)
    }

    /// What a skill keeps of a type.
    pub(crate) fn state<T: Send + Sync + 'static>(&self, skill: &str) -> Option<Arc<T>> {
        found(self.read()?.of_skills.get(skill)?)
    }

    /// Keeps a value for a skill, replacing an earlier one of its type.
    pub(crate) fn set_state<T: Send + Sync + 'static>(&self, skill: &Arc<str>, value: T) {
        let replaced = self
            .write()
            .of_skills
            .entry(Arc::clone(skill))
            .or_default()
            .insert(TypeId::of::<T>(), Arc::new(value));
        drop(replaced);
    }

    /// What a skill keeps of a type; made when there is nothing yet. Of two made at once, the first one stays.
    pub(crate) fn state_or_init<T: Send + Sync + 'static>(
        &self,
        skill: &Arc<str>,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        if let Some(state) = self.state(skill) {
            return state;
        }
        // Not under the lock: it may look at the session.
        let state = Arc::new(make());
        let mut values = self.write();
        let of_skill = values.of_skills.entry(Arc::clone(skill)).or_default();
        if let Some(first) = found(of_skill) {
            return first;
        }
        of_skill.insert(TypeId::of::<T>(), Arc::<T>::clone(&state));
        state
    }

    /// Lets go of what the skills keep.
    pub(crate) fn clear_states(&self) {
        let Some(values) = self.values.get() else {
            return;
        };
        let mut values = values.write().unwrap_or_else(PoisonError::into_inner);
        let states = std::mem::take(&mut values.of_skills);
        drop(values);
        drop(states);
    }

    fn read(&self) -> Option<RwLockReadGuard<'_, Values>> {
        let values = self.values.get()?;
        Some(values.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(&self) -> RwLockWriteGuard<'_, Values> {
        let values = self.values.get_or_init(Box::default);
        values.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn found<T: Send + Sync + 'static>(values: &ByType) -> Option<Arc<T>> {
    values.get(&TypeId::of::<T>()).cloned()?.downcast().ok()
}

impl fmt::Debug for SessionValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SessionValues")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_values_are_found_by_type() {
        let values = SessionValues::default();
        assert_eq!(values.get::<u32>(), None);
        values.put(7_u32);
        values.put("tenant");
        assert_eq!(values.get::<u32>().as_deref(), Some(&7));
        assert_eq!(values.get::<&str>().as_deref(), Some(&"tenant"));
        values.put(8_u32);
        assert_eq!(values.get::<u32>().as_deref(), Some(&8));
    }

    #[test]
    fn states_are_found_by_skill_and_type() {
        let values = SessionValues::default();
        let [billing, helpdesk] = ["billing", "helpdesk"].map(Arc::<str>::from);
        assert_eq!(values.state::<u32>("billing"), None);
        values.set_state(&billing, 1_u32);
        values.set_state(&helpdesk, 2_u32);
        values.put(3_u32);
        let found =
            ["billing", "helpdesk"].map(|skill| values.state::<u32>(skill).as_deref().copied());
        assert_eq!(found, [Some(1), Some(2)]);
        assert_eq!(values.state::<&str>("billing"), None);
        assert_eq!(*values.state_or_init(&billing, || 4_u32), 1);
        assert_eq!(*values.state_or_init(&billing, || "made"), "made");
        values.clear_states();
        assert_eq!(values.state::<u32>("helpdesk"), None);
        assert_eq!(values.get::<u32>().as_deref(), Some(&3));
    }

    #[test]
    fn making_a_state_may_look_at_the_session() {
        let values = SessionValues::default();
        let skill: Arc<str> = "skill".into();
        let outer = values.state_or_init(&skill, || {
            *values.state_or_init(&skill, || 1_u64) + u64::from(values.get::<u32>().is_some())
        });
        assert_eq!(*outer, 1);
    }
}
