//! Open Sound Control: packets to requests, and replies to packets.
//!
//! | address | arguments | does |
//! |---|---|---|
//! | `/node/NODE/PARAM` | number, text or flag | sets the parameter; OSC's wildcards `? * [a-z] {a,b}` stand in both names |
//! | `/node/NODE/INPUT` | number | sends it to an event input |
//! | `/node/NODE/INPUT` | MIDI message, or three integers | sends it to an event input |
//! | `/enable/NODE`, `/bypass/NODE` | number or flag | switches the node: 0 is off |
//! | `/snapshot/NAME` | nothing, number or flag | recalls the snapshot |
//! | `/transport/start`, `/transport/stop` | nothing, number or flag | lets the transport roll, or halts it |
//! | `/transport/locate` | seconds, or a text such as `17.1` | moves the transport |
//! | `/transport/tempo` | number | plays on at this tempo |
//! | `/do` | texts | each is a command in words: `set tone.freq 800` |
//! | `/do/COMMAND` | numbers, texts, flags | the command with these words: `/do/recall "verse" "over" 2000` |
//!
//! A button sends 1 where it is pressed and 0 where it is released, so what only happens does nothing at 0 or false.
//!
//! A message is a request. A bundle is one too, and its commands take effect together, at the time of its tag: what can
//! wait for a frame at its frame, other changes as soon as they can. Each is answered by `/reply` with a flag, true if
//! it was carried out, and the reply as a text in JSON; messages of subscriptions come as `/message` with a text.
//!
//! Source: M. Wright, *The Open Sound Control 1.0 Specification* (2002).

mod pattern;

use crate::command::{Command, PositionArg, PositionUnit, Request};
use crate::words::{read_command, read_words};
use graph::{Graph, Signal};
use pattern::matches;
use rosc::{OscBundle, OscMessage, OscPacket, OscTime, OscType};
use serde_json::Value;

/// Largest nesting of bundles.
const MAX_DEPTH: usize = 8;
/// Largest number of commands of a packet; each of its patterns stands for many.
const MAX_MATCHES: usize = 10_000;
/// Largest length of all patterns of a packet together: each is compared with the name of each node.
const MAX_PATTERN: usize = 1024;
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
    let mut reader = PacketReader {
        graph,
        now,
        commands: Vec::new(),
        pattern: 0,
    };
    reader.read(&packet, 0, 0)?;
    Ok(Request {
        id: Value::Null,
        commands: reader.commands,
    })
}

/// What was read of a packet so far.
struct PacketReader<'g> {
    graph: &'g Graph,
    now: TimeReference,
    commands: Vec<Command>,
    /// Characters of all patterns.
    pattern: usize,
}

impl PacketReader<'_> {
    fn read(&mut self, packet: &OscPacket, at: u64, depth: usize) -> Result<(), String> {
        match packet {
            OscPacket::Message(message) => self.read_message(message, at),
            OscPacket::Bundle(_) if depth == MAX_DEPTH => {
                Err(format!("bundles are nested at most {MAX_DEPTH} deep"))
            }
            OscPacket::Bundle(OscBundle { timetag, content }) => {
                let at = self.now.frame_at(*timetag);
                let mut packets = content.iter();
                packets.try_for_each(|packet| self.read(packet, at, depth + 1))
            }
        }
    }

    fn read_message(&mut self, message: &OscMessage, at: u64) -> Result<(), String> {
        if has_wildcards(&message.addr) {
            self.pattern += message.addr.len();
        }
        if self.pattern > MAX_PATTERN {
            return Err(format!(
                "patterns of a packet have at most {MAX_PATTERN} characters together"
            ));
        }
        self.commands.extend(read_message(message, at, self.graph)?);
        match self.commands.len() > MAX_MATCHES {
            true => Err(format!("a packet has at most {MAX_MATCHES} commands")),
            false => Ok(()),
        }
    }
}

/// Returns true if `address` is a pattern.
fn has_wildcards(address: &str) -> bool {
    address.contains(['?', '*', '[', '{'])
}

