use std::fmt;

use serde::de::value::Error as ValueError;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::text::{nearest, shown, shown_ends};
use super::{Code, Fault, ParamEntry};

/// Problems that one message names; more are counted.
const MOST_PROBLEMS: usize = 12;
/// Characters of one problem's text.
const MOST_CHARACTERS: usize = 300;
/// Characters of a name that a model made up.
const MOST_NAME_CHARACTERS: usize = 64;

/// A type that can be a parameter of a tool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a skill tool",
    note = "derive `serde::Deserialize` and `schemars::JsonSchema` for it; a context parameter is written `&ToolContext`"
)]
pub trait Argument: DeserializeOwned + schemars::JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + schemars::JsonSchema> Argument for T {}

/// The arguments of one call, taken apart by name, with all that is wrong about them.
///
/// Values stay JSON text until they are taken by type, so that no tree is built on the way. `Debug` leaves them out: some
/// may be sensitive.
pub struct Arguments<'a> {
    parameters: &'static [ParamEntry],
    values: Vec<Option<&'a RawValue>>,
    /// Whether the text was no JSON object, so that nothing can be said of single values.
    is_broken: bool,
    problems: Problems,
    unknown: Problems,
}

impl fmt::Debug for Arguments<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = self.parameters.iter().zip(&self.values);
        let names = given.filter(|(_, value)| value.is_some());
        formatter
            .debug_list()
            .entries(names.map(|(parameter, _)| parameter.name))
            .finish()
    }
}

/// The first of the things that are wrong, and how many more there are.
#[derive(Debug, Default)]
struct Problems {
    texts: Vec<String>,
    more: usize,
}

impl Problems {
    fn add(&mut self, text: impl FnOnce() -> String) {
        if self.texts.len() < MOST_PROBLEMS {
            self.texts.push(text());
        } else {
            self.more += 1;
        }
    }
}

impl<'a> Arguments<'a> {
    /// Splits a JSON object into the values of `parameters`. Empty text counts as `{}`: some models send that.
    #[must_use]
    pub fn parse(json: &'a [u8], parameters: &'static [ParamEntry]) -> Self {
        let mut arguments = Self {
            parameters,
            values: vec![None; parameters.len()],
            is_broken: false,
            problems: Problems::default(),
            unknown: Problems::default(),
        };
        if json.trim_ascii().is_empty() {
            return arguments;
        }
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        let parsed = deserializer
            .deserialize_map(ObjectVisitor {
                arguments: &mut arguments,
            })
            .and_then(|()| deserializer.end());
        if let Err(err) = parsed {
            arguments.is_broken = true;
            arguments.unknown = Problems::default();
            arguments.problems = Problems::default();
            arguments.problems.add(|| {
                if err.is_data() {
                    format!(
                        "the arguments must be one JSON object. {}",
                        parameter_names(parameters)
                    )
                } else {
                    let err = shown(&err.to_string(), MOST_CHARACTERS);
                    format!("the arguments are not valid JSON: {err}")
                }
            });
        }
        arguments
    }

    /// Takes the value at `index`; `None` when it is missing or wrong, which is then noted.
    ///
    /// A type that takes absence, as `Option` does, is given it.
    pub fn required<T: Argument>(&mut self, index: usize) -> Option<T> {
        if self.is_broken {
            return None;
        }
        let Some(value) = self.values[index] else {
            // As serde does for a missing field.
            if let Ok(value) = T::deserialize(Missing) {
                return Some(value);
            }
            let name = self.parameters[index].name;
            self.problems.add(|| format!("`{name}` is missing"));
            return None;
        };
        self.decode(index, value)
    }

    /// Takes the value at `index`, or makes one when it was not given, or given as a `null` that its type does not
    /// take: some models send `null` for what they leave out.
    pub fn defaulted<T: Argument>(
        &mut self,
        index: usize,
        default: impl FnOnce() -> T,
    ) -> Option<T> {
        if self.is_broken {
            return None;
        }
        match self.values[index] {
            None => Some(default()),
            Some(value) if value.get() == "null" => {
                Some(serde_json::from_str("null").unwrap_or_else(|_| default()))
            }
            Some(value) => self.decode(index, value),
        }
    }

