//! `network`: a node of a graph that runs the process network of a session file.
//!
//! ```text
//! block of n frames ──▶ [queue] ──▶ nodes of the network ──▶ [queue: latency frames of silence at first] ──▶ n frames
//!                       every node that can fire does, on the thread of the step
//! ```
//!
//! The file's network has one input and one output, as wide as the node, and gives as many frames as it takes. Its output falls
//! behind its input by up to `LagRange::max` frames; that many frames of silence stand in its last queue at first, and
//! the node reports them as its latency. So the frames of a block of any length are always there. Queues have the sizes of
//! the static check; a file with a size that would have to grow is refused.
//!
//! It never sleeps: silence moves the phases of its rates on too, and after a pause they would be different ones. Its state is
//! what is in its queues ([`state`]).

mod state;
mod stream;

use crate::checks::lag_range;
use crate::session::{self, NetworkSpec};
use graph::{Kind, Param};
use processor::{
    Block, MakeContext, MakeError, ProcessStatus, Processor, Registry, Setup, StateError, Tail,
};
use std::cell::RefCell;
use std::path::Path;
use stream::Stream;
use units::Frames;

/// Largest latency for which a graph compensates, in frames.
const MAX_LATENCY: u64 = 1 << 24;

fn kind() -> Kind {
    Kind {
        params: vec![Param::file("file", true).doc("The .toml session whose [network] it is.")],
        duplicable: false,
        typical_ns: 5000,
        ..Kind::effect("network", "Runs a process network.")
    }
}

/// Adds the kind to `registry`; `read` returns the text of a session file, or the reason why it cannot.
///
/// Real-time: setup.
pub fn register_with(
    registry: &mut Registry,
    read: impl Fn(&Path) -> Result<String, String> + Send + Sync + 'static,
) {
    registry.add(kind(), move |context| make(context, &read));
}

/// Adds the kind to `registry`; a node reads the session file that it names.
///
/// Real-time: setup.
pub fn register(registry: &mut Registry) {
    register_with(registry, read_session);
}

/// Largest session file, in bytes.
const MAX_SESSION_BYTES: u64 = 1 << 20;

/// Reads the text of a session file; refuses one that is too large.
fn read_session(path: &Path) -> Result<String, String> {
    let bytes = files::read(path, MAX_SESSION_BYTES).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "this is not UTF-8".into())
}

fn make(
    context: &MakeContext<'_>,
    read: &dyn Fn(&Path) -> Result<String, String>,
) -> Result<Box<dyn Processor>, MakeError> {
    let refuse = |reason: String| MakeError::param("file", reason);
    let Some(file) = context.node.text("file") else {
        return Err(refuse("`network` needs `file`".into()));
    };
    let path = context.folder.join(file);
    let text = read(&path).map_err(|reason| refuse(format!("{file}: {reason}")))?;
    let Some(reading) = session::read(&text) else {
        return Err(refuse(format!("{file} has no [network]")));
    };
    let Some(spec) = reading.network else {
        let first = reading.diagnostics.iter().find(|found| found.is_error());
        let message = first.map_or(String::new(), |found| {
            format!("{}: {}", found.span.line, found.message)
        });
        return Err(refuse(format!("{file}:{message}")));
    };
    let channels = context.node.channels.count();
    let settings = NodeSettings::new(&spec, channels);
    let settings = settings.map_err(|reason| refuse(format!("{file}: {reason}")))?;
    Ok(Box::new(NetworkNode {
        settings,
        stream: RefCell::new(None),
    }))
}

/// Settings that are known before the node is set up.
struct NodeSettings {
    /// The network, with an input and an output that move one frame a firing.
    spec: NetworkSpec,
    channels: usize,
    /// Latency, in frames.
    latency: u64,
    /// Frames that can be in the last queue beyond a block.
    max_ahead: u64,
}

impl NodeSettings {
    fn new(spec: &NetworkSpec, channels: usize) -> Result<Self, String> {
        let [(input, _), (output, _)] = spec.io_formats();
        if (input, output) != (channels, channels) {
            return Err(format!(
                "its network has {input} channels in and {output} out, and the node {channels}"
            ));
        }
        if spec.ratio() != (1, 1) {
            let (over, under) = spec.ratio();
            return Err(format!(
                "its network gives {over} frames for {under}, and a node as many as it takes"
            ));
        }
        let spec = spec.frame_by_frame().map_err(|error| error.to_string())?;
        let lag = lag_range(spec.topology(), spec.input_node(), spec.output_node());
        let lag = lag.map_err(|error| error.to_string())?;
        if lag.max > MAX_LATENCY {
            let latency = lag.max;
            return Err(format!(
                "its network has a latency of {latency} frames, and {MAX_LATENCY} is the most"
            ));
        }
        Ok(Self {
            spec,
            channels,
            latency: lag.max,
            max_ahead: lag
                .max
                .saturating_add_signed(lag.min.min(0).saturating_neg()),
        })
    }
}

struct NetworkNode {
    settings: NodeSettings,
    /// None before the first setup, and if the queues could not be created.
    stream: RefCell<Option<Stream>>,
}

impl Processor for NetworkNode {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        if self.settings.spec.has_transforms() {
            let kernels = fft::Kernels::best().name().to_owned();
            setup.services.publish_setting("kernels", kernels);
        }
        let refused = setup.services.gauge("refused");
        let created = Stream::new(&self.settings, setup.block.0 as usize);
        refused.set(if created.is_ok() { 0.0 } else { 1.0 });
        *self.stream.get_mut() = created.ok();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        match self.stream.get_mut() {
            Some(stream) => stream.process(block, self.settings.channels),
            None => block.silence_outputs(),
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        if let Some(stream) = self.stream.get_mut() {
            stream.reset();
        }
    }

    fn latency(&self) -> Frames {
        Frames(self.settings.latency as u32)
    }

    /// Infinite: its actors may remember anything.
    fn tail(&self) -> Tail {
        Tail::Infinite
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        if let Some(stream) = self.stream.borrow_mut().as_mut() {
            stream.save(bytes);
        }
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        match self.stream.get_mut() {
            Some(stream) => stream.load(bytes),
            None => Err(StateError("the network does not play".into())),
        }
    }
}
