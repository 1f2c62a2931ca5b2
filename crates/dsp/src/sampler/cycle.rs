//! [`Cycle`]: the loop of a zone, with the crossfade before its end.
//!
//! ```text
//!                   from              end - fade   end
//! sample  ──┬── fade ─┤ ── ── ── ── ── ── ┤─ fade ─┤── rest         w: 0 at end - fade, 1 at the end
//!           └─ fades in at the end ─ ─ ─ ─ ─ ─ ┘                    y = (1 - w) x[place] + w x[place - length]
//! ```
//!
//! At the end the sound is that from before the loop, and goes on with the loop: there is no seam. The levels add up to 1, so a
//! sound that is alike at both places keeps its level.

/// The loop of a zone, in frames of the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cycle {
    /// First frame.
    pub(super) from: f64,
    pub(super) length: f64,
    /// Frames of the crossfade: no more than are before the loop, or in it.
    fade: f64,
}

impl Cycle {
    /// A loop; the crossfade takes as much of `fade` frames as there are.
    pub(super) fn new(from: f64, length: f64, fade: f64) -> Self {
        let fade = fade.min(from).min(length);
        Self { from, length, fade }
    }

    /// The frame behind the last.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn end(&self) -> f64 {
        self.from + self.length
    }

    /// Returns true if it has a crossfade.
    pub(super) fn is_faded(&self) -> bool {
        self.fade > 0.0
    }

    /// Returns true if a place in front of the end is in the crossfade.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn fades_at(&self, place: f64) -> bool {
        self.fade > 0.0 && place >= self.end() - self.fade
    }

    /// The sound at a place in the crossfade, where `at` gives that of the sample at any.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn blend(&self, place: f64, at: impl Fn(f64) -> f64) -> f64 {
        let share = ((place - (self.end() - self.fade)) / self.fade).clamp(0.0, 1.0);
        (1.0 - share) * at(place) + share * at(place - self.length)
    }

    /// Bits that are the same for equal loops.
    pub(super) fn bits(&self) -> [u64; 3] {
        [self.from, self.length, self.fade].map(f64::to_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crossfade_ends_with_what_is_before_the_loop() {
        let cycle = Cycle::new(100.0, 50.0, 20.0);
        assert!(!cycle.fades_at(129.5) && cycle.fades_at(130.0));
        // Of a straight line it makes another one.
        for (place, want) in [(130.0, 130.0), (140.0, 115.0), (150.0, 100.0)] {
            assert_eq!(cycle.blend(place, |at| at), want);
        }
    }

    #[test]
    fn a_crossfade_takes_no_more_than_there_is() {
        for (from, length, fade) in [(5.0, 50.0, 5.0), (50.0, 5.0, 5.0), (0.0, 50.0, 0.0)] {
            let cycle = Cycle::new(from, length, 20.0);
            assert_eq!(cycle.fade, fade);
            assert_eq!(cycle.is_faded(), fade > 0.0);
        }
    }
}
