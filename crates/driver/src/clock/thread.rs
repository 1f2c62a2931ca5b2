//! The clock's own thread: started when the driver is opened, given its callback when it is started.
//!
//! | thread | opener |
//! |---|---|
//! | raises its priority and sends what it got | waits for that, for [`DriverInfo`] |
//! | waits for the callback | [`OpenDriver::start`] sends it; if the driver is dropped instead, the thread ends |
//! | waits for a block, calls the callback, again and again | asks for the state |
//! | sees the flag `stop`, returns the callback | [`RunningDriver::stop`] sets the flag and joins the thread |

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use units::Frames;
use workers::{AudioThread, Priority};

use super::timer::BlockTimer;
use super::{Clock, DEFAULT_RATE};
use crate::block_buffers::BlockBuffers;
use crate::{
    AudioCallback, DriverConfig, DriverError, DriverInfo, DriverState, OpenDriver, RunningDriver,
};

type ClockThread = JoinHandle<Option<Box<dyn AudioCallback>>>;

/// The thread, before it has a callback. Dropping the sender ends it.
struct OpenClock {
    info: DriverInfo,
    callback: SyncSender<Box<dyn AudioCallback>>,
    flags: Arc<Flags>,
    thread: ClockThread,
}

/// The thread, while it plays.
struct RunningClock {
    flags: Arc<Flags>,
    thread: ClockThread,
}

/// Relaxed throughout: nothing travels with them, and the callback comes back by the thread's end.
#[derive(Default)]
struct Flags {
    stop: AtomicBool,
    panicked: AtomicBool,
}

pub(super) fn open(
    config: &DriverConfig,
    clock: impl Clock,
) -> Result<Box<dyn OpenDriver>, DriverError> {
    let rate = config.rate.unwrap_or(DEFAULT_RATE);
    // Inputs stay silent, and the outputs are not played.
    let buffers = BlockBuffers::new(config.block, config.inputs, config.outputs);
    let (callback, callback_receiver) = sync_channel(1);
    let (granted, granted_receiver) = sync_channel(1);
    let flags = Arc::new(Flags::default());
    let (thread_flags, priority, block) = (flags.clone(), config.priority, config.block);
    let thread = Builder::new()
        .name("divisi-clock".to_owned())
        .spawn(move || {
            let _ = granted.send(raise_priority(priority));
            let _audio = AudioThread::enter();
            run(
                (block, rate),
                buffers,
                clock,
                &callback_receiver,
                &thread_flags,
            )
        })
        .map_err(DriverError::Thread)?;
    let mut info = DriverInfo {
        name: "clock",
        server: String::new(),
        rate,
        buffer_size: config.block,
        adapter_latency: Frames(0),
        device_latency: Frames(0),
        priority: None,
        refused: Vec::new(),
    };
    if config.has_midi() {
        let refused = "MIDI ports: there is no server that has them; play through JACK or PipeWire";
        info.refused.push(refused.to_owned());
    }
    // The thread sends before anything else, so an error here means that it died: then nothing was granted.
    match granted_receiver.recv() {
        Ok(Ok(priority)) => info.priority = priority,
        Ok(Err(refused)) => info.refused.push(refused),
        Err(_) => {}
    }
    Ok(Box::new(OpenClock {
        info,
        callback,
        flags,
        thread,
    }))
}

/// Returns the priority that the calling thread got, or why it was refused and what to do.
pub(crate) fn raise_priority(wanted: Option<u8>) -> Result<Option<i32>, String> {
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

/// Calls the callback for each block until it is stopped; `None` if no callback came.
fn run(
    (block, rate): (Frames, units::SampleRate),
    mut buffers: BlockBuffers,
    mut clock: impl Clock,
    callback: &Receiver<Box<dyn AudioCallback>>,
    flags: &Flags,
) -> Option<Box<dyn AudioCallback>> {
    let mut callback = callback.recv().ok()?;
    let mut timer = BlockTimer::new(block, rate, clock.now());
    while !flags.stop.load(Ordering::Relaxed) {
        let play = AssertUnwindSafe(|| {
            clock.sleep_until(timer.next_due());
            let info = timer.advance(clock.now());
            buffers.call(|inputs, outputs| callback.process(info, inputs, outputs));
        });
        if catch_unwind(play).is_err() {
            flags.panicked.store(true, Ordering::Relaxed);
            break;
        }
    }
    Some(callback)
}

impl OpenDriver for OpenClock {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn start(
        self: Box<Self>,
        callback: Box<dyn AudioCallback>,
    ) -> Result<Box<dyn RunningDriver>, DriverError> {
        let sent = self.callback.send(callback);
        sent.expect("the thread waits for its callback");
        Ok(Box::new(RunningClock {
            flags: self.flags,
            thread: self.thread,
        }))
    }
}

impl RunningDriver for RunningClock {
    fn state(&self) -> DriverState {
        if self.flags.panicked.load(Ordering::Relaxed) {
            return DriverState::Ended {
                reason: "the audio callback panicked".to_owned(),
            };
        }
        DriverState::Playing
    }

    fn adapter_latency(&self) -> Frames {
        Frames(0)
    }

    fn stop(self: Box<Self>) -> Box<dyn AudioCallback> {
        self.flags.stop.store(true, Ordering::Relaxed);
        let callback = self.thread.join().expect("panics are caught in `run`");
        callback.expect("it was sent in `start`")
    }
}
