//! Messages of several blocks of a patch, whose signals are computed at once.

use super::BLOCK;
use super::message_step::MessageStep;
use super::row::Row;
use crate::control::EarlyTick;

impl MessageStep {
    /// Writes when the block that has begun ends, and those after it in which there are no messages. Gives the number of all these.
    ///
    /// Real-time: hot.
    pub(crate) fn quiet_blocks(&self, ends: &mut [f64]) -> usize {
        match self.results.is_empty() {
            true => self.machine.quiet_ticks(ends),
            false => 1,
        }
    }

    /// Begins all of the quiet blocks that end at these times. `input` takes in the channels of `adc~`.
    ///
    /// Real-time: hot.
    pub(crate) fn begin_batch(&mut self, ends: &[f64], input: impl FnMut(usize, &mut [f32])) {
        self.machine.rest_until(ends[ends.len() - 1]);
        self.begin_blocks(ends, input);
    }

    /// Returns true if messages may run before the signals of earlier blocks are computed, where those of a row may compute batches: they
    /// share no array and no number.
    pub(crate) fn may_come_early(&self) -> bool {
        self.touched.arrays.is_empty() && self.touched.values.is_empty()
    }

    /// Runs the messages of a block early, which is the one `after` that has begun last.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(crate) fn run_early(&mut self, after: u64) -> EarlyTick {
        self.machine.tick_early(self.time.tick() + after)
    }

    /// Begins the blocks that end at these times, of which the first has begun. `input` takes in the channels of `adc~`.
    ///
    /// Real-time: hot.
    pub(crate) fn begin_blocks(&mut self, ends: &[f64], mut input: impl FnMut(usize, &mut [f32])) {
        for end in &ends[1..] {
            self.time.begin(*end);
        }
        for (at, channel) in self.inputs.iter().enumerate() {
            input(at, &mut channel.write().samples[..ends.len() * BLOCK]);
        }
    }

    /// Lets a row of all signals compute batches, if no message changes which signals there are.
    ///
    /// Real-time: setup.
    pub(crate) fn allow_batches(&self, row: &mut Row) {
        if !self.may_change_signals() {
            let inputs = self.inputs.iter();
            inputs.for_each(|cell| cell.write().allow_batches());
            row.allow_batches(&self.format);
        }
    }

    /// Lets messages run before the signals of earlier blocks, where that may be. Returns true if it may.
    ///
    /// Real-time: setup.
    pub(crate) fn allow_early(&mut self, row: &mut Row) -> bool {
        let may = !self.may_change_signals() && self.may_come_early();
        if may {
            self.machine.allow_early();
            row.allow_early();
        }
        may
    }
}
