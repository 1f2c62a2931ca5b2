//! Spectra of impulse responses, ready to be multiplied; those of one response are in memory once.

use crate::nested;
use crate::partition::Level;
use crate::shape::Shape;
use fft::{AlignedBuffer, LANES, half};
use rt::ftz::FlushToZero;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// The spectra of an impulse response's partitions, one behind the other.
pub(crate) enum Spectra {
    Full(AlignedBuffer),
    /// So many, and behind them the sums of two that [`crate::nested`] has.
    Nested(AlignedBuffer, usize),
    /// In half precision.
    Half(Box<[u16]>),
}

impl Spectra {
    /// One spectrum for each partition, of `floats` floats, where they are in full precision.
    ///
    /// Real-time: hot.
    pub(crate) fn full(&self, floats: usize) -> &[f32] {
        match self {
            Self::Full(all) => all,
            Self::Nested(all, partitions) => &all[..partitions * floats],
            Self::Half(_) => &[],
        }
    }

    /// The sums of two for one phase of [`crate::nested`].
    ///
    /// Real-time: hot.
    pub(crate) fn pairs(&self, floats: usize, phase: usize) -> &[f32] {
        match self {
            Self::Nested(all, partitions) => {
                let pairs = nested::pairs_of(*partitions, phase);
                &all[(partitions + pairs.start) * floats..(partitions + pairs.end) * floats]
            }
            _ => &[],
        }
    }

    /// Where it is in memory, and how many bytes it has.
    fn memory(&self) -> (usize, usize) {
        match self {
            Self::Full(all) | Self::Nested(all, _) => (all.as_ptr().addr(), size_of_val(&**all)),
            Self::Half(all) => (all.as_ptr().addr(), size_of_val(&**all)),
        }
    }
}

/// What the wires of a line are multiplied by: one place a wire, nothing where a wire is silent.
#[derive(Clone)]
pub(crate) struct IrSet {
    wires: Box<[Option<Arc<Spectra>>]>,
    scale: f32,
    /// Whether the convolver was made with it.
    is_first: bool,
}

impl IrSet {
    /// What comes out of the transform back is to be multiplied by `scale`.
    ///
    /// Real-time: setup.
    pub(crate) fn new(wires: Box<[Option<Arc<Spectra>>]>, scale: f32) -> Self {
        Self {
            wires,
            scale,
            is_first: false,
        }
    }

    /// As the one that a convolver is made with.
    ///
    /// Real-time: setup.
    pub(crate) fn first(self) -> Self {
        Self {
            is_first: true,
            ..self
        }
    }

    /// Real-time: hot.
    pub(crate) fn is_first(&self) -> bool {
        self.is_first
    }

    /// Real-time: hot.
    pub(crate) fn of(&self, wires: Range<usize>) -> &[Option<Arc<Spectra>>] {
        &self.wires[wires]
    }

    /// What comes out of the transform back is multiplied by this: a power of two.
    ///
    /// Real-time: hot.
    pub(crate) fn scale(&self) -> f32 {
        self.scale
    }

    /// Addresses and sizes, in bytes, of all that is kept.
    pub(crate) fn memory(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let there = self.wires.iter().flatten();
        there.map(|ir| ir.memory())
    }
}

/// An impulse response and what it is multiplied by.
#[derive(Clone, Debug)]
pub(crate) struct Scaled {
    /// The response's frames.
    pub(crate) frames: Arc<[f32]>,
    /// The factor.
    pub(crate) gain: f32,
}

impl Scaled {
    fn name(&self) -> (usize, u32) {
        (self.frames.as_ptr().addr(), self.gain.to_bits())
    }

    /// The frames `range`, scaled, silence behind the end.
    fn write(&self, range: Range<usize>, scale: f32, to: &mut [f32], step: usize) {
        let end = range.end.min(self.frames.len());
        let frames = &self.frames[range.start.min(end)..end];
        for (to, x) in to.iter_mut().step_by(step).zip(frames) {
            *to = x * (self.gain * scale);
        }
    }

    fn reaches(&self, frame: usize) -> bool {
        self.frames.len() > frame
    }
}

/// What no number of a spectrum in half precision is above.
const LARGEST: f64 = 32768.0;

/// Transforms impulse responses, each once.
pub(crate) struct Press<'a> {
    irs: &'a [Scaled],
    kept: HashMap<(usize, usize, u32), Arc<Spectra>>,
    /// By size of the level: what its spectra are multiplied by beside their share of the transforms' gain.
    scales: HashMap<usize, f32>,
}

impl<'a> Press<'a> {
    /// For the responses of all paths.
    ///
    /// Real-time: setup.
    pub(crate) fn new(irs: &'a [Scaled]) -> Self {
        Self {
            irs,
            kept: HashMap::new(),
            scales: HashMap::new(),
        }
    }

