//! Every known kind by name: readers check texts against it.

use crate::layout::MAX_CHANNELS;
use crate::number::number_text;
use crate::{Gains, Kind, Layout, Node, Port, PortCount, PortSignal, PortSpec, Signal};
use std::collections::BTreeMap;
use units::Channels;

/// Every known kind, by name.
#[derive(Clone, Debug, Default)]
pub struct Catalogue(BTreeMap<&'static str, Kind>);

/// Maximum number of ports on one side of a node. A larger number in a file is an error and never an allocation.
const MAX_PORTS: u32 = 4096;

impl Catalogue {
    /// Adds `kind` and returns the kind that had its name.
    pub fn insert(&mut self, kind: Kind) -> Option<Kind> {
        self.0.insert(kind.name, kind)
    }

    /// The kind called `name`.
    pub fn get(&self, name: &str) -> Option<&Kind> {
        self.0.get(name)
    }

    /// Every kind, by name.
    pub fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.0.values()
    }

    /// The known name most similar to `name`, if one is similar at all.
    pub fn nearest(&self, name: &str) -> Option<&'static str> {
        nearest(name, self.0.keys().copied())
    }

    /// Gives `node` the ports of `kind`, before inputs that drive its parameters. The parameters `in`, `out` and `channels` of
    /// the node are the numbers of inputs and outputs of a series, and of channels. Without `channels` the ports are as wide as [`Node::channels`]
    /// says.
    ///
    /// # Errors
    ///
    /// A sentence for each number out of range, with its key. The node then has the nearest number in the range.
    pub fn assign_ports(kind: &Kind, node: &mut Node) -> Vec<(&'static str, String)> {
        let mut mistakes = Vec::new();
        set_stated_widths(kind, node, &mut mistakes);
        let present = u32::from(node.channels.0);
        let channels = count(
            node,
            "channels",
            present,
            (1, u32::from(MAX_CHANNELS.0)),
            &mut mistakes,
        );
        let channels = Channels(channels as u16);
        node.channels = channels;
        let outputs = match &kind.layout_outputs {
            Some(outputs) if node.param("layout").is_some() => outputs,
            _ => &kind.outputs,
        };
        let driving = node.inputs.split_off(node.kind_inputs().len());
        let width = (channels, channels);
        node.inputs = ports(&kind.inputs, node, "in", width, &mut mistakes);
        node.inputs.extend(driving);
        let width = (channels, node.output_channels.unwrap_or(channels));
        node.outputs = ports(outputs, node, "out", width, &mut mistakes);
        mistakes
    }
}

