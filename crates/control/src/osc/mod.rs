//! Open Sound Control: packets to requests, and replies to packets.
//!
//! | address | arguments | does |
//! |---|---|---|
//! | `/node/NODE/PARAM` | number, text or flag | sets the parameter; OSC's wildcards `? * [a-z] {a,b}` stand in both names |
//! | `/node/NODE/INPUT` | number | sends it to an event input |
//! | `/node/NODE/INPUT` | MIDI message, or three integers | sends it to an event input |
//! | `/do` | texts | each is a command in words: `set tone.freq 800` |
//!
//! A message is a request. A bundle is one too, and its commands take effect together, at the time of its tag: numbers,
//! values and MIDI at their frame, other changes as soon as they can. Each is answered by `/reply` with a flag, true if
//! it was carried out, and the reply as a text in JSON; messages of subscriptions come as `/message` with a text.
//!
//! Source: M. Wright, *The Open Sound Control 1.0 Specification* (2002).

mod pattern;

use crate::command::{Command, Request};
use crate::read_words;
use graph::{Graph, Signal};
use pattern::matches;
use rosc::{OscBundle, OscMessage, OscPacket, OscTime, OscType};
use serde_json::Value;

/// Largest nesting of bundles.
const MAX_DEPTH: usize = 8;
/// Largest number of commands that one pattern stands for.
const MAX_MATCHES: usize = 10_000;
/// Seconds from 1900 to 1970.
const UNIX_OFFSET_S: f64 = 2_208_988_800.0;

/// The present, for time tags: seconds since 1970 and the frame that plays then.
#[derive(Clone, Copy, Debug)]
pub struct TimeReference {
    /// Seconds since 1970.
    pub unix_s: f64,
    /// The frame that plays now.
    pub frame: u64,
    /// Frames per second.
    pub rate_hz: f64,
}

impl TimeReference {
    /// The frame at the time of a tag; 0 for one that means "now", or has passed.
    fn frame_at(&self, tag: OscTime) -> u64 {
        if (tag.seconds, tag.fractional) == (0, 1) {
            return 0;
        }
        let fraction = f64::from(tag.fractional) / 4_294_967_296.0;
        let ahead_s = f64::from(tag.seconds) + fraction - UNIX_OFFSET_S - self.unix_s;
        match ahead_s > 0.0 {
            true => self.frame + (ahead_s * self.rate_hz) as u64,
            false => 0,
        }
    }
}

/// The request that a packet is, with names of `graph`.
///
/// # Errors
///
/// A sentence: the packet is damaged, or an address means nothing.
pub fn read_packet(bytes: &[u8], graph: &Graph, now: TimeReference) -> Result<Request, String> {
    // The decoder calls itself once for each level.
    let levels = bytes.windows(8).filter(|word| word == b"#bundle\0").count();
    if levels > MAX_DEPTH * MAX_DEPTH {
        return Err(format!(
            "a packet has at most {} bundles",
            MAX_DEPTH * MAX_DEPTH
        ));
    }
    let (_, packet) =
        rosc::decoder::decode_udp(bytes).map_err(|error| format!("no OSC packet: {error:?}"))?;
    let mut commands = Vec::new();
    read(&packet, 0, graph, now, &mut commands, 0)?;
    Ok(Request {
        id: Value::Null,
        commands,
    })
}

fn read(
    packet: &OscPacket,
    at: u64,
    graph: &Graph,
    now: TimeReference,
    commands: &mut Vec<Command>,
    depth: usize,
) -> Result<(), String> {
    match packet {
        OscPacket::Message(message) => commands.extend(read_message(message, at, graph)?),
        OscPacket::Bundle(_) if depth == MAX_DEPTH => {
            return Err(format!("bundles are nested at most {MAX_DEPTH} deep"));
        }
        OscPacket::Bundle(OscBundle { timetag, content }) => {
            let at = now.frame_at(*timetag);
            for packet in content {
                read(packet, at, graph, now, commands, depth + 1)?;
            }
        }
    }
    Ok(())
}

