//! A patch as a session of one node, so that every command that plays a session plays a patch.

use super::check::missing_classes;
use super::{PatchCheck, PatchOptions};
use crate::failure::Failure;
use std::path::Path;

/// A patch as a session, and what is missing in it.
pub(crate) struct PatchSession {
    /// The session as text.
    pub(crate) text: String,
    pub(crate) check: PatchCheck,
    /// Classes that are not built yet, each once.
    pub(crate) missing: Vec<String>,
}

/// Rate of a patch: that of Pd.
const RATE_HZ: u32 = 44_100;
/// Channels of a patch with less.
const MIN_OUTPUTS: u16 = 2;

impl PatchSession {
    /// Reads a patch.
    pub(crate) fn read(path: &Path, options: &PatchOptions) -> Result<Self, Failure> {
        let check = PatchCheck::read(path, &options.path)?;
        let (inputs, outputs) = check.loaded().channels();
        let outputs = outputs.max(MIN_OUTPUTS);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let node = node_name(&stem);
        let PatchPorts { edges, nodes } =
            PatchPorts::of(&node, (inputs, outputs), check.loaded().uses_midi());
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let folders: Vec<_> = options.path.iter().map(|folder| absolute(folder)).collect();
        let sent: Vec<_> = options
            .send
            .iter()
            .map(|message| message.to_string())
            .collect();
        let text = format!(
            "edges = [{}]\n[settings]\nrate = {RATE_HZ}\nblock = 64\n[nodes]\n{nodes}[nodes.{node}]\nkind = \"pd\"\n\
             file = {}\nversion = {}\npath = {}\nsend = {}\nin = {inputs}\nout = {outputs}\n",
            edges.join(", "),
            quoted(&name),
            quoted(&check.fingerprint()),
            quoted(&folders.join(":")),
            quoted(&sent.join(";")),
        );
        let missing = missing_classes(&check);
        Ok(Self {
            text,
            check,
            missing,
        })
    }
}

/// Ways in and out of a patch: nodes, and the edges between them and its own.
#[derive(Default)]
struct PatchPorts {
    edges: Vec<String>,
    /// A line each.
    nodes: String,
}

impl PatchPorts {
    fn of(node: &str, (inputs, outputs): (u16, u16), (receives, sends): (bool, bool)) -> Self {
        let mut ports = Self::default();
        for channel in 1..=inputs {
            let edge = format!("adc{channel} -> {node}.in{channel}");
            let kind = format!("kind = \"input\", channel = {channel}");
            ports.add(&edge, &format!("adc{channel}"), &kind);
        }
        for channel in 1..=outputs {
            let edge = format!("{node}.out{channel} -> dac{channel}");
            let kind = format!("kind = \"sink\", channel = {channel}");
            ports.add(&edge, &format!("dac{channel}"), &kind);
        }
        if receives {
            let edge = format!("midi_in -> {node}.midi");
            ports.add(&edge, "midi_in", "kind = \"midi_input\"");
        }
        if sends {
            let edge = format!("{node}.midi -> midi_out");
            ports.add(&edge, "midi_out", "kind = \"midi_output\"");
        }
        ports
    }

    /// Adds a node with these keys, and its edge.
    fn add(&mut self, edge: &str, name: &str, keys: &str) {
        self.edges.push(format!("\"{edge}\""));
        self.nodes += &format!("{name} = {{ {keys} }}\n");
    }
}

/// Name of the node of a patch: a plain word, and none of the names of other nodes.
fn node_name(stem: &str) -> String {
    let plain: String = stem.chars().map(plain).collect();
    let is_word = plain.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let is_taken = ["adc", "dac", "midi_in", "midi_out"].map(|name| plain.starts_with(name));
    match is_word && !is_taken.contains(&true) {
        true => plain,
        false => format!("patch_{plain}"),
    }
}

/// A character that a name of a node may have.
fn plain(letter: char) -> char {
    match letter.is_ascii_alphanumeric() || letter == '_' {
        true => letter,
        false => '_',
    }
}

fn absolute(folder: &Path) -> String {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    absolute.to_string_lossy().into_owned()
}
