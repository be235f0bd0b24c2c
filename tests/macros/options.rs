//! Every option, and what holds without it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use skills_engine::skill::{Cache, Evaluation, Expose, Level, Make, Resources, SkillType};
use skills_engine::{skill, skill_attribute, skill_tool};

use crate::support::{attribute, block_on, call, finish, read, tool};

/// The doc comment.
#[skill(
    id = "everything",
    name = "All of it",
    description = "The option.",
    version = "9.8.7",
    tags = ["one", "two"],
    base_level = Complete,
    host_only,
    code_only,
    required,
    manual,
)]
struct Everything {
    #[skill_attribute(
        name = "region",
        description = "Where it runs.",
        level = Complete,
        expose = Always,
        sensitive
    )]
    place: String,
}

#[skill]
impl Everything {
    /// Unused.
    #[skill_attribute(
        name = "load",
        description = "How busy it is.",
        level = Metadata,
        expose = Disabled,
        lazy,
        timeout = "250ms",
        cache = "30s",
        sensitive
    )]
    fn busy(&self) -> Result<u8, String> {
        Err("no sensor".to_owned())
    }

    #[skill_attribute(cache = session)]
    fn plain(&self) -> u8 {
        1
    }

    #[skill_tool(
        name = "Do_It",
        title = "Do it",
        description = concat!("Does ", "it."),
        level = Metadata,
        expose = Always,
        return_direct,
        timeout = "2m",
        blocking,
        destructive,
        idempotent,
        open_world,
        requires_approval
    )]
    fn act(&self) {}

    /// Signs in.
    #[skill_tool]
    fn sign_in(
        &self,
        user: u8,
        #[param(sensitive)] pin: u8,
        #[param(sensitive, default = 1)] token: u8,
    ) -> u8 {
        user + pin + token
    }

    /// Does as little as it can.
    #[skill_tool]
    fn least(&self) {}
}

#[test]
fn skill_options() {
    let entry = Everything::entry();
    assert_eq!(entry.id, "everything");
    assert_eq!(entry.name, "All of it");
    assert_eq!(entry.description, "The option.");
    assert_eq!(entry.version, "9.8.7");
    assert_eq!(entry.origin.crate_version, env!("CARGO_PKG_VERSION"));
    assert_eq!(entry.tags, ["one", "two"]);
    assert_eq!(entry.base_level, Level::Complete);
    assert!(entry.host_only && entry.code_only && entry.required);
    assert!(matches!(entry.make, Make::Manual));
}

#[test]
fn attribute_options() {
    let region = attribute::<Everything>("region");
    assert_eq!(region.description, "Where it runs.");
    assert_eq!(
        (region.level, region.expose),
        (Level::Complete, Expose::Always)
    );
    let load = attribute::<Everything>("load");
    assert_eq!(load.description, "How busy it is.");
    assert_eq!(load.evaluation, Evaluation::Lazy);
    assert_eq!(load.timeout_ms, Some(250));
    assert_eq!(load.cache, Some(Cache::For(Duration::from_secs(30))));
    assert_eq!(
        (load.level, load.expose),
        (Level::Metadata, Expose::Disabled)
    );
    assert!(region.sensitive && load.sensitive);
    let plain = attribute::<Everything>("plain");
    assert!(!plain.sensitive);
    assert_eq!(plain.description, "");
    assert_eq!(plain.cache, Some(Cache::Session));
    assert_eq!((plain.level, plain.expose), (Level::Context, Expose::Psl));
    assert_eq!(plain.evaluation, Evaluation::Live);
}

#[test]
fn an_attribute_that_fails_says_why() {
    let skill = Arc::new(Everything {
        place: "north".to_owned(),
    });
    assert_eq!(read(&skill, "load"), Err("no sensor".to_owned()));
    assert_eq!(read(&skill, "region"), Ok(json!("north")));
    assert_eq!(read(&skill, "plain"), Ok(json!(1)));
}

#[test]
fn tool_options() {
    let act = tool::<Everything>("Do_It");
    assert_eq!(act.title, Some("Do it"));
    assert_eq!(act.description, "Does it.");
    assert_eq!((act.level, act.expose), (Level::Metadata, Expose::Always));
    assert_eq!(act.timeout_ms, Some(120_000));
    assert!(act.return_direct && act.requires_approval);
    let hints = act.annotations;
    assert_eq!(
        [
            hints.read_only,
            hints.destructive,
            hints.idempotent,
            hints.open_world
        ],
        [false, true, true, true]
    );
    let least = tool::<Everything>("least");
    assert_eq!(least.title, None);
    assert_eq!((least.level, least.expose), (Level::Context, Expose::Psl));
    assert_eq!(least.timeout_ms, None);
    assert!(!least.return_direct && !least.requires_approval);
    assert!(least.parameters.is_empty());
}

