//! What is compared: anything that convolves every channel with a response of its own, block by block.

use crate::ours::{How, Ours, Study};
use crate::two_stage::TwoStage;
use crate::zita::Zita;
use std::error::Error;
use studies::fewer_operations::Method;

/// What is compared.
pub trait Contestant {
    /// How it is set, in words.
    fn setting(&self) -> String;

    /// Convolves a block: `inputs` a channel each, `output` all channels one after another. Waits for all that is due if
    /// `waits`; otherwise gives silence for it.
    fn block(&mut self, inputs: &[&[f32]], output: &mut [f32], waits: bool) -> Late;

    /// The bytes of the spectra of responses and inputs, which nobody can do without; if it tells.
    fn spectra(&mut self) -> Option<usize> {
        None
    }
}

/// Whether something that was due was not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Late {
    /// How many results were not.
    pub results: u32,
    /// The longest period, in blocks, that one of them had.
    pub blocks: u32,
}

/// What a contestant is made from.
pub struct Hall<'a> {
    /// How many channels.
    pub channels: usize,
    /// How long each one's response is.
    pub length: usize,
    /// A channel's response.
    pub response: &'a dyn Fn(usize) -> Vec<f32>,
    /// The real-time priority of its first thread, others below; 0 for ordinary ones.
    pub priority: i32,
    /// How Divisi is to cut responses (`15x64 14x512 ...`) and which levels by sixteen channels; else as it would.
    pub partition: Option<&'a str>,
    /// The greatest size of a level that does sixteen channels at a time.
    pub batch: Option<usize>,
    /// Up to how many floats a level is near.
    pub near: Option<usize>,
    /// From which size on levels are in half precision.
    pub half: Option<usize>,
}

impl<'a> Hall<'a> {
    /// For so many channels with responses of that length, made by `response`; nothing else asked for.
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

/// A way to make one.
pub struct Maker {
    /// What it is called in tables and on the command line.
    pub name: &'static str,
    /// Makes it.
    pub make: fn(&Hall<'_>) -> Result<Box<dyn Contestant>, Box<dyn Error>>,
    /// Whose gain or loss against whom it shows; nobody's where it takes part for itself, and without being asked for.
    pub beside: Option<&'static str>,
}

/// Everyone who takes part. The first is whom the others are held against; those who are beside somebody come last.
pub fn all() -> Vec<Maker> {
    let maker = |name, make, beside| Maker { name, make, beside };
    vec![
        maker("zita", |hall| Ok(Box::new(Zita::new(hall)?)), None),
        maker("ours", |hall| ours(hall, How::for_hall(hall)), None),
        maker("ours-spread", |hall| ours(hall, How::Spread), None),
        maker("two-stage", |hall| Ok(Box::new(TwoStage::new(hall)?)), None),
        maker("study", |hall| study(hall, Method::Plain), Some("ours")),
        maker(
            "study-gardner",
            |hall| study(hall, Method::Composed),
            Some("study"),
        ),
        maker(
            "study-nested",
            |hall| study(hall, Method::Nested),
            Some("study"),
        ),
    ]
}

fn ours(hall: &Hall<'_>, how: How) -> Result<Box<dyn Contestant>, Box<dyn Error>> {
    Ok(Box::new(Ours::new(hall, how)?))
}

fn study(hall: &Hall<'_>, method: Method) -> Result<Box<dyn Contestant>, Box<dyn Error>> {
    Ok(Box::new(Study::new(hall, method)?))
}
