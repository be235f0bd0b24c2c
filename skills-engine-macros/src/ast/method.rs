use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::{FnArg, Ident, ImplItemFn, ReceiverKind, ReturnType, Signature, Type};

use super::Parameter;
use super::parameter::plain;
use crate::attr::{Text, doc_of, last_segment};
use crate::errors::Errors;

/// A method under one of our attributes.
#[derive(Clone)]
pub(crate) struct Method {
    pub(crate) ident: Ident,
    pub(crate) signature: Signature,
    pub(crate) receiver: Receiver,
    pub(crate) parameters: Vec<Parameter>,
    /// `None` is `()`.
    pub(crate) output: Option<Type>,
    pub(crate) is_async: bool,
    pub(crate) doc: Option<Text>,
}

/// How a method takes its skill.
#[derive(Clone, Copy)]
pub(crate) enum Receiver {
    /// `&self`.
    Reference,
    /// `self: Arc<Self>`.
    Shared,
    /// `self: &Arc<Self>`.
    SharedReference,
    /// `&mut self`.
    Mutable(Span),
    /// `self`.
    Value(Span),
    /// `self: Box<Self>` and the like.
    Other(Span),
    Missing,
}

impl Method {
    /// Models the method, and removes what is ours from its parameters.
    pub(crate) fn take(function: &mut ImplItemFn, errors: &mut Errors) -> Self {
        let mut receiver = Receiver::Missing;
        let mut parameters = Vec::new();
        for input in &mut function.sig.inputs {
            match input {
                FnArg::Receiver(own) => receiver = Receiver::of(own),
                FnArg::Typed(typed) => parameters.push(Parameter::take(typed, errors)),
            }
        }
        let signature = function.sig.clone();
        Self {
            ident: signature.ident.clone(),
            receiver,
            parameters,
            output: match &signature.output {
                ReturnType::Default => None,
                ReturnType::Type(_, ty) => Some(plain(ty).clone()),
            },
            is_async: signature.asyncness.is_some(),
            doc: doc_of(&function.attrs),
            signature,
        }
    }

    /// The name in Rust, without `r#`.
    pub(crate) fn name(&self) -> String {
        syn::ext::IdentExt::unraw(&self.ident).to_string()
    }
}

impl Receiver {
    fn of(receiver: &syn::Receiver) -> Self {
        let span = receiver.span();
        match &receiver.kind {
            ReceiverKind::Value => Self::Value(span),
            ReceiverKind::Reference(_, _, Some(_)) => Self::Mutable(span),
            ReceiverKind::Reference(_, _, None) => Self::Reference,
            ReceiverKind::Typed(_, ty) => Self::typed(plain(ty), span),
            _ => Self::Other(span),
        }
    }

    fn typed(ty: &Type, span: Span) -> Self {
        match ty {
            Type::Reference(reference) => match plain(&reference.elem) {
                _ if reference.mutability.is_some() => Self::Mutable(span),
                inner if type_name(inner) == "Arc" => Self::SharedReference,
                inner if type_name(inner) == "Self" => Self::Reference,
                _ => Self::Other(span),
            },
            _ => match type_name(ty).as_str() {
                "Box" | "Rc" | "Pin" => Self::Other(span),
                "Self" => Self::Value(span),
                // Also an alias of `Arc<Self>`; rustc speaks up when it is something else.
                _ => Self::Shared,
            },
        }
    }
}

fn type_name(ty: &Type) -> String {
    match ty {
        Type::Path(path) => last_segment(&path.path),
        _ => String::new(),
    }
}
