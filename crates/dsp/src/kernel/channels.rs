//! [`Channels`]: what a step of a [`KernelNode`](super::KernelNode) reads and writes, copied from and to the block.

use super::{FRAMES, Samples};
use crate::sample::copy_samples;
use graph::{Port, Signal};
use processor::Block;
use std::ops::Range;

/// First channel and number of channels of each port.
pub(super) type Ports<'a> = &'a [(usize, usize)];

/// The samples of a step on all channels of some ports.
pub(super) struct Channels {
    /// First channel and number of channels of each port.
    pub(super) ports: Box<[(usize, usize)]>,
    pub(super) samples: Box<[Samples]>,
    /// The port of the only channel, if there is one alone.
    only: Option<usize>,
}

impl Channels {
    pub(super) fn new(ports: &[Port]) -> Self {
        let mut count = 0;
        let port = |port: &Port| {
            let width = match port.signal {
                Signal::Audio(channels) => channels.count(),
                Signal::Control | Signal::Event => 0,
            };
            count += width;
            (count - width, width)
        };
        let ports: Box<[_]> = ports.iter().map(port).collect();
        let only = ports.iter().position(|(_, width)| *width == 1);
        Self {
            only: only.filter(|_| count == 1),
            ports,
            samples: vec![[0.0; FRAMES]; count].into(),
        }
    }

    pub(super) fn max_width(&self) -> usize {
        self.ports.iter().map(|port| port.1).max().unwrap_or(0)
    }

    /// The inputs of a whole step of a block from frame `first` on: the block's own samples if there is one channel, else copies.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn read_whole<'s>(
        &'s mut self,
        block: &Block<'s>,
        first: usize,
    ) -> (Ports<'s>, &'s [Samples]) {
        if let Some(port) = self.only
            && let Some(samples) = block.input(port).channel(0)[first..].first_chunk()
        {
            return (&self.ports, std::slice::from_ref(samples));
        }
        self.read(block, &(first..first + FRAMES))
    }

    /// Places for the outputs of a whole step: the block's own if there is one channel. All others are copied by
    /// [`write_whole`](Self::write_whole).
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn places<'s>(
        &'s mut self,
        block: &'s mut Block<'_>,
        first: usize,
    ) -> (Ports<'s>, &'s mut [Samples]) {
        if let Some(port) = self.only
            && let Some(samples) = block.output(port).into_channel(0)[first..].first_chunk_mut()
        {
            return (&self.ports, std::slice::from_mut(samples));
        }
        self.copies()
    }

    /// Places for copies of outputs, for [`write`](Self::write).
    #[inline(always)]
    pub(super) fn copies(&mut self) -> (Ports<'_>, &mut [Samples]) {
        (&self.ports, &mut self.samples)
    }

    /// Copies what was not written to the block itself.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn write_whole(&self, block: &mut Block<'_>, first: usize) {
        if self.only.is_none() {
            self.write(block, &(first..first + FRAMES));
        }
    }

    /// Copies the inputs of some frames of a block, no more than a step has.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn read(
        &mut self,
        block: &Block<'_>,
        range: &Range<usize>,
    ) -> (Ports<'_>, &[Samples]) {
        for (port, (first, width)) in self.ports.iter().enumerate() {
            let input = block.input(port);
            for c in 0..*width {
                let to = &mut self.samples[first + c][..range.len()];
                copy_samples(&input.channel(c)[range.clone()], to);
            }
        }
        (&self.ports, &self.samples)
    }

    /// Copies them to the outputs.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn write(&self, block: &mut Block<'_>, range: &Range<usize>) {
        for (port, (first, width)) in self.ports.iter().enumerate() {
            let mut output = block.output(port);
            for c in 0..*width {
                let from = &self.samples[first + c][..range.len()];
                copy_samples(from, &mut output.channel(c)[range.clone()]);
            }
        }
    }
}
