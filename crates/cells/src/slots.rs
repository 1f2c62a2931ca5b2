//! [`Slot`]: a target of events inside a cell. Messages name it by its number.

use crate::own_params::OWN_SLOTS;
use graph::{Catalogue, Graph, NodeId, Signal};
use processor::EventTarget;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Targets of an event inside a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// The node.
    pub(crate) node: NodeId,
    /// Its parameter or input.
    pub(crate) target: EventTarget,
    /// True if the newest number stays what it is: of a parameter, of a control input.
    pub(crate) is_kept: bool,
}

/// The slots of the nodes in `graph` that `is_in` the cell, in the order of their ids.
pub(crate) fn slots(
    graph: &Graph,
    is_in: impl Fn(NodeId) -> bool,
    catalogue: &Catalogue,
) -> Arc<[Slot]> {
    let mut all = Vec::new();
    for (id, node) in graph.nodes().filter(|(id, _)| is_in(*id)) {
        let Some(kind) = catalogue.get(node.effective_kind()) else {
            continue;
        };
        let live = (0..).zip(&kind.params).filter(|(_, param)| param.live);
        all.extend(live.map(|(index, _)| Slot {
            node: id,
            target: EventTarget::Param(index),
            is_kept: true,
        }));
        // The process alone knows how many a patch has.
        let first = kind.params.len() as u16;
        let own = (first..first.saturating_add(OWN_SLOTS)).filter(|_| kind.has_own_params);
        all.extend(own.map(|index| Slot {
            node: id,
            target: EventTarget::Param(index),
            is_kept: true,
        }));
        let inputs = (0..).zip(node.kind_inputs());
        let inputs = inputs.filter(|(_, port)| !matches!(port.signal, Signal::Audio(_)));
        all.extend(inputs.map(|(index, port)| Slot {
            node: id,
            target: EventTarget::Input(index),
            is_kept: port.signal == Signal::Control,
        }));
    }
    // What has no number cannot be named.
    all.truncate(usize::from(u16::MAX));
    all.into()
}

/// Slots that the edits of a process that plays may add.
const ROOM: usize = 4096;

/// By slot: true if its newest number stays what it is. The service fills in those of new nodes before it names them.
#[derive(Clone)]
pub(crate) struct KeptSlots(Arc<[AtomicBool]>);

impl KeptSlots {
    pub(crate) fn new(slots: &[Slot]) -> Self {
        let room = (slots.len() + ROOM).min(usize::from(u16::MAX));
        let kept = slots.iter().map(|it| it.is_kept);
        let kept = kept.chain(std::iter::repeat(false)).take(room);
        Self(kept.map(AtomicBool::new).collect())
    }

    /// Takes these slots. Returns false where they find no room.
    pub(crate) fn take(&self, slots: &[Slot]) -> bool {
        let has_room = slots.len() <= self.0.len();
        for (kept, slot) in self.0.iter().zip(slots).filter(|_| has_room) {
            // Relaxed: events that name a new slot come later, through a queue.
            kept.store(slot.is_kept, Ordering::Relaxed);
        }
        has_room
    }

    /// Number of slots for which there is room.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn has(&self, slot: u16) -> bool {
        let kept = self.0.get(usize::from(slot));
        // Relaxed: as above.
        kept.is_some_and(|it| it.load(Ordering::Relaxed))
    }
}

/// The slots of a part after an edit, where events for the slots `before` may be under way: nodes that stay keep theirs,
/// those of nodes that have gone name nothing, and new ones come last.
pub(crate) fn grown(
    before: &[Slot],
    after: &[Slot],
    stays: impl Fn(NodeId) -> bool,
) -> Arc<[Slot]> {
    let nobody = NodeId(u32::MAX);
    let old = before.iter().map(|it| Slot {
        node: if stays(it.node) { it.node } else { nobody },
        ..*it
    });
    let new = after.iter().filter(|it| !stays(it.node));
    old.chain(new.copied()).collect()
}

/// Bytes of a slot in a text for a process.
const SLOT_BYTES: usize = 8;

/// The slots in bytes: node, target, and what it is.
pub(crate) fn slot_bytes(slots: &[Slot]) -> Vec<u8> {
    let bytes = slots.iter().flat_map(|it| {
        let (kind, index) = match it.target {
            EventTarget::Param(index) => (0, index),
            EventTarget::Input(index) => (1, index),
        };
        let [low, high] = index.to_le_bytes();
        let [a, b, c, d] = it.node.0.to_le_bytes();
        [a, b, c, d, low, high, kind, u8::from(it.is_kept)]
    });
    bytes.collect()
}

/// The slots in such bytes.
pub(crate) fn slots_of(bytes: &[u8]) -> Arc<[Slot]> {
    let (places, _) = bytes.as_chunks::<SLOT_BYTES>();
    let slots = places.iter().map(|[a, b, c, d, low, high, kind, kept]| {
        let index = u16::from_le_bytes([*low, *high]);
        Slot {
            node: NodeId(u32::from_le_bytes([*a, *b, *c, *d])),
            target: match kind {
                0 => EventTarget::Param(index),
                _ => EventTarget::Input(index),
            },
            is_kept: *kept != 0,
        }
    });
    slots.collect()
}

/// The number of a slot.
pub(crate) fn slot_of(slots: &[Slot], node: NodeId, target: EventTarget) -> Option<u16> {
    let found = slots
        .iter()
        .position(|it| (it.node, it.target) == (node, target));
    u16::try_from(found?).ok()
}
