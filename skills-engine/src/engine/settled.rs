use std::collections::{BTreeMap, BTreeSet};

use super::EngineBuilder;
use super::settings::{RoleSettings, Settings, SettingsReport, limit_keys, role_key, skill_key};
use crate::audit::AuditKey;
use crate::prompt::TokenBudget;
use crate::session::{Role, Roles};
use crate::skill::shown;

/// What holds of the settings once the builder has had its say.
pub(super) struct Settled {
    pub(super) settings: Settings,
    pub(super) roles: Roles,
    /// Ids of skills.
    pub(super) switched_off: BTreeSet<String>,
    pub(super) audit_key: Option<AuditKey>,
    pub(super) report: SettingsReport,
    /// Where each value stands that the builder did not set, by key.
    pub(super) places: BTreeMap<String, String>,
    pub(super) problems: Vec<String>,
    /// The ids of skills that sources gave and the builder leaves out.
    pub(super) left_out: Vec<String>,
}

impl EngineBuilder {
    pub(super) fn settle(&mut self) -> Settled {
        let mut settings = std::mem::take(&mut self.settings);
        let by_builder = self.override_settings(&mut settings);
        let mut problems = Vec::new();
        let given = self.audit_key.take();
        let is_given = given.is_some();
        let audit_key = given.or_else(|| {
            let key = AuditKey::new(settings.audit_key.as_ref()?.expose());
            key.map_err(|fault| problems.push(format!("`audit_key`: {}", fault.message)))
                .ok()
        });
        let mut report = settings.report_with(&by_builder);
        if is_given {
            report.put("audit_key", "***");
        }
        match self.profile.take() {
            Some(profile) => {
                report.put("profile", &shown(profile.name(), 64));
                self.telling.profile = profile;
            }
            None => self.telling.profile = settings.profile.into(),
        }
        let places = report
            .rows
            .iter()
            .filter(|row| !by_builder.contains(&row.key))
            .map(|row| (row.key.clone(), row.from.to_string()))
            .collect();
        let roles = roles(&settings, &places, &mut problems);
        let skills = settings.skills.iter();
        let switched_off = skills
            .filter(|(_, skill)| !skill.enabled)
            .map(|(id, _)| id.clone())
            .collect();
        Settled {
            settings,
            roles,
            switched_off,
            audit_key,
            report,
            places,
            problems,
            left_out: Vec::new(),
        }
    }

    /// Puts what the builder was told over the settings, and says which keys that were.
    fn override_settings(&mut self, settings: &mut Settings) -> BTreeSet<String> {
        let mut by_builder = BTreeSet::new();
        let mut told = |key: &str| by_builder.extend([key.to_owned()]);
        if let Some(is_enabled) = self.is_enabled {
            settings.enabled = is_enabled;
            told("enabled");
        }
        if let Some(linked) = self.linked {
            settings.linked = linked.into();
            told("linked");
        }
        if let Some(limits) = self.limits.take() {
            settings.limits = limits;
            limit_keys().for_each(&mut told);
        }
        if let Some(idle) = self.session_idle {
            settings.limits.session_idle = idle;
            told("session_idle");
        }
        if let Some(control) = self.control.take() {
            settings.psl_control = control;
            told("psl_control");
        }
        match self.budget.take() {
            Some(budget) => {
                settings.tokens = budget.limit();
                self.telling.budget = budget;
                told("tokens");
            }
            None => self.telling.budget = TokenBudget::new(settings.tokens),
        }
        if let Some(delivery) = self.delivery {
            settings.loading.body_delivery = delivery;
            told("loading.body_delivery");
        }
        if let Some(binary) = self.binary_files {
            settings.loading.binary_files = binary;
            told("loading.binary_files");
        }
        if let Some(mode) = self.allowed_tools {
            settings.loading.allowed_tools = mode;
            told("loading.allowed_tools");
        }
        for id in &self.disabled {
            settings.skills.entry(id.clone()).or_default().enabled = false;
            told(&skill_key(id));
        }
        // The builder's roles of one name add up; one of the settings gives way to them.
        let mut roles: BTreeMap<String, RoleSettings> = BTreeMap::new();
        for (name, role) in self.roles.drain(..) {
            told(&role_key(&name));
            let allow = &mut roles.entry(name).or_default().allow;
            for (pattern, level) in role.patterns() {
                let most = allow.entry(pattern.clone()).or_insert(*level);
                *most = (*most).max(*level);
            }
        }
        settings.roles.extend(roles);
        by_builder
    }
}

/// The roles with their patterns checked.
fn roles(
    settings: &Settings,
    places: &BTreeMap<String, String>,
    problems: &mut Vec<String>,
) -> Roles {
    let mut roles = Roles::default();
    for (name, RoleSettings { allow }) in &settings.roles {
        let role = allow
            .iter()
            .fold(Role::default(), |role, (pattern, level)| {
                role.allow(pattern, *level)
            });
        if let Err(faults) = roles.add(name.clone(), role) {
            let key = role_key(name);
            let place = places.get(&key).map_or_else(
                || format!("role `{}`", shown(name, 64)),
                |place| format!("{place}: `{}`", shown(&key, 120)),
            );
            problems.extend(
                faults
                    .into_iter()
                    .map(|fault| format!("{place}: {}", fault.message)),
            );
        }
    }
    roles
}

impl Settled {
    /// A setting of a skill in a message, with where it stands.
    pub(super) fn skill_place(&self, id: &str) -> String {
        let key = skill_key(id);
        let place = self.places.get(&key).map_or("settings", String::as_str);
        format!("{place}: `{}`", shown(&key, 120))
    }
}
