//! `osc~`, `phasor~`, `cos~`, `noise~` (`d_osc.c`).
//!
//! Phases are doubles to which 3·2¹⁹ is added, so that the lower half of their bits is the fraction: that bounds the resolution to
//! 2⁻³², and the sound depends on it.

use crate::constants::PI;
use crate::control::{Context, Handled, Making, Message, Object, Value};
use crate::signal::{Inlets, SignalWorld};
use std::sync::LazyLock;

/// Offset of a phase.
const UNIT: f64 = 1_572_864.0;
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
    let mut table = [0.0; POINTS + 1];
    for point in &mut table {
        *point = narrow(libm::cos(f64::from(phase)));
        phase += step;
    }
    for (at, up) in ROUNDED_OTHERWISE {
        let bits = table[at].to_bits();
        table[at] = f32::from_bits(if up { bits + 1 } else { bits - 1 });
    }
    CosineTable(table)
});

/// The table of `osc~`, `cos~` and `vcf~`, read between its points by a line.
pub(super) struct CosineTable([f32; POINTS + 1]);

impl CosineTable {
    /// The table of this process.
    pub(super) fn get() -> &'static Self {
        &COSINE
    }

    /// The cosine at a phase in points of the table, to which [`UNIT`] was added.
    #[inline(always)]
    pub(super) fn cosine(&self, phase: f64) -> f32 {
        self.at(phase, 0)
    }

    /// The sine: the cosine a quarter of a period before.
    #[inline(always)]
    pub(super) fn sine(&self, phase: f64) -> f32 {
        self.at(phase, 128)
    }

    #[inline(always)]
    fn at(&self, phase: f64, points_before: u64) -> f32 {
        let bits = phase.to_bits();
        let index = (bits >> 32).wrapping_sub(points_before) as usize & (POINTS - 1);
        let fraction = narrow(with_fraction(phase, UNIT) - UNIT);
        let (a, b) = (self.0[index], self.0[index + 1]);
        a + fraction * (b - a)
    }
}

/// `unit`, with the fraction of `phase`: the lower half of its bits.
#[inline(always)]
fn with_fraction(phase: f64, unit: f64) -> f64 {
    f64::from_bits((unit.to_bits() & !0xffff_ffff) | (phase.to_bits() & 0xffff_ffff))
}

#[expect(clippy::cast_possible_truncation, reason = "Pd's signals are floats")]
fn narrow(x: f64) -> f32 {
    x as f32
}

/// Keeps the phase's fraction and drops whole numbers.
pub(super) fn wrapped(phase: f64, unit: f64) -> f64 {
    with_fraction(phase, unit) - unit
}

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    Some(match making.class {
        "osc~" => Box::new(Oscillator { phase: 0.0 }),
        "phasor~" => Box::new(Phasor { phase: 0.0 }),
        "cos~" => Box::new(Cosine),
        "noise~" => {
            let seed = &mut making.globals.seeds.1;
            if *seed == 0 {
                *seed = 307;
            }
            *seed = seed.wrapping_mul(1319);
            let state = seed.cast_signed();
            Box::new(Noise { state })
        }
        _ => return None,
    })
}

/// The number of a message at a right inlet.
fn number(message: Message<'_>) -> Option<f32> {
    match message.values.first() {
        Some(Value::Float(number)) => Some(*number),
        _ => None,
    }
}

struct Oscillator {
    phase: f64,
}

impl Object for Oscillator {
    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let table = CosineTable::get();
        let step = 512.0 / world.rate;
        let mut phase = self.phase + UNIT;
        for (to, frequency) in outlets[0].iter_mut().zip(inlets.get(0)) {
            *to = table.cosine(phase);
            phase += f64::from(frequency * step);
        }
        // Whole periods are dropped on the coarser grid of doubles near 512·UNIT.
        let unit = UNIT * 512.0;
        self.phase = wrapped(phase + (unit - UNIT), unit);
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        let Some(number) = number(message) else {
            return Handled::No;
        };
        self.phase = 512.0 * f64::from(number);
        Handled::Yes
    }
}

struct Phasor {
    phase: f64,
}

impl Object for Phasor {
    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let step = 1.0 / world.rate;
        let mut phase = self.phase + UNIT;
        for (to, frequency) in outlets[0].iter_mut().zip(inlets.get(0)) {
            phase = with_fraction(phase, UNIT);
            *to = narrow(phase - UNIT);
            phase += f64::from(frequency * step);
        }
        self.phase = wrapped(phase, UNIT);
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        let Some(number) = number(message) else {
            return Handled::No;
        };
        self.phase = f64::from(number);
        Handled::Yes
    }
}

struct Cosine;

impl Object for Cosine {
    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        let table = CosineTable::get();
        for (to, x) in outlets[0].iter_mut().zip(inlets.get(0)) {
            *to = table.cosine(f64::from(x * 512.0) + UNIT);
        }
    }
}

struct Noise {
    state: i32,
}

impl Object for Noise {
    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], _: &mut SignalWorld<'_>) {
        for to in &mut outlets[0] {
            #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
            let whole = ((self.state & 0x7fff_ffff) - 0x4000_0000) as f32;
            *to = whole * (1.0 / 1_073_741_824.0);
            self.state = self
                .state
                .wrapping_mul(435_898_247)
                .wrapping_add(382_842_987);
        }
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        #[expect(clippy::cast_possible_truncation, reason = "any bits are a seed")]
        match message.values.first() {
            Some(Value::Float(seed)) => self.state = *seed as i32,
            _ => return Handled::No,
        }
        Handled::Yes
    }
}