/// Gives `node` the widths that its layout or its matrix of gains states.
fn set_stated_widths(kind: &Kind, node: &mut Node, mistakes: &mut Vec<(&'static str, String)>) {
    if let Some(name) = node.text("layout").filter(|_| kind.has_layout()) {
        match Layout::named(name) {
            Some(layout) => node.channels = layout.channels(),
            None => {
                let names: Vec<&str> = Layout::names().collect();
                let message = format!(
                    "there is no layout `{name}`; there are {}",
                    names.join(", ")
                );
                mistakes.push(("layout", message));
            }
        }
    }
    if let Some((key, text)) = kind.matrix.and_then(|key| Some((key, node.text(key)?))) {
        match Gains::parse(text) {
            Ok(gains) => {
                node.output_channels = Some(Channels(gains.outputs as u16));
                node.channels = Channels(gains.inputs as u16);
            }
            Err(error) => mistakes.push((key, format!("`{key}` is no matrix: {error}"))),
        }
    }
    let is_stated = kind.states_width(node);
    let channels = node.number("channels");
    if let Some(channels) = channels.filter(|n| is_stated && *n != f64::from(node.channels.0)) {
        let (stated, channels) = (node.channels.0, number_text(channels));
        let message = format!("`channels` is {channels}, and the node states {stated} otherwise");
        mistakes.push(("channels", message));
    }
}

fn count(
    node: &Node,
    key: &'static str,
    default: u32,
    (least, most): (u32, u32),
    mistakes: &mut Vec<(&'static str, String)>,
) -> u32 {
    let Some(asked) = node.number(key) else {
        return default;
    };
    let right = (asked as u32).clamp(least, most);
    if f64::from(right) != asked {
        let kind = node.effective_kind();
        mistakes.push((
            key,
            format!(
                "`{key}` is {}; `{kind}` takes a whole number from {least} to {most}",
                number_text(asked)
            ),
        ));
    }
    right
}

fn ports(
    specs: &[PortSpec],
    node: &Node,
    key: &'static str,
    (channels, output): (Channels, Channels),
    mistakes: &mut Vec<(&'static str, String)>,
) -> Vec<Port> {
    let layout = node.text("layout").and_then(Layout::named);
    let mut all = Vec::with_capacity(specs.len());
    for spec in specs {
        let signal = match spec.signal {
            PortSignal::Fixed(channels) => Signal::Audio(channels),
            PortSignal::AsNode => Signal::Audio(channels),
            PortSignal::AsOutput => Signal::Audio(output),
            PortSignal::Control => Signal::Control,
            PortSignal::Event => Signal::Event,
        };
        match spec.count {
            PortCount::Channels => all.extend((0..channels.count()).map(|channel| Port {
                name: match layout {
                    Some(layout) => layout.port_name(channel),
                    None => numbered(spec.name, channel as u32 + 1),
                },
                signal,
                modulation: None,
            })),
            PortCount::One => all.push(Port::new(spec.name, signal)),
            PortCount::Many {
                default,
                min: least,
                max: most,
            } => {
                let range = (u32::from(least), u32::from(most).min(MAX_PORTS));
                let n = count(node, key, u32::from(default), range, mistakes);
                all.extend((1..=n).map(|i| Port::new(numbered(spec.name, i), signal)));
            }
        }
    }
    all
}

/// `stem` followed by `number`. One digit, the usual case, takes no formatting: this is half the time of reading a large
/// file.
fn numbered(stem: &str, number: u32) -> String {
    match char::from_digit(number, 10) {
        Some(digit) => {
            let mut name = String::with_capacity(stem.len() + 1);
            name.push_str(stem);
            name.push(digit);
            name
        }
        None => format!("{stem}{number}"),
    }
}

/// The candidate with the smallest edit distance to `word`, if that is at most a third of its length (at least 1).
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(1);
    candidates
        .map(|c| (distance(word, c), c))
        .filter(|(d, _)| *d <= limit)
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// Edit distance (Damerau 1964): letters to insert, remove, replace, or exchange with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ParamValue;

    fn mixer() -> Kind {
        Kind {
            inputs: vec![PortSpec {
                name: "in",
                signal: PortSignal::AsNode,
                count: PortCount::Many {
                    default: 2,
                    min: 1,
                    max: 1000,
                },
            }],
            outputs: vec![PortSpec::audio("out")],
            ..Kind::new("mix", "adds")
        }
    }

    #[test]
    fn ports_follow_the_node() {
        let mut node = Node::new("m", "mix");
        assert!(Catalogue::assign_ports(&mixer(), &mut node).is_empty());
        assert_eq!(node.inputs.len(), 2);
        node.set("in", ParamValue::Number(3.0));
        node.set("channels", ParamValue::Number(2.0));
        assert!(Catalogue::assign_ports(&mixer(), &mut node).is_empty());
        assert_eq!(node.inputs[2].name, "in3");
        assert_eq!(node.outputs[0].signal, Signal::Audio(Channels(2)));
    }

    #[test]
    fn an_absurd_number_of_ports_is_reported_and_not_allocated() {
        let mut node = Node::new("m", "mix");
        node.set("in", ParamValue::Number(1e9));
        let mistakes = Catalogue::assign_ports(&mixer(), &mut node);
        assert_eq!(mistakes.len(), 1);
        assert_eq!(node.inputs.len(), 1000);
    }

    #[test]
    fn the_nearest_name_is_found_and_a_far_one_is_not() {
        let names = ["osc", "mix", "noise"];
        assert_eq!(nearest("nosie", names.into_iter()), Some("noise"));
        assert_eq!(nearest("mxi", names.into_iter()), Some("mix"));
        assert_eq!(nearest("oscc", names.into_iter()), Some("osc"));
        assert_eq!(nearest("zita_reverb", names.into_iter()), None);
    }
}
