//! Blocks with one channel a port: all frames of all ports at once, for what is so cheap that it asks for them only once.

use super::{Block, Content, InputBuffer, OutputBuffer};

impl<'a> Block<'a> {
    /// The frames of the input and of the output, if it has one of each, of one channel, and nothing is known of the input's content.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub fn mono(&mut self) -> Option<(&[f32], &mut [f32])> {
        let [to] = self.io.outputs() else {
            return None;
        };
        let from = self.only_input().filter(|_| to.channels == 1)?;
        Some((from, OutputBuffer::new(to, self.info).into_channel(0)))
    }

    /// The same of an input and two outputs.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub fn one_to_two(&mut self) -> Option<(&[f32], [&mut [f32]; 2])> {
        let [left, right] = self.io.outputs() else {
            return None;
        };
        let is_mono = left.channels == 1 && right.channels == 1;
        let from = self.only_input().filter(|_| is_mono)?;
        // Each port has channels of its own (rule 1), so the outputs do not overlap.
        let to = [left, right].map(|side| OutputBuffer::new(side, self.info).into_channel(0));
        Some((from, to))
    }

    /// The frames of the only input, if that has one channel of whose content nothing is known.
    #[inline(always)]
    fn only_input(&self) -> Option<&'a [f32]> {
        match self.io.inputs() {
            // SAFETY: `Block::new`'s promise; a flag is written together with its slot.
            [port] if port.channels == 1 && unsafe { port.first.is(Content::Unknown) } => {
                Some(InputBuffer::new(port, self.info).channel(0))
            }
            _ => None,
        }
    }
}
