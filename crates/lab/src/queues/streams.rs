//! A signal that runs through a filter, by three kinds of queue: blocks a second.

use super::Patience;
use super::filter::Filter;
use divisi::rt::mirror::{self, Consumer, Producer};
use slice_ring_buffer::SliceRingBuffer;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Frames in each queue.
fn capacity(size: usize) -> usize {
    (4 * size).max(4096)
}

/// Windows and rooms in place: nothing is copied but the signal in.
pub(super) fn mirrored(
    size: usize,
    overlap: usize,
) -> (
    impl FnMut(&[f32]) -> bool + Send,
    impl FnMut(&mut Filter) -> bool + Send,
) {
    let ring = || mirror::channel::<f32>(capacity(size)).expect("a few pages");
    let ((mut input, mut from), (mut to, mut output)) = (ring(), ring());
    first_overlap(&mut input, overlap);
    let feed = move |frames: &[f32]| {
        let Ok(mut room) = input.write_chunk(frames.len()) else {
            return false;
        };
        room.copy_from_slice(frames);
        room.commit(frames.len());
        true
    };
    let run = move |filter: &mut Filter| {
        let (Ok(window), Ok(mut room)) = (from.read_chunk(size), to.write_chunk(size)) else {
            return false;
        };
        filter.run(&window, &mut room);
        room.commit(filter.hop());
        window.release(filter.hop());
        drain(&mut output, filter.hop());
        true
    };
    (feed, run)
}

fn first_overlap(input: &mut Producer<f32>, overlap: usize) {
    let mut room = input.write_chunk(overlap).expect("it is empty");
    room.fill(0.0);
    room.commit(overlap);
}

fn drain(output: &mut Consumer<f32>, hop: usize) {
    output
        .read_chunk(hop)
        .expect("it was just filled")
        .release(hop);
}

/// Rings that hand out their contents in two pieces: the window is kept beside them, and its overlap is moved to its front
/// before each block.
pub(super) fn copying(
    size: usize,
    overlap: usize,
) -> (
    impl FnMut(&[f32]) -> bool + Send,
    impl FnMut(&mut Filter) -> bool + Send,
) {
    let ring = || rtrb::RingBuffer::<f32>::new(capacity(size));
    let ((mut input, mut from), (mut to, mut output)) = (ring(), ring());
    let (mut window, mut result) = (vec![0.0; size], vec![0.0; size]);
    let feed = move |frames: &[f32]| put(&mut input, frames);
    let run = move |filter: &mut Filter| {
        let hop = filter.hop();
        let Ok(chunk) = from.read_chunk(hop) else {
            return false;
        };
        window.copy_within(hop.., 0);
        let (first, second) = chunk.as_slices();
        window[overlap..][..first.len()].copy_from_slice(first);
        window[overlap + first.len()..].copy_from_slice(second);
        chunk.commit_all();
        filter.run(&window, &mut result);
        let is_put = put(&mut to, &result[..hop]);
        output
            .read_chunk(hop)
            .expect("it was just filled")
            .commit_all();
        is_put
    };
    (feed, run)
}

fn put(ring: &mut rtrb::Producer<f32>, frames: &[f32]) -> bool {
    let Ok(mut chunk) = ring.write_chunk(frames.len()) else {
        return false;
    };
    let (first, second) = chunk.as_mut_slices();
    let middle = first.len();
    first.copy_from_slice(&frames[..middle]);
    second.copy_from_slice(&frames[middle..]);
    chunk.commit_all();
    true
}

/// A mirrored queue for one thread: its windows are plain slices, what comes out is copied in.
pub(super) struct Slices {
    input: SliceRingBuffer<f32>,
    output: SliceRingBuffer<f32>,
    result: Vec<f32>,
}

impl Slices {
    pub(super) fn new(size: usize, overlap: usize) -> Self {
        let mut input = SliceRingBuffer::with_capacity(capacity(size));
        input.extend_from_slice(&vec![0.0; overlap]);
        Self {
            input,
            output: SliceRingBuffer::with_capacity(capacity(size)),
            result: vec![0.0; size],
        }
    }

    fn feed(&mut self, frames: &[f32]) {
        self.input.extend_from_slice(frames);
    }

    fn filter(&mut self, filter: &mut Filter) {
        let hop = filter.hop();
        filter.run(&self.input[..self.result.len()], &mut self.result);
        self.output.extend_from_slice(&self.result[..hop]);
        self.input.drain(..hop);
        self.output.drain(..hop);
    }
}

/// Blocks a second of one thread that feeds and filters by turns, for `time`.
pub(super) fn alone(
    filter: &mut Filter,
    time: Duration,
    mut feed: impl FnMut(&[f32]) -> bool,
    mut run: impl FnMut(&mut Filter) -> bool,
) -> f64 {
    let frames = signal(filter.hop());
    let (mut blocks, begin) = (0_u64, Instant::now());
    loop {
        for _ in 0..8 {
            let is_done = feed(&frames) && run(filter);
            assert!(
                is_done,
                "a queue that was emptied has room, and one that was filled has frames"
            );
        }
        blocks += 8;
        let passed = begin.elapsed();
        if passed >= time {
            return blocks as f64 / passed.as_secs_f64();
        }
    }
}

/// The same by a queue for one thread.
pub(super) fn alone_by_slices(filter: &mut Filter, time: Duration, slices: Slices) -> f64 {
    let slices = std::cell::RefCell::new(slices);
    let feed = |frames: &[f32]| {
        slices.borrow_mut().feed(frames);
        true
    };
    let run = |filter: &mut Filter| {
        slices.borrow_mut().filter(filter);
        true
    };
    alone(filter, time, feed, run)
}

/// Blocks a second of a thread that filters while another feeds it, for `time`.
pub(super) fn together(
    filter: &mut Filter,
    time: Duration,
    mut feed: impl FnMut(&[f32]) -> bool + Send,
    mut run: impl FnMut(&mut Filter) -> bool,
) -> f64 {
    let frames = signal(filter.hop());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut patience = Patience::default();
            // Relaxed: only when to end.
            while !is_over.load(Ordering::Relaxed) {
                match feed(&frames) {
                    true => patience.end(),
                    false => patience.wait(),
                }
            }
        });
        let (mut blocks, begin) = (0_u64, Instant::now());
        let mut patience = Patience::default();
        let speed = loop {
            if run(filter) {
                blocks += 1;
                patience.end();
            } else {
                patience.wait();
            }
            let passed = begin.elapsed();
            if passed >= time && blocks > 0 {
                break blocks as f64 / passed.as_secs_f64();
            }
        };
        // Relaxed: only when to end.
        is_over.store(true, Ordering::Relaxed);
        speed
    })
}

fn signal(hop: usize) -> Vec<f32> {
    (0..hop).map(|i| ((i * 7) % 13) as f32 - 6.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_queue_brings_blocks() {
        let mut filter = Filter::new(64, 32);
        let time = Duration::from_millis(1);
        let (feed, run) = mirrored(64, 32);
        assert!(alone(&mut filter, time, feed, run) > 0.0);
        let (feed, run) = copying(64, 32);
        assert!(alone(&mut filter, time, feed, run) > 0.0);
        assert!(alone_by_slices(&mut filter, time, Slices::new(64, 32)) > 0.0);
    }
}
