//! [`CellTaps`]: the outputs of a cell's engine that are tapped, as the thread of edits has them.

use crate::taps::{
    TAP_CHANNELS, TAPS, TapOrder, answer_tap, circles, clear_answer, ordered_tap, write_samples,
};
use engine::{Engine, EngineError, Tap};
use std::fs::File;
use std::sync::atomic::AtomicU64;

/// Frames for which a tap has room: those of many looks.
const FRAMES: usize = 8192;
/// Blocks for which it has room.
const BLOCKS: usize = 4;
/// Memory that a change of plans may take: where there is no more, nothing is tapped.
const PLAN_BYTES: usize = 8 << 20;

/// The taps of a cell.
pub(super) struct CellTaps {
    memory: File,
    /// First byte of the samples in it.
    circles: u64,
    all: Vec<TappedPlace>,
}

/// Tap of one place of the memory.
#[derive(Default)]
struct TappedPlace {
    order: Option<TapOrder>,
    tap: Option<Tap>,
    /// Samples so far.
    count: u64,
}

impl CellTaps {
    pub(super) fn new(memory: &File) -> Result<Self, String> {
        let memory = memory.try_clone().map_err(|error| error.to_string())?;
        let circles = circles(&memory).map_err(|error| error.to_string())?;
        let all = (0..TAPS).map(|_| TappedPlace::default()).collect();
        Ok(Self {
            memory,
            circles,
            all,
        })
    }

    /// Returns true if others are ordered than there are.
    pub(super) fn are_others(&self, head: &[AtomicU64]) -> bool {
        self.next_change(head).is_some()
    }

    fn next_change(&self, head: &[AtomicU64]) -> Option<usize> {
        let mut places = (0..).zip(&self.all);
        let found = places.find(|(place, it)| it.order != ordered_tap(head, *place))?;
        Some(found.0)
    }

    /// Makes one change that is ordered, if there is one.
    ///
    /// # Errors
    ///
    /// The engine is busy: to be tried again.
    pub(super) fn change(
        &mut self,
        engine: &mut Engine,
        head: &[AtomicU64],
    ) -> Result<(), EngineError> {
        let Some(place) = self.next_change(head) else {
            return Ok(());
        };
        let order = ordered_tap(head, place);
        let there = &mut self.all[place];
        if let Some(tap) = &there.tap {
            engine.remove_tap(tap)?;
            clear_answer(head, place);
            *there = TappedPlace::default();
        } else if let Some(order) = order {
            let tap = match tap(engine, order) {
                Err(EngineError::Busy) => return Err(EngineError::Busy),
                tap => tap.ok(),
            };
            answer_tap(
                head,
                place,
                order.number,
                tap.as_ref().map_or(0, Tap::channels),
            );
            *there = TappedPlace {
                order: Some(order),
                tap,
                count: 0,
            };
        } else {
            clear_answer(head, place);
            there.order = None;
        }
        Ok(())
    }

    /// Copies what has come into the memory.
    pub(super) fn copy(&mut self, head: &[AtomicU64]) {
        for (place, it) in self.all.iter_mut().enumerate() {
            let Some(tap) = &mut it.tap else { continue };
            let (channels, count) = (tap.channels(), &mut it.count);
            tap.read(|samples| {
                let shared = (&self.memory, self.circles, head);
                // Samples that find no room are missing.
                if let Ok(end) = write_samples(shared, (place, channels), *count, samples) {
                    *count = end;
                }
            });
        }
    }
}

/// Taps an output, if there is memory for it: a process that gets none ends.
fn tap(engine: &mut Engine, order: TapOrder) -> Result<Tap, EngineError> {
    let none = || EngineError::NoParam("no such output".to_owned());
    let node = engine.graph().node(order.node).ok_or_else(none)?;
    let port = node.outputs.get(usize::from(order.port)).ok_or_else(none)?;
    let channels = match port.signal {
        graph::Signal::Audio(channels) => channels.count(),
        _ => return Err(none()),
    };
    let (node, port) = (node.name.clone(), port.name.clone());
    let frames = FRAMES.max(BLOCKS * engine.plan().block.count());
    let bytes = PLAN_BYTES + frames * channels * size_of::<f32>();
    let has_memory = Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
    if channels > TAP_CHANNELS || !has_memory {
        return Err(none());
    }
    engine.add_tap_with(&node, &port, frames)
}
