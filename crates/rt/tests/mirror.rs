//! Rings in mirrored memory: windows over the end, two threads, two processes, and everything that can be wrong.

#![cfg(all(unix, not(loom)))]

use divisi_rt::mirror::{ChunkError, PageSize, Ring, RingError, channel};
use proptest::prelude::*;
use std::collections::VecDeque;
use units::Nanos;

#[path = "mirror/processes.rs"]
#[cfg(target_os = "linux")]
mod processes;

#[test]
fn a_window_over_the_end_is_one_slice() {
    let (mut producer, mut consumer) = channel::<u32>(1).unwrap();
    let capacity = producer.capacity();
    assert_eq!(capacity * 4 % 4096, 0, "whole pages");
    producer
        .write_chunk(capacity - 2)
        .unwrap()
        .commit(capacity - 2);
    consumer
        .read_chunk(capacity - 2)
        .unwrap()
        .release(capacity - 2);
    let mut room = producer.write_chunk(5).unwrap();
    room.copy_from_slice(&[1, 2, 3, 4, 5]);
    room.commit(4);
    let window = consumer.read_chunk(4).unwrap();
    assert_eq!(window[..], [1, 2, 3, 4]);
    window.release(1);
    assert_eq!(
        consumer.read_chunk(3).unwrap()[..],
        [2, 3, 4],
        "what was kept is there again"
    );
    assert_eq!(
        consumer.read_chunk(4).err(),
        Some(ChunkError::TooFewFrames { available: 3 })
    );
}

#[test]
fn a_frame_has_an_item_on_every_channel() {
    let ring = Ring::<f64>::new(3, 600, PageSize::Default).unwrap();
    let (mut producer, mut consumer) = (ring.producer().unwrap(), ring.consumer().unwrap());
    let mut next = 0;
    for _ in 0..20 {
        let mut room = producer.write_chunk(500).unwrap();
        for c in 0..3 {
            for (i, item) in room.channel(c).iter_mut().enumerate() {
                *item = (10 * (next + i) + c) as f64;
            }
        }
        room.commit(500);
        let window = consumer.read_chunk(500).unwrap();
        for c in 0..3 {
            let right = |(i, item): (usize, &f64)| *item == (10 * (next + i) + c) as f64;
            assert!(window.channel(c).iter().enumerate().all(right));
        }
        window.release(500);
        next += 500;
    }
}

#[test]
fn what_was_not_committed_is_not_there() {
    let (mut producer, mut consumer) = channel::<u8>(10).unwrap();
    producer.write_chunk(10).unwrap().fill(1);
    assert_eq!(consumer.available(), 0);
    producer.write_chunk(10).unwrap().commit(2);
    assert_eq!(consumer.read_chunk(2).unwrap()[..], [1, 1]);
    assert!(consumer.read_chunk(2).is_ok());
    assert_eq!(consumer.available(), 2);
}

#[test]
fn there_are_two_ends_and_they_see_each_other_go() {
    let ring = Ring::<u8>::new(1, 1, PageSize::Default).unwrap();
    let (mut producer, mut consumer) = (ring.producer().unwrap(), ring.consumer().unwrap());
    assert!(matches!(ring.producer(), Err(RingError::Taken)));
    assert!(matches!(ring.consumer(), Err(RingError::Taken)));
    producer.write_chunk(3).unwrap().commit(3);
    drop(producer);
    assert_eq!(
        consumer.read_chunk(4).err(),
        Some(ChunkError::Closed { left: 3 })
    );
    consumer.read_chunk(3).unwrap().release(3);
    assert_eq!(
        consumer.wait_read_chunk(1, None).err(),
        Some(ChunkError::Closed { left: 0 })
    );
    let (mut producer, consumer) = channel::<u8>(1).unwrap();
    drop(consumer);
    assert_eq!(
        producer.write_chunk(1).err(),
        Some(ChunkError::Closed { left: 0 })
    );
}

