//! Live MIDI through an engine: every message at its frame, whatever the block, the scheduler and the device's buffers.

use divisi::driver::{AdapterClient, AudioCallback, BlockAdapter, CallbackInfo, MidiEvent};
use divisi::engine::{ControllerBinding, ControllerSource};
use divisi::prelude::{Engine, EngineCallback, EngineOptions, Frames, Mode, SampleRate, Scheduler};
use divisi_check::alloc::{Counting, calls, is_installed};
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SESSION: &str = "
edges = [\"keys -> through\", \"tone -> out\"]
[nodes]
keys = { kind = \"midi_input\" }
through = { kind = \"midi_output\" }
tone = { kind = \"osc\", freq = 440, volume = 0 }
out = { kind = \"sink\" }
";

fn engine(block: u32, scheduler: Scheduler, workers: usize) -> (Engine, EngineCallback) {
    let registry = Arc::new(divisi::registry());
    let read = divisi::text::toml::read(SESSION, registry.catalogue());
    assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
    let rate = SampleRate::new(48_000).unwrap();
    let mut options = EngineOptions::new(Frames(block), rate);
    (options.mode, options.scheduler, options.workers) = (Mode::Offline, scheduler, workers);
    options.midi = divisi::midi::port_names(&read.session.graph);
    Engine::new(read.session.graph, registry, options).unwrap()
}

/// Messages with their frames, some of them in crowds.
fn messages() -> Vec<(u64, [u8; 3])> {
    let frames = (0..200_u64).map(|n| n * n % 97 * 61 + n);
    let mut all: Vec<_> = frames
        .zip(0..)
        .map(|(frame, n)| (frame, [0x90 | (n % 16) as u8, (n % 128) as u8, 1]))
        .collect();
    all.sort_by_key(|(frame, _)| *frame);
    all
}

/// One call of a device: its MIDI, and what comes back, by absolute frames of the device.
struct DeviceCall<'a> {
    callback: &'a mut EngineCallback,
    input: &'a [(u64, [u8; 3])],
    next: &'a mut usize,
    output: &'a mut Vec<(u64, [u8; 3])>,
    begin: u64,
    blocks: &'a mut u64,
}

impl AdapterClient for DeviceCall<'_> {
    fn process(&mut self, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        self.callback
            .process(CallbackInfo::default(), inputs, outputs);
        *self.blocks += 1;
    }

    fn read_midi(&mut self, from: usize, to: usize, frames: usize) {
        let end = self.begin + (from + frames) as u64;
        while let Some((at, message)) = self.input.get(*self.next).filter(|(at, _)| *at < end) {
            *self.next += 1;
            self.callback.push_midi(MidiEvent {
                port: 0,
                frame: (at - self.begin - from as u64) as u32 + to as u32,
                message,
            });
        }
    }

    fn write_midi(&mut self, from: usize, to: usize, frames: usize) {
        let (begin, output) = (self.begin, &mut *self.output);
        self.callback
            .pop_midi((from + frames) as u32, &mut |event| {
                let frame = begin + to as u64 + u64::from(event.frame) - from as u64;
                output.push((frame, event.message.try_into().unwrap()));
            });
    }
}

/// What a device with buffers of `buffers` frames, in turn, gets back, and the latency.
fn through(
    (_engine, mut callback): (Engine, EngineCallback),
    block: u32,
    buffers: &[usize],
) -> (Vec<(u64, [u8; 3])>, u64) {
    let input = messages();
    let first = Frames(buffers[0] as u32);
    let mut adapter = BlockAdapter::new(Frames(block), first, 0, 1);
    let (mut output, mut next, mut begin, mut blocks) = (Vec::with_capacity(500), 0, 0, 0);
    let mut sound = vec![0.0; 1 << 13];
    for buffer in buffers.iter().cycle() {
        if begin > 16_000 {
            break;
        }
        let mut call = DeviceCall {
            callback: &mut callback,
            input: &input,
            next: &mut next,
            output: &mut output,
            begin,
            blocks: &mut blocks,
        };
        adapter.exchange_with(*buffer, &[], &mut [&mut sound[..*buffer]], &mut call);
        begin += *buffer as u64;
    }
    (output, adapter.latency().0.into())
}

#[test]
fn every_message_leaves_at_its_frame_whatever_the_block_the_buffer_and_the_scheduler() {
    let input = messages();
    let schedulers = [
        (Scheduler::Sequential, 1),
        (Scheduler::Global, 2),
        (Scheduler::Stealing, 2),
    ];
    for block in [1, 16, 64, 100, 1024] {
        for buffer in [1, 64, 441, 2048] {
            for (scheduler, workers) in schedulers {
                let (output, latency) =
                    through(engine(block, scheduler, workers), block, &[buffer]);
                let late = |(at, message): &(u64, [u8; 3])| (at + latency, *message);
                let wanted: Vec<_> = input.iter().map(late).collect();
                assert_eq!(
                    output, wanted,
                    "{scheduler}, block {block}, buffer {buffer}"
                );
            }
        }
    }
}

#[test]
fn no_message_is_lost_or_changes_its_place_when_the_buffer_changes() {
    let (output, _) = through(engine(64, Scheduler::Sequential, 1), 64, &[96, 17, 512, 1]);
    let messages_of = |all: &[(u64, [u8; 3])]| all.iter().map(|it| it.1).collect::<Vec<_>>();
    assert_eq!(messages_of(&output), messages_of(&messages()));
    assert!(output.is_sorted_by_key(|(at, _)| *at));
}

#[test]
fn a_controller_sets_its_parameter_at_its_frame_and_in_the_graph_without_an_allocation() {
    let (mut engine, mut callback) = engine(64, Scheduler::Sequential, 1);
    let binding = ControllerBinding {
        port: "keys".into(),
        channel: 0,
        source: ControllerSource::Controller(7),
        node: "tone".into(),
        param: "volume".into(),
        range: (0.0, 1.0),
        is_exponential: false,
    };
    let unknown = ControllerBinding {
        param: "volumes".into(),
        ..binding.clone()
    };
    assert!(engine.set_controllers(vec![unknown]).is_err());
    engine.set_controllers(vec![binding]).unwrap();
    let mut sound = [0.0; 64];
    assert!(is_installed());
    callback.process(CallbackInfo::default(), &[], &mut [&mut sound]);
    let before = calls();
    for (frame, value) in [(21, 64), (40, 127)] {
        callback.push_midi(MidiEvent {
            port: 0,
            frame,
            message: &[0xb0, 7, value],
        });
    }
    callback.process(CallbackInfo::default(), &[], &mut [&mut sound]);
    let first = sound.iter().position(|x| *x != 0.0);
    for _ in 0..100 {
        callback.process(CallbackInfo::default(), &[], &mut [&mut sound]);
    }
    assert_eq!(calls(), before);
    // The parameter glides from its old value at the message's frame.
    assert!(matches!(first, Some(21..=23)), "{first:?}");
    engine.update();
    let (_, tone) = engine
        .graph()
        .nodes()
        .find(|(_, node)| node.name == "tone")
        .unwrap();
    assert_eq!(tone.number("volume"), Some(1.0));
    assert_eq!(engine.take_controller_messages().len(), 2);
}