#[test]
fn an_error_does_not_quote_a_sensitive_argument() {
    let sensitive: Vec<_> = tool::<Everything>("sign_in")
        .parameters
        .iter()
        .filter(|parameter| parameter.sensitive)
        .map(|parameter| parameter.name)
        .collect();
    assert_eq!(sensitive, ["pin", "token"]);
    let skill = Arc::new(Everything {
        place: String::new(),
    });
    let message = call(
        &skill,
        "sign_in",
        r#"{"user":"ada","pin":"marker","token":["marker"]}"#,
    )
    .unwrap_err();
    assert!(
        message.contains("`user`: invalid type: string \"ada\""),
        "{message}"
    );
    assert!(
        message.contains("`pin`: the value, which is sensitive, does not fit"),
        "{message}"
    );
    assert!(message.contains("`token`: the value"), "{message}");
    assert!(!message.contains("marker"), "{message}");
    assert_eq!(
        call(&skill, "sign_in", r#"{"user":1,"pin":2}"#),
        Ok("4".to_owned())
    );
}

#[test]
fn a_blocking_tool_runs_where_the_engine_wants() {
    let skill = Arc::new(Everything {
        place: String::new(),
    });
    let shared: skills_engine::skill::Instance = skill;
    let cx = skills_engine::skill::ToolContext::detached();
    let call = (tool::<Everything>("Do_It").call)(&shared, b"{}", &cx);
    assert!(matches!(call, skills_engine::skill::Call::Blocking(_)));
    assert!(block_on(finish(call)).is_ok());
}

/// Named after its type.
#[skill]
#[derive(Default)]
struct HTTPFetcher2;

#[test]
fn names_come_from_the_type() {
    let entry = HTTPFetcher2::entry();
    assert_eq!((entry.id, entry.name), ("http-fetcher2", "HTTP fetcher2"));
    assert!(!entry.host_only && !entry.code_only && !entry.required);
    let Make::Factory(make) = entry.make else {
        panic!("made by default");
    };
    assert!(make(&Resources::default()).unwrap().is::<HTTPFetcher2>());
}

/// Made of what the host gives.
#[skill(factory = Self::connect)]
struct Connected {
    url: String,
}

impl Connected {
    fn connect(resources: &Resources) -> Result<Self, skills_engine::skill::MissingResource> {
        let url = resources.require::<String>()?;
        Ok(Self {
            url: (*url).clone(),
        })
    }
}

#[skill]
impl Connected {
    /// Tells the address.
    #[skill_tool]
    fn address(&self) -> &str {
        &self.url
    }
}

#[test]
fn a_factory_gets_resources() {
    let Make::Factory(make) = Connected::entry().make else {
        panic!("made by a factory");
    };
    let resources = Resources::default();
    let Err(message) = make(&resources) else {
        panic!("nothing was put");
    };
    assert!(message.contains("String"), "{message}");
    resources.put("db://x".to_owned());
    let connected = make(&resources).unwrap().downcast::<Connected>().unwrap();
    assert_eq!(call(&connected, "address", "{}"), Ok("db://x".to_owned()));
}

/// Made by a path with type arguments and a foreign error.
#[skill(factory = self::build::<Generic>, id = "generic")]
#[derive(Default)]
struct Generic;

fn build<T: Default>(_: &Resources) -> Result<T, std::num::ParseIntError> {
    "1".parse::<u8>().map(|_| T::default())
}

#[test]
fn a_factory_is_any_path() {
    let Make::Factory(make) = Generic::entry().make else {
        panic!("made by a factory");
    };
    assert!(make(&Resources::default()).is_ok());
}

/// A description
/// over two lines, then a list:
///
/// - one
/// - two
#[skill]
#[derive(Default)]
struct Documented;

/// From a file.
#[skill]
#[doc = concat!("And from ", "a macro.")]
#[derive(Default)]
struct Computed;

#[test]
fn doc_comments_become_descriptions() {
    assert_eq!(
        Documented::entry().description,
        "A description over two lines, then a list:\n\n- one\n- two"
    );
    assert!(Computed::entry().description.contains("And from a macro."));
}