    fn decode<T: Argument>(&mut self, index: usize, value: &RawValue) -> Option<T> {
        match serde_json::from_str(value.get()) {
            Ok(value) => Some(value),
            Err(err) => {
                let ParamEntry {
                    name, sensitive, ..
                } = self.parameters[index];
                self.problems.add(|| {
                    // The text of an error quotes what was received.
                    if sensitive {
                        return format!("`{name}`: the value, which is sensitive, does not fit");
                    }
                    format!("`{name}`: {}", cut_serde_position(&err.to_string()))
                });
                None
            }
        }
    }

    /// Ends the taking.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` naming everything that was wrong, up to a dozen things.
    pub fn finish(self) -> Result<(), Fault> {
        let Problems { mut texts, more } = self.problems;
        if texts.is_empty() && self.unknown.texts.is_empty() {
            return Ok(());
        }
        let names_help = !self.unknown.texts.is_empty();
        let mut more = more + self.unknown.more;
        texts.extend(self.unknown.texts);
        more += texts.len().saturating_sub(MOST_PROBLEMS);
        texts.truncate(MOST_PROBLEMS);
        if more > 0 {
            texts.push(format!("and {more} more"));
        }
        let mut message = texts.join("; ");
        if names_help {
            message.push_str(". ");
            message.push_str(&parameter_names(self.parameters));
        }
        Err(invalid(&message))
    }
}

/// Decodes arguments that are one value, such as a struct. Empty text counts as `{}`.
///
/// # Errors
///
/// `invalid_arguments` naming the first thing that is wrong.
///
/// With a `guard`, which holds the names of all parameters, the error quotes nothing of what was received.
pub(crate) fn decode_whole<A: DeserializeOwned>(
    json: &[u8],
    guard: Option<&[String]>,
) -> Result<A, Fault> {
    let json = match json.trim_ascii() {
        b"" => b"{}",
        json => json,
    };
    let decoded = if json.starts_with(b"{") {
        serde_json::from_slice(json)
    } else {
        // serde takes an array for a struct, in the order of its fields.
        match serde_json::from_slice::<IgnoredAny>(json) {
            Ok(_) => return Err(invalid("the arguments must be one JSON object")),
            Err(err) => Err(err),
        }
    };
    decoded.map_err(|err| {
        let message = err.to_string();
        if err.is_data() {
            let message = cut_serde_position(&message);
            match guard {
                Some(known) if !is_missing_field(&message, known) => {
                    invalid("a value does not fit; it may be sensitive, so it is not shown")
                }
                Some(_) | None => invalid(&message),
            }
        } else {
            let message = shown(&message, MOST_CHARACTERS);
            invalid(&format!("the arguments are not valid JSON: {message}"))
        }
    })
}

/// Whether a message says that one of the `known` fields is missing, and nothing else.
fn is_missing_field(message: &str, known: &[String]) -> bool {
    let name = message
        .strip_prefix("missing field `")
        .and_then(|rest| rest.strip_suffix('`'));
    name.is_some_and(|name| known.iter().any(|known| known == name))
}

/// Refuses arguments whose names are not among `known`: serde alone drops them without a word.
pub(crate) fn check_names(json: &[u8], known: &[String]) -> Result<(), Fault> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let unknown = deserializer
        .deserialize_map(FirstUnknown { known })
        .and_then(|unknown| deserializer.end().map(|()| unknown));
    // Where it fails, decoding tells what is wrong.
    let Ok(Some(name)) = unknown else {
        return Ok(());
    };
    let made_up = shown(&name, MOST_NAME_CHARACTERS);
    Err(invalid(
        &match nearest(&name, known.iter().map(String::as_str)) {
            Some(meant) => format!("`{made_up}` is not a parameter (did you mean `{meant}`?)"),
            None => format!("`{made_up}` is not a parameter"),
        },
    ))
}

/// Finds the first name in an object that is not known, without a look at the values.
struct FirstUnknown<'b> {
    known: &'b [String],
}

