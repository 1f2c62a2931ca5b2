//! [`Panning`]: the gains of a direction on the channels of a layout.
//!
//! | layout | gains |
//! |---|---|
//! | `mono` | 1 |
//! | loudspeakers | of the two neighbours around the direction (vector base amplitude panning, Pulkki 1997), with equal power |
//! | loudspeakers above as well | those of the ring at the ear times cos θ, those of the upper ring times sin θ; θ is 0° at the ear and 90° at the height of the upper ring. From there to the zenith the upper ring goes over to equal gains |
//! | Ambisonics | real spherical harmonics in the order ACN, normalised as SN3D |
//!
//! A direction outside an arc of loudspeakers (behind `stereo` or `lcr`) is that of the nearer end.

use graph::{LFE, Layout};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Number of orders of a sound field, 0 included.
const ORDERS: usize = 8;
/// Largest number of loudspeakers in a ring.
const MAX_RING: usize = 8;
/// Largest number of channels of a layout.
pub(crate) const MAX_CHANNELS: usize = ORDERS * ORDERS;

/// The gains of a layout.
pub(crate) enum Panning {
    /// A ring at the ear and one above, which may be empty.
    Rings {
        ear: Ring,
        top: Ring,
        /// Height of the upper ring, in radians.
        height: f64,
    },
    /// A sound field of an order.
    Field(usize),
}

/// Loudspeakers of one height by azimuth in radians, each with its channel.
#[derive(Default)]
pub(crate) struct Ring(Vec<(f64, usize)>);

impl Panning {
    /// Gains for `layout`.
    ///
    /// Real-time: setup.
    pub(crate) fn new(layout: &Layout) -> Self {
        if layout.order > 0 {
            return Self::Field(usize::from(layout.order));
        }
        let ring = |is_top: bool| {
            let speakers = layout.speakers.iter().enumerate();
            let speakers =
                speakers.filter(|(_, it)| it.name != LFE && (it.elevation > 0.0) == is_top);
            let mut ring: Vec<_> = speakers
                .map(|(c, it)| (it.azimuth.to_radians(), c))
                .collect();
            ring.sort_by(|a, b| a.0.total_cmp(&b.0));
            Ring(ring)
        };
        let height = layout
            .speakers
            .iter()
            .map(|it| it.elevation)
            .fold(0.0, f64::max);
        Self::Rings {
            ear: ring(false),
            top: ring(true),
            height: height.to_radians(),
        }
    }

    /// Writes the gain of each channel for a sound at `azimuth` (to the left) and `elevation`, in degrees.
    ///
    /// Real-time: hot.
    pub(crate) fn write(&self, azimuth: f64, elevation: f64, gains: &mut [f32]) {
        let (azimuth, elevation) = (azimuth.to_radians(), elevation.to_radians());
        gains.fill(0.0);
        match self {
            Self::Field(order) => field(*order, azimuth, elevation, gains),
            Self::Rings { ear, top, height } => {
                if top.0.is_empty() || elevation <= 0.0 {
                    return ear.write((azimuth, 0.0), 1.0, gains);
                }
                let up = FRAC_PI_2 * (elevation / height).min(1.0);
                let spread = ((elevation - height) / (FRAC_PI_2 - height)).clamp(0.0, 1.0);
                ear.write((azimuth, 0.0), libm::cos(up), gains);
                top.write((azimuth, spread), libm::sin(up), gains);
            }
        }
    }
}

impl Ring {
    /// Writes gains for a sound at `azimuth`, of which the share `spread` goes to all loudspeakers. The sum of their squares is that
    /// of `gain`.
    fn write(&self, (azimuth, spread): (f64, f64), gain: f64, gains: &mut [f32]) {
        let mut own = [0.0; MAX_RING];
        let own = &mut own[..self.0.len()];
        self.pair(azimuth, own);
        let equal = 1.0 / libm::sqrt(own.len() as f64);
        let mixed = own.iter_mut().map(|it| {
            *it += spread * (equal - *it);
            *it * *it
        });
        let factor = gain / libm::sqrt(mixed.sum::<f64>());
        for ((_, channel), own) in self.0.iter().zip(own) {
            gains[*channel] = (*own * factor) as f32;
        }
    }

    /// Sets the gains of the two loudspeakers around `azimuth`, or of the nearest one.
    fn pair(&self, azimuth: f64, own: &mut [f64]) {
        for (at, (right, _)) in self.0.iter().enumerate() {
            let next = (at + 1) % self.0.len();
            let gap = wrapped(self.0[next].0 - right);
            let beyond = wrapped(azimuth - right);
            if gap > 0.0 && gap < PI && beyond <= gap {
                own[next] = libm::sin(beyond);
                own[at] = libm::sin(gap - beyond);
                return;
            }
        }
        let distance = |from: f64| libm::fabs(wrapped(azimuth - from + PI) - PI);
        let nearest = (self.0.iter().enumerate())
            .min_by(|(_, a), (_, b)| distance(a.0).total_cmp(&distance(b.0)));
        if let Some((at, _)) = nearest {
            own[at] = 1.0;
        }
    }
}

/// The angle from 0 up to a whole turn.
fn wrapped(angle: f64) -> f64 {
    let rest = libm::fmod(angle, TAU);
    if rest < 0.0 { rest + TAU } else { rest }
}

