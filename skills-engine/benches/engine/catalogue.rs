//! A list of 1,000 skills with descriptions of 120 characters, as it is made when what is shown changed.

use divan::Bencher;
use skills_engine::prompt::{Catalogue, CatalogueEntry, Profile, Shown, TokenBudget};

const SKILLS: usize = 1_000;

fn catalogue(profile: &Profile, tokens: usize) -> Catalogue {
    let names: Vec<String> = (0..SKILLS)
        .map(|index| format!("skill-{index:04}"))
        .collect();
    let description = "Answers questions about one part of the help desk, and says what to do next. Use it when a ticket \
                       names that part.";
    let entries = names
        .iter()
        .map(|name| CatalogueEntry::new(name, description));
    Catalogue::new(profile, &TokenBudget::new(tokens), entries)
}

/// At most 20 µs each.
///
/// `full`: everything fits. `shortened`: descriptions to about half. `names`: no descriptions. `some names`: a third of the
/// names, every other skill was used.
#[divan::bench(args = ["full", "shortened", "names", "some names"])]
fn catalogue_that_changed(bencher: Bencher<'_, '_>, room: &str) {
    let tokens = match room {
        "full" => 100_000,
        "shortened" => 20_000,
        "names" => 5_000,
        _ => 1_500,
    };
    let profile = Profile::claude();
    let catalogue = catalogue(&profile, tokens);
    let mut shown: Vec<(usize, u64)> = (0..SKILLS)
        .map(|index| (index, (index as u64 * 7_919 % 1_000) * (index as u64 % 2)))
        .collect();
    let mut hidden = 0;
    bencher.bench_local(|| {
        // Another one is hidden each time.
        hidden = (hidden + 1) % shown.len();
        let other = shown[hidden];
        shown[hidden] = (usize::MAX, 0);
        let list = catalogue.list(&Shown::new(&shown));
        shown[hidden] = other;
        list
    });
}

/// The same, as the other profiles have it.
#[divan::bench(args = ["psl", "spring", "solon", "dawn"])]
fn catalogue_of_profile(bencher: Bencher<'_, '_>, profile: &str) {
    let profile = match profile {
        "psl" => Profile::psl(),
        "spring" => Profile::spring(),
        "solon" => Profile::solon().with_tiers(None),
        _ => Profile::dawn(),
    };
    let catalogue = catalogue(&profile, 100_000);
    let shown: Vec<(usize, u64)> = (1..SKILLS).map(|index| (index, 0)).collect();
    bencher.bench_local(|| catalogue.list(&Shown::new(&shown)));
}

/// Rendering all of them, once per registry.
#[divan::bench]
fn catalogue_rendered(bencher: Bencher<'_, '_>) {
    let profile = Profile::claude();
    bencher.bench_local(|| catalogue(&profile, 100_000));
}
