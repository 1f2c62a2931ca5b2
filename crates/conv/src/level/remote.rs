//! A delay line whose work is done in another process: [`RemoteLine`] in the node, [`LineWork`] there.
//!
//! ```text
//!   request   │ period │ slot │ slot │ slot │ …       a slot: its period, frames of silence, lost periods before, filters, sound
//!   reply     │ output of the period │
//! ```
//!
//! A request holds the last periods that the line needs, each in the slot of its number. The node writes one slot in each period.
//! The other process keeps the line's spectra, and looks at the newest slot alone. One that begins anew, or has missed a period,
//! hears all slots again: so it gives the same bits. A slot says which of two responses is in use, and how far a cross-fade is.

use super::crossfade::FilterPhase;
use super::fdl::Fdl;
use super::filters::FilterSet;
use fft::AlignedBuffer;
use processor::{NodeWork, WorkChannel};
use rt::deferred::{DeferredJob, PiecewiseJob};
use std::ops::Range;

/// Words before the slots.
const HEAD: usize = 2;
/// Words of a slot before its sound.
const SLOT_HEAD: usize = 6;
/// Samples below it make no output that is not finite, with any response.
const MODEST: f32 = 1e15;

/// Places in requests and replies of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineForm {
    /// Periods in a request.
    pub(super) periods: usize,
    /// Samples of a period of all inputs, and of its output.
    pub(super) input: usize,
    pub(super) output: usize,
}

impl LineForm {
    /// Words of a request and of a reply.
    pub(crate) fn words(self) -> (usize, usize) {
        (HEAD + self.periods * self.slot_words(), self.output)
    }

    fn slot_words(self) -> usize {
        SLOT_HEAD + self.input
    }

    fn slot(self, period: u64) -> Range<usize> {
        let at = HEAD + (period % self.periods as u64) as usize * self.slot_words();
        at..at + self.slot_words()
    }
}

/// The words of filters in a node that was made with response `first`: number of the response in use, and frames of the cross-fade to
/// the other one, plus one.
fn phase_words(phase: FilterPhase, first: usize) -> [u32; 2] {
    let number = first as u32 ^ u32::from(!phase.is_original);
    let fade = phase.fade.map(|frame| frame.saturating_add(1));
    [
        number,
        fade.map_or(0, |it| u32::try_from(it).unwrap_or(u32::MAX)),
    ]
}

/// The filters of such words, in a process that was made with the first response.
fn read_phase([number, fade]: [u32; 2]) -> FilterPhase {
    FilterPhase {
        is_original: number == 0,
        fade: (fade as usize).checked_sub(1),
    }
}

fn put(words: &mut [u32], value: u64) {
    (words[0], words[1]) = (value as u32, (value >> 32) as u32);
}

fn get(words: &[u32]) -> u64 {
    u64::from(words[0]) | u64::from(words[1]) << 32
}

/// The node's side.
pub(super) struct RemoteLine {
    form: LineForm,
    channel: Box<dyn WorkChannel>,
    /// It waits for results: offline.
    waits: bool,
    /// Number of the response that the node was made with.
    first: usize,
    /// The last result has not come.
    pub(super) is_missing: bool,
    /// The last period asked for, and the last one with a sample that is not modest.
    period: u64,
    immodest: Option<u64>,
}

impl RemoteLine {
    pub(super) fn new(
        form: LineForm,
        channel: Box<dyn WorkChannel>,
        (waits, first): (bool, usize),
    ) -> Self {
        Self {
            form,
            channel,
            waits,
            first,
            is_missing: false,
            period: 0,
            immodest: None,
        }
    }

    /// Asks for the output of `period`, as [`Fdl::begin`] begins it.
    ///
    /// Real-time: hot, wakes.
    pub(super) fn ask(
        &mut self,
        sound: &[f32],
        (silent, gap): (usize, usize),
        phase: FilterPhase,
        period: u64,
    ) {
        let phase = phase_words(phase, self.first);
        let slot = self.form.slot(period);
        self.period = period;
        // NaN is not modest either.
        if !sound.iter().all(|x| x.abs() < MODEST) {
            self.immodest = Some(period);
        }
        self.channel.ask(&[0..HEAD, slot.clone()], &mut |words| {
            put(words, period);
            let (head, samples) = words[slot.clone()].split_at_mut(SLOT_HEAD);
            put(head, period);
            head[2] = u32::try_from(silent).unwrap_or(u32::MAX);
            head[3] = u32::try_from(gap).unwrap_or(u32::MAX);
            head[4..].copy_from_slice(&phase);
            for (word, sample) in samples.iter_mut().zip(sound) {
                *word = sample.to_bits();
            }
        });
    }

    /// Takes the output, if it has come. Samples that are not finite are taken only if they can come of the input: a process that
    /// writes nonsense must not put them into filters behind.
    ///
    /// Real-time: hot; offline it waits.
    pub(super) fn take(&mut self, output: &mut [f32]) {
        let reply = self.channel.take_reply(self.waits);
        self.is_missing = reply.is_none();
        let mut is_finite = true;
        for (sample, word) in output.iter_mut().zip(reply.into_iter().flatten()) {
            *sample = f32::from_bits(*word);
            is_finite &= sample.is_finite();
        }
        if !is_finite && !self.may_be_infinite() {
            self.is_missing = true;
            self.channel.count_nonsense();
        }
    }

