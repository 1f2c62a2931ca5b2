//! `convolver`: a node that plays its input through impulse responses from a file.
//!
//! As many channels out as in. A response of one channel is for every channel; one of as many channels as the node has is
//! for each its own; one of four for two is true stereo (LL LR RL RR). A file of another rate is converted. With a
//! second file, `which` fades from one to the other while it plays.
//!
//! Long levels are deferred work of the graph's; the first plays in the step. Where the graph's block is a whole number
//! of internal blocks no latency is added, else one internal block.

use crate::ir::{Ir, Limit, Normal, Paths, Shape};
use crate::{Adapter, Convolver, Exchange, Fdl, Hands, Latency, Options, Partition, Path};
use graph::{Kind, Param, PortSpec, Range};
use processor::{
    Activity, Block, Body, Creation, MakeError, Processor, Registry, Setup, Tail, Target,
};
use rt::deferred::Owner;
use std::path::PathBuf;
use units::{Frames, SampleRate};

/// Adds the kind to `registry`.
///
/// Real-time: setup.
pub fn register(registry: &mut Registry) {
    registry.add(kind(), make);
}

/// The internal block where the graph's has no useful power of two in it.
const BLOCK: usize = 64;
/// Blocks below this are worth it only where the graph's own is as small.
const LEAST_BLOCK: usize = 16;

const METHODS: &[&str] = &["nonuniform", "uniform", "direct"];
const LATENCIES: &[&str] = &["none", "block"];
const NORMALS: &[&str] = &["off", "peak", "energy"];

fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::audio("in")],
        outputs: vec![PortSpec::audio("out")],
        params: params(),
        duplicable: false,
        typical_ns: 3000,
        ..Kind::new(
            "convolver",
            "Plays its input through an impulse response of any length.",
        )
    }
}

fn params() -> Vec<Param> {
    let param = |name, unit, range, doc| Param {
        name,
        unit,
        range,
        live: false,
        doc,
    };
    let number = |name, unit, (least, most), default, doc| {
        let range = Range::Number {
            least,
            most,
            default,
        };
        param(name, unit, range, doc)
    };
    vec![
        param(
            "file",
            "",
            Range::File(true),
            "The sound file with the impulse response.",
        ),
        param(
            "other",
            "",
            Range::File(false),
            "Another one, of as many channels, to change to.",
        ),
        Param {
            live: true,
            ..number(
                "which",
                "",
                (0.0, 1.0),
                0.0,
                "Which of the two is heard: below 0.5 `file`, else `other`.",
            )
        },
        number(
            "fade",
            "s",
            (0.0, 10.0),
            0.05,
            "How long the change from one to the other takes.",
        ),
        number(
            "gain_db",
            "dB",
            (-120.0, 60.0),
            0.0,
            "What the response is multiplied by.",
        ),
        number(
            "predelay",
            "s",
            (0.0, 10.0),
            0.0,
            "Silence before the response.",
        ),
        param(
            "reverse",
            "",
            Range::Flag,
            "Whether the response is played backwards.",
        ),
        param(
            "normalise",
            "",
            Range::Choice(NORMALS),
            "How loud the response is made first: as it is, its loudest sample 1, or as loud as its input for noise.",
        ),
        param(
            "method",
            "",
            Range::Choice(METHODS),
            "Partitions of growing sizes, all as long as a block, or none at all: every product by itself.",
        ),
        param(
            "partition",
            "",
            Range::Text,
            "The partitions by count and size, as `7x64 6x256`, instead of a method's own.",
        ),
        number(
            "block",
            "frames",
            (0.0, 4096.0),
            0.0,
            "The internal block, a power of two; 0: the largest that the graph's block is made of.",
        ),
        param(
            "latency",
            "",
            Range::Choice(LATENCIES),
            "None, or one internal block for less work at the peak.",
        ),
        number("channels", "", (1.0, 256.0), 1.0, "Channels of every port."),
    ]
}

/// What the node says.
struct Plan {
    files: Vec<(PathBuf, Ir)>,
    shape: Shape,
    gain: f32,
    predelay: f64,
    fade: f64,
    method: usize,
    partition: Option<String>,
    block: usize,
    latency: Latency,
    channels: usize,
}

struct Unit {
    plan: Plan,
    /// Its place among the parameters.
    which: u16,
    adapter: Option<Adapter>,
    /// The responses that are not heard, while no change is under way.
    spare: Option<Box<Exchange>>,
    is_other: bool,
    wants_other: bool,
    starts_with_other: bool,
    silent: u64,
}

