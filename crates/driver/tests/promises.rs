//! Callbacks neither allocate nor free.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use common::{Server, is_here, skip, wait_for};
use divisi_driver::{
    AudioCallback, BlockAdapter, CallbackInfo, DriverConfig, DriverError, RunningDriver, alsa,
    clock, jack,
};
use units::Frames;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, which counts what each thread asks of it.
struct Counting;

fn count() {
    let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
}

// SAFETY: everything is passed on as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count();
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocation count of the callback's thread, at its first block and at its last.
#[derive(Default)]
struct Seen {
    blocks: AtomicU64,
    ends: Mutex<(Option<u64>, u64)>,
}

struct Watcher(Arc<Seen>);

impl AudioCallback for Watcher {
    fn process(&mut self, _: CallbackInfo, _: &[&[f32]], outputs: &mut [&mut [f32]]) {
        outputs.iter_mut().for_each(|output| output.fill(0.0));
        let calls = CALLS.with(Cell::get);
        // Never held for long: the test looks when the sound is over.
        let mut ends = self.0.ends.lock().unwrap();
        ends.0.get_or_insert(calls);
        ends.1 = calls;
        self.0.blocks.fetch_add(1, Ordering::Relaxed);
    }
}

/// Plays 500 blocks; how often their thread asked the allocator between the first and the last.
fn calls_of(start: impl FnOnce(Box<dyn AudioCallback>) -> Box<dyn RunningDriver>) -> u64 {
    let seen = Arc::new(Seen::default());
    let running = start(Box::new(Watcher(seen.clone())));
    wait_for("500 blocks", || seen.blocks.load(Ordering::Relaxed) >= 500);
    running.stop();
    let (first, last) = *seen.ends.lock().unwrap();
    last - first.expect("it played")
}

fn request() -> DriverConfig {
    DriverConfig {
        inputs: 2,
        ..DriverConfig::new("divisi-test", Frames(64))
    }
}

#[test]
fn the_counter_counts() {
    let before = CALLS.with(Cell::get);
    drop(std::hint::black_box(Box::new(1)));
    assert_eq!(CALLS.with(Cell::get) - before, 2);
}

#[test]
fn the_fifo_never_allocates() {
    let mut adapter = BlockAdapter::new(Frames(64), Frames(64), 2, 2);
    let input = [1.0f32; 3_000];
    let (mut left, mut right) = ([0.0f32; 3_000], [0.0f32; 3_000]);
    let before = CALLS.with(Cell::get);
    let mut blocks = 0;
    for frames in (0..3_000).step_by(7) {
        let (left, right) = (&mut left[..frames], &mut right[..frames]);
        adapter.exchange(
            frames,
            &[&input, &input],
            &mut [left, right],
            |inputs, outputs| {
                outputs[0].copy_from_slice(inputs[1]);
                blocks += 1;
            },
        );
    }
    assert_eq!(CALLS.with(Cell::get) - before, 0);
    assert!(blocks > 1_000);
}

#[test]
fn the_clock_never_allocates_while_it_plays() {
    let calls = calls_of(|callback| clock::open(&request()).unwrap().start(callback).unwrap());
    assert_eq!(calls, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn the_thread_of_alsa_never_allocates_while_it_plays() {
    let config = DriverConfig {
        server: Some("null".to_owned()),
        ..request()
    };
    // With an adapter between the device's periods and the block.
    let config = DriverConfig {
        block: Frames(100),
        ..config
    };
    let opened = match alsa::open(&config) {
        Err(DriverError::NoAlsaLibrary) => {
            return skip(
                "the_thread_of_alsa_never_allocates_while_it_plays",
                "needs the Debian package libasound2",
            );
        }
        opened => opened.unwrap(),
    };
    assert_eq!(calls_of(|callback| opened.start(callback).unwrap()), 0);
}

#[test]
fn the_jack_callback_never_allocates() {
    if !is_here("jackd") {
        return skip(
            "the_jack_callback_never_allocates",
            "needs the Debian package jackd2",
        );
    }
    let server = Server::jackd(48_000, 96);
    let calls = calls_of(|callback| {
        let opened = server.open(&request(), jack::open);
        opened.start(callback).unwrap()
    });
    assert_eq!(calls, 0);
}
