//! There and back between two cores: 1280 bytes through two rings, and by one flag's line beside bare memory.
//!
//! The other thread lives for a turn only, so that those of the other contestants do not spin on its core.

use crate::rounds::{Contestant, compare};
use rt::mirror::{Consumer, Producer};
use rt::pad::Padded;
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
    // Where it cannot be pinned the system decides, which the quartiles show.
    let _ = workers::pin(first);
    let mut contestants = [
        Contestant {
            name: "divisi, in place",
            turn: mirrored(second),
        },
        Contestant {
            name: "rtrb",
            turn: copying(second),
        },
        Contestant {
            name: "a flag and the payload",
            turn: bare(second),
        },
    ];
    let title = "1280 bytes there and back, two cores";
    compare(title, rounds, 20_000, &mut contestants);
}

/// Does `here` so often, while a thread on the other core does `far`.
fn both(core: CoreId, times: usize, mut here: impl FnMut(), mut far: impl FnMut() + Send) {
    // It begins on this core, and with real-time priority it would not leave it while this one spins.
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

/// From one ring into the next, without a copy of its own.
fn pass(consumer: &mut Consumer<f32>, producer: &mut Producer<f32>) {
    until(|| consumer.window(ITEMS).map(drop));
    let mut room = producer.room(ITEMS).expect("it was emptied");
    let window = consumer.window(ITEMS).expect("it is there");
    room.copy_from_slice(&window);
    window.release(ITEMS);
    room.commit(ITEMS);
}

fn mirrored(core: CoreId) -> Box<dyn FnMut(usize)> {
    let ring = || rt::mirror::channel::<f32>(4096).expect("some pages");
    let ((mut out, mut far), (mut back, mut home)) = (ring(), ring());
    let (from, mut to) = ([1.5; ITEMS], [0.0; ITEMS]);
    Box::new(move |times| {
        let here = || {
            let mut room = out.room(ITEMS).expect("it was emptied");
            room.copy_from_slice(&from);
            room.commit(ITEMS);
            until(|| home.window(ITEMS).map(drop));
            let window = home.window(ITEMS).expect("it is there");
            to.copy_from_slice(&window);
            window.release(ITEMS);
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
        (Padded(producer), Padded(consumer))
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

/// One way of the bare one.
struct Way {
    flag: Padded<AtomicU64>,
    items: Padded<UnsafeCell<Items>>,
}

// SAFETY: the flag says whose turn it is, and both threads keep to it.
unsafe impl Sync for Way {}

impl Way {
    fn new() -> Self {
        Self {
            flag: Padded(AtomicU64::new(0)),
            items: Padded(UnsafeCell::new([0.0; ITEMS])),
        }
    }

    fn put(&self, from: &Items, turn: u64) {
        // SAFETY: the other thread has answered, so it does not read.
        unsafe { (*self.items.get()).copy_from_slice(from) };
        // pairs with the load in `get`.
        self.flag.store(turn, Ordering::Release);
    }

    fn get(&self, to: &mut Items, turn: u64) {
        // pairs with the store in `put`.
        while self.flag.load(Ordering::Acquire) != turn {
            spin_loop();
        }
        // SAFETY: the other thread waits for the answer.
        to.copy_from_slice(unsafe { &*self.items.get() });
    }
}

fn bare(core: CoreId) -> Box<dyn FnMut(usize)> {
    let ways = [Way::new(), Way::new()];
    let (from, mut to, mut between) = ([1.5; ITEMS], [0.0; ITEMS], [0.0; ITEMS]);
    let (mut asked, mut answered) = (0, 0);
    Box::new(move |times| {
        let [out, back] = &ways;
        let here = || {
            asked += 1;
            out.put(&from, asked);
            back.get(&mut to, asked);
        };
        let there = || {
            answered += 1;
            out.get(&mut between, answered);
            back.put(&between, answered);
        };
        both(core, times, here, there);
        assert_eq!(to, from);
    })
}
