//! [`AheadWorker`]: the thread's half. It plays the ahead part as long as there are free blocks.

use super::{AheadBlock, AheadLink, SignalBus, ThreadLink};
use exec::{CycleInfo, CycleStatus, ErrorCounts, Executor};
use processor::{BackgroundTask, TaskStatus, Transport};
use std::sync::Arc;
use units::Frames;

/// Plays blocks ahead, from states that the callback sends.
pub(crate) struct AheadWorker {
    part: Box<dyn Executor>,
    link: AheadLink,
    free: Vec<AheadBlock>,
    bus: Arc<SignalBus>,
    /// Frames of a block.
    frames: u64,
    transport: Arc<Transport>,
    /// The next block; `None` until a state has come.
    next: Option<NextBlock>,
}

/// The block that is played next.
#[derive(Clone, Copy)]
struct NextBlock {
    generation: u32,
    position: u64,
    cycle: u64,
}

impl AheadWorker {
    /// Real-time: setup.
    pub(crate) fn new(
        part: Box<dyn Executor>,
        ((link, free), bus, block): (ThreadLink, Arc<SignalBus>, Frames),
        transport: Arc<Transport>,
    ) -> Self {
        Self {
            part,
            link,
            free,
            bus,
            frames: u64::from(block.0),
            transport,
            next: None,
        }
    }

    /// Takes what the callback has sent: free blocks, and the last of the states.
    fn receive(&mut self) {
        let mut state: Option<AheadBlock> = None;
        while let Ok(block) = self.link.from_other.pop() {
            let other = match block.is_restart {
                true => state.replace(block),
                false => Some(block),
            };
            self.free.extend(other);
        }
        if let Some(block) = state {
            let is_loaded = block.state.load(&mut *self.part);
            self.next = is_loaded.then_some(NextBlock {
                generation: block.generation,
                position: block.position + self.frames,
                cycle: block.cycle + 1,
            });
            self.free.push(block);
        }
    }

    /// Plays the next block and sends it. Returns false if a node failed: then the callback plays all, and says so.
    fn play(&mut self, next: NextBlock, mut block: AheadBlock) -> bool {
        block.is_restart = false;
        block.generation = next.generation;
        (block.position, block.cycle) = (next.position, next.cycle);
        // Before the block is played: a change that comes meanwhile may be in it or not.
        block.transport_changes = self.transport.count();
        let info = CycleInfo::unlimited(next.position, next.cycle);
        let result = self.part.run_cycle(&info, &[]);
        let has_errors = self.part.error_counts() != ErrorCounts::default();
        let is_whole = result.status == CycleStatus::Complete && !has_errors;
        if !is_whole || !block.state.save(&mut *self.part) {
            return false;
        }
        self.bus.copy_to(&mut block.signals);
        self.next = Some(NextBlock {
            position: next.position + self.frames,
            cycle: next.cycle + 1,
            ..next
        });
        // The ring holds all blocks.
        self.link.to_other.push(block).is_ok()
    }
}

impl BackgroundTask for AheadWorker {
    fn poll(&mut self) -> TaskStatus {
        self.receive();
        let Some(next) = self.next else {
            return TaskStatus::Idle;
        };
        let Some(block) = self.free.pop() else {
            return TaskStatus::Idle;
        };
        match self.play(next, block) {
            true => TaskStatus::More,
            false => TaskStatus::Done,
        }
    }
}
