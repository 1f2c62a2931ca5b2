//! `network`: a node of a graph that plays its input through the process network of a session file.
//!
//! The file's network has one input and one output, as wide as the node, and gives a frame for each that it takes. What
//! it asks for at once makes it late; so many frames of silence stand in its last queue at first, and the node says so.
//! Then a block of any length is there when it is due. Queues have the sizes that the static check finds: a file where
//! one would have to grow is refused.
//!
//! Everything is played on the thread that plays the node, one firing after the other. It never sleeps: silence moves the
//! phases of its rates on too, and after a pause of any length they would be others. And it saves no state: it is not
//! copied, so nobody asks for it.

mod flow;

use crate::session::{self, NetworkSpec};
use flow::Stream;
use graph::{Kind, Param, ParamRange, PortSpec};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Registry, Setup, Tail};
use std::path::Path;
use units::Frames;

/// Latencies that a graph can make up for.
const MOST_LATENCY: u64 = 1 << 24;

fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::audio("in")],
        outputs: vec![PortSpec::audio("out")],
        params: vec![Param {
            name: "file",
            unit: "",
            range: ParamRange::File(true),
            live: false,
            doc: "The .toml session whose [network] it is.",
        }],
        duplicable: false,
        typical_ns: 5000,
        ..Kind::new("network", "Plays its input through a process network.")
    }
}

/// Adds the kind to `registry`; a node reads the session file that it names.
///
/// Real-time: setup.
pub fn register(registry: &mut Registry) {
    register_with(registry, read_session);
}

/// Upper bound on the bytes of a session file.
const MAX_SESSION_BYTES: u64 = 1 << 20;

/// Reads the text of a session file; refuses one that is too large.
fn read_session(path: &Path) -> Result<String, String> {
    use std::io::Read;
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    let read = file.take(MAX_SESSION_BYTES + 1).read_to_string(&mut text);
    match read.map_err(|error| error.to_string())? as u64 > MAX_SESSION_BYTES {
        true => Err("this is too large".into()),
        false => Ok(text),
    }
}

/// Adds the kind to `registry`; `read` gives the text of a session file, or says why not.
///
/// Real-time: setup.
pub fn register_with(
    registry: &mut Registry,
    read: impl Fn(&Path) -> Result<String, String> + Send + Sync + 'static,
) {
    registry.add(kind(), move |creation| make(creation, &read));
}

fn make(
    creation: &MakeContext<'_>,
    read: &dyn Fn(&Path) -> Result<String, String>,
) -> Result<Box<dyn Processor>, MakeError> {
    let refuse = |why: String| MakeError::param("file", why);
    let Some(file) = creation.node.text("file") else {
        return Err(refuse("`network` needs `file`".into()));
    };
    let text = read(&creation.folder.join(file)).map_err(|why| refuse(format!("{file}: {why}")))?;
    let Some(reading) = session::read(&text) else {
        return Err(refuse(format!("{file} has no [network]")));
    };
    let Some(patch) = reading.network else {
        let first = reading.diagnostics.iter().find(|told| told.is_error());
        let told = first.map_or(String::new(), |told| {
            format!("{}: {}", told.span.line, told.message)
        });
        return Err(refuse(format!("{file}:{told}")));
    };
    let channels = creation
        .node
        .number("channels")
        .map_or(1, |n| n.max(1.0) as usize);
    let plan = Plan::new(&patch, channels).map_err(|why| refuse(format!("{file}: {why}")))?;
    Ok(Box::new(Unit { plan, stream: None }))
}

/// What is known before it is set up.
struct Plan {
    patch: NetworkSpec,
    channels: usize,
    latency: u64,
    /// Frames by which the network can be ahead of what is read, besides a block.
    ahead: u64,
}

impl Plan {
    fn new(patch: &NetworkSpec, channels: usize) -> Result<Self, String> {
        let [(into, _), (out, _)] = patch.io_formats();
        if (into, out) != (channels, channels) {
            return Err(format!(
                "its network has {into} channels in and {out} out, and the node {channels}"
            ));
        }
        if patch.ratio() != (1, 1) {
            let (over, under) = patch.ratio();
            return Err(format!(
                "its network gives {over} frames for {under}, and a node as many as it takes"
            ));
        }
        let patch = patch.frame_by_frame().map_err(|wrong| wrong.to_string())?;
        let lag =
            crate::checks::lag_range(patch.topology(), patch.input_node(), patch.output_node());
        let lag = lag.map_err(|wrong| wrong.to_string())?;
        if lag.max > MOST_LATENCY {
            return Err(format!(
                "its network is late by {} frames, which is too much",
                lag.max
            ));
        }
        Ok(Self {
            patch,
            channels,
            latency: lag.max,
            ahead: lag
                .max
                .saturating_add_signed(lag.min.min(0).saturating_neg()),
        })
    }
}

struct Unit {
    plan: Plan,
    /// From the first setup on.
    stream: Option<Stream>,
}

impl Processor for Unit {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        let refused = setup.services.gauge("refused");
        let made = Stream::new(&self.plan, setup.block.0 as usize);
        refused.set(if made.is_ok() { 0.0 } else { 1.0 });
        self.stream = made.ok();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        match &mut self.stream {
            Some(stream) => stream.play(block, self.plan.channels),
            None => block.silence_outputs(),
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        if let Some(stream) = &mut self.stream {
            stream.reset();
        }
    }

    fn latency(&self) -> Frames {
        Frames(self.plan.latency as u32)
    }

    /// What its nodes remember is theirs to know.
    fn tail(&self) -> Tail {
        Tail::Infinite
    }
}
