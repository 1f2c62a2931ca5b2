//! [`OwnThread`]: the thread of a driver that has no server: it starts when the device is opened, and gets its callback
//! when the driver is started.
//!
//! | thread | opener |
//! |---|---|
//! | raises its priority and sends what it got | waits for that, for [`DriverInfo`] |
//! | waits for the callback | [`OpenDriver::start`] sends it; if the driver is dropped instead, the thread ends |
//! | plays block after block | asks for the state |
//! | sees the flag `stop`, returns the callback | [`RunningDriver::stop`] sets the flag and joins the thread |

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, JoinHandle};

use units::Frames;
use workers::{AudioThread, Priority};

use crate::sequencer::SequencerHandle;
use crate::{
    AudioCallback, DriverConfig, DriverError, DriverInfo, DriverState, MidiLosses, OpenDriver,
    PortConnections, RunningDriver,
};

/// Flags of the thread. Relaxed throughout: nothing travels with them, and the callback comes back by the thread's end.
#[derive(Default)]
pub(crate) struct ThreadFlags {
    pub(crate) stop: AtomicBool,
    panicked: AtomicBool,
    /// Error number that ended the driver; 0 for none.
    error: AtomicI32,
}

/// Reason of an end: from the name of the device and the error number.
pub(crate) type DescribeEnd = fn(&str, i32) -> String;

/// The thread, before it has a callback. Dropping the sender ends it.
pub(crate) struct OwnThread {
    info: DriverInfo,
    callback: SyncSender<Box<dyn AudioCallback>>,
    running: RunningThread,
}

/// The thread, while it plays.
struct RunningThread {
    name: String,
    latency: Frames,
    flags: Arc<ThreadFlags>,
    thread: JoinHandle<Option<Box<dyn AudioCallback>>>,
    midi: Option<SequencerHandle>,
    describe_end: DescribeEnd,
    /// The reason of the end, made once.
    reason: OnceLock<String>,
}

/// Device that a thread plays on.
pub(crate) struct ThreadDevice {
    pub(crate) info: DriverInfo,
    pub(crate) flags: Arc<ThreadFlags>,
    /// The MIDI ports beside the device.
    pub(crate) midi: Option<SequencerHandle>,
    pub(crate) describe_end: DescribeEnd,
}

impl OwnThread {
    /// Starts a thread that calls `play` when it has its callback. An error of `play` ends the driver.
    pub(crate) fn open(
        config: &DriverConfig,
        device: ThreadDevice,
        play: impl FnOnce(&mut dyn AudioCallback, &ThreadFlags) -> Result<(), i32> + Send + 'static,
    ) -> Result<Box<dyn OpenDriver>, DriverError> {
        let ThreadDevice {
            mut info,
            flags,
            midi,
            describe_end,
        } = device;
        let (callback, callback_receiver) = sync_channel(1);
        let (granted, granted_receiver) = sync_channel(1);
        let (thread_flags, priority) = (flags.clone(), config.priority);
        let thread = Builder::new()
            .name(format!("divisi-{}", info.name))
            .spawn(move || {
                let _ = granted.send(raise_priority(priority));
                let _audio = AudioThread::enter();
                run(play, &callback_receiver, &thread_flags)
            })
            .map_err(DriverError::Thread)?;
        // The thread sends before anything else, so an error here means that it died: then nothing was granted.
        match granted_receiver.recv() {
            Ok(Ok(priority)) => info.priority = priority,
            Ok(Err(refused)) => info.refused.push(refused),
            Err(_) => {}
        }
        let running = RunningThread {
            name: info.server.clone(),
            latency: info.adapter_latency,
            flags,
            thread,
            midi,
            describe_end,
            reason: OnceLock::new(),
        };
        Ok(Box::new(Self {
            info,
            callback,
            running,
        }))
    }
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

/// Plays until it is stopped or `play` fails; `None` if no callback came.
fn run(
    play: impl FnOnce(&mut dyn AudioCallback, &ThreadFlags) -> Result<(), i32>,
    callback: &Receiver<Box<dyn AudioCallback>>,
    flags: &ThreadFlags,
) -> Option<Box<dyn AudioCallback>> {
    let mut callback = callback.recv().ok()?;
    match catch_unwind(AssertUnwindSafe(|| play(&mut *callback, flags))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => flags.error.store(error, Ordering::Relaxed),
        Err(_) => flags.panicked.store(true, Ordering::Relaxed),
    }
    Some(callback)
}

impl OpenDriver for OwnThread {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn start(
        self: Box<Self>,
        callback: Box<dyn AudioCallback>,
    ) -> Result<Box<dyn RunningDriver>, DriverError> {
        let sent = self.callback.send(callback);
        sent.expect("the thread waits for its callback");
        Ok(Box::new(self.running))
    }
}

impl RunningDriver for RunningThread {
    fn state(&self) -> DriverState {
        if self.flags.panicked.load(Ordering::Relaxed) {
            let reason = "the audio callback panicked".to_owned();
            return DriverState::Ended { reason };
        }
        let error = match self.flags.error.load(Ordering::Relaxed) {
            0 => return DriverState::Playing,
            error => error,
        };
        let describe = || (self.describe_end)(&self.name, error);
        DriverState::Ended {
            reason: self.reason.get_or_init(describe).clone(),
        }
    }

    fn update_connections(&self) -> Option<Vec<PortConnections>> {
        self.midi.as_ref()?.take_connections()
    }

    fn midi_losses(&self) -> MidiLosses {
        let midi = self.midi.as_ref();
        midi.map_or(MidiLosses::default(), SequencerHandle::losses)
    }

    fn adapter_latency(&self) -> Frames {
        self.latency
    }

    fn stop(self: Box<Self>) -> Box<dyn AudioCallback> {
        self.flags.stop.store(true, Ordering::Relaxed);
        let callback = self.thread.join().expect("panics are caught in `run`");
        callback.expect("it was sent in `start`")
    }
}
