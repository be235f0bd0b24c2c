//! `crate = path`: the runtime crate under another name.

use std::sync::Arc;

use crate::support::{call, read};

mod engine {
    pub use skills_engine::__private;
}

extern crate skills_engine as renamed;

/// Through a module.
#[renamed::skill(crate = crate::paths::engine)]
#[derive(Default)]
struct ThroughModule {
    #[skill_attribute]
    field: u8,
}

use renamed::{skill_attribute, skill_tool};

#[renamed::skill(crate = engine)]
impl ThroughModule {
    /// Works.
    #[skill_tool]
    async fn works(&self, cx: &renamed::skill::ToolContext, text: &str) -> usize {
        text.len() + cx.call_id().len()
    }
}

/// Through another name.
#[renamed::skill(crate = renamed, factory = ThroughName::make)]
struct ThroughName;

impl ThroughName {
    fn make(_: &renamed::skill::Resources) -> Result<Self, String> {
        Ok(Self)
    }
}

#[renamed::skill(crate = self::renamed)]
impl ThroughName {
    #[skill_attribute]
    async fn value(&self) -> u8 {
        3
    }
}

#[test]
fn both_are_found() {
    let through_module = Arc::new(ThroughModule::default());
    assert_eq!(
        call(&through_module, "works", r#"{"text":"ab"}"#).as_deref(),
        Ok("10")
    );
    assert_eq!(read(&through_module, "field"), Ok(0.into()));
    assert_eq!(read(&Arc::new(ThroughName), "value"), Ok(3.into()));
}
