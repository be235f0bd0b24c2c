use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::merge::{both, one_enum};

/// The members of a schema.
pub(super) type Keywords = Map<String, Value>;

/// Bytes of schema that inlining may write before everything becomes an open form.
pub(super) const MOST_BYTES: usize = 64 << 10;
/// Levels of schemas inside schemas before everything becomes an open form.
pub(super) const MOST_LEVELS: usize = 64;
/// Schemas looked at to find out what an open form is.
const MOST_LOOKED_AT: usize = 64;

/// A schema in the shape providers accept, its description still in parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Node {
    /// Everything but what `notes` adds to the description.
    pub(super) keywords: Keywords,
    /// Sentences that stay when a nearer description replaces that of the type, such as the docs of an enum.
    pub(super) notes: Vec<String>,
}

impl Node {
    fn new(keywords: Keywords) -> Self {
        Self {
            keywords,
            notes: Vec::new(),
        }
    }

    fn both(&mut self, other: Self) {
        both(&mut self.keywords, other.keywords);
        self.notes.extend(other.notes);
    }

    /// The schema, its description put together.
    pub(super) fn into_keywords(mut self) -> Keywords {
        if !self.notes.is_empty() {
            let mut description = match self.keywords.remove("description") {
                Some(Value::String(description)) => description,
                _ => String::new(),
            };
            for note in &self.notes {
                append_sentence(&mut description, note);
            }
            self.keywords
                .insert("description".to_owned(), description.into());
        }
        self.keywords
    }

    fn into_value(self) -> Value {
        Value::Object(self.into_keywords())
    }
}

/// Appends a sentence to a text, ending the text's own last sentence if its author did not.
pub(super) fn append_sentence(text: &mut String, sentence: &str) {
    text.truncate(text.trim_end().len());
    if text.ends_with(|last| !matches!(last, '.' | '!' | '?' | ':' | ';')) {
        text.push('.');
    }
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(sentence);
}

/// Normalizes a root schema, without the rules for the root of a tool's arguments.
pub(super) fn normalize(root: &Value) -> Node {
    let mut normalizer = Normalizer {
        root,
        inside: vec![root],
        spent: 0,
    };
    normalizer.node(root, 0)
}

struct Normalizer<'a> {
    root: &'a Value,
    /// The schemas that are being written, by reference; one of them met again is a recursion.
    inside: Vec<&'a Value>,
    spent: usize,
}

