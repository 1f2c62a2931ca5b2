//! [`ConvolverConfig`]: the parameters of one node, and the convolver made from them.

use super::kind::{LATENCIES, METHODS};
use super::scheduler::Work;
use crate::response::ir::{Ir, IrLimit, IrProcessing, Normalise, Paths};
use crate::tuning::{PartitionChoice, PartitionOrigin, choose_partition};
use crate::{
    AddedLatency, Convolver, ConvolverAdapter, ConvolverOptions, CostTable, Exchange, MAX_BLOCK,
    Partition, PartitionSpace, Path,
};
use graph::{Node, Widths};
use processor::{MakeContext, MakeError, Setup};
use std::path::PathBuf;
use std::sync::Arc;
use units::{Channels, SampleRate};

/// Internal block if the graph's block has no useful power of two as a factor.
const BLOCK: usize = 64;
/// Smaller internal blocks pay only if the graph's own block is as small.
const MIN_BLOCK: usize = 16;

/// Partition that the node asks for.
enum PartitionParam {
    /// Chosen by these costs, or by the built-in ones.
    Chosen(Option<Arc<CostTable>>),
    Uniform,
    Direct,
    Text(String),
}

/// Parameters of a node.
pub(super) struct ConvolverConfig {
    pub(super) files: Vec<(PathBuf, Ir)>,
    processing: IrProcessing,
    gain: f32,
    predelay: f64,
    fade: f64,
    partition: PartitionParam,
    block: usize,
    latency: AddedLatency,
    /// Size from which on levels have filter spectra in half precision.
    half: Option<usize>,
    pub(super) channels: usize,
    pub(super) work: Work,
}

/// A convolver made from a config.
pub(super) struct Built {
    pub(super) adapter: ConvolverAdapter,
    /// Filters of the other response.
    pub(super) spare: Option<Box<Exchange>>,
    pub(super) origin: PartitionOrigin,
    /// Changes that the user did not ask for.
    pub(super) notes: Vec<String>,
}

impl ConvolverConfig {
    /// Reads a node's parameters and files; `measured` is called only if its costs are needed.
    ///
    /// Real-time: setup.
    pub(super) fn new(
        creation: &MakeContext<'_>,
        measured: impl FnOnce() -> Option<Arc<CostTable>>,
    ) -> Result<Self, MakeError> {
        let config = Self {
            files: files(creation)?,
            processing: IrProcessing {
                reverse: creation.node.flag("reverse"),
                normalise: [Normalise::Off, Normalise::Peak, Normalise::Energy]
                    [creation.choice("normalise")?],
                ..IrProcessing::default()
            },
            gain: factor(creation.number("gain_db")?),
            predelay: creation.number("predelay")?,
            fade: creation.number("fade")?,
            partition: partition(creation, measured)?,
            block: block(creation)?,
            latency: latency(creation.choice("latency")?),
            half: Some(creation.number("half")? as usize).filter(|from| *from > 0),
            channels: creation.node.channels.count(),
            work: Work::new(
                creation.choice("work")?,
                creation.choice("pin")?,
                creation.number("priority")? as u8,
            ),
        };
        config.check()?;
        Ok(config)
    }

    /// Tries what setup will do, while an error can still refuse the node.
    fn check(&self) -> Result<(), MakeError> {
        let mut frames = 1;
        for ((_, ir), key) in self.files.iter().zip(["file", "other"]) {
            let paths = self.paths(ir, ir.rate());
            let paths = paths.map_err(|why| MakeError::param(key, why))?;
            frames = paths
                .iter()
                .map(|path| path.ir.len())
                .fold(frames, usize::max);
        }
        // The graph's block is not known yet: one that has a partition is enough.
        let blocks = (0..=MAX_BLOCK.ilog2()).map(|bits| 1 << bits);
        let blocks = std::iter::once(BLOCK).chain(blocks);
        let blocks = blocks.map(|block| if self.block > 0 { self.block } else { block });
        let mut tried = blocks.map(|block| self.choose(block, frames).map(drop));
        let first = tried.next().unwrap_or(Ok(()));
        first.or_else(|wrong| tried.find(Result::is_ok).unwrap_or(Err(wrong)))
    }

    /// Paths through `ir`, which is at `rate`.
    fn paths(&self, ir: &Ir, rate: SampleRate) -> Result<Vec<Path>, String> {
        let ir = self.processing.apply(ir.clone()).map_err(|e| message(&e))?;
        let paths = Paths::from_ir(&ir, self.channels).map_err(|e| message(&e))?;
        if paths.outputs() != self.channels {
            let (channels, outputs) = (self.channels, paths.outputs());
            return Err(format!(
                "it gives {outputs} channels, and the node has {channels}"
            ));
        }
        let delay = (self.predelay * f64::from(rate.hz())).round() as usize;
        let paths = paths
            .with_gain_and_delay(self.gain, delay)
            .map_err(|e| message(&e))?;
        Ok(paths.resolve())
    }

    /// Partition for a block and a length in frames.
    fn choose(&self, block: usize, frames: usize) -> Result<PartitionChoice, MakeError> {
        let (partition, key) = match &self.partition {
            PartitionParam::Text(text) => {
                (Partition::parse(block, self.latency, text), "partition")
            }
            PartitionParam::Uniform => (Partition::uniform(block, self.latency, frames), "block"),
            PartitionParam::Direct => (Partition::direct(block, frames), "block"),
            PartitionParam::Chosen(costs) => match PartitionSpace::new(frames, block, self.latency)
            {
                Some(space) => {
                    return Ok(choose_partition(&space, self.channels, costs.as_deref()));
                }
                None => (Partition::typical(block, self.latency, frames), "block"),
            },
        };
        let partition = partition.map_err(|e| MakeError::param(key, message(&e)))?;
        if partition.max_ir_frames() < frames {
            let max = partition.max_ir_frames();
            let why = format!("`{partition}` has {max} frames, and the response {frames}");
            return Err(MakeError::param(key, why));
        }
        Ok(PartitionChoice::given(partition))
    }

