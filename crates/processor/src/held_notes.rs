//! [`HeldNotes`]: the keys and pedals that are down at a port, so that they can be released.

/// Controllers that hold notes: sustain, sostenuto, hold 2.
const PEDALS: [u8; 3] = [64, 66, 69];

/// Keys and pedals that are down, a bit each.
#[derive(Clone, Debug, Default)]
pub struct HeldNotes {
    keys: [u128; 16],
    pedals: [u8; 16],
}

impl HeldNotes {
    /// Follows a channel message.
    ///
    /// Real-time: hot.
    pub fn follow(&mut self, [status, number, value]: [u8; 3]) {
        let channel = usize::from(status & 15);
        let key = 1_u128 << (number & 127);
        match status & 0xf0 {
            0x90 if value > 0 => self.keys[channel] |= key,
            0x80 | 0x90 => self.keys[channel] &= !key,
            0xb0 if matches!(number, 120 | 123..=127) => self.keys[channel] = 0,
            0xb0 => {
                if let Some(pedal) = PEDALS.iter().position(|it| *it == number) {
                    let bit = 1 << pedal;
                    match value >= 64 {
                        true => self.pedals[channel] |= bit,
                        false => self.pedals[channel] &= !bit,
                    }
                }
            }
            _ => {}
        }
    }

    /// Passes the messages that release all to `send`, and forgets them.
    ///
    /// Real-time: hot, if `send` is.
    pub fn release(&mut self, mut send: impl FnMut([u8; 3])) {
        for channel in 0..16_u8 {
            let mut keys = std::mem::take(&mut self.keys[usize::from(channel)]);
            while keys != 0 {
                send([0x80 | channel, keys.trailing_zeros() as u8, 64]);
                keys &= keys - 1;
            }
            let pedals = std::mem::take(&mut self.pedals[usize::from(channel)]);
            for (pedal, number) in PEDALS.into_iter().enumerate() {
                if pedals >> pedal & 1 == 1 {
                    send([0xb0 | channel, number, 0]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_down_is_released_once() {
        let mut held = HeldNotes::default();
        let messages = [
            [0x90, 60, 1],
            [0x95, 127, 9],
            [0x90, 61, 1],
            [0x90, 61, 0],
            [0x91, 5, 5],
            [0xb1, 123, 0],
            [0xb5, 64, 127],
            [0xb5, 66, 127],
            [0xb5, 66, 0],
        ];
        messages
            .into_iter()
            .for_each(|message| held.follow(message));
        let mut released = Vec::new();
        held.release(|message| released.push(message));
        assert_eq!(released, [[0x80, 60, 64], [0x85, 127, 64], [0xb5, 64, 0]]);
        held.release(|_| panic!("nothing is down"));
    }
}