fn make(creation: &Creation<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let plan = Plan::of(creation)?;
    // What setup will do is tried now, where it can still be refused.
    let rate = plan.files[0].1.rate();
    plan.paths(&plan.files[0].1, rate)
        .map_err(|why| MakeError::param("file", why))?;
    if let Some((_, other)) = plan.files.get(1) {
        let rate = other.rate();
        plan.paths(other, rate)
            .map_err(|why| MakeError::param("other", why))?;
    }
    plan.partition(BLOCK, 1)?;
    let (which, _) = creation.kind.param("which").expect("the kind has it");
    let is_other = plan.files.len() > 1 && creation.number("which")? >= 0.5;
    Ok(Box::new(Unit {
        plan,
        which,
        adapter: None,
        spare: None,
        is_other,
        wants_other: is_other,
        starts_with_other: is_other,
        silent: u64::MAX,
    }))
}

impl Plan {
    fn of(creation: &Creation<'_>) -> Result<Self, MakeError> {
        let text = |key| {
            creation
                .node
                .text(key)
                .map(str::trim)
                .filter(|text| !text.is_empty())
        };
        let mut files = Vec::new();
        for key in ["file", "other"] {
            if let Some(file) = text(key) {
                let path = creation.folder.join(file);
                let ir = load(&path).map_err(|why| MakeError::param(key, why))?;
                files.push((path, ir));
            } else if key == "file" {
                return Err(MakeError::param(key, "`convolver` needs `file`"));
            }
        }
        let block = creation.number("block")? as usize;
        if block > 0 && !block.is_power_of_two() {
            return Err(MakeError::param(
                "block",
                format!("`block` is {block}; it is a power of two"),
            ));
        }
        let gain_db = creation.number("gain_db")?;
        Ok(Self {
            files,
            shape: Shape {
                reverse: creation.node.flag("reverse"),
                normal: [Normal::Off, Normal::Peak, Normal::Energy]
                    [creation.choice("normalise")?],
                ..Shape::default()
            },
            gain: if gain_db <= -120.0 {
                0.0
            } else {
                libm::exp10(gain_db / 20.0) as f32
            },
            predelay: creation.number("predelay")?,
            fade: creation.number("fade")?,
            method: creation.choice("method")?,
            partition: text("partition").map(str::to_owned),
            block,
            latency: [Latency::None, Latency::OneBlock][creation.choice("latency")?],
            channels: creation.number("channels")? as usize,
        })
    }

    /// The paths through `ir`, which is at `rate`.
    fn paths(&self, ir: &Ir, rate: SampleRate) -> Result<Vec<Path>, String> {
        let ir = self.shape.apply(ir.clone()).map_err(|e| told(&e))?;
        let paths = Paths::lay(&ir, self.channels).map_err(|e| told(&e))?;
        if paths.outputs() != self.channels {
            let (channels, outputs) = (self.channels, paths.outputs());
            return Err(format!(
                "it gives {outputs} channels, and the node has {channels}"
            ));
        }
        let delay = (self.predelay * f64::from(rate.hz())).round() as usize;
        let paths = paths.with(self.gain, delay).map_err(|e| told(&e))?;
        Ok(paths.ready())
    }

    fn partition(&self, block: usize, frames: usize) -> Result<Partition, MakeError> {
        let (cut, key) = match (&self.partition, self.method) {
            (Some(text), _) => (Partition::parse(block, self.latency, text), "partition"),
            (None, 0) => (Partition::typical(block, self.latency, frames), "block"),
            (None, 1) => (Partition::uniform(block, self.latency, frames), "block"),
            (None, _) => (Partition::direct(block, frames), "block"),
        };
        cut.map_err(|e| MakeError::param(key, told(&e)))
    }

    /// The internal block for a graph's.
    fn block(&self, graph: usize) -> usize {
        let divides = (1 << graph.trailing_zeros()).min(crate::MOST_BLOCK);
        match self.block {
            0 if divides >= LEAST_BLOCK || divides == graph => divides,
            0 => BLOCK,
            block => block,
        }
    }

    /// The convolver, and what it can change to.
    fn build(
        &self,
        setup: &Setup<'_>,
        first: usize,
    ) -> Result<(Adapter, Option<Box<Exchange>>), String> {
        let mut sets = Vec::new();
        for (path, ir) in &self.files {
            let at_rate = if ir.rate() == setup.rate {
                ir.clone()
            } else {
                let loaded = Ir::load(path, setup.rate, &Limit::default());
                loaded.map_err(|e| told(&e))?.ir
            };
            sets.push(self.paths(&at_rate, setup.rate)?);
        }
        let frames = sets.iter().flatten().map(|path| path.ir.len()).max();
        let block = self.block(setup.block.count());
        let partition = self
            .partition(block, frames.unwrap_or(1))
            .map_err(|e| e.message)?;
        let mut options = Options::new(partition);
        options.fade = (self.fade * f64::from(setup.rate.hz())) as usize;
        let build = Convolver::new(self.channels, self.channels, &sets[first], &options);
        let convolver = build.map_err(|e| told(&e))?;
        let spare = match sets.get(1 - first) {
            Some(other) => Some(convolver.preparer().prepare(other).map_err(|e| told(&e))?),
            None => None,
        };
        Ok((Adapter::new(convolver, Some(setup.block.count())), spare))
    }
}

