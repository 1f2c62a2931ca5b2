//! Latencies of a session's nodes, read from processors that are set up but never played.

use crate::session::load::LoadedSession;
use divisi::graph::{Diagnostic, Graph, NodeId};
use divisi::plan::DelayedEdge;
use divisi::prelude::{Frames, SampleRate};
use divisi::processor::{BackgroundTask, Gauge, Mode, Setup, SetupServices};
use divisi::rt::deferred::JobRunner;
use std::collections::HashMap;

/// Services that do nothing: processors made here never play.
struct DiscardServices;

impl SetupServices for DiscardServices {
    fn defer(&mut self, _work: JobRunner) {}

    fn spawn_background(&mut self, _task: Box<dyn BackgroundTask>) {}

    fn gauge(&mut self, _name: &str) -> Gauge {
        Gauge::default()
    }
}

/// Latency of each node at this block and rate, and diagnostics of constructors. A node that cannot be made has none.
pub(crate) fn latencies(
    loaded: &LoadedSession,
    (block, rate): (Frames, SampleRate),
) -> (HashMap<NodeId, Frames>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let mut all = HashMap::new();
    let graph = &loaded.session.graph;
    for (id, node) in graph.nodes() {
        let made = loaded
            .registry
            .make_with_tempo(node, &loaded.folder, graph.tempo());
        match made {
            Ok(mut processor) => {
                processor.setup(&mut Setup {
                    rate,
                    block,
                    mode: Mode::DryRun,
                    services: &mut DiscardServices,
                });
                all.insert(id, processor.latency());
            }
            Err(error) => {
                let message = format!("`{}`: {error}", node.name);
                found.push(node.mistake(message));
            }
        }
    }
    all.retain(|_, latency| *latency > Frames(0));
    (all, found)
}

/// Names of both ports of a delayed edge.
pub(crate) fn edge_names(graph: &Graph, edge: &DelayedEdge) -> (String, String) {
    let name = |id| graph.node(id).map_or("?", |node| node.name.as_str());
    let end =
        |end: divisi::graph::PortRef| format!("{}.{}", name(end.node), u32::from(end.port) + 1);
    (end(edge.from), end(edge.to))
}
