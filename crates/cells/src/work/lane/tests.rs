//! Tests of lanes: what arrives, what is late, and nonsense.

use super::*;
use std::os::fd::OwnedFd;

const SIZES: [(usize, usize); 3] = [(7, 3), (40, 1), (1, 33)];

/// Adds one to each word.
struct AddOne(usize, usize);

impl NodeWork for AddOne {
    fn words(&self) -> (usize, usize) {
        (self.0, self.1)
    }

    fn answer(&mut self, request: &[u32], reply: &mut [u32]) {
        for (at, word) in reply.iter_mut().enumerate() {
            *word = request[at % request.len()].wrapping_add(1);
        }
    }
}

struct TestLanes {
    words: Arc<WakeWords>,
    file: OwnedFd,
    status: Arc<CellStatus>,
    owners: Vec<Arc<LaneOwner>>,
    places: Vec<LanePlace>,
}

impl TestLanes {
    fn new() -> Self {
        let (places, count) = LanePlace::of(&SIZES).unwrap();
        let (words, file) = WakeWords::create(count).unwrap();
        Self {
            words: words.into(),
            file,
            status: Arc::default(),
            owners: SIZES.iter().map(|_| Arc::default()).collect(),
            places,
        }
    }

    fn channel(&self, at: usize) -> Option<LaneChannel> {
        let memory = (self.words.clone(), self.places[at]);
        LaneChannel::take(memory, self.status.clone(), self.owners[at].clone())
    }

    /// As the process of a cell has them.
    fn served(&self) -> (WakeWords, Vec<ServedLane>) {
        let (_, count) = LanePlace::of(&SIZES).unwrap();
        let words = WakeWords::open(&self.file, count).unwrap();
        let work = |place: &LanePlace| Box::new(AddOne(place.request, place.reply));
        let lanes = self.places.iter();
        let lanes = lanes.map(|place| ServedLane::new(*place, work(place)));
        (words, lanes.collect())
    }
}

#[test]
fn requests_and_replies_arrive_whole_and_what_is_late_is_counted() {
    let lanes = TestLanes::new();
    let (words, mut served) = lanes.served();
    for at in 0..SIZES.len() {
        let mut channel = lanes.channel(at).unwrap();
        assert!(lanes.channel(at).is_none(), "it is taken");
        for number in 0..5u32 {
            channel.ask(&whole(SIZES[at].0), &mut |words| words.fill(number));
            assert!(channel.take_reply(false).is_none());
            assert!(served[at].serve(&words, || ()) && !served[at].serve(&words, || ()));
            let reply = channel.take_reply(false).unwrap();
            assert_eq!(reply, vec![number + 1; SIZES[at].1]);
        }
        // A late reply is none to the next request.
        channel.ask(&whole(SIZES[at].0), &mut |words| words.fill(70));
        assert!(served[at].serve(&words, || ()));
        channel.ask(&whole(SIZES[at].0), &mut |words| words.fill(90));
        assert!(channel.take_reply(false).is_none());
        assert!(served[at].serve(&words, || ()));
        assert_eq!(channel.take_reply(false).unwrap()[0], 91);
        // The next node of the name goes on with the numbers.
        channel.ask(&whole(SIZES[at].0), &mut |words| words.fill(1));
        drop(channel);
        assert!(served[at].serve(&words, || ()));
        let mut channel = lanes.channel(at).unwrap();
        channel.ask(&whole(SIZES[at].0), &mut |words| words.fill(2));
        assert!(channel.take_reply(false).is_none());
    }
    let counts = &lanes.status.work;
    assert_eq!((counts.done(), counts.late()), (18, 0));
    assert_eq!(counts.lost(), 21, "no process plays");
}

#[test]
fn a_request_that_a_process_leaves_is_done_by_the_next_one() {
    let lanes = TestLanes::new();
    let mut channel = lanes.channel(1).unwrap();
    channel.ask(&whole(SIZES[1].0), &mut |words| words.fill(8));
    // The one before has died while it wrote, or has written nonsense.
    for is_nonsense in [false, true] {
        lanes.words.words()[lanes.places[1].answered()].store(0, Ordering::Relaxed);
        let (words, mut served) = lanes.served();
        if is_nonsense {
            fill_with_nonsense(&lanes.words);
        }
        std::thread::scope(|scope| {
            scope.spawn(move || {
                while !(1..9).contains(&lanes_number(&words, &served[1]))
                    || !served[1].serve(&words, || ())
                {
                    std::thread::yield_now();
                }
            });
            assert_eq!(channel.take_reply(true).unwrap(), [9]);
        });
    }
}

