//! What a delay line does that hands its spectra on, or makes its own from those of a smaller one.

use super::Fdl;
use crate::handed::{Giver, Taker, Time};
use std::ops::Range;

impl Fdl {
    /// Hands its spectra on from now on.
    ///
    /// Real-time: setup.
    pub(crate) fn give_to(&mut self, giver: Giver) {
        self.giver = Some(giver);
    }

    /// Takes spectra from now on.
    ///
    /// Real-time: setup.
    pub(crate) fn take_from(&mut self, taker: Taker) {
        let scratch = self.scratch.len().max(taker.larger().scratch_len());
        self.scratch = fft::AlignedBuffer::new(scratch);
        self.taker = Some(taker);
    }

    /// How many sums of spectra nobody had handed on when they were needed.
    ///
    /// Real-time: hot.
    pub(crate) fn alone(&self) -> u64 {
        self.taker.as_ref().map_or(0, Taker::alone)
    }

    /// How often sound has been forgotten.
    ///
    /// Real-time: hot.
    pub(crate) fn set_jumps(&mut self, jumps: u64) {
        self.jumps = jumps;
    }

    /// Where the newest spectrum of an input is.
    fn newest_of(&self, input: usize) -> Range<usize> {
        let floats = self.shape.floats();
        let from = (input * self.shape.count + self.newest) * floats;
        from..from + floats
    }

    fn time(&self) -> Time {
        (self.jumps, self.period)
    }

    /// What a period's spectra lack after a gap is not handed on.
    ///
    /// Real-time: hot.
    pub(super) fn begin_handed(&mut self, gap: usize) {
        let now = self.time();
        if let Some(giver) = self.giver.as_mut().filter(|_| gap > 0) {
            giver.lose(now);
        }
    }

    /// Hands on floats `part` of an input's newest spectrum.
    ///
    /// Real-time: hot.
    pub(super) fn give_part(&mut self, input: usize, part: Range<usize>) {
        let (newest, now) = (self.newest_of(input), self.time());
        if let Some(giver) = &mut self.giver {
            giver.add(input, now, part, &self.past[newest]);
        }
    }

    /// Gets, or makes, what a smaller line has to give.
    ///
    /// Real-time: hot.
    pub(super) fn take(&mut self, input: usize) {
        let now = self.time();
        let half = &self.window[self.shape.half()..];
        if let Some(taker) = &mut self.taker {
            taker.take(input, now, half, self.since == 0);
        }
    }

    /// Does a piece of an input's transform that needs nothing of the smaller line; or, if `is_last`, one that does.
    ///
    /// Real-time: hot.
    pub(super) fn larger_piece(&mut self, input: usize, i: usize, is_last: bool) {
        self.written[input * self.shape.count + self.newest] = self.era;
        let newest = self.newest_of(input);
        let Some(taker) = &self.taker else { return };
        let (larger, spectrum) = (taker.larger(), &mut self.past[newest]);
        let scratch = &mut self.scratch[..larger.scratch_len()];
        match is_last {
            false => larger.run_piece(i, &self.window, spectrum, scratch),
            true => larger.run_final_piece(i, taker.sums(input), spectrum, scratch),
        }
    }
}
