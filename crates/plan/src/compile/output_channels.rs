//! Part of pass 1: the program's output channels, numbered by sinks.

use graph::{Diagnostic, Node};
use units::Channels;

/// Maximum number of output channels. A larger number in a file is an error and never an allocation.
const MAX_CHANNELS: u32 = 1024;

/// Numbers the channels of sinks, in the order of the graph.
#[derive(Default)]
pub(super) struct ChannelNumbers {
    used: u32,
}

impl ChannelNumbers {
    /// First channel of the next sink, from 0: its parameter `channel` (which counts from 1), or else the one behind the
    /// sinks before it.
    pub(super) fn next(&mut self, node: &Node, channels: Channels) -> Result<u16, Diagnostic> {
        let by_order = self.used;
        self.used = self.used.saturating_add(u32::from(channels.0));
        let first = if node.param("channel").is_some() && node.number("channel") != Some(0.0) {
            stated_channel(node)?
        } else {
            by_order
        };
        if first.saturating_add(u32::from(channels.0)) > MAX_CHANNELS {
            return Err(node
                .mistake(format!(
                    "`{}` is beyond output channel {MAX_CHANNELS}",
                    node.name
                ))
                .help("give it a `channel`; several sinks of one channel are added"));
        }
        Ok(first as u16)
    }
}

fn stated_channel(node: &Node) -> Result<u32, Diagnostic> {
    let channel = node.number("channel").unwrap_or(f64::NAN);
    if channel >= 1.0 && channel <= f64::from(MAX_CHANNELS) && channel.fract() == 0.0 {
        return Ok(channel as u32 - 1);
    }
    Err(node.mistake(format!(
        "`channel` of `{}` is not a whole number from 1 to {MAX_CHANNELS}",
        node.name
    )))
}
