//! [`BlockAdapter`]: from a device's buffers of any length to the engine's blocks and back, with the smallest latency
//! that suffices.

use units::Frames;

use crate::block_buffers::BlockBuffers;

/// The other side of an exchange: a callback, and the MIDI of the device.
pub trait AdapterClient {
    /// Plays one block.
    fn process(&mut self, inputs: &[&[f32]], outputs: &mut [&mut [f32]]);

    /// Takes the MIDI of `frames` frames of the device from `from` on, as that of the next block from `to` on.
    fn read_midi(&mut self, _from: usize, _to: usize, _frames: usize) {}

    /// Gives the MIDI of `frames` frames of the last block from `from` on to the device, from its frame `to` on.
    fn write_midi(&mut self, _from: usize, _to: usize, _frames: usize) {}
}

/// A callback without MIDI.
struct WithoutMidi<F>(F);

impl<F: FnMut(&[&[f32]], &mut [&mut [f32]])> AdapterClient for WithoutMidi<F> {
    fn process(&mut self, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        self.0(inputs, outputs);
    }
}

/// Stands between a device, whose buffers may have any length, and an engine, whose blocks all have the same length.
///
/// It holds one block for the input, filled from its start, and one for the output, emptied from `taken`. The callback
/// runs when the input block is full:
///
/// ```text
///   device input   ──▶ │▓▓▓▓▓▓▓░░░░│ filled          full: callback ─┐
///                                                                     ▼
///   device output  ◀── │░░░░▓▓▓▓▓▓▓│ taken        the whole output block
/// ```
///
/// After N frames, with block B and latency L, L - (N mod B) frames wait for the device. That is never more than one
/// block, so the output block is always empty when the callback fills it. And it is never negative, since L = B -
/// gcd(n, B) for device buffers of n frames: 0 if n is a multiple of B, else at most B - 1. A device that changes n may
/// need more; then that much silence is inserted, once, and [`BlockAdapter::latency`] grows by it.
#[derive(Debug)]
pub struct BlockAdapter {
    block: usize,
    latency: usize,
    /// Length of the device's last buffer.
    device: usize,
    buffers: BlockBuffers,
    /// Frames of the input block that are filled.
    filled: usize,
    /// Frames of the output block that the device has taken.
    taken: usize,
}

impl BlockAdapter {
    /// An adapter between blocks of `block` frames (not 0) and a device whose buffers hold `device`.
    ///
    /// # Panics
    ///
    /// The block has no frames.
    ///
    /// Real-time: setup.
    pub fn new(block: Frames, device: Frames, inputs: u16, outputs: u16) -> Self {
        let frames = block.count();
        assert!(frames > 0, "a block has at least one frame");
        let mut adapter = Self {
            block: frames,
            latency: 0,
            device: 0,
            buffers: BlockBuffers::new(block, inputs, outputs),
            filled: 0,
            taken: frames,
        };
        adapter.adapt(device.count());
        adapter
    }

    /// Delay of the output against what the callback wrote, in frames.
    ///
    /// Real-time: hot.
    pub fn latency(&self) -> Frames {
        Frames(self.latency as u32)
    }

    /// Number of blocks that the callback will play for the next `frames` frames.
    ///
    /// Real-time: hot.
    pub fn blocks(&self, frames: usize) -> usize {
        (self.filled + frames) / self.block
    }

    /// Takes `frames` frames from `inputs`, gives as many to `outputs`, and runs `callback` for every block in between.
    ///
    /// Channels that the device lacks are silent; channels that it has beyond ours are set to silence. Every slice
    /// holds at least `frames` samples; samples that a slice lacks are taken as silence.
    ///
    /// Real-time: hot, if `callback` is.
    pub fn exchange(
        &mut self,
        frames: usize,
        inputs: &[&[f32]],
        outputs: &mut [&mut [f32]],
        callback: impl FnMut(&[&[f32]], &mut [&mut [f32]]),
    ) {
        self.exchange_with(frames, inputs, outputs, &mut WithoutMidi(callback));
    }

