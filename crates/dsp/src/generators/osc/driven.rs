//! [`DrivenOsc`]: an oscillator whose frequency or level is another number in each frame.

use super::{OscillatorCore, Wave, saw, square, triangle};
use crate::generators::driven::{DrivenFrames, is_stopped};
use crate::generators::residual::{Edges, is_crowded};
use crate::generators::sine::sine;
use crate::steps::{BlockStep, block_steps};
use processor::{Block, ProcessStatus, Processor, Setup, StateError};
use rt::vectors::{Wide, WideWork};
use std::ops::Range;

/// An oscillator of which `freq` or `volume` is driven at audio rate.
#[derive(Clone)]
pub(super) struct DrivenOsc {
    pub(super) wave: Wave,
    pub(super) core: OscillatorCore,
    pub(super) wide: Wide,
}

/// Frames of a driven oscillator.
struct DrivenWork<'a, 'block> {
    osc: &'a mut DrivenOsc,
    block: &'a mut Block<'block>,
    range: Range<usize>,
}

impl WideWork for DrivenWork<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.osc.generate(self.block, self.range);
    }
}

impl DrivenOsc {
    #[inline(always)]
    fn generate(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let driven = DrivenFrames::new(&mut self.core, block, range.clone());
        let mut output = block.output(0);
        let out = &mut output.channel(0)[range];
        // One loop for each wave, so that each runs in vectors.
        let has_edges = !matches!(self.wave, Wave::Sine);
        match (self.wave, has_edges && is_crowded(driven.max_step())) {
            (Wave::Sine, _) => driven.write(out, |phase, _| sine(phase)),
            (Wave::Saw, false) => {
                driven.write(out, |phase, step| saw::<false>(phase, Edges::new(step)))
            }
            (Wave::Saw, true) => {
                driven.write(out, |phase, step| saw::<true>(phase, Edges::new(step)))
            }
            (Wave::Square, false) => {
                driven.write(out, |phase, step| square::<false>(phase, Edges::new(step)))
            }
            (Wave::Square, true) => {
                driven.write(out, |phase, step| square::<true>(phase, Edges::new(step)))
            }
            (Wave::Triangle, false) => driven.write(out, |phase, step| {
                triangle::<false>(phase, Edges::new(step))
            }),
            (Wave::Triangle, true) => {
                driven.write(out, |phase, step| triangle::<true>(phase, Edges::new(step)))
            }
        }
        driven.apply_level(&mut self.core, out);
    }
}

impl Processor for DrivenOsc {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.core.setup(setup.rate);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let silent = is_stopped(block);
        for step in block_steps(block) {
            match step {
                BlockStep::Event(event) => self.core.handle_event(&event),
                BlockStep::Process(range) if silent => self.core.volume.skip(range.len()),
                BlockStep::Process(range) => self.wide.run(DrivenWork {
                    osc: self,
                    block,
                    range,
                }),
                BlockStep::Cleanup => {}
            }
        }
        if silent {
            block.silence_outputs();
        }
        match silent && self.core.volume.is_settled() {
            true => ProcessStatus::Sleep,
            false => ProcessStatus::Continue,
        }
    }

    fn reset(&mut self) {
        self.core.reset();
    }

    fn tail(&self) -> processor::Tail {
        processor::Tail::Infinite
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        self.core.save(bytes);
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        self.core.load(bytes)
    }
}
