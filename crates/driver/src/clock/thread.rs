//! The clock's own thread: made at opening, given its player at starting.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use units::Frames;
use workers::{AudioThread, Priority};

use super::{Clock, DEFAULT_RATE, Stage};
use crate::{
    AudioCallback, DriverConfig, DriverError, DriverInfo, DriverState, OpenDriver, RunningDriver,
};

/// The thread and the way to hand it the player. Dropping the sender unstarted ends the thread.
struct Waiting {
    facts: DriverInfo,
    give: SyncSender<Box<dyn AudioCallback>>,
    flags: Arc<Flags>,
    thread: JoinHandle<Option<Box<dyn AudioCallback>>>,
}

struct Beating {
    flags: Arc<Flags>,
    thread: JoinHandle<Option<Box<dyn AudioCallback>>>,
}

/// Relaxed throughout: nothing travels with them, the player comes back through the thread's end.
#[derive(Default)]
struct Flags {
    stop: AtomicBool,
    panicked: AtomicBool,
}

pub(super) fn open(
    request: &DriverConfig,
    mut clock: impl Clock,
) -> Result<Box<dyn OpenDriver>, DriverError> {
    let rate = request.rate.unwrap_or(DEFAULT_RATE);
    let mut stage = Stage::new(request, rate);
    let flags = Arc::new(Flags::default());
    let (give, player) = sync_channel(1);
    let (tell, told) = sync_channel(1);
    let (theirs, priority) = (flags.clone(), request.priority);
    let mut facts = stage.facts(None, Vec::new());
    let thread = Builder::new()
        .name("divisi-clock".to_owned())
        .spawn(move || {
            let _ = tell.send(raise_priority(priority));
            let _plays = AudioThread::enter();
            play(&mut stage, &mut clock, &player, &theirs)
        })
        .map_err(DriverError::Thread)?;
    // The thread always tells before anything else, so an error here means that it died: then nothing was granted.
    match told.recv() {
        Ok(Ok(priority)) => facts.priority = priority,
        Ok(Err(refused)) => facts.refused.push(refused),
        Err(_) => {}
    }
    Ok(Box::new(Waiting {
        facts,
        give,
        flags,
        thread,
    }))
}

/// What priority the calling thread got, or why not and what to do.
fn raise_priority(wanted: Option<u8>) -> Result<Option<i32>, String> {
    let Some(wanted) = wanted else {
        return Ok(None);
    };
    workers::set_priority(Priority::RealTime(wanted))
        .map_err(|refusal| format!("{refusal}: {}", refusal.fix()))?;
    match workers::current_priority() {
        Priority::RealTime(level) => Ok(Some(level.into())),
        Priority::Ordinary => Ok(None),
    }
}

fn play(
    stage: &mut Stage,
    clock: &mut impl Clock,
    player: &Receiver<Box<dyn AudioCallback>>,
    flags: &Flags,
) -> Option<Box<dyn AudioCallback>> {
    let mut player = player.recv().ok()?;
    stage.begin(clock);
    while !flags.stop.load(Ordering::Relaxed) {
        let beat = AssertUnwindSafe(|| stage.beat(clock, &mut *player));
        if catch_unwind(beat).is_err() {
            flags.panicked.store(true, Ordering::Relaxed);
            break;
        }
    }
    Some(player)
}

impl OpenDriver for Waiting {
    fn info(&self) -> &DriverInfo {
        &self.facts
    }

    fn start(
        self: Box<Self>,
        player: Box<dyn AudioCallback>,
    ) -> Result<Box<dyn RunningDriver>, DriverError> {
        self.give.send(player).expect("the thread waits for it");
        Ok(Box::new(Beating {
            flags: self.flags,
            thread: self.thread,
        }))
    }
}

impl RunningDriver for Beating {
    fn state(&self) -> DriverState {
        if self.flags.panicked.load(Ordering::Relaxed) {
            return DriverState::Ended {
                reason: "the player panicked".to_owned(),
            };
        }
        DriverState::Playing
    }

    fn adapter_latency(&self) -> Frames {
        Frames(0)
    }

    fn stop(self: Box<Self>) -> Box<dyn AudioCallback> {
        self.flags.stop.store(true, Ordering::Relaxed);
        let player = self.thread.join().expect("panics are caught in `play`");
        player.expect("it was given in `start`")
    }
}