fn load(path: &std::path::Path) -> Result<Ir, String> {
    let rate = media::open(path).map_err(|e| told(&e))?.rate();
    let loaded = Ir::load(path, rate, &Limit::default());
    Ok(loaded.map_err(|e| told(&e))?.ir)
}

/// The error and what is behind it, in one line.
fn told(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", told(source)),
        None => error.to_string(),
    }
}

/// Deferred work of the graph's.
struct Deferred<'a, 'b>(&'b Block<'a>);

impl Hands for Deferred<'_, '_> {
    fn started(&mut self, _line: usize, _work: &mut Owner<Fdl>) {}

    fn finish(&mut self, _line: usize, work: &mut Owner<Fdl>) -> bool {
        self.0.finish(work).is_some()
    }
}

impl Unit {
    fn listen(&mut self, block: &Block<'_>) {
        for event in block.events().iter() {
            if let (Target::Param(index), Body::Value(value)) = (event.target, event.body)
                && index == self.which
                && !value.is_nan()
            {
                self.wants_other = value >= 0.5 && self.plan.files.len() > 1;
            }
        }
    }

    /// Begins a change that is wanted, and takes back what one that is over has left.
    fn change(&mut self) {
        let Some(adapter) = &mut self.adapter else {
            return;
        };
        let convolver = adapter.convolver_mut();
        if let Some(left) = convolver.take_retired() {
            self.spare = Some(left);
        }
        if self.wants_other != self.is_other
            && let Some(next) = self.spare.take()
        {
            // It is this convolver's, and none waits: nothing comes back.
            self.spare = convolver.exchange(next);
            self.is_other = self.wants_other;
        }
    }
}

impl Processor for Unit {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.starts_with_other = self.wants_other;
        self.is_other = self.wants_other;
        let refused = setup.services.gauge("refused");
        match self.plan.build(setup, usize::from(self.is_other)) {
            Ok((adapter, spare)) => {
                let lines = adapter.convolver().lines().enumerate();
                for (index, _) in lines.filter(|(_, line)| !line.is_urgent) {
                    setup.services.defer(adapter.convolver().runner(index));
                }
                self.adapter = Some(adapter);
                self.spare = spare;
                refused.show(0.0);
            }
            Err(_) => {
                // The file was there when the node was made: it has gone, or its rate is too far off. Silence.
                self.adapter = None;
                refused.show(1.0);
            }
        }
        self.silent = u64::MAX;
    }

    fn process(&mut self, block: &mut Block<'_>) -> Activity {
        self.listen(block);
        let (frames, silent) = (block.frames(), block.is_silent());
        self.silent = if silent {
            self.silent.saturating_add(frames as u64)
        } else {
            0
        };
        let is_at_rest = self
            .adapter
            .as_ref()
            .is_none_or(|a| self.silent > a.tail() + frames as u64);
        if is_at_rest && self.wants_other == self.is_other {
            block.silence();
            return Activity::Asleep;
        }
        self.change();
        let Some(adapter) = &mut self.adapter else {
            block.silence();
            return Activity::Asleep;
        };
        if adapter.position() != block.position() {
            adapter.seek(block.position());
        }
        let mut at = 0;
        while at < frames {
            let take = adapter.room(frames - at);
            for channel in 0..self.plan.channels {
                adapter.hear(channel, &block.input(0).channel(channel)[at..at + take]);
            }
            adapter.advance(&mut Deferred(block));
            let mut output = block.output(0);
            for channel in 0..self.plan.channels {
                let to = &mut output.channel(channel)[at..at + take];
                for (to, x) in to.iter_mut().zip(adapter.played(channel)) {
                    *to = if x.is_finite() { *x } else { 0.0 };
                }
            }
            at += take;
        }
        Activity::Awake
    }

    fn reset(&mut self) {
        if let Some(adapter) = &mut self.adapter {
            adapter.seek(0);
        }
        self.wants_other = self.starts_with_other;
        self.silent = u64::MAX;
    }

    fn latency(&self) -> Frames {
        Frames(self.adapter.as_ref().map_or(0, |a| a.latency() as u32))
    }

    fn tail(&self) -> Tail {
        Tail::Frames(self.adapter.as_ref().map_or(0, Adapter::tail))
    }
}
