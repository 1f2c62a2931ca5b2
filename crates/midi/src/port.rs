//! Live MIDI ports of a session, in and out.
//!
//! | file | holds |
//! |---|---|
//! | `input.rs` | `midi_input` |
//! | `output.rs` | `midi_output` |

mod input;
mod output;

use graph::{Graph, Node};
use processor::{MidiPortNames, Registry};

pub(crate) fn register(registry: &mut Registry) {
    registry.add(input::kind(), input::make);
    registry.add(output::kind(), output::make);
}

/// Name of the live MIDI port of `node`: its `port`, or its own name.
fn port_name(node: &Node) -> &str {
    let port = node.text("port").map(str::trim);
    port.filter(|port| !port.is_empty()).unwrap_or(&node.name)
}

/// Names of the live MIDI ports that the nodes of `graph` use, each once.
///
/// Real-time: setup.
pub fn port_names(graph: &Graph) -> MidiPortNames {
    let names_of = |kind| {
        let nodes = graph.nodes().map(|(_, node)| node);
        let nodes = nodes.filter(move |node| node.effective_kind() == kind);
        let mut names: Vec<String> = Vec::new();
        for name in nodes.map(port_name) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    };
    MidiPortNames {
        inputs: names_of(input::KIND),
        outputs: names_of(output::KIND),
    }
}
