use std::env;
use std::path::Path;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::glue::{Private, at};
use super::parts::place;
use crate::ast::{Bounds, EmbeddedFolder, EmbeddedRoot};
use crate::attr::{EmbedInput, embed_input};
use crate::errors::Errors;

/// `embed_skills!`: an item that leaves the folder behind in the binary.
pub(crate) fn linked(tokens: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some((input, root)) = read("embed_skills", tokens, &mut errors) else {
        return errors.finish().unwrap_or_default();
    };
    let span = at(input.folder.span());
    let private = private(&input);
    let root = tokens_of(&root, &private, &input);
    quote_spanned! {span=>
        const _: () = {
            #private::inventory::submit! { #root }
        };
    }
}

/// `embedded_skills!`: an expression that is the folder as a source.
pub(crate) fn value(tokens: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some((input, root)) = read("embedded_skills", tokens, &mut errors) else {
        let errors = errors.finish();
        return quote!({ #errors });
    };
    let span = at(input.folder.span());
    let private = private(&input);
    let root = tokens_of(&root, &private, &input);
    quote_spanned! {span=>
        {
            static __ROOT: #private::EmbeddedRoot = #root;
            #private::EmbeddedSkills::new(&__ROOT)
        }
    }
}

fn read(
    macro_name: &str,
    tokens: TokenStream,
    errors: &mut Errors,
) -> Option<(EmbedInput, EmbeddedRoot)> {
    let input = embed_input(macro_name, tokens, errors)?;
    let span = input.folder.span();
    let Some(crate_folder) = env::var_os("CARGO_MANIFEST_DIR") else {
        errors.add(
            span,
            "the folder of the crate is not known, since `CARGO_MANIFEST_DIR` is not set; build with cargo",
        );
        return None;
    };
    let path = input.folder.value();
    match EmbeddedRoot::read(Path::new(&crate_folder), &path, Bounds::default()) {
        Ok(root) => Some((input, root)),
        Err(problems) => {
            for problem in problems {
                errors.add(span, problem);
            }
            None
        }
    }
}

fn private(input: &EmbedInput) -> TokenStream {
    let source = Private {
        krate: input.krate.as_ref(),
    };
    source.at(input.folder.span())
}

/// The folder as a constant expression.
fn tokens_of(root: &EmbeddedRoot, private: &TokenStream, input: &EmbedInput) -> TokenStream {
    let path = &root.path;
    let folders = root
        .folders
        .iter()
        .map(|folder| folder_tokens(root, folder, private));
    let too_deep = root
        .too_deep
        .iter()
        .map(|(path, count)| quote!((#path, #count)));
    let place = place(private);
    quote_spanned! {at(input.folder.span())=>
        #private::EmbeddedRoot {
            path: #path,
            origin: #private::Origin::new(
                ::core::env!("CARGO_PKG_NAME"),
                ::core::env!("CARGO_PKG_VERSION"),
                "",
                #place,
            ),
            folders: &[#(#folders),*],
            too_deep: &[#(#too_deep),*],
        }
    }
}

fn folder_tokens(
    root: &EmbeddedRoot,
    folder: &EmbeddedFolder,
    private: &TokenStream,
) -> TokenStream {
    let EmbeddedFolder {
        path,
        main_name,
        has_main,
        files,
        is_cut,
    } = folder;
    // The place of the crate is no part of the tokens, so that they are the same wherever it is built.
    let bytes = |name: &str| {
        let slash = if path.is_empty() { "" } else { "/" };
        let below = format!("/{}{slash}{path}/{name}", root.path);
        quote!(::core::include_bytes!(
            ::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), #below)
        ))
    };
    let main = if *has_main {
        let bytes = bytes(main_name);
        quote!(::core::option::Option::Some(#bytes))
    } else {
        quote!(::core::option::Option::None)
    };
    let files = files.iter().map(|file| {
        let bytes = bytes(&file.path);
        let (path, is_executable) = (&file.path, file.is_executable);
        quote! {
            #private::EmbeddedFile {
                path: #path,
                bytes: #bytes,
                is_executable: #is_executable,
            }
        }
    });
    quote! {
        #private::EmbeddedFolder {
            path: #path,
            main_name: #main_name,
            main: #main,
            files: &[#(#files),*],
            is_cut: #is_cut,
        }
    }
}
