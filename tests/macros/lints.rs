//! What the macros write is silent under lints that are stricter than ours.
#![deny(
    unused,
    deprecated,
    non_local_definitions,
    unfulfilled_lint_expectations,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    unsafe_code,
    unused_qualifications,
    unused_results,
    unused_lifetimes,
    unnameable_types,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    let_underscore_drop,
    macro_use_extern_crate,
    meta_variable_misuse,
    missing_copy_implementations,
    redundant_imports,
    redundant_lifetimes,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unit_bindings,
    unsafe_op_in_unsafe_fn,
    unused_import_braces,
    variant_size_differences,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::cargo
)]
#![deny(
    clippy::allow_attributes_without_reason,
    clippy::as_conversions,
    clippy::default_trait_access,
    clippy::exhaustive_structs,
    clippy::missing_inline_in_public_items,
    clippy::panic,
    clippy::pattern_type_mismatch,
    clippy::absolute_paths,
    clippy::shadow_reuse,
    clippy::shadow_same,
    clippy::shadow_unrelated,
    clippy::unreachable,
    clippy::unwrap_used,
    clippy::std_instead_of_core,
    clippy::question_mark_used,
    clippy::min_ident_chars,
    clippy::ref_patterns,
    clippy::let_underscore_untyped,
    clippy::undocumented_unsafe_blocks,
    clippy::unnecessary_literal_bound,
    clippy::unnecessary_wraps,
    clippy::use_self
)]
#![allow(
    clippy::cargo_common_metadata,
    clippy::multiple_crate_versions,
    reason = "of the package, not of the code"
)]

use std::sync::Arc;

use skills_engine::skill::{
    AttachContext, AttributeContext, Resources, ToolContext, ToolSelection, TurnRequest,
};
use skills_engine::source::EmbeddedSkills;
use skills_engine::{embed_skills, embedded_skills, skill, skill_attribute, skill_tool};

embed_skills!("fixtures/embedded");

/// The same as a value.
fn embedded() -> EmbeddedSkills {
    embedded_skills!("fixtures/embedded")
}

/// A strict skill.
#[skill(tags = ["a"], factory = Self::make)]
#[derive(Debug)]
struct Strict {
    /// A field.
    #[skill_attribute(level = Metadata)]
    field: u8,
}

impl Strict {
    #[expect(clippy::unnecessary_wraps, reason = "a factory is like that")]
    const fn make(_resources: &Resources) -> Result<Self, String> {
        Ok(Self { field: 1 })
    }
}

/// Its members.
#[skill]
#[expect(clippy::unused_async, clippy::unused_self, reason = "the user's own")]
impl Strict {
    /// Does nothing.
    #[skill_tool]
    const fn nothing(&self) {}

    /// Takes all kinds of arguments.
    #[skill_tool(level = Context, return_direct, timeout = "1s", title = "Take")]
    pub(crate) async fn take(
        &self,
        text: &str,
        list: &[u8],
        #[param(default = "x")] word: String,
        #[param(default = 1)] number: u8,
        #[param(default = Some(true))] option: Option<bool>,
        cx: &ToolContext,
    ) -> Result<usize, String> {
        Ok(usize::from(option == Some(true))
            + text.len()
            + list.len()
            + word.len()
            + usize::from(number)
            + cx.call_id().len())
    }

    /// Blocks.
    #[skill_tool(blocking)]
    fn block(self: Arc<Self>, _cx: &ToolContext) -> u8 {
        self.field
    }

    /// Live.
    #[skill_attribute(cache = "30s")]
    const fn live(&self, _cx: &AttributeContext) -> u8 {
        self.field
    }

    /// Whether it takes part.
    #[skill(supports)]
    const fn supports(&self) -> bool {
        self.field > 0
    }

    /// Attaches.
    #[skill(on_attach)]
    async fn attach(&self, request: &mut TurnRequest) -> Result<(), String> {
        request.text = None;
        Ok(())
    }

    /// Watches.
    #[skill(instructions)]
    pub(crate) fn instructions(self: Arc<Self>, _cx: &AttachContext) -> Option<String> {
        None
    }

    /// Selects.
    #[skill(tools)]
    async fn tools(&self, _request: &TurnRequest) -> ToolSelection {
        ToolSelection::All
    }

    /// Lazy.
    #[skill_attribute(timeout = "1s")]
    async fn lazy(&self) -> Result<u8, String> {
        Ok(self.field)
    }
}

/// Alone.
#[skill]
#[derive(Debug, Default)]
struct Alone;

/// Nothing in it.
#[skill]
impl Alone {}

/// It is silent.
#[test]
fn a_strict_crate_may_embed_folders() {
    let text = format!("{:?}", embedded());
    assert!(text.contains("fixtures/embedded"), "{text}");
}
