//! What a node says, and what is built by it.

use super::kind::{LATENCIES, METHODS};
use super::scheduler::Way;
use crate::response::ir::{Ir, IrLimit, IrProcessing, Normalise, Paths};
use crate::tuning::{PartitionChoice, PartitionOrigin, choose_partition};
use crate::{
    AddedLatency, Convolver, ConvolverAdapter, ConvolverOptions, CostTable, Exchange, MAX_BLOCK,
    Partition, PartitionSpace, Path,
};
use processor::{MakeContext, MakeError, Setup};
use std::path::PathBuf;
use std::sync::Arc;
use units::SampleRate;

/// The internal block where the graph's has no useful power of two in it.
const BLOCK: usize = 64;
/// Blocks below this are worth it only where the graph's own is as small.
const LEAST_BLOCK: usize = 16;

/// How the response is cut.
enum Cut {
    /// By what was measured here, or by the built-in table.
    Chosen(Option<Arc<CostTable>>),
    Uniform,
    Direct,
    Text(String),
}

/// What the node says.
pub(super) struct ConvolverConfig {
    pub(super) files: Vec<(PathBuf, Ir)>,
    shape: IrProcessing,
    gain: f32,
    predelay: f64,
    fade: f64,
    cut: Cut,
    block: usize,
    latency: AddedLatency,
    /// From partitions of so many frames on spectra are in half precision.
    half: Option<usize>,
    pub(super) channels: usize,
    pub(super) way: Way,
}

/// What is built by it.
pub(super) struct Built {
    pub(super) adapter: ConvolverAdapter,
    /// What it can change to.
    pub(super) spare: Option<Box<Exchange>>,
    pub(super) origin: PartitionOrigin,
    /// What was done that nobody asked for.
    pub(super) notes: Vec<String>,
}

impl ConvolverConfig {
    /// What `creation` says; `measured` is asked for only where it counts.
    ///
    /// Real-time: setup.
    pub(super) fn of(
        creation: &MakeContext<'_>,
        measured: impl FnOnce() -> Option<Arc<CostTable>>,
    ) -> Result<Self, MakeError> {
        let wish = Self {
            files: files(creation)?,
            shape: IrProcessing {
                reverse: creation.node.flag("reverse"),
                normalise: [Normalise::Off, Normalise::Peak, Normalise::Energy]
                    [creation.choice("normalise")?],
                ..IrProcessing::default()
            },
            gain: factor(creation.number("gain_db")?),
            predelay: creation.number("predelay")?,
            fade: creation.number("fade")?,
            cut: cut(creation, measured)?,
            block: block(creation)?,
            latency: latency(creation.choice("latency")?),
            half: Some(creation.number("half")? as usize).filter(|from| *from > 0),
            channels: creation.number("channels")? as usize,
            way: Way::of(
                creation.choice("work")?,
                creation.choice("pin")?,
                creation.number("priority")? as u8,
            ),
        };
        wish.try_out()?;
        Ok(wish)
    }

    /// What setup will do is tried now, where it can still be refused.
    fn try_out(&self) -> Result<(), MakeError> {
        let mut frames = 1;
        for ((_, ir), key) in self.files.iter().zip(["file", "other"]) {
            let paths = self.paths(ir, ir.rate());
            let paths = paths.map_err(|why| MakeError::param(key, why))?;
            frames = paths
                .iter()
                .map(|path| path.ir.len())
                .fold(frames, usize::max);
        }
        // The graph's block is not known yet: a partition for any is one.
        let blocks = (0..=MAX_BLOCK.ilog2()).map(|bits| 1 << bits);
        let blocks = std::iter::once(BLOCK).chain(blocks);
        let blocks = blocks.map(|block| if self.block > 0 { self.block } else { block });
        let mut tried = blocks.map(|block| self.choice(block, frames).map(drop));
        let first = tried.next().unwrap_or(Ok(()));
        first.or_else(|wrong| tried.find(Result::is_ok).unwrap_or(Err(wrong)))
    }

    /// The paths through `ir`, which is at `rate`.
    fn paths(&self, ir: &Ir, rate: SampleRate) -> Result<Vec<Path>, String> {
        let ir = self.shape.apply(ir.clone()).map_err(|e| told(&e))?;
        let paths = Paths::from_ir(&ir, self.channels).map_err(|e| told(&e))?;
        if paths.outputs() != self.channels {
            let (channels, outputs) = (self.channels, paths.outputs());
            return Err(format!(
                "it gives {outputs} channels, and the node has {channels}"
            ));
        }
        let delay = (self.predelay * f64::from(rate.hz())).round() as usize;
        let paths = paths
            .with_gain_and_delay(self.gain, delay)
            .map_err(|e| told(&e))?;
        Ok(paths.resolve())
    }

