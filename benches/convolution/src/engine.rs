//! [`Engine`]: a convolver under comparison, and the list of all of them.
//!
//! | engine | what it is |
//! |---|---|
//! | `zita` | zita-convolver 4, with a thread for each level |
//! | `ours` | Divisi's convolver, with a thread for each level, or inline without real-time priority |
//! | `ours-spread` | the same in the callback, the same share of the work in each |
//! | `two-stage` | the two-stage FFTConvolver |
//! | `study`, `study-gardner`, `study-nested` | Divisi's study of fewer operations: without, larger transforms from smaller ones, nested convolution |

use crate::divisi::{Divisi, Scheduling};
use crate::study::Study;
use crate::two_stage::TwoStage;
use crate::zita::Zita;
use std::error::Error;
use studies::fewer_operations::Method;

/// A convolver of many channels, each with its own response, block by block.
pub trait Engine {
    /// Its configuration as text.
    fn setting(&self) -> String;

    /// Convolves a block. `inputs` has a block for each channel; `output` has the blocks of all channels one after another.
    /// If `waits`, waits for all results that are due; else late results are silence.
    fn block(&mut self, inputs: &[&[f32]], output: &mut [f32], waits: bool) -> Late;

    /// Bytes of the spectra of responses and inputs, the lower bound of its memory, if known.
    fn spectra(&mut self) -> Option<usize> {
        None
    }
}

/// Results that were late in a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Late {
    /// Number of late results.
    pub results: u32,
    /// The longest period of a late level, in blocks.
    pub blocks: u32,
}

/// Channels, responses and settings that an engine is made for.
pub struct Workload<'a> {
    /// Number of channels.
    pub channels: usize,
    /// Length of each response, in frames.
    pub length: usize,
    /// Response of a channel.
    pub response: &'a dyn Fn(usize) -> Vec<f32>,
    /// Real-time priority of the engine's first thread, with lower ones for the others; 0 for ordinary threads.
    pub priority: i32,
    /// Partition of Divisi (`15x64 14x512 ...`); `None` for its own choice.
    pub partition: Option<&'a str>,
    /// Largest level of Divisi that processes sixteen channels at a time.
    pub batch: Option<usize>,
    /// Floats up to which Divisi takes a level to be in the caches.
    pub near: Option<usize>,
    /// Size from which on Divisi's levels are in half precision.
    pub half: Option<usize>,
}

impl<'a> Workload<'a> {
    /// A workload with default settings.
    pub fn new(channels: usize, length: usize, response: &'a dyn Fn(usize) -> Vec<f32>) -> Self {
        Self {
            channels,
            length,
            response,
            priority: 0,
            partition: None,
            batch: None,
            near: None,
            half: None,
        }
    }
}

/// Constructor of an engine.
type Make = fn(&Workload<'_>) -> Result<Box<dyn Engine>, Box<dyn Error>>;

/// An entry of the list of engines.
pub struct EngineEntry {
    /// Name in tables and on the command line.
    pub name: &'static str,
    /// Makes it.
    pub make: Make,
    /// The engine that its gain is relative to. Entries with one take part on request only.
    pub baseline: Option<&'static str>,
}

/// All engines. Ratios are relative to the first.
pub fn all() -> Vec<EngineEntry> {
    let entry = |name, make: Make, baseline| EngineEntry {
        name,
        make,
        baseline,
    };
    let plain = Some("study");
    vec![
        entry("zita", |load| Ok(Box::new(Zita::new(load)?)), None),
        entry(
            "ours",
            |load| Ok(Box::new(Divisi::new(load, Scheduling::for_workload(load))?)),
            None,
        ),
        entry(
            "ours-spread",
            |load| Ok(Box::new(Divisi::new(load, Scheduling::Spread)?)),
            None,
        ),
        entry("two-stage", |load| Ok(Box::new(TwoStage::new(load)?)), None),
        entry(
            "study",
            |load| study(load, Method::Plain),
            Some("ours"),
        ),
        entry("study-gardner", |load| study(load, Method::Composed), plain),
        entry("study-nested", |load| study(load, Method::Nested), plain),
    ]
}

fn study(workload: &Workload<'_>, method: Method) -> Result<Box<dyn Engine>, Box<dyn Error>> {
    Ok(Box::new(Study::new(workload, method)?))
}
