//! Skills from folders that hold a `SKILL.md`, by the Agent Skills standard.

mod document;
mod fields;
mod header;
mod metadata;
mod name;
mod repair;
mod report;
#[cfg(test)]
mod tests;
mod yaml;

pub use self::document::{Document, Read, read_document};
pub use self::header::Header;
use super::{Diagnostic, DiagnosticKind, Severity};
