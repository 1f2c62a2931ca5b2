//! The kinds that a session can name, and what each is made by.

use super::params::{Params, words};
use super::{Border, MAX_NODES, Reader};
use crate::fire::Actor;
use crate::kinds::{
    Add, Decimate, Gain, Interpolate, InverseStft, KindError, OverlapSave, Split, Stft, low_pass,
};
use crate::network::Network;
use crate::shape::{InputPort, OutputPort, Ports};
use graph::{SourceSpan, nearest};
use std::ops::RangeInclusive;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

/// Kinds by name.
pub(super) const KINDS: [&str; 11] = [
    "input",
    "output",
    "gain",
    "add",
    "split",
    "fir",
    "decimate",
    "interpolate",
    "overlap_save",
    "stft",
    "istft",
];
/// Frames a firing of a node that does not say.
pub(super) const USUAL_PIECE: usize = 256;
pub(super) const MOST_PIECE: usize = 1 << 16;
pub(super) const MOST_TAPS: usize = 1 << 16;
/// Frames of a transform.
pub(super) const SIZES: RangeInclusive<usize> = 32..=1 << 20;
pub(super) const MOST_FACTOR: usize = 1024;
pub(super) const MOST_CHANNELS: usize = 64;
pub(super) const MOST_PORTS: usize = 64;
pub(super) const GAINS_DB: RangeInclusive<f64> = -200.0..=200.0;
/// As a share of the rate.
pub(super) const CUTOFFS: RangeInclusive<f64> = 1e-6..=0.5;
/// Samples that the nodes of one network may need for themselves.
const MOST_SAMPLES: usize = 1 << 24;

/// How sound goes through a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    pub(super) channels: usize,
    pub(super) piece: usize,
}

/// What a node is made by.
#[derive(Clone, Debug)]
pub(super) enum Recipe {
    Input(Format),
    Output(Format),
    Gain(f32, Format),
    Add(usize, Format),
    Split(usize, Format),
    Decimate(Arc<[f32]>, usize, Format),
    Interpolate(Arc<[f32]>, usize, Format),
    OverlapSave(Arc<[f32]>, usize, Format),
    Stft(usize, usize, Format),
    InverseStft(usize, usize, Format),
}

/// Nodes that were read: a network of them alone, what each is made by, and where it stands.
#[derive(Default)]
pub(super) struct Nodes {
    pub(super) network: Network,
    pub(super) recipes: Vec<Recipe>,
    pub(super) places: Vec<SourceSpan>,
    /// Samples that they need for themselves.
    samples: usize,
}

impl<'t> Reader<'t> {
    /// The nodes of a network.
    pub(super) fn nodes(&mut self, table: &DeTable<'t>, place: SourceSpan) -> Option<Nodes> {
        let mut all = Params::new(table);
        let usual = Format {
            channels: all.count(self, "channels", 1, 1..=MOST_CHANNELS),
            piece: all.count(self, "piece", USUAL_PIECE, 1..=MOST_PIECE),
        };
        let written = all
            .get("nodes")
            .and_then(|nodes| nodes.get_ref().as_table());
        let _ = (all.get("edges"), all.get("queues"));
        all.end(self, "`network`");
        let Some(written) = written.filter(|nodes| (1..=MAX_NODES).contains(&nodes.len())) else {
            let told = format!("a network has 1 to {MAX_NODES} nodes: [network.nodes]");
            self.error(place, told);
            return None;
        };
        let mut in_order: Vec<_> = written.iter().collect();
        in_order.sort_by_key(|(key, _)| key.span().start);
        let mut nodes = Nodes::default();
        for (key, value) in in_order {
            let (name, at) = (key.get_ref().to_string(), self.source.place(key.span()));
            self.node(name, value.get_ref(), at, usual, &mut nodes)?;
        }
        self.one_of_each(&nodes.recipes, place);
        Some(nodes)
    }

