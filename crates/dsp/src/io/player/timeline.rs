//! [`Timeline`]: which frame of the file a player plays when. Plain arithmetic that both ends of a stream do alike.

/// A player's times, in frames at the engine's rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timeline {
    /// Frames of silence before it begins.
    pub(super) at: u64,
    /// First frame of the file that is played.
    pub(super) from: u64,
    /// Number of frames that are played.
    pub(super) length: u64,
    /// Frames from one begin to the next; 0: it plays once.
    pub(super) period: u64,
    /// Frames of the rise and of the fall.
    pub(super) fade_in: u64,
    pub(super) fade_out: u64,
}

/// Content from a frame on, and its number of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    /// Silence for this number of frames.
    Silence(u64),
    /// The file from this frame on, for this number of frames.
    Sound(u64, u64),
    /// Silence for ever.
    End,
}

impl Timeline {
    /// The segment at frame `n` since the start.
    ///
    /// Real-time: hot.
    pub(super) fn at(&self, n: u64) -> Segment {
        let Some(since) = n.checked_sub(self.at) else {
            return Segment::Silence(self.at - n);
        };
        let since = match self.period {
            0 => since,
            period => since % period,
        };
        if since < self.length {
            Segment::Sound(self.from.saturating_add(since), self.length - since)
        } else if self.period > 0 && self.length > 0 {
            Segment::Silence(self.period - since)
        } else {
            Segment::End
        }
    }

    /// Returns true if no fade touches `frames` frames from the file's frame `from` on.
    ///
    /// Real-time: hot.
    pub(super) fn is_unfaded(&self, from: u64, frames: u64) -> bool {
        let since = from - self.from;
        since >= self.fade_in && since + frames + self.fade_out <= self.length
    }

    /// Level of the file's frame `frame`, one of those that are played: linear fades.
    ///
    /// Real-time: hot.
    pub(super) fn level(&self, frame: u64) -> f32 {
        let since = frame - self.from;
        let part = |frames: u64, of: u64| {
            if frames < of {
                (frames as f32 + 0.5) / of as f32
            } else {
                1.0
            }
        };
        part(since, self.fade_in) * part(self.length - 1 - since, self.fade_out)
    }

    /// Frames after which it ends; `None` in a loop.
    pub(super) fn end(&self) -> Option<u64> {
        (self.period == 0 || self.length == 0).then(|| self.at.saturating_add(self.length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_plays_once_and_ends() {
        let once = Timeline {
            at: 10,
            from: 100,
            length: 5,
            ..Timeline::default()
        };
        assert_eq!(once.at(0), Segment::Silence(10));
        assert_eq!(once.at(10), Segment::Sound(100, 5));
        assert_eq!(once.at(14), Segment::Sound(104, 1));
        assert_eq!(once.at(15), Segment::End);
        assert_eq!(once.end(), Some(15));
    }

    #[test]
    fn a_loop_waits_for_its_period_and_begins_again() {
        let round = Timeline {
            at: 0,
            from: 7,
            length: 3,
            period: 8,
            ..Timeline::default()
        };
        assert_eq!(round.at(2), Segment::Sound(9, 1));
        assert_eq!(round.at(3), Segment::Silence(5));
        assert_eq!(round.at(16), Segment::Sound(7, 3));
        assert_eq!(round.end(), None);
    }

    #[test]
    fn a_loop_of_nothing_ends() {
        let nothing = Timeline {
            period: 8,
            ..Timeline::default()
        };
        assert_eq!(nothing.at(3), Segment::End);
        assert_eq!(nothing.end(), Some(0));
    }
}
