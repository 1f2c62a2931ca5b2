//! [`CosineTable`]: Pd's table of a cosine (`d_osc.c`).

use super::phases::{PER_BIT, PhaseRun, behind, rounded, whole};
use crate::constants::PI;
use crate::signal::loops::RUN;
use rt::vectors::{WideWork, in_eights};
use std::sync::LazyLock;

/// Points of the cosine table.
const POINTS: usize = 512;

/// Points that the C library under Pd rounds to the float beside the nearest one; true where that is larger.
const ROUNDED_OTHERWISE: [(usize, bool); 5] = [
    (89, false),
    (97, true),
    (155, true),
    (427, false),
    (428, false),
];

/// One period of a cosine and one point more, as Pd computes it: the phase is summed up in floats, and pi is 3.14159.
static COSINE: LazyLock<CosineTable> = LazyLock::new(|| {
    let step = narrow(2.0 * PI / 512.0);
    let mut phase = 0.0_f32;
    let mut points = [0.0; POINTS + 1];
    for point in &mut points {
        *point = narrow(libm::cos(f64::from(phase)));
        phase += step;
    }
    for (at, up) in ROUNDED_OTHERWISE {
        let bits = points[at].to_bits();
        points[at] = f32::from_bits(if up { bits + 1 } else { bits - 1 });
    }
    CosineTable(std::array::from_fn(|at| {
        [points[at], (points[at + 1] - points[at]) * PER_BIT]
    }))
});

/// The table of `osc~`, `cos~` and `vcf~`, read between its points by a line: each point, and the way to the next one for each unit of a
/// fraction's bits. A power of two only moves the exponent, so the sound is the same.
pub(super) struct CosineTable([[f32; 2]; POINTS]);

impl CosineTable {
    /// The table of this process.
    pub(super) fn get() -> &'static Self {
        &COSINE
    }

    /// The cosine at the bits of a phase in points of the table, to which [`UNIT`] was added. What lies above them is left out.
    #[inline(always)]
    pub(super) fn cosine(&self, bits: u64) -> f32 {
        self.between((bits >> 32) as usize, rounded(bits))
    }

    /// The cosines at the bits of phases, as [`cosine`](Self::cosine).
    pub(super) fn cosines(&self, phases: &PhaseRun, to: &mut [f32; RUN]) {
        in_eights(Cosines(self, phases, to));
    }

    /// The cosines at phases from `phase` on, each a [`whole_step`] behind the one before. Gives the next phase.
    pub(super) fn even_cosines(&self, phase: f64, step: u64, to: &mut [f32; RUN]) -> f64 {
        in_eights(EvenCosines(self, (phase.to_bits(), step), to));
        behind(phase, step)
    }

    /// The cosine, and the sine: the cosine a quarter of a period before.
    #[inline(always)]
    pub(super) fn cosine_and_sine(&self, phase: f64) -> (f32, f32) {
        let (point, part) = (whole(phase), rounded(phase.to_bits()));
        let before = point.wrapping_sub(POINTS / 4);
        (self.between(point, part), self.between(before, part))
    }

    #[inline(always)]
    fn between(&self, point: usize, part: f32) -> f32 {
        let [value, way] = self.0[point & (POINTS - 1)];
        value + part * way
    }
}

/// The loop of [`CosineTable::cosines`].
struct Cosines<'r>(&'r CosineTable, &'r PhaseRun, &'r mut [f32; RUN]);

impl WideWork for Cosines<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        cosines(self.0, self.1, self.2);
    }
}

/// Writes cosines, as [`even_cosines`].
#[inline(always)]
fn cosines(table: &CosineTable, phases: &PhaseRun, to: &mut [f32; RUN]) {
    for (to, bits) in to.iter_mut().zip(phases) {
        *to = table.cosine(*bits);
    }
}

/// The loop of [`CosineTable::even_cosines`].
struct EvenCosines<'r>(&'r CosineTable, (u64, u64), &'r mut [f32; RUN]);

impl WideWork for EvenCosines<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        even_cosines(self.0, self.1, self.2);
    }
}

/// Writes cosines. The table and what is written come as references of a call, so that the compiler knows them to lie apart: else it loads
/// and stores one after the other.
#[inline(always)]
fn even_cosines(table: &CosineTable, (mut bits, step): (u64, u64), to: &mut [f32; RUN]) {
    // The point, and the period that wraps around, in the highest bits: they need no mask.
    let (mut place, place_step) = (bits << PERIOD_SHIFT, step << PERIOD_SHIFT);
    for to in to {
        let [value, way] = table.0[(place >> (32 + PERIOD_SHIFT)) as usize];
        *to = value + rounded(bits) * way;
        bits = bits.wrapping_add(step);
        place = place.wrapping_add(place_step);
    }
}

/// Bits above those of a phase within its period: 9 for the point, 32 for the fraction.
const PERIOD_SHIFT: u32 = 64 - 32 - POINTS.ilog2();

#[expect(clippy::cast_possible_truncation, reason = "Pd's signals are floats")]
fn narrow(x: f64) -> f32 {
    x as f32
}