    /// As [`exchange`](Self::exchange), with the device's MIDI: that of the inputs before each block, that of the outputs
    /// as they are given.
    ///
    /// Real-time: hot, if `client` is.
    pub fn exchange_with(
        &mut self,
        frames: usize,
        inputs: &[&[f32]],
        outputs: &mut [&mut [f32]],
        client: &mut impl AdapterClient,
    ) {
        if frames != self.device {
            self.adapt(frames);
        }
        let (mut read, mut written) = (0, 0);
        loop {
            let taken = self.taken;
            let given = self.write_outputs(outputs, written, frames - written);
            client.write_midi(taken, written, given);
            written += given;
            let wanted = (self.block - self.filled).min(frames - read);
            client.read_midi(read, self.filled, wanted);
            self.read_inputs(inputs, read, wanted);
            read += wanted;
            if self.filled < self.block {
                break;
            }
            debug_assert_eq!(self.taken, self.block, "the last block was taken");
            self.buffers
                .call(|inputs, outputs| client.process(inputs, outputs));
            (self.filled, self.taken) = (0, 0);
        }
        debug_assert_eq!(written, frames, "the latency covers every buffer");
    }

    /// Makes the latency suffice for buffers of `device` frames from here on.
    fn adapt(&mut self, device: usize) {
        self.device = device;
        if device == 0 {
            return;
        }
        // From here N is `filled` plus multiples of the common divisor: this is the largest N mod B that it can reach.
        let common = units::gcd(device as u128, self.block as u128) as usize;
        let needed = self.block - common + self.filled % common;
        let silence = needed.saturating_sub(self.latency);
        let from = self.taken - silence;
        for output in &mut self.buffers.outputs {
            output[from..self.taken].fill(0.0);
        }
        self.taken = from;
        self.latency += silence;
    }

    /// Gives the device up to `frames` frames that are ready, and returns how many.
    fn write_outputs(&mut self, outputs: &mut [&mut [f32]], at: usize, frames: usize) -> usize {
        let frames = frames.min(self.block - self.taken);
        for (channel, output) in outputs.iter_mut().enumerate() {
            let end = output.len().min(at + frames);
            let Some(to) = output.get_mut(at..end) else {
                continue;
            };
            match self.buffers.outputs.get(channel) {
                Some(ours) => to.copy_from_slice(&ours[self.taken..][..to.len()]),
                None => to.fill(0.0),
            }
        }
        self.taken += frames;
        frames
    }

