//! The clock driver, on a clock that tests drive by hand and on the system's.

use std::any::Any;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use divisi_driver::{AudioCallback, CallbackInfo, DriverConfig, DriverState, clock};
use units::{Frames, Nanos, SampleRate};

/// Sends the facts about every block to the test.
struct InfoSender(SyncSender<(CallbackInfo, usize, usize)>);

impl AudioCallback for InfoSender {
    fn process(&mut self, info: CallbackInfo, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        assert!(inputs.iter().all(|input| input.iter().all(|&x| x == 0.0)));
        outputs.iter_mut().for_each(|output| output.fill(1.0));
        let _ = self.0.send((info, inputs.len(), outputs[0].len()));
    }
}

/// Answers each wait with the time that the test hands it; one that is no longer driven stops waiting.
struct ByHand {
    now: Nanos,
    hand: Receiver<u64>,
}

impl clock::Clock for ByHand {
    fn now(&mut self) -> Nanos {
        self.now
    }

    fn sleep_until(&mut self, moment: Nanos) {
        let late = self.hand.recv().unwrap_or(0);
        self.now = Nanos(self.now.0.max(moment.0) + late);
    }
}

fn request() -> DriverConfig {
    DriverConfig {
        rate: SampleRate::new(48_000),
        inputs: 1,
        ..DriverConfig::new("test", Frames(48))
    }
}

#[test]
fn blocks_come_by_the_clock_and_skipped_ones_are_counted() {
    let (hand, driven) = sync_channel(16);
    let (report, calls) = sync_channel(0);
    let by_hand = ByHand {
        now: Nanos(5),
        hand: driven,
    };
    let opened = clock::open_with_clock(&request(), by_hand).unwrap();
    assert_eq!(opened.info().rate.hz(), 48_000);
    assert_eq!(
        (opened.info().name, opened.info().priority),
        ("clock", None)
    );
    let running = opened.start(Box::new(InfoSender(report))).unwrap();
    let next = |late: u64| {
        hand.send(late).unwrap();
        calls.recv().unwrap()
    };
    let whole = CallbackInfo {
        budget: Some(Nanos(1_000_000)),
        ..CallbackInfo::default()
    };
    assert_eq!(next(0), (whole, 1, 48));
    assert_eq!(next(250_000).0.budget, Some(Nanos(750_000)));
    assert_eq!(next(0).0, whole);
    // Ten periods late: ten blocks are skipped, and the one that is due is played.
    let late = next(10_000_000).0;
    assert_eq!((late.budget, late.xruns), (Some(Nanos(1_000_000)), 10));
    assert_eq!(next(0).0, whole);
    assert_eq!(running.state(), DriverState::Playing);
    drop((hand, calls));
    let callback: Box<dyn Any> = running.stop();
    assert!(callback.is::<InfoSender>());
}

#[test]
fn the_system_clock_asks_for_blocks() {
    let (report, calls) = sync_channel(1_000);
    let opened = clock::open(&request()).unwrap();
    let facts = opened.info();
    // The driver reports whatever this machine allows.
    assert_eq!(facts.priority.is_some(), facts.refused.is_empty());
    let running = opened.start(Box::new(InfoSender(report))).unwrap();
    for _ in 0..20 {
        assert!(calls.recv().unwrap().0.budget.is_some());
    }
    running.stop();
}

#[test]
fn a_driver_that_never_starts_lets_its_thread_go() {
    drop(clock::open(&request()).unwrap());
    let running = clock::open(&request()).unwrap();
    assert_eq!(running.info().buffer_size, Frames(48));
}

#[test]
fn a_callback_that_panics_ends_the_sound_and_comes_back() {
    struct PanickingCallback;
    impl AudioCallback for PanickingCallback {
        fn process(&mut self, _: CallbackInfo, _: &[&[f32]], _: &mut [&mut [f32]]) {
            // Without the hook's message.
            std::panic::resume_unwind(Box::new("boom"));
        }
    }
    let running = clock::open(&request())
        .unwrap()
        .start(Box::new(PanickingCallback))
        .unwrap();
    while running.state() == DriverState::Playing {
        std::thread::yield_now();
    }
    let callback: Box<dyn Any> = running.stop();
    assert!(callback.is::<PanickingCallback>());
}