fn read_message(message: &OscMessage, at: u64, graph: &Graph) -> Result<Vec<Command>, String> {
    let mut parts = message.addr.split('/').skip(1);
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some("do"), None, ..) => message.args.iter().map(read_do).collect(),
        (Some("node"), Some(node), Some(name), None) => {
            let found = node_commands((node, name), &message.args, at, graph)?;
            match found.is_empty() {
                true => Err(format!(
                    "nothing is called {}: it is /node/NODE/PARAM, /node/NODE/INPUT or /do",
                    message.addr
                )),
                false => Ok(found),
            }
        }
        _ => Err(format!(
            "there is no {}: it is /node/NODE/PARAM or /do",
            message.addr
        )),
    }
}

fn read_do(argument: &OscType) -> Result<Command, String> {
    let OscType::String(words) = argument else {
        return Err("/do takes texts: \"set tone.freq 800\"".into());
    };
    read_words(words).map_err(|error| format!("`{words}`: {error}"))
}

/// The commands for every node and name that fit the patterns.
fn node_commands(
    (node, name): (&str, &str),
    args: &[OscType],
    at: u64,
    graph: &Graph,
) -> Result<Vec<Command>, String> {
    let mut commands = Vec::new();
    let has_wildcards = node.contains(['?', '*', '[', '{']);
    let one = graph.find(node).and_then(|id| graph.node(id));
    let all = graph.nodes().map(|(_, it)| it);
    let all = all.filter(|it| has_wildcards && matches(node, &it.name));
    for it in one.into_iter().chain(all.filter(|it| it.name != node)) {
        let inputs = it.inputs.iter().filter(|port| port.signal == Signal::Event);
        let is_input = |port: &&graph::Port| matches(name, &port.name);
        let mut is_port = false;
        for port in inputs.filter(is_input) {
            let to = format!("{}.{}", it.name, port.name);
            commands.push(event(to, args, at)?);
            is_port = true;
        }
        if !is_port {
            for key in param_names(it, name) {
                let target = format!("{}.{key}", it.name);
                commands.push(set(target, args, at)?);
            }
        }
        if commands.len() > MAX_MATCHES {
            return Err(format!(
                "a pattern stands for at most {MAX_MATCHES} parameters"
            ));
        }
    }
    Ok(commands)
}

/// The parameters of `node` that fit `pattern`: with wildcards those that the node states, else the one of that name.
fn param_names(node: &graph::Node, pattern: &str) -> Vec<String> {
    if !pattern.contains(['?', '*', '[', '{']) {
        return vec![pattern.to_owned()];
    }
    let keys = node.params.iter().map(|(key, _)| key);
    keys.filter(|key| matches(pattern, key)).cloned().collect()
}

fn event(to: String, args: &[OscType], at: u64) -> Result<Command, String> {
    let byte = |int: i32| u8::try_from(int).map_err(|_| format!("{int} is no byte"));
    match args {
        [OscType::Midi(midi)] => Ok(Command::Midi {
            to,
            bytes: [midi.status, midi.data1, midi.data2],
            at,
        }),
        [OscType::Int(a), OscType::Int(b), OscType::Int(c)] => Ok(Command::Midi {
            to,
            bytes: [byte(*a)?, byte(*b)?, byte(*c)?],
            at,
        }),
        [one] => match number(one) {
            Some(value) => Ok(Command::Value {
                to,
                value: value as f32,
                at,
            }),
            None => Err(format!("{to} takes a number or a MIDI message")),
        },
        _ => Err(format!("{to} takes one number or a MIDI message")),
    }
}

fn set(target: String, args: &[OscType], at: u64) -> Result<Command, String> {
    let value = match args {
        [OscType::String(text)] => Value::from(text.as_str()),
        [OscType::Bool(on)] => Value::from(*on),
        [one] => number(one).map_or(Value::Null, Value::from),
        _ => Value::Null,
    };
    match value {
        Value::Null => Err(format!("{target} takes one number, text or flag")),
        value => Ok(Command::Set {
            target,
            value,
            over_ms: 0.0,
            at,
        }),
    }
}

fn number(argument: &OscType) -> Option<f64> {
    let number = match argument {
        OscType::Int(n) => f64::from(*n),
        OscType::Long(n) => *n as f64,
        OscType::Float(x) => f64::from(*x),
        OscType::Double(x) => *x,
        _ => return None,
    };
    Some(number).filter(|x| x.is_finite())
}

