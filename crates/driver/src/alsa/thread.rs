//! The driver's own thread: started when the device is opened, given its callback when it is started. Its hand-overs are
//! those of the clock's thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, JoinHandle};

use units::{Frames, Nanos};
use workers::AudioThread;

use super::device::Device;
use super::stream::Errno;
use crate::clock::{Clock, raise_priority};
use crate::slice_list::SliceList;
use crate::{
    AudioCallback, BlockAdapter, CallbackInfo, DriverConfig, DriverError, DriverInfo, DriverState,
    OpenDriver, RunningDriver,
};

type AlsaThread = JoinHandle<Option<Box<dyn AudioCallback>>>;

/// Relaxed throughout: nothing travels with them, and the callback comes back by the thread's end.
#[derive(Default)]
pub(super) struct Flags {
    pub(super) stop: AtomicBool,
    panicked: AtomicBool,
    /// Error that ended the driver; 0 for none.
    error: AtomicI32,
}

/// A device with its thread, before it has a callback. Dropping the sender ends it.
pub(super) struct OpenAlsa {
    info: DriverInfo,
    callback: SyncSender<Box<dyn AudioCallback>>,
    flags: Arc<Flags>,
    thread: AlsaThread,
}

struct RunningAlsa {
    name: String,
    latency: Frames,
    flags: Arc<Flags>,
    thread: AlsaThread,
    /// The reason of the end, made once.
    reason: OnceLock<String>,
}

/// Starts the thread of `device`.
pub(super) fn open<C: Clock>(
    config: &DriverConfig,
    device: Device<C>,
    mut info: DriverInfo,
    flags: Arc<Flags>,
) -> Result<Box<dyn OpenDriver>, DriverError> {
    let device_frames = Frames(device.period as u32);
    let adapter = BlockAdapter::new(config.block, device_frames, config.inputs, config.outputs);
    info.buffer_size = device_frames;
    info.adapter_latency = adapter.latency();
    info.device_latency = device.latency();
    let (callback, callback_receiver) = sync_channel(1);
    let (granted, granted_receiver) = sync_channel(1);
    let (thread_flags, priority) = (flags.clone(), config.priority);
    let thread = Builder::new()
        .name("divisi-alsa".to_owned())
        .spawn(move || {
            let _ = granted.send(raise_priority(priority));
            let _audio = AudioThread::enter();
            run(device, adapter, &callback_receiver, &thread_flags)
        })
        .map_err(DriverError::Thread)?;
    // The thread sends before anything else, so an error here means that it died: then nothing was granted.
    match granted_receiver.recv() {
        Ok(Ok(priority)) => info.priority = priority,
        Ok(Err(refused)) => info.refused.push(refused),
        Err(_) => {}
    }
    Ok(Box::new(OpenAlsa {
        info,
        callback,
        flags,
        thread,
    }))
}

/// Plays until it is stopped or the device fails; `None` if no callback came.
fn run<C: Clock>(
    mut device: Device<C>,
    mut adapter: BlockAdapter,
    callback: &Receiver<Box<dyn AudioCallback>>,
    flags: &Flags,
) -> Option<Box<dyn AudioCallback>> {
    let mut callback = callback.recv().ok()?;
    let play = AssertUnwindSafe(|| play(&mut device, &mut adapter, &mut *callback, flags));
    match catch_unwind(play) {
        Ok(Ok(())) => device.finish(),
        Ok(Err(error)) => flags.error.store(error.0, Ordering::Relaxed),
        Err(_) => flags.panicked.store(true, Ordering::Relaxed),
    }
    Some(callback)
}

fn play<C: Clock>(
    device: &mut Device<C>,
    adapter: &mut BlockAdapter,
    callback: &mut dyn AudioCallback,
    flags: &Flags,
) -> Result<(), Errno> {
    let channels =
        |side: &Option<_>, of: fn(&super::device::Side) -> usize| side.as_ref().map_or(0, of);
    let mut input_list = SliceList::new(channels(&device.capture, |side| side.channels.len()));
    let mut output_list = SliceList::new(channels(&device.playback, |side| side.channels.len()));
    let mut answer = device.restart();
    while !flags.stop.load(Ordering::Relaxed) {
        if let Err(error) = answer {
            match device.recover(error) {
                Err(_) if flags.stop.load(Ordering::Relaxed) => break,
                recovered => recovered?,
            }
        }
        answer = device.begin();
        if answer.is_ok() {
            exchange(
                device,
                adapter,
                callback,
                (&mut input_list, &mut output_list),
            );
            answer = device.end();
        }
    }
    Ok(())
}

/// Plays the blocks of one period.
///
/// Real-time: hot.
fn exchange<C: Clock>(
    device: &mut Device<C>,
    adapter: &mut BlockAdapter,
    callback: &mut dyn AudioCallback,
    (input_list, output_list): (&mut SliceList, &mut SliceList),
) {
    let (period, duration) = (device.period, device.duration());
    let blocks = adapter.blocks(period).max(1);
    let mut xruns = if adapter.blocks(period) > 0 {
        device.take_xruns()
    } else {
        0
    };
    let budget = Some(Nanos(duration.0 / blocks as u64));
    let inputs = device
        .capture
        .iter()
        .flat_map(|side| &side.channels)
        .map(|c| &c[..]);
    let outputs = device
        .playback
        .iter_mut()
        .flat_map(|side| &mut side.channels)
        .map(|c| &mut c[..]);
    input_list.with(inputs, |inputs| {
        output_list.with(outputs, |outputs| {
            adapter.exchange(period, inputs, outputs, |inputs, outputs| {
                let info = CallbackInfo {
                    budget,
                    xruns: std::mem::take(&mut xruns),
                    ..CallbackInfo::default()
                };
                callback.process(info, inputs, outputs);
            });
        });
    });
}

impl OpenDriver for OpenAlsa {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn start(
        self: Box<Self>,
        callback: Box<dyn AudioCallback>,
    ) -> Result<Box<dyn RunningDriver>, DriverError> {
        let sent = self.callback.send(callback);
        sent.expect("the thread waits for its callback");
        Ok(Box::new(RunningAlsa {
            name: self.info.server,
            latency: self.info.adapter_latency,
            flags: self.flags,
            thread: self.thread,
            reason: OnceLock::new(),
        }))
    }
}

impl RunningDriver for RunningAlsa {
    fn state(&self) -> DriverState {
        if self.flags.panicked.load(Ordering::Relaxed) {
            let reason = "the audio callback panicked".to_owned();
            return DriverState::Ended { reason };
        }
        let error = match self.flags.error.load(Ordering::Relaxed) {
            0 => return DriverState::Playing,
            error => Errno(error),
        };
        let reason = self.reason.get_or_init(|| end_reason(&self.name, error));
        DriverState::Ended {
            reason: reason.clone(),
        }
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

fn end_reason(name: &str, error: Errno) -> String {
    match error {
        gone if gone.is_gone() => {
            format!("{name} is gone ({error}): plug it in again, then play again")
        }
        Errno(libc::ETIMEDOUT) => {
            format!("{name} stands still: it asked for nothing for two seconds")
        }
        Errno::XRUN => format!("{name} loses sound again and again: take a larger block"),
        other => format!("{name} failed: {other}"),
    }
}
