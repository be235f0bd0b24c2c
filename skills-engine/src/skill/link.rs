/// Links skill crates into this binary.
///
/// A dependency that is only listed in `Cargo.toml` is not linked, and its skills are then not found. Name each
/// skill crate once, in the binary or in a library it uses.
#[doc = ""]
#[doc = include_str!("../docs/skill-crates.md")]
#[macro_export]
macro_rules! link {
    ($($krate:ident),+ $(,)?) => {
        $(extern crate $krate as _;)+
    };
}