#[test]
fn sizes_that_cannot_be_are_refused_with_their_numbers() {
    assert!(matches!(channel::<f32>(0), Err(RingError::ZeroSize)));
    assert!(matches!(channel::<[f32; 0]>(1), Err(RingError::ZeroSize)));
    assert_eq!(channel::<u8>(1).unwrap().0.capacity(), 4096);
    let said = |frames| channel::<f32>(frames).err().unwrap().to_string();
    assert!(said(usize::MAX / 2).contains(&(usize::MAX / 2).to_string()));
    // More than any machine has, and than fits its addresses.
    for frames in [1 << 42, 1 << 46] {
        assert!(
            said(frames).contains(&(4 * frames + 4096).to_string()),
            "{}",
            said(frames)
        );
    }
    let (mut producer, _consumer) = channel::<u8>(1).unwrap();
    let too_many = ChunkError::ExceedsCapacity {
        asked: 5000,
        capacity: 4096,
    };
    assert_eq!(producer.write_chunk(5000).err(), Some(too_many));
    assert_eq!(producer.wait_write_chunk(5000, None).err(), Some(too_many));
}

#[test]
fn a_limit_ends_the_waiting() {
    let (mut producer, mut consumer) = channel::<u8>(4096).unwrap();
    let limit = Some(Nanos(2_000_000));
    assert_eq!(
        consumer.wait_read_chunk(1, limit).err(),
        Some(ChunkError::TooFewFrames { available: 0 })
    );
    producer.write_chunk(4096).unwrap().commit(4096);
    assert_eq!(
        producer.wait_write_chunk(1, limit).err(),
        Some(ChunkError::TooFewFrames { available: 0 })
    );
}

#[test]
fn threads_that_wait_for_each_other_pass_all_frames() {
    const FRAMES: u64 = 300_000;
    // In a smaller one they could both wait for more than there is.
    let (mut producer, mut consumer) = channel::<u64>(1024).unwrap();
    let writer = std::thread::spawn(move || {
        let mut next = 0;
        while next < FRAMES {
            let frames = (next * 7 % 501 + 1).min(FRAMES - next) as usize;
            let mut room = producer.wait_write_chunk(frames, None).unwrap();
            room.iter_mut().zip(next..).for_each(|(item, n)| *item = n);
            room.commit(frames);
            next += frames as u64;
        }
    });
    let mut next = 0;
    loop {
        let frames = (next * 5 % 503 + 1) as usize;
        let window = match consumer.wait_read_chunk(frames, None) {
            Ok(window) => window,
            Err(ChunkError::Closed { left }) => consumer.read_chunk(left).unwrap(),
            Err(other) => panic!("{other}"),
        };
        assert!(window.iter().zip(next..).all(|(item, n)| *item == n));
        let kept = window.len() / 3;
        let frames = if next + window.len() as u64 == FRAMES {
            window.len()
        } else {
            window.len() - kept
        };
        window.release(frames);
        next += frames as u64;
        if next == FRAMES {
            break;
        }
    }
    writer.join().unwrap();
    assert_eq!(
        consumer.wait_read_chunk(1, None).err(),
        Some(ChunkError::Closed { left: 0 })
    );
}

#[derive(Clone, Debug)]
enum Act {
    Write { lent: usize, given: usize },
    Read { lent: usize, given: usize },
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = (any::<bool>(), 0..5000usize, 0..5000usize).prop_map(|(writes, lent, given)| {
        let given = given.min(lent);
        match writes {
            true => Act::Write { lent, given },
            false => Act::Read { lent, given },
        }
    });
    proptest::collection::vec(act, 1..100)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_windows_and_releases_agree_with_a_queue(acts in acts()) {
        let (mut producer, mut consumer) = channel::<u16>(3000).unwrap();
        let capacity = producer.capacity();
        let (mut oracle, mut next) = (VecDeque::new(), 0u16);
        for act in acts {
            match act {
                Act::Write { lent, given } => {
                    let there = capacity - oracle.len();
                    let Ok(mut room) = producer.write_chunk(lent) else {
                        prop_assert!(lent > there);
                        continue;
                    };
                    prop_assert!(lent <= there);
                    room.iter_mut().zip(0..).for_each(|(item, i)| *item = next.wrapping_add(i));
                    oracle.extend(room[..given].iter().copied());
                    room.commit(given);
                    next = next.wrapping_add(given as u16);
                }
                Act::Read { lent, given } => {
                    let Ok(window) = consumer.read_chunk(lent) else {
                        prop_assert!(lent > oracle.len());
                        continue;
                    };
                    prop_assert!(window.iter().eq(oracle.iter().take(lent)));
                    oracle.drain(..given);
                    window.release(given);
                }
            }
        }
    }
}
