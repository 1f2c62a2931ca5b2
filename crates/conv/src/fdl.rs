//! One level of one group of channels: a frequency-domain delay line.
//!
//! Each period it transforms every input's last 2M frames (the period before and the new one), multiplies the spectra of
//! the last periods by those of the impulse responses' partitions, and transforms the sums back; the second half of each
//! result is sound. One transform an input, one back an output, whatever the number of paths between them.
//!
//! The work is a list of [pieces](Fdl::pieces), each short, to be done one after the other.
//!
//! To forget spectra is to count: what was written before counts as zeros, with the bits that zeros in its place would give.
//!
//! Sound comes channel by channel, so that it is read in long runs, and goes *block by block*: for each block of the
//! period all channels side by side, so that the callback reads one short run of memory. Of a batch of 16 channels a
//! block is frames of 16 samples.

mod fewer;
mod larger;

use crate::ahead::Ahead;
use crate::handed::{Giver, Taker};
use crate::ir_set::IrSet;
use crate::nested::Nested;
use crate::past::{self, Past};
use crate::pieces::{List, Part};
use crate::shape::{Shape, Wire};
use fft::AlignedBuffer;
use rt::deferred::PiecewiseJob;
use rt::ftz::FlushToZero;

/// How far an exchange has come.
struct Fade {
    next: IrSet,
    /// Frames that have been faded.
    at: usize,
}

/// See the module.
pub struct Fdl {
    shape: Shape,
    /// Sorted by output.
    wires: Box<[Wire]>,
    /// For each output, which wires end there.
    ends: Box<[(usize, usize)]>,
    fresh: AlignedBuffer,
    old: AlignedBuffer,
    /// Frames at the begin of `fresh` that count as silence, whatever stands there; so for `old`.
    fresh_from: usize,
    old_from: usize,
    past: AlignedBuffer,
    /// For each place in `past` the era in which it was written; 0: in none.
    written: Box<[u32]>,
    /// What was written in another era than this is forgotten: it counts as silence, whatever stands there.
    era: u32,
    /// How many periods ago something was forgotten last.
    since: usize,
    newest: usize,
    /// The number of this period.
    period: u64,
    ahead: Ahead,
    /// What is handed on to a larger line, and what is taken from a smaller one.
    giver: Option<Giver>,
    taker: Option<Taker>,
    /// How often sound has been forgotten.
    jumps: u64,
    nested: Nested,
    /// Beside each spectrum of `past` the sum of two, where products are nested.
    pairs: AlignedBuffer,
    irs: IrSet,
    fade: Option<Fade>,
    /// Impulse responses that are no longer heard.
    retired: Option<IrSet>,
    heard: AlignedBuffer,
    window: AlignedBuffer,
    /// Of transforms that are not done in place; else the window is the sum's place too.
    sum: AlignedBuffer,
    scratch: AlignedBuffer,
    /// Without and with a fade.
    lists: [List; 2],
    at: usize,
    is_next: bool,
}

impl Fdl {
    /// A line that has heard nothing. Each wire has its place in `irs`.
    pub(crate) fn new(
        shape: Shape,
        inputs: usize,
        outputs: usize,
        wires: &[Wire],
        irs: IrSet,
    ) -> Self {
        debug_assert!(wires.is_sorted_by_key(|w| w.output));
        let end = |o| {
            let from = wires.partition_point(|w| w.output < o);
            (from, wires.partition_point(|w| w.output <= o))
        };
        let ends: Box<[_]> = (0..outputs).map(end).collect();
        past::touch();
        let lists = List::both(&shape, inputs, wires, &ends);
        Self {
            wires: wires.into(),
            fresh: AlignedBuffer::new(inputs * shape.stride()),
            old: AlignedBuffer::new(inputs * shape.stride()),
            fresh_from: 0,
            old_from: 0,
            past: AlignedBuffer::new(inputs * shape.count * shape.floats()),
            written: vec![1; inputs * shape.count].into(),
            era: 1,
            since: usize::MAX,
            newest: 0,
            period: 0,
            ahead: Ahead::new(shape.ahead, shape.floats(), outputs),
            giver: None,
            taker: None,
            jumps: 0,
            nested: Nested::new(if shape.is_nested { outputs } else { 0 }, shape.floats()),
            pairs: AlignedBuffer::new(match shape.is_nested {
                true => inputs * shape.count * shape.floats(),
                false => 0,
            }),
            irs,
            fade: None,
            retired: None,
            heard: AlignedBuffer::new(outputs * shape.half()),
            window: AlignedBuffer::new(shape.floats()),
            sum: AlignedBuffer::new(if shape.fft.has_in_place_inverse() {
                0
            } else {
                shape.floats()
            }),
            scratch: AlignedBuffer::new(shape.fft.scratch_len()),
            ends,
            lists,
            at: 0,
            is_next: false,
            shape,
        }
    }

