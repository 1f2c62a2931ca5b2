//! A stand in for an executor: one processor on memory of its own, played in blocks of any cut.

use crate::alloc;
use crate::rng::Rng;
use graph::{Catalogue, Kind, Node, Port, Signal};
use processor::{
    BackgroundTask, Block, Event, Gauge, IoCold, Mode, ProcessInfo, ProcessServices, ProcessStatus,
    Processor, RawChannel, RawDelayLine, RawEvents, RawPort, RawPorts, Registry, Setup,
    SetupServices, StepIo, TaskStatus,
};
use std::collections::BTreeMap;
use std::path::Path;
use units::{Frames, SampleRate};

/// The most frames that a rig plays at once.
pub const BLOCK: Frames = Frames(4096);

/// How a take is cut into blocks.
#[derive(Clone, Debug)]
pub enum BlockSplit {
    /// Blocks of so many frames.
    Even(usize),
    /// Whole blocks of random lengths. Silent inputs are marked in half of them; a sleeping processor is left asleep.
    Random(Rng),
    /// Parts of random lengths of one block.
    Parts(Rng),
}

/// What a processor is given.
#[derive(Clone, Debug, Default)]
pub struct TestInput {
    /// For each channel of each audio input, in order, the same number of samples.
    pub inputs: Vec<Vec<f32>>,
    /// Sorted by frame.
    pub events: Vec<Event>,
    /// How long it is.
    pub frames: usize,
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestOutput {
    /// The bits of each channel of each audio output, in order.
    pub bits: Vec<Vec<u32>>,
    /// The events that were sent, with their output port, their frames counted from the take's start.
    pub sent: Vec<(usize, Event)>,
    /// What the last call said.
    pub asleep: bool,
    /// Calls to the allocator from within `process`.
    pub allocations: u64,
}

impl TestOutput {
    /// The samples of channel `index`, counted over all outputs.
    pub fn channel(&self, index: usize) -> Vec<f32> {
        self.bits[index]
            .iter()
            .map(|b| f32::from_bits(*b))
            .collect()
    }

    /// Every sample of every channel.
    pub fn samples(&self) -> impl Iterator<Item = f32> + '_ {
        self.bits.iter().flatten().map(|b| f32::from_bits(*b))
    }
}

/// One processor, set up.
pub struct ProcessorBench {
    /// The processor.
    pub processor: Box<dyn Processor>,
    /// What it shows, by name.
    pub gauges: BTreeMap<String, Gauge>,
    /// What came after the start.
    pub position: u64,
    node: Node,
    background: Vec<Box<dyn BackgroundTask>>,
    line: Option<Line>,
}

/// A delay's line: the writing half is played here.
#[derive(Clone)]
struct Line {
    data: Vec<f32>,
    channels: usize,
    capacity: usize,
    most: u32,
}

impl Line {
    fn of(node: &Node, kind: &Kind, rate: SampleRate) -> Option<Self> {
        let params = kind.delay?;
        let seconds = |key| node.number(key).unwrap_or(0.0);
        let most = Frames::from_seconds_ceil(seconds(params.max).max(seconds(params.time)), rate).0;
        let channels = widths(&node.inputs).sum();
        let capacity = (most as usize + BLOCK.count()).next_power_of_two();
        Some(Self {
            data: vec![0.0; capacity * channels],
            channels,
            capacity,
            most,
        })
    }

    fn write(&mut self, inputs: &[Vec<f32>], range: std::ops::Range<usize>, position: u64) {
        for (c, input) in inputs.iter().enumerate() {
            for (x, at) in input[range.clone()].iter().zip(position as usize..) {
                self.data[c * self.capacity + at % self.capacity] = *x;
            }
        }
    }
}

/// The number of channels of each port.
fn widths(ports: &[Port]) -> impl Iterator<Item = usize> {
    ports.iter().map(|port| match port.signal {
        Signal::Audio(channels) => channels.count(),
        Signal::Control | Signal::Event => 0,
    })
}

struct Asked<'a> {
    gauges: &'a mut BTreeMap<String, Gauge>,
    background: &'a mut Vec<Box<dyn BackgroundTask>>,
}

impl SetupServices for Asked<'_> {
    fn defer(&mut self, _work: rt::deferred::JobRunner) {}

    fn spawn_background(&mut self, task: Box<dyn BackgroundTask>) {
        self.background.push(task);
    }

    fn gauge(&mut self, name: &str) -> Gauge {
        self.gauges.entry(name.into()).or_default().clone()
    }
}

/// Lends no workers, and time without end.
struct Alone;

impl ProcessServices for Alone {
    fn fork(&self, lanes: u32, work: &(dyn Fn(u32) + Sync)) {
        (0..lanes).for_each(work);
    }

    fn count_late(&self) {}

    fn may_help(&self) -> bool {
        true
    }
}

