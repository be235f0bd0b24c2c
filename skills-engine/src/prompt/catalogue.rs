mod fit;
mod render;

use self::fit::{Fitting, STEPS, kept, step};
use self::render::{Frame, Written};
use super::budget::{CHARACTERS, TokenBudget};
use super::composer::SkillText;
use super::profile::{CatalogueFormat, CatalogueTiers, Profile, ProfileTool};

/// A skill as a catalogue lists it. All texts are as their authors wrote them.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct CatalogueEntry<'a> {
    /// What the skill is loaded by.
    pub name: &'a str,
    /// What it is for.
    pub description: &'a str,
    /// Where its main file lies; only [`AvailableSkills`](super::CatalogueFormat::AvailableSkills) shows it.
    pub location: Option<&'a str>,
    /// What arguments it takes; only [`AvailableSkills`](super::CatalogueFormat::AvailableSkills) shows it.
    pub argument_hint: Option<&'a str>,
    /// How often it was used.
    pub used: u64,
    /// The rest of what a composer would be given; only [`Skills`](super::CatalogueFormat::Skills) shows it, in place of
    /// the name.
    pub skill: Option<&'a SkillText<'a>>,
}

impl<'a> CatalogueEntry<'a> {
    /// A skill that was never used.
    #[must_use]
    pub fn new(name: &'a str, description: &'a str) -> Self {
        Self {
            name,
            description,
            ..Self::default()
        }
    }
}

/// What a catalogue is to show of its entries.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Shown<'a> {
    /// Positions of the entries, in the order in which they are listed, each with how often it was used. Positions that no
    /// entry has are passed over.
    pub entries: &'a [(usize, u64)],
    /// Whether the model has the tool that lists skills, so that it may be told of it.
    pub can_list: bool,
    /// Whether it has the tool that finds skills.
    pub can_search: bool,
}

impl<'a> Shown<'a> {
    /// These entries, to a model that has both tools.
    #[must_use]
    pub fn new(entries: &'a [(usize, u64)]) -> Self {
        Self {
            entries,
            can_list: true,
            can_search: true,
        }
    }
}

/// What a catalogue does not show, in numbers of skills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CatalogueCut {
    /// With a part of the description.
    pub shortened: usize,
    /// Without their description.
    pub names_only: usize,
    /// Not listed.
    pub left_out: usize,
}

impl CatalogueCut {
    /// Whether everything is shown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A list of skills that fits its budget, and what it does not show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CatalogueList {
    /// The list, for [`Profile::catalogue`]; empty when there is no skill to show. Where something was cut, its last line
    /// says so, with the profile's names of tools.
    pub text: String,
    /// What was cut.
    pub cut: CatalogueCut,
}

/// The skills of a registry as they are listed, rendered once: a list of any of them is copied together.
///
/// What does not fit the budget is cut in this order:
///
/// 1. Descriptions of more than 32 characters are shortened, all in the same proportion of what they have beyond that,
///    however often a skill was used.
/// 2. All descriptions go, the names stay.
/// 3. Names go, too. Places are given in turns, one to the skill that was used most of those without a place, one to the
///    first that was never used: neither kind pushes out the other. Listed skills keep their order.
/// 4. Nothing is listed; what remains is the line that says how to find skills, be it longer than the budget.
///
/// A larger budget never shows less of any skill. The budget is for the list and the line about what was cut, not for
/// the text around the list. [`CatalogueTiers`] limit by the number of skills where the profile has them.
///
/// # Examples
///
/// ```
/// use skills_engine::prompt::{Catalogue, CatalogueEntry, Profile, TokenBudget};
///
/// let entries = [
///     CatalogueEntry::new("deploy", "Deploys a service."),
///     CatalogueEntry::new("notes", "Writes release notes."),
/// ];
/// let catalogue = Catalogue::new(&Profile::claude(), &TokenBudget::new(100), entries);
/// let list = catalogue.all();
/// assert_eq!(list.text, "- deploy: Deploys a service.\n- notes: Writes release notes.");
/// assert!(list.cut.is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct Catalogue {
    budget: TokenBudget,
    tiers: Option<CatalogueTiers>,
    open: &'static str,
    close: &'static str,
    /// The size of what stands around the entries.
    around: usize,
    written: Written,
    tools: NamedTools,
    /// Entries with descriptions, one after the other.
    described: String,
    /// Entries without descriptions, one after the other.
    bare: String,
    entries: Vec<Entry>,
}

/// What the line about what was cut names.
#[derive(Clone, Debug)]
struct NamedTools {
    load: String,
    list: String,
    search: String,
}

