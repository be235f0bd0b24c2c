use super::cut::cut_strings;
use crate::registry::{BuildError, Registry};
use crate::skill::{AttributeReader, Limits};

/// Brings the values that never change within the limits that live ones are under in each view; `keeps` leaves them
/// as long as they are, for a redactor to see them whole.
///
/// The error lists those that are too large even so: they would be so in every view.
pub(crate) fn bound_constants(
    registry: &mut Registry,
    limits: &Limits,
    keeps: bool,
) -> Result<(), BuildError> {
    let mut problems = Vec::new();
    let (skills, attributes) = (&registry.skills, &mut registry.attributes);
    for attribute in attributes {
        let Some(json) = attribute.reader.constant() else {
            continue;
        };
        let cut = cut_strings(json.as_bytes(), limits.max_string_length)
            .and_then(|cut| String::from_utf8(cut).ok());
        let length = cut.as_deref().unwrap_or(json).len();
        if length > limits.attribute {
            problems.push(format!(
                "attribute `{}` of skill `{}` has {length} bytes as JSON, and at most {} are shown; shorten it",
                attribute.name, skills[attribute.skill as usize].id, limits.attribute
            ));
        } else if let Some(cut) = cut.filter(|_| !keeps) {
            attribute.reader = AttributeReader::Constant(cut.into());
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(BuildError::new(problems))
    }
}
