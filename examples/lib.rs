//! Holds the examples of `skills-engine`; see the numbered files beside this one.
