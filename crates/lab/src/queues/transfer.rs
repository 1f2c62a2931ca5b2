//! Messages between two ends: round trips, and throughput one way; between threads and between processes.

use super::filtering::{read_copy, write_copy, write_mirrored};
use super::{Backoff, PeerRole};
use divisi::rt::mirror::{self, ChunkError, Consumer, Producer};
use divisi::rt::pad::CachePadded;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bytes in each queue: room for four messages, and for as much as a pipe has.
pub(super) fn capacity(size: usize) -> usize {
    (4 * size).max(65_536)
}

/// One of two connected ends: a queue to the other end, and one from it.
pub(super) struct QueueEnd<P, C> {
    outgoing: CachePadded<P>,
    incoming: CachePadded<C>,
}

pub(super) type MirroredEnd = QueueEnd<Producer<u8>, Consumer<u8>>;
pub(super) type CopyingEnd = QueueEnd<rtrb::Producer<u8>, rtrb::Consumer<u8>>;

/// The other end no longer exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Disconnected;

/// One of two connected ends, by any transport.
pub(super) trait Endpoint: Send {
    /// Sends a message. Returns false if there is no room for it yet.
    fn send(&mut self, message: &[u8]) -> Result<bool, Disconnected>;

    /// Receives a message of just this length. Returns false if it is not there yet.
    fn receive(&mut self, message: &mut [u8]) -> Result<bool, Disconnected>;
}

impl Endpoint for MirroredEnd {
    fn send(&mut self, message: &[u8]) -> Result<bool, Disconnected> {
        match write_mirrored(&mut self.outgoing, message) {
            Ok(()) => Ok(true),
            Err(refusal) => not_yet(refusal),
        }
    }

    fn receive(&mut self, message: &mut [u8]) -> Result<bool, Disconnected> {
        let window = match self.incoming.read_chunk(message.len()) {
            Ok(window) => window,
            Err(refusal) => return not_yet(refusal),
        };
        message.copy_from_slice(&window);
        window.release(message.len());
        Ok(true)
    }
}

fn not_yet(refusal: ChunkError) -> Result<bool, Disconnected> {
    match refusal {
        ChunkError::TooFewFrames { .. } => Ok(false),
        _ => Err(Disconnected),
    }
}

impl Endpoint for CopyingEnd {
    fn send(&mut self, message: &[u8]) -> Result<bool, Disconnected> {
        Ok(write_copy(&mut self.outgoing, message))
    }

    fn receive(&mut self, message: &mut [u8]) -> Result<bool, Disconnected> {
        let chunk = self.incoming.read_chunk(message.len());
        Ok(chunk.map(|chunk| read_copy(chunk, message)).is_ok())
    }
}

/// Two ends connected by mirrored rings.
pub(super) fn mirrored_pair(size: usize) -> (MirroredEnd, MirroredEnd) {
    let ring = || mirror::channel(capacity(size)).expect("a few pages");
    let ((to_b, from_a), (to_a, from_b)) = (ring(), ring());
    (queue_end(to_b, from_b), queue_end(to_a, from_a))
}

/// Two ends connected by copying rings.
pub(super) fn copying_pair(size: usize) -> (CopyingEnd, CopyingEnd) {
    let ring = || rtrb::RingBuffer::new(capacity(size));
    let ((to_b, from_a), (to_a, from_b)) = (ring(), ring());
    (queue_end(to_b, from_b), queue_end(to_a, from_a))
}

/// An end of two queues.
pub(super) fn queue_end<P, C>(outgoing: P, incoming: C) -> QueueEnd<P, C> {
    QueueEnd {
        outgoing: CachePadded(outgoing),
        incoming: CachePadded(incoming),
    }
}

/// Round-trip time in ns, or throughput in MB/s, with the other end on a second thread.
pub(super) fn between_threads(
    role: PeerRole,
    size: usize,
    time: Duration,
    (mut near, mut far): (impl Endpoint, impl Endpoint),
) -> f64 {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let is_over = &is_over;
        scope.spawn(move || {
            let mut message = vec![0; size];
            while receive_until(&mut far, black_box(&mut message), is_over) {
                if role == PeerRole::Echo && far.send(&message).is_err() {
                    return;
                }
            }
        });
        let value = measure(role, size, time, &mut near);
        // Relaxed: a stop request alone.
        is_over.store(true, Ordering::Relaxed);
        value.expect("the other thread is there")
    })
}

/// Round-trip time in ns to an echo, or throughput in MB/s to a sink.
pub(super) fn measure(
    role: PeerRole,
    size: usize,
    time: Duration,
    near: &mut impl Endpoint,
) -> Result<f64, Disconnected> {
    match role {
        PeerRole::Echo => round_trip_ns(size, time, near),
        PeerRole::Sink => throughput(size, time, near),
    }
}

/// Mean round-trip time in ns, to an end that returns every message.
fn round_trip_ns(
    size: usize,
    time: Duration,
    near: &mut impl Endpoint,
) -> Result<f64, Disconnected> {
    let (sent, mut returned) = (vec![7; size], vec![0; size]);
    let (mut count, begin) = (0_u64, Instant::now());
    while begin.elapsed() < time || count == 0 {
        for _ in 0..8 {
            let has_room = near.send(black_box(&sent))?;
            assert!(has_room, "every message before has come back");
            let mut backoff = Backoff::default();
            while !near.receive(black_box(&mut returned))? {
                backoff.wait();
            }
        }
        count += 8;
    }
    Ok(begin.elapsed().as_nanos() as f64 / count as f64)
}

/// Throughput in MB/s to an end that reads every message. Messages still in the queue at the end count too.
fn throughput(size: usize, time: Duration, near: &mut impl Endpoint) -> Result<f64, Disconnected> {
    let message = vec![7; size];
    let (mut count, begin) = (0_u64, Instant::now());
    let mut backoff = Backoff::default();
    while begin.elapsed() < time || count == 0 {
        if near.send(black_box(&message))? {
            count += 1;
            backoff.reset();
        } else {
            backoff.wait();
        }
    }
    Ok((count as usize * size) as f64 / begin.elapsed().as_secs_f64() / 1e6)
}

/// Waits for a message. Returns false if it is over, or the other end is gone.
fn receive_until(end: &mut impl Endpoint, message: &mut [u8], is_over: &AtomicBool) -> bool {
    let mut backoff = Backoff::default();
    loop {
        match end.receive(message) {
            Ok(true) => return true,
            // Relaxed: a stop request alone.
            Ok(false) if !is_over.load(Ordering::Relaxed) => backoff.wait(),
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_and_go_one_way() {
        let time = Duration::from_millis(1);
        for size in [64, 5000] {
            for role in [PeerRole::Echo, PeerRole::Sink] {
                assert!(between_threads(role, size, time, mirrored_pair(size)) > 0.0);
                assert!(between_threads(role, size, time, copying_pair(size)) > 0.0);
            }
        }
    }
}
