//! A network as a session has it.
//!
//! ```toml
//! [network]
//! edges = ["in -> low -> half -> out"]
//! channels = 2          # of nodes that do not say, 1 by default
//! piece = 256           # frames a firing, likewise
//!
//! [network.nodes]
//! in = { kind = "input" }
//! low = { kind = "overlap_save", taps = 511, cutoff = 0.1, size = 4096 }
//! half = { kind = "decimate", factor = 2, taps = 63 }
//! out = { kind = "output" }
//!
//! [network.queues]
//! "low -> half" = { size = 8192, initial = 0 }
//! ```
//!
//! An edge is a chain as in a session's `edges`. A `cutoff` is a share of the rate at which the filter works; without
//! one, it is what the factor asks for.

mod edges;
mod params;
mod recipe;
mod schema;
mod source;

use crate::checks::{self, CheckError, CheckResult};
use crate::fire::{Actor, FireStatus, InputWindows, OutputWindows};
use crate::network::Network;
use crate::shape::{NodeId, Ports, Topology};
use graph::{Diagnostic, SourceSpan};
use recipe::{Nodes, Recipe};
use source::Source;
use toml::de::DeTable;

pub use schema::extend_schema;

/// The session's section that it is in.
pub const SECTION: &str = "network";
/// The most bytes that the queues of a session's network have together.
pub const MAX_MEMORY: usize = 1 << 30;
/// The most nodes that a session's network has.
pub const MAX_NODES: usize = 256;

/// What was found under `network` in a session.
#[derive(Debug)]
pub struct NetworkReading {
    /// The network, where nothing is wrong with it.
    pub network: Option<NetworkSpec>,
    /// All that is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
}

/// A network that was read: its shape, and how its nodes are made.
#[derive(Clone, Debug)]
pub struct NetworkSpec {
    topology: Topology,
    recipes: Vec<Recipe>,
    /// Where each node and each queue stands in the text.
    nodes: Vec<SourceSpan>,
    queues: Vec<SourceSpan>,
    check_result: CheckResult,
}

/// A node whose sound is elsewhere.
pub(crate) struct Border(pub(crate) Ports);

impl Actor for Border {
    fn ports(&self) -> Ports {
        self.0.clone()
    }

    fn fire(&mut self, _: &mut InputWindows<'_>, _: &mut OutputWindows<'_>) -> FireStatus {
        FireStatus::Finished(0)
    }
}

/// Reads the network of a `.toml` session; `None` where it has none. What is no TOML is for the session's reader to say.
pub fn read(text: &str) -> Option<NetworkReading> {
    let (table, _) = DeTable::parse_recoverable(text);
    let network = table.get_ref().get(SECTION)?;
    let mut reader = Reader {
        source: Source::new(text),
        found: Vec::new(),
    };
    let place = reader.source.place(network.span());
    let patch = match network.get_ref().as_table() {
        Some(table) => reader.patch(table, place),
        None => {
            reader.error(place, "`network` is a table: [network]");
            None
        }
    };
    let has_errors = reader.found.iter().any(Diagnostic::is_error);
    Some(NetworkReading {
        network: patch.filter(|_| !has_errors),
        diagnostics: reader.found,
    })
}

/// What is read from, and what is wrong with it.
struct Reader<'t> {
    source: Source<'t>,
    found: Vec<Diagnostic>,
}

impl<'t> Reader<'t> {
    fn error(&mut self, place: SourceSpan, message: impl Into<String>) -> &mut Diagnostic {
        self.found.push(Diagnostic::error(place, message));
        self.found.last_mut().expect("it was put there")
    }

    fn patch(&mut self, table: &DeTable<'t>, place: SourceSpan) -> Option<NetworkSpec> {
        let Nodes {
            mut network,
            recipes,
            places: nodes,
            ..
        } = self.nodes(table, place)?;
        let queues = self.edges(table, &mut network, place);
        if self.found.iter().any(Diagnostic::is_error) {
            return None;
        }
        let shape = network.topology().clone();
        match checks::check(&shape) {
            Ok(verdict) => Some(NetworkSpec {
                topology: shape,
                recipes,
                nodes,
                queues,
                check_result: verdict,
            }),
            Err(wrong) => {
                self.contradicts(&wrong, (&shape, &nodes, &queues));
                None
            }
        }
    }

    /// Says what the static check found.
    fn contradicts(
        &mut self,
        wrong: &CheckError,
        (shape, nodes, queues): (&Topology, &[SourceSpan], &[SourceSpan]),
    ) {
        let (place, help) = match wrong {
            CheckError::Unconnected(node, _) => (nodes[node.0], "lead an edge to it or from it"),
            CheckError::InconsistentRates { queue, .. } => (
                queues[queue.0],
                "all ways between two nodes need the same rate: change a factor or a hop on one of them",
            ),
            CheckError::Deadlock { cycle, .. } => (
                cycle
                    .first()
                    .map_or(SourceSpan::NONE, |(_, queue)| queues[queue.0]),
                "give an edge of the circle something to begin with: `initial` in [network.queues]",
            ),
            CheckError::QueueTooSmall { queue, .. } => (
                queues[queue.0],
                "a larger `size`, or none: then it is found",
            ),
            _ => (
                nodes.first().copied().unwrap_or(SourceSpan::NONE),
                "pieces and factors with larger common divisors meet earlier",
            ),
        };
        let mut told = Diagnostic::error(place, wrong.to_string()).help(help);
        if let CheckError::Deadlock { cycle, .. } = wrong {
            for (node, queue) in &cycle[1.min(cycle.len())..] {
                let why = format!("`{}` waits here", shape.nodes[node.0].name);
                told = told.related(queues[queue.0], why);
            }
        }
        self.found.push(told);
    }
}