    /// How many pieces the work of one period has.
    ///
    /// Real-time: hot.
    pub fn piece_count(&self) -> usize {
        self.list().pieces()
    }

    /// Roughly how many vector instructions each piece has, while no exchange is under way.
    ///
    /// Real-time: setup.
    pub fn piece_costs(&self) -> Vec<u64> {
        self.lists[0].weights()
    }

    /// Does piece `index`. All must be done, once and in order.
    ///
    /// Real-time: hot.
    pub fn run_piece(&mut self, index: usize) {
        if index == 0 {
            self.is_next = false;
        }
        for at in self.list().parts_of(index) {
            match self.list().part(at) {
                Part::Gather(input, from, to) => self.gather(input, from, to),
                Part::Forward(input, i) => self.forward(input, i),
                Part::Larger(input, i) => self.larger_piece(input, i, false),
                Part::Take(input) => self.take(input),
                Part::LargerLast(input, i) => self.larger_piece(input, i, true),
                Part::Give(input, from, to) => self.give_part(input, from..to),
                Part::Pair(input, from, to) => self.pair(input, from..to),
                Part::Multiply {
                    output,
                    phase,
                    from,
                    to,
                } => self.multiply(output, phase, from, to),
                Part::Inverse(i) => self.inverse(i),
                Part::Scatter(output, from, to) => self.scatter(output, from, to),
                Part::Next => self.is_next = !self.is_next,
            }
        }
        if index + 1 == self.piece_count() {
            self.ahead.end_period();
        }
    }

    /// The frames of one partition.
    pub fn size(&self) -> usize {
        self.shape.size
    }

    pub(crate) fn irs(&self) -> &IrSet {
        &self.irs
    }

    /// Bytes of the inputs' spectra, and of the rest but for the impulse responses.
    pub(crate) fn bytes(&self) -> (usize, usize) {
        let sound = self.fresh.len() + self.old.len() + self.heard.len();
        let work = self.window.len() + self.sum.len() + self.scratch.len();
        let taken = self.taker.as_ref().map_or(0, Taker::floats);
        let waiting = self.ahead.floats() + self.nested.floats() + taken;
        let past = self.past.len() + self.pairs.len();
        (4 * past, 4 * (sound + work + waiting))
    }

    fn list(&self) -> &List {
        &self.lists[usize::from(self.fade.is_some())]
    }

    /// Takes input of period number `period` and gives memory for the next; the first `from` frames of it count as
    /// silence, and so do the `gap` periods before.
    ///
    /// Real-time: hot.
    pub(crate) fn begin(
        &mut self,
        fresh: &mut AlignedBuffer,
        from: usize,
        gap: usize,
        period: u64,
    ) {
        std::mem::swap(&mut self.old, &mut self.fresh);
        std::mem::swap(&mut self.fresh, fresh);
        self.old_from = if gap > 0 {
            self.shape.size
        } else {
            self.fresh_from
        };
        self.fresh_from = from;
        let count = self.shape.count;
        let is_all = gap > 0 && gap >= count - 1;
        self.since = match gap {
            0 => self.since.saturating_add(1),
            _ => 0,
        };
        match is_all {
            true => self.forget(),
            false => self.lose(gap),
        }
        self.newest = (self.newest + 1 + gap % count) % count;
        self.at = 0;
        self.period = period;
        self.begin_nested(gap, is_all);
        self.begin_handed(gap);
        if self.fade.is_some() {
            self.ahead.lose(period + 1);
        } else if is_all {
            self.ahead.forget();
        } else if gap > 0 {
            self.ahead.lose(period);
        }
    }

