//! [`MidiMemory`]: the MIDI messages that a new process of a cell must be told again.
//!
//! | message | told to a process that continues from a checkpoint | told after a block that was missed |
//! |---|---|---|
//! | a key that is struck, or ends | what came after the checkpoint | the last ends, and keys that were struck while the cell was lost |
//! | a controller (pedals too), a bend, a program, pressure | the newest of each number | the same |
//!
//! A key that is in the checkpoint is not told: it would be struck twice.

/// Messages that are kept.
pub(crate) const MESSAGES: usize = 128;

/// A message that was sent.
#[derive(Clone, Copy)]
struct KeptMessage {
    /// Its place.
    at: u16,
    message: [u8; 3],
    /// Frame of its block.
    position: u64,
    /// A key that was struck while the cell played.
    is_playing: bool,
}

impl KeptMessage {
    fn is_key(&self) -> bool {
        is_key(self.message[0])
    }

    fn is_end(&self) -> bool {
        let [status, _, velocity] = self.message;
        status & 0xf0 == 0x80 || status & 0xf0 == 0x90 && velocity == 0
    }

    /// Returns true for a message about the same key or controller.
    fn is_about(&self, at: u16, [status, number, _]: [u8; 3]) -> bool {
        let [own, its, _] = self.message;
        let same = match is_key(status) {
            true => is_key(own) && own & 15 == status & 15,
            false => own == status,
        };
        let is_numbered = status < 0xc0;
        self.at == at && same && (!is_numbered || its == number)
    }
}

fn is_key(status: u8) -> bool {
    status & 0xe0 == 0x80
}

/// Messages of one cell, the newest last.
pub(crate) struct MidiMemory(Vec<KeptMessage>);

impl Default for MidiMemory {
    fn default() -> Self {
        Self(Vec::with_capacity(MESSAGES))
    }
}

impl MidiMemory {
    /// Follows a message for the place `at`, in the block at frame `position`. `is_lost`: the cell does not play.
    ///
    /// Real-time: hot.
    pub(crate) fn follow(&mut self, at: u16, message: [u8; 3], (position, is_lost): (u64, bool)) {
        let [status, _, value] = message;
        let is_strike = status & 0xf0 == 0x90 && value > 0;
        // What came before for the same counts no more, but the end before a strike.
        (self.0).retain(|it| !it.is_about(at, message) || is_strike && it.is_end());
        if !is_key(status) && !(0xb0..0xf0).contains(&status) {
            return;
        }
        if self.0.len() == MESSAGES {
            let oldest = self.0.iter().position(|it| it.is_playing);
            self.0.remove(oldest.unwrap_or(0));
        }
        self.0.push(KeptMessage {
            at,
            message,
            position,
            is_playing: is_strike && !is_lost,
        });
    }

    /// Notes and controllers to be told, in the order in which it came, each behind its place. `from` is the frame from which the process
    /// continues; without it, the process has missed a block or begins anew.
    ///
    /// Real-time: hot.
    pub(crate) fn told(&self, from: Option<u64>) -> impl Iterator<Item = (u16, [u8; 3])> + '_ {
        let is_told = move |(index, it): &(usize, &KeptMessage)| match from {
            _ if !it.is_key() => true,
            Some(from) => it.position >= from,
            None => {
                // A key that was struck again while the cell played sounds: its old end would end it.
                let later = &self.0[index + 1..];
                let struck =
                    |other: &KeptMessage| other.is_playing && other.is_about(it.at, it.message);
                !it.is_playing && !later.iter().any(struck)
            }
        };
        let told = self.0.iter().enumerate().filter(is_told);
        told.map(|(_, it)| (it.at, it.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(messages: &[([u8; 3], bool)]) -> Vec<[u8; 3]> {
        let mut memory = MidiMemory::default();
        for (message, is_lost) in messages {
            memory.follow(0, *message, (0, *is_lost));
        }
        memory.told(None).map(|(_, message)| message).collect()
    }

    #[test]
    fn a_process_that_continues_is_told_what_came_after_its_checkpoint() {
        let mut memory = MidiMemory::default();
        let (on, off) = (|key| [0x90, key, 100], |key| [0x80, key, 0]);
        let all = [
            (on(60), 0),
            (on(62), 64),
            (off(60), 128),
            (on(60), 128),
            (on(64), 192),
            (off(64), 192),
            ([0xb0, 1, 9], 0),
        ];
        for (message, position) in all {
            memory.follow(0, message, (position, false));
        }
        let told = |from| {
            let told = memory.told(Some(from)).map(|(_, message)| message);
            told.collect::<Vec<_>>()
        };
        let wheel = [0xb0, 1, 9];
        assert_eq!(told(128), [off(60), on(60), off(64), wheel]);
        assert_eq!(told(64), [on(62), off(60), on(60), off(64), wheel]);
        assert_eq!(told(256), [wheel]);
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