fn read_message(message: &OscMessage, at: u64, graph: &Graph) -> Result<Vec<Command>, String> {
    let mut parts = message.addr.split('/').skip(1);
    let args = message.args.as_slice();
    let parts = [parts.next(), parts.next(), parts.next(), parts.next()];
    let mut commands = match parts {
        [Some("do"), None, ..] => args.iter().map(read_do).collect::<Result<_, _>>()?,
        [Some("do"), Some(verb), None, _] => vec![read_do_with(verb, args)?],
        [Some("node"), Some(node), Some(name), None] => {
            let found = node_commands((node, name), args, at, graph)?;
            match found.is_empty() {
                true => Err(format!("nothing is called {}: {ADDRESSES}", message.addr))?,
                false => found,
            }
        }
        [Some(what), Some(name), None, _] => match read_short(what, name, args)? {
            Some(commands) => commands,
            None => Err(format!("there is no {}: {ADDRESSES}", message.addr))?,
        },
        _ => Err(format!("there is no {}: {ADDRESSES}", message.addr))?,
    };
    for frame in commands.iter_mut().filter_map(Command::frame_mut) {
        // A frame of its own goes before that of the bundle.
        if *frame == 0 {
            *frame = at;
        }
    }
    Ok(commands)
}

/// What addresses there are, for errors.
const ADDRESSES: &str = "it is /node/NODE/PARAM, /node/NODE/INPUT, /enable/NODE, /bypass/NODE, /snapshot/NAME, /transport/COMMAND, \
                         /do or /do/COMMAND";

fn read_do(argument: &OscType) -> Result<Command, String> {
    let OscType::String(words) = argument else {
        return Err("/do takes texts: \"set tone.freq 800\"".into());
    };
    read_words(words).map_err(|error| format!("`{words}`: {error}"))
}

/// A command whose words are the arguments.
fn read_do_with(verb: &str, args: &[OscType]) -> Result<Command, String> {
    let word = |argument: &OscType| match argument {
        OscType::String(text) => Ok(text.clone()),
        OscType::Bool(on) => Ok(on.to_string()),
        OscType::Float(number) => Ok(number.to_string()),
        _ => match number(argument) {
            Some(number) => Ok(number.to_string()),
            None => Err(format!("/do/{verb} takes numbers, texts and flags")),
        },
    };
    let words = args.iter().map(word).collect::<Result<Vec<_>, _>>()?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    read_command(verb, &words).map_err(|error| format!("/do/{verb}: {error}"))
}

/// The commands of a short address for buttons and faders; `None` if there is no such address.
fn read_short(what: &str, name: &str, args: &[OscType]) -> Result<Option<Vec<Command>>, String> {
    let address = format!("/{what}/{name}");
    let node = || name.to_owned();
    let command = match (what, name) {
        ("enable", _) => match is_on(&address, args)? {
            true => Command::Enable { node: node() },
            false => Command::Disable { node: node() },
        },
        ("bypass", _) => Command::Bypass {
            node: node(),
            on: is_on(&address, args)?,
        },
        ("snapshot", _) | ("transport", "start" | "stop")
            if !args.is_empty() && !is_on(&address, args)? =>
        {
            return Ok(Some(Vec::new()));
        }
        ("snapshot", _) => Command::Recall {
            name: node(),
            over_ms: 0.0,
            at: 0,
        },
        ("transport", "start") => Command::Start { at: 0 },
        ("transport", "stop") => Command::Stop { at: 0 },
        ("transport", "locate") => Command::Locate {
            to: match args {
                [OscType::String(text)] => PositionArg::Text(text.clone()),
                _ => PositionArg::Number(one_number(&address, args)?),
            },
            unit: PositionUnit::Seconds,
            at: 0,
        },
        ("transport", "tempo") => Command::Tempo {
            bpm: one_number(&address, args)?,
            at: 0,
        },
        _ => return Ok(None),
    };
    Ok(Some(vec![command]))
}

fn is_on(address: &str, args: &[OscType]) -> Result<bool, String> {
    match args {
        [OscType::Bool(on)] => Ok(*on),
        _ => one_number(address, args).map(|number| number != 0.0),
    }
}

fn one_number(address: &str, args: &[OscType]) -> Result<f64, String> {
    let number = match args {
        [one] => number(one),
        _ => None,
    };
    number.ok_or_else(|| format!("{address} takes one number"))
}