    /// All spectra count as silence.
    fn forget(&mut self) {
        self.era = self.era.wrapping_add(1);
        if self.era == 0 {
            // After years of it: what was written in the first era must not come back.
            self.written.fill(0);
            self.era = 1;
        }
    }

    /// The places of the next `gap` spectra count as silence.
    fn lose(&mut self, gap: usize) {
        for input in self.written.chunks_exact_mut(self.shape.count) {
            for place in self.newest + 1..=self.newest + gap {
                input[place % self.shape.count] = 0;
            }
        }
    }

    /// Gives the sound of the last period, and takes memory for the next.
    ///
    /// Real-time: hot.
    pub(crate) fn give(&mut self, heard: &mut AlignedBuffer) {
        std::mem::swap(&mut self.heard, heard);
        self.skip();
    }

    /// The sound of the last period is heard, or never will be: an exchange goes on.
    ///
    /// Real-time: hot.
    pub(crate) fn skip(&mut self) {
        let of = self.shape.fade;
        if let Some(fade) = &mut self.fade {
            fade.at += self.shape.size;
        }
        if self.fade.as_ref().is_some_and(|fade| fade.at >= of) {
            self.end_fade();
        }
    }

    /// Whether an exchange can begin.
    ///
    /// Real-time: hot.
    pub(crate) fn may_exchange(&self) -> bool {
        self.fade.is_none() && self.retired.is_none()
    }

    /// Fades to `next` from the next period on.
    ///
    /// Real-time: hot.
    pub(crate) fn exchange(&mut self, next: IrSet) {
        self.fade = Some(Fade { next, at: 0 });
    }

    /// The impulse responses that an exchange left over, once it is done.
    ///
    /// Real-time: hot.
    pub(crate) fn take_retired(&mut self) -> Option<IrSet> {
        self.retired.take()
    }

    /// Ends an exchange at once.
    ///
    /// Real-time: hot.
    pub(crate) fn end_fade(&mut self) {
        if let Some(fade) = self.fade.take() {
            self.retired = Some(std::mem::replace(&mut self.irs, fade.next));
        }
    }

    /// Hears what it was made with, at once; what it heard, or was to hear, is put into `other`, which may hold what is to
    /// be heard. There are two sets in all, wherever they are.
    ///
    /// Real-time: hot.
    pub(crate) fn restart(&mut self, other: &mut Option<IrSet>) {
        let coming = self.fade.take().map(|fade| fade.next);
        let there = coming.or_else(|| self.retired.take());
        if let Some(set) = there.or_else(|| other.take()) {
            *other = Some(match set.is_first() {
                true => std::mem::replace(&mut self.irs, set),
                false => set,
            });
        }
    }

    /// Blocks `from..to` of the window: the period before, then the new one.
    fn gather(&mut self, input: usize, from: usize, to: usize) {
        let (half, width) = (self.shape.half(), self.shape.width);
        let (from, to) = (from * self.shape.run(), to * self.shape.run());
        let first = input * self.shape.stride();
        for (at, sound, silent) in [
            (0, &self.old, self.old_from),
            (half, &self.fresh, self.fresh_from),
        ] {
            let (from, to) = (from.clamp(at, at + half), to.clamp(at, at + half));
            let window = &mut self.window[from..to];
            let (from, to) = (from - at, to - at);
            window.copy_from_slice(&sound[first + from..first + to]);
            window[..(silent * width).clamp(from, to) - from].fill(0.0);
        }
    }