    /// Returns true if a sample that is not modest is in the periods that the output comes of.
    fn may_be_infinite(&self) -> bool {
        let age = self.immodest.map(|at| self.period.saturating_sub(at));
        age.is_some_and(|age| age <= self.form.periods as u64)
    }
}

/// The other side.
pub(crate) struct LineWork {
    form: LineForm,
    /// Never started: it holds the line.
    line: DeferredJob<Fdl>,
    /// The filters that are not in use, if there are two responses.
    spare: Option<FilterSet>,
    sound: AlignedBuffer,
    output: AlignedBuffer,
    /// The last period that it has heard.
    last: Option<u64>,
}

impl LineWork {
    /// Real-time: setup.
    pub(crate) fn new(form: LineForm, line: DeferredJob<Fdl>, spare: Option<FilterSet>) -> Self {
        Self {
            form,
            line,
            spare,
            sound: AlignedBuffer::new(form.input),
            output: AlignedBuffer::new(form.output),
            last: None,
        }
    }

    /// Takes the input of a period and gives its output. With `begins` the periods before count as silence.
    fn take_period(&mut self, slot: &[u32], period: u64, begins: bool) {
        let (head, samples) = slot.split_at(SLOT_HEAD);
        let Some(line) = self.line.get() else { return };
        for (sample, word) in self.sound.iter_mut().zip(samples) {
            *sample = f32::from_bits(*word);
        }
        let size = line.size();
        let silent = (head[2] as usize).min(size);
        let gap = match head[3] {
            _ if begins => usize::MAX,
            u32::MAX => usize::MAX,
            gap => gap as usize,
        };
        line.set_phase(read_phase([head[4], head[5]]), &mut self.spare);
        line.begin(&mut self.sound, silent, gap, period);
        while !PiecewiseJob::run_piece(line) {}
        line.take_output(&mut self.output);
        self.last = Some(period);
    }
}

impl NodeWork for LineWork {
    fn words(&self) -> (usize, usize) {
        self.form.words()
    }

    fn answer(&mut self, request: &[u32], reply: &mut [u32]) {
        let period = get(request);
        let is_next = period > 0 && self.last == Some(period - 1);
        let first = match is_next {
            true => period,
            false => period.saturating_sub(self.form.periods as u64 - 1),
        };
        let mut begins = !is_next;
        for heard in first..=period {
            let slot = &request[self.form.slot(heard)];
            // Of a period that was lost there is another one in its place.
            if get(slot) == heard {
                self.take_period(slot, heard, begins);
                begins = false;
            }
        }
        for (word, sample) in reply.iter_mut().zip(self.output.iter()) {
            *word = sample.to_bits();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives these words as every reply.
    struct Answers(Vec<u32>, u32);

    impl WorkChannel for Answers {
        fn ask(&mut self, _: &[Range<usize>], write: &mut dyn FnMut(&mut [u32])) {
            write(&mut vec![0; FORM.words().0]);
        }

        fn take_reply(&mut self, _: bool) -> Option<&[u32]> {
            Some(&self.0)
        }

        fn count_nonsense(&mut self) {
            self.1 += 1;
            self.0.clear();
        }
    }

    const FORM: LineForm = LineForm {
        periods: 3,
        input: 4,
        output: 2,
    };

    /// True if a reply with NaN is missing, `later` periods after an input with this sample.
    fn is_missing(sample: f32, later: u64) -> bool {
        let reply = Answers(vec![1.0_f32.to_bits(), f32::NAN.to_bits()], 0);
        let mut line = RemoteLine::new(FORM, Box::new(reply), (false, 0));
        let phase = read_phase([0, 0]);
        line.ask(&[0.5, sample, 0.0, 0.0], (0, 0), phase, 7);
        (8..8 + later).for_each(|period| line.ask(&[0.5; 4], (0, 0), phase, period));
        line.take(&mut [0.0; 2]);
        line.is_missing
    }

    #[test]
    fn words_of_filters_say_which_response_is_heard_whichever_the_node_began_with() {
        let phase = |is_original, fade| FilterPhase { is_original, fade };
        assert_eq!(phase_words(phase(true, None), 0), [0, 0]);
        assert_eq!(phase_words(phase(true, Some(0)), 1), [1, 1]);
        assert_eq!(phase_words(phase(false, Some(480)), 1), [0, 481]);
        assert_eq!(read_phase([0, 481]), phase(true, Some(480)));
        // Any words are some filters.
        assert_eq!(read_phase([7, 0]), phase(false, None));
        assert_eq!(read_phase([1, u32::MAX]).fade, Some(u32::MAX as usize - 1));
    }

    #[test]
    fn a_reply_that_is_not_finite_is_nonsense_unless_the_input_was_not_either() {
        assert!(is_missing(1.0, 0) && is_missing(-1e14, 0));
        for sample in [f32::NAN, f32::NEG_INFINITY, 1e38] {
            assert!(!is_missing(sample, 0) && !is_missing(sample, 2));
            assert!(is_missing(sample, 4));
        }
    }
}
