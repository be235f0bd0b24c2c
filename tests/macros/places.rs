//! Where skills and blocks may stand.

use std::sync::Arc;

use skills_engine::skill::SkillType;
use skills_engine::{skill, skill_attribute, skill_tool};

use crate::support::{attribute, blocks, call, find_tool, read, tool};

/// Spread over modules.
#[skills_engine::skill]
#[derive(Default)]
pub struct Spread(#[skill_attribute(name = "number")] u8);

mod elsewhere {
    use super::Spread;

    #[skills_engine::skill]
    impl Spread {
        /// In another module.
        #[skills_engine::skill_tool]
        pub(super) fn far(&self) -> u8 {
            self.0
        }
    }

    #[skills_engine::skill]
    impl super::Spread {
        /// By path.
        #[skills_engine::skill_tool]
        fn by_path(&self) -> Self {
            Self(self.0 + 1)
        }
    }

    impl serde::Serialize for Spread {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_u8(self.0)
        }
    }
}

/// Without members.
#[skill]
impl Spread {}

#[test]
fn blocks_of_one_type_are_found_in_order() {
    let spread = Arc::new(Spread(4));
    assert_eq!(call(&spread, "far", "{}").as_deref(), Ok("4"));
    assert_eq!(call(&spread, "by_path", "{}").as_deref(), Ok("5"));
    assert_eq!(read(&spread, "number"), Ok(4.into()));
    assert_eq!(spread.far(), 4);
    let counts: Vec<_> = blocks::<Spread>()
        .iter()
        .map(|block| block.tools.len())
        .collect();
    assert_eq!(counts, [1, 1, 0]);
    assert!(
        blocks::<Spread>()
            .iter()
            .all(|block| block.type_name == "Spread")
    );
}

/// Derives before and after.
#[derive(Clone)]
#[skill(id = "derives")]
#[derive(Default, serde::Serialize)]
struct Derives {
    #[skill_attribute]
    #[serde(rename = "shown")]
    value: u8,
}

#[test]
fn derives_may_stand_on_either_side() {
    let derives = Arc::new(Derives::default());
    assert_eq!(read(&derives, "value"), Ok(0.into()));
    assert_eq!(
        serde_json::to_string(&derives.as_ref().clone()).unwrap(),
        r#"{"shown":0}"#
    );
}

#[test]
fn a_skill_in_a_function() {
    /// Local.
    #[skill(id = "local-skill")]
    #[derive(Default)]
    struct Local;

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Argument {
        value: u8,
    }

    #[skill]
    impl Local {
        /// Doubles.
        #[skill_tool]
        async fn double(&self, argument: Argument) -> u8 {
            argument.value * 2
        }
    }

    assert_eq!(Local::entry().id, "local-skill");
    let local = Arc::new(Local);
    assert_eq!(
        call(&local, "double", r#"{"argument":{"value":4}}"#).as_deref(),
        Ok("8")
    );
}

macro_rules! make_skill {
    (
        $(#[$meta:meta])*
        $name:ident, $id:literal, $level:ident, $timeout:expr,
        $(#[$tool_meta:meta])* $tool:ident($($argument:ident: $ty:ty = $default:expr),*) -> $result:ty
    ) => {
        $(#[$meta])*
        #[skill(id = $id)]
        #[derive(Default)]
        struct $name {
            #[skill_attribute(level = $level)]
            field: u8,
        }

        #[skill]
        impl $name {
            $(#[$tool_meta])*
            #[skill_tool(level = $level, timeout = $timeout)]
            async fn $tool(&self, $(#[param(default = $default)] $argument: $ty),*) -> $result {
                $(let _ = &$argument;)*
                stringify!($($argument),*).to_owned()
            }
        }
    };
}

make_skill!(
    /// Made by a macro.
    ByMacro, "by-macro", Complete, "5s",
    /// Also made by a macro.
    #[allow(clippy::unused_async, reason = "the macro says so")]
    made(text: &str = "t", list: &[u8] = vec![1], plain: Vec<u8> = vec![2], option: Option<u8> = None) -> String
);

#[test]
fn a_skill_in_macro_rules() {
    let entry = ByMacro::entry();
    assert_eq!(entry.id, "by-macro");
    assert_eq!(entry.description, "Made by a macro.");
    assert_eq!(
        attribute::<ByMacro>("field").level,
        skills_engine::skill::Level::Complete
    );
    let made = tool::<ByMacro>("made");
    assert_eq!(made.description, "Also made by a macro.");
    assert_eq!(made.timeout_ms, Some(5_000));
    assert!(made.parameters[3].is_option);
    assert_eq!(
        call(&Arc::new(ByMacro::default()), "made", "{}").as_deref(),
        Ok("text, list, plain, option")
    );
}

/// Names that could clash with what the macros write.
#[skill]
#[derive(Default)]
struct Clash;

#[allow(
    dead_code,
    non_upper_case_globals,
    reason = "it is there to be in the way"
)]
mod in_the_way {
    pub(super) const instance: u8 = 1;
    pub(super) const cx: u8 = 2;
    pub(super) const arguments: u8 = 3;
    pub(super) const value: u8 = 4;
    pub(super) const argument_0: u8 = 5;
}

#[skill]
impl Clash {
    /// Has parameters in the way.
    #[skill_tool]
    fn parameters(
        &self,
        instance: u8,
        arguments: u8,
        value: u8,
        argument_0: u8,
        #[param(default = in_the_way::cx)] out: u8,
    ) -> u8 {
        instance + arguments + value + argument_0 + out
    }

    /// Named like a method of a trait.
    #[skill_tool]
    fn clone(&self) -> u8 {
        1
    }

    #[skill_attribute]
    fn default(&self) -> u8 {
        2
    }
}

#[test]
fn names_do_not_clash() {
    let clash = Arc::new(Clash);
    assert_eq!(
        call(
            &clash,
            "parameters",
            r#"{"instance":1,"arguments":1,"value":1,"argument_0":1}"#
        )
        .as_deref(),
        Ok("6")
    );
    assert_eq!(call(&clash, "clone", "{}").as_deref(), Ok("1"));
    assert_eq!(read(&clash, "default"), Ok(2.into()));
    assert!(find_tool::<Clash>("default").is_none());
    assert_eq!(
        in_the_way::instance + in_the_way::arguments + in_the_way::value + in_the_way::argument_0,
        13
    );
}

#[test]
fn what_is_deprecated_is_used_in_silence() {
    #![deny(deprecated)]

    /// Is on its way out, and so are its methods.
    #[skill]
    #[deprecated]
    #[allow(deprecated, reason = "of the derive")]
    #[derive(Default)]
    struct Aging;

    #[skill]
    #[allow(deprecated, reason = "of the block itself")]
    impl Aging {
        /// On its way out.
        #[deprecated = "use `new`"]
        #[skill_tool]
        fn old(&self) {}

        #[deprecated]
        #[skill_attribute]
        fn stale(&self) -> u8 {
            1
        }
    }

    #[allow(deprecated, reason = "of the test itself")]
    let aging = Arc::new(Aging);
    assert_eq!(call(&aging, "old", "{}").as_deref(), Ok("done"));
    assert_eq!(read(&aging, "stale"), Ok(1.into()));
}
