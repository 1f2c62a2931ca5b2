//! Ids of notes: the same in every run, and different for two nodes whose notes meet at one input.

/// The notes that one node begins. Two nodes with different names have different ids, as far as 21 bits tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoteIds(u32);

/// Bits of an id that number the notes of one node: 16 channels of 128 keys, or a count.
const OWN_BITS: u32 = 11;

impl NoteIds {
    /// The ids of the node called `name`.
    pub(crate) fn of_node(name: &str) -> Self {
        // FNV-1a, folded to the bits that are left.
        let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
        Self((hash ^ hash >> (32 - OWN_BITS)) << OWN_BITS)
    }

    /// The id with this number; numbers that differ by 2048 have the same.
    ///
    /// Real-time: hot.
    pub(crate) fn id(self, number: u32) -> u32 {
        self.0 | (number % (1 << OWN_BITS))
    }

    /// The id of a key on a MIDI channel.
    ///
    /// Real-time: hot.
    pub(crate) fn of_key(self, channel: usize, key: usize) -> u32 {
        self.id((channel << 7 | key) as u32)
    }
}
