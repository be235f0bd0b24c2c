//! YAML 1.2 as far as a header needs it: a small tree whose scalars keep their source text, within fixed limits.

mod build;
mod core_schema;
mod node;

use std::collections::HashSet;
use std::rc::Rc;

use granit_parser::{ErrorKind, Event, Options, Parser, ScanError, StrInput, options};

pub(crate) use self::core_schema::typed_json;
pub(crate) use self::node::{Content, Entry, Node, Scalar};

/// Aliases in one header.
pub(crate) const MOST_ALIASES: usize = 16;
/// Mappings and sequences inside each other, the header itself included.
pub(crate) const MOST_DEPTH: usize = 16;
/// Nodes, keys included, and those that aliases stand for each time.
pub(crate) const MOST_NODES: usize = 4096;
/// Bytes of all scalars, and of those that aliases stand for each time.
pub(crate) const MOST_SCALAR_BYTES: usize = 128 * 1024;

/// A header that is YAML.
#[derive(Debug)]
pub(crate) struct Parsed<'a> {
    /// `None` when there is nothing but comments.
    pub(crate) root: Option<Rc<Node<'a>>>,
    /// The first key that its mapping has already.
    pub(crate) duplicate: Option<Rc<Node<'a>>>,
}

/// Why a header cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It is not YAML.
    Syntax(Problem),
    /// It goes beyond a limit.
    Limit(Problem),
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// An offset in bytes.
    pub(crate) at: usize,
    pub(crate) message: String,
}

impl Failure {
    fn syntax(at: usize, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::Syntax(Problem { at, message })
    }

    fn limit(at: usize, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::Limit(Problem { at, message })
    }
}

impl From<ScanError> for Failure {
    fn from(err: ScanError) -> Self {
        let at = err.marker().byte_offset().unwrap_or(0);
        match err.kind() {
            ErrorKind::RecursionLimitExceeded => Self::limit(at, too_deep()),
            _ => Self::syntax(at, err.info()),
        }
    }
}

fn too_deep() -> String {
    format!("mappings and lists stand more than {MOST_DEPTH} deep inside each other")
}

/// Reads a header.
pub(crate) fn parse(source: &str) -> Result<Parsed<'_>, Failure> {
    check_characters(source)?;
    build::build(source, parser(source, false))
}

/// Whether a part of a header is YAML by itself, given the names that aliases may use.
pub(crate) fn is_yaml(source: &str, anchors: &HashSet<&str>) -> bool {
    let mut nodes = 0;
    for next in parser(source, true) {
        match next {
            Err(err) => return *err.kind() == ErrorKind::RecursionLimitExceeded,
            Ok((Event::UnresolvedAlias(name), _)) if !anchors.contains(&*name) => return false,
            Ok((event, _)) if event.is_node() => nodes += 1,
            Ok(_) => {}
        }
        // What is too large is not made smaller by a repair.
        if nodes > MOST_NODES {
            return true;
        }
    }
    true
}

fn parser(source: &str, unresolved_aliases: bool) -> Parser<'_, StrInput<'_>> {
    let mut options: Options = options! {
        disallow_directives: true,
        emit_unresolved_aliases: unresolved_aliases,
        flow_nesting_limit: MOST_DEPTH,
        block_nesting_limit: MOST_DEPTH,
    };
    // Another crate of the build may have turned them on.
    options.set_emit_comments(false);
    Parser::new_from_str_with_options(source, options)
}

/// Refuses what no YAML stream may hold (`c-printable` of its specification), wherever it stands.
fn check_characters(source: &str) -> Result<(), Failure> {
    let is_printable = |character: char| match character {
        ' '..='~' | '\t' | '\n' | '\r' | '\u{85}' => true,
        '\u{FFFE}' | '\u{FFFF}' => false,
        other => other >= '\u{A0}',
    };
    match source.char_indices().find(|&(_, it)| !is_printable(it)) {
        Some((at, character)) => {
            let code = u32::from(character);
            Err(Failure::syntax(
                at,
                format!("the character U+{code:04X} is not allowed in YAML"),
            ))
        }
        None => Ok(()),
    }
}