    fn choice(&self, block: usize, frames: usize) -> Result<PartitionChoice, MakeError> {
        let (cut, key) = match &self.cut {
            Cut::Text(text) => (Partition::parse(block, self.latency, text), "partition"),
            Cut::Uniform => (Partition::uniform(block, self.latency, frames), "block"),
            Cut::Direct => (Partition::direct(block, frames), "block"),
            Cut::Chosen(costs) => match PartitionSpace::new(frames, block, self.latency) {
                Some(space) => {
                    return Ok(choose_partition(&space, self.channels, costs.as_deref()));
                }
                None => (Partition::typical(block, self.latency, frames), "block"),
            },
        };
        let cut = cut.map_err(|e| MakeError::param(key, told(&e)))?;
        if cut.max_ir_frames() < frames {
            let reach = cut.max_ir_frames();
            let told = format!("`{cut}` has {reach} frames, and the response {frames}");
            return Err(MakeError::param(key, told));
        }
        Ok(PartitionChoice::given(cut))
    }

    /// The internal block for a graph's.
    fn block(&self, graph: usize) -> usize {
        let divides = (1 << graph.trailing_zeros()).min(crate::MAX_BLOCK);
        match self.block {
            0 if divides >= LEAST_BLOCK || divides == graph => divides,
            0 => BLOCK,
            block => block,
        }
    }

    /// The convolver, whose response is number `first`, and what it can change to.
    ///
    /// Real-time: setup.
    pub(super) fn build(&self, setup: &Setup<'_>, first: usize) -> Result<Built, String> {
        let mut notes = Vec::new();
        let files = self.files.iter();
        let sets = files.map(|file| self.set(file, setup.rate, &mut notes));
        let sets = sets.collect::<Result<Vec<_>, _>>()?;
        let frames = sets.iter().flatten().map(|path| path.ir.len()).max();
        let (block, frames) = (self.block(setup.block.count()), frames.unwrap_or(1));
        let choice = match self.choice(block, frames) {
            Ok(found) => found,
            // One that was said for another block or rate than there are now is no reason for silence.
            Err(why) => {
                let usual = Partition::typical(block, self.latency, frames);
                let usual = usual.map_err(|e| told(&e))?;
                notes.push(format!("{}: `{usual}` in its place", why.message));
                PartitionChoice {
                    origin: PartitionOrigin::BuiltIn,
                    ..PartitionChoice::given(usual)
                }
            }
        };
        let mut options = self
            .way
            .prepare(ConvolverOptions::new(choice.partition), self.channels);
        options.half_precision_from = self.half;
        options.fade_frames = (self.fade * f64::from(setup.rate.hz())) as usize;
        let build = Convolver::new(self.channels, self.channels, &sets[first], &options);
        let convolver = build.map_err(|e| told(&e))?;
        let prepare = |other| convolver.preparer().prepare(other).map_err(|e| told(&e));
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

    /// The paths through a file, at another rate than its own if it must be.
    fn set(
        &self,
        (path, ir): &(PathBuf, Ir),
        rate: SampleRate,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Path>, String> {
        if ir.rate() == rate {
            return self.paths(ir, rate);
        }
        let loaded = Ir::load(path, rate, &IrLimit::default()).map_err(|e| told(&e))?;
        notes.extend(loaded.notes.iter().map(ToString::to_string));
        self.paths(&loaded.ir, rate)
    }
}

/// What a text says, if it says anything.
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

fn load(path: &std::path::Path) -> Result<Ir, String> {
    let rate = media::open(path).map_err(|e| told(&e))?.rate();
    let loaded = Ir::load(path, rate, &IrLimit::default());
    Ok(loaded.map_err(|e| told(&e))?.ir)
}

fn cut(
    creation: &MakeContext<'_>,
    measured: impl FnOnce() -> Option<Arc<CostTable>>,
) -> Result<Cut, MakeError> {
    let method = METHODS[creation.choice("method")?];
    Ok(match (text(creation, "partition"), method) {
        (None, "uniform") => Cut::Uniform,
        (None, "direct") => Cut::Direct,
        (None | Some("tuned"), _) => Cut::Chosen(measured()),
        (Some("built-in"), _) => Cut::Chosen(None),
        (Some(text), _) => Cut::Text(text.to_owned()),
    })
}

fn block(creation: &MakeContext<'_>) -> Result<usize, MakeError> {
    let block = creation.number("block")? as usize;
    if block > 0 && !block.is_power_of_two() {
        let told = format!("`block` is {block}; it is a power of two");
        return Err(MakeError::param("block", told));
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

/// The error and what is behind it, in one line.
fn told(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", told(source)),
        None => error.to_string(),
    }
}
