//! What the driver's thread plays: period after period of the device, with recovery.

use std::sync::atomic::Ordering;

use units::{Frames, Nanos};

use super::device::{Device, DeviceStream};
use super::stream::Errno;
use crate::block_adapter::AdapterClient;
use crate::clock::Clock;
use crate::own_thread::{OwnThread, ThreadDevice, ThreadFlags};
use crate::sequencer::SequencerPeriods;
use crate::slice_list::SliceList;
use crate::{AudioCallback, BlockAdapter, CallbackInfo, DriverConfig, DriverError, OpenDriver};

/// Starts the thread of `device`, with the MIDI of its periods.
pub(super) fn open<C: Clock>(
    config: &DriverConfig,
    mut device: Device<C>,
    mut of_thread: ThreadDevice,
    mut midi: Option<SequencerPeriods>,
) -> Result<Box<dyn OpenDriver>, DriverError> {
    let device_frames = Frames(device.period as u32);
    let mut adapter = BlockAdapter::new(config.block, device_frames, config.inputs, config.outputs);
    let info = &mut of_thread.info;
    info.buffer_size = device_frames;
    info.adapter_latency = adapter.latency();
    info.device_latency = device.latency();
    OwnThread::open(config, of_thread, move |callback, flags| {
        let played = play(&mut device, &mut adapter, midi.as_mut(), callback, flags);
        played.map_err(|error| error.0)?;
        device.finish();
        Ok(())
    })
}

fn play<C: Clock>(
    device: &mut Device<C>,
    adapter: &mut BlockAdapter,
    mut midi: Option<&mut SequencerPeriods>,
    callback: &mut dyn AudioCallback,
    flags: &ThreadFlags,
) -> Result<(), Errno> {
    let channels =
        |side: &Option<DeviceStream>| side.as_ref().map_or(0, |side| side.channels.len());
    let mut input_list = SliceList::new(channels(&device.capture));
    let mut output_list = SliceList::new(channels(&device.playback));
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
            if let Some(midi) = &mut midi {
                midi.begin(device.now(), device.period);
            }
            let lists = (&mut input_list, &mut output_list);
            exchange(device, adapter, midi.as_deref_mut(), callback, lists);
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
    midi: Option<&mut SequencerPeriods>,
    callback: &mut dyn AudioCallback,
    (input_list, output_list): (&mut SliceList, &mut SliceList),
) {
    let (period, duration) = (device.period, device.duration());
    let blocks = adapter.blocks(period);
    let mut client = PeriodBlocks {
        callback,
        midi,
        budget: Nanos(duration.0 / blocks.max(1) as u64),
        xruns: match blocks {
            0 => 0,
            _ => device.take_xruns(),
        },
    };
    let inputs = device.capture.iter().flat_map(|side| &side.channels);
    let outputs = device.playback.iter_mut();
    let outputs = outputs.flat_map(|side| &mut side.channels);
    input_list.with(inputs.map(|c| &c[..]), |inputs| {
        output_list.with(outputs.map(|c| &mut c[..]), |outputs| {
            adapter.exchange_with(period, inputs, outputs, &mut client);
        });
    });
}

/// The blocks of one period, and its MIDI.
struct PeriodBlocks<'a> {
    callback: &'a mut dyn AudioCallback,
    midi: Option<&'a mut SequencerPeriods>,
    budget: Nanos,
    /// Xruns that the next block reports.
    xruns: u32,
}

impl AdapterClient for PeriodBlocks<'_> {
    fn process(&mut self, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        let info = CallbackInfo {
            budget: Some(self.budget),
            xruns: std::mem::take(&mut self.xruns),
            ..CallbackInfo::default()
        };
        self.callback.process(info, inputs, outputs);
    }

    fn read_midi(&mut self, from: usize, to: usize, frames: usize) {
        if let Some(midi) = &mut self.midi {
            midi.read(self.callback, from, to, frames);
        }
    }

    fn write_midi(&mut self, from: usize, to: usize, frames: usize) {
        if let Some(midi) = &mut self.midi {
            midi.write(self.callback, from, to, frames);
        }
    }
}

/// Reason of an end.
pub(super) fn describe_end(name: &str, error: i32) -> String {
    match Errno(error) {
        gone if gone.is_gone() => {
            format!("{name} is gone ({gone}): plug it in again, then play again")
        }
        Errno(libc::ETIMEDOUT) => {
            format!("{name} stands still: it asked for nothing for two seconds")
        }
        Errno::XRUN => format!("{name} loses sound again and again: take a larger block"),
        other => format!("{name} failed: {other}"),
    }
}
