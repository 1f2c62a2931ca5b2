//! Events in, events out: kinds that change, leave out or join notes and MIDI messages.
//!
//! | file | holds |
//! |---|---|
//! | `key_table.rs` | a number for each key of each MIDI channel |
//! | `transpose.rs` | `transpose` |
//! | `filter.rs` | `midi_filter` |
//! | `channel_map.rs` | `channel_map` |
//! | `merge.rs` | `merge` |
//! | `arpeggiator.rs` | `arpeggiator` |

mod arpeggiator;
mod channel_map;
mod filter;
mod key_table;
mod merge;
mod transpose;

use processor::Registry;

pub(crate) fn register(registry: &mut Registry) {
    registry.add(transpose::kind(), transpose::make);
    registry.add(filter::kind(), filter::make);
    registry.add(channel_map::kind(), channel_map::make);
    registry.add(merge::kind(), merge::make);
    registry.add(arpeggiator::kind(), arpeggiator::make);
}
