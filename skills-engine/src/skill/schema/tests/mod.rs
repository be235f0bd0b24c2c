mod arguments;
mod check;
mod random;
mod types;
mod values;

fn parsed(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("a schema is JSON")
}
