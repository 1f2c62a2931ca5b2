//! Several of Pd's blocks at once: those in which nothing comes from outside.

use super::super::midi::MidiExchange;
use super::{MIDI_INPUTS, Messages};
use crate::control::EarlyTick;
use crate::signal::BLOCK;
use processor::Block;

impl Messages {
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

    /// Returns true if messages may run before the signals of earlier blocks. In `play` they do not: what they ask for comes between two blocks.
    fn may_run_early(&self) -> bool {
        self.jobs.is_none()
    }

    /// Returns true if behind the first of Pd's blocks of `block` another one may begin before the signals of that are computed.
    ///
    /// Real-time: hot.
    pub(in super::super) fn may_begin_blocks(&self, block: &Block<'_>) -> bool {
        let step = self.step.as_ref();
        step.is_some_and(|step| step.may_come_early(self.may_run_early()))
            && self.hears_nothing(block)
    }

    /// Begins Pd's blocks of `block` whose messages need no signals of those before, as many as `ends` has at most, and writes when they end.
    /// Gives their number. The messages of the first have run.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(in super::super) fn begin_blocks(
        &mut self,
        block: &mut Block<'_>,
        ends: &mut [f64],
    ) -> usize {
        let may_run = self.may_run_early();
        let (Some(step), outsides) = (&mut self.step, &mut self.outsides) else {
            return 1;
        };
        ends[0] = step.now();
        let mut begun = 1;
        while begun < ends.len() {
            let tick = step.run_early(begun as u64, may_run);
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
}

/// A writer of the first frames of a channel of `adc~`.
fn inputs_of<'b>(block: &'b Block<'_>) -> impl FnMut(usize, &mut [f32]) + 'b {
    let count = block.input_count();
    move |at, to| match at + MIDI_INPUTS {
        port if port < count => to.copy_from_slice(&block.input(port).channel(0)[..to.len()]),
        _ => to.fill(0.0),
    }
}
