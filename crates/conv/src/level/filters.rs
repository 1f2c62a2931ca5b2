//! Spectra of impulse responses, ready to be multiplied. Paths that share a response share its spectra.

use super::spec::FdlSpec;
use crate::partition::Level;
use fft::{AlignedBuffer, LANES, half};
use rt::ftz::FlushToZero;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Spectra of an impulse response's partitions, one behind the other.
pub(crate) enum FilterSpectra {
    /// In single precision.
    Full(AlignedBuffer),
    /// In half precision.
    Half(Box<[u16]>),
}

impl FilterSpectra {
    /// Address and number of bytes.
    fn memory(&self) -> (usize, usize) {
        match self {
            Self::Full(all) => (all.as_ptr().addr(), size_of_val(&**all)),
            Self::Half(all) => (all.as_ptr().addr(), size_of_val(&**all)),
        }
    }
}

/// The filters of a line: one place a connection, `None` where a connection is silent in this level.
#[derive(Clone)]
pub(crate) struct FilterSet {
    filters: Box<[Option<Arc<FilterSpectra>>]>,
    scale: f32,
    /// True if the convolver was made with it.
    is_original: bool,
}

impl FilterSet {
    /// Makes a set; the output of the inverse transform is to be multiplied by `scale`.
    ///
    /// Real-time: setup.
    pub(crate) fn new(filters: Box<[Option<Arc<FilterSpectra>>]>, scale: f32) -> Self {
        Self {
            filters,
            scale,
            is_original: false,
        }
    }

    /// Marks the set as the one that a convolver is made with.
    ///
    /// Real-time: setup.
    pub(crate) fn into_original(self) -> Self {
        Self {
            is_original: true,
            ..self
        }
    }

    /// Returns true if the convolver was made with it.
    ///
    /// Real-time: hot.
    pub(crate) fn is_original(&self) -> bool {
        self.is_original
    }

    /// Filters of a range of connections.
    ///
    /// Real-time: hot.
    pub(crate) fn of(&self, connections: Range<usize>) -> &[Option<Arc<FilterSpectra>>] {
        &self.filters[connections]
    }

    /// Factor for the output of the inverse transform: a power of two.
    ///
    /// Real-time: hot.
    pub(crate) fn scale(&self) -> f32 {
        self.scale
    }

    /// Addresses and sizes, in bytes, of all spectra.
    pub(crate) fn memory(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.filters.iter().flatten().map(|filter| filter.memory())
    }
}

/// An impulse response and its gain.
#[derive(Clone, Debug)]
pub(crate) struct ScaledIr {
    pub(crate) frames: Arc<[f32]>,
    pub(crate) gain: f32,
}

impl ScaledIr {
    /// Identity of the response: its memory and its gain.
    fn key(&self) -> (usize, u32) {
        (self.frames.as_ptr().addr(), self.gain.to_bits())
    }

    /// Writes the frames `range` with gain and `scale` to every `step`-th place, up to the end of the response.
    fn write(&self, range: Range<usize>, scale: f32, to: &mut [f32], step: usize) {
        let end = range.end.min(self.frames.len());
        let frames = &self.frames[range.start.min(end)..end];
        for (to, x) in to.iter_mut().step_by(step).zip(frames) {
            *to = x * (self.gain * scale);
        }
    }

    fn is_longer_than(&self, frames: usize) -> bool {
        self.frames.len() > frames
    }
}

/// Largest number of a spectrum in half precision.
const MAX_HALF: f64 = 32768.0;

/// Transforms impulse responses, each one once.
pub(crate) struct FilterTransformer<'a> {
    irs: &'a [ScaledIr],
    /// By size of the level, and identity of the response.
    done: HashMap<(usize, usize, u32), Arc<FilterSpectra>>,
    /// By size of the level: the factor that makes half precision hold its spectra.
    scales: HashMap<usize, f32>,
}

impl<'a> FilterTransformer<'a> {
    /// Prepares for the responses of all paths.
    ///
    /// Real-time: setup.
    pub(crate) fn new(irs: &'a [ScaledIr]) -> Self {
        Self {
            irs,
            done: HashMap::new(),
            scales: HashMap::new(),
        }
    }

