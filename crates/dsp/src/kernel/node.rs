//! [`KernelNode`]: the processor of any [`UnitKernel`].

use super::bank::{Lane, run_bank};
use super::channels::Channels;
use super::{FRAMES, FrameValues, LaneIo, Memory, Samples, UnitKernel};
use crate::smoother::Smoother;
use crate::state;
use crate::steps::{BlockStep, block_steps, has_whole_steps};
use processor::{
    BankKind, Block, Event, MAX_BANK, MakeContext, MakeError, ProcessStatus, Processor, Setup,
    StateError, Tail,
};
use rt::vectors::{Wide, WideWork};
use std::any::TypeId;
use std::ops::Range;
use units::Frames;

/// Largest number of live parameters of a kernel.
const MAX_PARAMS: usize = 16;

/// A unit in a graph.
pub(crate) struct KernelNode<K: UnitKernel> {
    kernel: K,
    params: Box<[Smoother]>,
    is_driven: bool,
    /// The parameters of the frames of a step, one row for each parameter.
    param_frames: Box<[Samples]>,
    /// The values of a step.
    values: Vec<K::Values>,
    /// True if `values` is the one value of parameters that stand still, and that only an event can move.
    is_at_rest: bool,
    /// Values of the last frame, with the bits of its parameters.
    last: Option<([u32; MAX_PARAMS], K::Values)>,
    inputs: Channels,
    outputs: Channels,
    lanes: Box<[Memory]>,
    wide: Wide,
}

/// The frames of a step, with the copies of what comes in and goes out. Those of a whole one are compiled by themselves: the compiler
/// knows their number, and leaves out what shorter ones need.
struct StepWork<'a, 'b, K: UnitKernel, const WHOLE: bool> {
    node: &'a mut KernelNode<K>,
    block: &'a mut Block<'b>,
    range: Range<usize>,
}

impl<K: UnitKernel, const WHOLE: bool> WideWork for StepWork<'_, '_, K, WHOLE> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let KernelNode {
            kernel,
            lanes,
            values,
            inputs,
            outputs,
            ..
        } = self.node;
        let first = self.range.start;
        let count = if WHOLE { FRAMES } else { self.range.len() };
        let range = first..first + count;
        let (in_ports, read) = match WHOLE {
            true => inputs.read_whole(self.block, first),
            false => inputs.read(self.block, &range),
        };
        let (out_ports, written) = match WHOLE {
            true => outputs.places(self.block, first),
            false => outputs.copies(),
        };
        for (lane, memory) in lanes.iter_mut().enumerate() {
            let mut io = LaneIo {
                inputs: read,
                outputs: written,
                ports: [in_ports, out_ports],
                lane: (!K::LINKED).then_some(lane),
            };
            kernel.process(FrameValues::new(values, count), &mut io, memory);
            memory.advance(count);
        }
        match WHOLE {
            true => outputs.write_whole(self.block, first),
            false => outputs.write(self.block, &range),
        }
    }
}

impl<K: UnitKernel> KernelNode<K> {
    /// Creates the node of a kernel.
    ///
    /// # Errors
    ///
    /// A parameter is missing or outside its range.
    pub(crate) fn make(
        creation: &MakeContext<'_>,
        kernel: K,
    ) -> Result<Box<dyn Processor>, MakeError> {
        let mut params = Vec::with_capacity(K::PARAMS.len());
        for param in K::PARAMS {
            params.push(Smoother::new(param.read(creation)? as f32));
        }
        let node = creation.node;
        let (inputs, outputs) = (
            Channels::new(node.kind_inputs()),
            Channels::new(&node.outputs),
        );
        Ok(Box::new(Self {
            kernel,
            is_driven: K::PARAMS
                .iter()
                .any(|param| creation.is_driven(param.index)),
            param_frames: vec![[0.0; FRAMES]; params.len()].into(),
            params: params.into(),
            values: Vec::with_capacity(FRAMES),
            is_at_rest: false,
            last: None,
            inputs,
            outputs,
            lanes: Box::default(),
            wide: Wide::best(),
        }))
    }

    fn handle_event(&mut self, event: &Event) {
        self.is_at_rest = false;
        for (smoother, param) in self.params.iter_mut().zip(K::PARAMS) {
            if let Some(value) = param.value_of(event) {
                smoother.follow(event, value as f32);
            }
        }
    }

