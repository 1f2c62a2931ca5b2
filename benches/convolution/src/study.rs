//! Divisi's study of fewer operations: larger transforms from smaller ones, and nested convolution, in the callback.

use crate::BLOCK;
use crate::divisi::{partition, partition_text};
use crate::engine::{Engine, Late, Workload};
use conv::Partition;
use fft::Kernels;
use std::error::Error;
use studies::fewer_operations::{Method, StudyConvolver};

/// The study's convolver and its partition.
pub struct Study {
    convolver: StudyConvolver,
    partition: Partition,
    method: Method,
}

impl Study {
    /// Without added latency.
    pub fn new(workload: &Workload<'_>, method: Method) -> Result<Self, Box<dyn Error>> {
        let partition = partition(workload)?;
        let responses: Vec<_> = (0..workload.channels).map(workload.response).collect();
        let responses: Vec<&[f32]> = responses.iter().map(Vec::as_slice).collect();
        let convolver = StudyConvolver::new(&responses, &partition, method, Kernels::best());
        Ok(Self {
            convolver: convolver.ok_or("the study has no such partition")?,
            partition,
            method,
        })
    }
}

impl Engine for Study {
    fn setting(&self) -> String {
        let cut = partition_text(&self.partition);
        let composed = self.convolver.composed_levels();
        let composed: Vec<_> = composed
            .iter()
            .map(|(size, from)| format!("{size} from {from}"))
            .collect();
        format!("{cut}; inline; {:?} {}", self.method, composed.join(" "))
    }

    fn block(&mut self, inputs: &[&[f32]], output: &mut [f32], _: bool) -> Late {
        let mut outputs: Vec<&mut [f32]> = output.chunks_exact_mut(BLOCK).collect();
        self.convolver.process(inputs, &mut outputs);
        Late::default()
    }
}
