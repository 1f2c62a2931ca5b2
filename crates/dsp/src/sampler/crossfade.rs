//! [`Crossfades`]: the level of a zone over keys and velocities, so that it fades into another one.

/// Level of a zone over keys and velocities: it rises within `into` and falls within `out`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Crossfades {
    pub(super) keys: Crossfade,
    pub(super) velocities: Crossfade,
}

/// Level of a zone over one number from 0 to 127.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Crossfade {
    /// Silent below the first, whole from the second on.
    pub(super) into: (f64, f64),
    /// Whole up to the first, silent above the second.
    pub(super) out: (f64, f64),
    /// True for a straight line; else the power is one.
    pub(super) is_linear: bool,
}

impl Default for Crossfades {
    fn default() -> Self {
        let whole = Crossfade {
            into: (0.0, 0.0),
            out: (127.0, 127.0),
            is_linear: false,
        };
        Self {
            keys: whole,
            velocities: whole,
        }
    }
}

impl Crossfades {
    /// Factor of a note of this pitch, and of this velocity from 0 to 127.
    ///
    /// Real-time: hot.
    pub(super) fn level(&self, pitch: f64, velocity: f64) -> f64 {
        self.keys.level(pitch) * self.velocities.level(velocity)
    }
}

impl Crossfade {
    fn level(&self, x: f64) -> f64 {
        let x = x.clamp(0.0, 127.0);
        let ((low, high), (from, to)) = (self.into, self.out);
        let into = match x < low {
            true => 0.0,
            false => share(x, (low, high)),
        };
        let out = match x > to {
            true => 0.0,
            false if to > from => 1.0 - share(x, (from, to)),
            false => 1.0,
        };
        match self.is_linear {
            true => into * out,
            false => (into * out).sqrt(),
        }
    }
}

/// Place of `x` on the way from `low` to `high`, from 0 to 1; 1 where there is no way.
fn share(x: f64, (low, high): (f64, f64)) -> f64 {
    match high > low {
        true => ((x - low) / (high - low)).clamp(0.0, 1.0),
        false => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_zones_fade_into_each_other_with_a_constant_power_or_a_constant_sum() {
        for is_linear in [false, true] {
            let fade = |into, out| Crossfade {
                into,
                out,
                is_linear,
            };
            let low = fade((0.0, 0.0), (40.0, 60.0));
            let high = fade((40.0, 60.0), (127.0, 127.0));
            for x in 0..=127 {
                let (a, b) = (low.level(f64::from(x)), high.level(f64::from(x)));
                let sum = if is_linear { a + b } else { a * a + b * b };
                assert!((sum - 1.0).abs() < 1e-12, "{x}: {a} {b}");
            }
            assert_eq!((low.level(39.0), low.level(60.5)), (1.0, 0.0));
            assert_eq!((high.level(40.0), high.level(61.0)), (0.0, 1.0));
        }
    }

    #[test]
    fn a_fade_without_a_length_or_in_reverse_is_an_edge() {
        let edge = Crossfade {
            into: (50.0, 50.0),
            out: (70.0, 20.0),
            is_linear: true,
        };
        assert_eq!([10.0, 49.9].map(|x| edge.level(x)), [0.0, 0.0]);
        let late = Crossfade {
            into: (50.0, 0.0),
            out: (70.0, 70.0),
            is_linear: true,
        };
        assert_eq!(
            [49.9, 50.0, 70.0, 70.1].map(|x| late.level(x)),
            [0.0, 1.0, 1.0, 0.0]
        );
    }
}
