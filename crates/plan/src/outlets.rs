//! Which output channel of the program each sink is.

use graph::{Diagnostic, Node};
use units::Channels;

/// The most output channels a program may have; a larger number in a file is an error and never an allocation.
const MOST_OUTLETS: u32 = 1024;

/// Counts the sinks as they come.
#[derive(Default)]
pub(crate) struct Outlets {
    used: u32,
}

impl Outlets {
    /// The first channel of the next sink, from 0: what its `channel` says (from 1), or one after the sink before it
    /// in the file.
    pub(crate) fn next(&mut self, node: &Node, channels: Channels) -> Result<u16, Diagnostic> {
        let by_order = self.used;
        self.used = self.used.saturating_add(u32::from(channels.0));
        let first = if node.param("channel").is_some() {
            said(node)?
        } else {
            by_order
        };
        if first.saturating_add(u32::from(channels.0)) > MOST_OUTLETS {
            return Err(Diagnostic::error(
                node.span,
                format!("`{}` is beyond output channel {MOST_OUTLETS}", node.name),
            )
            .help("give it a `channel`; several sinks of one channel add up"));
        }
        Ok(first as u16)
    }
}

fn said(node: &Node) -> Result<u32, Diagnostic> {
    let channel = node.number("channel").unwrap_or(f64::NAN);
    if channel >= 1.0 && channel <= f64::from(MOST_OUTLETS) && channel.fract() == 0.0 {
        return Ok(channel as u32 - 1);
    }
    Err(Diagnostic::error(
        node.span,
        format!(
            "`channel` of `{}` is not a whole number from 1 to {MOST_OUTLETS}",
            node.name
        ),
    ))
}
