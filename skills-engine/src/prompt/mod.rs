//! How it is said: untrusted text inside a prompt.

mod escape;

pub use self::escape::{
    escape_attribute, escape_json_text, escape_line, escape_terminal, escape_text,
};