/// Where an entry stands in both texts, in bytes, and how much of the budget it takes: characters, or tokens where
/// these are counted otherwise.
#[derive(Clone, Debug, Default)]
struct Entry {
    start: usize,
    description: usize,
    description_end: usize,
    end: usize,
    bare: usize,
    bare_end: usize,
    /// Characters of the description as it is written.
    characters: usize,
    full_size: usize,
    bare_size: usize,
    /// The sizes with the description shortened in so many steps, where tokens are counted.
    step_sizes: Box<[usize]>,
    used: u64,
    /// The description before it was written, where that changed it or it is not ASCII.
    source: Option<Box<str>>,
}

impl Catalogue {
    /// Renders entries as a profile has them, in this order.
    #[must_use]
    pub fn new<'a>(
        profile: &Profile,
        budget: &TokenBudget,
        entries: impl IntoIterator<Item = CatalogueEntry<'a>>,
    ) -> Self {
        let (open, close) = render::around(profile.format());
        let mut catalogue = Self {
            budget: budget.clone(),
            tiers: profile.tiers(),
            open,
            close,
            around: 0,
            written: Written::of(profile.format()),
            tools: NamedTools {
                load: profile.tool(ProfileTool::Load).to_owned(),
                list: profile.tool(ProfileTool::List).to_owned(),
                search: profile.tool(ProfileTool::Search).to_owned(),
            },
            described: String::new(),
            bare: String::new(),
            entries: Vec::new(),
        };
        catalogue.around = catalogue.size(open) + catalogue.size(close);
        for entry in entries {
            catalogue.push(profile.format(), &entry);
        }
        catalogue
    }

    fn push(&mut self, format: CatalogueFormat, listed: &CatalogueEntry<'_>) {
        let frame = Frame::of(format, listed);
        let mut entry = Entry {
            start: self.described.len(),
            bare: self.bare.len(),
            used: listed.used,
            ..Entry::default()
        };
        self.described.push_str(&frame.before);
        entry.description = self.described.len();
        self.written.write(&frame.source, &mut self.described);
        entry.description_end = self.described.len();
        self.described.push_str(&frame.after);
        entry.end = self.described.len();
        self.bare.push_str(&frame.bare);
        entry.bare_end = self.bare.len();

        let written = &self.described[entry.description..entry.description_end];
        entry.characters = written.chars().count();
        if written != frame.source || !written.is_ascii() {
            entry.source = Some(frame.source.into_boxed_str());
        }
        entry.full_size = self.size(&self.described[entry.start..entry.end]);
        entry.bare_size = self.size(&self.bare[entry.bare..entry.bare_end]);
        if !self.budget.counts_characters() {
            let sizes = (0..STEPS).map(|at| {
                let mut line = String::new();
                self.push_shortened(&entry, kept(entry.characters, step(at)), &mut line);
                self.size(&line)
            });
            entry.step_sizes = sizes.collect();
        }
        self.entries.push(entry);
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All entries, as often used as they say themselves, to a model that has both tools.
    #[must_use]
    pub fn all(&self) -> CatalogueList {
        let used = self.entries.iter().map(|entry| entry.used);
        let entries: Vec<(usize, u64)> = used.enumerate().collect();
        self.list(&Shown::new(&entries))
    }

    /// Some of the entries.
    #[must_use]
    pub fn list(&self, shown: &Shown<'_>) -> CatalogueList {
        /// How often a list whose lines were counted too low is made again.
        const TRIES: usize = 16;
        let limit = self.budget.limit();
        if self.budget.counts_characters() {
            let capacity = limit.saturating_mul(CHARACTERS);
            return self.written(&self.fitting(shown, capacity), shown);
        }
        let mut capacity = limit;
        for _ in 0..TRIES {
            let fitting = self.fitting(shown, capacity);
            let list = self.written(&fitting, shown);
            let count = self.budget.count(&list.text);
            if count <= limit || matches!(fitting, Fitting::Nothing) {
                return list;
            }
            capacity = capacity.saturating_sub(count - limit);
        }
        self.written(&Fitting::Nothing, shown)
    }

    /// How much of the budget a text takes.
    fn size(&self, text: &str) -> usize {
        if self.budget.counts_characters() {
            text.chars().count()
        } else {
            self.budget.count(text)
        }
    }

    fn written(&self, fitting: &Fitting, shown: &Shown<'_>) -> CatalogueList {
        let count = self.shown(shown).count();
        let mut list = CatalogueList::default();
        if count == 0 {
            return list;
        }
        let out = &mut list.text;
        match fitting {
            Fitting::Nothing => list.cut.left_out = count,
            Fitting::Full => {
                out.reserve(self.open.len() + self.described.len() + self.close.len());
                out.push_str(self.open);
                let ranges = self.shown(shown).map(|(entry, _)| (entry.start, entry.end));
                push_ranges(&self.described, ranges, out);
            }
            Fitting::Shortened(share) => {
                out.reserve(self.open.len() + self.described.len() + self.close.len());
                out.push_str(self.open);
                for (entry, _) in self.shown(shown) {
                    let kept = kept(entry.characters, *share);
                    list.cut.shortened += usize::from(kept < entry.characters);
                    self.push_shortened(entry, kept, out);
                }
            }
            Fitting::Names => {
                out.reserve(self.open.len() + self.bare.len() + self.close.len());
                out.push_str(self.open);
                let ranges = self
                    .shown(shown)
                    .map(|(entry, _)| (entry.bare, entry.bare_end));
                push_ranges(&self.bare, ranges, out);
                list.cut.names_only = count;
            }
            Fitting::SomeNames(places) => {
                out.push_str(self.open);
                let ranges = places.iter().filter_map(|place| {
                    let entry = self.entries.get(shown.entries.get(*place)?.0)?;
                    Some((entry.bare, entry.bare_end))
                });
                push_ranges(&self.bare, ranges, out);
                list.cut.names_only = places.len();
                list.cut.left_out = count - places.len();
            }
        }
        if !matches!(fitting, Fitting::Nothing) {
            out.push_str(self.close);
        }
        if list.cut.is_empty() {
            list.text.truncate(list.text.trim_end_matches('\n').len());
        } else {
            list.text.push_str(&self.tools.note(&list.cut, shown));
        }
        list
    }

    /// An entry with so many characters of its description, the mark of what is missing among them.
    fn push_shortened(&self, entry: &Entry, kept: usize, out: &mut String) {
        if kept >= entry.characters {
            out.push_str(&self.described[entry.start..entry.end]);
            return;
        }
        let most = kept.saturating_sub(1);
        match &entry.source {
            // ASCII, as it was: each byte is a character. It does not begin with white space.
            None => {
                out.push_str(&self.described[entry.start..entry.description + most]);
                while out.ends_with([' ', '\t', '\n']) && most > 0 {
                    out.pop();
                }
            }
            Some(source) => {
                out.push_str(&self.described[entry.start..entry.description]);
                self.written.write_beginning(source, most, out);
            }
        }
        out.push('…');
        out.push_str(&self.described[entry.description_end..entry.end]);
    }

    /// What is shown, and how often it was used.
    fn shown<'a>(&'a self, shown: &'a Shown<'_>) -> impl Iterator<Item = (&'a Entry, u64)> + Clone {
        shown
            .entries
            .iter()
            .filter_map(|(position, used)| Some((self.entries.get(*position)?, *used)))
    }
}

