/// Links skill crates into this binary.
///
/// A dependency that is only listed in `Cargo.toml` is not linked, and its skills are then not found. Name each
/// skill crate once, in the binary or in a library it uses.
///
/// # Examples
///
/// ```
/// # macro_rules! binary { ($($rest:tt)*) => {} }
/// # binary! {
/// skills_engine::link!(helpdesk_skill, billing_skill);
/// # }
/// // Any crate will do to show that it links.
/// skills_engine::link!(serde, serde_json);
/// ```
#[macro_export]
macro_rules! link {
    ($($krate:ident),+ $(,)?) => {
        $(extern crate $krate as _;)+
    };
}