/// The memory of one take.
struct Memory {
    channels: Vec<RawChannel>,
    ports: [Box<[RawPort]>; 2],
    inputs: Vec<Vec<f32>>,
    outputs: Vec<Vec<f32>>,
    flags: Vec<u8>,
    sends: Vec<Option<RawEvents>>,
}

impl Memory {
    fn new(node: &Node, take: &TestInput, has_line: bool) -> Self {
        let outputs = widths(&node.outputs).sum();
        let inputs = if has_line {
            Vec::new()
        } else {
            take.inputs.clone()
        };
        let room = |port: &Port| {
            (port.signal == Signal::Event).then(|| RawEvents {
                events: Vec::with_capacity(BLOCK.count()),
                dropped: 0,
            })
        };
        Self {
            channels: Vec::new(),
            ports: Default::default(),
            flags: vec![0; inputs.len() + outputs],
            inputs,
            // A frame that nobody writes is found by its bits.
            outputs: vec![vec![f32::from_bits(UNWRITTEN); take.frames]; outputs],
            sends: node.outputs.iter().map(room).collect(),
        }
    }

    /// Points every channel at frame `from`, marks no output silent and each input as `mark` says.
    fn bind(&mut self, from: usize, mark: impl Fn(&[f32]) -> bool) {
        let flags = self.flags.as_mut_ptr();
        self.channels.clear();
        let inputs = self.inputs.iter_mut().map(|i| (mark(i), i));
        let outputs = self.outputs.iter_mut().map(|o| (false, o));
        for (index, (silent, samples)) in inputs.chain(outputs).enumerate() {
            let flag = flags.wrapping_add(index);
            // SAFETY: there is a flag for every channel, and nobody else has it now.
            unsafe { *flag = u8::from(silent) };
            self.channels.push(RawChannel {
                data: samples.as_mut_ptr().wrapping_add(from),
                silent: flag,
            });
        }
    }

    /// The ports of `node` on these channels. It is good until the next `bind`.
    fn io(&mut self, node: &Node, line: Option<&mut Line>, events: &[Event]) -> StepIo {
        let mut at = 0;
        let mut ports = |ports: &[Port]| -> Box<[RawPort]> {
            let port = |width: usize| {
                at += width;
                RawPort::new(&self.channels[at - width..at])
            };
            widths(ports).map(port).collect()
        };
        let inputs = if line.is_some() {
            &[][..]
        } else {
            &node.inputs
        };
        self.ports = [ports(inputs), ports(&node.outputs)];
        StepIo {
            inputs: RawPorts::new(&self.ports[0]),
            outputs: RawPorts::new(&self.ports[1]),
            has_events: !events.is_empty(),
            cold: Box::new(IoCold {
                event_outputs: (self.sends.iter_mut())
                    .map(|s| s.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut))
                    .collect(),
                events: events.to_vec(),
                delay_line: line.map(|line| RawDelayLine {
                    data: line.data.as_mut_ptr(),
                    capacity: line.capacity as u32,
                    channels: line.channels as u32,
                    min_delay: 0,
                    max_delay: line.most,
                }),
            }),
        }
    }
}

const UNWRITTEN: u32 = 0x7fc0_dead;

impl ProcessorBench {
    /// The processor of `node`, which is given its ports, set up for `rate` and blocks of at most [`BLOCK`].
    ///
    /// # Panics
    ///
    /// The node's kind is unknown or refuses it.
    pub fn new(registry: &Registry, node: &Node, rate: SampleRate) -> Self {
        let mut node = node.clone();
        let kind = registry
            .catalogue()
            .get(node.effective_kind())
            .expect("the kind is known");
        let wrong = Catalogue::assign_ports(kind, &mut node);
        assert!(wrong.is_empty(), "{wrong:?}");
        let made = registry.make(&node, Path::new("."));
        let processor = made.unwrap_or_else(|e| panic!("`{}`: {e}", node.kind));
        let line = Line::of(&node, kind, rate);
        Self::with(processor, node, line, rate)
    }

    fn with(
        processor: Box<dyn Processor>,
        node: Node,
        line: Option<Line>,
        rate: SampleRate,
    ) -> Self {
        let mut rig = Self {
            processor,
            gauges: BTreeMap::new(),
            position: 0,
            node,
            background: Vec::new(),
            line,
        };
        rig.set_up(rate);
        rig
    }

    /// Sets the processor up (again).
    pub fn set_up(&mut self, rate: SampleRate) {
        self.set_up_for(rate, BLOCK);
    }

    /// The same for blocks of at most `block` frames, which is no more than [`BLOCK`].
    pub fn set_up_for(&mut self, rate: SampleRate, block: Frames) {
        self.processor.setup(&mut Setup {
            rate,
            block,
            mode: Mode::Offline,
            services: &mut Asked {
                gauges: &mut self.gauges,
                background: &mut self.background,
            },
        });
    }

    /// The processor and its line as new, at the start.
    pub fn reset(&mut self) {
        self.processor.reset();
        self.position = 0;
        if let Some(line) = &mut self.line {
            line.data.fill(0.0);
        }
    }

