//! Search over 10,000 skills, through a session: at most 2 ms, whatever is looked for.

use std::borrow::Cow;

use divan::Bencher;
use skills_engine::engine::{Bm25Search, Searched, SkillSearch as _};
use skills_engine::skill::SkillBuilder;
use skills_engine::source::Linked;
use skills_engine::{Engine, Principal, Session};

const SKILLS: usize = 10_000;
/// The words that descriptions are made of, those at the start more often.
const WORDS: u64 = 3_000;

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// A word of two to four syllables, and of two ideographs in every tenth text.
fn word(number: u64, is_chinese: bool) -> String {
    if is_chinese {
        let letter =
            |number: u64| char::from_u32(0x4E00 + u32::try_from(number % 900).unwrap_or(0));
        return [letter(number), letter(number / 30)]
            .into_iter()
            .flatten()
            .collect();
    }
    let syllables = [
        "be", "der", "ing", "ko", "lu", "men", "ne", "pro", "ster", "ti", "vo",
    ];
    let mut rest = number;
    let mut word = String::new();
    for _ in 0..2 + number % 3 {
        word.push_str(syllables[usize::try_from(rest % 11).unwrap_or(0)]);
        rest /= 11;
    }
    word
}

/// Two words and a sentence of 24 words for each skill.
fn texts() -> Vec<(String, String, String)> {
    let mut numbers = Numbers(4);
    let mut next = |is_chinese: bool| {
        let most = 1 + numbers.below(WORDS);
        let most = 1 + numbers.below(most);
        word(numbers.below(most), is_chinese)
    };
    (0..SKILLS)
        .map(|index| {
            let name = format!("{} {}", next(false), next(false));
            let is_chinese = index % 10 == 0;
            let gap = if is_chinese { "" } else { " " };
            let words: Vec<_> = (0..24).map(|_| next(is_chinese)).collect();
            (format!("skill-{index:05}"), name, words.join(gap))
        })
        .collect()
}

fn session() -> (tokio::runtime::Runtime, Session) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let mut builder = Engine::builder().linked(Linked::None);
    for (id, name, description) in texts() {
        let skill = SkillBuilder::new(id).name(name).description(description);
        builder = builder.with_skill(skill.build().expect("a skill"));
    }
    let session = runtime.block_on(async {
        let engine = builder.build().await.expect("an engine");
        let session = engine.session(Principal::new("local", ["measured"]), "s");
        session.await.expect("a session")
    });
    (runtime, session)
}

/// `rare` and `common` are three words each, `longest` as many as a query may have, all of them common.
#[divan::bench(args = ["rare", "common", "chinese", "longest"])]
fn search(bencher: Bencher<'_, '_>, query: &str) {
    let (runtime, session) = session();
    let words = |numbers: &[u64]| -> String {
        let words = numbers.iter().map(|number| word(*number, false));
        words.collect::<Vec<_>>().join(" ")
    };
    let query = match query {
        "rare" => words(&[2_803, 2_911, 2_990]),
        "common" => words(&[0, 1, 2]),
        "chinese" => (0..10).map(|number| word(number, true)).collect(),
        _ => {
            let all: Vec<_> = (0..60).collect();
            words(&all).chars().take(256).collect()
        }
    };
    let find = || runtime.block_on(session.search(&query)).expect("an answer");
    assert_eq!(find().len(), 20);
    bencher.bench_local(find);
}

/// What the first search after a refresh waits for.
#[divan::bench]
fn index(bencher: Bencher<'_, '_>) {
    let texts = texts();
    let tags = [Cow::Borrowed("support")];
    let searched: Vec<_> = texts
        .iter()
        .map(|(id, name, description)| Searched::new(id, name, description, &tags))
        .collect();
    bencher.bench_local(|| Bm25Search::default().index(&searched));
}
