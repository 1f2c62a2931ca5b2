//! Samples of sinks on their way to the device, after a cycle.

use super::idle_plan::IdlePlan;
use crate::bound::SinkChannel;
use processor::Content;
use rt::vectors::{WideWork, widest};

impl IdlePlan<'_> {
    /// Adds what the sinks of output `channel` hold to `into`.
    pub(crate) fn add_output(&self, channel: u16, into: &mut [f32]) {
        for sink in self.plan().sinks_of(channel.into()) {
            self.add(sink, into, false);
        }
    }

    /// Writes the sums of what the sinks of each output hold, from 0 on: the same bits as if they were added to silence.
    pub(crate) fn write_outputs(&self, outputs: &mut [&mut [f32]]) {
        for (channel, output) in outputs.iter_mut().enumerate() {
            let [first, others @ ..] = self.plan().sinks_of(channel) else {
                output.fill(0.0);
                continue;
            };
            self.write_output(first, output);
            for sink in others {
                self.add(sink, output, false);
            }
        }
    }

    fn write_output(&self, sink: &SinkChannel, into: &mut [f32]) {
        // SAFETY: no step that writes it runs.
        if unsafe { sink.from.is(Content::Silent) } {
            return into.fill(0.0);
        }
        self.add(sink, into, true);
    }

    /// Adds what a sink holds to `to`, or to silence.
    fn add(&self, sink: &SinkChannel, to: &mut [f32], to_silence: bool) {
        let frames = self.plan().block.count();
        // SAFETY: a sink's slot holds the block until the next cycle, and no step that writes it runs.
        let from = unsafe { std::slice::from_raw_parts(sink.from.data, frames) };
        if to_silence && to.len() > frames {
            to[frames..].fill(0.0);
        }
        widest(Add {
            from,
            to,
            to_silence,
        });
    }
}

/// Samples that are added to others, or to silence.
struct Add<'a> {
    from: &'a [f32],
    to: &'a mut [f32],
    to_silence: bool,
}

impl<'a> Add<'a> {
    #[inline(always)]
    fn pairs(self) -> impl Iterator<Item = (&'a mut f32, &'a f32)> {
        self.to.iter_mut().zip(self.from)
    }
}

impl WideWork for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.to_silence {
            // -0.0 becomes +0.0.
            true => self.pairs().for_each(|(y, x)| *y = 0.0 + x),
            false => self.pairs().for_each(|(y, x)| *y += x),
        }
    }
}