    /// Adds a node, where nothing is wrong with it; none if there is no sense in reading on.
    fn node(
        &mut self,
        name: String,
        value: &DeValue<'t>,
        at: SourceSpan,
        usual: Format,
        nodes: &mut Nodes,
    ) -> Option<()> {
        let Some(table) = value.as_table() else {
            let told = format!("node `{name}` is a table: {{ kind = \"gain\" }}");
            self.error(at, told);
            return Some(());
        };
        let Some(recipe) = self.recipe(&name, table, at, usual) else {
            return Some(());
        };
        nodes.samples += recipe.samples();
        if nodes.samples > MOST_SAMPLES {
            self.error(at, "the nodes up to this one need too much memory");
            return None;
        }
        let made = recipe.make();
        match made.map(|fire| nodes.network.add_boxed(name.clone(), fire)) {
            Ok(Ok(_)) => {
                nodes.recipes.push(recipe);
                nodes.places.push(at);
            }
            Ok(Err(wrong)) => drop(self.error(at, wrong.to_string())),
            Err(wrong) => drop(self.error(at, format!("`{name}`: {wrong}"))),
        }
        Some(())
    }

    fn one_of_each(&mut self, recipes: &[Recipe], place: SourceSpan) {
        let count = |is_it: fn(&&Recipe) -> bool| recipes.iter().filter(is_it).count();
        let inputs = count(|recipe| matches!(recipe, Recipe::Input(_)));
        let outputs = count(|recipe| matches!(recipe, Recipe::Output(_)));
        for (what, count) in [("input", inputs), ("output", outputs)] {
            if count != 1 {
                let told =
                    format!("a network has one node of kind `{what}`, and this one has {count}");
                self.error(place, told);
            }
        }
    }

    fn recipe(
        &mut self,
        name: &str,
        table: &DeTable<'t>,
        at: SourceSpan,
        usual: Format,
    ) -> Option<Recipe> {
        let mut params = Params::new(table);
        let Some(kind) = params.get("kind") else {
            self.error(at, format!("node `{name}` has no `kind`"));
            return None;
        };
        let (kind, kind_at) = words(self, kind, "`kind`")?;
        let format = Format {
            channels: params.count(self, "channels", usual.channels, 1..=MOST_CHANNELS),
            piece: params.count(self, "piece", usual.piece, 1..=MOST_PIECE),
        };
        let Some(recipe) = self.of_kind(kind, &mut params, format) else {
            let told = self.error(kind_at, format!("there is no kind `{kind}` in a network"));
            told.help = match nearest(kind, KINDS.into_iter()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("there are {}", KINDS.join(", ")),
            };
            return None;
        };
        params.end(self, &format!("kind `{kind}`"));
        Some(recipe)
    }

    /// What a node of this kind is made by, if there is such a kind.
    fn of_kind(
        &mut self,
        kind: &str,
        params: &mut Params<'_, 't>,
        format: Format,
    ) -> Option<Recipe> {
        Some(match kind {
            "input" => Recipe::Input(format),
            "output" => Recipe::Output(format),
            "gain" => {
                let gain_db = params.number(self, "gain_db", GAINS_DB);
                let factor = gain_db.map_or(1.0, |db| libm::pow(10.0, db / 20.0));
                Recipe::Gain(factor as f32, format)
            }
            "add" => Recipe::Add(params.count(self, "in", 2, 1..=MOST_PORTS), format),
            "split" => Recipe::Split(params.count(self, "out", 2, 1..=MOST_PORTS), format),
            "fir" => Recipe::Decimate(self.taps(params, 1), 1, format),
            "decimate" => {
                let factor = params.count(self, "factor", 2, 1..=MOST_FACTOR);
                Recipe::Decimate(self.taps(params, factor), factor, format)
            }
            "interpolate" => {
                let factor = params.count(self, "factor", 2, 1..=MOST_FACTOR);
                // The silent frames between take their share of the sound.
                let taps = louder(&self.taps(params, factor), factor);
                Recipe::Interpolate(taps, factor, format)
            }
            "overlap_save" => {
                let size = params.count(self, "size", 4096, SIZES);
                Recipe::OverlapSave(self.taps(params, 1), size, format)
            }
            "stft" | "istft" => {
                let size = params.count(self, "size", 1024, SIZES);
                let hop = params.count(self, "hop", size / 2, 1..=*SIZES.end());
                match kind {
                    "stft" => Recipe::Stft(size, hop, format),
                    _ => Recipe::InverseStft(size, hop, format),
                }
            }
            _ => return None,
        })
    }