impl<'a> Normalizer<'a> {
    fn node(&mut self, schema: &'a Value, level: usize) -> Node {
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            // JSON Schema's `false`: nothing is valid.
            Value::Bool(false) => {
                return Node::new(Map::from_iter([("not".to_owned(), json!({}))]));
            }
            _ => return Node::default(),
        };
        self.spent += 2;
        if level >= MOST_LEVELS || self.spent >= MOST_BYTES {
            return self.open_form(schema);
        }
        let mut node = Node::default();
        for (keyword, value) in keywords {
            self.keyword(keyword, value, level, &mut node);
        }
        self.tuple(keywords, level, &mut node);
        if let Some(Value::String(reference)) = keywords.get("$ref") {
            let target = self.reference(reference, level);
            node.both(target);
        }
        for part in list(keywords.get("allOf")) {
            let part = self.node(part, level + 1);
            node.both(part);
        }
        for union in ["anyOf", "oneOf"] {
            if keywords.contains_key(union) {
                let alternatives = self.nodes(list(keywords.get(union)), level);
                let union = union_of(alternatives);
                node.both(union);
            }
        }
        node
    }

    fn value(&mut self, schema: &'a Value, level: usize) -> Value {
        self.node(schema, level + 1).into_value()
    }

    fn nodes(&mut self, schemas: impl Iterator<Item = &'a Value>, level: usize) -> Vec<Node> {
        schemas.map(|schema| self.node(schema, level + 1)).collect()
    }

    /// Takes over what one keyword says. Those not named here are left out: they only narrow, or only annotate.
    fn keyword(&mut self, keyword: &str, value: &'a Value, level: usize, node: &mut Node) {
        match (keyword, value) {
            ("items" | "additionalProperties", Value::Object(_)) => {
                let schema = self.value(value, level);
                node.keywords.insert(keyword.to_owned(), schema);
            }
            ("items", Value::Bool(true)) => {
                node.keywords.insert(keyword.to_owned(), json!({}));
            }
            ("additionalProperties", Value::Bool(_)) => {
                node.keywords
                    .entry(keyword)
                    .or_insert_with(|| value.clone());
            }
            ("patternProperties", Value::Object(patterns)) if !patterns.is_empty() => {
                let names: Vec<_> = patterns.keys().map(|name| format!("`{name}`")).collect();
                node.notes
                    .push(format!("Names match {}.", names.join(" or ")));
                let schema = union_of(self.nodes(patterns.values(), level)).into_value();
                node.keywords
                    .insert("additionalProperties".to_owned(), schema);
            }
            ("properties", Value::Object(properties)) => {
                let properties = properties
                    .iter()
                    .map(|(name, schema)| {
                        self.spent += name.len() + 4;
                        (name.clone(), self.value(schema, level))
                    })
                    .collect();
                node.keywords
                    .insert(keyword.to_owned(), Value::Object(properties));
            }
            _ => {
                if let Some((keyword, value)) = data(keyword, value, node) {
                    self.spent += keyword.len() + 4 + value.to_string().len();
                    node.keywords.insert(keyword.to_owned(), value);
                }
            }
        }
    }

    /// `prefixItems`, or the older list in `items`: an array whose items are any of the parts, the order in words.
    fn tuple(&mut self, keywords: &'a Keywords, level: usize, node: &mut Node) {
        let (parts, rest) = match (keywords.get("prefixItems"), keywords.get("items")) {
            (Some(Value::Array(parts)), rest) => (parts, rest.filter(|rest| rest.is_object())),
            (_, Some(Value::Array(parts))) => (parts, None),
            _ => return,
        };
        let Some(first) = parts.first() else {
            return;
        };
        let is_mixed = parts.iter().chain(rest).any(|part| part != first);
        let nodes = self.nodes(parts.iter().chain(rest), level);
        if is_mixed {
            let shown: Vec<_> = nodes.iter().take(parts.len()).map(shown_part).collect();
            let end = if rest.is_some() { ", then more" } else { "" };
            node.notes
                .push(format!("In this order: {}{end}.", shown.join(", ")));
        }
        node.keywords
            .insert("items".to_owned(), union_of(nodes).into_value());
    }

    fn reference(&mut self, reference: &str, level: usize) -> Node {
        let Some(target) = self.resolve(reference) else {
            return Node::default();
        };
        if self.inside.iter().any(|outer| std::ptr::eq(*outer, target)) {
            return self.open_form(target);
        }
        self.inside.push(target);
        let node = self.node(target, level + 1);
        self.inside.pop();
        node
    }

    /// The schema that a reference inside the root schema points to.
    fn resolve(&self, reference: &str) -> Option<&'a Value> {
        let pointer = reference.strip_prefix('#')?;
        self.root.pointer(&percent_decoded(pointer))
    }

    /// What ends a recursion: the description, and the types that a value can have.
    fn open_form(&mut self, schema: &'a Value) -> Node {
        let mut types = Vec::new();
        let mut budget = MOST_LOOKED_AT;
        self.types(schema, &mut budget, &mut types);
        let mut node = match types.as_slice() {
            [] => Node::new(open_type("object")),
            [ty] => Node::new(open_type(ty)),
            types => {
                let any = types.iter().map(|ty| json!(open_type(ty))).collect();
                Node::new(Map::from_iter([("anyOf".to_owned(), Value::Array(any))]))
            }
        };
        if let Some(Value::String(description)) = schema.get("description")
            && !description.trim().is_empty()
        {
            self.spent += description.len();
            node.keywords
                .insert("description".to_owned(), description.as_str().into());
        }
        node
    }

    /// Collects the types that a schema allows, without `null`, in the order met.
    fn types(&self, schema: &'a Value, budget: &mut usize, found: &mut Vec<&'a str>) {
        let Some(left) = budget.checked_sub(1) else {
            return;
        };
        *budget = left;
        let mut add = |ty: &'a str| {
            if ty != "null" && !found.contains(&ty) {
                found.push(ty);
            }
        };
        let Value::Object(keywords) = schema else {
            return;
        };
        match keywords.get("type") {
            Some(Value::String(ty)) => return add(ty),
            Some(Value::Array(types)) => {
                return types.iter().filter_map(Value::as_str).for_each(add);
            }
            _ => {}
        }
        if keywords.contains_key("properties") {
            return add("object");
        }
        keywords
            .get("const")
            .into_iter()
            .chain(list(keywords.get("enum")))
            .for_each(|value| add(type_of(value)));
        if let Some(Value::String(reference)) = keywords.get("$ref")
            && let Some(target) = self.resolve(reference)
        {
            self.types(target, budget, found);
        }
        for union in ["anyOf", "oneOf", "allOf"] {
            for schema in list(keywords.get(union)) {
                self.types(schema, budget, found);
            }
        }
    }
}

