//! By how much the nodes of a session lag: their processors say it once they are set up.

use crate::session::load::LoadedSession;
use divisi::graph::{Diagnostic, Graph, NodeId};
use divisi::plan::DelayedEdge;
use divisi::prelude::{Frames, SampleRate};
use divisi::processor::{BackgroundTask, Gauge, Mode, Setup, SetupServices};
use divisi::rt::deferred::JobRunner;
use std::collections::HashMap;

/// Lends nothing: what is set up here never plays.
struct DiscardServices;

impl SetupServices for DiscardServices {
    fn defer(&mut self, _work: JobRunner) {}

    fn spawn_background(&mut self, _task: Box<dyn BackgroundTask>) {}

    fn gauge(&mut self, _name: &str) -> Gauge {
        Gauge::default()
    }
}

/// What each node lags in such blocks; and what makers find, whose nodes are taken not to lag.
pub(crate) fn latencies(
    loaded: &LoadedSession,
    (block, rate): (Frames, SampleRate),
) -> (HashMap<NodeId, Frames>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let mut all = HashMap::new();
    for (id, node) in loaded.session.graph.nodes() {
        match loaded.registry.make(node, &loaded.folder) {
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
                found.push(Diagnostic::error(node.span, message));
            }
        }
    }
    all.retain(|_, late| *late > Frames(0));
    (all, found)
}

/// An edge that is delayed, for people: from which port to which.
pub(crate) fn edge_names(graph: &Graph, it: &DelayedEdge) -> (String, String) {
    let name = |id| graph.node(id).map_or("?", |node| node.name.as_str());
    let end =
        |end: divisi::graph::PortRef| format!("{}.{}", name(end.node), u32::from(end.port) + 1);
    (end(it.from), end(it.to))
}
