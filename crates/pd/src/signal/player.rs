//! [`PatchPlayer`]: a patch that plays, 64 frames at a time.

use super::BLOCK;
use super::order::{Step, order};
use super::world::{Inlets, SignalState};
use crate::control::{Machine, NotYet};
use crate::file::Atom;
use crate::load::LoadedPatch;

/// A patch that plays: messages first, then signals, one block of 64 frames after the other.
///
/// It plays in one thread. `dac~` and `adc~` are its channels.
pub struct PatchPlayer {
    machine: Machine,
    steps: Vec<Step>,
    buffers: Vec<Box<[f32]>>,
    outlets: Vec<Box<[f32]>>,
    state: SignalState,
    rate: f32,
}

impl PatchPlayer {
    /// Frames of a block.
    pub const BLOCK: usize = BLOCK;

    /// A player of `patch` at `rate` hertz with `inputs` and `outputs` channels, and the boxes whose classes are not built yet:
    /// they pass nothing.
    ///
    /// Its loadbangs have been sent.
    ///
    /// Real-time: setup.
    pub fn new(
        patch: &LoadedPatch,
        rate: f32,
        inputs: usize,
        outputs: usize,
    ) -> (Self, Vec<NotYet>) {
        let (mut machine, not_yet, built) = Machine::build_with_boxes(patch, rate);
        let order = order(&patch.root, &built);
        let silence = || vec![0.0; BLOCK].into_boxed_slice();
        machine.load();
        let player = Self {
            machine,
            steps: order.steps,
            buffers: (0..order.buffers).map(|_| silence()).collect(),
            outlets: Vec::with_capacity(1024),
            state: SignalState {
                inputs: (0..inputs).map(|_| silence()).collect(),
                outputs: (0..outputs).map(|_| silence()).collect(),
                ..SignalState::default()
            },
            rate,
        };
        (player, not_yet)
    }

    /// Sends a message to everything that receives under `name`, `ms` milliseconds from now.
    ///
    /// Real-time: setup.
    pub fn schedule(&mut self, ms: f64, name: &str, words: &[Atom]) {
        self.machine.schedule(ms, name, words);
    }

    /// Number of signal objects.
    pub fn signal_count(&self) -> usize {
        let is_object = |step: &&Step| matches!(step, Step::Perform { .. });
        self.steps.iter().filter(is_object).count()
    }

    /// Plays 64 frames. `inputs` are channels x 64 frames; [`PatchPlayer::output`] has the result.
    pub fn play(&mut self, inputs: &[&[f32]]) {
        for (to, from) in self.state.inputs.iter_mut().zip(inputs) {
            to.copy_from_slice(from);
        }
        for channel in &mut self.state.outputs {
            channel.fill(0.0);
        }
        self.machine.tick();
        self.state.tick += 1;
        for step in &self.steps {
            match step {
                Step::Fill { object, inlet, to } => {
                    let number = self.machine.scalar(*object, *inlet);
                    self.buffers[to.0 as usize].fill(number);
                }
                Step::Add { new, sum, to } => {
                    let mut result = std::mem::take(&mut self.buffers[to.0 as usize]);
                    let (new, sum) = (&self.buffers[new.0 as usize], &self.buffers[sum.0 as usize]);
                    for ((to, new), sum) in result.iter_mut().zip(new).zip(sum) {
                        *to = new + sum;
                    }
                    self.buffers[to.0 as usize] = result;
                }
                Step::Perform {
                    object,
                    inlets,
                    outlets,
                } => {
                    let buffers = &mut self.buffers;
                    let taken = outlets
                        .iter()
                        .map(|id| std::mem::take(&mut buffers[id.0 as usize]));
                    self.outlets.extend(taken);
                    let inlets = Inlets {
                        buffers: &self.buffers,
                        ids: inlets,
                    };
                    self.machine.perform(
                        *object,
                        &inlets,
                        &mut self.outlets,
                        &mut self.state,
                        self.rate,
                    );
                    for (id, outlet) in outlets.iter().zip(self.outlets.drain(..)) {
                        self.buffers[id.0 as usize] = outlet;
                    }
                }
            }
        }
    }

    /// A channel of the block that was played: 64 frames.
    pub fn output(&self, channel: usize) -> &[f32] {
        &self.state.outputs[channel]
    }

    /// Takes what the patch printed.
    pub fn take_console(&mut self) -> Vec<String> {
        self.machine.take_console()
    }
}
