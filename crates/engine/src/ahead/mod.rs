//! Rendering ahead: nodes that no live input reaches play some blocks early, on a thread of their own, in time that would be idle.
//!
//! ```text
//!   graph        osc ──▶ svf ──▶ gain ──▶ out          mic ──▶ reverb ──▶ out
//!                └─ ahead part ─┘  └─────────── the rest ──────────────────┘
//!
//!   thread       plays the ahead part up to N blocks early:   signals that leave it, states of its processors
//!                          │ ring of blocks                         ▲ blocks that are free again, or a state to go on from
//!                          ▼                                        │
//!   callback     takes the block of now ─▶ [SignalBus] ─▶ stand-ins in the plan of the rest
//! ```
//!
//! Each of the two has processors of its own for the ahead part; those of the callback are the engine's. Nobody waits: a block
//! that is not there in time is played by the callback, from the state that came with the block before. So is one that an
//! event or a change of the transport reaches. Then what was played ahead is of no use any more: the callback counts its
//! *generation* up and sends the thread the state after this block, and the thread goes on from there.
//!
//! | file | holds |
//! |---|---|
//! | `cut` | which nodes: the two graphs |
//! | `bus` | the signals that leave the part, and the nodes at its border |
//! | `checkpoint` | the states of the part between two blocks |
//! | `executor` | the callback's half, around the executor of the rest |
//! | `worker` | the thread's half |
//! | `resources` | what outlives a plan: the second processors, the thread |
//!
//! The output has the same bits as without: both halves compute the same blocks from the same states.

mod bus;
mod checkpoint;
mod cut;
mod executor;
mod resources;
mod worker;

pub(crate) use bus::{Border, SignalBus, StandIn, border_kind, stand_in_kind};
pub(crate) use cut::{AheadCut, cut};
pub(crate) use executor::{AheadCounts, AheadExecutor};
pub(crate) use resources::AheadResources;
pub use resources::AheadStatus;
pub(crate) use worker::AheadWorker;

use checkpoint::Checkpoint;
use rtrb::{Consumer, Producer, RingBuffer};

/// Blocks in flight beside those that are ahead: the last one that the callback took, and one to send a state in.
const SPARE_BLOCKS: u32 = 2;

/// A block that was played ahead, or a state from which the thread is to go on.
pub(crate) struct AheadBlock {
    /// Number of the state from which it was played.
    generation: u32,
    /// Absolute frame at which it begins.
    position: u64,
    /// Number of its cycle.
    cycle: u64,
    /// Changes of the transport that were known when it was played.
    transport_changes: u64,
    /// The signals that leave the part, as on the bus.
    signals: Vec<u32>,
    /// States of the part's processors after it.
    state: Checkpoint,
    /// To the thread: go on from the state.
    is_restart: bool,
}

/// One half of the connection between the callback and the thread.
pub(crate) struct AheadLink {
    to_other: Producer<AheadBlock>,
    from_other: Consumer<AheadBlock>,
}

/// Room that a block needs.
#[derive(Clone, Copy)]
pub(crate) struct AheadRoom {
    /// Samples that leave the part in a block.
    pub(crate) samples: usize,
    pub(crate) processors: usize,
    /// Bytes of all states together.
    pub(crate) state_bytes: usize,
}

/// The connection of the callback, with a free block.
pub(crate) type CallbackLink = (AheadLink, AheadBlock);
/// The connection of the thread, with all other blocks.
pub(crate) type ThreadLink = (AheadLink, Vec<AheadBlock>);

/// Both halves, for `blocks` blocks ahead.
pub(crate) fn link(blocks: u32, room: AheadRoom) -> (CallbackLink, ThreadLink) {
    let count = (blocks + SPARE_BLOCKS) as usize;
    let block = || AheadBlock {
        generation: 0,
        position: 0,
        cycle: 0,
        transport_changes: 0,
        signals: vec![0; room.samples],
        state: Checkpoint::with_room(room.processors, room.state_bytes),
        is_restart: false,
    };
    // Each ring holds all blocks, so a push always finds room.
    let (to_callback, from_thread) = RingBuffer::new(count);
    let (to_thread, from_callback) = RingBuffer::new(count);
    let callback = AheadLink {
        to_other: to_thread,
        from_other: from_thread,
    };
    let thread = AheadLink {
        to_other: to_callback,
        from_other: from_callback,
    };
    let free = (1..count).map(|_| block()).collect();
    ((callback, block()), (thread, free))
}
