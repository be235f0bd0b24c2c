//! What skills write into the audit trail themselves.

use std::io;

use serde::Serialize;

use super::{Actor, Code, Fault};

/// Bytes of one event's data, as JSON text.
const MOST_DATA: usize = 4_096;
/// Characters of an event's name.
const MOST_NAME: usize = 64;
/// Events of one call, or of one attribute in a turn.
pub(super) const MOST_NOTES: u32 = 64;

/// What of a skill writes, by its position in the turn's registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Author {
    Tool(u32),
    Attribute(u32),
    /// The hooks of a skill, by its position.
    Hooks(u32),
}

/// Where a turn's skills write their own events; implemented by the engine.
pub(crate) trait Notebook: Send + Sync {
    /// Writes an event down. `event` is a legal name and `data` JSON text within its limit.
    fn note(&self, author: Author, actor: Actor, event: &str, data: String) -> Result<(), Fault>;
}

/// The data of an event as JSON text, once its name is checked.
pub(super) fn checked_data<T: Serialize + ?Sized>(event: &str, data: &T) -> Result<String, Fault> {
    let is_legal = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'.' | b'-')
    };
    if event.is_empty() || event.len() > MOST_NAME || !event.bytes().all(is_legal) {
        return Err(Fault::new(
            Code::InvalidArguments,
            "the name of an event is not `[a-z0-9_.-]{1,64}`. Choose another one",
        ));
    }
    let mut bounded = Bounded(Vec::new());
    if let Err(err) = serde_json::to_writer(&mut bounded, data) {
        return Err(if err.is_io() {
            too_long()
        } else {
            Fault::new(
                Code::InvalidArguments,
                format!("the data of the event `{event}` cannot be written as JSON"),
            )
        });
    }
    // serde_json writes UTF-8 and nothing else.
    Ok(String::from_utf8(bounded.0).unwrap_or_default())
}

/// Refuses data that is too long.
pub(crate) fn check_data(json: &str) -> Result<(), Fault> {
    if json.len() > MOST_DATA {
        return Err(too_long());
    }
    Ok(())
}

fn too_long() -> Fault {
    Fault::new(
        Code::LimitExceeded,
        format!("the data of an event has at most {MOST_DATA} bytes as JSON. Write less"),
    )
}

/// Says that one call, or one attribute, has written too much.
pub(super) fn too_many() -> Fault {
    Fault::new(
        Code::LimitExceeded,
        format!(
            "a call writes at most {MOST_NOTES} events, and an attribute as many in a turn. Write one that sums them up"
        ),
    )
}

/// Takes no more than an event may have.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MOST_DATA {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
