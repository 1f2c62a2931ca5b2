//! Frequency-domain delay line of one level, for one channel or for sixteen side by side.

use super::nested::{self, MAX_PRODUCTS, PERIODS};
use super::nested_products::nested_products;
use conv::Level;
use fft::{AlignedBuffer, ComposedFft, Kernels, LANES, RealFft};
use std::sync::Arc;

/// Products that one pass over a sum adds.
const AT_ONCE: usize = 8;
/// Floats of a spectrum that are multiplied at once, where there are several sums.
const STRETCH: usize = 1024;

/// Sizes and transforms that all delay lines of a level share.
pub(super) struct LevelSpec {
    pub(super) level: Level,
    pub(super) block: usize,
    pub(super) fft: Arc<RealFft>,
    /// Transform from the spectra of the smaller level, if there is one.
    pub(super) composed: Option<Arc<ComposedFft>>,
    pub(super) is_nested: bool,
    pub(super) kernels: Kernels,
}

impl LevelSpec {
    /// Channels side by side in all memory: 1 or 16.
    pub(super) fn width(&self) -> usize {
        self.fft.packing().channels()
    }

    /// Floats of one spectrum, or of two periods of sound.
    fn floats(&self) -> usize {
        self.fft.buffer_len()
    }

    /// Results that are kept: the newest, and those not yet in the output.
    fn depth(&self) -> usize {
        self.level.slack().div_ceil(self.level.size()) + 1
    }
}

/// See the module.
pub(super) struct StudyFdl {
    /// Input of the last period, then of this one: frames of `width` samples.
    window: AlignedBuffer,
    /// Frames since the start.
    clock: u64,
    /// Input spectra of the last periods, in a ring; `newest` is the newest one's place.
    inputs: AlignedBuffer,
    newest: usize,
    /// Spectra of the response's partitions.
    filters: AlignedBuffer,
    sum: AlignedBuffer,
    time: AlignedBuffer,
    scratch: AlignedBuffer,
    /// Sound of the last periods.
    results: Box<[AlignedBuffer]>,
    nested: Option<NestedState>,
    composed: Option<ComposedState>,
}

/// Memory of nested products.
struct NestedState {
    /// Sum of two input spectra beside each one of the ring.
    input_pairs: AlignedBuffer,
    /// Sums of two partitions' spectra, phase by phase.
    filter_pairs: AlignedBuffer,
    /// The results D of this period, the last one and the one before.
    results: [AlignedBuffer; PERIODS],
}

/// Sums of the smaller level's spectra over the last period and over this one.
struct ComposedState {
    earlier: AlignedBuffer,
    later: AlignedBuffer,
}

impl StudyFdl {
    /// Makes a delay line for these channels' responses.
    pub(super) fn new(spec: &LevelSpec, responses: &[&[f32]]) -> Self {
        let (floats, count) = (spec.floats(), spec.level.count());
        let filters = filter_spectra(spec, responses);
        let composed = spec.composed.as_ref();
        let scratch = spec.fft.scratch_len();
        let scratch = composed.map_or(scratch, |composed| scratch.max(composed.scratch_len()));
        Self {
            window: AlignedBuffer::new(floats),
            clock: 0,
            inputs: AlignedBuffer::new(count * floats),
            newest: 0,
            sum: AlignedBuffer::new(floats),
            time: AlignedBuffer::new(floats),
            scratch: AlignedBuffer::new(scratch),
            results: (0..spec.depth())
                .map(|_| AlignedBuffer::new(floats / 2))
                .collect(),
            nested: spec.is_nested.then(|| NestedState {
                input_pairs: AlignedBuffer::new(count * floats),
                filter_pairs: nested::filter_pairs(&filters, floats),
                results: [(); PERIODS].map(|()| AlignedBuffer::new(floats)),
            }),
            composed: composed.map(|composed| ComposedState {
                earlier: AlignedBuffer::new(composed.sum_len()),
                later: AlignedBuffer::new(composed.sum_len()),
            }),
            filters,
        }
    }

    /// Number of the period that ends now.
    fn period(&self, spec: &LevelSpec) -> u64 {
        self.clock / spec.level.size() as u64
    }

