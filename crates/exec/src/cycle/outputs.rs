//! What the sinks hold after a cycle, on its way to the device.

use super::idle_plan::IdlePlan;
use crate::bound::SinkChannel;
use processor::Content;

/// Samples that are written together.
const RUN: usize = 32;

impl IdlePlan<'_> {
    /// Adds what the sinks of output `channel` hold to `into`.
    pub(crate) fn add_output(&self, channel: u16, into: &mut [f32]) {
        for sink in self.plan().sinks.iter().filter(|s| s.output == channel) {
            each_run(into, self.samples(sink), |y, x| *y += x);
        }
    }

    /// Writes the sums of what the sinks of each output hold, from 0 on: the same bits as if they were added to silence.
    pub(crate) fn write_outputs(&self, outputs: &mut [&mut [f32]]) {
        // By output.
        let mut sinks = self.plan().sinks.iter().peekable();
        for (channel, output) in (0..).zip(outputs) {
            let mut of_channel = || sinks.next_if(|sink| sink.output == channel);
            match of_channel() {
                Some(first) => self.write_output(first, output),
                None => output.fill(0.0),
            }
            while let Some(sink) = of_channel() {
                each_run(output, self.samples(sink), |y, x| *y += x);
            }
        }
    }

    fn write_output(&self, sink: &SinkChannel, into: &mut [f32]) {
        // SAFETY: no step that writes it runs.
        if unsafe { sink.from.is(Content::Silent) } {
            return into.fill(0.0);
        }
        let from = self.samples(sink);
        // As 0 + x: -0.0 becomes +0.0.
        each_run(into, from, |y, x| *y = 0.0 + x);
        if into.len() > from.len() {
            into[from.len()..].fill(0.0);
        }
    }

    /// The block that a sink holds.
    fn samples(&self, sink: &SinkChannel) -> &[f32] {
        // SAFETY: a sink's slot holds the block until the next cycle, and no step that writes it runs.
        unsafe { std::slice::from_raw_parts(sink.from.data, self.plan().block.count()) }
    }
}

/// Calls `write` for each sample and its source, in runs of a constant length: those are unrolled, and known to lie apart.
fn each_run(to: &mut [f32], from: &[f32], write: impl Fn(&mut f32, f32) + Copy) {
    let ((runs, rest), (from_runs, from_rest)) = (to.as_chunks_mut(), from.as_chunks());
    for (to, from) in runs.iter_mut().zip(from_runs) {
        write_run(to, from, write);
    }
    for (to, x) in rest.iter_mut().zip(from_rest) {
        write(to, *x);
    }
}

#[inline(never)]
fn write_run(to: &mut [f32; RUN], from: &[f32; RUN], write: impl Fn(&mut f32, f32)) {
    for (to, x) in to.iter_mut().zip(from) {
        write(to, *x);
    }
}
