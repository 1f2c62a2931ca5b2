//! [`ConvolverConfig`]: the parameters of one node, and the convolver made from them.

use super::kind::{LATENCIES, METHODS};
use super::responses::{Responses, text};
use super::scheduler::SchedulerChoice;
use crate::response::ir::{IrProcessing, Normalise};
use crate::tuning::{PartitionChoice, PartitionOrigin, choose_partition};
use crate::{
    AddedLatency, Convolver, ConvolverAdapter, ConvolverOptions, CostTable, Exchange, MAX_BLOCK,
    Partition, PartitionSpace, Path,
};
use graph::error_chain;
use processor::{MakeContext, MakeError, WorkSeat};
use std::sync::Arc;
use units::SampleRate;

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
    pub(super) responses: Responses,
    gain: f32,
    predelay: f64,
    fade: f64,
    partition: PartitionParam,
    block: usize,
    latency: AddedLatency,
    /// Size from which on levels have filter spectra in half precision.
    half: Option<usize>,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) work: SchedulerChoice,
    pub(super) seat: WorkSeat,
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
    /// Reads the parameters and files of a node `convolver`; `measured` is called only if its costs are needed.
    ///
    /// Real-time: setup.
    pub(super) fn new(
        creation: &MakeContext<'_>,
        measured: impl FnOnce() -> Option<Arc<CostTable>>,
    ) -> Result<Self, MakeError> {
        let processing = IrProcessing {
            reverse: creation.node.flag("reverse"),
            normalise: [Normalise::Off, Normalise::Peak, Normalise::Energy]
                [creation.choice("normalise")?],
            ..IrProcessing::default()
        };
        let responses = Responses::of_files(creation, processing)?;
        let fade = creation.number("fade")?;
        Self::with_responses(creation, (responses, fade), measured)
    }

    /// Reads the parameters and the configuration of a node `jconvolver`, likewise.
    ///
    /// Real-time: setup.
    pub(super) fn of_configuration(
        creation: &MakeContext<'_>,
        measured: impl FnOnce() -> Option<Arc<CostTable>>,
    ) -> Result<Self, MakeError> {
        let responses = Responses::of_configuration(creation)?;
        Self::with_responses(creation, (responses, 0.0), measured)
    }

    fn with_responses(
        creation: &MakeContext<'_>,
        (responses, fade): (Responses, f64),
        measured: impl FnOnce() -> Option<Arc<CostTable>>,
    ) -> Result<Self, MakeError> {
        let node = creation.node;
        let config = Self {
            responses,
            gain: factor(creation.number("gain_db")?),
            predelay: creation.number("predelay")?,
            fade,
            partition: partition(creation, measured)?,
            block: block(creation)?,
            latency: latency(creation.choice("latency")?),
            half: Some(creation.number("half")? as usize).filter(|from| *from > 0),
            inputs: node.channels.count(),
            outputs: node.output_channels.unwrap_or(node.channels).count(),
            work: SchedulerChoice::new(
                creation.choice("work")?,
                creation.choice("pin")?,
                creation.number("priority")? as u8,
            ),
            seat: creation.work_seat(),
        };
        config.check()?;
        Ok(config)
    }

    /// Tries what setup will do, while an error can still refuse the node.
    fn check(&self) -> Result<(), MakeError> {
        let mut frames = 1;
        for (number, key) in (0..self.responses.count()).zip(["file", "other"]) {
            let rate = self.responses.own_rate(number);
            let paths = self.paths(number, rate, &mut Vec::new());
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

    /// Paths of response `number` at `rate`.
    fn paths(
        &self,
        number: usize,
        rate: SampleRate,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Path>, String> {
        let paths = self.responses.paths(number, (self.inputs, rate), notes)?;
        let (inputs, outputs) = (paths.inputs(), paths.outputs());
        if inputs != self.inputs {
            let has = self.inputs;
            return Err(format!(
                "it takes {inputs} channels, and the node has {has}"
            ));
        }
        if outputs != self.outputs {
            let has = self.outputs;
            return Err(format!(
                "it gives {outputs} channels, and the node has {has}"
            ));
        }
        let delay = (self.predelay * f64::from(rate.hz())).round() as usize;
        let paths = paths
            .with_gain_and_delay(self.gain, delay)
            .map_err(|e| error_chain(&e))?;
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
                    return Ok(choose_partition(&space, self.outputs, costs.as_deref()));
                }
                None => (Partition::typical(block, self.latency, frames), "block"),
            },
        };
        let partition = partition.map_err(|e| MakeError::param(key, error_chain(&e)))?;
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
    pub(super) fn build(
        &self,
        (rate, graph_block): (SampleRate, usize),
        first: usize,
    ) -> Result<Built, String> {
        let mut notes = Vec::new();
        let numbers = 0..self.responses.count();
        let sets = numbers.map(|number| self.paths(number, rate, &mut notes));
        let sets = sets.collect::<Result<Vec<_>, _>>()?;
        let frames = sets.iter().flatten().map(|path| path.ir.len()).max();
        let (block, frames) = (self.block(graph_block), frames.unwrap_or(1));
        let choice = match self.choose(block, frames) {
            Ok(found) => found,
            // A partition for another block or rate is no reason for silence.
            Err(why) => {
                let usual = Partition::typical(block, self.latency, frames);
                let usual = usual.map_err(|e| error_chain(&e))?;
                notes.push(format!("{}: `{usual}` in its place", why.message));
                PartitionChoice {
                    origin: PartitionOrigin::BuiltIn,
                    ..PartitionChoice::given(usual)
                }
            }
        };
        let mut options = self
            .work
            .adapt_options(ConvolverOptions::new(choice.partition), self.outputs);
        options.half_precision_from = self.half;
        options.fade_frames = (self.fade * f64::from(rate.hz())) as usize;
        let build = Convolver::new(self.inputs, self.outputs, &sets[first], &options);
        let convolver = build.map_err(|e| error_chain(&e))?;
        let prepare = |other| {
            convolver
                .preparer()
                .prepare(other)
                .map_err(|e| error_chain(&e))
        };
        let spare = sets
            .get(1 - first)
            .map(|other| prepare(other))
            .transpose()?;
        Ok(Built {
            adapter: ConvolverAdapter::new(convolver, Some(graph_block)),
            spare,
            origin: choice.origin,
            notes,
        })
    }
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
