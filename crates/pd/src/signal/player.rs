//! [`PatchPlayer`]: a patch that plays in one thread, 64 frames at a time.

use super::BLOCK;
use super::message_step::MessageStep;
use super::row::Row;
use super::shared::SharedCell;
use super::steps::PatchSteps;
use crate::child::allow_children;
use crate::control::{NotYet, Symbol};
use crate::file::Atom;
use crate::load::LoadedPatch;
use processor::StateError;

/// A patch that plays: messages first, then signals, one block of 64 frames after the other.
///
/// It plays in one thread, and is what every other way to play a patch is compared with. `dac~` and `adc~` are its channels.
pub struct PatchPlayer {
    messages: MessageStep,
    row: Row,
    outputs: Box<[SharedCell]>,
    sound: Vec<Box<[f32]>>,
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
        let (mut steps, not_yet) = PatchSteps::new(patch, rate, (inputs, outputs));
        allow_children([patch], steps.messages.machine());
        let mut patch = steps;
        patch.messages.load();
        (Self::of(patch), not_yet)
    }

    /// A player for a run that is only measured: it writes no files.
    ///
    /// Real-time: setup.
    pub(crate) fn dry(patch: &LoadedPatch, rate: f32, inputs: usize, outputs: usize) -> Self {
        let (mut steps, _) = PatchSteps::new(patch, rate, (inputs, outputs));
        allow_children([patch], steps.messages.machine());
        let mut patch = steps;
        patch.messages.jobs().is_dry = true;
        patch.messages.load();
        Self::of(patch)
    }

    fn of(mut patch: PatchSteps) -> Self {
        let silence = || vec![0.0; BLOCK].into_boxed_slice();
        let steps = std::mem::take(&mut patch.steps);
        let row = patch.messages.row(steps, (&[], &[])).0;
        let changed = patch.messages.take_changed_row();
        Self {
            row: changed.unwrap_or(row),
            sound: patch.outputs.iter().map(|_| silence()).collect(),
            messages: patch.messages,
            outputs: patch.outputs,
        }
    }

    /// Sends a message to everything that receives under `name`, `ms` milliseconds from now.
    ///
    /// Real-time: setup.
    pub fn schedule(&mut self, ms: f64, name: &str, words: &[Atom]) {
        self.messages.schedule(ms, name, words);
    }

    /// Number of signal objects.
    pub fn signal_count(&self) -> usize {
        self.row.object_count()
    }

    /// The symbol of a name.
    ///
    /// Real-time: setup.
    pub(crate) fn symbol(&mut self, name: &str) -> Symbol {
        self.messages.machine().symbol(name)
    }

    /// Sends a number to everything that receives under `name`, before the next 64 frames. The patch has no arrays.
    ///
    /// Real-time: hot.
    pub(crate) fn send_number(&mut self, name: Symbol, number: f32) {
        self.messages.machine().send_number(0, name, number);
    }

    /// Plays 64 frames. `inputs` are channels x 64 frames; [`PatchPlayer::output`] has the result.
    pub fn play(&mut self, inputs: &[&[f32]]) {
        self.play_with(|at, to| match inputs.get(at) {
            Some(from) => to.copy_from_slice(from),
            None => to.fill(0.0),
        });
    }

    /// Plays 64 frames; `input` writes each channel of `adc~`.
    pub(crate) fn play_with(&mut self, input: impl FnMut(usize, &mut [f32])) {
        self.messages.run(input);
        if let Some(row) = self.messages.take_changed_row() {
            self.row = row;
        }
        self.row.run();
        self.messages.run_children();
        for (to, from) in self.sound.iter_mut().zip(&self.outputs) {
            from.write().take_block(to);
        }
    }

    /// Appends what the patch holds, for another player of it. Gives the number of arrays and delay lines that found no room: they begin
    /// anew there.
    ///
    /// Real-time: hot if `state` has the capacity.
    pub fn save(&self, state: &mut Vec<u8>) -> usize {
        self.messages.save_state(state)
    }

    /// Goes on from what another player of the patch at the same rate has saved.
    ///
    /// # Errors
    ///
    /// It does not fit. Then nothing has changed.
    ///
    /// Real-time: setup.
    pub fn load(&mut self, state: &[u8]) -> Result<(), StateError> {
        match self.messages.load_state(state) {
            Ok(true) => Ok(()),
            Ok(false) => Err(StateError("the patch kept no state".into())),
            Err(why) => Err(StateError(why.into())),
        }
    }

    /// A channel of the block that was played: 64 frames.
    pub fn output(&self, channel: usize) -> &[f32] {
        &self.sound[channel]
    }

    /// Takes what the patch printed.
    pub fn take_console(&mut self) -> Vec<String> {
        self.messages.take_console()
    }
}
