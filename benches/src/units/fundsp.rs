//! A loop over copies of a unit of fundsp, each a typed graph of 32-bit floats that processes 64 frames at a time.
//!
//! It is the fastest way that fundsp has: no `Net`, no `AudioUnit` behind a pointer, the input ready in memory. So nothing is taken
//! off.

use super::{BLOCK, Bench, RATE, hz, rms, thread_time};
use ::fundsp::prelude32::{An, AudioNode, BufferVec};
use rt::ftz::FlushToZero;
use std::hint::black_box;

/// What the copies hear.
#[derive(Clone, Copy)]
pub enum Input {
    /// White noise on as many channels as there are inputs.
    Noise,
    /// A square of 4 Hz from 0 to 1.
    Gate,
}

struct FundspBench<X: AudioNode> {
    copies: Vec<X>,
    /// Blocks that are heard in turn.
    inputs: Vec<BufferVec>,
    /// The output of each copy.
    outputs: Vec<BufferVec>,
    next: usize,
}

/// `copies` copies of what `make` makes for a frequency.
pub fn bench<X: AudioNode + 'static>(
    copies: usize,
    input: Input,
    make: impl Fn(f32) -> An<X>,
) -> Box<dyn Bench> {
    let copies = (1..=copies).map(|copy| {
        let mut unit = make(hz(copy)).0;
        unit.set_sample_rate(f64::from(RATE));
        unit.set_hash(copy as u64);
        unit.allocate();
        unit
    });
    let copies: Vec<X> = copies.collect();
    let (inputs, outputs) = (copies[0].inputs(), copies[0].outputs());
    Box::new(FundspBench {
        inputs: blocks_of(input, inputs),
        outputs: vec![BufferVec::new(outputs); copies.len()],
        copies,
        next: 0,
    })
}

fn blocks_of(input: Input, channels: usize) -> Vec<BufferVec> {
    let blocks = match input {
        Input::Noise => BLOCK,
        // Two periods.
        Input::Gate => RATE as usize / 2 / BLOCK,
    };
    let mut noise = units::SplitMix64(1);
    let mut sample = |frame: usize| match input {
        Input::Noise => noise.sample(),
        Input::Gate => f32::from(u8::from(frame % 12_000 < 6_000)),
    };
    let fill = |block: usize| {
        let mut buffer = BufferVec::new(channels);
        for channel in 0..channels {
            for i in 0..BLOCK {
                buffer.set_f32(channel, i, sample(block * BLOCK + i));
            }
        }
        buffer
    };
    (0..blocks).map(fill).collect()
}

impl<X: AudioNode> FundspBench<X> {
    fn play_block(&mut self) {
        let input = self.inputs[self.next].buffer_ref();
        self.next = (self.next + 1) % self.inputs.len();
        for (unit, output) in self.copies.iter_mut().zip(&mut self.outputs) {
            unit.process(BLOCK, &input, &mut output.buffer_mut());
        }
        black_box(&mut self.outputs);
    }
}

impl<X: AudioNode> Bench for FundspBench<X> {
    fn time(&mut self, blocks: usize) -> f64 {
        let _flushes = FlushToZero::enable();
        let begin = thread_time();
        (0..blocks).for_each(|_| self.play_block());
        (thread_time() - begin) / self.copies.len() as f64
    }

    fn level(&mut self) -> f32 {
        let mut samples = Vec::new();
        for _ in 0..RATE as usize / BLOCK {
            self.play_block();
            samples.extend((0..BLOCK).map(|i| {
                let channels =
                    |of: &BufferVec| (0..of.channels()).map(|c| of.at_f32(c, i)).sum::<f32>();
                self.outputs.iter().map(channels).sum::<f32>()
            }));
        }
        rms(samples.into_iter())
    }
}
