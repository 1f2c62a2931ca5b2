//! An overlap-save filter between two queues: its input windows overlap, so that a queue that gives them as one slice saves
//! a copy (Allen, Zucknick and Evans: mirrored queues for overlapping windows, as in the experiment "queues").
//!
//! | candidate | input window | result |
//! |---|---|---|
//! | mirrored | one slice of the ring | written in place |
//! | `slice-ring-buffer` | one slice of the ring; one owner, no ends for two threads | copied in |
//! | `rtrb` | kept beside the ring, its overlap moved to the front | copied in |

use crate::compare::{Candidate, compare};
use fft::{AlignedBuffer, Kernels, Packing, RealFft};
use slice_ring_buffer::SliceRingBuffer;

pub fn report(rounds: usize) {
    for (size, overlap) in [(256, 128), (4096, 2048), (4096, 3686), (65_536, 32_768)] {
        let mut candidates = [
            Candidate {
                name: "divisi, in place",
                run: mirrored(size, overlap),
            },
            Candidate {
                name: "slice-ring-buffer",
                run: slices(size, overlap),
            },
            Candidate {
                name: "rtrb",
                run: copying(size, overlap),
            },
        ];
        let title = format!("a block of a filter, FFT of {size}, overlap {overlap}, one thread");
        compare(&title, rounds, (1 << 20) / size, &mut candidates);
    }
}

/// A filter by FFT that gives the valid frames of a window first.
struct Filter {
    fft: RealFft,
    kernels: Kernels,
    response: AlignedBuffer,
    spectrum: AlignedBuffer,
    product: AlignedBuffer,
    scratch: AlignedBuffer,
    hop: usize,
}

impl Filter {
    fn new(size: usize, overlap: usize) -> Self {
        let kernels = Kernels::best();
        let fft = RealFft::new(size / 2, Packing::Mono, kernels).expect("a power of two");
        let [mut time, mut response, spectrum, product] =
            [(); 4].map(|()| AlignedBuffer::new(fft.buffer_len()));
        let mut scratch = AlignedBuffer::new(fft.scratch_len());
        // Turned back by the overlap, so that the valid frames come first.
        for tap in 0..=overlap {
            time[(size + tap - overlap) % size] = 1.0 / (size * (tap + 1)) as f32;
        }
        fft.forward(&time, &mut response, &mut scratch);
        let hop = size - overlap;
        Self {
            fft,
            kernels,
            response,
            spectrum,
            product,
            scratch,
            hop,
        }
    }

    fn run(&mut self, from: &[f32], to: &mut [f32]) {
        let (spectrum, product) = (&mut self.spectrum, &mut self.product);
        self.fft.forward(from, spectrum, &mut self.scratch);
        product.fill(0.0);
        self.kernels
            .multiply_add(product, spectrum, &self.response, Packing::Mono);
        self.fft.inverse(product, to, &mut self.scratch);
    }
}

/// Frames of each queue.
fn capacity(size: usize) -> usize {
    (4 * size).max(4096)
}

fn signal(hop: usize) -> Vec<f32> {
    (0..hop).map(|i| ((i * 7) % 13) as f32 - 6.0).collect()
}

fn mirrored(size: usize, overlap: usize) -> Box<dyn FnMut(usize)> {
    let ring = || rt::mirror::channel::<f32>(capacity(size)).expect("some pages");
    let ((mut input, mut from), (mut to, mut output)) = (ring(), ring());
    let mut filter = Filter::new(size, overlap);
    let (hop, frames) = (filter.hop, signal(filter.hop));
    let mut history = input.write_chunk(overlap).expect("it is empty");
    history.fill(0.0);
    history.commit(overlap);
    Box::new(move |times| {
        for _ in 0..times {
            let mut chunk = input.write_chunk(hop).expect("it was emptied");
            chunk.copy_from_slice(&frames);
            chunk.commit(hop);
            let window = from.read_chunk(size).expect("it was filled");
            let mut result = to.write_chunk(size).expect("it was emptied");
            filter.run(&window, &mut result);
            result.commit(hop);
            window.release(hop);
            output.read_chunk(hop).expect("it was filled").release(hop);
        }
    })
}

fn slices(size: usize, overlap: usize) -> Box<dyn FnMut(usize)> {
    let ring = || SliceRingBuffer::<f32>::with_capacity(capacity(size));
    let (mut input, mut output) = (ring(), ring());
    let mut filter = Filter::new(size, overlap);
    let (hop, frames) = (filter.hop, signal(filter.hop));
    let mut result = vec![0.0; size];
    input.extend_from_slice(&vec![0.0; overlap]);
    Box::new(move |times| {
        for _ in 0..times {
            input.extend_from_slice(&frames);
            filter.run(&input[..size], &mut result);
            output.extend_from_slice(&result[..hop]);
            input.drain(..hop);
            output.drain(..hop);
        }
    })
}

fn copying(size: usize, overlap: usize) -> Box<dyn FnMut(usize)> {
    let ring = || rtrb::RingBuffer::<f32>::new(capacity(size));
    let ((mut input, mut from), (mut to, mut output)) = (ring(), ring());
    let mut filter = Filter::new(size, overlap);
    let (hop, frames) = (filter.hop, signal(filter.hop));
    let (mut window, mut result) = (vec![0.0; size], vec![0.0; size]);
    Box::new(move |times| {
        for _ in 0..times {
            push(&mut input, &frames);
            window.copy_within(hop.., 0);
            let chunk = from.read_chunk(hop).expect("it was filled");
            let (first, second) = chunk.as_slices();
            window[overlap..][..first.len()].copy_from_slice(first);
            window[overlap + first.len()..].copy_from_slice(second);
            chunk.commit_all();
            filter.run(&window, &mut result);
            push(&mut to, &result[..hop]);
            output.read_chunk(hop).expect("it was filled").commit_all();
        }
    })
}

fn push(ring: &mut rtrb::Producer<f32>, frames: &[f32]) {
    let mut chunk = ring.write_chunk(frames.len()).expect("it was emptied");
    let (first, second) = chunk.as_mut_slices();
    let middle = first.len();
    first.copy_from_slice(&frames[..middle]);
    second.copy_from_slice(&frames[middle..]);
    chunk.commit_all();
}