    /// Internal block for a graph's block.
    fn block(&self, graph: usize) -> usize {
        let divisor = (1 << graph.trailing_zeros()).min(crate::MAX_BLOCK);
        match self.block {
            0 if divisor >= MIN_BLOCK || divisor == graph => divisor,
            0 => BLOCK,
            block => block,
        }
    }

    /// Makes the convolver, which begins with response number `first`.
    ///
    /// Real-time: setup.
    pub(super) fn build(&self, setup: &Setup<'_>, first: usize) -> Result<Built, String> {
        let mut notes = Vec::new();
        let files = self.files.iter();
        let sets = files.map(|file| self.paths_at(file, setup.rate, &mut notes));
        let sets = sets.collect::<Result<Vec<_>, _>>()?;
        let frames = sets.iter().flatten().map(|path| path.ir.len()).max();
        let (block, frames) = (self.block(setup.block.count()), frames.unwrap_or(1));
        let choice = match self.choose(block, frames) {
            Ok(found) => found,
            // A partition for another block or rate is no reason for silence.
            Err(why) => {
                let usual = Partition::typical(block, self.latency, frames);
                let usual = usual.map_err(|e| message(&e))?;
                notes.push(format!("{}: `{usual}` in its place", why.message));
                PartitionChoice {
                    origin: PartitionOrigin::BuiltIn,
                    ..PartitionChoice::given(usual)
                }
            }
        };
        let mut options = self
            .work
            .adapt_options(ConvolverOptions::new(choice.partition), self.channels);
        options.half_precision_from = self.half;
        options.fade_frames = (self.fade * f64::from(setup.rate.hz())) as usize;
        let build = Convolver::new(self.channels, self.channels, &sets[first], &options);
        let convolver = build.map_err(|e| message(&e))?;
        let prepare = |other| convolver.preparer().prepare(other).map_err(|e| message(&e));
        let spare = sets
            .get(1 - first)
            .map(|other| prepare(other))
            .transpose()?;
        Ok(Built {
            adapter: ConvolverAdapter::new(convolver, Some(setup.block.count())),
            spare,
            origin: choice.origin,
            notes,
        })
    }

    /// Paths through a file, resampled to `rate` if it has another one.
    fn paths_at(
        &self,
        (path, ir): &(PathBuf, Ir),
        rate: SampleRate,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Path>, String> {
        if ir.rate() == rate {
            return self.paths(ir, rate);
        }
        let loaded = Ir::load(path, rate, &IrLimit::default()).map_err(|e| message(&e))?;
        notes.extend(loaded.notes.iter().map(ToString::to_string));
        self.paths(&loaded.ir, rate)
    }
}

/// A text parameter that is not empty.
fn text<'a>(creation: &MakeContext<'a>, key: &str) -> Option<&'a str> {
    let text = creation.node.text(key).map(str::trim);
    text.filter(|text| !text.is_empty())
}

fn files(creation: &MakeContext<'_>) -> Result<Vec<(PathBuf, Ir)>, MakeError> {
    let mut files = Vec::new();
    for key in ["file", "other"] {
        if let Some(file) = text(creation, key) {
            let path = creation.folder.join(file);
            let ir = load(&path).map_err(|why| MakeError::param(key, why))?;
            files.push((path, ir));
        } else if key == "file" {
            return Err(MakeError::param(key, "`convolver` needs `file`"));
        }
    }
    Ok(files)
}

/// Channels of the output with the response of `node`: a response of four channels counts as true stereo.
pub(super) fn file_channels(node: &Node, folder: &std::path::Path) -> Option<Widths> {
    let file = node.text("file").filter(|file| !file.is_empty())?;
    match media::open(&folder.join(file)).ok()?.channels() {
        Channels(4) => Some(Channels(2).into()),
        channels => Some(channels.into()),
    }
}

fn load(path: &std::path::Path) -> Result<Ir, String> {
    let rate = media::open(path).map_err(|e| message(&e))?.rate();
    let loaded = Ir::load(path, rate, &IrLimit::default());
    Ok(loaded.map_err(|e| message(&e))?.ir)
}

fn partition(
    creation: &MakeContext<'_>,
    measured: impl FnOnce() -> Option<Arc<CostTable>>,
) -> Result<PartitionParam, MakeError> {
    let method = METHODS[creation.choice("method")?];
    Ok(match (text(creation, "partition"), method) {
        (None, "uniform") => PartitionParam::Uniform,
        (None, "direct") => PartitionParam::Direct,
        (None | Some("tuned"), _) => PartitionParam::Chosen(measured()),
        (Some("built-in"), _) => PartitionParam::Chosen(None),
        (Some(text), _) => PartitionParam::Text(text.to_owned()),
    })
}

fn block(creation: &MakeContext<'_>) -> Result<usize, MakeError> {
    let block = creation.number("block")? as usize;
    if block > 0 && !block.is_power_of_two() {
        let why = format!("`block` is {block}; it is a power of two");
        return Err(MakeError::param("block", why));
    }
    Ok(block)
}

fn latency(choice: usize) -> AddedLatency {
    match LATENCIES[choice] {
        "none" => AddedLatency::None,
        _ => AddedLatency::OneBlock,
    }
}

fn factor(gain_db: f64) -> f32 {
    if gain_db <= -120.0 {
        0.0
    } else {
        libm::exp10(gain_db / 20.0) as f32
    }
}

/// An error with its sources, in one line.
fn message(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", message(source)),
        None => error.to_string(),
    }
}
