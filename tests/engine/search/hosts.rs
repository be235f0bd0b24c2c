//! A search of the host's own: what it is given, when, and what becomes of its answers.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use skills_engine::engine::{SearchIndex, SearchQuery, Searched, SkillSearch};
use skills_engine::skill::{BoxFuture, Code, Fault, ResourcePart, SkillBuilder, SkillContent};
use skills_engine::snapshot::{RedactionPlace, Redactor};
use skills_engine::{Engine, Principal};
use tests::{ada, bare, session};

use super::{ids, plain, shelf};

/// Answers with every position there is and more, however often it is asked, and notes what it is given.
#[derive(Clone, Default)]
struct Everything {
    given: Arc<Mutex<Vec<Vec<String>>>>,
    fails: Arc<AtomicBool>,
}

struct All(usize);

impl SkillSearch for Everything {
    fn index(&self, skills: &[Searched<'_>]) -> Box<dyn SearchIndex> {
        let given = skills.iter().map(|skill| {
            let tags = skill.tags.join(",");
            [skill.id, skill.name, skill.description, &tags].join("|")
        });
        self.given.lock().unwrap().push(given.collect());
        assert!(
            !self.fails.load(Ordering::Relaxed),
            "the model is not there"
        );
        Box::new(All(skills.len()))
    }
}

impl SearchIndex for All {
    fn search(&self, _query: &SearchQuery<'_>) -> Vec<usize> {
        (0..=self.0).rev().cycle().take(10_000).collect()
    }
}

impl Everything {
    fn times(&self) -> usize {
        self.given.lock().unwrap().len()
    }
}

#[tokio::test]
async fn answers_hold_each_known_skill_once_and_no_more_than_were_asked_for() {
    let everything = Everything::default();
    let mut builder = bare().without("psl-skill").search(Arc::new(everything));
    for number in 10..50 {
        builder = builder.with_skill(plain(&format!("skill-{number}"), ""));
    }
    let engine = builder.disable("skill-49").build().await.unwrap();
    let session = session(&engine).await;
    let found = ids(&session, "any").await;
    let expected: Vec<_> = (29..49).rev().map(|it| format!("skill-{it}")).collect();
    assert_eq!(found, expected);
    session.allow(["skill-11", "skill-12/*"]).unwrap();
    assert_eq!(ids(&session, "any").await, ["skill-12", "skill-11"]);
}

#[tokio::test]
async fn an_index_is_made_once_for_a_registry_when_it_is_first_searched() {
    let everything = Everything::default();
    let shelf = shelf([plain("early", "")]);
    let engine = bare()
        .without("psl-skill")
        .search(Arc::new(everything.clone()))
        .with_skill(
            SkillBuilder::new("built")
                .name("Built")
                .description("By hand.")
                .tag("a")
                .tag("b")
                .build()
                .unwrap(),
        )
        .with_skill(SkillBuilder::new("code").code_only().build().unwrap())
        .source(shelf.clone())
        .build()
        .await
        .unwrap();
    let ada = session(&engine).await;
    ada.visibility().await.unwrap();
    assert_eq!(everything.times(), 0, "nobody searched");
    let bob = engine
        .session(Principal::new("bob", ["x"]), "s")
        .await
        .unwrap();
    bob.allow(["early"]).unwrap();
    let (of_ada, of_bob) = tokio::join!(ids(&ada, "any"), ids(&bob, "any"));
    assert_eq!(of_ada, ["early", "built"]);
    assert_eq!(of_bob, ["early"]);
    for _ in 0..3 {
        ids(&ada, "any").await;
    }
    assert_eq!(
        *everything.given.lock().unwrap(),
        [["built|Built|By hand.|a,b", "early|Early||"]]
    );
    shelf.put([plain("early", ""), plain("late", "")]);
    let _ = engine.refresh().await.unwrap();
    assert_eq!(everything.times(), 1);
    assert_eq!(ids(&ada, "any").await, ["late", "early", "built"]);
    assert_eq!(ids(&bob, "any").await, ["early"]);
    assert_eq!(everything.times(), 2);
}

/// A body, without files.
struct Body;

impl SkillContent for Body {
    fn digest(&self) -> [u8; 32] {
        [0; 32]
    }

