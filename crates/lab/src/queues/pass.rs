//! Memory that is passed on: there and back, and one way as fast as it goes; between threads and between processes.

use super::Patience;
use divisi::rt::mirror::{self, ChunkError, Consumer, Producer};
use divisi::rt::pad::CachePadded;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bytes in each queue.
pub(super) fn capacity(size: usize) -> usize {
    (4 * size).max(65_536)
}

/// Two ends by which bytes go, and two by which they come back.
pub(super) struct Ways<P, C> {
    out: CachePadded<P>,
    home: CachePadded<C>,
}

pub(super) type Mirrored = Ways<Producer<u8>, Consumer<u8>>;
pub(super) type Copying = Ways<rtrb::Producer<u8>, rtrb::Consumer<u8>>;

/// The other end is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gone;

/// What a contestant can do.
pub(super) trait Post: Send {
    /// Writes and gives away as much as `bytes` has; whether there was room.
    fn put(&mut self, bytes: &[u8]) -> Result<bool, Gone>;

    /// Reads as much as `bytes` has; whether it was there.
    fn take(&mut self, bytes: &mut [u8]) -> Result<bool, Gone>;
}

impl Post for Mirrored {
    fn put(&mut self, bytes: &[u8]) -> Result<bool, Gone> {
        let mut room = match self.out.write_chunk(bytes.len()) {
            Ok(room) => room,
            Err(refusal) => return not_yet(refusal),
        };
        room.copy_from_slice(bytes);
        room.commit(bytes.len());
        Ok(true)
    }

    fn take(&mut self, bytes: &mut [u8]) -> Result<bool, Gone> {
        let window = match self.home.read_chunk(bytes.len()) {
            Ok(window) => window,
            Err(refusal) => return not_yet(refusal),
        };
        bytes.copy_from_slice(&window);
        window.release(bytes.len());
        Ok(true)
    }
}

fn not_yet(refusal: ChunkError) -> Result<bool, Gone> {
    match refusal {
        ChunkError::TooFewFrames { .. } => Ok(false),
        _ => Err(Gone),
    }
}

impl Post for Copying {
    fn put(&mut self, bytes: &[u8]) -> Result<bool, Gone> {
        let Ok(mut chunk) = self.out.write_chunk(bytes.len()) else {
            return Ok(false);
        };
        let (first, second) = chunk.as_mut_slices();
        let middle = first.len();
        first.copy_from_slice(&bytes[..middle]);
        second.copy_from_slice(&bytes[middle..]);
        chunk.commit_all();
        Ok(true)
    }

    fn take(&mut self, bytes: &mut [u8]) -> Result<bool, Gone> {
        let Ok(chunk) = self.home.read_chunk(bytes.len()) else {
            return Ok(false);
        };
        let (first, second) = chunk.as_slices();
        bytes[..first.len()].copy_from_slice(first);
        bytes[first.len()..].copy_from_slice(second);
        chunk.commit_all();
        Ok(true)
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
        out: CachePadded(out),
        home: CachePadded(home),
    }
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
            while until(|| far.take(&mut bytes), is_over).is_some() && far.put(&bytes).is_ok() {}
        });
        let took = trips(size, time, &mut here).expect("the other thread is there");
        // Relaxed: only when to end.
        is_over.store(true, Ordering::Relaxed);
        took
    })
}

/// The same, where somebody sends back by itself.
pub(super) fn trips(size: usize, time: Duration, here: &mut impl Post) -> Result<f64, Gone> {
    let (from, mut to) = (vec![7; size], vec![0; size]);
    let (mut times, begin) = (0_u64, Instant::now());
    while begin.elapsed() < time || times == 0 {
        for _ in 0..8 {
            let has_room = here.put(black_box(&from))?;
            assert!(has_room, "what was sent has come back");
            let mut patience = Patience::default();
            while !here.take(black_box(&mut to))? {
                patience.wait();
            }
        }
        times += 8;
    }
    Ok(begin.elapsed().as_nanos() as f64 / times as f64)
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
        let speed = sent(size, time, &mut here).expect("the other thread is there");
        // Relaxed: only when to end.
        is_over.store(true, Ordering::Relaxed);
        speed
    })
}

/// The same, where somebody reads by itself. What is still on its way in the end counts too: so much as a queue holds.
pub(super) fn sent(size: usize, time: Duration, here: &mut impl Post) -> Result<f64, Gone> {
    let from = vec![7; size];
    let (mut times, begin) = (0_u64, Instant::now());
    let mut patience = Patience::default();
    while begin.elapsed() < time || times == 0 {
        if here.put(black_box(&from))? {
            times += 1;
            patience.end();
        } else {
            patience.wait();
        }
    }
    Ok((times as usize * size) as f64 / begin.elapsed().as_secs_f64() / 1e6)
}

/// Tries until it is done or over.
fn until(mut done: impl FnMut() -> Result<bool, Gone>, is_over: &AtomicBool) -> Option<()> {
    let mut patience = Patience::default();
    while !done().ok()? {
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
