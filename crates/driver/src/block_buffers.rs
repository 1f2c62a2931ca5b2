//! [`BlockBuffers`]: one engine block of every input and output channel, as every driver but JACK's ports needs it.

use std::hint::black_box;
use units::Frames;

use crate::slice_list::SliceList;

/// One block in each direction, planar (channels x frames), and the lists in which a callback is given them.
#[derive(Debug)]
pub(crate) struct BlockBuffers {
    pub(crate) inputs: Vec<Box<[f32]>>,
    pub(crate) outputs: Vec<Box<[f32]>>,
    input_list: SliceList,
    output_list: SliceList,
}

impl BlockBuffers {
    /// Buffers of `block` frames, silent.
    ///
    /// Real-time: setup.
    pub(crate) fn new(block: Frames, inputs: u16, outputs: u16) -> Self {
        let channel = || {
            // Zeroed memory need not be mapped yet. Behind `black_box` it is written, so that the first block costs no
            // page fault.
            let mut samples = black_box(vec![0.0; block.count()]);
            samples.fill(0.0);
            samples.into_boxed_slice()
        };
        Self {
            inputs: (0..inputs).map(|_| channel()).collect(),
            outputs: (0..outputs).map(|_| channel()).collect(),
            input_list: SliceList::new(inputs.into()),
            output_list: SliceList::new(outputs.into()),
        }
    }

    /// Calls `callback` with all inputs and all outputs.
    ///
    /// Real-time: hot, if `callback` is.
    pub(crate) fn call(&mut self, callback: impl FnOnce(&[&[f32]], &mut [&mut [f32]])) {
        let inputs = self.inputs.iter().map(|channel| &channel[..]);
        let outputs = self.outputs.iter_mut().map(|channel| &mut channel[..]);
        self.input_list.with(inputs, |inputs| {
            self.output_list
                .with(outputs, |outputs| callback(inputs, outputs));
        });
    }
}
