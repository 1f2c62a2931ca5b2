//! Latencies of a session's nodes, and what they tell the user, read from processors that are set up but never played.

use crate::session::load::LoadedSession;
use divisi::graph::{Diagnostic, Graph, Node, NodeId};
use divisi::plan::DelayedEdge;
use divisi::prelude::{Frames, SampleRate};
use divisi::processor::{BackgroundTask, Gauge, Mode, Processor, Setup, SetupServices};
use divisi::rt::deferred::JobRunner;
use std::collections::HashMap;

/// Services that keep what the processor tells the user, and do nothing else: processors made here never play.
#[derive(Default)]
struct NoteServices {
    notes: Vec<String>,
}

impl SetupServices for NoteServices {
    fn defer(&mut self, _work: JobRunner) {}

    fn spawn_background(&mut self, _task: Box<dyn BackgroundTask>) {}

    fn gauge(&mut self, _name: &str) -> Gauge {
        Gauge::default()
    }

    fn notify_user(&mut self, message: String) {
        self.notes.push(message);
    }
}

/// Latency of each node at this block and rate, and diagnostics of constructors and notes of nodes. A node that cannot be
/// made has no latency.
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
                let notes = set_up(&mut *processor, (block, rate));
                all.insert(id, processor.latency());
                if !is_said_elsewhere(node) {
                    found.extend(notes.iter().map(|note| note_at(node, note)));
                }
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

/// Sets up a processor that will never play. Returns what it tells the user.
pub(crate) fn set_up(
    processor: &mut dyn Processor,
    (block, rate): (Frames, SampleRate),
) -> Vec<String> {
    let mut services = NoteServices::default();
    processor.setup(&mut Setup {
        rate,
        block,
        mode: Mode::DryRun,
        services: &mut services,
    });
    services.notes
}

/// A note of a node at the place where it was declared.
fn note_at(node: &Node, note: &str) -> Diagnostic {
    Diagnostic::note(node.span, format!("`{}`: {note}", node.name))
}

/// Returns true if what the node says rests on live ports, which only playing has, or is a warning of the session's reader.
fn is_said_elsewhere(node: &Node) -> bool {
    matches!(
        node.effective_kind(),
        "midi_input" | "midi_output" | "player"
    )
}

/// Names of both ports of a delayed edge.
pub(crate) fn edge_names(graph: &Graph, edge: &DelayedEdge) -> (String, String) {
    let name = |id| graph.node(id).map_or("?", |node| node.name.as_str());
    let end =
        |end: divisi::graph::PortRef| format!("{}.{}", name(end.node), u32::from(end.port) + 1);
    (end(edge.from), end(edge.to))
}
