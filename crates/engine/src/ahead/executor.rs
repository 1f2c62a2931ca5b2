//! [`AheadExecutor`]: the callback's half. It takes the ahead part's blocks, or plays them, and has the rest play.

use super::{AheadBlock, AheadLink, CallbackLink, SignalBus};
use exec::{CycleInfo, CycleResult, ErrorCounts, Executor, StateVisitor, Watchdog};
use graph::NodeId;
use processor::{Event, Transport};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Blocks of the ahead part since the engine was made.
#[derive(Debug, Default)]
pub(crate) struct AheadCounts {
    /// Played by the thread, and there in time.
    pub(crate) ahead: AtomicU64,
    /// Played by the callback.
    pub(crate) played: AtomicU64,
}

/// The executor of the rest, and the ahead part in front of it.
pub(crate) struct AheadExecutor {
    rest: Box<dyn Executor>,
    /// Plays the ahead part where its block is not there.
    part: Box<dyn Executor>,
    link: AheadLink,
    bus: Arc<SignalBus>,
    transport: Arc<Transport>,
    counts: Arc<AheadCounts>,
    /// The block that was taken last: its state is the part's.
    taken: Option<AheadBlock>,
    /// For the next state that is sent.
    spare: Option<AheadBlock>,
    /// Blocks that the thread may be ahead.
    blocks: u32,
    generation: u32,
    /// Changes of the transport that are in this generation.
    transport_changes: u64,
    /// The processors have the state after the last block; else `taken` has it.
    is_current: bool,
    /// Something has come that what was played ahead does not know.
    is_stale: bool,
    /// Blocks that were played here since a state was sent.
    since_restart: u32,
    /// Position of the last block.
    last: Option<u64>,
}

impl AheadExecutor {
    /// Real-time: setup.
    pub(crate) fn new(
        rest: Box<dyn Executor>,
        part: Box<dyn Executor>,
        ((link, spare), blocks): (CallbackLink, u32),
        bus: Arc<SignalBus>,
        (transport, counts): (Arc<Transport>, Arc<AheadCounts>),
    ) -> Self {
        Self {
            rest,
            part,
            link,
            bus,
            transport_changes: transport.count(),
            transport,
            counts,
            taken: None,
            spare: Some(spare),
            blocks,
            generation: 0,
            is_current: true,
            // The thread has no state yet.
            is_stale: true,
            since_restart: 0,
            last: None,
        }
    }

    /// Puts the ahead part's block on the bus.
    fn play_part(&mut self, info: &CycleInfo) {
        let changes = self.transport.count();
        if changes != self.transport_changes {
            self.transport_changes = changes;
            self.is_stale = true;
        }
        match self.take(info.position) {
            Some(block) => {
                self.bus.copy_from(&block.signals);
                self.is_current = false;
                self.since_restart = 0;
                if let Some(old) = self.taken.replace(block) {
                    self.give_back(old);
                }
                // Relaxed: a number of its own, as below.
                self.counts.ahead.fetch_add(1, Ordering::Relaxed);
            }
            None => {
                self.catch_up();
                let now = CycleInfo::unlimited(info.position, info.cycle);
                self.part.run_cycle(&now, &[]);
                self.counts.played.fetch_add(1, Ordering::Relaxed);
                self.since_restart = self.since_restart.saturating_add(1);
                // A thread that was without a core for long need not play all that has passed.
                if self.is_stale || self.since_restart > self.blocks {
                    self.restart(info);
                }
            }
        }
    }

    /// The block at `position` that was played ahead, if it is there and nothing has come since. What is of no use any more goes
    /// back to the thread.
    fn take(&mut self, position: u64) -> Option<AheadBlock> {
        loop {
            let next = self.link.from_other.peek().ok()?;
            let is_of_now = next.generation == self.generation
                && next.transport_changes == self.transport_changes
                && !self.is_stale;
            if is_of_now && next.position > position {
                return None;
            }
            let is_found = is_of_now && next.position == position;
            let block = self.link.from_other.pop().ok()?;
            if is_found {
                return Some(block);
            }
            self.give_back(block);
        }
    }

    /// Gives the processors the state after the last block.
    fn catch_up(&mut self) {
        if !self.is_current
            && let Some(taken) = &self.taken
        {
            self.is_current = taken.state.load(&mut *self.part);
        }
    }

    /// Sends the thread the state after the block of `info`, which was played here.
    fn restart(&mut self, info: &CycleInfo) {
        let Some(mut block) = self.spare.take() else {
            // One comes back with the next block that is of no use.
            return;
        };
        if !block.state.save(&mut *self.part) {
            self.spare = Some(block);
            return;
        }
        self.generation = self.generation.wrapping_add(1);
        (self.is_stale, self.since_restart) = (false, 0);
        block.generation = self.generation;
        (block.position, block.cycle) = (info.position, info.cycle);
        block.is_restart = true;
        self.send(block);
    }

    /// Keeps a block that is free, or gives it to the thread.
    fn give_back(&mut self, mut block: AheadBlock) {
        if self.spare.is_none() {
            self.spare = Some(block);
            return;
        }
        block.is_restart = false;
        self.send(block);
    }

    fn send(&mut self, block: AheadBlock) {
        // The ring holds all blocks. If it did not, a leak would be better than a free here.
        if let Err(rtrb::PushError::Full(block)) = self.link.to_other.push(block) {
            std::mem::forget(block);
        }
    }
}

impl Executor for AheadExecutor {
    fn run_cycle(&mut self, info: &CycleInfo, inputs: &[&[f32]]) -> CycleResult {
        // A cycle that was abandoned comes again: the part has played its block.
        if self.last.replace(info.position) != Some(info.position) {
            self.play_part(info);
        }
        let mut result = self.rest.run_cycle(info, inputs);
        result.errors += self.part.error_counts().total();
        result
    }

    fn latency_blocks(&self) -> u32 {
        self.rest.latency_blocks()
    }

    fn add_output(&self, channel: u16, into: &mut [f32]) {
        self.rest.add_output(channel, into);
    }

    fn write_outputs(&self, outputs: &mut [&mut [f32]]) {
        self.rest.write_outputs(outputs);
    }

    fn push_event(&mut self, node: NodeId, event: Event) -> Result<(), Event> {
        if !self.part.has_node(node) {
            return self.rest.push_event(node, event);
        }
        self.is_stale = true;
        self.part.push_event(node, event)
    }

    fn has_node(&self, node: NodeId) -> bool {
        self.part.has_node(node) || self.rest.has_node(node)
    }

    fn try_release(&mut self) -> bool {
        if !self.rest.try_release() {
            return false;
        }
        // The next executor goes on from the processors, and `taken` may be of blocks before.
        self.catch_up();
        self.part.try_release()
    }

    fn hand_over_events(&mut self, cycles: u32, next: &mut dyn Executor) {
        self.rest.hand_over_events(cycles, next);
    }

    fn push_kept_event(&mut self, node: NodeId, event: Event) -> Result<(), Event> {
        match self.part.has_node(node) {
            true => self.push_event(node, event),
            false => self.rest.push_kept_event(node, event),
        }
    }

    fn visit_states(&mut self, visitor: &mut dyn StateVisitor, position: u64) -> bool {
        self.catch_up();
        self.is_stale |= visitor.loads();
        self.part.visit_states(visitor, position) && self.rest.visit_states(visitor, position)
    }

    fn error_counts(&self) -> ErrorCounts {
        self.rest.error_counts() + self.part.error_counts()
    }

    fn watchdog(&self) -> Watchdog {
        self.rest.watchdog()
    }
}
