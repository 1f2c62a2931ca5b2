//! [`process_linked`]: a linked kernel by itself, for tests.

use super::{FrameValues, LaneIo, Memory, Samples, UnitKernel};
use rt::vectors::{Wide, WideWork};

/// The frames of a step in one lane.
struct LaneWork<'a, 'io, K: UnitKernel> {
    kernel: &'a K,
    values: FrameValues<'a, K::Values>,
    io: &'a mut LaneIo<'io>,
    memory: &'a mut Memory,
}

impl<K: UnitKernel> WideWork for LaneWork<'_, '_, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.kernel.process(self.values, self.io, self.memory);
    }
}

/// Processes frames of a linked kernel, as a node with one input and one output does.
pub(crate) fn process_linked<K: UnitKernel>(
    kernel: &K,
    values: FrameValues<'_, K::Values>,
    (inputs, outputs): (&[Samples], &mut [Samples]),
    memory: &mut Memory,
) {
    let port = [(0, inputs.len())];
    let mut io = LaneIo {
        inputs,
        outputs,
        ports: [&port, &port],
        lane: None,
    };
    Wide::best().run(LaneWork {
        kernel,
        values,
        io: &mut io,
        memory,
    });
}
