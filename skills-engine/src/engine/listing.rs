use serde_json::Value;

use super::epoch::Epoch;
use super::rights::Rights;
use crate::prompt::{
    Catalogue, CatalogueCut, CatalogueEntry, CatalogueFormat, CatalogueList, CataloguePlace,
    Profile, ProfileParameter, ProfileTool, Shown, TokenBudget,
};
use crate::registry::{Registry, SkillIndex, ToolIndex};
use crate::skill::{SkillType as _, ToolDefinition};
use crate::snapshot::Words;
use crate::tools::PslSkill;

/// How the skills of a registry are listed where the composer does not do it: in the form of a profile, and within a
/// budget.
pub(crate) struct Listing {
    profile: Profile,
    budget: TokenBudget,
    /// Whether the composer lists skills as long as all of them fit.
    is_plain: bool,
    kind: Kind,
}

enum Kind {
    /// The composer writes everything.
    Composer,
    /// All skills, rendered once, and what the composer's own text of each takes of the budget.
    Shared(Box<Catalogue>, Box<[usize]>),
    /// Rendered for each set of skills: a redactor is handed none that nobody may see.
    Apart,
}

/// What a set of skills is told of by, beside the composer's own text.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// The catalogue, in place of the composer's.
    pub(crate) prompt: Option<String>,
    /// The catalogue as a message of its own.
    pub(crate) reminder: String,
    /// The tool that loads skills, where its description is another one.
    pub(crate) definition: Option<ToolDefinition>,
    /// The schema of that tool, with the names there are.
    pub(crate) schema: String,
    pub(crate) cut: CatalogueCut,
}

impl Listing {
    /// `texts` gives the composer's text of each skill, where it has been written.
    pub(crate) fn new(
        profile: Profile,
        budget: TokenBudget,
        registry: &Registry,
        words: &Words,
        has_composer: bool,
        text_of: impl Fn(SkillIndex) -> Option<usize>,
    ) -> Self {
        let is_plain = profile.format() == CatalogueFormat::Skills
            && profile.place() == CataloguePlace::SystemPrompt
            && profile.tiers().is_none()
            && !profile.has_own_text();
        let mut listing = Self {
            profile,
            budget,
            is_plain,
            kind: Kind::Composer,
        };
        if is_plain && has_composer {
            return listing;
        }
        if words.redaction().is_some() {
            listing.kind = Kind::Apart;
            return listing;
        }
        let skills = 0..u32::try_from(registry.skills.len()).unwrap_or(u32::MAX);
        let sizes: Box<[usize]> = skills.map(|index| text_of(index).unwrap_or(0)).collect();
        let limit = listing.budget.limit();
        if !is_plain || sizes.iter().sum::<usize>().div_ceil(CHARACTERS) > limit {
            let all = 0..u32::try_from(registry.skills.len()).unwrap_or(u32::MAX);
            let catalogue = listing.catalogue(registry, words, all);
            listing.kind = Kind::Shared(Box::new(catalogue), sizes);
        }
        listing
    }

    pub(crate) fn profile(&self) -> &Profile {
        &self.profile
    }

    fn catalogue(
        &self,
        registry: &Registry,
        words: &Words,
        skills: impl Iterator<Item = SkillIndex>,
    ) -> Catalogue {
        let entries = skills.map(|index| {
            let definition = words.skill(registry, index);
            let registered = registry.skill(index);
            let mut entry = CatalogueEntry::new(&registered.id, &definition.description);
            entry.location = registered.content().and_then(|content| content.base_dir());
            entry.argument_hint = definition.argument_hint.as_deref();
            entry
        });
        Catalogue::new(&self.profile, &self.budget, entries)
    }

    /// The list of some skills; `None` where the composer writes it.
    fn list(
        &self,
        registry: &Registry,
        words: &Words,
        visible: &[SkillIndex],
        can_search: bool,
    ) -> Option<CatalogueList> {
        let places: Vec<(usize, u64)>;
        let made;
        let catalogue = match &self.kind {
            Kind::Composer => return None,
            Kind::Shared(catalogue, sizes) => {
                let size = visible.iter().map(|index| sizes[*index as usize]);
                let fits = size.sum::<usize>().div_ceil(CHARACTERS) <= self.budget.limit();
                if self.is_plain && fits {
                    return None;
                }
                places = visible.iter().map(|index| (*index as usize, 0)).collect();
                catalogue
            }
            Kind::Apart => {
                made = self.catalogue(registry, words, visible.iter().copied());
                places = (0..visible.len()).map(|place| (place, 0)).collect();
                &made
            }
        };
        let mut shown = Shown::new(&places);
        shown.can_search = can_search;
        let list = catalogue.list(&shown);
        let is_whole = list.cut.is_empty();
        let is_left_to_composer = self.is_plain && is_whole && matches!(self.kind, Kind::Apart);
        (!is_left_to_composer).then_some(list)
    }