#[test]
fn a_process_that_never_answers_is_waited_for_once() {
    let lanes = TestLanes::new();
    let mut channel = lanes.channel(0).unwrap();
    channel.ask(&whole(SIZES[0].0), &mut |words| words.fill(1));
    assert!(!channel.wait(Nanos(1)));
    // The limit would be a minute now.
    channel.ask(&whole(SIZES[0].0), &mut |words| words.fill(2));
    let began = now();
    assert!(!channel.wait(Nanos(60_000_000_000)));
    assert!(now().0 - began.0 < 30_000_000_000);
    // Another process is waited for.
    lanes.status.starts.store(1, Ordering::Relaxed);
    let (words, mut served) = lanes.served();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while !served[0].serve(&words, || ()) {
                std::thread::yield_now();
            }
        });
        assert!(channel.wait(Nanos(60_000_000_000)));
    });
}

#[test]
fn a_reply_into_which_a_process_of_before_writes_is_late() {
    let lanes = TestLanes::new();
    let (words, mut served) = lanes.served();
    let mut channel = lanes.channel(2).unwrap();
    for is_late in [false, true] {
        channel.ask(&whole(SIZES[2].0), &mut |words| words.fill(8));
        assert!(served[2].serve(&words, || ()));
        if is_late {
            // It was interrupted in the middle of its reply, behind all that it could look at.
            let reply = lanes.places[2].of_reply(&words);
            reply[20].store(7, Ordering::Relaxed);
        }
        assert_eq!(channel.take_reply(false).is_none(), is_late);
    }
    // The next one is whole.
    channel.ask(&whole(SIZES[2].0), &mut |words| words.fill(8));
    assert!(served[2].serve(&words, || ()));
    assert_eq!(channel.take_reply(false).unwrap(), [9; 33]);
}

/// Damages the memory of a lane whose request was done.
type Damage = fn(&LanePlace, &WakeWords);

#[test]
fn offline_what_is_damaged_is_asked_for_again() {
    let damages: [Damage; 4] = [
        |place, words| place.of_reply(words)[20].store(7, Ordering::Relaxed),
        |place, words| words.words()[place.asked()].store(7, Ordering::Relaxed),
        |place, words| words.words()[place.answered()].store(0x8000_0000, Ordering::Relaxed),
        |_, words| fill_with_nonsense(words),
    ];
    for damage in damages {
        let lanes = TestLanes::new();
        let (words, mut served) = lanes.served();
        let mut channel = lanes.channel(2).unwrap();
        channel.ask(&whole(SIZES[2].0), &mut |words| words.fill(8));
        assert!(served[2].serve(&words, || ()));
        damage(&lanes.places[2], &words);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    served[2].serve(&words, || ());
                    std::thread::yield_now();
                }
            });
            let has_come = channel.wait(Nanos(10_000_000_000));
            is_over.store(true, Ordering::Relaxed);
            assert!(has_come, "it is not asked for");
        });
        assert_eq!(channel.take_reply(true).unwrap(), [9; 33]);
    }
}

#[test]
fn the_first_request_of_a_node_is_sent_whole_over_that_of_another() {
    let lanes = TestLanes::new();
    let mut before = lanes.channel(1).unwrap();
    before.ask(&whole(SIZES[1].0), &mut |words| words.fill(7));
    drop(before);
    let mut channel = lanes.channel(1).unwrap();
    channel.ask(std::slice::from_ref(&(0..1)), &mut |words| words[0] = 3);
    let sent = lanes.places[1].of_request(&lanes.words);
    let sent = sent.iter().map(|word| word.load(Ordering::Relaxed));
    assert!(sent.eq(std::iter::once(3).chain(std::iter::repeat_n(0, SIZES[1].0 - 1))));
}