impl NetworkSpec {
    /// The network as plain data.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// What is known of it before it runs.
    pub fn check_result(&self) -> &CheckResult {
        &self.check_result
    }

    /// The name of a node's kind.
    pub fn kind(&self, node: NodeId) -> &'static str {
        self.recipes[node.0].kind()
    }

    /// Where a node stands in the text.
    pub fn place(&self, node: NodeId) -> SourceSpan {
        self.nodes[node.0]
    }

    /// Where an edge stands in the text.
    pub fn queue_place(&self, queue: crate::QueueId) -> SourceSpan {
        self.queues[queue.0]
    }

    fn border(&self, is_it: impl Fn(&Recipe) -> bool) -> usize {
        let found = self.recipes.iter().position(is_it);
        found.expect("a network is read with its input and its output only")
    }

    /// The node that sound comes in by.
    pub fn input_node(&self) -> NodeId {
        NodeId(self.border(|recipe| matches!(recipe, Recipe::Input(_))))
    }

    /// The node that sound goes out by.
    pub fn output_node(&self) -> NodeId {
        NodeId(self.border(|recipe| matches!(recipe, Recipe::Output(_))))
    }

    /// Channels and frames a firing of the input, and of the output.
    pub fn io_formats(&self) -> [(usize, usize); 2] {
        [self.input_node(), self.output_node()].map(|node| match &self.recipes[node.0] {
            Recipe::Input(format) | Recipe::Output(format) => (format.channels, format.piece),
            _ => unreachable!("it is a border"),
        })
    }

    /// Frames that come out, in the time in which so many go in: a fraction in lowest terms.
    pub fn ratio(&self) -> (u128, u128) {
        let [into, out] = self.io_formats();
        let count = |node: NodeId, piece: usize| {
            u128::from(self.check_result.repetitions[node.0]) * piece as u128
        };
        let (over, under) = (
            count(self.output_node(), out.1),
            count(self.input_node(), into.1),
        );
        let common = units::gcd(over, under).max(1);
        (over / common, under / common)
    }

    /// The same with an input that gives one frame at a time and an output that takes one.
    ///
    /// # Errors
    ///
    /// A size that was asked for is too small then.
    pub(crate) fn frame_by_frame(&self) -> Result<Self, CheckError> {
        let mut patch = self.clone();
        let (input, output) = (self.input_node(), self.output_node());
        for (node, recipe) in patch.topology.nodes.iter_mut().zip(&mut patch.recipes) {
            if let Recipe::Input(format) | Recipe::Output(format) = recipe {
                format.piece = 1;
            }
            let ports = &mut node.ports;
            if ports.inputs.is_empty() {
                ports
                    .outputs
                    .iter_mut()
                    .for_each(|out| (out.window, out.produce) = (1, 1));
            }
            if ports.outputs.is_empty() {
                ports
                    .inputs
                    .iter_mut()
                    .for_each(|into| (into.window, into.consume) = (1, 1));
            }
        }
        debug_assert_eq!((patch.input_node(), patch.output_node()), (input, output));
        patch.check_result = CheckResult {
            repetitions: checks::repetition_vector(&patch.topology)?,
            sizes: checks::fixed_sizes(&patch.topology)?,
        };
        Ok(patch)
    }

    /// Has the queue at the output begin with so many silent frames, and hold at least `size`.
    pub(crate) fn delay(&mut self, frames: usize, size: usize) {
        let output = self.output_node();
        let ends_there = |queue: &crate::QueueSpec| queue.to.0 == output;
        let found = self.topology.queues.iter().position(ends_there);
        let queue = found.expect("a queue ends at the output");
        self.topology.queues[queue].initial += frames;
        let known = &mut self.check_result.sizes[queue];
        *known = size.max(*known + frames);
    }

    /// The network, with what plays at its input and what listens at its output; they have the ports that
    /// [`NetworkSpec::io_formats`] says.
    pub fn build(&self, input: Box<dyn Actor>, output: Box<dyn Actor>) -> Network {
        let (mut input, mut output) = (Some(input), Some(output));
        let mut network = Network::new();
        for (node, recipe) in self.topology.nodes.iter().zip(&self.recipes) {
            let fire = match recipe {
                Recipe::Input(_) => input.take(),
                Recipe::Output(_) => output.take(),
                _ => None,
            };
            let fire = fire
                .or_else(|| recipe.make().ok())
                .expect("it was made once");
            let added = network.add_boxed(node.name.clone(), fire);
            added.expect("its name was free when it was read");
        }
        for (queue, size) in self.topology.queues.iter().zip(&self.check_result.sizes) {
            let mut queue = queue.clone();
            queue.size = Some(*size);
            let added = network.connect_with(queue);
            added.expect("its ports were free when it was read");
        }
        network
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
