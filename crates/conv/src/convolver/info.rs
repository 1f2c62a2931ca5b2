//! Sizes, latency, memory and counters of a [`Convolver`].

use super::Convolver;
use crate::level::FdlInfo;
use crate::level::remote::LineWork;
use crate::partition::Partition;
use crate::response::exchange::{Exchange, Preparer};
use fft::Kernels;
use processor::{NodeWork, WorkChannel};
use rt::deferred::JobRunner;
use std::collections::HashSet;

impl Convolver {
    /// Vector instructions that it uses.
    ///
    /// Real-time: hot.
    pub fn kernels(&self) -> Kernels {
        self.kernels
    }

    /// Frames in a block.
    ///
    /// Real-time: hot.
    pub fn block(&self) -> usize {
        self.block
    }

    /// Number of input channels.
    pub fn inputs(&self) -> usize {
        self.layout.inputs
    }

    /// Number of output channels.
    pub fn outputs(&self) -> usize {
        self.layout.outputs
    }

    /// Partition of the impulse responses.
    pub fn partition(&self) -> &Partition {
        &self.layout.options.partition
    }

    /// Delay of the outputs behind the inputs, in frames.
    ///
    /// Real-time: hot.
    pub fn latency(&self) -> usize {
        self.partition().latency_frames()
    }

    /// Number of results that were late, and were replaced by silence.
    ///
    /// Real-time: hot.
    pub fn late_count(&self) -> u64 {
        self.late_count
    }

    /// Description of each delay line, in the order of their numbers.
    pub fn fdls(&self) -> impl ExactSizeIterator<Item = FdlInfo> + '_ {
        self.streams.iter().map(|stream| stream.info)
    }

    /// Estimated cost of each piece of delay line `fdl`, in vector instructions; empty while its job is out.
    ///
    /// Real-time: setup.
    pub fn piece_costs(&mut self, fdl: usize) -> Vec<u64> {
        let stream = self.streams.get_mut(fdl);
        let fdl = stream.and_then(|stream| stream.job.get());
        fdl.map(|fdl| fdl.piece_costs()).unwrap_or_default()
    }

    /// Runner with which another thread does the jobs of delay line `fdl`.
    ///
    /// Real-time: setup.
    pub fn job_runner(&self, fdl: usize) -> JobRunner {
        self.streams[fdl].job.job_runner()
    }

    /// Words of a request and of a reply of delay line `fdl`, where another process does its work. `None` while its job is out.
    ///
    /// Real-time: setup.
    pub(crate) fn line_words(&mut self, fdl: usize) -> Option<(usize, usize)> {
        let stream = self.streams.get_mut(fdl)?;
        Some(stream.job.get()?.form().words())
    }

    /// Has another process do the work of delay line `fdl` from now on. With `waits` its results are waited for. `first` is the number of
    /// the response that the convolver was made with.
    ///
    /// Real-time: setup.
    pub(crate) fn send_away(
        &mut self,
        fdl: usize,
        channel: Box<dyn WorkChannel>,
        (waits, first): (bool, usize),
    ) {
        let stream = self.streams.get_mut(fdl);
        if let Some(line) = stream.and_then(|stream| stream.job.get()) {
            line.send_away(channel, waits, first);
        }
    }

    /// Returns true if another process does the work of delay line `fdl`.
    ///
    /// Real-time: setup.
    pub(crate) fn is_away(&mut self, fdl: usize) -> bool {
        let stream = self.streams.get_mut(fdl);
        let line = stream.and_then(|stream| stream.job.get());
        line.is_some_and(|line| line.is_away())
    }

    /// The work of these delay lines, for another process. `spare` has the filters of another response.
    ///
    /// Real-time: setup.
    pub(crate) fn into_line_works(
        self,
        lines: &[usize],
        mut spare: Option<Box<Exchange>>,
    ) -> Vec<Box<dyn NodeWork>> {
        let streams = self.streams.into_iter().enumerate();
        let streams = streams.filter(|(at, _)| lines.contains(at));
        let works = streams.filter_map(|(at, mut stream)| {
            let form = stream.job.get()?.form();
            let other = spare.as_mut().and_then(|it| it.sets.get_mut(at)?.take());
            Some(Box::new(LineWork::new(form, stream.job, other)) as Box<dyn NodeWork>)
        });
        works.collect()
    }

    /// Preparer of other impulse responses for this convolver.
    ///
    /// Real-time: setup.
    pub fn preparer(&self) -> Preparer {
        Preparer(self.layout.clone())
    }

    /// Number of the next input frame.
    ///
    /// Real-time: hot.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Number of frames that must be processed after the last sound until the output and all memory are silent.
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

    /// Returns true if an exchange is under way.
    ///
    /// Real-time: hot.
    pub fn is_exchanging(&self) -> bool {
        self.exchanges.is_busy()
    }

    /// Bytes of the spectra of impulse responses and inputs, and of everything.
    ///
    /// Real-time: setup; while no job is out.
    pub fn bytes(&mut self) -> (usize, usize) {
        let (mut spectra, mut all) = (0, self.head.bytes());
        all += 4 * (self.input.len() + self.output.len() + self.frames.len());
        let mut seen = HashSet::new();
        for stream in &mut self.streams {
            all += stream.bytes();
            let Some(fdl) = stream.job.get() else {
                continue;
            };
            let (history, others) = fdl.bytes();
            let filters = fdl.filters().memory();
            let filters = filters.filter(|(address, _)| seen.insert(*address));
            spectra += history + filters.map(|(_, bytes)| bytes).sum::<usize>();
            all += others;
        }
        (spectra, all + spectra)
    }
}
