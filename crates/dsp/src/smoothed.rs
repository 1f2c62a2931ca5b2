//! [`Smoothed`]: a node whose output is its input times smoothed factors. It splits blocks over cores, and sleeps in
//! silence once all factors have arrived.

use crate::param::ParamSpec;
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

    /// True for a kernel so cheap that the cost of a step counts: nodes of it whose steps follow each other are processed in a row, by
    /// [`process_steady`](Self::process_steady), which is compiled for wide vectors. It is never muted.
    const IN_ROWS: bool = false;

    /// Processes a part of a block, which begins `passed` frames behind the state of `factors`.
    ///
    /// Real-time: hot.
    fn process_part(&self, part: &mut BlockPart<'_>, factors: &[Smoother], passed: usize);

    /// Processes a block in which no factor moves; `values` are those of the first two factors. Returns false, and has done nothing, where
    /// the input is silent or constant. Of kernels in rows alone.
    ///
    /// Real-time: hot.
    #[inline(always)]
    fn process_steady(_block: &mut Block<'_>, _values: [f32; 2]) -> bool {
        false
    }
}

/// A node with smoothed factors.
pub(crate) struct Smoothed<K: SmoothedKernel> {
    state: ForkState<Factors<K>>,
    split: BlockSplit,
    /// Values of the saved parameters, as the node states them and now.
    initial: [f64; 2],
    saved: [f64; 2],
    /// No factor moves.
    is_settled: bool,
    /// Values of the first two factors while none moves.
    steady: [f32; 2],
}

/// Data that all parts of a block read.
struct Factors<K> {
    kernel: K,
    factors: Box<[Smoother]>,
}

/// A steady block of a node that is processed in rows.
struct Steady<'a, 'b, K>(&'a mut Block<'b>, [f32; 2], PhantomData<K>);

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
        self.0.process(
            #[inline(always)]
            |unit, block| match unit.stands_still(block) && K::process_steady(block, unit.steady) {
                true => ProcessStatus::Continue,
                false => unit.process_other(block),
            },
        )
    }
}

impl<K: SmoothedKernel> InRow for Smoothed<K> {
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
            steady: [0.0; 2],
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
        self.is_settled && !block.may_have_events() && self.split.is_whole(block)
    }

    /// Processes a block in which nothing moves but the input, as nearly all are. Returns false, and has done nothing, if it is another one.
    #[inline(always)]
    fn process_steady(&mut self, block: &mut Block<'_>) -> bool {
        if !self.stands_still(block) {
            return false;
        }
        if K::IN_ROWS {
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
        for (value, factor) in self.steady.iter_mut().zip(factors) {
            *value = factor.current();
        }
    }
}

impl<K: SmoothedKernel> Processor for Smoothed<K> {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.saved = self.initial;
        self.state
            .factors
            .iter_mut()
            .for_each(|factor| factor.setup(setup.rate));
        self.find_settled();
        let (frame_ns, samples) = self.state.kernel.frame_cost(self.state.factors.len());
        self.split.setup(setup, frame_ns, samples);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        match self.process_steady(block) {
            true => ProcessStatus::Continue,
            false => self.process_other(block),
        }
    }

    fn row(&self) -> Option<RowKind> {
        K::IN_ROWS.then(RowKind::of::<Self>)
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
