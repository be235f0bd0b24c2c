//! What the model may do: names on the wire.

mod wire;

pub use self::wire::{WireCollision, WireNames, wire_name};
