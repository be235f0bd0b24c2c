use std::fmt::Write as _;

use serde_json::Value;

/// Cuts every string of a JSON text that has more than `most` characters, and marks the cut; `None` when there is none.
pub(crate) fn cut_strings(json: &[u8], most: usize) -> Option<Vec<u8>> {
    // A string of more characters than that cannot hide in a text of fewer bytes.
    if json.len() <= most {
        return None;
    }
    let mut value: Value = serde_json::from_slice(json).ok()?;
    if !cut_value(&mut value, most) {
        return None;
    }
    serde_json::to_vec(&value).ok()
}

fn cut_value(value: &mut Value, most: usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => cut_text(text, most),
        Value::Array(items) => items
            .iter_mut()
            .fold(false, |cut, item| cut_value(item, most) | cut),
        Value::Object(fields) => fields
            .values_mut()
            .fold(false, |cut, field| cut_value(field, most) | cut),
    }
}

fn cut_text(text: &mut String, most: usize) -> bool {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return false;
    };
    let dropped = text[end..].chars().count();
    text.truncate(end);
    // Writing to a string does not fail.
    let _ = write!(text, "… [cut: {dropped} more characters]");
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_cut_between_characters_and_marked() {
        let json = serde_json::to_vec(&serde_json::json!({ "a": ["é".repeat(30), "short"] }))
            .expect("a value");
        let cut = cut_strings(&json, 10).expect("something to cut");
        let value: Value = serde_json::from_slice(&cut).expect("valid JSON");
        assert_eq!(
            value["a"][0],
            format!("{}… [cut: 20 more characters]", "é".repeat(10))
        );
        assert_eq!(value["a"][1], "short");
    }

    #[test]
    fn what_fits_is_left_alone() {
        assert_eq!(cut_strings(b"[\"0123456789\"]", 10), None);
        assert_eq!(cut_strings(b"\"ab\"", 2_048), None);
    }

    #[test]
    fn numbers_keep_their_digits() {
        let json = format!("[18446744073709551615,\"{}\"]", "x".repeat(40));
        let cut = cut_strings(json.as_bytes(), 20).expect("something to cut");
        assert!(cut.starts_with(b"[18446744073709551615,"));
    }
}
