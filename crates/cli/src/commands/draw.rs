//! `draw`: draws a session's graph, its process network, a patch, or what a unit does.

use crate::failure::Failure;
use crate::files::{extension, write_file};
use crate::guard::FileGuard;
use crate::network::{self, picture};
use crate::output::messages;
use crate::patch::{self, PatchCheck, PatchOptions};
use crate::session::latencies::latencies;
use crate::session::load::LoadedSession;
use crate::session::options::DEFAULT_BLOCK;
use clap::Args;
use divisi::draw::{self, Picture};
use divisi::graph::{Edge, PortRef};
use divisi::network::session::NetworkSpec;
use divisi::plan::{DelayedEdge, PlanOptions};
use divisi::prelude::Frames;
use divisi::processor::ExpandFormat;
use divisi::text::dot;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  divisi draw examples/04-diamond-16.ag -o diamond.svg
  divisi draw examples/05-session-64.toml -o session.pdf
  divisi draw examples/05-session-64.toml --unfold -o all.svg
  divisi draw session.toml -o session.png --scale 1
  divisi draw patch.pd -o patch.svg
  divisi draw patch.pd --canvas data -o data.svg
  divisi draw patch.pd --signal -o signals.svg
  divisi draw --unit svf freq=500 q=5 -o svf.svg";

/// Draws a session's graph, its process network, a Pure Data patch, or what a unit does
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Draw {
    /// The session: a .toml or .ag file, or a Pure Data patch (.pd); with --unit parameters, each KEY=VALUE
    #[arg(value_name = "FILE", required_unless_present = "unit", num_args = 0..)]
    input: Vec<PathBuf>,

    /// Draw what a node of this kind does: its response, waveform, curve or step
    #[arg(long, value_name = "KIND", conflicts_with_all = ["fold", "unfold", "signal", "block"])]
    unit: Option<String>,

    /// The picture to write: .svg, .pdf or .png; or .dot, for Graphviz
    #[arg(short, long, value_name = "OUT.svg")]
    output: PathBuf,

    /// Scale of a .png: its pixels per unit of the .svg
    #[arg(long, value_name = "TIMES", default_value_t = 2.0)]
    scale: f32,

    /// Draw each part, and all copies of a node, as one box with its count: the default
    #[arg(long)]
    fold: bool,

    /// Draw all nodes inside parts, and all copies
    #[arg(long, conflicts_with = "fold")]
    unfold: bool,

    /// Draw the signals of a patch, each object a node, and not its window
    #[arg(long)]
    signal: bool,

    /// Draw the window of this subpatch of a patch, with its data structures
    #[arg(long, value_name = "NAME", conflicts_with_all = ["signal", "unit", "fold", "unfold"])]
    canvas: Option<String>,

    #[command(flatten)]
    patch: PatchOptions,

    /// Frames in a block, on which latencies depend; default: that of the session
    #[arg(long, value_name = "FRAMES", value_parser = clap::value_parser!(u32).range(1..=16384))]
    block: Option<u32>,
}

/// Explanation of the labels of delayed edges.
const DELAY_LEGEND: &str = "+ frames by which an edge is delayed, to meet those that are late";

/// The output file.
enum Format {
    Dot,
    Svg,
    Pdf,
    Png,
}