    /// Spectra of the response of `path` in a level of one channel at a time; `None` where the response is too short for
    /// the level.
    ///
    /// Real-time: setup.
    pub(crate) fn one(
        &mut self,
        spec: &FdlSpec,
        level: &Level,
        path: usize,
    ) -> Option<Arc<FilterSpectra>> {
        let ir = &self.irs[path];
        if !ir.is_longer_than(level.start()) {
            return None;
        }
        let scale = self.scale(spec, level);
        let (address, gain) = ir.key();
        let make = || Arc::new(transform(spec, level, &[Some(ir)], scale));
        let done = self.done.entry((level.size(), address, gain));
        Some(done.or_insert_with(make).clone())
    }

    /// Spectra of the responses of sixteen paths, side by side; `None` where all are too short for the level.
    ///
    /// Real-time: setup.
    pub(crate) fn sixteen(
        &mut self,
        spec: &FdlSpec,
        level: &Level,
        paths: &[Option<usize>; LANES],
    ) -> Option<Arc<FilterSpectra>> {
        let irs = paths.map(|path| path.map(|path| &self.irs[path]));
        let is_any = |ir: &&ScaledIr| ir.is_longer_than(level.start());
        let is_any = irs.iter().flatten().any(is_any);
        let scale = self.scale(spec, level);
        is_any.then(|| Arc::new(transform(spec, level, &irs, scale)))
    }

    /// Factor of a level's spectra: a power of two with which half precision holds them, else 1.
    ///
    /// Real-time: setup.
    pub(crate) fn scale(&mut self, spec: &FdlSpec, level: &Level) -> f32 {
        if !spec.is_half {
            return 1.0;
        }
        let make = || half_scale(level, self.irs);
        *self.scales.entry(level.size()).or_insert_with(make)
    }
}

/// A bin of a spectrum is at most the sum of the absolute values of what is transformed.
fn half_scale(level: &Level, irs: &[ScaledIr]) -> f32 {
    let sum = |ir: &ScaledIr| {
        let from = level.start().min(ir.frames.len());
        let partitions = ir.frames[from..].chunks(level.size()).take(level.count());
        let sum = |frames: &[f32]| frames.iter().map(|x| f64::from(x.abs())).sum::<f64>();
        partitions.map(sum).fold(0.0, f64::max) * f64::from(ir.gain.abs())
    };
    let max = irs.iter().map(sum).fold(0.0, f64::max) / (2 * level.size()) as f64;
    // Not beyond what a float can scale back.
    let power = (MAX_HALF / max.max(1e-30)).log2().floor();
    2.0f64.powf(power.clamp(-100.0, 100.0)) as f32
}

/// Spectra of one response, or of sixteen side by side, in one level.
fn transform(
    spec: &FdlSpec,
    level: &Level,
    irs: &[Option<&ScaledIr>],
    scale: f32,
) -> FilterSpectra {
    let _floats = FlushToZero::enable();
    let (size, len) = (level.size(), spec.spectrum_len());
    let longest = irs.iter().flatten().map(|ir| ir.frames.len()).max();
    let rest = longest.unwrap_or(0).saturating_sub(level.start());
    let partitions = rest.div_ceil(size).min(level.count());
    let mut time = AlignedBuffer::new(len);
    let mut scratch = AlignedBuffer::new(spec.fft.scratch_len());
    let mut forward = |k: usize, spectrum: &mut [f32]| {
        let from = level.start() + k * size;
        time.fill(0.0);
        for (lane, ir) in irs.iter().enumerate() {
            if let Some(ir) = ir {
                let to = &mut time[lane..spec.period_len()];
                // A forward and an inverse transform multiply by 2M; that is taken out here.
                let scale = scale / (2 * size) as f32;
                ir.write(from..from + size, scale, to, spec.width);
            }
        }
        spec.fft.forward(&time, spectrum, &mut scratch);
    };
    if spec.is_half {
        let mut spectrum = AlignedBuffer::new(len);
        let mut all = Vec::with_capacity(partitions * len);
        for k in 0..partitions {
            forward(k, &mut spectrum);
            all.extend(spectrum.iter().map(|x| half::from_f32(*x)));
        }
        return FilterSpectra::Half(all.into());
    }
    let mut spectra = AlignedBuffer::new(partitions * len);
    for (k, spectrum) in spectra.chunks_exact_mut(len).enumerate() {
        forward(k, spectrum);
    }
    FilterSpectra::Full(spectra)
}
