//! What a [`Convolver`] tells of itself.

use super::Convolver;
use crate::exchange::Preparer;
use crate::hands::FdlInfo;
use crate::partition::Partition;
use rt::deferred::JobRunner;
use std::collections::HashSet;

impl Convolver {
    /// How many frames are played at once.
    ///
    /// Real-time: hot.
    pub fn block(&self) -> usize {
        self.block
    }

    /// How many channels it hears.
    pub fn inputs(&self) -> usize {
        self.recipe.inputs
    }

    /// How many channels it plays.
    pub fn outputs(&self) -> usize {
        self.recipe.outputs
    }

    /// How impulse responses are cut.
    pub fn partition(&self) -> &Partition {
        &self.recipe.options.partition
    }

    /// How many frames the outputs lag behind the inputs.
    ///
    /// Real-time: hot.
    pub fn latency(&self) -> usize {
        self.partition().latency_frames()
    }

    /// How many results were not there when they were due, and silence in their place.
    ///
    /// Real-time: hot.
    pub fn late_count(&self) -> u64 {
        self.late
    }

    /// What lines of work there are, in the order of their numbers.
    pub fn fdls(&self) -> impl ExactSizeIterator<Item = FdlInfo> + '_ {
        self.lines.iter().map(|line| line.facts)
    }

    /// Roughly how many vector instructions each piece of line `index` has; none while its work is out.
    ///
    /// Real-time: setup.
    pub fn piece_costs(&mut self, index: usize) -> Vec<u64> {
        let work = self.lines.get_mut(index).and_then(|l| l.work.get());
        work.map(|work| work.piece_costs()).unwrap_or_default()
    }

    /// How many spectra a larger level has made by itself, though a smaller one was to hand them on: they came too late.
    ///
    /// Real-time: setup; while no work is out.
    pub fn made_alone(&mut self) -> u64 {
        let lines = self.lines.iter_mut();
        lines
            .filter_map(|line| Some(line.work.get()?.alone()))
            .sum()
    }

    /// What workers need for the work of line `index`.
    ///
    /// Real-time: setup.
    pub fn runner(&self, index: usize) -> JobRunner {
        self.lines[index].work.job_runner()
    }

    /// Who prepares other impulse responses for it.
    ///
    /// Real-time: setup.
    pub fn preparer(&self) -> Preparer {
        Preparer(self.recipe.clone())
    }

    /// The frame that is heard next.
    ///
    /// Real-time: hot.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// For how many frames after the last sound it must be played before it is silent and holds nothing but silence.
    ///
    /// Real-time: hot.
    pub fn tail(&self) -> u64 {
        let partition = self.partition();
        let longest = partition
            .levels()
            .last()
            .map_or(0, |l| 3 * l.size() + l.slack());
        (partition.max_ir_frames() + longest + partition.latency_frames()) as u64
    }

    /// Whether an exchange is under way.
    ///
    /// Real-time: hot.
    pub fn is_exchanging(&self) -> bool {
        self.exchanges.is_busy()
    }

    /// Bytes of the spectra of impulse responses and inputs, and of everything.
    ///
    /// Real-time: setup; while no work is out.
    pub fn bytes(&mut self) -> (usize, usize) {
        let (mut spectra, mut all) = (0, self.head.bytes());
        all += 4 * (self.staged.len() + self.output.len() + self.frames.len());
        let mut seen = HashSet::new();
        for line in &mut self.lines {
            all += line.bytes();
            let Some(work) = line.work.get() else {
                continue;
            };
            let (past, rest) = work.bytes();
            let irs = work.irs().memory().filter(|(at, _)| seen.insert(*at));
            spectra += past + irs.map(|(_, bytes)| bytes).sum::<usize>();
            all += rest;
        }
        (spectra, all + spectra)
    }
}
