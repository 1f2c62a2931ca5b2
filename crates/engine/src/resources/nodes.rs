//! [`NodeResources`]: tasks, gauges and timing of each node's processor, and what follows for the whole graph.

use super::EngineResources;
use super::ending::{self, NodeEnd};
use super::fade::{self, Fade};
use super::tap::{self, PortTap};
use crate::{EngineError, EngineOptions};
use graph::{Graph, Node, NodeId};
use processor::{FileLog, FileProblem, Gauge, MakeError, Mode, Processor, Tail};
use rtrb::Producer;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;
use units::{Frames, SampleRate};
use workers::BackgroundTaskId;

/// Tasks, gauges and timing of a node's processor.
pub(super) struct NodeResources {
    /// The node of which its processor was made. Copies are made of the same node, whatever parameter was set since:
    /// they take the original's state, and a smoothed parameter glides from there.
    pub(super) made_of: Node,
    tasks: Vec<BackgroundTaskId>,
    gauges: Vec<(String, Gauge)>,
    notes: Vec<String>,
    file_log: FileLog,
    settings: Vec<(&'static str, String)>,
    pub(super) latency: Frames,
    tail: Tail,
    length: Option<u64>,
}

impl NodeResources {
    /// Returns true if the processor has no latency, no task and no gauge.
    pub(super) fn is_plain(&self) -> bool {
        self.latency == Frames(0) && self.tasks.is_empty() && self.gauges.is_empty()
    }
}

/// Largest number of problems that are kept of removed nodes: a client may add and remove recorders for days.
const MAX_REMOVED_PROBLEMS: usize = 256;

/// Length of an edit's fade in frames; 0 for none.
pub(crate) fn fade_frames(options: &EngineOptions) -> u32 {
    let frames = u128::from(options.edit_fade.0) * u128::from(options.rate.hz());
    u32::try_from(frames.div_ceil(1_000_000_000)).unwrap_or(u32::MAX)
}

impl EngineResources {
    /// Makes the processors that `graph` needs and that are not there.
    pub(crate) fn add_nodes(&mut self, graph: &Graph) -> Result<(), EngineError> {
        plan::check_node_count(graph).map_err(|errors| EngineError::Graph(errors.0))?;
        let mut errors = Vec::new();
        self.tempo.clone_from(graph.tempo());
        for (id, node) in graph.nodes() {
            if self.nodes.contains_key(&id) {
                continue;
            }
            match self.make(node) {
                Ok(processor) => {
                    self.add_node(id, node.clone(), processor);
                    if let Err(error) = self.load_state(id, node) {
                        errors.push(node.mistake(format!("`{}`: {error}", node.name)));
                    }
                }
                Err(error) => {
                    let message = format!("`{}`: {error}", node.name);
                    errors.push(node.mistake(message));
                }
            }
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(EngineError::Graph(errors))
        }
    }

    /// Makes the processor of `node`.
    pub(super) fn make(&self, node: &Node) -> Result<Box<dyn Processor>, MakeError> {
        if node.kind == fade::KIND {
            let frames = fade_frames(&self.options);
            return Ok(Box::new(Fade::new(node, frames)));
        }
        if node.kind == tap::KIND {
            let mut rings = self
                .tap_rings
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let ring = rings.remove(&node.name);
            let ring = ring.ok_or_else(|| MakeError {
                message: "a tap has no copy".into(),
                key: None,
            })?;
            return Ok(Box::new(PortTap(ring)));
        }
        let folder = &self.options.folder;
        self.registry.make_with_tempo(node, folder, &self.tempo)
    }

    pub(super) fn add_node(&mut self, id: NodeId, made_of: Node, processor: Box<dyn Processor>) {
        let setup = self.setup();
        let (requested, timing) = self.processors.insert(id, processor, setup);
        let tasks = requested.background.into_iter();
        let resources = NodeResources {
            made_of,
            tasks: tasks.map(|task| self.background.add(task)).collect(),
            gauges: requested.gauges,
            notes: requested.notes,
            file_log: requested.file_log,
            settings: requested.settings,
            latency: timing.latency,
            tail: timing.tail,
            length: timing.length,
        };
        self.nodes.insert(id, resources);
    }

    /// Rate, block and mode, with which every processor is set up.
    pub(super) fn setup(&self) -> (SampleRate, Frames, Mode) {
        let options = &self.options;
        (options.rate, options.block, options.mode)
    }

    /// Removes the processors of nodes that are not in `graph` any more. A plan that still names one keeps it.
    pub(crate) fn remove_unused(&mut self, graph: &Graph) {
        self.expansions.retain(|placed| placed.is_used(graph));
        let is_inner = |id| self.expansions.iter().any(|placed| placed.has(id));
        let unused: Vec<NodeId> = (self.nodes.keys().copied())
            .filter(|id| graph.node(*id).is_none() && !self.taps.contains(id) && !is_inner(*id))
            .collect();
        for id in unused {
            self.keep_state(id);
            self.processors.remove(id);
            self.remove_ahead(id);
            self.not_duplicable.remove(&id);
            if let Some(there) = self.nodes.remove(&id) {
                self.end_node(there);
            }
        }
    }

