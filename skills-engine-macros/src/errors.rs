//! The collector of errors.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use syn::Error;

/// All errors of one expansion.
#[derive(Default)]
pub(crate) struct Errors {
    combined: Option<Error>,
}

impl Errors {
    /// Adds an error at a place.
    pub(crate) fn add(&mut self, span: Span, message: impl Display) {
        self.push(Error::new(span, message));
    }

    /// Adds an error.
    pub(crate) fn push(&mut self, err: Error) {
        match &mut self.combined {
            Some(combined) => combined.combine(err),
            None => self.combined = Some(err),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.combined.is_none()
    }

    /// All errors as tokens; `None` when there are none.
    pub(crate) fn finish(self) -> Option<TokenStream> {
        self.combined.map(|err| err.to_compile_error())
    }
}
