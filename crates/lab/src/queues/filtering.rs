//! A signal that passes a filter between two queues: blocks per second, by kind of queue.
//!
//! ```text
//! feed: signal -> input queue -> run: filter -> output queue -> discarded
//! ```
//!
//! Each kind of queue is a pair of closures, `feed` and `run`; both return false if the queue has no room or no frames.

use super::Backoff;
use super::filter::OverlapSave;
use divisi::rt::mirror::{self, ChunkError, Pod, Producer};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Frames in each queue.
fn capacity(size: usize) -> usize {
    (4 * size).max(4096)
}

/// Mirrored rings: windows and results in place, nothing is copied but the signal in.
pub(super) fn mirrored(
    size: usize,
    overlap: usize,
) -> (
    impl FnMut(&[f32]) -> bool + Send,
    impl FnMut(&mut OverlapSave) -> bool + Send,
) {
    let ring = || mirror::channel::<f32>(capacity(size)).expect("a few pages");
    let ((mut input, mut from), (mut to, mut output)) = (ring(), ring());
    write_mirrored(&mut input, &vec![0.0; overlap]).expect("it is empty");
    let feed = move |frames: &[f32]| write_mirrored(&mut input, frames).is_ok();
    let run = move |filter: &mut OverlapSave| {
        let (Ok(window), Ok(mut room)) = (from.read_chunk(size), to.write_chunk(size)) else {
            return false;
        };
        filter.process_window(&window, &mut room);
        room.commit(filter.hop());
        window.release(filter.hop());
        let written = output.read_chunk(filter.hop());
        written.expect("it was just filled").release(filter.hop());
        true
    };
    (feed, run)
}

/// Copies items into a mirrored ring.
pub(super) fn write_mirrored<T: Pod>(
    ring: &mut Producer<T>,
    items: &[T],
) -> Result<(), ChunkError> {
    let mut room = ring.write_chunk(items.len())?;
    room.copy_from_slice(items);
    room.commit(items.len());
    Ok(())
}

/// Rings that give their contents in two pieces: the window is a buffer beside them, whose overlap is moved to its front
/// before each block.
pub(super) fn copying(
    size: usize,
    overlap: usize,
) -> (
    impl FnMut(&[f32]) -> bool + Send,
    impl FnMut(&mut OverlapSave) -> bool + Send,
) {
    let ring = || rtrb::RingBuffer::<f32>::new(capacity(size));
    let ((mut input, mut from), (mut to, mut output)) = (ring(), ring());
    let (mut window, mut result) = (vec![0.0; size], vec![0.0; size]);
    let feed = move |frames: &[f32]| write_copy(&mut input, frames);
    let run = move |filter: &mut OverlapSave| {
        let hop = filter.hop();
        let Ok(chunk) = from.read_chunk(hop) else {
            return false;
        };
        window.copy_within(hop.., 0);
        read_copy(chunk, &mut window[overlap..]);
        filter.process_window(&window, &mut result);
        let has_room = write_copy(&mut to, &result[..hop]);
        let written = output.read_chunk(hop).expect("it was just filled");
        written.commit_all();
        has_room
    };
    (feed, run)
}

/// Writes items into a ring of two pieces. Returns false if it lacks the room.
pub(super) fn write_copy<T: Copy + Default>(ring: &mut rtrb::Producer<T>, items: &[T]) -> bool {
    let Ok(mut chunk) = ring.write_chunk(items.len()) else {
        return false;
    };
    let (first, second) = chunk.as_mut_slices();
    let middle = first.len();
    first.copy_from_slice(&items[..middle]);
    second.copy_from_slice(&items[middle..]);
    chunk.commit_all();
    true
}

/// Reads all items of a chunk in two pieces.
pub(super) fn read_copy<T: Copy>(chunk: rtrb::chunks::ReadChunk<'_, T>, items: &mut [T]) {
    let (first, second) = chunk.as_slices();
    items[..first.len()].copy_from_slice(first);
    items[first.len()..].copy_from_slice(second);
    chunk.commit_all();
}

/// Blocks per second of one thread that feeds and filters in turn.
pub(super) fn on_one_thread(
    filter: &mut OverlapSave,
    time: Duration,
    mut feed: impl FnMut(&[f32]) -> bool,
    mut run: impl FnMut(&mut OverlapSave) -> bool,
) -> f64 {
    let frames = signal(filter.hop());
    let (mut blocks, begin) = (0_u64, Instant::now());
    loop {
        for _ in 0..8 {
            let is_done = feed(&frames) && run(filter);
            assert!(
                is_done,
                "an emptied queue has room, and a filled one frames"
            );
        }
        blocks += 8;
        let elapsed = begin.elapsed();
        if elapsed >= time {
            return blocks as f64 / elapsed.as_secs_f64();
        }
    }
}

/// Blocks per second of a thread that filters while another feeds it.
pub(super) fn on_two_threads(
    filter: &mut OverlapSave,
    time: Duration,
    mut feed: impl FnMut(&[f32]) -> bool + Send,
    mut run: impl FnMut(&mut OverlapSave) -> bool,
) -> f64 {
    let frames = signal(filter.hop());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut backoff = Backoff::default();
            // Relaxed: a stop request alone.
            while !is_over.load(Ordering::Relaxed) {
                match feed(&frames) {
                    true => backoff.reset(),
                    false => backoff.wait(),
                }
            }
        });
        let (mut blocks, begin) = (0_u64, Instant::now());
        let mut backoff = Backoff::default();
        let blocks_per_s = loop {
            if run(filter) {
                blocks += 1;
                backoff.reset();
            } else {
                backoff.wait();
            }
            let elapsed = begin.elapsed();
            if elapsed >= time && blocks > 0 {
                break blocks as f64 / elapsed.as_secs_f64();
            }
        };
        // Relaxed: a stop request alone.
        is_over.store(true, Ordering::Relaxed);
        blocks_per_s
    })
}

fn signal(hop: usize) -> Vec<f32> {
    (0..hop).map(|i| ((i * 7) % 13) as f32 - 6.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_queue_brings_blocks_on_one_thread_and_on_two() {
        let mut filter = OverlapSave::new(64, 32);
        let time = Duration::from_millis(1);
        let (feed, run) = mirrored(64, 32);
        assert!(on_one_thread(&mut filter, time, feed, run) > 0.0);
        let (feed, run) = copying(64, 32);
        assert!(on_one_thread(&mut filter, time, feed, run) > 0.0);
        let (feed, run) = mirrored(64, 32);
        assert!(on_two_threads(&mut filter, time, feed, run) > 0.0);
    }
}