/// Copies parts of a text, those that touch at once.
fn push_ranges(text: &str, ranges: impl Iterator<Item = (usize, usize)>, out: &mut String) {
    let (mut start, mut end) = (0, 0);
    for (next, next_end) in ranges {
        if next != end {
            out.push_str(&text[start..end]);
            start = next;
        }
        end = next_end;
    }
    out.push_str(&text[start..end]);
}

impl NamedTools {
    /// The line that says what was cut.
    fn note(&self, cut: &CatalogueCut, shown: &Shown<'_>) -> String {
        let mut note = String::new();
        if cut.shortened > 0 {
            push_count("Descriptions shortened", cut.shortened, &mut note);
        }
        if cut.names_only > 0 {
            push_count("Shown by name only", cut.names_only, &mut note);
        }
        if cut.left_out > 0 {
            push_count("Not listed", cut.left_out, &mut note);
        }
        let load = &self.load;
        let finds = match (shown.can_search, shown.can_list) {
            (true, true) => format!("`{}` or `{}`", self.search, self.list),
            (true, false) => format!("`{}`", self.search),
            (false, true) => format!("`{}`", self.list),
            (false, false) if cut.left_out > 0 => {
                return note + "Ask the user for them by name.";
            }
            (false, false) => format!("`{load}`"),
        };
        note + &if cut.left_out > 0 {
            format!("Find them with {finds}.")
        } else if cut.names_only > 0 {
            format!("Find out what they are for with {finds}.")
        } else {
            format!("`{load}` gives all of a skill.")
        }
    }
}

fn push_count(what: &str, count: usize, out: &mut String) {
    out.push_str(what);
    out.push_str(": ");
    out.push_str(&count.to_string());
    out.push_str(if count == 1 { " skill. " } else { " skills. " });
}

#[cfg(test)]
mod tests;
