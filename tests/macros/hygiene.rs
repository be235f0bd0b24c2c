//! Nothing is in scope, and much has misleading names.
#![no_implicit_prelude]

use ::skills_engine::{skill, skill_attribute, skill_tool};

mod core {}
mod std {}
mod skills_engine {}
#[allow(dead_code, reason = "they are there to be in the way")]
mod in_the_way {
    pub(super) struct Option;
    pub(super) struct Result;
    pub(super) struct String;
    pub(super) struct Vec;
    pub(super) struct Box;
    pub(super) fn drop() {}
}
#[allow(unused_imports, reason = "they are there to be in the way")]
use self::in_the_way::*;

/// Needs no prelude.
#[skill]
pub struct Bare {
    /// A field.
    #[skill_attribute(level = Metadata)]
    field: u8,
}

impl ::core::default::Default for Bare {
    fn default() -> Self {
        Self { field: 1 }
    }
}

#[skill]
impl Bare {
    /// Sync.
    #[skill_tool(level = Context)]
    fn now(
        &self,
        text: &str,
        #[param(default = "x")] list: ::std::string::String,
    ) -> ::std::string::String {
        ::std::format!("{text}{list}")
    }

    /// Async.
    #[skill_tool(timeout = "1s")]
    async fn later(
        &self,
        numbers: &[u8],
        cx: &::skills_engine::skill::ToolContext,
    ) -> ::core::result::Result<usize, ::std::string::String> {
        ::core::result::Result::Ok(numbers.len() + cx.call_id().len())
    }

    /// Blocking.
    #[skill_tool(blocking)]
    fn slowly(self: ::std::sync::Arc<Self>) {}

    #[skill_attribute(cache = "5s")]
    fn live(&self, _cx: &::skills_engine::skill::AttributeContext) -> u8 {
        self.field
    }

    #[skill_attribute(timeout = "1s", cache = turn)]
    async fn lazy(&self) -> ::core::option::Option<u8> {
        ::core::option::Option::None
    }
}

/// Another block.
#[skill]
impl Bare {
    #[skill(supports)]
    fn supports(&self, _request: &::skills_engine::skill::TurnRequest) -> bool {
        true
    }

    #[skill(on_attach)]
    async fn attach(
        self: ::std::sync::Arc<Self>,
        _request: &mut ::skills_engine::skill::TurnRequest,
        _cx: &::skills_engine::skill::AttachContext,
    ) -> ::core::result::Result<(), ::std::string::String> {
        ::core::result::Result::Ok(())
    }

    #[skill(instructions)]
    fn text(&self) -> ::core::option::Option<::std::string::String> {
        ::core::option::Option::None
    }

    #[skill(tools)]
    async fn tools(
        &self,
        _request: &::skills_engine::skill::TurnRequest,
    ) -> ::skills_engine::skill::ToolSelection {
        ::skills_engine::skill::ToolSelection::All
    }
}

::skills_engine::embed_skills!("fixtures/embedded");

#[test]
fn a_folder_is_embedded() {
    let source = ::skills_engine::embedded_skills!("fixtures/embedded");
    ::core::assert_eq!(::skills_engine::source::SkillSource::name(&source), "tests");
}

#[test]
fn it_works() {
    let bare = ::std::sync::Arc::new(<Bare as ::core::default::Default>::default());
    ::core::assert_eq!(
        crate::support::call(&bare, "now", r#"{"text":"a"}"#).as_deref(),
        ::core::result::Result::Ok("ax")
    );
    ::core::assert_eq!(
        crate::support::call(&bare, "later", r#"{"numbers":[1]}"#).as_deref(),
        ::core::result::Result::Ok("9")
    );
    ::core::assert!(crate::support::call(&bare, "slowly", "{}").is_ok());
    ::core::assert!(crate::support::read(&bare, "live").is_ok());
    ::core::assert!(crate::support::read(&bare, "lazy").is_ok());
}
