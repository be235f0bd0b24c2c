//! Spans and paths of what we write between the user's tokens.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::{Path, Type};

/// Our own code, which the compiler reports at a place of the user's.
pub(super) fn at(user: Span) -> Span {
    Span::call_site().located_at(user)
}

/// A local variable that the user's expressions cannot see.
pub(super) fn local(name: &str, user: Span) -> Ident {
    Ident::new(name, Span::mixed_site().located_at(user))
}

/// The path of the runtime crate's part that is for macros.
pub(super) struct Private<'a> {
    pub(super) krate: Option<&'a Path>,
}

impl Private<'_> {
    /// The path, located at a place of the user's.
    pub(super) fn at(&self, user: Span) -> TokenStream {
        let krate = if let Some(path) = self.krate {
            path.to_token_stream()
        } else {
            quote!(::skills_engine)
        };
        let path = quote!(#krate::__private);
        path.into_iter()
            .map(|mut token| {
                // The user's own tokens keep their hygiene, without which `$crate` means nothing.
                token.set_span(token.span().located_at(user));
                token
            })
            .collect()
    }
}

/// The type of a parameter or result outside of the block and the method it was written in: `Self` is spelled out,
/// and every lifetime is `'static`.
pub(super) fn outside(ty: &Type, self_ty: &Path) -> TokenStream {
    rewrite(ty.to_token_stream(), &self_ty.to_token_stream(), true)
}

/// An expression outside of its block.
pub(super) fn expression_outside(expression: &syn::Expr, self_ty: &Path) -> TokenStream {
    rewrite(
        expression.to_token_stream(),
        &self_ty.to_token_stream(),
        false,
    )
}

/// A path outside of its type.
pub(super) fn path_outside(path: &Path, self_ty: &Ident) -> TokenStream {
    rewrite(path.to_token_stream(), &self_ty.to_token_stream(), false)
}

fn rewrite(tokens: TokenStream, self_ty: &TokenStream, replaces_lifetimes: bool) -> TokenStream {
    let mut out = TokenStream::new();
    let mut is_lifetime = false;
    for token in tokens {
        let after_quote = std::mem::take(&mut is_lifetime);
        match token {
            TokenTree::Ident(ident) if after_quote && replaces_lifetimes => {
                out.extend([TokenTree::Ident(Ident::new("static", ident.span()))]);
            }
            TokenTree::Ident(ident) if ident == "Self" => {
                let span = ident.span();
                out.extend(self_ty.clone().into_iter().map(|mut token| {
                    token.set_span(token.span().located_at(span));
                    token
                }));
            }
            TokenTree::Group(group) => {
                let inner = rewrite(group.stream(), self_ty, replaces_lifetimes);
                let mut rewritten = Group::new(group.delimiter(), inner);
                rewritten.set_span(group.span());
                out.extend([TokenTree::Group(rewritten)]);
            }
            TokenTree::Punct(punct) => {
                is_lifetime = punct.as_char() == '\'';
                out.extend([TokenTree::Punct(punct)]);
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) => out.extend([token]),
        }
    }
    out
}
