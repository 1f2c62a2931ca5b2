//! Memory that is passed on: there and back, and one way as fast as it goes; between threads and between processes.

use super::Patience;
use super::echo::Echo;
use divisi::rt::mirror::{self, Consumer, Producer, Refusal};
use divisi::rt::pad::Padded;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bytes in each queue.
pub(super) fn capacity(size: usize) -> usize {
    (4 * size).max(65_536)
}

/// Two ends by which bytes go, and two by which they come back.
pub(super) struct Ways<P, C> {
    out: Padded<P>,
    home: Padded<C>,
}

pub(super) type Mirrored = Ways<Producer<u8>, Consumer<u8>>;
pub(super) type Copying = Ways<rtrb::Producer<u8>, rtrb::Consumer<u8>>;

/// What a contestant can do.
pub(super) trait Post: Send {
    /// Writes and gives away as much as `bytes` has; whether there was room.
    fn put(&mut self, bytes: &[u8]) -> bool;

    /// Reads as much as `bytes` has; whether it was there.
    fn take(&mut self, bytes: &mut [u8]) -> bool;
}

impl Post for Mirrored {
    fn put(&mut self, bytes: &[u8]) -> bool {
        let Ok(mut room) = self.out.room(bytes.len()) else {
            return false;
        };
        room.copy_from_slice(bytes);
        room.commit(bytes.len());
        true
    }

    fn take(&mut self, bytes: &mut [u8]) -> bool {
        let Ok(window) = self.home.window(bytes.len()) else {
            return false;
        };
        bytes.copy_from_slice(&window);
        window.release(bytes.len());
        true
    }
}

impl Post for Copying {
    fn put(&mut self, bytes: &[u8]) -> bool {
        let Ok(mut chunk) = self.out.write_chunk(bytes.len()) else {
            return false;
        };
        let (first, second) = chunk.as_mut_slices();
        let middle = first.len();
        first.copy_from_slice(&bytes[..middle]);
        second.copy_from_slice(&bytes[middle..]);
        chunk.commit_all();
        true
    }

    fn take(&mut self, bytes: &mut [u8]) -> bool {
        let Ok(chunk) = self.home.read_chunk(bytes.len()) else {
            return false;
        };
        let (first, second) = chunk.as_slices();
        bytes[..first.len()].copy_from_slice(first);
        bytes[first.len()..].copy_from_slice(second);
        chunk.commit_all();
        true
    }
}

/// This end and the far one, by mirrored rings.
pub(super) fn mirrored(size: usize) -> (Mirrored, Mirrored) {
    let ring = || mirror::channel(capacity(size)).expect("a few pages");
    let ((out, far), (back, home)) = (ring(), ring());
    (ways(out, home), ways(back, far))
}

/// This end and the far one, by copying rings.
pub(super) fn copying(size: usize) -> (Copying, Copying) {
    let ring = || rtrb::RingBuffer::new(capacity(size));
    let ((out, far), (back, home)) = (ring(), ring());
    (ways(out, home), ways(back, far))
}

/// An end from its halves.
pub(super) fn ways<P, C>(out: P, home: C) -> Ways<P, C> {
    Ways {
        out: Padded(out),
        home: Padded(home),
    }
}

/// An end of a ring by mapped memory that sees the other process go.
pub(super) fn is_gone(end: &mut Mirrored) -> bool {
    matches!(
        end.home.window(1),
        Err(Refusal::Closed { .. } | Refusal::Dead { .. } | Refusal::Corrupt)
    )
}

/// Nanoseconds there and back, on average over `time`; the other thread sends back whatever comes.
pub(super) fn trip(
    size: usize,
    time: Duration,
    (mut here, mut far): (impl Post, impl Post),
) -> f64 {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let is_over = &is_over;
        scope.spawn(move || {
            let mut bytes = vec![0; size];
            while let Some(()) = until(|| far.take(&mut bytes), is_over) {
                far.put(&bytes);
            }
        });
        let took = trips(size, time, &mut here);
        // Relaxed: only when to end.
        is_over.store(true, Ordering::Relaxed);
        took
    })
}

/// The same with another process, which sends back by itself.
pub(super) fn trip_between_processes(size: usize, time: Duration, echo: &mut Echo) -> f64 {
    trips(size, time, echo.end())
}

fn trips(size: usize, time: Duration, here: &mut impl Post) -> f64 {
    let (from, mut to) = (vec![7; size], vec![0; size]);
    let (mut times, begin) = (0_u64, Instant::now());
    while begin.elapsed() < time || times == 0 {
        for _ in 0..8 {
            assert!(here.put(black_box(&from)), "what was sent has come back");
            let mut patience = Patience::default();
            while !here.take(black_box(&mut to)) {
                patience.wait();
            }
        }
        times += 8;
    }
    begin.elapsed().as_nanos() as f64 / times as f64
}

/// Megabytes a second one way, while the other thread reads them.
pub(super) fn stream(
    size: usize,
    time: Duration,
    (mut here, mut far): (impl Post, impl Post),
) -> f64 {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let is_over = &is_over;
        scope.spawn(move || {
            let mut bytes = vec![0; size];
            while until(|| far.take(black_box(&mut bytes)), is_over).is_some() {}
        });
        let speed = sent(size, time, &mut here);
        // Relaxed: only when to end.
        is_over.store(true, Ordering::Relaxed);
        speed
    })
}

fn sent(size: usize, time: Duration, here: &mut impl Post) -> f64 {
    let from = vec![7; size];
    let (mut times, begin) = (0_u64, Instant::now());
    let mut patience = Patience::default();
    while begin.elapsed() < time || times == 0 {
        if here.put(black_box(&from)) {
            times += 1;
            patience.end();
        } else {
            patience.wait();
        }
    }
    (times as usize * size) as f64 / begin.elapsed().as_secs_f64() / 1e6
}

/// Tries until it is done or over.
fn until(mut done: impl FnMut() -> bool, is_over: &AtomicBool) -> Option<()> {
    let mut patience = Patience::default();
    while !done() {
        // Relaxed: only when to end.
        if is_over.load(Ordering::Relaxed) {
            return None;
        }
        patience.wait();
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_go_on() {
        let time = Duration::from_millis(1);
        for size in [64, 5000] {
            assert!(trip(size, time, mirrored(size)) > 0.0);
            assert!(trip(size, time, copying(size)) > 0.0);
            assert!(stream(size, time, mirrored(size)) > 0.0);
            assert!(stream(size, time, copying(size)) > 0.0);
        }
    }
}
