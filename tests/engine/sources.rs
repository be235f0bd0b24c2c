//! What sources tell beside their skills, and whose skills go first.

use std::sync::Arc;

use skills_engine::skill::{BoxFuture, Fault, Skill, SkillBuilder};
use skills_engine::source::{
    Diagnostic, DiagnosticKind, FailedSkill, Loaded, Precedence, ShadowedSkill, SkillSource,
};
use tests::bare;

/// A source of skills that say where they are from.
struct Shelf {
    name: &'static str,
    precedence: Precedence,
    ids: Vec<&'static str>,
    is_telling: bool,
}

impl Shelf {
    fn new(name: &'static str, precedence: Precedence, ids: &[&'static str]) -> Self {
        Self {
            name,
            precedence,
            ids: ids.to_vec(),
            is_telling: false,
        }
    }

    fn skill(id: &'static str, from: &'static str) -> Arc<dyn Skill> {
        let skill = SkillBuilder::new(id).description(from);
        Arc::new(skill.build().unwrap())
    }
}

impl SkillSource for Shelf {
    fn name(&self) -> &str {
        self.name
    }

    fn load(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Skill>>, Fault>> {
        let skills = self.ids.iter().map(|id| Self::skill(id, self.name));
        let skills = skills.collect();
        Box::pin(async { Ok(skills) })
    }

    fn load_and_tell(&self) -> BoxFuture<'_, Result<Loaded, Fault>> {
        Box::pin(async {
            let mut loaded = Loaded::from(self.load().await?);
            if self.is_telling {
                let problems = vec!["it is torn. Mend it".to_owned()];
                let torn = FailedSkill::new(self.name, None, problems).at("row 7");
                loaded.failed.push(torn);
                let worn = ShadowedSkill::new(self.name, "notes", "row 1").at("row 8");
                loaded.shadowed.push(worn);
                let kind = DiagnosticKind::BodyEmpty;
                let empty = Diagnostic::new(kind, "row 9", "there is no text", "write some");
                loaded.diagnostics.push(empty.at(3, 1));
            }
            Ok(loaded)
        })
    }

    fn precedence(&self) -> Precedence {
        self.precedence
    }
}

#[tokio::test]
async fn what_a_source_tells_stands_in_the_reports() {
    let shelf = Shelf {
        is_telling: true,
        ..Shelf::new("shelf", Precedence::Equal, &["deploy"])
    };
    let engine = bare().source(shelf).build().await.unwrap();
    let built = engine.report();
    let refreshed = engine.refresh().await.unwrap();
    assert_eq!(built.failed, refreshed.failed);
    assert_eq!(built.shadowed, refreshed.shadowed);
    assert_eq!(built.diagnostics, refreshed.diagnostics);
    let [torn] = &built.failed[..] else {
        panic!("{built:?}");
    };
    assert_eq!(torn.to_string(), "`row 7` of `shelf`: it is torn. Mend it");
    assert_eq!(
        built.shadowed[0].to_string(),
        "skill `notes` of `shelf` at `row 8` is left out for that of `row 1`"
    );
    assert_eq!(
        built.diagnostics[0].to_string(),
        "row 9:3:1: warning: body-empty: there is no text. write some"
    );
}

#[tokio::test]
async fn skills_of_sources_that_give_way_are_left_out_for_those_that_go_first() {
    let build = || {
        let code = SkillBuilder::new("code").description("code");
        bare()
            .with_skill(code.build().unwrap())
            .source(Shelf::new(
                "builtin",
                Precedence::Builtin,
                &["a", "b", "code", "alone"],
            ))
            .source(Shelf::new(
                "first",
                Precedence::External,
                &["a", "b", "code"],
            ))
            .source(Shelf::new("second", Precedence::External, &["a", "c"]))
            .source(Shelf::new("equal", Precedence::Equal, &["b"]))
    };
    let engine = build().build().await.unwrap();
    let from = |id: &str| {
        let mut skills = engine.skills().into_iter();
        let skill = skills.find(|skill| skill.definition().id == id).unwrap();
        skill.definition().description.to_string()
    };
    let rows = [
        ("code", "code"),
        ("b", "equal"),
        ("a", "first"),
        ("c", "second"),
        ("alone", "builtin"),
    ];
    for (id, expected) in rows {
        assert_eq!(from(id), expected, "{id}");
    }
    let left_out = |shadowed: &[ShadowedSkill]| -> Vec<String> {
        let texts = shadowed
            .iter()
            .map(|it| format!("{} of {}", it.skill, it.source));
        let mut texts: Vec<_> = texts.collect();
        texts.sort();
        texts
    };
    let expected = [
        "a of builtin",
        "a of second",
        "b of builtin",
        "b of first",
        "code of builtin",
        "code of first",
    ];
    assert_eq!(left_out(&engine.report().shadowed), expected);
    assert_eq!(
        left_out(&engine.refresh().await.unwrap().shadowed),
        expected
    );
    // Two equal sources are no matter of order.
    let twice = build().source(Shelf::new("other", Precedence::Equal, &["b"]));
    let error = twice.build().await.unwrap_err().to_string();
    assert!(error.contains("two skills have the id `b`"), "{error}");
}
