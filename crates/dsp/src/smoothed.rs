//! [`Smoothed`]: a node whose output is its input times smoothed factors. It splits blocks over cores, and sleeps in
//! silence once all factors have arrived.

use crate::param::ParamSpec;
use crate::scale::{Scale, ScaleTwice, is_small};
use crate::smoother::Smoother;
use crate::split::BlockSplit;
use crate::state;
use crate::steps::{BlockSpan, block_spans};
use processor::{
    Block, BlockPart, Content, Event, ForkState, InRow, MakeContext, MakeError, ProcessStatus,
    Processor, RowKind, RowStatus, Setup, StateError, StepRow,
};
use rt::vectors::{WideWork, widest};
use std::marker::PhantomData;
use std::ops::Range;

/// The part that differs between such nodes.
pub(crate) trait SmoothedKernel: Send + Sync + 'static {
    /// Parameters whose values are saved, because the factors do not tell them.
    const SAVED: &'static [ParamSpec] = &[];

    /// Cost of a frame with this number of factors on one core, in ns, and the samples that it reads and writes.
    fn frame_cost(&self, factors: usize) -> (f64, usize);

    /// Returns true if a factor is driven and 0 in all of `block`: then the output is silent.
    ///
    /// Real-time: hot.
    #[inline(always)]
    fn is_muted(&self, _block: &Block<'_>) -> bool {
        false
    }

    /// Sets the factors that `event` changes; `saved` has the values of [`Self::SAVED`] already.
    ///
    /// Real-time: hot.
    fn handle_event(&self, event: &Event, saved: [f64; 2], factors: &mut [Smoother]);

    /// Number of outputs of a kernel so cheap that the cost of a step counts: nodes of it whose steps follow each other are processed in a
    /// row, by [`process_row`](Self::process_row), and one alone by [`process_steady`](Self::process_steady); both are compiled for wide
    /// vectors. It is never muted. 0 for all others.
    const OUTPUTS_IN_ROWS: usize = 0;

    /// Processes a row: nodes in steady blocks that have one channel a port by themselves, and all others by
    /// [`Smoothed::process_apart`]. Of kernels in rows alone.
    ///
    /// Real-time: hot.
    #[inline(always)]
    fn process_row(row: StepRow<'_, Smoothed<Self>>) -> RowStatus
    where
        Self: Sized,
    {
        row.process(Smoothed::process_apart)
    }

    /// Processes a part of a block, which begins `passed` frames behind the state of `factors`.
    ///
    /// Real-time: hot.
    fn process_part(&self, part: &mut BlockPart<'_>, factors: &[Smoother], passed: usize);

    /// Processes a block in which no factor moves; these are the first two of them. Returns false, and has done nothing, where
    /// the input is silent or constant. Of kernels in rows alone.
    ///
    /// Real-time: hot.
    #[inline(always)]
    fn process_steady(_block: &mut Block<'_>, _steady: SteadyFactors) -> bool {
        false
    }
}

/// A node with smoothed factors. What a steady block asks for lies on one cache line, the first.
#[repr(C, align(64))]
pub(crate) struct Smoothed<K: SmoothedKernel> {
    /// Blocks of fewer frames are this worker's alone, and no factor moves in them: 0 while one moves.
    steady_below: usize,
    /// The first two factors while none moves.
    steady: SteadyFactors,
    /// No factor moves.
    is_settled: bool,
    state: ForkState<Factors<K>>,
    split: BlockSplit,
    /// Values of the saved parameters, as the node states them and now.
    initial: [f64; 2],
    saved: [f64; 2],
}

/// Two factors that do not move.
#[derive(Clone, Copy, Default)]
pub(crate) struct SteadyFactors {
    values: [f32; 2],
    /// None of them makes a sample larger.
    is_small: bool,
}

impl SteadyFactors {
    /// `from` times the first one.
    #[inline(always)]
    pub(crate) fn scale<'a>(self, from: &'a [f32], to: &'a mut [f32]) -> Scale<'a> {
        Scale {
            is_small: self.is_small,
            factor: self.values[0],
            from,
            to,
        }
    }

    /// `from` times each of them.
    #[inline(always)]
    pub(crate) fn scale_twice<'a>(self, from: &'a [f32], to: [&'a mut [f32]; 2]) -> ScaleTwice<'a> {
        ScaleTwice {
            is_small: self.is_small,
            factors: self.values,
            from,
            to,
        }
    }
}

/// Data that all parts of a block read.
struct Factors<K> {
    kernel: K,
    factors: Box<[Smoother]>,
}

/// A steady block of a node that is processed in rows.
struct Steady<'a, 'b, K>(&'a mut Block<'b>, SteadyFactors, PhantomData<K>);

impl<K: SmoothedKernel> WideWork for Steady<'_, '_, K> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        K::process_steady(self.0, self.1)
    }
}