    /// Writes one block of each channel behind the input so far.
    ///
    /// Real-time: hot.
    pub(super) fn write_input(&mut self, spec: &LevelSpec, inputs: &[&[f32]]) {
        let (size, width) = (spec.level.size(), spec.width());
        let at = (size + self.clock as usize % size) * width;
        let frames = self.window[at..at + spec.block * width].chunks_exact_mut(width);
        for (n, frame) in frames.enumerate() {
            for (sample, input) in frame.iter_mut().zip(inputs) {
                *sample = input[n];
            }
        }
        self.clock += spec.block as u64;
    }

    /// Returns true if a period has just become complete.
    ///
    /// Real-time: hot.
    pub(super) fn is_period_end(&self, spec: &LevelSpec) -> bool {
        self.clock.is_multiple_of(spec.level.size() as u64)
    }

    /// Transforms the last two periods of input.
    ///
    /// Real-time: hot.
    pub(super) fn transform(&mut self, spec: &LevelSpec) {
        let (floats, count) = (spec.floats(), spec.level.count());
        self.newest = (self.newest + 1) % count;
        let spectrum = &mut self.inputs[self.newest * floats..][..floats];
        match (&spec.composed, &mut self.composed) {
            (Some(composed), Some(sums)) => {
                let scratch = &mut self.scratch[..composed.scratch_len()];
                for i in 0..composed.pieces() {
                    composed.run_piece(i, &self.window, spectrum, scratch);
                }
                for i in 0..composed.final_pieces() {
                    let halves = (&*sums.earlier, &*sums.later);
                    composed.run_final_piece(i, halves, spectrum, scratch);
                }
                std::mem::swap(&mut sums.earlier, &mut sums.later);
            }
            _ => {
                let scratch = &mut self.scratch[..spec.fft.scratch_len()];
                spec.fft.forward(&self.window, spectrum, scratch);
            }
        }
        self.window.copy_within(floats / 2.., 0);
    }

    /// The newest input spectrum, and the number of its period.
    ///
    /// Real-time: hot.
    pub(super) fn newest_spectrum(&self, spec: &LevelSpec) -> (u64, &[f32]) {
        let floats = spec.floats();
        (
            self.period(spec),
            &self.inputs[self.newest * floats..][..floats],
        )
    }

    /// Adds the smaller level's spectrum of its period `period`. Only windows that lie end to end count: those of even
    /// periods. The sum is complete when this level's period is.
    ///
    /// Real-time: hot.
    pub(super) fn add_smaller(&mut self, spec: &LevelSpec, period: u64, spectrum: &[f32]) {
        let (Some(composed), Some(sums)) = (&spec.composed, &mut self.composed) else {
            return;
        };
        if period % 2 == 1 {
            return;
        }
        let is_first = (period - 2).is_multiple_of(composed.ratio() as u64);
        match is_first {
            true => sums.later.copy_from_slice(spectrum),
            false => spec.kernels.add_assign(&mut sums.later, spectrum),
        }
    }

    /// Multiplies and transforms back; the second half is this period's result.
    ///
    /// Real-time: hot.
    pub(super) fn multiply(&mut self, spec: &LevelSpec) {
        match self.nested.is_some() {
            true => self.multiply_nested(spec),
            false => self.multiply_plain(spec),
        }
        let scratch = &mut self.scratch[..spec.fft.scratch_len()];
        spec.fft.inverse(&mut self.sum, &mut self.time, scratch);
        let slot = (self.period(spec) % self.results.len() as u64) as usize;
        let half = spec.floats() / 2;
        self.results[slot].copy_from_slice(&self.time[half..]);
    }

    /// Place of the input spectrum of `age` periods ago.
    fn place(newest: usize, age: usize, count: usize) -> usize {
        (newest + count - age) % count
    }

    fn multiply_plain(&mut self, spec: &LevelSpec) {
        let (floats, count) = (spec.floats(), spec.level.count());
        self.sum.fill(0.0);
        for first in (0..count).step_by(AT_ONCE) {
            let mut products: [(&[f32], &[f32]); AT_ONCE] = [(&[], &[]); AT_ONCE];
            let some = AT_ONCE.min(count - first);
            for (product, age) in products[..some].iter_mut().zip(first..) {
                let input = &self.inputs[Self::place(self.newest, age, count) * floats..];
                *product = (&input[..floats], &self.filters[age * floats..][..floats]);
            }
            let packing = Some(spec.fft.packing());
            let products = &products[..some];
            spec.kernels
                .multiply_add_blocks(&mut self.sum, products, packing);
        }
    }