    /// The parameters of all frames of a block's step, as bits, if none of them moves.
    fn constant_params(&self, block: &Block<'_>) -> Option<[u32; MAX_PARAMS]> {
        let mut bits = [0; MAX_PARAMS];
        for ((bits, smoother), param) in bits.iter_mut().zip(&self.params).zip(K::PARAMS) {
            let is_driven = param.audio_rate && block.param_signal(param.index).is_some();
            let value = match is_driven {
                true => block.param_constant(param.index)?,
                false => smoother.is_settled().then(|| smoother.current())?,
            };
            *bits = value.to_bits();
        }
        Some(bits)
    }

    /// The values of a frame with these parameters: those of the last one, if it had the same.
    fn values_of(&mut self, bits: [u32; MAX_PARAMS]) -> K::Values {
        let count = K::PARAMS.len();
        let params = |bits: [u32; MAX_PARAMS]| bits.map(|bits| f64::from(f32::from_bits(bits)));
        let values = match &self.last {
            Some((of, values)) if *of == bits => return *values,
            Some((of, values)) => {
                let before = (&params(*of)[..count], values);
                self.kernel.next_values(&params(bits)[..count], before)
            }
            None => self.kernel.values(&params(bits)[..count]),
        };
        self.last = Some((bits, values));
        values
    }

    /// Computes the values of the frames of `range`: one for all where nothing moves.
    fn fill_values(&mut self, block: &Block<'_>, range: &Range<usize>) {
        self.values.clear();
        if let Some(bits) = self.constant_params(block) {
            let values = self.values_of(bits);
            self.values.push(values);
            self.is_at_rest = !self.is_driven;
            return;
        }
        let count = range.len();
        let rows = self.param_frames.iter_mut().zip(&mut self.params);
        for ((to, smoother), param) in rows.zip(K::PARAMS) {
            let signal = param.audio_rate.then(|| block.param_signal(param.index));
            match signal.flatten() {
                Some(values) => to[..count].copy_from_slice(&values[range.clone()]),
                None => smoother.fill(&mut to[..count]),
            }
        }
        for frame in 0..count {
            let mut bits = [0; MAX_PARAMS];
            for (bits, row) in bits.iter_mut().zip(&self.param_frames) {
                *bits = row[frame].to_bits();
            }
            let values = self.values_of(bits);
            self.values.push(values);
        }
    }

    #[inline(always)]
    fn process_range(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        if !self.is_at_rest {
            self.fill_values(block, &range);
        }
        let (wide, node) = (self.wide, self);
        match range.len() == FRAMES {
            true => wide.run(StepWork::<K, true> { node, block, range }),
            false => wide.run(StepWork::<K, false> { node, block, range }),
        }
    }

    /// Processes a block with events, or with steps that are not whole.
    #[inline(never)]
    fn process_steps(&mut self, block: &mut Block<'_>) {
        for step in block_steps(block) {
            match step {
                BlockStep::Event(event) => self.handle_event(&event),
                BlockStep::Process(range) => self.process_range(block, range),
                BlockStep::Cleanup => self.clean_up(),
            }
        }
    }

    /// Returns true if the unit may take part in a bank in this block.
    pub(super) fn fits_bank(&self, block: &Block<'_>) -> bool {
        let ([memory], [values]) = (&*self.lanes, &*self.values) else {
            return false;
        };
        self.is_at_rest
            && block.events().is_empty()
            && !(block.is_silent() && self.is_silent())
            && self.kernel.fits_lane(values, memory)
    }

    /// The unit as a lane of a bank.
    pub(super) fn lane(&mut self) -> Option<Lane<'_, K>> {
        let ([memory], [values]) = (&mut *self.lanes, &*self.values) else {
            return None;
        };
        let kernel = &self.kernel;
        Some(Lane {
            kernel,
            values,
            memory,
        })
    }

    /// Notes that `frames` frames have passed in all lanes.
    pub(super) fn advance(&mut self, frames: usize) {
        self.lanes.iter_mut().for_each(|lane| lane.advance(frames));
    }

    pub(super) fn clean_up(&mut self) {
        self.lanes.iter_mut().for_each(Memory::clean_up);
    }

    /// Shows values on gauges behind a block.
    pub(super) fn show(&self) {
        if let Some(memory) = self.lanes.first() {
            self.kernel.show(memory);
        }
    }

    fn is_silent(&self) -> bool {
        let settled = self.params.iter().all(Smoother::is_settled);
        K::SLEEPS && settled && self.lanes.iter().all(Memory::is_silent)
    }
}

