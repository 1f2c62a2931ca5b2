//! Input and error of the compiler beside the graph.

use crate::{FusionOptions, PreviousDelays, PreviousStages};
use graph::{Diagnostic, NodeId};
use std::collections::{HashMap, HashSet};
use units::{Frames, Nanos, SampleRate};

/// Measured costs of nodes, for a block of the plan's size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredCosts {
    /// By node.
    pub by_node: HashMap<NodeId, Nanos>,
}

/// Everything that a plan depends on beside the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanOptions {
    /// Frames in a block.
    pub block: Frames,
    /// Frames per second.
    pub rate: SampleRate,
    /// Measured costs. A node without one has the cost that the graph states, else the typical cost of its kind.
    pub costs: MeasuredCosts,
    /// Number of workers of the static schedule; 0 for no schedule.
    pub workers: usize,
    /// Latencies by node; an absent node has none.
    pub latencies: HashMap<NodeId, Frames>,
    /// Delays early signals where paths of different latency meet.
    pub compensate_latency: bool,
    /// The delays of the plan that this one takes over from, if there is one.
    pub previous: Option<PreviousDelays>,
    /// Cuts the graph into `latency_blocks + 1` pipeline stages, each a cycle behind the one before. Stages run at the
    /// same time, and the output lags by `latency_blocks` blocks.
    pub latency_blocks: u32,
    /// The stages of the plan that this one takes over from, in a pipeline.
    pub previous_stages: PreviousStages,
    /// Groups cheap steps into tasks; with `None` each step is a task of its own.
    pub fusion: Option<FusionOptions>,
    /// Nodes that must not be duplicated, whatever their kind allows.
    pub not_duplicable: HashSet<NodeId>,
}

impl PlanOptions {
    /// Nothing measured, no schedule, no pipeline, no fusion.
    pub fn new(block: Frames, rate: SampleRate) -> Self {
        Self {
            block,
            rate,
            costs: MeasuredCosts::default(),
            workers: 0,
            latencies: HashMap::new(),
            compensate_latency: true,
            previous: None,
            latency_blocks: 0,
            previous_stages: PreviousStages::default(),
            fusion: None,
            not_duplicable: HashSet::new(),
        }
    }
}

/// Everything that is wrong with a graph, each mistake with its place in the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", Diagnostic::summary(.0))]
pub struct PlanError(pub Vec<Diagnostic>);
