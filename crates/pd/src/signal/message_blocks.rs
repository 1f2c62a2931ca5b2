//! Messages of several blocks of a patch, whose signals are computed at once.

use super::BLOCK;
use super::message_step::MessageStep;
use super::row::Row;
use crate::control::EarlyTick;

impl MessageStep {
    /// Returns true if the messages of the next block may come before the signals of this one: `may_run` tells if there may be some.
    ///
    /// Real-time: hot.
    pub(crate) fn may_come_early(&self, may_run: bool) -> bool {
        self.results.is_empty() && self.machine.may_tick_early(may_run)
    }

    /// Runs the messages of a block early, which is the one `after` that has begun last.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(crate) fn run_early(&mut self, after: u64, may_run: bool) -> EarlyTick {
        self.machine.tick_early(self.time.tick() + after, may_run)
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

    /// Lets a row of all signals compute batches, if no message changes which signals there are. Messages may run early then where signals touch
    /// no array and no number of `value`, which lie with the messages while these run.
    ///
    /// Real-time: setup.
    pub(crate) fn allow_batches(&mut self, row: &mut Row) {
        if self.may_change_signals() {
            return;
        }
        let inputs = self.inputs.iter();
        inputs.for_each(|cell| cell.write().allow_batches());
        row.allow_batches(&self.format);
        if self.touched.arrays.is_empty() && self.touched.values.is_empty() {
            self.machine.allow_early();
            row.allow_early();
        }
    }
}