    /// Another rig that goes on with `processor` from where this one is, with a copy of the line.
    pub fn continue_with(&self, processor: Box<dyn Processor>) -> Self {
        Self {
            processor,
            gauges: BTreeMap::new(),
            position: self.position,
            node: self.node.clone(),
            background: Vec::new(),
            line: self.line.clone(),
        }
    }

    /// How many channels all inputs have.
    pub fn input_channels(&self) -> usize {
        widths(&self.node.inputs).sum()
    }

    /// The node, with its ports.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Plays `take`.
    ///
    /// # Panics
    ///
    /// A frame was not written, an output that is marked silent or given by a sleeping processor is not +0.0, or an
    /// event was sent out of order or outside its block.
    pub fn process(&mut self, take: &TestInput, cut: BlockSplit) -> TestOutput {
        let mut memory = Memory::new(&self.node, take, self.line.is_some());
        let mut played = TestOutput::default();
        let (mut from, mut cut) = (0, cut);
        while from < take.frames {
            let left = take.frames - from;
            let frames = match &mut cut {
                BlockSplit::Even(frames) => *frames,
                BlockSplit::Random(rng) | BlockSplit::Parts(rng) => match rng.below(3) {
                    0 => 1 + rng.below(4),
                    1 => 64,
                    _ => 1 + rng.below(300),
                },
            };
            let to = from + frames.min(left).min(BLOCK.count());
            self.block(take, from..to, &mut cut, &mut memory, &mut played);
            from = to;
        }
        played.bits = (memory.outputs.iter())
            .map(|o| o.iter().map(|x| x.to_bits()).collect())
            .collect();
        let written = played.bits.iter().flatten().all(|b| *b != UNWRITTEN);
        assert!(written, "every frame of every output is written");
        played
    }

    fn block(
        &mut self,
        take: &TestInput,
        range: std::ops::Range<usize>,
        cut: &mut BlockSplit,
        memory: &mut Memory,
        played: &mut TestOutput,
    ) {
        let frames = range.len();
        let (parts, mark, may_skip) = match cut {
            BlockSplit::Even(_) => (false, true, false),
            BlockSplit::Random(rng) => (false, rng.below(2) == 0, true),
            BlockSplit::Parts(_) => (true, false, false),
        };
        let (base, offset) = if parts {
            (0, range.start)
        } else {
            (range.start, 0)
        };
        let is_zero = |x: &[f32]| x[range.clone()].iter().all(|x| x.to_bits() == 0);
        memory.bind(base, |x| mark && is_zero(x));
        let events: Vec<Event> = (take.events.iter())
            .filter(|e| range.contains(&(e.frame as usize)))
            .map(|e| Event {
                frame: e.frame - base as u32,
                ..*e
            })
            .collect();
        self.background
            .iter_mut()
            .for_each(|task| settle(task.as_mut()));
        if let Some(line) = &mut self.line {
            line.write(&take.inputs, range.clone(), self.position);
        }
        let io = memory.io(&self.node, self.line.as_mut(), &events);
        let moment = ProcessInfo {
            frames: frames as u32,
            offset: offset as u32,
            position: self.position,
            is_whole_block: !parts,
            cycle: 0,
            device_inputs: &[],
            services: &Alone,
        };
        // SAFETY: `io` points into `memory` and the line, which live on and are touched by nobody else until the block
        // is played; all of them hold the frames from `base + offset` on.
        let mut block = unsafe { Block::new(&io, &moment) };
        if may_skip && played.asleep && events.is_empty() && block.is_silent() {
            block.silence_outputs();
        } else {
            let before = alloc::calls();
            let activity = self.processor.process(&mut block);
            played.allocations += alloc::calls() - before;
            played.asleep = activity == ProcessStatus::Sleep;
        }
        self.position += frames as u64;
        let inputs = memory.inputs.len();
        for (output, flag) in memory.outputs.iter().zip(&memory.flags[inputs..]) {
            let silent = *flag != 0 || played.asleep;
            assert!(!silent || is_zero(output), "silence is +0.0");
        }
        collect(memory, base, &range, played);
    }
}

/// Gives `task` turns until it has nothing to do.
fn settle(task: &mut dyn BackgroundTask) {
    while task.poll() == TaskStatus::More {}
}

fn collect(
    memory: &mut Memory,
    base: usize,
    range: &std::ops::Range<usize>,
    played: &mut TestOutput,
) {
    for (port, room) in memory.sends.iter_mut().enumerate() {
        let Some(room) = room else { continue };
        assert_eq!(room.dropped, 0, "there is room for every event");
        let mut last = range.start;
        for event in room.events.drain(..) {
            let frame = event.frame as usize + base;
            assert!(
                range.contains(&frame) && frame >= last,
                "events are in order"
            );
            last = frame;
            let frame = frame as u32;
            played.sent.push((port, Event { frame, ..event }));
        }
    }
}
