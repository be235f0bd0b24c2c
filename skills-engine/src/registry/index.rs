use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use super::{RegisteredSkill, SkillIndex};

/// Finds skills by the very `Arc` that holds their id, as sessions mostly carry it: a comparison of addresses.
#[derive(Debug, Default)]
pub(super) struct AddressIndex {
    by_address: HashMap<usize, SkillIndex, BuildHasherDefault<AddressHasher>>,
}

impl AddressIndex {
    /// The skills stay alive as long as the registry, and with them the addresses.
    pub(super) fn new(skills: &[RegisteredSkill]) -> Self {
        let by_address = (0..)
            .zip(skills)
            .map(|(index, skill)| (address(&skill.id), index))
            .collect();
        Self { by_address }
    }

    pub(super) fn find(&self, id: &Arc<str>) -> Option<SkillIndex> {
        self.by_address.get(&address(id)).copied()
    }
}

fn address(id: &Arc<str>) -> usize {
    Arc::as_ptr(id).cast::<u8>().addr()
}

/// Spreads addresses, which nobody outside chooses, over the table.
#[derive(Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    fn write_usize(&mut self, address: usize) {
        // The low bits of an address say only how it is aligned; the product carries the others up, and the table
        // looks at both ends.
        let spread = (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = spread ^ (spread >> 32);
    }
}
