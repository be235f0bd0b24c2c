//! What a skill holds beside its members, whatever it comes from.

use std::sync::Arc;

use skills_engine::Level;
use skills_engine::registry::Registry;
use skills_engine::skill::{
    BoxFuture, Fault, Resource, ResourceKind, ResourcePart, Skill, SkillBuilder, SkillContent,
};

/// Content whose digest and list a test sets.
#[derive(Clone)]
struct Shelf {
    digest: [u8; 32],
    resources: Vec<Resource>,
    total: usize,
}

impl SkillContent for Shelf {
    fn digest(&self) -> [u8; 32] {
        self.digest
    }

    fn body(&self) -> BoxFuture<'_, Result<Arc<str>, Fault>> {
        Box::pin(async { Ok("Follow me.".into()) })
    }

    fn resources(&self) -> &[Resource] {
        &self.resources
    }

    fn total_resources(&self) -> usize {
        self.total
    }

    fn read<'a>(
        &'a self,
        _path: &'a str,
        offset: u64,
        _limit: usize,
    ) -> BoxFuture<'a, Result<ResourcePart, Fault>> {
        Box::pin(async move { Ok(ResourcePart::new(b"part".to_vec(), offset, 10)) })
    }
}

fn shelf() -> Shelf {
    Shelf {
        digest: [7; 32],
        resources: vec![Resource::new("notes.md", 4)],
        total: 1,
    }
}

fn digest(content: Option<Shelf>) -> [u8; 32] {
    let skill = SkillBuilder::new("notes");
    let skill = match content {
        Some(content) => skill.content(content),
        None => skill,
    };
    let skill: Arc<dyn Skill> = Arc::new(skill.build().unwrap());
    *Registry::build(vec![skill]).unwrap().digest()
}

#[test]
fn the_digest_of_a_registry_covers_bodies_and_lists_of_files() {
    let same = digest(Some(shelf()));
    assert_eq!(digest(Some(shelf())), same);
    let mut body = shelf();
    body.digest[0] = 0;
    let mut size = shelf();
    size.resources[0].size = 5;
    let mut path = shelf();
    path.resources[0].path = "notes.txt".into();
    let mut executable = shelf();
    executable.resources[0].is_executable = true;
    let mut more = shelf();
    more.total = 2;
    let mut none = shelf();
    none.resources.clear();
    let changed = [body, size, path, executable, more, none].map(|content| digest(Some(content)));
    let mut seen = vec![same, digest(None)];
    for digest in changed {
        assert!(!seen.contains(&digest));
        seen.push(digest);
    }
}

#[test]
fn the_digest_of_a_registry_covers_who_may_invoke_a_skill() {
    let digest = |skill: SkillBuilder| {
        let skill: Arc<dyn Skill> = Arc::new(skill.build().unwrap());
        *Registry::build(vec![skill]).unwrap().digest()
    };
    let skill = || SkillBuilder::new("notes");
    let all = [
        skill(),
        skill().model_invocable(false),
        skill().user_invocable(false),
        skill().argument_hint("[file]"),
    ]
    .map(digest);
    for (at, digest) in all.iter().enumerate() {
        assert!(!all[..at].contains(digest));
    }
}

#[test]
fn the_folder_of_a_file_says_what_it_is_for_and_from_which_level_it_is_read() {
    let rows = [
        ("scripts/run.sh", ResourceKind::Script, Level::Complete),
        ("scripts/lib/a.py", ResourceKind::Script, Level::Complete),
        ("references/api.md", ResourceKind::Reference, Level::Context),
        ("assets/logo.png", ResourceKind::Asset, Level::Context),
        ("scripts", ResourceKind::Other, Level::Context),
        ("docs/scripts/a.sh", ResourceKind::Other, Level::Context),
        ("notes.md", ResourceKind::Other, Level::Context),
    ];
    for (path, kind, level) in rows {
        let resource = Resource::new(path, 1);
        assert_eq!((resource.kind, resource.level()), (kind, level), "{path}");
    }
}

#[test]
fn a_part_says_where_the_next_one_begins() {
    let next =
        |length, offset, total| ResourcePart::new(vec![0; length], offset, total).next_offset();
    assert_eq!(next(4, 0, 10), Some(4));
    assert_eq!(next(4, 6, 10), None);
    assert_eq!(next(0, 99, 10), None);
    assert_eq!(next(1, u64::MAX, u64::MAX), None);
}
