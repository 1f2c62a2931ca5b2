//! The clock's own thread: waits for a block, calls the callback, again and again.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use units::{Frames, SampleRate};

use super::timer::BlockTimer;
use super::{Clock, DEFAULT_RATE};
use crate::block_buffers::BlockBuffers;
use crate::own_thread::{OwnThread, ThreadDevice, ThreadFlags};
use crate::sequencer::{self, SequencerPeriods};
use crate::{AudioCallback, DriverConfig, DriverError, DriverInfo, OpenDriver};

pub(super) fn open(
    config: &DriverConfig,
    clock: impl Clock,
) -> Result<Box<dyn OpenDriver>, DriverError> {
    let rate = config.rate.unwrap_or(DEFAULT_RATE);
    let mut info = DriverInfo {
        name: "clock",
        server: String::new(),
        rate,
        buffer_size: config.block,
        adapter_latency: Frames(0),
        device_latency: Frames(0),
        priority: None,
        has_midi: false,
        refused: Vec::new(),
    };
    let (midi, periods) = sequencer::open_beside(config, &mut info);
    // Inputs stay silent, and the outputs are not played.
    let buffers = BlockBuffers::new(config.block, config.inputs, config.outputs);
    let block = config.block;
    let device = ThreadDevice {
        info,
        flags: Arc::default(),
        midi,
        describe_end: |_, _| unreachable!("a clock does not fail"),
    };
    OwnThread::open(config, device, move |callback, flags| {
        play((block, rate), buffers, clock, periods, callback, flags);
        Ok(())
    })
}

/// Calls the callback for each block until it is stopped.
fn play(
    (block, rate): (Frames, SampleRate),
    mut buffers: BlockBuffers,
    mut clock: impl Clock,
    mut midi: Option<SequencerPeriods>,
    callback: &mut dyn AudioCallback,
    flags: &ThreadFlags,
) {
    let mut timer = BlockTimer::new(block, rate, clock.now());
    let frames = block.count();
    while !flags.stop.load(Ordering::Relaxed) {
        let due = timer.next_due();
        clock.sleep_until(due);
        let info = timer.advance(clock.now());
        if let Some(midi) = &mut midi {
            midi.begin(due, frames);
            midi.read(callback, 0, 0, frames);
        }
        buffers.call(|inputs, outputs| callback.process(info, inputs, outputs));
        if let Some(midi) = &mut midi {
            midi.write(callback, 0, 0, frames);
        }
    }
}
