use serde_json::{Map, Number, Value};

use super::{Content, Node, Scalar};

/// A node as JSON, its plain scalars read by the core schema of YAML 1.2 (section 10.3.2 of its specification).
///
/// What JSON cannot say stays a text: infinities, numbers that are not numbers, integers beyond 64 bits. Keys are texts.
pub(crate) fn typed_json(node: &Node<'_>) -> Value {
    match &node.content {
        Content::Scalar(scalar) => typed_scalar(scalar),
        Content::Sequence(items) => items.iter().map(|item| typed_json(item)).collect(),
        Content::Mapping(entries) => {
            let mut object = Map::new();
            for entry in entries {
                let key = entry.key.source_text().into_owned();
                object.insert(key, typed_json(&entry.value));
            }
            Value::Object(object)
        }
    }
}

fn typed_scalar(scalar: &Scalar<'_>) -> Value {
    if scalar.is_null() {
        return Value::Null;
    }
    let number = (!scalar.is_text)
        .then(|| boolean(&scalar.text).or_else(|| number(&scalar.text).map(Value::Number)))
        .flatten();
    number.unwrap_or_else(|| Value::String(scalar.text.clone().into_owned()))
}

/// A boolean of the core schema.
fn boolean(text: &str) -> Option<Value> {
    match text {
        "true" | "True" | "TRUE" => Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => Some(Value::Bool(false)),
        _ => None,
    }
}

fn number(text: &str) -> Option<Number> {
    let first = text.bytes().next()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return None;
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let text = text.strip_prefix('+').unwrap_or(text);
        let signed = text.parse::<i64>().map(Number::from);
        return signed
            .or_else(|_| text.parse::<u64>().map(Number::from))
            .ok();
    }
    if !is_float(digits) {
        return None;
    }
    // What is too large is an infinity to Rust, and no number to JSON.
    Number::from_f64(text.parse().ok()?)
}

fn radix(digits: &str, radix: u32) -> Option<Number> {
    // Rust takes a sign, the core schema does not.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok().map(Number::from)
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let mantissa_is_number = match mantissa.split_once('.') {
        Some(("", fraction)) => is_number(fraction),
        Some((whole, fraction)) => is_number(whole) && (fraction.is_empty() || is_number(fraction)),
        None => is_number(mantissa),
    };
    let exponent_is_number = exponent
        .is_none_or(|exponent| is_number(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    mantissa_is_number && exponent_is_number
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::typed_json;
    use crate::source::folder::yaml::parse;

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        let rows: [(&str, Value); 40] = [
            ("12", json!(12)),
            ("-12", json!(-12)),
            ("+12", json!(12)),
            ("007", json!(7)),
            ("0o17", json!(15)),
            ("0o18", json!("0o18")),
            ("0x1F", json!(31)),
            ("0x+1", json!("0x+1")),
            ("-0x1F", json!("-0x1F")),
            ("0b1", json!("0b1")),
            ("1_000", json!("1_000")),
            ("18446744073709551615", json!(u64::MAX)),
            ("18446744073709551616", json!("18446744073709551616")),
            ("-9223372036854775809", json!("-9223372036854775809")),
            ("1.10", json!(1.1)),
            ("1.", json!(1.0)),
            (".5", json!(0.5)),
            ("-.5", json!(-0.5)),
            ("+1e3", json!(1000.0)),
            ("1.5E-2", json!(0.015)),
            ("1e999", json!("1e999")),
            ("1e", json!("1e")),
            (".", json!(".")),
            ("-", json!("-")),
            (".inf", json!(".inf")),
            (".NaN", json!(".NaN")),
            ("inf", json!("inf")),
            ("true", json!(true)),
            ("False", json!(false)),
            ("TRUE", json!(true)),
            ("yes", json!("yes")),
            ("tRUE", json!("tRUE")),
            ("~", Value::Null),
            ("Null", Value::Null),
            ("nULL", json!("nULL")),
            ("2026-03-01", json!("2026-03-01")),
            ("\"12\"", json!("12")),
            ("'true'", json!("true")),
            ("!!str 12", json!("12")),
            ("!!int \"12\"", json!(12)),
        ];
        for (source, expected) in rows {
            // A lone dash is a sequence where a value begins a line; in brackets it is not YAML at all.
            let source = if source == "-" { "\"-\"" } else { source };
            let header = format!("key: {source}\n");
            let parsed = parse(&header).expect(source);
            let root = parsed.root.expect(source);
            assert_eq!(typed_json(&root), json!({ "key": expected }), "{source}");
        }
    }

    #[test]
    fn keys_and_nested_values_are_typed_too() {
        let parsed = parse("1: [2, {x: ~, 'y': .5}]\n? [a, b]\n: c\nempty:\n").expect("yaml");
        let expected = json!({ "1": [2, { "x": null, "y": 0.5 }], "[a, b]": "c", "empty": null });
        assert_eq!(typed_json(&parsed.root.expect("a root")), expected);
    }
}
