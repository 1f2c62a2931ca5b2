//! [`Edges`]: what is added to the steps and corners of a wave so that they are band-limited.
//!
//! ```text
//! kernel    h(x) = Σ c_j (1 - u²)^j, j = 1 … 6, u = x / 3: six samples long, with an integral of 1
//! step      r(x) = ∫ h from x to 3 = 1/2 - u (a_0 + a_1 u² + … + a_6 u^12)      corner: ∫ r from x to 3
//! ```
//!
//! The c_j are those whose spectrum differs least from 1 up to 10.5 kHz and from 0 around the multiples of the rate, where
//! the harmonics lie that fold to below 10.5 kHz (at 48 kHz; Lawson's algorithm with weights of 1 : 500 / f, and 0.003 of the
//! latter between those bands). At 5, 10 and 20 kHz the kernel is 0.2, 1.4 and 12.4 dB down, from 38 to 58 kHz 74 dB or more.

/// Half the length of the kernel, in samples.
const REACH: f32 = 3.0;
/// Shortest cycle whose edges do not overlap, with room for rounding.
const UNCROWDED: f32 = 2.02 * REACH;

/// Coefficients of u, u³, … in the step.
const STEP: [f32; 7] = [
    1.986_843,
    -5.722_234_3,
    11.014_068,
    -13.129_949,
    9.700_883,
    -4.128_08,
    0.778_468_3,
];
/// Coefficients of u², u⁴, … in the corner; its value at 0.
const CORNER: [f32; 7] = [
    2.980_264_6,
    -4.291_675_7,
    5.507_034,
    -4.923_731,
    2.910_265,
    -1.032_02,
    0.166_814_64,
];
const CORNER_TOP: f32 = 0.183_048_18;

/// Returns true if a cycle of this phase step (in units of 2^-32 cycles) is so short that its edges overlap.
///
/// Real-time: hot.
pub(crate) fn is_crowded(step: f32) -> bool {
    step > 4_294_967_296.0 / UNCROWDED
}

/// Edges of a wave, once in each cycle.
///
/// `CROWDED` says that edges before and after the nearest one are looked at too. Where [`is_crowded`] is false they add an
/// exact 0, so both ways give the same bits.
#[derive(Clone, Copy)]
pub(crate) struct Edges {
    /// Phase per sample, in units of 2^-32 cycles.
    step: f32,
    /// Thirds of a sample in 2^-32 of a cycle, and in a cycle.
    scale: f32,
    cycle: f32,
}

impl Edges {
    /// `step` is the phase per sample in units of 2^-32 cycles, from 1 to half a cycle.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn new(step: f32) -> Self {
        let scale = 1.0 / (REACH * step);
        let cycle = scale * 4_294_967_296.0;
        Self { step, scale, cycle }
    }

    /// See [`is_crowded`].
    pub(crate) fn is_crowded(&self) -> bool {
        is_crowded(self.step)
    }

    /// Cycles per sample.
    #[inline(always)]
    pub(crate) fn cycles(&self) -> f32 {
        self.step * (1.0 / 4_294_967_296.0)
    }

    /// Difference between an upward step of 1 at phase 0 and its band-limited form.
    #[inline(always)]
    pub(crate) fn step<const CROWDED: bool>(self, phase: u32) -> f32 {
        self.sum::<CROWDED>(phase, step_residual)
    }

    /// Difference between a corner at phase 0, where the slope grows by 1 per sample, and its band-limited form.
    #[inline(always)]
    pub(crate) fn corner<const CROWDED: bool>(self, phase: u32) -> f32 {
        self.sum::<CROWDED>(phase, corner_residual)
    }

    /// The residual of the nearest edge, and of those beside it. More are never within reach: a cycle has two samples.
    #[inline(always)]
    fn sum<const CROWDED: bool>(self, phase: u32, residual: impl Fn(f32) -> f32) -> f32 {
        let u = phase as i32 as f32 * self.scale;
        match CROWDED {
            true => residual(u) + residual(u + self.cycle) + residual(u - self.cycle),
            false => residual(u),
        }
    }
}

#[inline(always)]
fn polynomial(coefficients: &[f32; 7], s: f32) -> f32 {
    let [a, b, c, d, e, f, g] = *coefficients;
    a + s * (b + s * (c + s * (d + s * (e + s * (f + s * g)))))
}

/// The residual at `u` thirds of a sample behind a step.
#[inline(always)]
fn step_residual(u: f32) -> f32 {
    let s = u * u;
    let near = u * polynomial(&STEP, s) - 0.5f32.copysign(u);
    if s < 1.0 { near } else { 0.0 }
}

/// The residual at `u` thirds of a sample behind a corner.
#[inline(always)]
fn corner_residual(u: f32) -> f32 {
    let s = u * u;
    let near = CORNER_TOP - 1.5 * u.abs() + s * polynomial(&CORNER, s);
    if s < 1.0 { near } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Response of the kernel at `f` of the rate: 1 - 4 π f ∫ r(x) sin(2 π f x) dx, by the midpoint rule.
    fn response_db(f: f64) -> f64 {
        let count = 6000;
        let dx = 3.0 / f64::from(count);
        let omega = std::f64::consts::TAU * f;
        let parts = (0..count).map(|i| {
            let x = (f64::from(i) + 0.5) * dx;
            -f64::from(step_residual((x / 3.0) as f32)) * libm::sin(omega * x)
        });
        let response = 1.0 - 2.0 * omega * dx * parts.sum::<f64>();
        20.0 * libm::log10(response.abs() + 1e-12)
    }

    #[test]
    fn the_kernel_keeps_what_is_heard_and_stops_what_folds_to_below_10_khz() {
        for (khz, db) in [(1.0, 0.0), (5.0, -0.17), (10.0, -1.37), (20.0, -12.42)] {
            let have = response_db(khz / 48.0);
            assert!((have - db).abs() < 0.02, "{khz}: {have}");
        }
        for multiple in 1..5 {
            for khz in -10..=10 {
                // A harmonic at twice the frequency is half as strong, and may be stopped less.
                let f = f64::from(multiple) + f64::from(khz) / 48.0;
                let have = response_db(f) - 20.0 * libm::log10(f);
                assert!(have < -76.0, "{multiple} {khz}: {have}");
            }
        }
    }

    #[test]
    fn a_corner_is_the_integral_of_a_step() {
        for i in 0..300 {
            let (near, far) = (i as f32 / 300.0, (i + 1) as f32 / 300.0);
            let middle = f64::from(step_residual((near + far) / 2.0)) * 0.01;
            let change = f64::from(corner_residual(far)) - f64::from(corner_residual(near));
            assert!((change - middle).abs() < 2e-6, "{i}: {change} {middle}");
        }
        assert!(corner_residual(0.999_999).abs() < 1e-5 && corner_residual(1.0) == 0.0);
    }

    #[test]
    fn edges_that_do_not_overlap_are_the_same_with_their_neighbours() {
        let step = (4_294_967_296.0 / UNCROWDED).floor();
        assert!(!is_crowded(step));
        let edges = Edges::new(step);
        for i in 0..100_000u32 {
            let phase = i.wrapping_mul(42_949);
            assert_eq!(edges.step::<true>(phase), edges.step::<false>(phase));
            assert_eq!(edges.corner::<true>(phase), edges.corner::<false>(phase));
        }
    }
}
