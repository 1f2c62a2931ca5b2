//! A machine that is in use: threads that do what a player of video does, as long as this value lives.
//!
//! For each core one thread. Thirty times a second it takes a picture apart for some 20 ms: half of that it streams
//! through more memory than the caches hold, half it computes. They are ordinary threads of this process, so they end
//! with it, however that ends.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// How often a picture comes.
const PICTURE: Duration = Duration::from_micros(33_333);
/// How long one keeps a core busy.
const BUSY: Duration = Duration::from_millis(20);
/// Words that one thread streams through: 32 MiB.
const WORDS: usize = 4 << 20;

/// What these threads are called.
const NAME: &str = "lab-load";

/// The load. Dropped, it ends.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// Begins, on as many threads as there are cores. Without those that the system does not start.
    pub(crate) fn begin(cores: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let threads = (0..cores).filter_map(|_| {
            let stop = stop.clone();
            let thread = Builder::new().name(NAME.into());
            thread.spawn(move || play_pictures(&stop)).ok()
        });
        Self {
            threads: threads.collect(),
            stop,
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // Relaxed: nothing travels with it.
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn play_pictures(stop: &AtomicBool) {
    let mut words = vec![1_u64; WORDS];
    let mut at = 0;
    while !stop.load(Ordering::Relaxed) {
        let begun = Instant::now();
        while begun.elapsed() < BUSY && !stop.load(Ordering::Relaxed) {
            at = stream(&mut words, at);
            compute();
        }
        std::thread::sleep(PICTURE.saturating_sub(begun.elapsed()));
    }
}

/// Half a MiB of memory, read and written: about as long as [`compute`].
fn stream(words: &mut [u64], at: usize) -> usize {
    let end = (at + (1 << 16)).min(words.len());
    for word in &mut words[at..end] {
        *word = word.rotate_left(3) ^ 0x5bd1;
    }
    if end == words.len() { 0 } else { end }
}

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
    fn it_runs_while_it_lives_and_is_gone_after() {
        let load = Load::begin(2);
        assert_eq!(load.threads.len(), 2);
        let held = load.stop.clone();
        assert_eq!(Arc::strong_count(&held), 4);
        drop(load);
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