/// One of several schemas holds. `null` goes when there is another.
fn union_of(nodes: Vec<Node>) -> Node {
    let mut alternatives: Vec<Node> = Vec::with_capacity(nodes.len());
    let mut null = None;
    for node in nodes {
        if node.keywords.get("type").is_some_and(|ty| ty == "null") {
            null = Some(node);
        } else if !alternatives.contains(&node) {
            alternatives.push(node);
        }
    }
    match alternatives.len() {
        0 => null.unwrap_or_default(),
        1 => alternatives.pop().unwrap_or_default(),
        _ => {
            let alternatives: Vec<_> = alternatives.into_iter().map(Node::into_keywords).collect();
            if let Some((keywords, note)) = one_enum(&alternatives) {
                return Node {
                    keywords,
                    notes: note.into_iter().collect(),
                };
            }
            let any = alternatives.into_iter().map(Value::Object).collect();
            Node::new(Map::from_iter([("anyOf".to_owned(), Value::Array(any))]))
        }
    }
}

/// What a keyword becomes whose value is no schema.
fn data<'k>(keyword: &'k str, value: &Value, node: &mut Node) -> Option<(&'k str, Value)> {
    match (keyword, value) {
        ("type", Value::String(_) | Value::Array(_)) => Some((keyword, not_null_type(value)?)),
        ("enum", Value::Array(values)) if !values.is_empty() => Some(allowed_values(values, node)),
        ("const", value) => Some(allowed_values(std::slice::from_ref(value), node)),
        ("description", Value::String(text)) if text.trim().is_empty() => None,
        ("format", Value::String(name)) if is_numeric_format(name) => None,
        ("default" | "examples", Value::Null) => None,
        ("required", Value::Array(names)) if names.is_empty() => None,
        (
            "description" | "format" | "pattern" | "contentEncoding" | "contentMediaType",
            Value::String(_),
        )
        | ("required" | "examples", Value::Array(_))
        | ("default", _)
        | ("uniqueItems" | "deprecated" | "readOnly" | "writeOnly", Value::Bool(_))
        | (
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf"
            | "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
            | "maxProperties",
            Value::Number(_),
        ) => Some((keyword, value.clone())),
        _ => None,
    }
}

fn shown_part(node: &Node) -> String {
    let ty = match node.keywords.get("type") {
        Some(Value::String(ty)) => ty.as_str(),
        _ => "value",
    };
    match node.keywords.get("description") {
        Some(Value::String(text)) => {
            let words: Vec<_> = text.split_whitespace().collect();
            format!("{ty} ({})", words.join(" ").trim_end_matches('.'))
        }
        _ => ty.to_owned(),
    }
}

/// The type without `null`, unless that is all there is.
fn not_null_type(value: &Value) -> Option<Value> {
    let Value::Array(types) = value else {
        return Some(value.clone());
    };
    let mut others: Vec<_> = types.iter().filter(|ty| *ty != "null").cloned().collect();
    match others.len() {
        0 => types.first().cloned(),
        1 => others.pop(),
        _ => Some(Value::Array(others)),
    }
}

/// An `enum` or `const` as `enum`. A `null` among other values goes, one alone is the type `null`.
fn allowed_values(values: &[Value], node: &mut Node) -> (&'static str, Value) {
    let others: Vec<_> = values.iter().filter(|value| !value.is_null()).collect();
    let Some(first) = others.first() else {
        return ("type", "null".into());
    };
    let ty = type_of(first);
    if others.iter().all(|value| type_of(value) == ty) {
        node.keywords.entry("type").or_insert_with(|| ty.into());
    }
    ("enum", json!(others))
}

fn open_type(ty: &str) -> Keywords {
    let mut keywords = Map::from_iter([("type".to_owned(), ty.into())]);
    if ty == "array" {
        keywords.insert("items".to_owned(), json!({}));
    }
    keywords
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn is_numeric_format(name: &str) -> bool {
    let digits = name
        .strip_prefix("uint")
        .or_else(|| name.strip_prefix("int"))
        .or_else(|| name.strip_prefix("float"));
    matches!(name, "double" | "decimal" | "number")
        || digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn list(value: Option<&Value>) -> std::slice::Iter<'_, Value> {
    match value {
        Some(Value::Array(values)) => values.iter(),
        _ => [].iter(),
    }
}

/// A fragment of a URI, its `%XX` decoded; what is not valid stays as it is.
fn percent_decoded(fragment: &str) -> Cow<'_, str> {
    if !fragment.contains('%') {
        return fragment.into();
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = (byte == b'%')
            .then(|| std::str::from_utf8(after.get(..2)?).ok())
            .flatten();
        if let Some(decoded) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            bytes.push(decoded);
            rest = &after[2..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    match String::from_utf8(bytes) {
        Ok(decoded) => decoded.into(),
        Err(_) => fragment.into(),
    }
}
