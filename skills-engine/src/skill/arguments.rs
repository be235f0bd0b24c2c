use std::fmt;

use serde::de::value::Error as ValueError;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Code, Fault, ParamEntry};

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
/// Values stay JSON text until they are taken by type, so that no tree is built on the way.
#[derive(Debug)]
pub struct Arguments<'a> {
    parameters: &'static [ParamEntry],
    values: Vec<Option<&'a RawValue>>,
    problems: Vec<String>,
}

impl<'a> Arguments<'a> {
    /// Splits a JSON object into the values of `parameters`. Empty text counts as `{}`: some models send that.
    #[must_use]
    pub fn parse(json: &'a [u8], parameters: &'static [ParamEntry]) -> Self {
        let mut arguments = Self {
            parameters,
            values: vec![None; parameters.len()],
            problems: Vec::new(),
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
            arguments.problems.push(if err.is_data() {
                format!(
                    "the arguments must be a JSON object with the fields {}",
                    names(parameters)
                )
            } else {
                format!("the arguments are not valid JSON ({err})")
            });
            arguments.values.fill(None);
        }
        arguments
    }

    /// Takes the value at `index`; `None` when it is missing or wrong, which is then noted.
    pub fn required<T: Argument>(&mut self, index: usize) -> Option<T> {
        let name = self.parameters[index].name;
        let Some(value) = self.values[index] else {
            // As serde does for a missing field: a type that takes absence, such as `Option`, gets it.
            if let Ok(value) = T::deserialize(Missing) {
                return Some(value);
            }
            self.problems.push(format!("`{name}` is missing"));
            return None;
        };
        self.decode(index, value)
    }

    /// Takes the value at `index`, or makes one when it was not given.
    pub fn defaulted<T: Argument>(
        &mut self,
        index: usize,
        default: impl FnOnce() -> T,
    ) -> Option<T> {
        match self.values[index] {
            Some(value) => self.decode(index, value),
            None => Some(default()),
        }
    }

    fn decode<T: Argument>(&mut self, index: usize, value: &RawValue) -> Option<T> {
        match serde_json::from_str(value.get()) {
            Ok(value) => Some(value),
            Err(err) => {
                let message = cut_serde_position(&err.to_string());
                self.problems
                    .push(format!("`{}`: {message}", self.parameters[index].name));
                None
            }
        }
    }

    /// Ends the taking.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` naming everything that was wrong.
    pub fn finish(mut self) -> Result<(), Fault> {
        if self.problems.is_empty() {
            return Ok(());
        }
        const MOST: usize = 12;
        if self.problems.len() > MOST {
            let more = self.problems.len() - MOST;
            self.problems.truncate(MOST);
            self.problems.push(format!("and {more} more"));
        }
        let message = self.problems.join("; ");
        Err(Fault::new(
            Code::InvalidArguments,
            format!("{message}. Correct the arguments and call again"),
        ))
    }
}

fn names(parameters: &[ParamEntry]) -> String {
    let names: Vec<_> = parameters
        .iter()
        .map(|parameter| format!("`{}`", parameter.name))
        .collect();
    if names.is_empty() {
        "(none)".to_owned()
    } else {
        names.join(", ")
    }
}

/// serde_json ends its messages with a position inside the text it was given, which says nothing to a model.
pub(crate) fn cut_serde_position(message: &str) -> String {
    let end = message.rfind(" at line ").unwrap_or(message.len());
    message[..end].chars().take(300).collect()
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
        } = self.arguments;
        while let Some(key) = map.next_key::<std::borrow::Cow<'a, str>>()? {
            let value = map.next_value::<&'a RawValue>()?;
            match parameters
                .iter()
                .position(|parameter| parameter.name == key)
            {
                Some(index) if values[index].is_none() => values[index] = Some(value),
                Some(_) => problems.push(format!("`{}` is given twice", shown(&key))),
                None if problems.len() < 1_000 => {
                    problems.push(format!(
                        "`{}` is not a parameter; use {}",
                        shown(&key),
                        names(parameters)
                    ));
                }
                None => {}
            }
        }
        Ok(())
    }
}

fn shown(key: &str) -> String {
    key.chars().take(64).flat_map(char::escape_debug).collect()
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
