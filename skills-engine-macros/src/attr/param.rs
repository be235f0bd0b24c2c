use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::{Expr, Ident};

use super::{Options, PARAM, value};

/// The options of `#[param]`.
#[derive(Default)]
pub(crate) struct ParamOptions {
    pub(crate) default: Option<Expr>,
    pub(crate) sensitive: Option<Span>,
}

impl Options for ParamOptions {
    const ATTRIBUTE: &'static str = PARAM;
    const KEYS: &'static [&'static str] = &["default", "sensitive"];

    fn set(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        if key == "default" {
            value::equals(key, input, "10")?;
            self.default = Some(input.parse()?);
        } else {
            self.sensitive = value::flag(key, input)?;
        }
        Ok(())
    }

    fn misplaced(key: &str) -> Option<String> {
        match key {
            "description" | "doc" => {
                Some("describe a parameter with a doc comment above it: `/// …`".to_owned())
            }
            "name" | "rename" => {
                Some("a parameter is called what it is called in Rust; rename it there".to_owned())
            }
            "optional" | "required" => Some(
                "a parameter that may be left out has the type `Option<T>` or a `default = …`"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}