#[test]
fn parts_of_a_request_are_sent_alone_until_a_process_has_come() {
    let lanes = TestLanes::new();
    let (words, mut served) = lanes.served();
    let mut channel = lanes.channel(1).unwrap();
    channel.ask(&whole(40), &mut |words| words.fill(1));
    assert!(served[1].serve(&words, || ()));
    // Somebody has overwritten another part.
    let place = lanes.places[1];
    place.of_request(&words)[7].store(99, Ordering::Relaxed);
    channel.ask(&[0..2, 39..40], &mut |words| words.fill(5));
    assert!(served[1].serve(&words, || ()));
    let request = &served[1].request;
    assert_eq!(
        (request[1], request[2], request[7], request[39]),
        (5, 1, 99, 5)
    );
    lanes.status.starts.store(1, Ordering::Relaxed);
    channel.ask(&whole(1), &mut |words| words[0] = 6);
    assert!(served[1].serve(&words, || ()));
    let request = &served[1].request;
    assert_eq!(
        (request[0], request[1], request[2], request[7]),
        (6, 5, 5, 5)
    );
}

#[test]
fn offline_nobody_waits_for_a_cell_that_is_given_up() {
    let lanes = TestLanes::new();
    let mut channel = lanes.channel(0).unwrap();
    channel.ask(&whole(SIZES[0].0), &mut |words| words.fill(8));
    lanes.status.gone.store(true, Ordering::Relaxed);
    assert!(channel.take_reply(true).is_none());
}

#[test]
fn lanes_lie_side_by_side_and_too_large_ones_are_refused() {
    let (places, count) = LanePlace::of(&SIZES).unwrap();
    for (at, place) in places.iter().enumerate() {
        let end = place.at + HEAD + place.request + place.summed();
        let next = places.get(at + 1).map_or(count, |next| next.at);
        assert!(place.at.is_multiple_of(LINE) && end <= next, "{place:?}");
    }
    assert!(LanePlace::of(&[(MAX_WORK_WORDS + 1, 1)]).is_none());
}

/// Number of the request in a lane.
fn lanes_number(words: &WakeWords, lane: &ServedLane) -> u32 {
    words.words()[lane.place.asked()].load(Ordering::Relaxed)
}

/// Writes garbage into the memory between the calls of the node, and asks what it believes.
fn write_garbage(cases: u32) {
    let lanes = TestLanes::new();
    let (words, mut served) = lanes.served();
    let mut channels: Vec<_> = (0..SIZES.len())
        .map(|at| lanes.channel(at).unwrap())
        .collect();
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut came = 0;
    for case in 0..cases {
        let at = (next() % SIZES.len() as u64) as usize;
        channels[at].ask(&whole(SIZES[at].0), &mut |words| {
            assert_eq!(words.len(), SIZES[at].0);
            words.fill(case);
        });
        for _ in 0..next() % 4 {
            let index = match next() % 3 {
                0 => places_of_numbers(&lanes.places, next()),
                _ => (next() % words.words().len() as u64) as usize,
            };
            let word = match next() % 3 {
                0 => u32::MAX,
                // Numbers that may be right.
                1 => (next() % u64::from(case + 1)) as u32,
                _ => next() as u32,
            };
            words.words()[index].store(word, Ordering::Relaxed);
        }
        if next().is_multiple_of(2) {
            served.iter_mut().for_each(|lane| {
                lane.serve(&words, || ());
            });
        }
        if let Some(reply) = channels[at].take_reply(false) {
            assert_eq!(reply.len(), SIZES[at].1);
            came += 1;
        }
    }
    assert!(came > cases / 10, "{came} of {cases}");
}

fn places_of_numbers(places: &[LanePlace], random: u64) -> usize {
    let place = places[(random % places.len() as u64) as usize];
    match random % 5 {
        0 => DOORBELL,
        1 => ASLEEP,
        2 => place.asked(),
        _ => place.answered(),
    }
}

#[test]
fn garbage_in_lanes_neither_crashes_nor_holds_the_node() {
    write_garbage(100_000);
}

#[test]
#[ignore = "long: ten million cases"]
fn garbage_in_lanes_for_long() {
    write_garbage(10_000_000);
}
