//! [`MidiMemory`]: the MIDI messages that a new process of a cell must be told again.
//!
//! | message | kept |
//! |---|---|
//! | the end of a key | the last ones: the process continues from a time before them |
//! | a key that is struck | while the cell is lost only: else it is in the checkpoint, or would be struck twice |
//! | a controller (pedals too), a bend, a program, pressure | the newest of each number |

/// Messages that are kept.
pub(crate) const MESSAGES: usize = 128;

/// Messages of one cell, the newest last.
pub(crate) struct MidiMemory(Vec<(u16, [u8; 3])>);

impl Default for MidiMemory {
    fn default() -> Self {
        Self(Vec::with_capacity(MESSAGES))
    }
}

impl MidiMemory {
    /// Follows a message for the place `at`. `is_lost`: the cell does not play.
    ///
    /// Real-time: hot.
    pub(crate) fn follow(&mut self, at: u16, message: [u8; 3], is_lost: bool) {
        let [status, number, value] = message;
        let is_numbered = status < 0xc0;
        let is_end = status & 0xf0 == 0x80 || status & 0xf0 == 0x90 && value == 0;
        let is_strike = status & 0xf0 == 0x90 && value > 0;
        let is_key = |it: u8| it & 0xe0 == 0x80;
        // What came before for the same key or controller counts no more; a strike without a process needs the end before it.
        let is_kept_end = is_strike && is_lost;
        self.0.retain(|(other, [it, its, velocity])| {
            let same = match is_key(status) {
                true => is_key(*it) && it & 15 == status & 15,
                false => *it == status,
            };
            let is_old_end = it & 0xf0 == 0x80 || *velocity == 0;
            *other != at
                || !same
                || is_numbered && *its != number
                || is_kept_end && is_key(*it) && is_old_end
        });
        if is_end || (is_strike && is_lost) || (0xb0..0xf0).contains(&status) {
            if self.0.len() == MESSAGES {
                self.0.remove(0);
            }
            self.0.push((at, message));
        }
    }

    /// What is to be told, in the order in which it came, each behind its place.
    ///
    /// Real-time: hot.
    pub(crate) fn told(&self) -> impl Iterator<Item = (u16, [u8; 3])> + '_ {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(messages: &[([u8; 3], bool)]) -> Vec<[u8; 3]> {
        let mut memory = MidiMemory::default();
        for (message, is_lost) in messages {
            memory.follow(0, *message, *is_lost);
        }
        memory.told().map(|(_, message)| message).collect()
    }

    #[test]
    fn ends_and_controllers_are_kept_and_strikes_while_the_cell_is_lost() {
        let (on, off) = ([0x90, 60, 100], [0x80, 60, 0]);
        assert_eq!(told(&[(on, false), (off, false)]), [off]);
        // Struck again while it played: the process has it.
        assert!(told(&[(off, false), (on, false)]).is_empty());
        // Struck again while it was lost: the old one ends, the new one begins.
        assert_eq!(told(&[(off, false), (on, true)]), [off, on]);
        assert_eq!(told(&[(on, true), (off, true)]), [off]);
        let pedal = |value| [0xb0, 64, value];
        let bend = |value| [0xe0, 0, value];
        let all = [
            (pedal(127), false),
            (bend(3), false),
            ([0xb0, 1, 5], true),
            (pedal(0), false),
            (bend(64), true),
        ];
        assert_eq!(told(&all), [[0xb0, 1, 5], pedal(0), bend(64)]);
        let many: Vec<_> = (0..200)
            .map(|key| ([0x80 | (key / 100), key % 100, 0], false))
            .collect();
        assert_eq!(told(&many).len(), MESSAGES);
    }
}
