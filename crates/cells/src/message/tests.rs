//! Messages between the node and the process of a cell, also where one of them writes nonsense.

use super::*;
use rt::mirror::PageSize;
use std::fs::File;
use std::os::unix::fs::FileExt;

const OUTPUTS: usize = 64;

/// Both ends of a cell's rings, and the memory of the replies, as a process may write it.
fn ends() -> (HostEnd, CellEnd, File, u64) {
    let ring = || Ring::<u32>::shared(1, 2048, PageSize::Default).unwrap();
    let (requests, replies) = (ring(), ring());
    let memory = File::from(replies.file().unwrap().try_clone_to_owned().unwrap());
    let bytes = memory.metadata().unwrap().len();
    let host = HostEnd::new(
        1,
        requests.producer().unwrap(),
        replies.consumer().unwrap(),
        (16, OUTPUTS),
    );
    let cell = CellEnd::new(
        requests.consumer().unwrap(),
        replies.producer().unwrap(),
        (16, OUTPUTS),
    );
    (host, cell, memory, bytes)
}

fn info(block: u64) -> RequestInfo {
    RequestInfo {
        block,
        position: block * 7 + (1 << 40),
        drill: 0,
    }
}

#[test]
fn a_request_and_its_reply_arrive_whole() {
    let (mut host, mut cell, ..) = ends();
    cell.send_hello(77 + (1 << 33), true).unwrap();
    assert_eq!(host.hello(), Ok((77 + (1 << 33), true)));
    for block in 0..100 {
        host.send(info(block), |words| words.fill(block as u32))
            .unwrap();
        let mut sum = 0;
        let got = cell.receive(Nanos(0), |words| sum = words.iter().sum());
        assert_eq!((got, sum), (Ok(info(block)), 16 * block as u32));
        cell.send(block, |words| words.fill(sum)).unwrap();
        let mut found = 0;
        host.receive(block, Nanos(0), |words| found = words[OUTPUTS - 1])
            .unwrap();
        assert_eq!(found, sum);
    }
}

#[test]
fn a_late_reply_is_dropped_and_one_that_nobody_asked_for_ends_the_ring() {
    let (mut host, mut cell, ..) = ends();
    assert_eq!(host.receive(0, Nanos(0), |_| ()), Err(ReplyError::Late));
    for block in 0..3 {
        cell.send(block, |words| words.fill(block as u32)).unwrap();
    }
    let mut found = 0;
    host.receive(2, Nanos(0), |words| found = words[0]).unwrap();
    assert_eq!(found, 2);
    cell.send(9, |_| ()).unwrap();
    assert_eq!(host.receive(3, Nanos(0), |_| ()), Err(ReplyError::Corrupt));
}

#[test]
fn a_cell_that_has_ended_is_dead_after_its_last_reply() {
    let (mut host, mut cell, ..) = ends();
    cell.send(0, |_| ()).unwrap();
    drop(cell);
    assert_eq!(host.receive(0, Nanos(0), |_| ()), Ok(()));
    assert_eq!(host.receive(1, Nanos(0), |_| ()), Err(ReplyError::Dead));
    assert_eq!(host.send(info(1), |_| ()), Err(ReplyError::Dead));
}

/// A small generator, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Writes garbage into the memory of the replies between the calls of the supervisor.
fn write_garbage(cases: u64) {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut host, mut cell, mut memory, mut bytes) = ends();
    let mut counts = [0u64; 3];
    for case in 0..cases {
        let word = match random.next() % 4 {
            0 => u64::MAX,
            1 => random.next() % 4096,
            2 => u64::from(REPLY) | random.next() << 32,
            _ => random.next(),
        };
        // Mostly in the header of the ring, where its counts and words to sleep on are.
        let span = if random.next().is_multiple_of(4) {
            bytes - 8
        } else {
            1024
        };
        let at = random.next() % span;
        memory.write_at(&word.to_le_bytes(), at).unwrap();
        if random.next().is_multiple_of(8) {
            let _ = cell.send(case, |words| words.fill(random.next() as u32));
        }
        let _ = host.send(info(case), |words| words.fill(0));
        let mut len = OUTPUTS;
        let got = host.receive(case, Nanos(0), |words| len = words.len());
        assert_eq!(len, OUTPUTS);
        match got {
            Ok(()) => counts[0] += 1,
            Err(ReplyError::Late) => counts[1] += 1,
            Err(_) => {
                counts[2] += 1;
                if random.next().is_multiple_of(16) {
                    (host, cell, memory, bytes) = ends();
                }
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}

#[test]
fn garbage_in_shared_memory_neither_crashes_nor_holds_the_supervisor() {
    write_garbage(100_000);
}

#[test]
#[ignore = "long: ten million cases"]
fn garbage_in_shared_memory_for_long() {
    write_garbage(10_000_000);
}
