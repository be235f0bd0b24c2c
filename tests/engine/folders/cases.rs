//! The cases of the loader's contract, exactly.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use skills_engine::skill::{Skill as _, ToolPattern};
use skills_engine::source::{FolderReport, FolderSkill, SkillFolders, SkillRoot};

use super::generated::generate;
use super::scratch::{Scratch, content, kinds, names, resources};

/// A case, with its input where it belongs.
struct Case {
    name: String,
    expected: Value,
    folder: PathBuf,
    /// Holds the input that was made for it.
    _scratch: Option<Scratch>,
}

impl Case {
    fn load(folder: &Path) -> Self {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let expected = fs::read_to_string(folder.join("expected.json")).unwrap();
        let scratch = Scratch::new();
        let (folder, scratch) = if generate(&name, &scratch) {
            (scratch.path().to_owned(), Some(scratch))
        } else {
            (folder.to_owned(), None)
        };
        Self {
            name,
            expected: serde_json::from_str(&expected).unwrap(),
            folder,
            _scratch: scratch,
        }
    }

    fn roots(&self) -> Vec<SkillRoot> {
        let trusted = self.expected["trusted"].as_bool().unwrap_or(true);
        let root = |root: &Value| {
            let path = self.folder.join(root["path"].as_str().unwrap());
            match root["scope"].as_str().unwrap() {
                "user" => SkillRoot::user(path),
                "project" => {
                    let project = self.expected["project_root"].as_str().unwrap();
                    SkillRoot::project(path, self.folder.join(project)).trusted(trusted)
                }
                other => panic!("{}: scope {other}", self.name),
            }
        };
        let roots = self.expected["roots"].as_array().unwrap();
        roots.iter().map(root).collect()
    }

    fn source(&self) -> SkillFolders {
        let roots = self.roots().into_iter();
        roots.fold(SkillFolders::new(), SkillFolders::root)
    }

    fn expected_diagnostics(&self) -> BTreeSet<String> {
        let diagnostics = self.expected["diagnostics"].as_array().unwrap();
        let texts = diagnostics.iter().map(|text| text.as_str().unwrap());
        texts.map(str::to_owned).collect()
    }

    async fn check(&self, report: &FolderReport) {
        let name = &self.name;
        let expected = &self.expected;
        let found = kinds(&report.diagnostics);
        if expected["kind"] == "roots" {
            assert_eq!(found, self.expected_diagnostics(), "{name}");
            assert_eq!(self.catalog(report), expected_catalog(expected), "{name}");
            return;
        }
        if expected["accept"] == false {
            let errors = |kinds: BTreeSet<String>| -> BTreeSet<String> {
                let kinds = kinds.into_iter();
                kinds.filter(|kind| kind.starts_with("error")).collect()
            };
            assert_eq!(errors(found), errors(self.expected_diagnostics()), "{name}");
            assert!(report.skills.is_empty(), "{name}: {report:?}");
            let [failed] = &report.failed[..] else {
                panic!("{name}: {:?}", report.failed);
            };
            assert!(failed.path.is_some() && !failed.problems.is_empty());
            return;
        }
        assert_eq!(
            found,
            self.expected_diagnostics(),
            "{name}: {:#?}",
            report.diagnostics
        );
        assert!(report.failed.is_empty(), "{name}: {:?}", report.failed);
        let [skill] = &report.skills[..] else {
            panic!("{name}: {:?}", names(report));
        };
        self.check_skill(skill).await;
    }

    async fn check_skill(&self, skill: &Arc<FolderSkill>) {
        let (name, expected) = (&self.name, &self.expected);
        let definition = skill.definition();
        assert_eq!(definition.id, expected["name"].as_str().unwrap(), "{name}");
        assert_eq!(definition.name, definition.id, "{name}");
        assert_eq!(
            definition.description,
            expected["description"].as_str().unwrap(),
            "{name}"
        );
        let count = |key: &str| {
            expected[key]
                .as_u64()
                .map(|count| count.try_into().unwrap())
        };
        if let (Some(least), Some(most)) = (count("resources_min"), count("resources_max")) {
            let listed: usize = resources(skill).len();
            assert!((least..=most).contains(&listed), "{name}: {listed}");
            let total = count("resources_total").unwrap();
            assert_eq!(content(skill).total_resources(), total, "{name}");
        } else {
            let listed = serde_json::to_value(resources(skill)).unwrap();
            assert_eq!(listed, expected["resources"], "{name}");
        }
        let body = content(skill).body().await.unwrap();
        match expected["body_starts_with"].as_str() {
            Some("") => assert_eq!(&*body, "", "{name}"),
            Some(start) => assert!(body.starts_with(start), "{name}: {body}"),
            None => {}
        }
        if let Some(optional) = expected["optional"].as_object() {
            for (field, expected) in optional {
                let found = self.field(skill, field);
                assert_eq!(&found, expected, "{name}: {field}");
            }
        }
    }

