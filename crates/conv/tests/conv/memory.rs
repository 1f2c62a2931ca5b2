//! Memory of a convolver, and allocations in a callback: there are none.

use crate::kit::{Rng, play};
use divisi_conv::{
    AddedLatency, Convolver, ConvolverOptions, Inline, Partition, PartitionSpace, Path,
    choose_partition,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
}

/// Number of this thread's allocations and deallocations.
pub(crate) fn calls() -> u64 {
    CALLS.get()
}

// SAFETY: every call is passed on as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn no_callback_allocates_or_frees() {
    let mut rng = Rng::new(20);
    let partition = Partition::parse(16, AddedLatency::None, "112 + 6x64 6x256 2x1024").unwrap();
    let mut path = |c: usize| Path::new(c / 2, c % 18, rng.response(3000));
    let paths: Vec<Path> = (0..20).map(&mut path).collect();
    let mut convolver = Convolver::new(18, 18, &paths, &ConvolverOptions::new(partition)).unwrap();
    let preparer = convolver.preparer();
    let mut next = Some(preparer.prepare(&paths).unwrap());
    let mut last = Some(preparer.prepare(&paths).unwrap());
    let input = [0.5; 16];
    let inputs = [&input[..]; 18];
    let mut output = [[0.0; 16]; 18];
    let mut retired = Vec::with_capacity(4);
    let before = CALLS.get();
    for callback in 0..1000 {
        let mut outputs = output.each_mut().map(|o| &mut o[..]);
        convolver.process(&inputs, &mut outputs, &mut Inline);
        if callback == 100 {
            retired.extend(convolver.exchange(next.take().unwrap()));
        }
        if callback == 110 {
            retired.extend(convolver.exchange(last.take().unwrap()));
        }
        retired.extend(convolver.take_retired());
        if callback == 800 {
            convolver.seek(16_000);
        }
    }
    assert_eq!(CALLS.get(), before);
    assert_eq!(retired.len(), 2);
}

#[test]
fn all_memory_is_at_most_thirty_percent_above_the_spectra() {
    let mut rng = Rng::new(21);
    // A single short response needs as much working memory as many.
    let cases = [
        (16_384, 32, 1.3),
        (65_536, 16, 1.3),
        (16_384, 1, 1.4),
        (65_536, 1, 1.3),
        (524_288, 1, 1.3),
    ];
    for (length, channels, most) in cases {
        let space = PartitionSpace::new(length, 64, AddedLatency::None).unwrap();
        let partition = choose_partition(&space, channels, None).partition;
        let text = format!("{channels} through {partition}");
        let response = rng.response(length);
        let mut path = |c| {
            let mut own = response.clone();
            own[0] += rng.sample();
            Path::new(c, c, own)
        };
        let paths: Vec<Path> = (0..channels).map(&mut path).collect();
        let mut convolver = Convolver::new(
            channels,
            channels,
            &paths,
            &ConvolverOptions::new(partition),
        )
        .unwrap();
        drop(paths);
        let (spectra, all) = convolver.bytes();
        let ratio = all as f64 / spectra as f64;
        assert!(spectra >= channels * length * 16);
        assert!(ratio <= most, "{text}: {ratio:.3}");
    }
}

#[test]
fn paths_that_share_a_response_share_its_spectra() {
    let mut rng = Rng::new(22);
    let partition = Partition::typical(64, AddedLatency::None, 20_000).unwrap();
    let response: Arc<[f32]> = rng.response(20_000).into();
    let bytes = |own: bool| {
        let ir = |k: usize| {
            if own && k > 0 {
                response.to_vec().into()
            } else {
                response.clone()
            }
        };
        let paths: Vec<Path> = (0..16).map(|k| Path::new(k / 4, k % 4, ir(k))).collect();
        let mut convolver =
            Convolver::new(4, 4, &paths, &ConvolverOptions::new(partition.clone())).unwrap();
        play(&mut convolver, &[], 64, &mut Inline);
        convolver.bytes().0
    };
    let (own, shared) = (bytes(true), bytes(false));
    // Sixteen responses and four inputs against one and four.
    assert!(own > 3 * shared, "{own} {shared}");
}