    fn forward(&mut self, input: usize, i: usize) {
        let place = input * self.shape.count + self.newest;
        self.written[place] = self.era;
        let (fft, floats) = (&self.shape.fft, self.shape.floats());
        let spectrum = &mut self.past[place * floats..][..floats];
        let scratch = &mut self.scratch[..fft.scratch_len()];
        fft.forward_piece(i, &self.window, spectrum, scratch);
    }

    /// Floats `from..to` of the range that is in `phase`.
    fn multiply(&mut self, output: usize, phase: usize, from: usize, to: usize) {
        if self.shape.is_nested && self.fade.is_none() {
            return self.multiply_nested(output, from..to);
        }
        let irs = match &self.fade {
            Some(fade) if self.is_next => &fade.next,
            _ => &self.irs,
        };
        let first = self.ahead.first(self.period, phase);
        let (part, now) = (first + from..first + to, (self.period, phase));
        let packing = (part.start == 0).then_some(self.shape.packing);
        let sum = match self.shape.fft.has_in_place_inverse() {
            true => &mut self.window[part.clone()],
            false => &mut self.sum[part.clone()],
        };
        let is_alone = self.fade.is_some();
        let mut sums = self.ahead.sums(output, now, from..to, sum, is_alone);
        let (first, end) = self.ends[output];
        let (count, floats) = (self.shape.count, self.shape.floats());
        for (wire, ir) in self.wires[first..end].iter().zip(irs.of(first..end)) {
            let Some(ir) = ir else { continue };
            let first = wire.input * count;
            let past = Past {
                spectra: &self.past[first * floats..][..count * floats],
                written: (&self.written[first..][..count], self.era),
                is_whole: self.since >= count,
                newest: self.newest,
                floats,
                part: part.clone(),
            };
            past.multiply(&mut sums, ir, self.shape.kernels, packing);
        }
    }

    fn inverse(&mut self, i: usize) {
        let (fft, window) = (&self.shape.fft, &mut self.window);
        let scratch = &mut self.scratch[..fft.scratch_len()];
        match fft.has_in_place_inverse() {
            true => fft.inverse_piece_in_place(i, window, scratch),
            false => fft.inverse_piece(i, &mut self.sum, window, scratch),
        }
    }

    /// Blocks `from..to` of the sound half of the window to where they are heard.
    fn scatter(&mut self, output: usize, from: usize, to: usize) {
        let (run, width) = (self.shape.run(), self.shape.width);
        let outputs = self.ends.len();
        let fade = self.fade.as_ref().filter(|_| self.is_next);
        let scale = fade.map_or(&self.irs, |fade| &fade.next).scale();
        let sound = &mut self.window[self.shape.half()..][from * run..to * run];
        if scale != 1.0 {
            sound.iter_mut().for_each(|x| *x *= scale);
        }
        for (block, sound) in (from..to).zip(sound.chunks_exact(run)) {
            let at = (block * outputs + output) * run;
            let heard = &mut self.heard[at..at + run];
            match fade {
                None => heard.copy_from_slice(sound),
                Some(fade) => {
                    let done = fade.at + block * self.shape.block;
                    blend(heard, sound, done, self.shape.fade, width);
                }
            }
        }
    }
}

impl PiecewiseJob for Fdl {
    fn run_piece(&mut self) -> bool {
        let _floats = FlushToZero::enable();
        self.run_piece(self.at);
        self.at += 1;
        self.at == self.piece_count()
    }
}

/// From `old`, frame `at` of a fade over `of` frames, towards `new`: the two gains sum to one.
///
/// Real-time: hot.
pub(crate) fn blend(old: &mut [f32], new: &[f32], at: usize, of: usize, width: usize) {
    let frames = old.chunks_exact_mut(width).zip(new.chunks_exact(width));
    for ((old, new), at) in frames.zip(at + 1..) {
        let gain = if at < of { at as f32 / of as f32 } else { 1.0 };
        for (old, new) in old.iter_mut().zip(new) {
            *old = *old * (1.0 - gain) + *new * gain;
        }
    }
}
