//! [`Responses`]: the sources of a node's responses, and the widths that they give it.

use crate::response::ir::{Ir, IrLimit, IrProcessing, Paths};
use crate::response::jconvolver;
use graph::{Node, Widths, error_chain};
use processor::{MakeContext, MakeError};
use std::path::{Path, PathBuf};
use units::{Channels, SampleRate};

/// Largest configuration, in bytes.
const MAX_CONFIG_BYTES: u64 = 1 << 20;
/// Rate at which a configuration is read before the rate is known.
const USUAL_RATE: SampleRate = SampleRate::new(48_000).expect("48000 is a rate");

/// Source of the responses.
pub(super) enum Responses {
    /// Files with a response each, as loaded, and what is done with them.
    Files(Vec<(PathBuf, Ir)>, IrProcessing),
    /// A configuration of jconvolver.
    Configuration(PathBuf),
}

impl Responses {
    /// The files that the node `convolver` names.
    pub(super) fn of_files(
        context: &MakeContext<'_>,
        processing: IrProcessing,
    ) -> Result<Self, MakeError> {
        let mut files = Vec::new();
        for key in ["file", "other"] {
            if let Some(file) = text(context, key) {
                let path = context.folder.join(file);
                let ir = load(&path).map_err(|why| MakeError::param(key, why))?;
                files.push((path, ir));
            } else if key == "file" {
                return Err(MakeError::param(key, "`convolver` needs `file`"));
            }
        }
        Ok(Self::Files(files, processing))
    }

    /// The configuration that the node `jconvolver` names.
    pub(super) fn of_configuration(context: &MakeContext<'_>) -> Result<Self, MakeError> {
        match text(context, "file") {
            Some(file) => Ok(Self::Configuration(context.folder.join(file))),
            None => Err(MakeError::param("file", "`jconvolver` needs `file`")),
        }
    }

    /// Number of responses between which the node can switch.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Files(files, _) => files.len(),
            Self::Configuration(_) => 1,
        }
    }

    /// Rate at which the responses can be read without resampling, as far as it is known.
    pub(super) fn own_rate(&self, number: usize) -> SampleRate {
        match self {
            Self::Files(files, _) => files[number].1.rate(),
            Self::Configuration(_) => USUAL_RATE,
        }
    }

    /// The paths of response `number` at `rate`, for a sound of `inputs` channels.
    ///
    /// # Errors
    ///
    /// It cannot be read, or does not fit that sound; in a sentence.
    pub(super) fn paths(
        &self,
        number: usize,
        (inputs, rate): (usize, SampleRate),
        notes: &mut Vec<String>,
    ) -> Result<Paths, String> {
        let (path, ir, processing) = match self {
            Self::Configuration(path) => return configuration(path, rate, notes),
            Self::Files(files, processing) => {
                let (path, ir) = &files[number];
                (path, ir, processing)
            }
        };
        let ir = match ir.rate() == rate {
            true => ir.clone(),
            false => {
                let loaded =
                    Ir::load(path, rate, &IrLimit::default()).map_err(|e| error_chain(&e))?;
                notes.extend(loaded.notes.iter().map(ToString::to_string));
                loaded.ir
            }
        };
        let ir = processing.apply(ir).map_err(|e| error_chain(&e))?;
        Paths::from_ir(&ir, inputs).map_err(|e| error_chain(&e))
    }
}

/// The paths of a configuration; its warnings become notes.
fn configuration(path: &Path, rate: SampleRate, notes: &mut Vec<String>) -> Result<Paths, String> {
    let name = path.display();
    let bytes = files::read(path, MAX_CONFIG_BYTES).map_err(|error| format!("{name}: {error}"))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let reading = jconvolver::read(&bytes, folder, rate, &IrLimit::default());
    let (errors, warnings): (Vec<_>, Vec<_>) = reading
        .diagnostics
        .iter()
        .partition(|found| found.is_error());
    let place =
        |found: &graph::Diagnostic| format!("{name}:{}: {}", found.span.line, found.message);
    notes.extend(warnings.into_iter().map(place));
    match (reading.config, errors.first()) {
        (Some(config), None) => Ok(config.paths),
        (_, Some(error)) => Err(place(error)),
        (None, None) => Err(format!("{name} is no configuration")),
    }
}

/// Widths of a node `convolver` by its response: one of four channels counts as true stereo.
pub(super) fn file_widths(node: &Node, folder: &Path) -> Option<Widths> {
    let file = node.text("file").filter(|file| !file.is_empty())?;
    match media::open(folder.join(file)).ok()?.channels() {
        Channels(4) => Some(Channels(2).into()),
        channels => Some(channels.into()),
    }
}

/// Widths of a node `jconvolver` by its configuration.
pub(super) fn configuration_widths(node: &Node, folder: &Path) -> Option<Widths> {
    let file = node.text("file").filter(|file| !file.is_empty())?;
    let bytes = files::read(folder.join(file), MAX_CONFIG_BYTES).ok()?;
    let (inputs, outputs) = jconvolver::declared_channels(bytes)?;
    Some(Widths {
        channels: Channels(inputs.try_into().ok()?),
        output: Some(Channels(outputs.try_into().ok()?)),
    })
}

/// A text parameter that is not empty.
pub(super) fn text<'a>(context: &MakeContext<'a>, key: &str) -> Option<&'a str> {
    let text = context.node.text(key).map(str::trim);
    text.filter(|text| !text.is_empty())
}

fn load(path: &Path) -> Result<Ir, String> {
    let rate = media::open(path).map_err(|e| error_chain(&e))?.rate();
    let loaded = Ir::load(path, rate, &IrLimit::default());
    Ok(loaded.map_err(|e| error_chain(&e))?.ir)
}
