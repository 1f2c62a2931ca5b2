//! Several of Pd's blocks at once: those in which nothing comes from outside.

use super::super::midi::MidiExchange;
use super::{MIDI_INPUTS, Messages};
use crate::control::EarlyTick;
use crate::signal::BLOCK;
use processor::Block;

impl Messages {
    /// Writes when the first of Pd's blocks in `block` ends, whose messages have run, and those after it in which nothing happens. Gives the
    /// number of all these.
    ///
    /// Real-time: hot.
    pub(in super::super) fn quiet_blocks(&self, block: &Block<'_>, ends: &mut [f64]) -> usize {
        match &self.step {
            Some(step) if self.hears_nothing(block) => step.quiet_blocks(ends),
            _ => 1,
        }
    }

    /// Returns true if nothing comes from outside in `block` behind the first of Pd's blocks.
    fn hears_nothing(&self, block: &Block<'_>) -> bool {
        let [outside] = &self.outsides[..] else {
            return false;
        };
        let has_events = || {
            let mut events = block.events().iter();
            events.any(|event| event.frame as usize >= BLOCK)
        };
        let is_alone = self.mailboxes.is_empty() && self.borders.is_empty();
        is_alone && outside.words.is_empty() && self.late.is_none() && !has_events()
    }

    /// Returns true if the messages of `block` may run early, behind the first of Pd's blocks. In `play` they do not: what they ask for comes
    /// between two blocks.
    ///
    /// Real-time: hot.
    pub(in super::super) fn may_come_early(&self, block: &Block<'_>) -> bool {
        self.jobs.is_none() && self.hears_nothing(block)
    }

    /// Begins Pd's blocks of `block` whose messages need no signals of those before, as many as `ends` has at most, and writes when they end.
    /// Gives their number. The messages of the first have run.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(in super::super) fn begin_early(
        &mut self,
        block: &mut Block<'_>,
        ends: &mut [f64],
    ) -> usize {
        let (Some(step), outsides) = (&mut self.step, &mut self.outsides) else {
            return 1;
        };
        ends[0] = step.now();
        let mut begun = 1;
        while begun < ends.len() {
            let tick = step.run_early(begun as u64);
            if tick == EarlyTick::Waits {
                break;
            }
            if tick == EarlyTick::Done && step.has_output() {
                let frames = begun * BLOCK..(begun + 1) * BLOCK;
                block.within(frames, |part| MidiExchange::send(outsides, step, part));
                step.drain_console(|patch, line| outsides[usize::from(patch)].console.send(line));
            }
            ends[begun] = step.now();
            begun += 1;
        }
        step.begin_blocks(&ends[..begun], inputs_of(block));
        begun
    }

    /// Begins all of the quiet blocks of `block` that end at these times.
    ///
    /// Real-time: hot.
    pub(in super::super) fn begin_batch(&mut self, block: &Block<'_>, ends: &[f64]) {
        if let Some(step) = &mut self.step {
            step.begin_batch(ends, inputs_of(block));
        }
    }
}

/// What writes the first frames of a channel of `adc~`.
fn inputs_of<'b>(block: &'b Block<'_>) -> impl FnMut(usize, &mut [f32]) + 'b {
    let count = block.input_count();
    move |at, to| match at + MIDI_INPUTS {
        port if port < count => to.copy_from_slice(&block.input(port).channel(0)[..to.len()]),
        _ => to.fill(0.0),
    }
}