    /// The skills that are listed of those that a model may know of.
    fn listed_of(
        &self,
        registry: &Registry,
        is_denied: impl Fn(SkillIndex) -> bool,
    ) -> Vec<SkillIndex> {
        (0..)
            .zip(&registry.skills)
            .filter(|(index, skill)| {
                skill.is_told_of()
                    && !is_denied(*index)
                    && (self.is_plain || *skill.id != *PslSkill::entry().id)
            })
            .map(|(index, _)| index)
            .collect()
    }

    /// Whether skills are left out of the list, or listed without their descriptions.
    pub(crate) fn cuts(
        &self,
        registry: &Registry,
        words: &Words,
        is_denied: impl Fn(SkillIndex) -> bool,
    ) -> bool {
        if matches!(self.kind, Kind::Composer) {
            return false;
        }
        let visible = self.listed_of(registry, is_denied);
        let list = self.list(registry, words, &visible, true);
        list.is_some_and(|list| list.cut.names_only > 0 || list.cut.left_out > 0)
    }

    /// What the skills that some rights let through are told of by.
    pub(crate) fn listed(&self, epoch: &Epoch, rights: &Rights) -> Listed {
        let registry = &epoch.registry;
        let visible = self.listed_of(registry, |index| rights.is_denied(index));
        let mut listed = Listed::default();
        let list = self.list(registry, &epoch.words, &visible, rights.has_control());
        if let Some(list) = list {
            listed.cut = list.cut;
            match self.profile.place() {
                _ if visible.is_empty() => listed.prompt = Some(String::new()),
                CataloguePlace::SystemPrompt if self.is_plain => {
                    let introduction = epoch.texts.introduction(rights.has_control());
                    let introduction = introduction.strip_suffix("<skills>\n");
                    let introduction = introduction.unwrap_or_default();
                    listed.prompt = Some(format!("{introduction}{}\n", list.text));
                }
                CataloguePlace::SystemPrompt => {
                    listed.prompt = Some(self.profile.catalogue(&list.text));
                }
                CataloguePlace::LoadTool => {
                    listed.prompt = Some(String::new());
                    listed.definition = load_tool(registry, &self.profile).map(|load| {
                        let definition = epoch.words.tool(registry, load).definition;
                        ToolDefinition {
                            description: self.profile.catalogue(&list.text).into(),
                            ..definition.clone()
                        }
                    });
                }
                CataloguePlace::Reminder => {
                    listed.prompt = Some(String::new());
                    listed.reminder = self.profile.catalogue(&list.text);
                }
            }
        }
        if let Some(load) = load_tool(registry, &self.profile) {
            listed.schema = self.schema(registry, load, &visible, listed.cut.left_out == 0);
        }
        listed
    }

    /// The schema of the tool that loads skills, with the names of those it loads.
    fn schema(
        &self,
        registry: &Registry,
        load: ToolIndex,
        visible: &[SkillIndex],
        are_all_listed: bool,
    ) -> String {
        let plain = &registry.tool(load).input_schema;
        let name = self.profile.parameter(ProfileParameter::LoadSkill);
        let (true, Some(name)) = (are_all_listed, name) else {
            return plain.to_string();
        };
        let Ok(mut schema) = serde_json::from_str::<Value>(plain) else {
            return plain.to_string();
        };
        let names = visible.iter().map(|index| &*registry.skill(*index).id);
        let names: Vec<_> = names.filter(|id| *id != PslSkill::entry().id).collect();
        schema["properties"][name]["enum"] = names.into();
        schema.to_string()
    }
}

/// Characters that count as a token where skills are told of by the composer.
const CHARACTERS: usize = 4;

/// The tool that loads skills.
pub(crate) fn load_tool(registry: &Registry, profile: &Profile) -> Option<ToolIndex> {
    registry.tool_index(registry.loader?, profile.tool(ProfileTool::Load))
}
