//! 64 floats in and out again, by one thread.

use crate::compare::{Candidate, compare};
use slice_ring_buffer::SliceRingBuffer;
use std::hint::black_box;

const FRAMES: usize = 64;
const CAPACITY: usize = 4096;

pub fn report(rounds: usize) {
    let mut candidates = [
        Candidate {
            name: "divisi, in place",
            run: mirrored(),
        },
        Candidate {
            name: "slice-ring-buffer",
            run: peer(),
        },
        Candidate {
            name: "rtrb",
            run: copying(),
        },
    ];
    compare(
        "64 floats in and out, one thread",
        rounds,
        20_000,
        &mut candidates,
    );
}

fn values() -> [f32; FRAMES] {
    std::array::from_fn(|i| i as f32)
}

fn mirrored() -> Box<dyn FnMut(usize)> {
    let (mut producer, mut consumer) = rt::mirror::channel(CAPACITY).expect("some pages");
    let (from, mut to) = (values(), [0.0; FRAMES]);
    Box::new(move |times| {
        for _ in 0..times {
            let mut chunk = producer.write_chunk(FRAMES).expect("it was emptied");
            chunk.copy_from_slice(black_box(&from));
            chunk.commit(FRAMES);
            let chunk = consumer.read_chunk(FRAMES).expect("it was filled");
            black_box(&mut to).copy_from_slice(&chunk);
            chunk.release(FRAMES);
        }
        assert_eq!(to, from);
    })
}

fn peer() -> Box<dyn FnMut(usize)> {
    let mut ring = SliceRingBuffer::<f32>::with_capacity(CAPACITY);
    let (from, mut to) = (values(), [0.0; FRAMES]);
    Box::new(move |times| {
        for _ in 0..times {
            ring.extend_from_slice(black_box(&from));
            black_box(&mut to).copy_from_slice(&ring[..FRAMES]);
            // SAFETY: 64 values are there, and floats need no drop.
            unsafe { ring.move_head(FRAMES as isize) };
        }
        assert_eq!(to, from);
    })
}

fn copying() -> Box<dyn FnMut(usize)> {
    let (mut producer, mut consumer) = rtrb::RingBuffer::new(CAPACITY);
    let (from, mut to) = (values(), [0.0; FRAMES]);
    Box::new(move |times| {
        for _ in 0..times {
            let mut chunk = producer.write_chunk(FRAMES).expect("it was emptied");
            let from = black_box(&from);
            let (first, second) = chunk.as_mut_slices();
            let middle = first.len();
            first.copy_from_slice(&from[..middle]);
            second.copy_from_slice(&from[middle..]);
            chunk.commit_all();
            let chunk = consumer.read_chunk(FRAMES).expect("it was filled");
            let (first, second) = chunk.as_slices();
            let to = black_box(&mut to);
            to[..first.len()].copy_from_slice(first);
            to[first.len()..].copy_from_slice(second);
            chunk.commit_all();
        }
        assert_eq!(to, from);
    })
}