/// Blocks of nodes whose steps follow each other.
struct Blocks<'a, K: SmoothedKernel>(StepRow<'a, Smoothed<K>>);

impl<K: SmoothedKernel> WideWork for Blocks<'_, K> {
    type Output = RowStatus;

    #[inline(always)]
    fn run(self) -> RowStatus {
        K::process_row(self.0)
    }
}

impl<K: SmoothedKernel> InRow for Smoothed<K> {
    const OUTPUTS: usize = K::OUTPUTS_IN_ROWS;

    fn process_row(row: StepRow<'_, Self>) -> RowStatus {
        widest(Blocks(row))
    }
}

impl<K: SmoothedKernel> Smoothed<K> {
    /// A node with these factors at the start.
    ///
    /// # Errors
    ///
    /// A parameter is missing or outside its range.
    pub(crate) fn make(
        creation: &MakeContext<'_>,
        kernel: K,
        factors: impl IntoIterator<Item = f32>,
    ) -> Result<Box<dyn Processor>, MakeError> {
        let mut initial = [0.0; 2];
        for (value, param) in initial.iter_mut().zip(K::SAVED) {
            *value = param.read(creation)?;
        }
        let mut unit = Self {
            state: ForkState::new(Factors {
                kernel,
                factors: factors.into_iter().map(Smoother::new).collect(),
            }),
            split: BlockSplit::from_node(creation)?,
            initial,
            saved: initial,
            is_settled: true,
            steady: SteadyFactors::default(),
            steady_below: 0,
        };
        unit.find_settled();
        Ok(Box::new(unit))
    }

    fn handle_event(&mut self, event: &Event) {
        for (value, param) in self.saved.iter_mut().zip(K::SAVED) {
            *value = param.value_of(event).unwrap_or(*value);
        }
        let Factors { kernel, factors } = &mut *self.state;
        kernel.handle_event(event, self.saved, factors);
        self.is_settled = false;
        self.steady_below = 0;
    }

    fn process_range(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let (from, frames) = (range.start, range.len());
        self.split
            .process_with(block, &mut self.state, range, move |state, part| {
                let passed = part.range().start - from;
                state.kernel.process_part(part, &state.factors, passed);
            });
        self.skip(frames);
    }

    /// Processes a block in which neither the input nor a factor moves.
    #[inline(never)]
    fn process_constant(&mut self, block: &mut Block<'_>) {
        self.process_range(block, 0..1);
        block.hold_first_frame();
    }

    /// Returns true for nearly all blocks: no factor moves, no event has come, and this worker processes all frames.
    #[inline(always)]
    fn stands_still(&self, block: &Block<'_>) -> bool {
        let is_steady =
            block.frames() < self.steady_below || self.is_settled && self.split.is_whole(block);
        is_steady && !block.may_have_events()
    }

    /// The first two factors for a block of `frames` frames without events, if none moves and this worker processes all frames: nearly always.
    #[inline(always)]
    pub(crate) fn steady_factors(&self, frames: usize) -> Option<SteadyFactors> {
        (frames < self.steady_below).then_some(self.steady)
    }

    /// Processes the block of a node of a row by itself.
    #[inline(never)]
    pub(crate) fn process_apart(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        self.process(block)
    }

