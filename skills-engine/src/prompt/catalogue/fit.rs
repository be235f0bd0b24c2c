use super::{Catalogue, CatalogueCut, Shown};

/// How many characters of a description are kept before the rest is shortened in proportion.
const KEPT: usize = 32;
/// In how many steps descriptions are shortened where tokens are counted.
pub(super) const STEPS: usize = 8;

/// What a list shows of its entries.
#[derive(Debug)]
pub(super) enum Fitting {
    /// All of them.
    Full,
    /// Descriptions shortened.
    Shortened(Share),
    /// Names.
    Names,
    /// Names of those at these places of what is to be shown, in order.
    SomeNames(Vec<usize>),
    /// No entry.
    Nothing,
}

/// The share of what descriptions have beyond [`KEPT`] characters, in parts of 2³²: a product and a shift for each
/// description, where a division would take as long as copying it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share(u64);

impl Share {
    const BITS: u32 = 32;

    /// `part` of `whole`, rounded down.
    fn of(part: usize, whole: usize) -> Self {
        let whole = whole.max(1);
        let share = ((part.min(whole) as u128) << Self::BITS) / whole as u128;
        Self(u64::try_from(share).unwrap_or(1 << Self::BITS))
    }
}

/// The share after so many steps.
pub(super) fn step(at: usize) -> Share {
    Share::of(at, STEPS)
}

/// How many of a description's characters a share keeps.
pub(super) fn kept(characters: usize, share: Share) -> usize {
    let beyond = characters.saturating_sub(KEPT);
    // A description of more characters than that keeps no more than they would.
    let counted = u64::from(u32::try_from(beyond).unwrap_or(u32::MAX));
    let more = usize::try_from((counted * share.0) >> Share::BITS).unwrap_or(beyond);
    characters.min(KEPT) + more
}

impl Catalogue {
    /// The most that has room.
    pub(super) fn fitting(&self, shown: &Shown<'_>, capacity: usize) -> Fitting {
        let (mut count, mut full, mut bare, mut least, mut beyond) = (0, 0, 0, 0, 0);
        for (entry, _) in self.shown(shown) {
            count += 1;
            full += entry.full_size;
            bare += entry.bare_size;
            let excess = entry.characters.saturating_sub(KEPT);
            beyond += excess;
            least += entry.full_size.saturating_sub(excess);
        }
        let (described, named) = match self.tiers {
            Some(tiers) => (tiers.described, tiers.named.max(tiers.described)),
            None => (usize::MAX, usize::MAX),
        };
        if count > named {
            return Fitting::Nothing;
        }
        let capacity = capacity.saturating_sub(self.around);
        if count <= described {
            if full <= capacity {
                return Fitting::Full;
            }
            let note = self.note_size(shown, |cut| cut.shortened = count);
            let room = capacity.checked_sub(note);
            let shortened = room.and_then(|room| {
                if self.budget.counts_characters() {
                    let part = room.checked_sub(least)?;
                    Some(Share::of(part, beyond))
                } else {
                    self.step_that_fits(shown, room)
                }
            });
            if let Some(share) = shortened {
                return Fitting::Shortened(share);
            }
        }
        let note = self.note_size(shown, |cut| cut.names_only = count);
        if bare.saturating_add(note) <= capacity {
            return Fitting::Names;
        }
        let note = self.note_size(shown, |cut| {
            cut.names_only = count;
            cut.left_out = count;
        });
        match capacity.checked_sub(note) {
            Some(room) => self.some_names(shown, room),
            None => Fitting::Nothing,
        }
    }

    /// The longest descriptions whose tokens have room.
    fn step_that_fits(&self, shown: &Shown<'_>, room: usize) -> Option<Share> {
        let fits = |at: usize| {
            let sizes = self.shown(shown).map(|(entry, _)| entry.step_sizes.get(at));
            sizes.map(|size| size.copied().unwrap_or(0)).sum::<usize>() <= room
        };
        (0..STEPS).rev().find(|at| fits(*at)).map(step)
    }

    /// As many names as have room: in turns, the one most used and the first never used.
    fn some_names(&self, shown: &Shown<'_>, mut room: usize) -> Fitting {
        let places = shown.entries.iter().enumerate();
        let known = places.filter(|(_, (position, _))| *position < self.entries.len());
        let (mut used, unused): (Vec<_>, Vec<_>) = known.partition(|(_, (_, used))| *used > 0);
        used.sort_unstable_by_key(|(place, (_, used))| (std::cmp::Reverse(*used), *place));
        let (mut used, mut unused) = (used.into_iter(), unused.into_iter());
        let mut named = Vec::new();
        let mut is_turn_of_used = true;
        loop {
            let next = if is_turn_of_used {
                used.next().or_else(|| unused.next())
            } else {
                unused.next().or_else(|| used.next())
            };
            let Some((place, (position, _))) = next else {
                break;
            };
            // One that does not fit ends it: a larger budget names those that a smaller one does, and more.
            let Some(rest) = room.checked_sub(self.entries[*position].bare_size) else {
                break;
            };
            room = rest;
            named.push(place);
            is_turn_of_used = !is_turn_of_used;
        }
        if named.is_empty() {
            return Fitting::Nothing;
        }
        named.sort_unstable();
        Fitting::SomeNames(named)
    }

    /// The most that the line about what was cut may take.
    fn note_size(&self, shown: &Shown<'_>, cut: impl Fn(&mut CatalogueCut)) -> usize {
        let mut most = CatalogueCut::default();
        cut(&mut most);
        self.size(&self.tools.note(&most, shown))
    }
}
