//! Helpers shared by the black-box tests of `skills-engine`.
