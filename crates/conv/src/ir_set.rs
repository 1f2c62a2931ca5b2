//! Spectra of impulse responses, ready to be multiplied; those of one response are in memory once.

use crate::fdl::Shape;
use crate::partition::Level;
use fft::Aligned;
use rt::ftz::FlushToZero;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// What the wires of a line are multiplied by: one place a wire, nothing where a wire is silent.
#[derive(Clone)]
pub(crate) struct IrSet(Box<[Option<Arc<Aligned>>]>);

impl IrSet {
    /// Real-time: hot.
    pub(crate) fn of(&self, wires: Range<usize>) -> &[Option<Arc<Aligned>>] {
        &self.0[wires]
    }

    /// Addresses and sizes, in bytes, of all that is kept.
    pub(crate) fn memory(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let there = self.0.iter().flatten();
        there.map(|ir| (ir.as_ptr().addr(), 4 * ir.len()))
    }
}

impl FromIterator<Option<Arc<Aligned>>> for IrSet {
    fn from_iter<T: IntoIterator<Item = Option<Arc<Aligned>>>>(irs: T) -> Self {
        Self(irs.into_iter().collect())
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

/// Transforms impulse responses, each once.
#[derive(Default)]
pub(crate) struct Press {
    kept: HashMap<(usize, usize, u32), Arc<Aligned>>,
}

impl Press {
    /// The spectra of one response in a level that does one channel at a time; nothing where it does not reach so far.
    ///
    /// Real-time: setup.
    pub(crate) fn mono(
        &mut self,
        shape: &Shape,
        level: &Level,
        ir: &Scaled,
    ) -> Option<Arc<Aligned>> {
        if !ir.reaches(level.start()) {
            return None;
        }
        let (address, gain) = ir.name();
        let make = || Arc::new(press(shape, level, &[Some(ir)]));
        let kept = self.kept.entry((level.size(), address, gain));
        Some(kept.or_insert_with(make).clone())
    }
}

/// The spectra of sixteen responses, side by side.
///
/// Real-time: setup.
pub(crate) fn batch(
    shape: &Shape,
    level: &Level,
    lanes: &[Option<&Scaled>],
) -> Option<Arc<Aligned>> {
    let reaches = |ir: &&Scaled| ir.reaches(level.start());
    let any = lanes.iter().flatten().any(reaches);
    any.then(|| Arc::new(press(shape, level, lanes)))
}

fn press(shape: &Shape, level: &Level, lanes: &[Option<&Scaled>]) -> Aligned {
    let _floats = FlushToZero::on();
    let (size, floats) = (level.size(), shape.floats());
    let longest = lanes.iter().flatten().map(|ir| ir.frames.len()).max();
    let rest = longest.unwrap_or(0).saturating_sub(level.start());
    let partitions = rest.div_ceil(size).min(level.count());
    let mut spectra = Aligned::new(partitions * floats);
    let mut time = Aligned::new(floats);
    let mut scratch = Aligned::new(shape.fft.scratch());
    // There and back is 2M times the sound: that is taken out here, once and for all.
    let scale = 1.0 / (2 * size) as f32;
    for (k, spectrum) in spectra.chunks_exact_mut(floats).enumerate() {
        let from = level.start() + k * size;
        time.fill(0.0);
        for (lane, ir) in lanes.iter().enumerate() {
            if let Some(ir) = ir {
                let to = &mut time[lane..shape.half()];
                ir.write(from..from + size, scale, to, shape.width);
            }
        }
        shape.fft.forward(&time, spectrum, &mut scratch);
    }
    spectra
}
