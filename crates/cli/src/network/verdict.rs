//! What the static check says of a network: the rates, and how large its queues must be.

use crate::load::Loaded;
use divisi::graph::Diagnostic;
use divisi::network::session::Patch;
use serde_json::{Value, json};

/// See the module.
pub(crate) struct Verdict(Patch);

impl Verdict {
    /// The verdict on the session's network, if there is one and it can run; what is wrong with it is put to the rest.
    pub(crate) fn of(loaded: &Loaded, found: &mut Vec<Diagnostic>) -> Option<Self> {
        let reading = loaded.network()?;
        found.extend(reading.diagnostics);
        reading.patch.map(Self)
    }

    /// For people.
    pub(crate) fn in_words(&self) -> String {
        let (shape, verdict) = (self.0.shape(), self.0.verdict());
        let (over, under) = self.0.ratio();
        let mut text = format!(
            "network: {} nodes, {} queues; the rates fit: {over} {} out for {under} in\n",
            shape.nodes.len(),
            shape.queues.len(),
            if over == 1 { "frame" } else { "frames" },
        );
        text += &format!(
            "sufficient sizes in frames, {} samples in all",
            samples(&self.0, &verdict.sizes)
        );
        if let Some(least) = &verdict.least {
            text += &format!(" (at least {})", samples(&self.0, least));
        }
        text += ":\n";
        for (queue, size) in shape.queue_ids().zip(&verdict.sizes) {
            let least = verdict.least.as_ref().map(|least| least[queue.0]);
            let least = least.map_or(String::new(), |least| format!(" ({least})"));
            text += &format!("  {size}{least}  {}\n", shape.queue_name(queue));
        }
        text
    }

    /// For machines.
    pub(crate) fn in_json(&self) -> Value {
        let (shape, verdict) = (self.0.shape(), self.0.verdict());
        let (over, under) = self.0.ratio();
        let nodes = shape.nodes.iter().zip(&verdict.repetitions);
        let nodes = nodes.map(|(node, times)| json!({ "name": node.name, "repetitions": times }));
        let queues = shape.queue_ids().zip(&verdict.sizes).map(|(queue, size)| {
            json!({
                "name": shape.queue_name(queue),
                "channels": shape.input(queue).channels,
                "sufficient": size,
                "least": verdict.least.as_ref().map(|least| least[queue.0]),
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

fn samples(patch: &Patch, sizes: &[usize]) -> usize {
    let shape = patch.shape();
    let each = shape.queue_ids().zip(sizes);
    each.map(|(queue, size)| size * shape.input(queue).channels)
        .sum()
}
