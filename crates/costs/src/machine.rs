//! Costs that were measured on one machine.

use crate::{PatchCosts, Tuning, node_shape};
use graph::{Catalogue, Graph, Node, NodeId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use units::{Frames, Nanos};

/// Measurements of one machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineCosts {
    /// Costs of a node by kind; of each kind those of several shapes.
    pub kinds: BTreeMap<String, Vec<BlockCost>>,
    /// Costs of a patch's nodes, by the names of the patch and of the node.
    pub patches: BTreeMap<String, PatchCosts>,
    /// Times between cores; `None` until they have been measured.
    #[serde(rename = "facts")]
    pub core_timings: Option<CoreTimings>,
    /// The fastest schedulers, by a key of the graph that the engine makes.
    pub choices: BTreeMap<String, ChosenSchedule>,
    /// Costs of partitioned convolution; `None` until they have been measured.
    pub convolution: Option<Tuning>,
}

/// The fastest scheduler of a graph, found by playing it with several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChosenSchedule {
    /// Time of the choice, in seconds since 1970.
    pub at_s: u64,
    /// Name of the scheduler.
    pub scheduler: String,
    /// Number of workers, the callback's thread included.
    pub workers: usize,
    /// Latency of a pipeline in blocks; `None` for other schedulers.
    #[serde(rename = "ahead")]
    pub latency_blocks: Option<u32>,
    /// 95th percentile of the cycle times.
    pub upper_ns: Option<u64>,
    /// Mean of the cycle times up to that.
    pub mean_ns: Option<u64>,
    /// The 95th percentile of the sequential executor.
    pub sequential_upper_ns: Option<u64>,
    /// The mean of the sequential executor.
    pub sequential_mean_ns: Option<u64>,
    /// State of the machine when the choice was made; `None` in files of earlier versions.
    pub probe: Option<MachineProbe>,
    /// True if other programs took much of the machine during the trials.
    pub was_disturbed: bool,
}

/// A quick look at the state of a machine. Each reading compares with an earlier one of the same kind only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineProbe {
    /// Time of a cache line to another core and back, half of it, in ns; `None` where there is only one core.
    pub crossing_ns: Option<f64>,
    /// Cost for a thread of waking another, in ns; `None` where there is only one core.
    pub wake_ns: Option<f64>,
    /// Time of a fixed computation on one core, in ns.
    pub computation_ns: f64,
}

/// Times of communication between cores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CoreTimings {
    /// Time of the measurement, in seconds since 1970.
    pub at_s: u64,
    /// Each pair of cores that was measured, in one direction for both.
    pub links: Vec<CoreLink>,
    /// Cost for a worker of waking one that sleeps; `None` where there is only one core.
    pub wake_ns: Option<f64>,
    /// From the wake call until the woken worker runs.
    pub woken_ns: Option<f64>,
    /// Changing an atomic count that another core changed last.
    pub claim_ns: Option<f64>,
    /// From the push of a task until another core has stolen it.
    pub steal_ns: Option<f64>,
    /// Cost of one time stamp in a trace, which is subtracted from measured node costs.
    pub mark_ns: f64,
}

/// Time of a transfer between two cores, beyond the same on one core: `base_ns + per_kib_ns * KiB`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoreLink {
    /// The system's number of the one core.
    pub from: usize,
    /// The system's number of the other core.
    pub to: usize,
    /// Until the other core sees that there is data.
    pub base_ns: f64,
    /// For each 1024 bytes.
    pub per_kib_ns: f64,
}

/// Cost of a deferred job of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkCost {
    /// Typical time of one request, with warm caches.
    pub ns: u64,
    /// Longest time of one, with cold caches.
    pub worst_ns: u64,
    /// Fewest blocks from a request until its result is due.
    pub blocks: u32,
}

/// Cost of one block of a node, and what it was measured on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BlockCost {
    /// Frames in the block.
    pub block: u32,
    /// [`node_shape`] of the node: the cost holds for nodes of this shape only.
    pub shape: u64,
    /// Typical time, with warm caches.
    pub ns: u64,
    /// Longest time, with cold caches, never below `ns`; `None` where it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_ns: Option<u64>,
    /// Deferred work of the node, which the times above leave out; `None` where they contain it: a file of an earlier version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<Vec<WorkCost>>,
    /// Time of the measurement, in seconds since 1970.
    pub at_s: u64,
    /// State of the machine at that time: what a cache line took to another core, in ns. A virtual machine's cores may
    /// be threads of one core now and two cores later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crossing_ns: Option<u32>,
}