    fn multiply_nested(&mut self, spec: &LevelSpec) {
        let (floats, count) = (spec.floats(), spec.level.count());
        let (period, newest) = (self.period(spec), self.newest);
        let Some(nested) = &mut self.nested else {
            return;
        };
        let spectrum = |age| &self.inputs[Self::place(newest, age, count) * floats..][..floats];
        let (a, b) = nested::pair_ages(period);
        let pair = &mut nested.input_pairs[newest * floats..][..floats];
        spec.kernels.add(pair, spectrum(a), spectrum(b));
        nested.results.rotate_right(1);
        let [result, previous, before_previous] = &mut nested.results;
        let phase = nested::phase(period);
        let pair_filters = nested::pair_range(count, phase);
        for from in (0..floats).step_by(STRETCH) {
            let part = from..floats.min(from + STRETCH);
            let mut own: [(&[f32], &[f32]); MAX_PRODUCTS] = [(&[], &[]); MAX_PRODUCTS];
            let mut pairs = own;
            let own_count = nested::every_third(count, phase);
            for (n, product) in own[..own_count].iter_mut().enumerate() {
                let filter = &self.filters[(phase + PERIODS * n) * floats..][part.clone()];
                *product = (&spectrum(PERIODS * n)[part.clone()], filter);
            }
            for (n, product) in pairs[..pair_filters.len()].iter_mut().enumerate() {
                let input = &nested.input_pairs[Self::place(newest, PERIODS * n, count) * floats..];
                let filter = &nested.filter_pairs[(pair_filters.start + n) * floats..];
                *product = (&input[part.clone()], &filter[part.clone()]);
            }
            nested_products(
                spec.kernels,
                (&mut result[part.clone()], &mut self.sum[part.clone()]),
                (&own[..own_count], &pairs[..pair_filters.len()]),
                [&previous[part.clone()], &before_previous[part.clone()]],
                nested::minuend(period),
                (from == 0).then_some(spec.fft.packing()),
            );
        }
    }

    /// Adds the block of sound that is due to each channel's output.
    ///
    /// Real-time: hot.
    pub(super) fn add_output(&mut self, spec: &LevelSpec, outputs: &mut [&mut [f32]]) {
        let (size, width) = (spec.level.size() as u64, spec.width());
        // Output begins with the block whose end is the slack behind the period's end.
        let Some(at) = self.clock.checked_sub(spec.level.slack() as u64) else {
            return;
        };
        let slot = (at / size % self.results.len() as u64) as usize;
        let from = (at % size) as usize * width;
        let frames = self.results[slot][from..][..spec.block * width].chunks_exact(width);
        for (n, frame) in frames.enumerate() {
            for (output, sample) in outputs.iter_mut().zip(frame) {
                output[n] += sample;
            }
        }
    }
}

/// Spectra of all partitions of up to sixteen responses.
fn filter_spectra(spec: &LevelSpec, responses: &[&[f32]]) -> AlignedBuffer {
    let (level, floats, width) = (&spec.level, spec.floats(), spec.width());
    let mut spectra = AlignedBuffer::new(level.count() * floats);
    let mut time = AlignedBuffer::new(floats);
    let mut scratch = AlignedBuffer::new(spec.fft.scratch_len());
    for (n, spectrum) in spectra.chunks_exact_mut(floats).enumerate() {
        time.fill(0.0);
        let from = level.start() + n * level.size();
        for (lane, response) in responses.iter().enumerate().take(LANES) {
            let rest = response.get(from..).unwrap_or_default();
            let frames = time[lane..].iter_mut().step_by(width);
            for (to, x) in frames.zip(rest.iter().take(level.size())) {
                // A forward and an inverse transform together multiply by twice the size.
                *to = x / (2 * level.size()) as f32;
            }
        }
        spec.fft.forward(&time, spectrum, &mut scratch);
    }
    spectra
}
