//! The third stage: the rules.

mod attribute;
mod block;
mod hook;
mod method;
mod name;
mod skill;
mod tool;

use proc_macro2::Span;

use crate::attr::Text;
use crate::errors::Errors;

pub(crate) use self::block::block;
pub(crate) use self::skill::{not_a_skill, skill};

/// Checks a description: the option, or else the doc comment. `missing` says what to say when there is none.
fn description(
    option: Option<&Text>,
    doc: Option<&Text>,
    missing: Option<(Span, String)>,
    errors: &mut Errors,
) {
    if let Some(option) = option {
        if option.is_blank() {
            errors.add(
                option.span(),
                "`description` is empty; say in a sentence what it is for",
            );
        }
    } else if let Some((span, message)) = missing.filter(|_| doc.is_none_or(Text::is_blank)) {
        errors.add(span, message);
    }
}

/// Refuses the second of two members of one kind that use one name.
struct Names {
    noun: &'static str,
    seen: Vec<String>,
}

impl Names {
    fn new(noun: &'static str) -> Self {
        Self {
            noun,
            seen: Vec::new(),
        }
    }

    /// A conditional member may be the other half of another one, so only the engine can judge it.
    fn check(&mut self, name: &str, span: Span, is_conditional: bool, errors: &mut Errors) {
        if is_conditional {
            return;
        }
        if self.seen.iter().any(|seen| seen == name) {
            let noun = self.noun;
            errors.add(
                span,
                format!("two {noun}s are named `{name}`; rename one with `name = \"…\"`"),
            );
        } else {
            self.seen.push(name.to_owned());
        }
    }
}
