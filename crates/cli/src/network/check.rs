//! Result of the static check of a network: rates and queue sizes.

use crate::session::load::LoadedSession;
use divisi::graph::{Diagnostic, SourceSpan};
use divisi::network::checks::{Least, MOST_QUEUES, least_sizes};
use divisi::network::session::NetworkSpec;
use serde_json::{Value, json};

/// Result of the static check of a session's network.
pub(crate) struct NetworkCheck {
    patch: NetworkSpec,
    least: Least,
}

impl NetworkCheck {
    /// Checks the session's network, if it has one. Appends diagnostics to `found`.
    pub(crate) fn check(loaded: &LoadedSession, found: &mut Vec<Diagnostic>) -> Option<Self> {
        let reading = loaded.network()?;
        found.extend(reading.diagnostics);
        let patch = reading.network?;
        match least_sizes(patch.topology()) {
            Ok(least) => Some(Self { patch, least }),
            Err(wrong) => {
                // Cannot fail: the reader found sizes for this network already.
                found.push(Diagnostic::error(
                    SourceSpan::new(1, 1, 1),
                    wrong.to_string(),
                ));
                None
            }
        }
    }

    fn least(&self) -> Option<&[usize]> {
        match &self.least {
            Least::Found(sizes) => Some(sizes),
            _ => None,
        }
    }

    /// Why the least sizes are not told.
    fn no_least(&self) -> Option<String> {
        match &self.least {
            Least::Found(_) => None,
            Least::TooMany { queues } => Some(format!(
                "the least sizes are not looked for: {queues} queues hang together by several ways, more than {MOST_QUEUES}"
            )),
            _ => Some("the least sizes were not found with a reasonable effort".into()),
        }
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
            "sufficient sizes in frames, {} samples in all",
            queue_samples(&self.patch, &verdict.sizes)
        );
        if let Some(least) = self.least() {
            text += &format!(" (at least {})", queue_samples(&self.patch, least));
        }
        text += ":\n";
        for (queue, size) in shape.queue_ids().zip(&verdict.sizes) {
            let least = self.least().map(|least| least[queue.0]);
            let least = least.map_or(String::new(), |least| format!(" ({least})"));
            text += &format!("  {size}{least}  {}\n", shape.queue_name(queue));
        }
        if let Some(why) = self.no_least() {
            text += &format!("{why}\n");
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
                "least": self.least().map(|least| least[queue.0]),
            })
        });
        json!({
            "frames_out": u64::try_from(over).ok(),
            "frames_in": u64::try_from(under).ok(),
            "nodes": nodes.collect::<Vec<_>>(),
            "queues": queues.collect::<Vec<_>>(),
            "no_least": self.no_least(),
        })
    }
}

fn queue_samples(patch: &NetworkSpec, sizes: &[usize]) -> usize {
    let shape = patch.topology();
    let each = shape.queue_ids().zip(sizes);
    each.map(|(queue, size)| size * shape.input(queue).channels)
        .sum()
}
