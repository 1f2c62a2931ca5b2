//! [`Row`]: steps with everything that they touch, run one after the other.

use super::RowFormat;
use super::order::Step;
use super::shared::{Grants, SharedName};
use super::world::{
    BlockTime, BufferId, Inlets, ObjectCell, SignalObject, SignalSource, SignalWorld,
};
use std::ops::Range;
use std::sync::Arc;

/// A step with all that it touches.
pub(crate) struct BoundStep {
    pub(crate) step: Step,
    /// Class of its object.
    pub(crate) class: Box<str>,
    /// Its object, if it has one.
    pub(super) object: Option<Arc<ObjectCell>>,
    pub(super) grants: Grants,
    /// What it shares with other steps, and true where it changes that.
    pub(crate) accesses: Vec<(SharedName, bool)>,
    pub(super) time: Arc<BlockTime>,
    pub(super) rate: f32,
}

impl BoundStep {
    /// Fills a block of this step alone with the number at an inlet of its object.
    ///
    /// Real-time: hot.
    pub(crate) fn fill(&self, inlet: usize, block: &mut [f32]) {
        fill(self.number(inlet), block);
    }

    /// Number at an inlet of the step's object.
    ///
    /// Real-time: hot.
    fn number(&self, inlet: usize) -> f32 {
        let object = self.object.as_ref();
        object.map_or(0.0, |object| object.write().number(inlet))
    }

    /// Computes a block of the step's object.
    ///
    /// Real-time: hot.
    fn perform(&self, inlets: &dyn SignalSource, outlets: &mut [Box<[f32]>]) {
        if let Some(cell) = &self.object {
            self.perform_claimed(&mut cell.write(), inlets, outlets);
        }
    }

    /// Fills the blocks of `numbers` with the numbers at these inlets, and computes a block from the blocks at `inlets` into those
    /// of `outlets`, which lie behind all that it reads.
    ///
    /// Real-time: hot.
    pub(crate) fn perform_among(
        &self,
        blocks: &mut [Box<[f32]>],
        numbers: &[(usize, BufferId)],
        inlets: &[BufferId],
        outlets: Range<usize>,
    ) {
        let Some(cell) = &self.object else {
            return;
        };
        let mut object = cell.write();
        for (inlet, to) in numbers {
            fill(object.number(*inlet), &mut blocks[to.0 as usize]);
        }
        let (read, rest) = blocks.split_at_mut(outlets.start);
        let inlets = Buffers(read, inlets);
        self.perform_claimed(&mut object, &inlets, &mut rest[..outlets.len()]);
    }

    fn perform_claimed(
        &self,
        object: &mut SignalObject,
        inlets: &dyn SignalSource,
        outlets: &mut [Box<[f32]>],
    ) {
        let mut world = SignalWorld {
            clocks: &mut object.clocks,
            grants: &self.grants,
            time: &self.time,
            rate: self.rate,
        };
        object.object.perform(&Inlets(inlets), outlets, &mut world);
    }
}

/// Fills a block with a number. A block that begins with it is full of it.
fn fill(number: f32, block: &mut [f32]) {
    if block[0].to_bits() != number.to_bits() {
        block.fill(number);
    }
}

/// Steps of a canvas with blocks of its own, and their buffers.
pub(super) struct Row {
    steps: Vec<BoundStep>,
    buffers: Vec<Box<[f32]>>,
    /// Outlets of the object that computes.
    outlets: Vec<Box<[f32]>>,
    /// Objects without signals that depend on the rate.
    observers: Vec<Arc<ObjectCell>>,
}

/// Inlets that read these of the buffers.
struct Buffers<'b>(&'b [Box<[f32]>], &'b [BufferId]);

impl SignalSource for Buffers<'_> {
    fn signal(&self, at: usize) -> &[f32] {
        &self.0[self.1[at].0 as usize]
    }

    fn count(&self) -> usize {
        self.1.len()
    }
}

impl Row {
    /// A row of `buffers` buffers, without frames until it is prepared.
    pub(super) fn new(
        steps: Vec<BoundStep>,
        buffers: u32,
        observers: Vec<Arc<ObjectCell>>,
    ) -> Self {
        Self {
            steps,
            buffers: (0..buffers).map(|_| Box::default()).collect(),
            outlets: Vec::with_capacity(1024),
            observers,
        }
    }

    /// Adjusts buffers and objects to a format.
    ///
    /// Real-time: setup.
    pub(super) fn prepare(&mut self, format: &RowFormat) {
        for buffer in &mut self.buffers {
            if buffer.len() != format.frames {
                *buffer = vec![0.0; format.frames].into_boxed_slice();
            }
        }
        for step in &mut self.steps {
            step.rate = format.rate;
            if let (Step::Perform { .. }, Some(cell)) = (&step.step, &step.object) {
                cell.write().object.prepare(format);
            }
        }
        for observer in &self.observers {
            observer.write().object.prepare(format);
        }
    }

    /// A buffer.
    pub(super) fn buffer(&self, id: BufferId) -> &[f32] {
        &self.buffers[id.0 as usize]
    }

    /// A buffer, to be written.
    pub(super) fn buffer_mut(&mut self, id: BufferId) -> &mut [f32] {
        &mut self.buffers[id.0 as usize]
    }

    /// Computes a block.
    ///
    /// Real-time: hot.
    pub(super) fn run(&mut self) {
        run(&self.steps, &mut self.buffers, &mut self.outlets);
    }
}

/// Runs steps one after the other. `taken` is memory for outlets.
///
/// Real-time: hot.
pub(super) fn run(steps: &[BoundStep], buffers: &mut [Box<[f32]>], taken: &mut Vec<Box<[f32]>>) {
    for bound in steps {
        match &bound.step {
            Step::Fill { inlet, to, .. } => {
                let number = bound.number(*inlet);
                buffers[to.0 as usize].fill(number);
            }
            Step::Add { new, sum, to } => {
                let mut result = std::mem::take(&mut buffers[to.0 as usize]);
                add(
                    &buffers[new.0 as usize],
                    &buffers[sum.0 as usize],
                    &mut result,
                );
                buffers[to.0 as usize] = result;
            }
            Step::Perform {
                inlets, outlets, ..
            } => {
                let outlet_buffers = outlets
                    .iter()
                    .map(|id| std::mem::take(&mut buffers[id.0 as usize]));
                taken.extend(outlet_buffers);
                bound.perform(&Buffers(buffers, inlets), taken);
                for (id, outlet) in outlets.iter().zip(taken.drain(..)) {
                    buffers[id.0 as usize] = outlet;
                }
            }
        }
    }
}

/// The sum of two signals.
pub(crate) fn add(new: &[f32], sum: &[f32], to: &mut [f32]) {
    for ((to, new), sum) in to.iter_mut().zip(new).zip(sum) {
        *to = new + sum;
    }
}