    /// The spectra of the response of `path` in a level that does one channel at a time; nothing where it does not reach
    /// so far.
    ///
    /// Real-time: setup.
    pub(crate) fn mono(
        &mut self,
        shape: &Shape,
        level: &Level,
        path: usize,
    ) -> Option<Arc<Spectra>> {
        let ir = &self.irs[path];
        if !ir.reaches(level.start()) {
            return None;
        }
        let scale = self.scale(shape, level);
        let (address, gain) = ir.name();
        let make = || Arc::new(press(shape, level, &[Some(ir)], scale));
        let kept = self.kept.entry((level.size(), address, gain));
        Some(kept.or_insert_with(make).clone())
    }

    /// The spectra of the responses of sixteen paths, side by side.
    ///
    /// Real-time: setup.
    pub(crate) fn batch(
        &mut self,
        shape: &Shape,
        level: &Level,
        lanes: &[Option<usize>; LANES],
    ) -> Option<Arc<Spectra>> {
        let lanes = lanes.map(|path| path.map(|path| &self.irs[path]));
        let reaches = |ir: &&Scaled| ir.reaches(level.start());
        let any = lanes.iter().flatten().any(reaches);
        let scale = self.scale(shape, level);
        any.then(|| Arc::new(press(shape, level, &lanes, scale)))
    }

    /// What spectra of a level are multiplied by, so that half precision holds them: a power of two.
    ///
    /// Real-time: setup.
    pub(crate) fn scale(&mut self, shape: &Shape, level: &Level) -> f32 {
        if !shape.is_half {
            return 1.0;
        }
        let make = || half_scale(level, self.irs);
        *self.scales.entry(level.size()).or_insert_with(make)
    }
}

/// A spectrum is nowhere above the sum of what it is made from.
fn half_scale(level: &Level, irs: &[Scaled]) -> f32 {
    let sum = |ir: &Scaled| {
        let from = level.start().min(ir.frames.len());
        let partitions = ir.frames[from..].chunks(level.size()).take(level.count());
        let sum = |frames: &[f32]| frames.iter().map(|x| f64::from(x.abs())).sum::<f64>();
        partitions.map(sum).fold(0.0, f64::max) * f64::from(ir.gain.abs())
    };
    let most = irs.iter().map(sum).fold(0.0, f64::max) / (2 * level.size()) as f64;
    // Not beyond what a float can scale back.
    let power = (LARGEST / most.max(1e-30)).log2().floor();
    2.0f64.powf(power.clamp(-100.0, 100.0)) as f32
}

fn press(shape: &Shape, level: &Level, lanes: &[Option<&Scaled>], scale: f32) -> Spectra {
    let _floats = FlushToZero::enable();
    let (size, floats) = (level.size(), shape.floats());
    let longest = lanes.iter().flatten().map(|ir| ir.frames.len()).max();
    let rest = longest.unwrap_or(0).saturating_sub(level.start());
    let partitions = rest.div_ceil(size).min(level.count());
    let mut time = AlignedBuffer::new(floats);
    let mut scratch = AlignedBuffer::new(shape.fft.scratch_len());
    let mut transform = |k: usize, spectrum: &mut [f32]| {
        let from = level.start() + k * size;
        time.fill(0.0);
        for (lane, ir) in lanes.iter().enumerate() {
            if let Some(ir) = ir {
                let to = &mut time[lane..shape.half()];
                // There and back is 2M times the sound: that is taken out here, once and for all.
                ir.write(
                    from..from + size,
                    scale / (2 * size) as f32,
                    to,
                    shape.width,
                );
            }
        }
        shape.fft.forward(&time, spectrum, &mut scratch);
    };
    if shape.is_half {
        let mut spectrum = AlignedBuffer::new(floats);
        let mut all = Vec::with_capacity(partitions * floats);
        for k in 0..partitions {
            transform(k, &mut spectrum);
            all.extend(spectrum.iter().map(|x| half::from_f32(*x)));
        }
        return Spectra::Half(all.into());
    }
    let pairs = match shape.is_nested {
        true => nested::pairs_of(partitions, nested::ROUND).start,
        false => 0,
    };
    let mut spectra = AlignedBuffer::new((partitions + pairs) * floats);
    for (k, spectrum) in spectra
        .chunks_exact_mut(floats)
        .take(partitions)
        .enumerate()
    {
        transform(k, spectrum);
    }
    if shape.is_nested {
        add_pairs(&mut spectra, partitions, floats);
        return Spectra::Nested(spectra, partitions);
    }
    Spectra::Full(spectra)
}

/// Fills what stands behind `partitions` spectra with their sums, two and two.
fn add_pairs(spectra: &mut [f32], partitions: usize, floats: usize) {
    let (plain, pairs) = spectra.split_at_mut(partitions * floats);
    let mut pairs = pairs.chunks_exact_mut(floats);
    for (first, second) in nested::FILTERS {
        let firsts = plain
            .chunks_exact(floats)
            .skip(first)
            .step_by(nested::ROUND);
        let mut seconds = plain
            .chunks_exact(floats)
            .skip(second)
            .step_by(nested::ROUND);
        for (first, pair) in firsts.zip(&mut pairs) {
            pair.copy_from_slice(first);
            for (pair, x) in pair.iter_mut().zip(seconds.next().unwrap_or_default()) {
                *pair += x;
            }
        }
    }
}
