//! A stand-in for an executor: one processor on memory of its own, run in blocks of any size.

mod memory;

use self::memory::{Line, Memory, UNWRITTEN, widths};

use crate::alloc;
use crate::rng::Rng;
use graph::{Catalogue, Node};
use processor::{
    BackgroundTask, Block, Content, Event, ForkAbandoned, ForkTask, Gauge, Mode, ProcessInfo,
    ProcessServices, ProcessStatus, Processor, Registry, Setup, SetupServices, TaskStatus,
};
use std::collections::BTreeMap;
use std::path::Path;
use units::{Frames, Nanos, SampleRate};

/// Maximum number of frames that a bench runs at once.
pub const MAX_BLOCK: Frames = Frames(4096);

/// Division of an input into blocks.
#[derive(Clone, Debug)]
pub enum BlockSplit {
    /// Blocks of this number of frames.
    Even(usize),
    /// Blocks of random lengths. Half of them mark inputs that are silent or constant; a sleeping processor is not called.
    Random(Rng),
    /// Parts of random lengths of one block.
    Parts(Rng),
}

/// The input of a processor.
#[derive(Clone, Debug, Default)]
pub struct TestInput {
    /// Samples of each channel of each audio input, in order; all of one length.
    pub inputs: Vec<Vec<f32>>,
    /// Sorted by frame.
    pub events: Vec<Event>,
    /// Length in frames.
    pub frames: usize,
}

impl TestInput {
    /// The events of some frames; their frames count from `base`.
    fn events_in(&self, range: &std::ops::Range<usize>, base: u32) -> Vec<Event> {
        let is_in = |e: &&Event| range.contains(&(e.frame as usize));
        let from_base = |e: &Event| Event {
            frame: e.frame - base,
            ..*e
        };
        self.events.iter().filter(is_in).map(from_base).collect()
    }
}

/// The output of a processor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestOutput {
    /// The bits of each channel of each audio output, in order.
    pub bits: Vec<Vec<u32>>,
    /// The events that were sent, with their output port; frames count from the start of the input.
    pub sent: Vec<(usize, Event)>,
    /// True if the last call returned that the processor sleeps.
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

/// One processor after setup.
pub struct ProcessorBench {
    /// The processor.
    pub processor: Box<dyn Processor>,
    /// The values that it displays, by name.
    pub gauges: BTreeMap<String, Gauge>,
    /// Frames since the start.
    pub position: u64,
    node: Node,
    background: Vec<Box<dyn BackgroundTask>>,
    line: Option<Line>,
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

/// Services of an executor with one worker and no deadline.
struct Alone;

impl ProcessServices for Alone {
    fn fork(&self, lanes: u32, task: &ForkTask) -> Result<(), ForkAbandoned> {
        (0..lanes).for_each(|lane| task.run(lane));
        Ok(())
    }

    fn count_late(&self) {}

    fn time_for_late_results(&self) -> Option<Nanos> {
        None
    }
}

impl ProcessorBench {
    /// Makes the processor of `node` with its ports, and sets it up for `rate` and blocks of at most [`MAX_BLOCK`].
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
        let mut bench = Self {
            processor,
            gauges: BTreeMap::new(),
            position: 0,
            node,
            background: Vec::new(),
            line,
        };
        bench.set_up(rate);
        bench
    }

    /// Sets the processor up (again).
    pub fn set_up(&mut self, rate: SampleRate) {
        self.set_up_for(rate, MAX_BLOCK);
    }

    /// The same for blocks of at most `block` frames, which is no more than [`MAX_BLOCK`].
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

    /// Resets the processor and its line to the start.
    pub fn reset(&mut self) {
        self.processor.reset();
        self.position = 0;
        if let Some(line) = &mut self.line {
            line.data.fill(0.0);
        }
    }

    /// Lets the background tasks complete their files.
    pub fn end_background(&mut self) {
        for task in &mut self.background {
            settle(task.as_mut());
            task.end();
        }
    }

    /// Another bench that continues with `processor` from the current position, with a copy of the line.
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

    /// Number of channels of all inputs.
    pub fn input_channels(&self) -> usize {
        widths(&self.node.inputs).sum()
    }

    /// The node, with its ports.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Processes `input`.
    ///
    /// # Panics
    ///
    /// A frame was not written, an output that is marked silent or given by a sleeping processor is not +0.0, or an
    /// event was sent out of order or outside its block.
    pub fn process(&mut self, input: &TestInput, cut: BlockSplit) -> TestOutput {
        let mut memory = Memory::new(&self.node, input, self.line.is_some());
        let mut output = TestOutput::default();
        let (mut from, mut cut) = (0, cut);
        while from < input.frames {
            let left = input.frames - from;
            let frames = match &mut cut {
                BlockSplit::Even(frames) => *frames,
                BlockSplit::Random(rng) | BlockSplit::Parts(rng) => match rng.below(3) {
                    0 => 1 + rng.below(4),
                    1 => 64,
                    _ => 1 + rng.below(300),
                },
            };
            let to = from + frames.min(left).min(MAX_BLOCK.count());
            self.block(input, from..to, &mut cut, &mut memory, &mut output);
            from = to;
        }
        output.bits = (memory.outputs.iter())
            .map(|o| o.iter().map(|x| x.to_bits()).collect())
            .collect();
        let written = output.bits.iter().flatten().all(|b| *b != UNWRITTEN);
        assert!(written, "every frame of every output is written");
        output
    }

    fn block(
        &mut self,
        input: &TestInput,
        range: std::ops::Range<usize>,
        cut: &mut BlockSplit,
        memory: &mut Memory,
        output: &mut TestOutput,
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
        let is_constant = |x: &[f32]| {
            let mut bits = x[range.clone()].iter().map(|x| x.to_bits());
            let first = bits.next();
            bits.all(|x| Some(x) == first)
        };
        memory.bind(base, |x| match mark {
            true if is_zero(x) => Content::Silent,
            true if is_constant(x) => Content::Constant,
            _ => Content::Unknown,
        });
        let events = input.events_in(&range, base as u32);
        self.background
            .iter_mut()
            .for_each(|task| settle(task.as_mut()));
        if let Some(line) = &mut self.line {
            line.write(&input.inputs, range.clone(), self.position);
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
        // SAFETY: `io` points into `memory` and the line, which live on and are touched by no other code until the block
        // is output; all of them hold the frames from `base + offset` on.
        let mut block = unsafe { Block::new(&io, &moment) };
        if may_skip && output.asleep && events.is_empty() && block.is_silent() {
            block.silence_outputs();
        } else {
            let before = alloc::calls();
            let activity = self.processor.process(&mut block);
            output.allocations += alloc::calls() - before;
            output.asleep = activity == ProcessStatus::Sleep;
        }
        self.position += frames as u64;
        let inputs = memory.inputs.len();
        for (samples, flag) in memory.outputs.iter().zip(&memory.flags[inputs..]) {
            let silent = *flag == Content::Silent as u8 || output.asleep;
            assert!(!silent || is_zero(samples), "silence is +0.0");
            let constant = *flag == Content::Constant as u8;
            assert!(!constant || is_constant(samples), "a constant stays");
        }
        collect(memory, base, &range, output);
    }
}

/// Runs `task` until it has nothing to do.
fn settle(task: &mut dyn BackgroundTask) {
    while task.poll() == TaskStatus::More {}
}

fn collect(
    memory: &mut Memory,
    base: usize,
    range: &std::ops::Range<usize>,
    output: &mut TestOutput,
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
            output.sent.push((port, Event { frame, ..event }));
        }
    }
}