    /// Processes a block in which nothing moves but the input, as nearly all are. Returns false, and has done nothing, if it is another one.
    #[inline(always)]
    fn process_steady(&mut self, block: &mut Block<'_>) -> bool {
        if !self.stands_still(block) {
            return false;
        }
        if K::OUTPUTS_IN_ROWS > 0 {
            return widest(Steady::<K>(block, self.steady, PhantomData));
        }
        let Factors { kernel, factors } = &*self.state;
        let is_moved = block.input_content() == Content::Unknown && !kernel.is_muted(block);
        if is_moved {
            kernel.process_part(&mut BlockPart::whole(block), factors, 0);
        }
        is_moved
    }

    /// Processes a block that is not [steady](Self::process_steady).
    #[inline(never)]
    fn process_other(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let content = block.input_content();
        let silent = content == Content::Silent || self.state.kernel.is_muted(block);
        if silent || !self.is_settled || block.may_have_events() {
            return self.process_spans(block, silent);
        }
        match content == Content::Constant && block.is_constant() {
            true => self.process_constant(block),
            false => self.process_range(block, 0..block.frames()),
        }
        ProcessStatus::Continue
    }

    /// Processes a block in which a factor moves, or that is silent.
    #[inline(never)]
    fn process_spans(&mut self, block: &mut Block<'_>, silent: bool) -> ProcessStatus {
        for span in block_spans(block) {
            match span {
                BlockSpan::Event(event) => self.handle_event(&event),
                BlockSpan::Process(range) if silent => self.skip(range.len()),
                BlockSpan::Process(range) => self.process_range(block, range),
            }
        }
        if !silent {
            return ProcessStatus::Continue;
        }
        block.silence_outputs();
        match self.is_settled {
            true => ProcessStatus::Sleep,
            false => ProcessStatus::Continue,
        }
    }

    fn skip(&mut self, frames: usize) {
        if !self.is_settled {
            let factors = &mut self.state.factors;
            factors.iter_mut().for_each(|factor| factor.skip(frames));
            self.find_settled();
        }
    }

    fn find_settled(&mut self) {
        let factors = &self.state.factors;
        self.is_settled = factors.iter().all(Smoother::is_settled);
        for (value, factor) in self.steady.values.iter_mut().zip(factors) {
            *value = factor.current();
        }
        self.steady.is_small = self.steady.values.iter().all(|it| is_small(*it));
        self.steady_below = match self.is_settled {
            true => self.split.whole_below(),
            false => 0,
        };
    }
}

impl<K: SmoothedKernel> Processor for Smoothed<K> {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.saved = self.initial;
        self.state
            .factors
            .iter_mut()
            .for_each(|factor| factor.setup(setup.rate));
        let (frame_ns, samples) = self.state.kernel.frame_cost(self.state.factors.len());
        self.split.setup(setup, frame_ns, samples);
        self.find_settled();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        match self.process_steady(block) {
            true => ProcessStatus::Continue,
            false => self.process_other(block),
        }
    }

    fn row(&self) -> Option<RowKind> {
        (K::OUTPUTS_IN_ROWS > 0).then(RowKind::of::<Self>)
    }

    fn max_parallelism(&self) -> u32 {
        self.split.max_parallelism()
    }

    fn reset(&mut self) {
        self.saved = self.initial;
        self.state.factors.iter_mut().for_each(Smoother::reset);
        self.find_settled();
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let saved = self.saved.iter().take(K::SAVED.len());
        state::put(bytes, saved.map(|value| value.to_bits()));
        state::put(
            bytes,
            self.state.factors.iter().flat_map(Smoother::state_words),
        );
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let (first, count) = (K::SAVED.len(), self.state.factors.len());
        let words = state::words(bytes, first + count * Smoother::STATE_WORDS)?;
        let mut saved = self.saved;
        for (i, value) in saved.iter_mut().take(first).enumerate() {
            *value = words.number(i)?;
        }
        let part = |i| words.from(first + i * Smoother::STATE_WORDS);
        for (i, factor) in self.state.factors.iter().enumerate() {
            let mut copy = *factor;
            copy.load(part(i))?;
        }
        let mut is_same_node = true;
        for (i, factor) in self.state.factors.iter_mut().enumerate() {
            is_same_node &= factor.load(part(i))?;
        }
        self.find_settled();
        if is_same_node {
            self.saved = saved;
        }
        Ok(())
    }
}
