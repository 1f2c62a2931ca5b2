//! Result of the static check of a network: rates and queue sizes.

use crate::session::load::LoadedSession;
use divisi::graph::Diagnostic;
use divisi::network::session::NetworkSpec;
use serde_json::{Value, json};

/// Result of the static check of a session's network.
pub(crate) struct NetworkCheck {
    patch: NetworkSpec,
}

impl NetworkCheck {
    /// Checks the session's network, if it has one. Appends diagnostics to `found`.
    pub(crate) fn check(loaded: &LoadedSession, found: &mut Vec<Diagnostic>) -> Option<Self> {
        let reading = loaded.network()?;
        found.extend(reading.diagnostics);
        let patch = reading.network?;
        Some(Self { patch })
    }

    /// Text for people.
    pub(crate) fn to_text(&self) -> String {
        let (shape, verdict) = (self.patch.topology(), self.patch.check_result());
        let (over, under) = self.patch.ratio();
        let mut text = format!(
            "network: {} nodes, {} queues; the rates fit: {over} {} out for {under} in\n",
            shape.nodes.len(),
            shape.queues.len(),
            if over == 1 { "frame" } else { "frames" },
        );
        text += &format!(
            "sufficient queue sizes in frames, {} samples in all; smaller ones may do:\n",
            queue_samples(&self.patch, &verdict.sizes)
        );
        for (queue, size) in shape.queue_ids().zip(&verdict.sizes) {
            text += &format!("  {size}  {}\n", shape.queue_name(queue));
        }
        text
    }

    /// JSON for programs.
    pub(crate) fn to_json(&self) -> Value {
        let (shape, verdict) = (self.patch.topology(), self.patch.check_result());
        let (over, under) = self.patch.ratio();
        let nodes = shape.nodes.iter().zip(&verdict.repetitions);
        let nodes = nodes.map(|(node, times)| json!({ "name": node.name, "repetitions": times }));
        let queues = shape.queue_ids().zip(&verdict.sizes).map(|(queue, size)| {
            json!({
                "name": shape.queue_name(queue),
                "channels": shape.input(queue).channels,
                "sufficient": size,
            })
        });
        json!({
            "frames_out": u64::try_from(over).ok(),
            "frames_in": u64::try_from(under).ok(),
            "nodes": nodes.collect::<Vec<_>>(),
            "queues": queues.collect::<Vec<_>>(),
        })
    }
}

fn queue_samples(patch: &NetworkSpec, sizes: &[usize]) -> usize {
    let shape = patch.topology();
    let each = shape.queue_ids().zip(sizes);
    each.map(|(queue, size)| size * shape.input(queue).channels)
        .sum()
}
