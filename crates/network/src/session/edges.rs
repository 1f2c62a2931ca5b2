//! The edges of a network as a session has them, and what is said of single queues.

use super::Reader;
use super::params::{Params, words};
use crate::network::Network;
use crate::shape::{NodeId, QueueId, QueueSpec, Topology};
use graph::{SourceSpan, nearest};
use toml::de::DeTable;

/// The most frames that a queue may have, or begin with.
pub(super) const MOST_FRAMES: usize = 1 << 24;
/// The most edges that are read.
pub(super) const MOST_EDGES: usize = 4096;

/// One end as it is written: a node, and perhaps a port.
#[derive(Clone, Copy)]
struct End<'a> {
    node: NodeId,
    port: &'a str,
}

/// What is asked of a queue besides its ends.
#[derive(Clone, Copy, Default)]
struct Wish {
    initial: usize,
    size: Option<usize>,
}

/// A queue's ends.
type Ends = ((NodeId, usize), (NodeId, usize));

impl<'t> Reader<'t> {
    /// Adds the queues of `table`; where each stands.
    pub(super) fn edges(
        &mut self,
        table: &DeTable<'t>,
        network: &mut Network,
        at: SourceSpan,
    ) -> Vec<SourceSpan> {
        let wishes = self.wishes(table, network.topology());
        let list = table
            .get("edges")
            .and_then(|edges| edges.get_ref().as_array());
        let Some(list) = list.filter(|list| list.len() <= MOST_EDGES) else {
            let told = self.error(at, "a network has a list of edges");
            told.help = "edges = [\"in -> low -> out\"]".into();
            return Vec::new();
        };
        let mut places = Vec::new();
        for value in list {
            let Some((text, place)) = words(self, value, "an edge") else {
                continue;
            };
            for (from, to) in self.chain(text, place, network.topology()) {
                let wish = wishes.iter().find(|(ends, _)| *ends == (from, to));
                let wish = wish.map_or(Wish::default(), |(_, wish)| *wish);
                let queue = QueueSpec {
                    from,
                    to,
                    initial: wish.initial,
                    size: wish.size,
                };
                match network.connect_with(queue) {
                    Ok(QueueId(_)) => places.push(place),
                    Err(wrong) => {
                        let told = self.error(place, wrong.to_string());
                        told.help =
                            "one edge begins and ends at a port: `split` and `add` make more"
                                .into();
                    }
                }
            }
        }
        places
    }

    /// What `[network.queues]` says.
    fn wishes(&mut self, table: &DeTable<'t>, shape: &Topology) -> Vec<(Ends, Wish)> {
        let queues = table
            .get("queues")
            .and_then(|queues| queues.get_ref().as_table());
        let mut wishes = Vec::new();
        for (key, value) in queues.into_iter().flatten() {
            let place = self.source.place(key.span());
            let Some(table) = value.get_ref().as_table() else {
                self.error(place, "a queue is a table: { size = 4096 }");
                continue;
            };
            let mut params = Params::new(table);
            let size = params.count(self, "size", 0, 1..=MOST_FRAMES);
            let initial = params.count(self, "initial", 0, 0..=MOST_FRAMES);
            params.end(self, "a queue");
            let size = (size > 0).then_some(size);
            let chain = self.chain(key.get_ref(), place, shape);
            wishes.extend(chain.into_iter().map(|ends| (ends, Wish { initial, size })));
        }
        wishes
    }

    /// The queues of one chain.
    fn chain(&mut self, text: &str, place: SourceSpan, shape: &Topology) -> Vec<Ends> {
        let ends: Vec<_> = text
            .split("->")
            .map(|end| self.end(end.trim(), place, shape))
            .collect();
        if ends.len() < 2 {
            let told = self.error(place, format!("`{text}` leads nowhere"));
            told.help = "an edge is two nodes with `->` between them".into();
        }
        let mut queues = Vec::new();
        for pair in ends.windows(2) {
            if let [Some(from), Some(to)] = pair {
                let output = self.port(*from, true, ends.len() > 2, place, shape);
                let input = self.port(*to, false, ends.len() > 2, place, shape);
                if let (Some(output), Some(input)) = (output, input) {
                    queues.push(((from.node, output), (to.node, input)));
                }
            }
        }
        queues
    }

    fn end<'a>(&mut self, text: &'a str, place: SourceSpan, shape: &Topology) -> Option<End<'a>> {
        let known = |name: &str| shape.nodes.iter().position(|node| node.name == name);
        // A node's name may have a dot itself.
        let whole = known(text).map(|node| (node, ""));
        let split = || {
            text.rsplit_once('.')
                .and_then(|(name, port)| Some((known(name)?, port)))
        };
        match whole.or_else(split) {
            Some((node, port)) => Some(End {
                node: NodeId(node),
                port,
            }),
            None => {
                let name = text.split('.').next().unwrap_or(text);
                let meant = nearest(name, shape.nodes.iter().map(|node| node.name.as_str()));
                let told = self.error(place, format!("there is no node `{name}`"));
                told.help = meant.map_or(String::new(), |meant| format!("did you mean `{meant}`?"));
                None
            }
        }
    }

    /// The port that an end means. In the middle of a chain a name may be that of the other side.
    fn port(
        &mut self,
        end: End<'_>,
        is_output: bool,
        in_chain: bool,
        place: SourceSpan,
        shape: &Topology,
    ) -> Option<usize> {
        let node = &shape.nodes[end.node.0];
        let ins: Vec<&str> = node
            .ports
            .inputs
            .iter()
            .map(|port| port.name.as_str())
            .collect();
        let outs: Vec<&str> = node
            .ports
            .outputs
            .iter()
            .map(|port| port.name.as_str())
            .collect();
        let (these, others) = if is_output { (outs, ins) } else { (ins, outs) };
        let number = end
            .port
            .parse::<usize>()
            .ok()
            .and_then(|n| n.checked_sub(1));
        let found = match end.port {
            "" => Some(0),
            port => number.or_else(|| these.iter().position(|name| *name == port)),
        };
        let found = found.or_else(|| (in_chain && others.contains(&end.port)).then_some(0));
        if let Some(found) = found.filter(|found| *found < these.len()) {
            return Some(found);
        }
        let side = if is_output { "output" } else { "input" };
        let message = match end.port {
            "" => format!("`{}` has no {side}", node.name),
            port => format!("`{}` has no {side} `{port}`", node.name),
        };
        let told = self.error(place, message);
        if !these.is_empty() {
            told.help = format!("there are {}", these.join(", "));
        }
        None
    }
}