/// The packet of a reply, or of a message of a subscription.
pub(crate) fn write_packet(message: &Value) -> Option<Vec<u8>> {
    let text = OscType::String(message.to_string());
    let (addr, args) = match message.get("ok").and_then(Value::as_bool) {
        Some(ok) => ("/reply", vec![OscType::Bool(ok), text]),
        None => ("/message", vec![text]),
    };
    let addr = addr.to_owned();
    rosc::encoder::encode(&OscPacket::Message(OscMessage { addr, args })).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use graph::{Node, Port};

    const NOW: TimeReference = TimeReference {
        unix_s: 1000.0,
        frame: 48_000,
        rate_hz: 48_000.0,
    };

    fn graph() -> Graph {
        let mut graph = Graph::default();
        for name in ["tone.0", "tone.1", "bell"] {
            let mut node = Node::new(name, "osc");
            node.set("freq", 440.0.into());
            node.inputs = vec![Port {
                name: "notes".into(),
                signal: Signal::Event,
                modulation: None,
            }];
            graph.add(node).unwrap();
        }
        graph
    }

    fn message(addr: &str, args: Vec<OscType>) -> OscPacket {
        OscPacket::Message(OscMessage {
            addr: addr.into(),
            args,
        })
    }

    fn sent(packet: &OscPacket) -> Result<Vec<Command>, String> {
        let bytes = rosc::encoder::encode(packet).unwrap();
        read_packet(&bytes, &graph(), NOW).map(|request| request.commands)
    }

    fn set(target: &str, value: f64, at: u64) -> Command {
        Command::Set {
            target: target.into(),
            value: value.into(),
            over_ms: 0.0,
            at,
        }
    }

    #[test]
    fn an_address_is_a_parameter_and_a_pattern_is_many() {
        let one = sent(&message("/node/bell/freq", vec![OscType::Int(800)]));
        assert_eq!(one.unwrap(), [set("bell.freq", 800.0, 0)]);
        let many = sent(&message("/node/tone.*/fr?q", vec![OscType::Float(0.5)]));
        assert_eq!(
            many.unwrap(),
            [set("tone.0.freq", 0.5, 0), set("tone.1.freq", 0.5, 0)]
        );
        let note = [0x90, 60, 100].map(OscType::Int).to_vec();
        let midi = Command::Midi {
            to: "bell.notes".into(),
            bytes: [0x90, 60, 100],
            at: 0,
        };
        assert_eq!(sent(&message("/node/bell/notes", note)).unwrap(), [midi]);
        let words = vec![OscType::String("undo".into())];
        assert_eq!(sent(&message("/do", words)).unwrap(), [Command::Undo]);
    }

    #[test]
    fn a_bundle_is_one_request_at_the_frame_of_its_time() {
        let seconds = (UNIX_OFFSET_S + 1001.0) as u32;
        let content = vec![
            message("/node/bell/freq", vec![OscType::Int(1)]),
            message("/node/tone.1/freq", vec![OscType::Int(2)]),
        ];
        let timetag = OscTime::from((seconds, 1 << 31));
        let bundle = OscPacket::Bundle(OscBundle { timetag, content });
        let frame = 48_000 + 72_000;
        let expected = [set("bell.freq", 1.0, frame), set("tone.1.freq", 2.0, frame)];
        assert_eq!(sent(&bundle).unwrap(), expected);
    }

    #[test]
    fn what_means_nothing_is_an_error_with_its_address() {
        for (addr, args) in [
            ("/node/nobody/freq", vec![OscType::Int(1)]),
            ("/x", vec![]),
            ("/node/bell/notes", vec![OscType::Nil]),
            ("/node/bell/freq", vec![]),
            ("/do", vec![OscType::Int(1)]),
        ] {
            assert!(sent(&message(addr, args)).is_err(), "{addr}");
        }
        assert!(read_packet(b"/x", &graph(), NOW).is_err());
        let nested = b"#bundle\0\0\0\0\0\0\0\0\x01\0\0\xff\0".repeat(100);
        assert!(read_packet(&nested, &graph(), NOW).is_err());
    }
}