impl Draw {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let format = self.format()?;
        if !(self.scale > 0.0 && self.scale.is_finite()) {
            return Err(Failure::bad_input("--scale must be a number above 0"));
        }
        if let Some(kind) = &self.unit {
            return self.draw_unit(kind, &format);
        }
        let [file] = &self.input[..] else {
            return Err(Failure::bad_input("it draws one file at a time"));
        };
        if self.canvas.is_some() && (!PatchCheck::is_patch(file) || matches!(format, Format::Dot)) {
            return Err(Failure::bad_input(
                "--canvas draws the window of a patch, as .svg, .pdf or .png",
            ));
        }
        if PatchCheck::is_patch(file) && !self.signal && !matches!(format, Format::Dot) {
            return self.draw_window(file, &format);
        }
        let loaded = self.read(file)?;
        loaded.guard(std::iter::once(file))?.output(&self.output)?;
        // A session that has both is drawn as the graph.
        match loaded.session.graph.is_empty() {
            true => self.draw_session(&loaded, network::read_valid(&loaded)?, &format),
            false => self.draw_session(&loaded, None, &format),
        }
    }

    /// Reads a session, with the signals of patches as nodes if these are asked for.
    fn read(&self, file: &Path) -> Result<LoadedSession, Failure> {
        let mut loaded = LoadedSession::read_valid_or_network(file, &self.patch)?;
        if self.signal {
            let format = ExpandFormat {
                rate: loaded.rate_or_default(None),
                block: DEFAULT_BLOCK,
                end: None,
                fuse: false,
            };
            loaded.expand(format)?;
        }
        Ok(loaded)
    }

    /// Draws `network`, else the graph of the session.
    fn draw_session(
        &self,
        loaded: &LoadedSession,
        network: Option<NetworkSpec>,
        format: &Format,
    ) -> Result<(), Failure> {
        let folded = || loaded.session.folded_graph().filter(|_| !self.unfold);
        let drawn = network.as_ref().map(picture::graph).or_else(folded);
        if self.fold && drawn.is_none() {
            messages::print_message("there are no parts to fold");
        }
        let graph = drawn.as_ref().unwrap_or(&loaded.session.graph);
        let delayed = match drawn {
            Some(_) => HashMap::new(),
            None => self.delayed_edges(loaded),
        };
        let delay = |edge: &Edge| {
            let frames = delayed.get(&(edge.from, edge.to));
            frames.map(|frames| format!("+{frames}"))
        };
        let label = |edge: &Edge| match &network {
            Some(network) => picture::queue_label(network, edge),
            None => delay(edge),
        };
        if let Format::Dot = format {
            return write_file(&self.output, dot::write_with_labels(graph, label));
        }
        let legend = match network {
            Some(_) => picture::QUEUE_LEGEND,
            None if !delayed.is_empty() => DELAY_LEGEND,
            None => "",
        };
        let catalogue = loaded.registry.plan_catalogue();
        let picture = draw::graph_with_labels(graph, &catalogue, label, legend)
            .map_err(|refused| Failure::bad_input(format!("{refused}; .dot has no such limit")))?;
        self.write(&picture, format)
    }

    /// Draws the window of a patch.
    fn draw_window(&self, file: &Path, format: &Format) -> Result<(), Failure> {
        let check = PatchCheck::read(file, &self.patch.path)?;
        FileGuard::new(check.files()).output(&self.output)?;
        check.print_diagnostics();
        let window = patch::window(check.loaded(), self.canvas.as_deref());
        let window = window.ok_or_else(|| {
            let name = self.canvas.as_deref().unwrap_or_default();
            Failure::bad_input(format!("{}: there is no canvas `{name}`", file.display()))
        })?;
        self.write(&draw::patch(&window), format)
    }

    /// Draws what a unit of `kind` does.
    fn draw_unit(&self, kind: &str, format: &Format) -> Result<(), Failure> {
        if matches!(format, Format::Dot) {
            return Err(Failure::bad_input(
                "what a unit does is drawn as .svg, .pdf or .png",
            ));
        }
        let mut params = Vec::new();
        for text in &self.input {
            let text = text.to_string_lossy();
            let (key, value) = text.split_once('=').ok_or_else(|| {
                Failure::bad_input(format!("`{text}` is not a parameter: write KEY=VALUE"))
            })?;
            params.push((key.to_string(), value.to_string()));
        }
        FileGuard::new(std::iter::empty::<PathBuf>()).output(&self.output)?;
        let registry = Arc::new(divisi::registry());
        let picture =
            lab::unit_picture(registry, kind, &params).map_err(Failure::from_input_error)?;
        self.write(&picture, format)
    }

    fn write(&self, picture: &Picture, format: &Format) -> Result<(), Failure> {
        match format {
            Format::Pdf => write_file(&self.output, picture.pdf()),
            Format::Png => write_file(&self.output, self.png(picture)?),
            Format::Svg | Format::Dot => write_file(&self.output, picture.svg()),
        }
    }

    /// The edges that are delayed to compensate latencies, with their delays in frames. A graph that cannot be planned is drawn
    /// without: `check` reports its mistakes.
    fn delayed_edges(&self, loaded: &LoadedSession) -> HashMap<(PortRef, PortRef), u32> {
        let block = loaded.block_or_default(self.block.map(Frames));
        let mut options = PlanOptions::new(block, loaded.rate_or_default(None));
        options.latencies = latencies(loaded, (options.block, options.rate)).0;
        if options.latencies.is_empty() {
            return HashMap::new();
        }
        let delayed = loaded.plan(&options).map(|plan| plan.delayed_edges);
        let delayed = delayed.unwrap_or_default().into_iter();
        let frames = |edge: DelayedEdge| ((edge.from, edge.to), edge.tap.frames.0);
        delayed.map(frames).collect()
    }

    fn format(&self) -> Result<Format, Failure> {
        match extension(&self.output).as_str() {
            "dot" => Ok(Format::Dot),
            "svg" => Ok(Format::Svg),
            "pdf" => Ok(Format::Pdf),
            "png" => Ok(Format::Png),
            _ => {
                let name = self.output.display();
                let message = format!("{name}: a picture ends in .svg, .pdf, .png or .dot");
                Err(Failure::bad_input(message))
            }
        }
    }

    /// Renders the PNG at the requested scale, or at the largest possible one with a note.
    fn png(&self, picture: &Picture) -> Result<Vec<u8>, Failure> {
        let made = picture.png_within_limit(self.scale);
        let (png, scale) = made.map_err(|refused| Failure::bad_input(refused.to_string()))?;
        if scale < self.scale {
            messages::print_message(&format!(
                "the picture is large: drawn at --scale {scale:.2}; .svg and .pdf have no such limit"
            ));
        }
        Ok(png)
    }
}
