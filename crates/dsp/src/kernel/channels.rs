//! [`Channels`]: what a step of a [`KernelNode`](super::KernelNode) reads and writes, copied from and to the block.

use super::{FRAMES, Samples};
use crate::sample::copy_samples;
use graph::{Port, Signal};
use processor::Block;
use std::ops::Range;

/// The samples of a step on all channels of some ports.
pub(super) struct Channels {
    /// First channel and number of channels of each port.
    pub(super) ports: Box<[(usize, usize)]>,
    pub(super) samples: Box<[Samples]>,
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
        let ports = ports.iter().map(port).collect();
        Self {
            ports,
            samples: vec![[0.0; FRAMES]; count].into(),
        }
    }

    pub(super) fn max_width(&self) -> usize {
        self.ports.iter().map(|port| port.1).max().unwrap_or(0)
    }

    /// Copies the inputs of some frames of a block, no more than a step has.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn read(&mut self, block: &Block<'_>, range: &Range<usize>) {
        for (port, (first, width)) in self.ports.iter().enumerate() {
            let input = block.input(port);
            for c in 0..*width {
                let to = &mut self.samples[first + c][..range.len()];
                copy_samples(&input.channel(c)[range.clone()], to);
            }
        }
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
