use super::{Diagnostic, DiagnosticKind};

/// Line and column of a byte of a text, both from 1. LF, CRLF and CR end lines; columns are characters.
pub(super) fn place_in(text: &str, at: usize) -> (u32, u32) {
    let before = text.get(..at).unwrap_or(text);
    let bytes = before.as_bytes();
    let mut line = 1_u32;
    let mut start = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        // The line of a CRLF ends with its LF; what was asked for may stand between the two.
        let is_end =
            byte == b'\n' || (byte == b'\r' && text.as_bytes().get(index + 1) != Some(&b'\n'));
        if is_end {
            line = line.saturating_add(1);
            start = index + 1;
        }
    }
    let column = before[start..].chars().count().saturating_add(1);
    (line, u32::try_from(column).unwrap_or(u32::MAX))
}

/// The diagnostics of one file.
#[derive(Debug)]
pub(super) struct Report<'a> {
    path: &'a str,
    diagnostics: Vec<Diagnostic>,
    strict: Vec<Diagnostic>,
}

impl<'a> Report<'a> {
    pub(super) fn new(path: &'a str) -> Self {
        Self {
            path,
            diagnostics: Vec::new(),
            strict: Vec::new(),
        }
    }

    /// Adds one about the file as a whole.
    pub(super) fn file(&mut self, kind: DiagnosticKind, message: impl Into<String>, hint: &str) {
        self.diagnostics
            .push(Diagnostic::new(kind, self.path, message, hint));
    }

    /// Adds one about a place.
    pub(super) fn place(
        &mut self,
        kind: DiagnosticKind,
        (line, column): (u32, u32),
        message: impl Into<String>,
        hint: &str,
    ) {
        self.diagnostics
            .push(Diagnostic::new(kind, self.path, message, hint).at(line, column));
    }

    /// Adds one about a place, told by those who are strict alone.
    pub(super) fn strict_place(
        &mut self,
        kind: DiagnosticKind,
        (line, column): (u32, u32),
        message: impl Into<String>,
        hint: &str,
    ) {
        self.strict
            .push(Diagnostic::new(kind, self.path, message, hint).at(line, column));
    }

    pub(super) fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|it| it.severity == super::Severity::Error)
    }

    pub(super) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }

    /// What everybody tells, and what those who are strict tell beside it.
    pub(super) fn into_parts(self) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
        (self.diagnostics, self.strict)
    }
}

/// The text that a header was read from, for places in it. It begins at the second line of its file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a>(pub(super) &'a str);

impl Source<'_> {
    /// Line and column of a byte of the header in its file.
    pub(super) fn place(self, at: usize) -> (u32, u32) {
        let (line, column) = place_in(self.0, at);
        (line.saturating_add(1), column)
    }

    /// Whether a comment stands behind `end` on the same line.
    pub(super) fn has_comment_after(self, end: usize) -> bool {
        let rest = self.0.get(end..).unwrap_or_default();
        let comment = rest.trim_start_matches([' ', '\t']);
        comment.len() < rest.len() && comment.starts_with('#')
    }
}