    /// The taps as they are written, or of a low-pass.
    fn taps(&mut self, params: &mut Params<'_, 't>, factor: usize) -> Arc<[f32]> {
        let written = params.numbers(self, "coefs", MOST_TAPS);
        let count = params.count(self, "taps", 16 * factor.min(4096) + 1, 1..=MOST_TAPS);
        let cutoff = params.number(self, "cutoff", CUTOFFS);
        let cutoff = cutoff.unwrap_or(0.45 / factor as f64);
        written.unwrap_or_else(|| low_pass(count, cutoff)).into()
    }
}

fn louder(taps: &[f32], factor: usize) -> Arc<[f32]> {
    taps.iter().map(|tap| tap * factor as f32).collect()
}

impl Recipe {
    /// The kind's name; `fir` for what is made as one.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Input(_) => "input",
            Self::Output(_) => "output",
            Self::Gain(..) => "gain",
            Self::Add(..) => "add",
            Self::Split(..) => "split",
            Self::Decimate(_, 1, _) => "fir",
            Self::Decimate(..) => "decimate",
            Self::Interpolate(..) => "interpolate",
            Self::OverlapSave(..) => "overlap_save",
            Self::Stft(..) => "stft",
            Self::InverseStft(..) => "istft",
        }
    }

    /// About how many samples the node needs for itself.
    fn samples(&self) -> usize {
        match self {
            Self::Input(_) | Self::Output(_) | Self::Gain(..) | Self::Add(..) | Self::Split(..) => {
                0
            }
            Self::Decimate(taps, ..) | Self::Interpolate(taps, ..) => 2 * taps.len(),
            Self::OverlapSave(_, size, _) => 5 * size,
            Self::Stft(size, ..) | Self::InverseStft(size, ..) => 6 * size,
        }
    }

    /// The node; a border that is silent, where its sound is elsewhere.
    pub(super) fn make(&self) -> Result<Box<dyn Actor>, KindError> {
        Ok(match self {
            Self::Input(f) => {
                let output = OutputPort::new("out", f.piece, f.piece).channels(f.channels);
                Box::new(Border(Ports::source(output)))
            }
            Self::Output(f) => {
                let input = InputPort::new("in", f.piece, f.piece).channels(f.channels);
                Box::new(Border(Ports::sink(input)))
            }
            Self::Gain(factor, f) => Box::new(Gain::new(*factor, f.channels, f.piece)?),
            Self::Add(count, f) => Box::new(Add::new(*count, f.channels, f.piece)?),
            Self::Split(count, f) => Box::new(Split::new(*count, f.channels, f.piece)?),
            Self::Decimate(taps, factor, f) => {
                Box::new(Decimate::new(taps, *factor, f.channels, f.piece)?)
            }
            Self::Interpolate(taps, factor, f) => {
                Box::new(Interpolate::new(taps, *factor, f.channels, f.piece)?)
            }
            Self::OverlapSave(taps, size, f) => {
                Box::new(OverlapSave::new(taps, *size, f.channels)?)
            }
            Self::Stft(size, hop, f) => Box::new(Stft::new(*size, *hop, f.channels)?),
            Self::InverseStft(size, hop, f) => Box::new(InverseStft::new(*size, *hop, f.channels)?),
        })
    }
}