/// Writes the spherical harmonics of a direction up to an order: channel l² + l + m.
fn field(order: usize, azimuth: f64, elevation: f64, gains: &mut [f32]) {
    let (x, y) = (libm::sin(elevation), libm::cos(elevation));
    // Associated Legendre functions without the sign of Condon and Shortley: P(m, m) = (2m - 1)!! cos^m, and upwards by degree.
    let mut sector = 1.0;
    for m in 0..=order {
        let (cosine, sine) = (libm::cos(m as f64 * azimuth), libm::sin(m as f64 * azimuth));
        let (mut before, mut legendre) = (0.0, sector);
        for l in m..=order {
            let scale = normalisation(l, m) * legendre;
            gains[l * l + l + m] = (scale * cosine) as f32;
            if m > 0 {
                gains[l * l + l - m] = (scale * sine) as f32;
            }
            let (lf, mf) = (l as f64, m as f64);
            let next = ((2.0 * lf + 1.0) * x * legendre - (lf + mf) * before) / (lf - mf + 1.0);
            (before, legendre) = (legendre, next);
        }
        sector *= (2 * m + 1) as f64 * y;
    }
}

/// SN3D: √((2 - δ) (l - m)! / (l + m)!), with δ = 1 for m = 0.
fn normalisation(l: usize, m: usize) -> f64 {
    if m == 0 {
        return 1.0;
    }
    let product: f64 = (l - m + 1..=l + m).map(|n| n as f64).product();
    libm::sqrt(2.0 / product)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gains(layout: &str, azimuth: f64, elevation: f64) -> Vec<f32> {
        let layout = Layout::named(layout).unwrap();
        let mut gains = vec![f32::NAN; layout.channels().count()];
        Panning::new(layout).write(azimuth, elevation, &mut gains);
        gains
    }

    #[test]
    fn a_sound_in_a_loudspeaker_is_there_alone() {
        for layout in Layout::all().iter().filter(|layout| layout.order == 0) {
            for (channel, speaker) in layout.speakers.iter().enumerate() {
                if speaker.name == LFE {
                    continue;
                }
                let gains = gains(layout.name, speaker.azimuth, speaker.elevation);
                for (other, gain) in gains.iter().enumerate() {
                    let wanted = f32::from(u8::from(other == channel));
                    assert!(
                        (gain - wanted).abs() < 1e-6,
                        "{} {channel}: {gains:?}",
                        layout.name
                    );
                }
            }
        }
    }

    #[test]
    fn the_power_is_one_everywhere_and_only_neighbours_play() {
        for layout in Layout::all().iter().filter(|layout| layout.order == 0) {
            for azimuth in -36..=36 {
                for elevation in [-30.0, 0.0, 20.0, 60.0, 90.0] {
                    let gains = gains(layout.name, f64::from(azimuth) * 5.0, elevation);
                    let power: f32 = gains.iter().map(|gain| gain * gain).sum();
                    assert!(
                        (power - 1.0).abs() < 1e-5,
                        "{} {azimuth} {elevation}",
                        layout.name
                    );
                    assert!(gains.iter().all(|gain| *gain >= 0.0));
                    let playing = gains.iter().filter(|gain| **gain > 1e-6).count();
                    assert!(elevation > 0.0 || playing <= 2);
                }
            }
        }
    }

    #[test]
    fn behind_an_arc_the_nearer_end_plays() {
        assert_eq!(gains("lcr", 120.0, 0.0), [1.0, 0.0, 0.0]);
        assert_eq!(gains("lcr", -170.0, 0.0), [0.0, 1.0, 0.0]);
        assert_eq!(gains("mono", 77.0, 0.0), [1.0]);
    }

    #[test]
    fn a_sound_field_is_encoded_in_the_order_acn_with_the_gains_of_sn3d() {
        let near = |found: &[f32], wanted: &[f64]| {
            for (found, wanted) in found.iter().zip(wanted) {
                assert!(
                    (f64::from(*found) - wanted).abs() < 1e-6,
                    "{found} {wanted}"
                );
            }
        };
        // W, Y, Z, X: front, left, up.
        near(&gains("ambisonics-1", 0.0, 0.0), &[1.0, 0.0, 0.0, 1.0]);
        near(&gains("ambisonics-1", 90.0, 0.0), &[1.0, 1.0, 0.0, 0.0]);
        near(&gains("ambisonics-1", 0.0, 90.0), &[1.0, 0.0, 1.0, 0.0]);
        let (a, e) = (0.7_f64, 0.4_f64);
        let found = gains("ambisonics-3", a.to_degrees(), e.to_degrees());
        let (x, y, z) = (a.cos() * e.cos(), a.sin() * e.cos(), e.sin());
        let root = 3_f64.sqrt();
        let second = [
            root * x * y,
            root * y * z,
            (3.0 * z * z - 1.0) / 2.0,
            root * x * z,
            root / 2.0 * (x * x - y * y),
        ];
        near(&found[4..9], &second);
        let third = [
            (5.0 / 8.0_f64).sqrt() * y * (3.0 * x * x - y * y),
            15_f64.sqrt() * x * y * z,
            (3.0 / 8.0_f64).sqrt() * y * (5.0 * z * z - 1.0),
            z * (5.0 * z * z - 3.0) / 2.0,
            (3.0 / 8.0_f64).sqrt() * x * (5.0 * z * z - 1.0),
            15_f64.sqrt() / 2.0 * z * (x * x - y * y),
            (5.0 / 8.0_f64).sqrt() * x * (x * x - 3.0 * y * y),
        ];
        near(&found[9..16], &third);
        // Unit power of each order, in every direction.
        let found = gains("ambisonics-7", 33.0, -51.0);
        for l in 0..ORDERS {
            let power: f32 = found[l * l..(l + 1) * (l + 1)].iter().map(|g| g * g).sum();
            assert!((power - 1.0).abs() < 1e-5, "{l}: {power}");
        }
    }
}
