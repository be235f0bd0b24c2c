//! `#[cfg]` and `#[cfg_attr]` on members.

use std::sync::Arc;

use skills_engine::{skill, skill_attribute, skill_tool};

use crate::support::{call, find_attribute, find_tool, tool};

/// Has members that come and go.
#[skill]
#[derive(Default)]
struct Seasonal {
    #[cfg(test)]
    #[skill_attribute]
    here: u8,
    #[cfg(not(test))]
    #[skill_attribute]
    gone: Absent,
    #[cfg_attr(not(test), skill_attribute)]
    plain: u8,
}

#[skill]
impl Seasonal {
    /// There.
    #[cfg(test)]
    #[skill_tool]
    fn there(&self) {}

    /// Not there, nor are its types.
    #[cfg(not(test))]
    #[skill_tool]
    fn away(&self, x: Absent) -> Absent {
        x
    }

    /// Marked.
    #[cfg_attr(test, skill_tool(level = Complete), must_use)]
    fn marked(&self) -> u8 {
        self.plain
    }

    /// Not marked.
    #[cfg_attr(not(test), skill_tool)]
    fn unmarked(&self) {}

    /// Marked under two conditions.
    #[cfg_attr(all(), cfg_attr(test, skill_tool))]
    fn nested(&self) {}

    /// One or the other.
    #[cfg_attr(test, skill_tool(name = "in_tests"))]
    #[cfg_attr(not(test), skill_tool(name = "in_production"))]
    fn either(&self) {}

    /// One of two methods.
    #[cfg(test)]
    #[skill_tool]
    fn twin(&self) -> u8 {
        1
    }

    /// One of two methods.
    #[cfg(not(test))]
    #[skill_tool]
    fn twin(&self) -> u8 {
        2
    }

    /// Hidden by a condition inside a condition.
    #[cfg_attr(test, cfg(not(test)))]
    #[skill_tool]
    fn conditionally_away(&self) -> Absent {
        Absent
    }

    #[cfg_attr(test, skill_attribute(level = Metadata))]
    fn observed(&self) -> u8 {
        7
    }
}

#[test]
fn a_member_and_its_entry_come_and_go_together() {
    for (name, expected) in [
        ("there", true),
        ("away", false),
        ("marked", true),
        ("unmarked", false),
        ("nested", true),
        ("in_tests", true),
        ("in_production", false),
        ("either", false),
        ("twin", true),
        ("conditionally_away", false),
    ] {
        assert_eq!(find_tool::<Seasonal>(name).is_some(), expected, "{name}");
    }
    for (name, expected) in [
        ("here", true),
        ("gone", false),
        ("plain", false),
        ("observed", true),
    ] {
        assert_eq!(
            find_attribute::<Seasonal>(name).is_some(),
            expected,
            "{name}"
        );
    }
}

#[test]
fn options_inside_a_condition_count() {
    assert_eq!(
        tool::<Seasonal>("marked").level,
        skills_engine::skill::Level::Complete
    );
    let seasonal = Arc::new(Seasonal::default());
    assert_eq!(call(&seasonal, "twin", "{}").as_deref(), Ok("1"));
    seasonal.unmarked();
    seasonal.either();
    assert_eq!(seasonal.here, 0);
}