    /// Ends the tasks of a node that is removed, which complete its files. The report of the engine still has what went wrong
    /// with them.
    fn end_node(&mut self, there: NodeResources) {
        for task in there.tasks {
            self.background.remove(task);
        }
        let room = MAX_REMOVED_PROBLEMS.saturating_sub(self.removed_problems.len());
        let problems = there.file_log.problems().into_iter().take(room);
        let named = problems.map(|problem| (there.made_of.name.clone(), problem));
        self.removed_problems.extend(named);
    }

    /// Prepares the processor of a node that taps.
    pub(crate) fn add_tap(&mut self, id: NodeId, name: String, ring: Producer<f32>) {
        self.taps.insert(id);
        let mut rings = self
            .tap_rings
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        rings.insert(name, ring);
    }

    /// Lets the processor of a node that taps go, once no plan has it.
    pub(crate) fn remove_tap(&mut self, id: NodeId, name: &str) {
        self.taps.remove(&id);
        let mut rings = self
            .tap_rings
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // There still if no processor was made for it.
        rings.remove(name);
    }

    /// Returns true if a node of this id has a processor, in a plan or not yet let go.
    pub(crate) fn has_processor(&self, id: NodeId) -> bool {
        self.nodes.contains_key(&id)
    }

    /// Returns true if some node delays its sound.
    pub(crate) fn has_latency(&self) -> bool {
        self.nodes.values().any(|it| it.latency > Frames(0))
    }

    /// Length in frames after which everything has ended by itself: the longest path from the end of a player through the
    /// tails behind it. `None` for a graph that goes on for ever.
    pub(crate) fn length(&self, graph: &Graph) -> Option<u64> {
        let mut goes_on = false;
        let longest = ending::longest_path(graph, |id| {
            let there = self.nodes.get(&id)?;
            let is_source = graph.node(id)?.kind_inputs().is_empty();
            match (there.length, there.tail) {
                (Some(frames), _) => return Some(NodeEnd::AtLeast(frames)),
                (None, Tail::Frames(frames)) if !is_source || frames == 0 => {
                    return Some(NodeEnd::After(frames));
                }
                _ => goes_on = true,
            }
            None
        });
        (!goes_on).then_some(longest)
    }

    /// Frames in which everything fades out behind its sources, as far as it does: the longest path of finite tails.
    pub(crate) fn tail(&self, graph: &Graph) -> u64 {
        ending::longest_path(graph, |id| {
            let is_source = graph.node(id)?.kind_inputs().is_empty();
            match self.nodes.get(&id)?.tail {
                Tail::Frames(frames) if !is_source => Some(NodeEnd::After(frames)),
                _ => None,
            }
        })
    }

    /// The nodes of `graph` that have resources, with their names.
    fn named<'a>(
        &'a self,
        graph: &'a Graph,
    ) -> impl Iterator<Item = (&'a str, &'a NodeResources)> + 'a {
        let name = |(id, there): (&NodeId, &'a NodeResources)| {
            Some((graph.node(*id)?.name.as_str(), there))
        };
        self.nodes.iter().filter_map(name)
    }

    /// All gauges, by node and name.
    pub(crate) fn gauge_handles(&self, graph: &Graph) -> Vec<(String, Gauge)> {
        let mut all = Vec::new();
        for (node, there) in self.named(graph) {
            let gauges = there.gauges.iter();
            all.extend(gauges.map(|(name, gauge)| (format!("{node}.{name}"), gauge.clone())));
        }
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    /// Values of all gauges, by node and name.
    pub(crate) fn gauges(&self, graph: &Graph) -> BTreeMap<String, f32> {
        let mut values = BTreeMap::new();
        for (node, there) in self.named(graph) {
            for (name, gauge) in &there.gauges {
                values.insert(format!("{node}.{name}"), gauge.get());
            }
        }
        values
    }

    /// Problems with the processors' files, with the name of each node; those of removed nodes too.
    pub(crate) fn file_problems(&self, graph: &Graph) -> Vec<(String, FileProblem)> {
        let mut all = self.removed_problems.clone();
        for (node, there) in self.named(graph) {
            let problems = there.file_log.problems().into_iter();
            all.extend(problems.map(|problem| (node.to_owned(), problem)));
        }
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        all
    }

    /// Ends all background tasks: files are complete.
    pub(crate) fn end_background(&mut self) {
        for there in self.nodes.values_mut() {
            for task in there.tasks.drain(..) {
                self.background.remove(task);
            }
        }
    }

    /// The different values of the setting `name`, over all nodes of `graph`.
    pub(crate) fn settings<'a>(&'a self, graph: &'a Graph, name: &str) -> BTreeSet<&'a str> {
        let all = self.named(graph).flat_map(|(_, there)| &there.settings);
        let of_name = all.filter(|(key, _)| *key == name);
        of_name.map(|(_, value)| value.as_str()).collect()
    }

    /// Names of the nodes of `graph` whose processors panicked or did not return.
    pub(crate) fn faulty<'a>(
        &'a self,
        graph: &'a Graph,
    ) -> impl Iterator<Item = (NodeId, &'a Node)> {
        let is_faulty = |id| self.processors.is_quarantined(id);
        graph.nodes().filter(move |(id, _)| is_faulty(*id))
    }

    /// Notes of the processors on their set-up, each behind its node's name.
    pub(crate) fn notes(&self, graph: &Graph) -> Vec<String> {
        let mut all = Vec::new();
        for (node, there) in self.named(graph) {
            let line = |note| format!("`{node}`: {note}");
            all.extend(there.notes.iter().map(line));
        }
        all.sort_unstable();
        all
    }
}
