//! [`SmallPatch`]: the messages of a patch and all its signals, in one node.

use super::processors::{Messages, Outputs};
use crate::child::ChildRunner;
use crate::signal::{BLOCK, BatchTimes, LEAST_BATCH, MAX_BATCH, MessageStep, Row};
use processor::{Block, ProcessStatus, Processor, Setup, StateError, Tail};

/// A patch that costs less than waking a worker, whose messages change its signals, or which plays in longer blocks: its messages, then
/// all its steps, 64 frames after 64 frames.
pub(super) struct SmallPatch {
    messages: Messages,
    steps: Option<Row>,
    /// Sub-patches of `pd~` that no node of the plan computes.
    children: Vec<ChildRunner>,
    outputs: Outputs,
    /// Frame at which the run ends.
    end: u64,
    pause: BatchPause,
}

/// Blocks in which nobody asks again whether the signals allow a batch: twice as many each time that they do not.
#[derive(Default)]
struct BatchPause {
    left: u32,
    length: u32,
}

impl BatchPause {
    /// Blocks of the longest one: a second and a half.
    const MOST: u32 = 1024;

    /// Returns true if a block is one of a pause.
    fn passes(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }

    /// Notes what the answer was.
    fn note(&mut self, is_allowed: bool) {
        self.length = match is_allowed {
            true => 0,
            false => (2 * self.length).clamp(1, Self::MOST),
        };
        self.left = self.length;
    }
}

impl SmallPatch {
    pub(super) fn new(messages: Messages, steps: Option<Row>, outputs: Outputs) -> Self {
        Self {
            messages,
            steps,
            children: Vec::new(),
            outputs,
            end: u64::MAX,
            pause: BatchPause::default(),
        }
    }

    /// With several blocks at once, where nothing happens in them.
    pub(super) fn in_batches(mut self) -> Self {
        if let (Some(steps), Some(step)) = (&mut self.steps, self.messages.step()) {
            let channels = self.outputs.channels.iter();
            channels.for_each(|cell| cell.write().allow_batches());
            step.allow_batches(steps);
        }
        self
    }

    /// With the frame at which the run ends, if that is known: behind it nothing is printed or written any more.
    pub(super) fn ending_at(mut self, end: Option<u64>) -> Self {
        self.end = end.unwrap_or(u64::MAX);
        self
    }

    /// Puts the signals in order anew where messages have changed them: while the patch is loaded, or in a render.
    fn take_changes(&mut self) {
        if let Some(row) = self.messages.take_whole_row() {
            self.steps = Some(row);
        }
        self.messages.take_row(&mut self.steps);
        let row = self.messages.step().and_then(MessageStep::take_changed_row);
        if let Some(row) = row {
            self.steps = Some(row);
        }
    }
}

impl Processor for SmallPatch {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.messages.setup(setup);
        self.take_changes();
        if let Some(step) = self.messages.step() {
            let children = step.machine().take_children().into_iter();
            self.children.extend(children.map(|(runner, _)| runner));
        }
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let frames = block.frames();
        if !frames.is_multiple_of(BLOCK) {
            // No plan has such a block.
            block.silence_outputs();
            return ProcessStatus::Continue;
        }
        let mut from = 0;
        while from < frames {
            from += block.within(from..frames, |rest| self.compute_some(rest));
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Infinite
    }

    fn save(&self, state: &mut Vec<u8>) {
        self.messages.save_state(state);
    }

    fn unsaved(&self) -> usize {
        self.messages.unsaved()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), StateError> {
        self.messages.load_state(state)
    }
}

impl SmallPatch {
    /// Computes the first 64 frames of a block, or as many times that as nothing happens in. Gives the number of frames.
    fn compute_some(&mut self, block: &mut Block<'_>) -> usize {
        if block.position() >= self.end {
            block.silence_outputs();
            return block.frames();
        }
        let is_long = block.frames() > BLOCK;
        match is_long {
            true => block.within(0..BLOCK, |first| self.messages.process(first)),
            false => self.messages.process(block),
        };
        self.take_changes();
        self.messages.send_to_editor(Some(&mut self.steps));
        let mut ends = [0.0; MAX_BATCH];
        let count = match is_long {
            true => self.begin_batch(block, &mut ends),
            false => 1,
        };
        if let Some(steps) = &mut self.steps {
            steps.run_batch(&ends[..count]);
        }
        self.children.iter_mut().for_each(ChildRunner::run_behind);
        if let Some(step) = self.messages.step() {
            // Those that messages have made.
            step.run_children();
        }
        let frames = count * BLOCK;
        match frames < block.frames() {
            true => block.within(0..frames, |part| self.outputs.process(part)),
            false => self.outputs.process(block),
        };
        frames
    }

    /// Begins the blocks that are computed at once, and writes when they end: as many as signals and messages allow.
    fn begin_batch(&mut self, block: &mut Block<'_>, ends: &mut BatchTimes) -> usize {
        let left = usize::try_from(self.end - block.position()).unwrap_or(usize::MAX);
        let most = (block.frames() / BLOCK)
            .min(left.div_ceil(BLOCK))
            .min(MAX_BATCH);
        let Some(steps) = &mut self.steps else {
            return 1;
        };
        if most < LEAST_BATCH || !self.children.is_empty() || self.pause.passes() {
            return 1;
        }
        if !self.messages.may_begin_blocks(block) {
            return 1;
        }
        let count = steps.batch(most);
        self.pause.note(count >= LEAST_BATCH);
        match count >= LEAST_BATCH {
            true => self.messages.begin_blocks(block, &mut ends[..count]),
            false => 1,
        }
    }
}
