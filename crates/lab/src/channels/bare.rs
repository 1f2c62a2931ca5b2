//! The bare ping-pong: one flag and the payload, between two threads.

use divisi::rt::pad::CachePadded;
use divisi::rt::stamp;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// Ticks of each of `trips` round trips of `size` bytes.
///
/// The payload of each direction is behind a lock that nobody ever holds when it is taken, because the flag says whose it is.
pub(super) fn round_trips(size: usize, trips: usize) -> Vec<u64> {
    let flag = CachePadded(AtomicU32::new(0));
    let payload = || Mutex::new(vec![0u8; size]);
    let (there, back) = (CachePadded(payload()), CachePadded(payload()));
    let await_flag = |wanted: u32| {
        // pairs with the stores of the flag: the payload is written.
        while flag.load(Ordering::Acquire) != wanted {
            std::hint::spin_loop();
        }
    };
    let copy = |from: &[u8], to: &Mutex<Vec<u8>>| {
        to.lock().expect("nobody panics").copy_from_slice(from);
    };
    let read = |from: &Mutex<Vec<u8>>, to: &mut [u8]| {
        to.copy_from_slice(&from.lock().expect("nobody panics"));
    };
    let (mut times, count) = (Vec::with_capacity(trips), trips as u32);
    std::thread::scope(|scope| {
        let (flag, there, back) = (&flag, &there, &back);
        scope.spawn(move || {
            let mut message = vec![0; size];
            for trip in 0..count {
                await_flag(2 * trip + 1);
                read(there, &mut message);
                copy(&message, back);
                flag.store(2 * trip + 2, Ordering::Release);
            }
        });
        let mut message = vec![1; size];
        for trip in 0..count {
            let begin = stamp::now();
            copy(&message, there);
            flag.store(2 * trip + 1, Ordering::Release);
            await_flag(2 * trip + 2);
            read(back, &mut message);
            times.push(stamp::now().wrapping_sub(begin));
        }
    });
    times
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_trip_has_its_time() {
        assert_eq!(super::round_trips(64, 100).len(), 100);
    }
}
