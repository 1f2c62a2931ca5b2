//! Result of the static check of a network: rates and queue sizes.

use crate::session::load::LoadedSession;
use divisi::graph::Diagnostic;
use divisi::network::session::NetworkSpec;
use serde_json::{Value, json};

/// Result of the static check of a session's network.
pub(crate) struct NetworkCheck {
    spec: NetworkSpec,
}

impl NetworkCheck {
    /// Checks the session's network, if it has one. Appends diagnostics to `found`.
    pub(crate) fn check(loaded: &LoadedSession, found: &mut Vec<Diagnostic>) -> Option<Self> {
        let reading = loaded.network()?;
        found.extend(reading.diagnostics);
        let spec = reading.network?;
        Some(Self { spec })
    }

    /// Text for people.
    pub(crate) fn to_text(&self) -> String {
        let (topology, result) = (self.spec.topology(), self.spec.check_result());
        let (over, under) = self.spec.ratio();
        let mut text = format!(
            "network: {} nodes, {} queues; the rates fit: {over} {} out for {under} in\n",
            topology.nodes.len(),
            topology.queues.len(),
            if over == 1 { "frame" } else { "frames" },
        );
        text += &format!(
            "sufficient queue sizes in frames, {} samples in all; smaller ones may be enough:\n",
            queue_samples(&self.spec, &result.sizes)
        );
        for (queue, size) in topology.queue_ids().zip(&result.sizes) {
            text += &format!("  {size}  {}\n", topology.queue_name(queue));
        }
        text
    }

    /// JSON for programs.
    pub(crate) fn to_json(&self) -> Value {
        let (topology, result) = (self.spec.topology(), self.spec.check_result());
        let (over, under) = self.spec.ratio();
        let nodes = topology.nodes.iter().zip(&result.repetitions);
        let nodes = nodes.map(|(node, times)| json!({ "name": node.name, "repetitions": times }));
        let queues = topology
            .queue_ids()
            .zip(&result.sizes)
            .map(|(queue, size)| {
                json!({
                    "name": topology.queue_name(queue),
                    "channels": topology.input(queue).channels,
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

fn queue_samples(spec: &NetworkSpec, sizes: &[usize]) -> usize {
    let topology = spec.topology();
    let each = topology.queue_ids().zip(sizes);
    each.map(|(queue, size)| size * topology.input(queue).channels)
        .sum()
}