    /// Takes `frames` frames of the device, which fit.
    fn read_inputs(&mut self, inputs: &[&[f32]], at: usize, frames: usize) {
        for (channel, ours) in self.buffers.inputs.iter_mut().enumerate() {
            let to = &mut ours[self.filled..][..frames];
            let from = inputs.get(channel).and_then(|input| input.get(at..));
            let from = from.unwrap_or_default();
            let count = from.len().min(frames);
            to[..count].copy_from_slice(&from[..count]);
            to[count..].fill(0.0);
        }
        self.filled += frames;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A callback that copies its input and remembers it.
    fn through(
        adapter: &mut BlockAdapter,
        input: &[f32],
        played: &mut Vec<f32>,
        seen: &mut Vec<f32>,
    ) -> Vec<usize> {
        let mut output = vec![7.0; input.len()];
        let mut blocks = Vec::new();
        adapter.exchange(
            input.len(),
            &[input],
            &mut [&mut output],
            |inputs, outputs| {
                blocks.push(inputs[0].len());
                seen.extend_from_slice(inputs[0]);
                outputs[0].copy_from_slice(inputs[0]);
            },
        );
        played.extend_from_slice(&output);
        blocks
    }

    fn signal(from: usize, frames: usize) -> Vec<f32> {
        (from..from + frames).map(|n| 1.0 + n as f32).collect()
    }

    #[test]
    fn whole_multiples_of_the_block_add_no_latency() {
        let mut adapter = BlockAdapter::new(Frames(64), Frames(256), 1, 1);
        assert_eq!(adapter.latency(), Frames(0));
        assert_eq!(adapter.blocks(256), 4);
        let (mut output, mut seen) = (vec![], vec![]);
        let blocks = through(&mut adapter, &signal(0, 256), &mut output, &mut seen);
        assert_eq!(blocks, [64; 4]);
        assert_eq!(output, signal(0, 256));
        assert_eq!(
            BlockAdapter::new(Frames(64), Frames(32), 1, 1).latency().0,
            32
        );
        assert_eq!(
            BlockAdapter::new(Frames(64), Frames(441), 1, 1).latency().0,
            63
        );
        assert_eq!(
            BlockAdapter::new(Frames(64), Frames(96), 1, 1).latency().0,
            32
        );
    }

    #[test]
    fn missing_channels_are_silent_and_surplus_ones_silenced() {
        let mut adapter = BlockAdapter::new(Frames(4), Frames(4), 2, 1);
        let (mut a, mut b) = ([9.0; 4], [9.0; 4]);
        adapter.exchange(4, &[&[1.0; 4]], &mut [&mut a, &mut b], |inputs, outputs| {
            assert_eq!((inputs[0], inputs[1]), (&[1.0; 4][..], &[0.0; 4][..]));
            outputs[0].fill(3.0);
        });
        assert_eq!((a, b), ([3.0; 4], [0.0; 4]));
    }

    proptest! {
        #[test]
        fn a_steady_device_gets_the_output_late_by_the_stated_latency(
            block in 1u32..200, device in 1u32..500, calls in 1usize..40,
        ) {
            let mut adapter = BlockAdapter::new(Frames(block), Frames(device), 1, 1);
            let (mut output, mut seen, mut sent) = (vec![], vec![], vec![]);
            for _ in 0..calls {
                let input = signal(sent.len(), device as usize);
                let expected = adapter.blocks(input.len());
                let blocks = through(&mut adapter, &input, &mut output, &mut seen);
                prop_assert_eq!(blocks, vec![block as usize; expected]);
                sent.extend(input);
            }
            let latency = adapter.latency().count();
            prop_assert!(latency < block as usize);
            prop_assert_eq!(&seen[..], &sent[..seen.len()]);
            let late = output.iter().position(|&x| x != 0.0).unwrap_or(output.len());
            prop_assert_eq!(late, latency.min(output.len()));
            prop_assert_eq!(&output[late..], &sent[..output.len() - late]);
        }

        #[test]
        fn a_device_that_changes_gets_all_frames_with_silence_for_each_rise_of_the_latency(
            block in 1u32..100, first in 1u32..300,
            sizes in prop::collection::vec(0usize..300, 1..60),
        ) {
            let mut adapter = BlockAdapter::new(Frames(block), Frames(first), 1, 1);
            let (mut output, mut seen, mut sent) = (vec![], vec![], vec![]);
            // The obvious version: an endless queue that starts with the latency's silence.
            let mut queue: Vec<f32> = vec![0.0; adapter.latency().count()];
            let mut expected = Vec::new();
            let mut delivered = 0;
            for frames in sizes {
                let before = adapter.latency().count();
                let input = signal(sent.len(), frames);
                through(&mut adapter, &input, &mut output, &mut seen);
                sent.extend(input);
                let rise = adapter.latency().count() - before;
                queue.splice(0..0, vec![0.0; rise]);
                queue.extend(&seen[delivered..]);
                delivered = seen.len();
                expected.extend(queue.drain(..frames));
                prop_assert!(adapter.latency().0 < block);
            }
            prop_assert_eq!(&seen[..], &sent[..seen.len()]);
            prop_assert_eq!(output, expected);
        }
    }
}