/// The commands for every node and name that fit the patterns.
fn node_commands(
    (node, name): (&str, &str),
    args: &[OscType],
    at: u64,
    graph: &Graph,
) -> Result<Vec<Command>, String> {
    let mut commands = Vec::new();
    let has_wildcards = has_wildcards(node);
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
    if !has_wildcards(pattern) {
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
    fn every_command_has_an_address() {
        let text = |text: &str| OscType::String(text.into());
        let sent = |addr: &str, args| sent(&message(addr, args)).unwrap();
        let recalled = |over_ms| Command::Recall {
            name: "verse".into(),
            over_ms,
            at: 0,
        };
        let words = vec![text("verse"), text("over"), OscType::Float(2000.0)];
        assert_eq!(sent("/do/recall", words), [recalled(2000.0)]);
        let ends = vec![text("my tone"), text("out")];
        let edge = Command::Connect {
            from: "my tone".into(),
            to: "out".into(),
        };
        assert_eq!(sent("/do/connect", ends), [edge]);
        // The words of the shell are the arguments here.
        for form in crate::words::FORMS {
            let error = super::read_do_with(form.verb, &[OscType::Nil]).unwrap_err();
            assert!(error.contains(form.verb));
        }
        assert_eq!(sent("/snapshot/verse", vec![]), [recalled(0.0)]);
        let node = || "bell".to_owned();
        let bypass = |on| Command::Bypass { node: node(), on };
        let on = |addr, number| sent(addr, vec![OscType::Float(number)]);
        assert_eq!(on("/bypass/bell", 1.0), [bypass(true)]);
        assert_eq!(on("/bypass/bell", 0.0), [bypass(false)]);
        let disable = Command::Disable { node: node() };
        assert_eq!(on("/enable/bell", 0.0), [disable]);
        let tempo = Command::Tempo { bpm: 90.0, at: 0 };
        assert_eq!(on("/transport/tempo", 90.0), [tempo]);
        let locate = Command::Locate {
            to: PositionArg::Text("17.1".into()),
            unit: PositionUnit::Seconds,
            at: 0,
        };
        assert_eq!(sent("/transport/locate", vec![text("17.1")]), [locate]);
    }

    #[test]
    fn a_bundle_of_patterns_stands_for_no_more_commands_than_a_request_has() {
        let mut graph = Graph::default();
        for i in 0..9000 {
            let mut node = Node::new(format!("n{i}"), "osc");
            node.set("freq", 440.0.into());
            graph.add(node).unwrap();
        }
        let content = vec![message("/node/*/freq", vec![OscType::Int(1)]); 70];
        let timetag = OscTime::from((0, 1));
        let bundle = OscPacket::Bundle(OscBundle { timetag, content });
        let bytes = rosc::encoder::encode(&bundle).unwrap();
        let error = read_packet(&bytes, &graph, NOW).unwrap_err();
        assert!(error.contains("at most 10000 commands"), "{error}");
    }

    #[test]
    fn a_time_tag_that_is_far_ahead_is_a_frame_and_one_that_has_passed_is_now() {
        let at = |seconds| NOW.frame_at(OscTime::from((seconds, u32::MAX)));
        assert_eq!(at(0), 0);
        assert_eq!(at(UNIX_OFFSET_S as u32), 0);
        assert!(at(u32::MAX) > 48_000 * 1_000_000_000);
    }

    #[test]
    fn a_button_that_is_released_does_nothing() {
        for addr in ["/transport/start", "/transport/stop", "/snapshot/verse"] {
            let sent = |number| sent(&message(addr, vec![OscType::Float(number)]));
            assert_eq!(sent(1.0).unwrap().len(), 1, "{addr}");
            assert_eq!(sent(0.0).unwrap(), [], "{addr}");
        }
    }

    #[test]
    fn a_bundle_gives_its_frame_to_every_command_that_takes_one() {
        let timetag = OscTime::from(((UNIX_OFFSET_S + 1001.0) as u32, 0));
        let content = vec![
            message("/transport/start", vec![]),
            message(
                "/do/stop",
                vec![OscType::String("at".into()), OscType::Int(7)],
            ),
            message("/enable/bell", vec![OscType::Int(1)]),
        ];
        let expected = [
            Command::Start { at: 96_000 },
            Command::Stop { at: 7 },
            Command::Enable {
                node: "bell".into(),
            },
        ];
        let bundle = OscPacket::Bundle(OscBundle { timetag, content });
        assert_eq!(sent(&bundle).unwrap(), expected);
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
            ("/do/sett", vec![]),
            ("/do/set", vec![OscType::Nil]),
            ("/do/set/tone", vec![]),
            ("/transport/rewind", vec![]),
            ("/transport/tempo", vec![]),
            ("/transport/tempo", vec![OscType::Float(f32::NAN)]),
            ("/bypass/bell", vec![]),
            ("/enable/bell", vec![OscType::Blob(vec![0; 65_000])]),
        ] {
            assert!(sent(&message(addr, args)).is_err(), "{addr}");
        }
        assert!(read_packet(b"/x", &graph(), NOW).is_err());
        let long = format!("/node/{}/freq", "*".repeat(2000));
        let error = sent(&message(&long, vec![OscType::Int(1)])).unwrap_err();
        assert!(error.contains("at most 1024 characters"), "{error}");
        let nested = b"#bundle\0\0\0\0\0\0\0\0\x01\0\0\xff\0".repeat(100);
        assert!(read_packet(&nested, &graph(), NOW).is_err());
    }
}