/// Known costs of a graph's nodes, with the age of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownCosts(pub BTreeMap<NodeId, BlockCost>);

impl KnownCosts {
    /// Typical costs, for planning.
    pub fn typical(&self) -> plan::MeasuredCosts {
        let all = self.0.iter().map(|(id, cost)| (*id, Nanos(cost.ns)));
        plan::MeasuredCosts {
            by_node: all.collect(),
        }
    }
}

/// Upper bound on choices in the file.
const MAX_CHOICES: usize = 1000;
/// Upper bound on the costs of one kind, or of one node: different shapes and blocks, the newest.
const MAX_SHAPES: usize = 64;

impl MachineCosts {
    /// Costs of the nodes of `graph` for blocks of `block` frames: those measured in the patch called `patch`, else those
    /// of a node of the same kind and shape. Omits nodes of which neither is known.
    pub fn of_graph(
        &self,
        patch: &str,
        graph: &Graph,
        catalogue: &Catalogue,
        block: Frames,
    ) -> KnownCosts {
        let patch = self.patches.get(patch).map(PatchCosts::nodes);
        let known = |node: &Node| {
            let wanted = (block, node_shape(node, catalogue));
            let own = patch.as_ref().and_then(|nodes| nodes.get(&node.name));
            let of_kind = self.kinds.get(node.effective_kind());
            own.and_then(|all| find(all, wanted))
                .or_else(|| of_kind.and_then(|all| find(all, wanted)))
        };
        let nodes = graph.nodes();
        KnownCosts(
            nodes
                .filter_map(|(id, node)| Some((id, known(node)?)))
                .collect(),
        )
    }

    /// Time of a cache line to another core, as last measured, in ns.
    pub fn crossing_ns(&self) -> Option<u32> {
        let first = self.core_timings.as_ref()?.links.first()?;
        Some(first.base_ns.round() as u32)
    }

    /// Stores costs of the nodes of `graph`, measured in the patch called `patch`.
    pub fn keep_patch(
        &mut self,
        patch: &str,
        graph: &Graph,
        costs: impl IntoIterator<Item = (NodeId, BlockCost)>,
    ) {
        let kept = self.patches.get(patch).map(PatchCosts::nodes);
        let mut nodes = kept.unwrap_or_default();
        for (id, cost) in costs {
            if let Some(node) = graph.node(id) {
                replace(nodes.entry(node.name.clone()).or_default(), cost);
            }
        }
        self.patches.insert(patch.into(), PatchCosts::new(&nodes));
    }

    /// Stores the choice for a graph; of more than 1000 removes the oldest.
    pub fn keep_choice(&mut self, key: String, chosen: ChosenSchedule) {
        self.choices.insert(key, chosen);
        while self.choices.len() > MAX_CHOICES {
            let oldest = self.choices.iter().min_by_key(|(_, chosen)| chosen.at_s);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
                return;
            };
            self.choices.remove(&oldest);
        }
    }

    /// Stores the cost of a node of a kind.
    pub fn keep_kind(&mut self, kind: &str, cost: BlockCost) {
        replace(self.kinds.entry(kind.into()).or_default(), cost);
    }
}

/// Stores a cost in place of an older one of the same block size and shape; of more than 64 removes the oldest.
fn replace(all: &mut Vec<BlockCost>, new: BlockCost) {
    all.retain(|one| (one.block, one.shape) != (new.block, new.shape));
    if all.len() >= MAX_SHAPES {
        let oldest = (0..all.len()).min_by_key(|index| all[*index].at_s);
        all.remove(oldest.unwrap_or_default());
    }
    all.push(new);
}

/// The cost at exactly this block size and shape: costs are proportional to neither, so none is scaled.
fn find(all: &[BlockCost], (block, shape): (Frames, u64)) -> Option<BlockCost> {
    let is_it = |one: &&BlockCost| one.block == block.0 && one.shape == shape;
    all.iter().find(is_it).cloned()
}

/// Key of this machine with these kernels: the processor's name, its number of cores, the kernels.
///
/// Real-time: setup.
pub fn machine_key(kernels: &str) -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or(std::env::consts::ARCH, |rest| {
        rest.trim_start_matches([' ', '\t', ':'])
    });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{model}, {cores} cores, {kernels}")
}
