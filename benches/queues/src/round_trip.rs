//! Round trips between two cores: 1280 bytes through two rings, and beside them a flag and a payload in plain memory.
//!
//! The second thread lives for one run only, so that threads of other candidates do not spin on its core.

use crate::compare::{Candidate, compare};
use rt::mirror::{Consumer, Producer};
use rt::pad::CachePadded;
use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use workers::CoreId;

const ITEMS: usize = 320;
type Items = [f32; ITEMS];

pub fn report(rounds: usize) {
    let cores = workers::cores();
    let &[first, second, ..] = &cores[..] else {
        println!("\nround trip: needs two cores, there is one");
        return;
    };
    // If the thread cannot be pinned, the system chooses the core, which the quartiles show.
    let _ = workers::pin(first);
    let mut candidates = [
        Candidate {
            name: "divisi, in place",
            run: mirrored(second),
        },
        Candidate {
            name: "rtrb",
            run: copying(second),
        },
        Candidate {
            name: "a flag and the payload",
            run: bare(second),
        },
    ];
    let title = "1280 bytes there and back, two cores";
    compare(title, rounds, 20_000, &mut candidates);
}

/// Runs `here` `times` times, while a thread on the other core runs `far`.
fn both(core: CoreId, times: usize, mut here: impl FnMut(), mut far: impl FnMut() + Send) {
    // The new thread begins on this core. With real-time priority it could not leave it while this thread spins.
    let is_there = Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _ = workers::pin(core);
            is_there.wait();
            (0..times).for_each(|_| far());
        });
        is_there.wait();
        (0..times).for_each(|_| here());
    });
}

fn until<T, E>(mut found: impl FnMut() -> Result<T, E>) {
    while found().is_err() {
        spin_loop();
    }
}

/// Moves one payload from a ring to the next, with one copy.
fn pass(consumer: &mut Consumer<f32>, producer: &mut Producer<f32>) {
    until(|| consumer.read_chunk(ITEMS).map(drop));
    let mut to = producer.write_chunk(ITEMS).expect("it was emptied");
    let from = consumer.read_chunk(ITEMS).expect("it is there");
    to.copy_from_slice(&from);
    from.release(ITEMS);
    to.commit(ITEMS);
}

fn mirrored(core: CoreId) -> Box<dyn FnMut(usize)> {
    let ring = || rt::mirror::channel::<f32>(4096).expect("some pages");
    let ((mut out, mut far), (mut back, mut home)) = (ring(), ring());
    let (from, mut to) = ([1.5; ITEMS], [0.0; ITEMS]);
    Box::new(move |times| {
        let here = || {
            let mut chunk = out.write_chunk(ITEMS).expect("it was emptied");
            chunk.copy_from_slice(&from);
            chunk.commit(ITEMS);
            until(|| home.read_chunk(ITEMS).map(drop));
            let chunk = home.read_chunk(ITEMS).expect("it is there");
            to.copy_from_slice(&chunk);
            chunk.release(ITEMS);
        };
        both(core, times, here, || pass(&mut far, &mut back));
        assert_eq!(to, from);
    })
}

fn read(consumer: &mut rtrb::Consumer<f32>, to: &mut Items) {
    until(|| consumer.read_chunk(ITEMS).map(drop));
    let chunk = consumer.read_chunk(ITEMS).expect("it is there");
    let (first, second) = chunk.as_slices();
    to[..first.len()].copy_from_slice(first);
    to[first.len()..].copy_from_slice(second);
    chunk.commit_all();
}

fn write(producer: &mut rtrb::Producer<f32>, from: &Items) {
    let mut chunk = producer.write_chunk(ITEMS).expect("it was emptied");
    let (first, second) = chunk.as_mut_slices();
    let middle = first.len();
    first.copy_from_slice(&from[..middle]);
    second.copy_from_slice(&from[middle..]);
    chunk.commit_all();
}

fn copying(core: CoreId) -> Box<dyn FnMut(usize)> {
    // Each end on cache lines of its own, as ours are.
    let ring = || {
        let (producer, consumer) = rtrb::RingBuffer::<f32>::new(4096);
        (CachePadded(producer), CachePadded(consumer))
    };
    let ((mut out, mut far), (mut back, mut home)) = (ring(), ring());
    let (from, mut to, mut between) = ([1.5; ITEMS], [0.0; ITEMS], [0.0; ITEMS]);
    Box::new(move |times| {
        let here = || {
            write(&mut out, &from);
            read(&mut home, &mut to);
        };
        let there = || {
            read(&mut far, &mut between);
            write(&mut back, &between);
        };
        both(core, times, here, there);
        assert_eq!(to, from);
    })
}

/// One direction of a round trip in plain memory.
struct Direction {
    flag: CachePadded<AtomicU64>,
    items: CachePadded<UnsafeCell<Items>>,
}

// SAFETY: the flag says which thread may access the items, and both threads obey it.
unsafe impl Sync for Direction {}

impl Direction {
    fn new() -> Self {
        Self {
            flag: CachePadded(AtomicU64::new(0)),
            items: CachePadded(UnsafeCell::new([0.0; ITEMS])),
        }
    }

    fn send(&self, from: &Items, number: u64) {
        // SAFETY: the other thread has answered, so it does not read.
        unsafe { (*self.items.get()).copy_from_slice(from) };
        // pairs with the load in `receive`.
        self.flag.store(number, Ordering::Release);
    }

    fn receive(&self, to: &mut Items, number: u64) {
        // pairs with the store in `send`.
        while self.flag.load(Ordering::Acquire) != number {
            spin_loop();
        }
        // SAFETY: the other thread waits for the answer.
        to.copy_from_slice(unsafe { &*self.items.get() });
    }
}

fn bare(core: CoreId) -> Box<dyn FnMut(usize)> {
    let directions = [Direction::new(), Direction::new()];
    let (from, mut to, mut between) = ([1.5; ITEMS], [0.0; ITEMS], [0.0; ITEMS]);
    let (mut asked, mut answered) = (0, 0);
    Box::new(move |times| {
        let [out, back] = &directions;
        let here = || {
            asked += 1;
            out.send(&from, asked);
            back.receive(&mut to, asked);
        };
        let there = || {
            answered += 1;
            out.receive(&mut between, answered);
            back.send(&between, answered);
        };
        both(core, times, here, there);
        assert_eq!(to, from);
    })
}