impl<'de> Visitor<'de> for FirstUnknown<'_> {
    type Value = Option<String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<String>, A::Error> {
        let mut first = None;
        while let Some(unknown) = map.next_key_seed(UnknownName(self.known))? {
            map.next_value::<IgnoredAny>()?;
            first = first.or(unknown);
        }
        Ok(first)
    }
}

/// A name, when it is not among those known; nothing is allocated for one that is.
struct UnknownName<'b>(&'b [String]);

impl<'de> DeserializeSeed<'de> for UnknownName<'_> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Option<String>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for UnknownName<'_> {
    type Value = Option<String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a parameter")
    }

    fn visit_str<E>(self, name: &str) -> Result<Option<String>, E> {
        let is_known = self.0.iter().any(|known| known == name);
        Ok((!is_known).then(|| name.to_owned()))
    }
}

fn invalid(message: &str) -> Fault {
    Fault::new(
        Code::InvalidArguments,
        format!("{message}. Correct the arguments and call again"),
    )
}

/// A sentence, without its full stop, that names the parameters there are.
fn parameter_names(parameters: &[ParamEntry]) -> String {
    const MOST_NAMES: usize = 40;
    let mut names: Vec<_> = parameters
        .iter()
        .take(MOST_NAMES)
        .map(|parameter| format!("`{}`", parameter.name))
        .collect();
    if parameters.len() > MOST_NAMES {
        names.push(format!("and {} more", parameters.len() - MOST_NAMES));
    }
    match names.as_slice() {
        [] => "The tool takes no parameters: send `{}`".to_owned(),
        [name] => format!("The only parameter is {name}"),
        names => format!("The parameters are {}", names.join(", ")),
    }
}

/// A message of `serde_json` on one line, without the position in a text the model never wrote as such.
pub(crate) fn cut_serde_position(message: &str) -> String {
    let end = message
        .rfind(" at line ")
        .filter(|start| is_position(&message[start + " at line ".len()..]))
        .unwrap_or(message.len());
    shown_ends(&message[..end], MOST_CHARACTERS)
}

/// Whether a text is `1 column 2`.
fn is_position(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once(" column ")
        .is_some_and(|(line, column)| is_number(line) && is_number(column))
}

struct ObjectVisitor<'b, 'a> {
    arguments: &'b mut Arguments<'a>,
}

impl<'a> Visitor<'a> for ObjectVisitor<'_, 'a> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        let Arguments {
            parameters,
            values,
            problems,
            unknown,
            is_broken: _,
        } = self.arguments;
        while let Some(index) = map.next_key_seed(NameSeed {
            parameters,
            unknown,
        })? {
            let value = map.next_value::<&'a RawValue>()?;
            let Some(index) = index else {
                continue;
            };
            if values[index].is_some() {
                let name = parameters[index].name;
                problems.add(|| format!("`{name}` is given twice"));
            }
            values[index] = Some(value);
        }
        Ok(())
    }
}

/// Finds the index of a parameter by its name, without allocating; notes a name that there is not.
struct NameSeed<'b> {
    parameters: &'static [ParamEntry],
    unknown: &'b mut Problems,
}

impl<'de> DeserializeSeed<'de> for NameSeed<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<usize>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for NameSeed<'_> {
    type Value = Option<usize>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a parameter")
    }

    fn visit_str<E>(self, name: &str) -> Result<Option<usize>, E> {
        let names = || self.parameters.iter().map(|parameter| parameter.name);
        let index = names().position(|known| known == name);
        if index.is_none() {
            self.unknown.add(|| {
                let made_up = shown(name, MOST_NAME_CHARACTERS);
                match nearest(name, names()) {
                    Some(meant) => {
                        format!("`{made_up}` is not a parameter (did you mean `{meant}`?)")
                    }
                    None => format!("`{made_up}` is not a parameter"),
                }
            });
        }
        Ok(index)
    }
}

/// Deserializes absence: `None` for an `Option`, an error for anything else.
struct Missing;

impl<'de> Deserializer<'de> for Missing {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, ValueError> {
        Err(serde::de::Error::custom("missing"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_none()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests;
