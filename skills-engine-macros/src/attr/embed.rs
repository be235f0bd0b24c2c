use proc_macro2::{Span, TokenStream};
use syn::parse::{ParseStream, Parser as _};
use syn::{Error, Ident, LitStr, Path, Token};

use super::value;
use crate::errors::Errors;

/// What stands in `embed_skills!`.
pub(crate) struct EmbedInput {
    /// The path of the folder, below that of the crate.
    pub(crate) folder: LitStr,
    pub(crate) krate: Option<Path>,
}

/// Reads what stands in the macro of this name.
pub(crate) fn embed_input(
    macro_name: &str,
    tokens: TokenStream,
    errors: &mut Errors,
) -> Option<EmbedInput> {
    let parsed = (|input: ParseStream<'_>| parse(macro_name, input)).parse2(tokens);
    parsed.map_err(|err| errors.push(err)).ok()
}

fn parse(macro_name: &str, input: ParseStream<'_>) -> syn::Result<EmbedInput> {
    let no_folder = |span: Span| {
        let message = format!(
            "`{macro_name}!` takes the path of a folder below the crate's own, as a text; write `{macro_name}!(\"skills\")`"
        );
        Error::new(span, message)
    };
    let Ok(folder) = input.parse::<LitStr>() else {
        return Err(no_folder(input.span()));
    };
    if !folder.suffix().is_empty() {
        return Err(no_folder(folder.span()));
    }
    let mut krate = None;
    if !input.is_empty() {
        let more = |span: Span| {
            let message = format!(
                "`{macro_name}!` takes one folder, and no option but `crate = path`; write the macro again for another folder"
            );
            Error::new(span, message)
        };
        let comma = input.span();
        input
            .parse::<Option<Token![,]>>()?
            .ok_or_else(|| more(comma))?;
        if input.peek(Token![crate]) {
            let key = Ident::new("crate", input.parse::<Token![crate]>()?.span);
            krate = value::path(&key, input, "skills_engine")?;
            input.parse::<Option<Token![,]>>()?;
        }
        if !input.is_empty() {
            return Err(more(input.span()));
        }
    }
    Ok(EmbedInput { folder, krate })
}
