//! When a player plays which frame of its file. Plain arithmetic that both of its ends do alike.

/// A player's life in frames at the engine's rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timeline {
    /// Silence before it begins.
    pub(super) at: u64,
    /// The first frame of the file that is played.
    pub(super) from: u64,
    /// How many are played.
    pub(super) length: u64,
    /// After how many frames it begins again; 0: never.
    pub(super) period: u64,
    /// How many of them rise, and how many fall.
    pub(super) fade_in: u64,
    pub(super) fade_out: u64,
}

/// What happens at a moment, and for how many frames on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Nothing, for so long.
    Silence(u64),
    /// The file from this frame on, for so long.
    Sound(u64, u64),
    /// Nothing ever again.
    End,
}

impl Timeline {
    /// What happens at frame `n` of the player's life.
    ///
    /// Real-time: hot.
    pub(super) fn at(&self, n: u64) -> Piece {
        let Some(since) = n.checked_sub(self.at) else {
            return Piece::Silence(self.at - n);
        };
        let since = match self.period {
            0 => since,
            period => since % period,
        };
        if since < self.length {
            Piece::Sound(self.from.saturating_add(since), self.length - since)
        } else if self.period > 0 && self.length > 0 {
            Piece::Silence(self.period - since)
        } else {
            Piece::End
        }
    }

    /// Whether neither rise nor fall touches `frames` frames from the file's frame `from` on.
    ///
    /// Real-time: hot.
    pub(super) fn is_plain(&self, from: u64, frames: u64) -> bool {
        let since = from - self.from;
        since >= self.fade_in && since + frames + self.fade_out <= self.length
    }

    /// How loud the file's frame `frame` is, which is among those that are played: straight up, straight down.
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

    /// After how many frames it ends by itself.
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
        assert_eq!(once.at(0), Piece::Silence(10));
        assert_eq!(once.at(10), Piece::Sound(100, 5));
        assert_eq!(once.at(14), Piece::Sound(104, 1));
        assert_eq!(once.at(15), Piece::End);
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
        assert_eq!(round.at(2), Piece::Sound(9, 1));
        assert_eq!(round.at(3), Piece::Silence(5));
        assert_eq!(round.at(16), Piece::Sound(7, 3));
        assert_eq!(round.end(), None);
    }

    #[test]
    fn a_loop_of_nothing_ends() {
        let nothing = Timeline {
            period: 8,
            ..Timeline::default()
        };
        assert_eq!(nothing.at(3), Piece::End);
        assert_eq!(nothing.end(), Some(0));
    }
}