    fn body(&self) -> BoxFuture<'_, Result<Arc<str>, Fault>> {
        Box::pin(async { Ok("Steps.".into()) })
    }

    fn read<'a>(
        &'a self,
        _path: &'a str,
        _offset: u64,
        _limit: usize,
    ) -> BoxFuture<'a, Result<ResourcePart, Fault>> {
        Box::pin(async { Err(Fault::new(Code::InvalidArguments, "there are no files")) })
    }
}

#[tokio::test]
async fn an_index_is_over_skills_and_not_over_tools_of_the_engine() {
    let everything = Everything::default();
    let loaded = SkillBuilder::new("loaded").content(Body).build().unwrap();
    let builder = bare().without("psl-skill").with_skill(loaded);
    let builder = builder.search(Arc::new(everything.clone()));
    let engine = builder.build().await.unwrap();
    assert_eq!(ids(&session(&engine).await, "any").await, ["loaded"]);
    assert_eq!(*everything.given.lock().unwrap(), [["loaded|Loaded||"]]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_first_searches_at_once_make_one_index() {
    let everything = Everything::default();
    let builder = bare()
        .without("psl-skill")
        .search(Arc::new(everything.clone()));
    let engine = builder.with_skill(plain("one", "")).build().await.unwrap();
    let session = session(&engine).await;
    let searches = (0..32).map(|_| {
        let session = session.clone();
        tokio::spawn(async move { ids(&session, "any").await })
    });
    for search in searches.collect::<Vec<_>>() {
        assert_eq!(search.await.unwrap(), ["one"]);
    }
    assert_eq!(everything.times(), 1);
}

#[tokio::test]
async fn an_index_that_cannot_be_made_is_told_and_tried_again() {
    let everything = Everything::default();
    everything.fails.store(true, Ordering::Relaxed);
    let builder = bare()
        .without("psl-skill")
        .search(Arc::new(everything.clone()));
    let engine = builder.with_skill(plain("one", "")).build().await.unwrap();
    let session = session(&engine).await;
    let fault = session.search("any").await.unwrap_err();
    assert_eq!(fault.code, Code::Panic);
    assert!(!fault.message.contains("the model"), "{}", fault.message);
    everything.fails.store(false, Ordering::Relaxed);
    assert_eq!(ids(&session, "any").await, ["one"]);
}

/// Hides what is said of skills in a word, and counts the skills it was handed.
struct Hides(Arc<AtomicUsize>);

impl Redactor for Hides {
    fn redact<'a>(&self, text: &'a str, _: &RedactionPlace<'_>) -> Cow<'a, str> {
        if text.contains("codename") {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        Cow::Owned(text.replace("codename", "project"))
    }
}

async fn redacted() -> (Engine, Arc<AtomicUsize>) {
    let handed = Arc::new(AtomicUsize::new(0));
    let mut builder = bare().redactor(Arc::new(Hides(Arc::clone(&handed))));
    for id in ["alpha", "beta", "gamma"] {
        let text = format!("The codename of {id}.");
        builder = builder.with_skill(plain(id, &text));
    }
    (builder.build().await.unwrap(), handed)
}

#[tokio::test]
async fn what_a_redactor_hides_is_not_found() {
    let (engine, _) = redacted().await;
    let session = session(&engine).await;
    assert!(ids(&session, "codename").await.is_empty());
    assert_eq!(ids(&session, "project").await, ["alpha", "beta", "gamma"]);
}

#[tokio::test]
async fn a_redactor_is_handed_the_skills_that_someone_who_searched_may_know_of() {
    let (engine, handed) = redacted().await;
    for (listed, texts) in [
        (&["beta"][..], 1),
        (&["beta"], 1),
        (&["gamma"], 2),
        (&["beta", "gamma"], 2),
        (&["alpha", "gamma"], 3),
    ] {
        let session = engine.new_session(ada()).await.unwrap();
        session.allow(listed.iter().copied()).unwrap();
        assert_eq!(ids(&session, "project").await, listed);
        assert_eq!(handed.load(Ordering::Relaxed), texts, "{listed:?}");
    }
}