    fn field(&self, skill: &Arc<FolderSkill>, field: &str) -> Value {
        let header = skill.header();
        let definition = skill.definition();
        let json = |value: &Option<String>| serde_json::to_value(value).unwrap();
        match field {
            "license" => json(&header.license),
            "compatibility" => json(&header.compatibility),
            "context" => json(&header.context),
            "metadata" => serde_json::to_value(&header.metadata).unwrap(),
            "argument_hint" => json(&definition.argument_hint.clone().map(Into::into)),
            "disable_model_invocation" => (!definition.model_invocable).into(),
            "user_invocable" => definition.user_invocable.into(),
            "allowed_tools" => {
                let tools = definition.allowed_tools.as_ref().unwrap();
                let patterns = tools.patterns().iter().map(ToolPattern::as_str);
                patterns.collect()
            }
            other => panic!("{}: field {other}", self.name),
        }
    }

    /// Name, description and place of each skill.
    fn catalog(&self, report: &FolderReport) -> BTreeMap<String, (String, String)> {
        let entry = |skill: &Arc<FolderSkill>| {
            let definition = skill.definition();
            let main = skill.path().join("SKILL.md");
            let location = main.strip_prefix(&self.folder).unwrap();
            let location = location.to_str().unwrap().replace('\\', "/");
            (
                definition.id.to_string(),
                (definition.description.to_string(), location),
            )
        };
        report.skills.iter().map(entry).collect()
    }
}

fn expected_catalog(expected: &Value) -> BTreeMap<String, (String, String)> {
    let entry = |entry: &Value| {
        let text = |key: &str| entry[key].as_str().unwrap().to_owned();
        (text("name"), (text("description"), text("location")))
    };
    let entries = expected["catalog"].as_array().unwrap();
    entries.iter().map(entry).collect()
}

fn cases() -> Vec<Case> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/skillcases");
    let entries = fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap());
    let mut folders: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    assert_eq!(folders.len(), 45, "cases of the contract");
    folders.iter().map(|folder| Case::load(folder)).collect()
}

/// Skills with their files, diagnostics, and what was left out.
type Verdict = (Vec<(String, Vec<String>)>, Vec<String>, Vec<String>);

/// What a report says, without the values that hold it.
fn verdict(report: &FolderReport) -> Verdict {
    let skill = |skill: &Arc<FolderSkill>| {
        let listed = resources(skill).into_iter().map(str::to_owned);
        (skill.definition().id.to_string(), listed.collect())
    };
    let texts = |texts: Vec<String>| {
        let mut texts = texts;
        texts.sort();
        texts
    };
    let mut skills: Vec<_> = report.skills.iter().map(skill).collect();
    skills.sort();
    (
        skills,
        texts(report.failed.iter().map(ToString::to_string).collect()),
        texts(report.diagnostics.iter().map(ToString::to_string).collect()),
    )
}

#[tokio::test]
async fn se4_each_case_of_the_contract_comes_out_as_it_says() {
    for case in cases() {
        let report = case.source().scan().await.unwrap();
        case.check(&report).await;
    }
}

#[tokio::test]
async fn se4_a_folder_read_twice_gives_the_same_verdict_and_the_same_skill() {
    for case in cases() {
        let source = case.source();
        let first = source.scan().await.unwrap();
        let second = source.scan().await.unwrap();
        assert_eq!(verdict(&first), verdict(&second), "{}", case.name);
        for (first, second) in first.skills.iter().zip(&second.skills) {
            assert!(Arc::ptr_eq(first, second), "{}", case.name);
        }
        let fresh = case.source().scan().await.unwrap();
        assert_eq!(verdict(&first), verdict(&fresh), "{}", case.name);
    }
}

#[tokio::test]
async fn se4_the_order_of_roots_of_different_scopes_changes_nothing() {
    for case in cases() {
        let forwards = case.source().scan().await.unwrap();
        let roots = case.roots().into_iter().rev();
        let backwards = roots.fold(SkillFolders::new(), SkillFolders::root);
        let backwards = backwards.scan().await.unwrap();
        assert_eq!(verdict(&forwards), verdict(&backwards), "{}", case.name);
    }
}

#[tokio::test]
async fn se4_strict_takes_what_a_strict_validator_takes() {
    let mut refused = 0;
    for case in cases() {
        let Some(is_valid) = case.expected["strict_valid"].as_bool() else {
            continue;
        };
        let report = case.source().strict().scan().await.unwrap();
        assert_eq!(report.skills.len(), usize::from(is_valid), "{}", case.name);
        assert_eq!(report.failed.len(), usize::from(!is_valid), "{}", case.name);
        refused += u32::from(!is_valid);
    }
    assert!(refused > 20, "{refused}");
}