impl<K: UnitKernel> Processor for KernelNode<K> {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        let channels = self.inputs.max_width().max(self.outputs.max_width());
        let size = self.kernel.setup(f64::from(setup.rate.hz()), channels);
        self.last = None;
        self.is_at_rest = false;
        self.params
            .iter_mut()
            .for_each(|param| param.setup(setup.rate));
        let lanes = if K::LINKED { 1 } else { channels };
        self.lanes = (0..lanes).map(|lane| Memory::new(lane, size)).collect();
        self.kernel.announce(setup.services);
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        if block.is_silent() && block.events().is_empty() && self.is_silent() {
            block.silence_outputs();
            return ProcessStatus::Sleep;
        }
        match has_whole_steps(block) {
            true => {
                for first in (0..block.frames()).step_by(FRAMES) {
                    self.process_range(block, first..first + FRAMES);
                    self.clean_up();
                }
            }
            false => self.process_steps(block),
        }
        self.show();
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.is_at_rest = false;
        self.params.iter_mut().for_each(Smoother::reset);
        self.lanes.iter_mut().for_each(Memory::reset);
    }

    fn bank(&self) -> Option<BankKind> {
        // One channel: a lane is a signal. Of several inputs the first one counts (`UnitKernel::fits_lane`).
        let is_mono = |channels: &Channels| channels.ports.iter().all(|(_, width)| *width == 1);
        let is_one = *self.outputs.ports == [(0, 1)];
        let has_lanes = K::MIN_LANES <= MAX_BANK && is_one && is_mono(&self.inputs);
        has_lanes.then(|| BankKind {
            of: TypeId::of::<Self>(),
            run: run_bank::<K>,
        })
    }

    fn latency(&self) -> Frames {
        self.kernel.latency()
    }

    fn tail(&self) -> Tail {
        if K::IS_LOOP && self.is_driven {
            return Tail::Infinite;
        }
        let count = K::PARAMS.len();
        let mut params = [0.0; MAX_PARAMS];
        for (to, smoother) in params.iter_mut().zip(&self.params) {
            *to = f64::from(smoother.target());
        }
        // Parameters that are driven or on their way are those of the last frame.
        let last = self
            .last
            .map(|(bits, _)| bits.map(|bits| f64::from(f32::from_bits(bits))));
        let last = last.unwrap_or(params);
        match (
            self.kernel.tail(&params[..count]),
            self.kernel.tail(&last[..count]),
        ) {
            (Tail::Frames(0), Tail::Frames(0)) => Tail::Frames(0),
            (Tail::Frames(a), Tail::Frames(b)) => {
                let is_settled = self.params.iter().all(Smoother::is_settled);
                Tail::Frames(a.max(b) + if is_settled { 0 } else { 4096 })
            }
            _ => Tail::Infinite,
        }
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, self.params.iter().flat_map(Smoother::state_words));
        self.lanes.iter().for_each(|lane| lane.save(bytes));
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let first = self.params.len() * Smoother::STATE_WORDS;
        let of_lane = self.lanes.first().map_or(0, Memory::state_words);
        let words = state::words(bytes, first + of_lane * self.lanes.len())?;
        let param = |index| words.from(index * Smoother::STATE_WORDS);
        // All is checked before anything is loaded: a state that is refused changes nothing.
        for (index, smoother) in self.params.iter().enumerate() {
            let mut copy = *smoother;
            copy.load(param(index))?;
        }
        for (index, lane) in self.lanes.iter().enumerate() {
            lane.check(words.from(first + index * of_lane))?;
        }
        self.is_at_rest = false;
        for (index, smoother) in self.params.iter_mut().enumerate() {
            smoother.load(param(index))?;
        }
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            lane.load(words.from(first + index * of_lane));
        }
        Ok(())
    }
}
