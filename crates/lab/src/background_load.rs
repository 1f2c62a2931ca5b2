//! A machine in use: threads that load it like a video player.
//!
//! The source of *graphs* played a video for this. A load of its own is the same on every machine and can be repeated.
//!
//! One thread for each core. Thirty times a second it decodes a frame for some 20 ms: half of that time it streams
//! through more memory than the caches hold, half it computes. These are ordinary threads of this process, so they end
//! with it, however it ends.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Period of the video.
const FRAME_PERIOD: Duration = Duration::from_micros(33_333);
/// Time for which a frame keeps a core busy.
const BUSY: Duration = Duration::from_millis(20);
/// Words of 8 bytes that one thread streams through: 32 MiB.
const WORDS: usize = 4 << 20;

/// Name of these threads.
const NAME: &str = "lab-load";

/// The load; it ends when this is dropped.
pub(crate) struct BackgroundLoad {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl BackgroundLoad {
    /// Starts a thread for each core; does without those that the system refuses.
    pub(crate) fn start(cores: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let threads = (0..cores).filter_map(|_| {
            let stop = stop.clone();
            let thread = Builder::new().name(NAME.into());
            thread.spawn(move || decode_frames(&stop)).ok()
        });
        Self {
            threads: threads.collect(),
            stop,
        }
    }
}

impl Drop for BackgroundLoad {
    fn drop(&mut self) {
        // Relaxed: a stop request alone, no data is published with it.
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn decode_frames(stop: &AtomicBool) {
    let mut words = vec![1_u64; WORDS];
    let mut at = 0;
    while !stop.load(Ordering::Relaxed) {
        let begun = Instant::now();
        while begun.elapsed() < BUSY && !stop.load(Ordering::Relaxed) {
            at = stream(&mut words, at);
            compute();
        }
        std::thread::sleep(FRAME_PERIOD.saturating_sub(begun.elapsed()));
    }
}

/// Reads and writes half a MiB of memory, which takes about as long as [`compute`]. Returns where to continue.
fn stream(words: &mut [u64], at: usize) -> usize {
    let end = (at + (1 << 16)).min(words.len());
    for word in &mut words[at..end] {
        *word = word.rotate_left(3) ^ 0x5bd1;
    }
    if end == words.len() { 0 } else { end }
}

/// Computes without touching memory.
fn compute() {
    let mut x = black_box(1_u64);
    for _ in 0..40_000 {
        x = (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    black_box(x);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_run_until_the_load_is_dropped() {
        let load = BackgroundLoad::start(2);
        assert_eq!(load.threads.len(), 2);
        let held = load.stop.clone();
        assert_eq!(Arc::strong_count(&held), 4);
        drop(load);
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
