//! The response to convolve with: an impulse response mapped to channels, or a jconvolver configuration.

use super::options::ResponseOptions;
use crate::failure::{Failure, error_chain};
use crate::output::files::extension;
use crate::output::messages;
use crate::session::load::has_errors;
use divisi::conv::ir::{Ir, IrError, IrLimit, LoadedIr, Paths};
use divisi::conv::jconvolver;
use divisi::media::Reader;
use divisi::text;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Largest configuration file, in bytes.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// The sound file that is read.
pub(super) struct Response {
    /// Response of each path.
    pub(super) paths: Paths,
    /// Smallest partition that the configuration asks for, in frames.
    pub(super) partition: Option<usize>,
    /// The files that the configuration names.
    pub(super) files: Vec<PathBuf>,
    /// Notes about changes that nobody asked for; they were printed already.
    pub(super) notes: Vec<String>,
}

impl Response {
    /// Reads the response or configuration `path` for the channels of `input`.
    pub(super) fn read(
        path: &Path,
        shaping: &ResponseOptions,
        input: &Reader,
    ) -> Result<Self, Failure> {
        let limit = IrLimit::default();
        let response = match extension(path).as_str() {
            "conf" => {
                let name = path.display();
                shaping.check_unused(&format!("{name}, a configuration,"))?;
                Self::from_config(path, input, &limit)?
            }
            "sofa" => {
                let (direction, rate) = (shaping.direction(), input.rate());
                Self::from_ir(Ir::load_sofa(path, direction, rate, &limit), shaping, input)?
            }
            _ => {
                shaping.check_no_direction()?;
                Self::from_ir(Ir::load(path, input.rate(), &limit), shaping, input)?
            }
        };
        let (factor, delay) = (shaping.gain(), shaping.delay(input.rate()));
        let paths = response.paths.with_gain_and_delay(factor, delay);
        let paths = paths.map_err(|error| Failure::bad_input(error_chain(&error)))?;
        // Each input and each path has spectra of its own.
        let name = path.display().to_string();
        let channels = paths.inputs() + paths.paths().len().min(256);
        let checked = limit.check(&name, paths.frames() as u64, channels);
        checked.map_err(|error| Failure::bad_input(error_chain(&error)))?;
        Ok(Self { paths, ..response })
    }

    fn from_ir(
        loaded: Result<LoadedIr, IrError>,
        shaping: &ResponseOptions,
        input: &Reader,
    ) -> Result<Self, Failure> {
        let wrong =
            |error: &(dyn std::error::Error + 'static)| Failure::bad_input(error_chain(error));
        let LoadedIr { ir, notes } = loaded.map_err(|error| wrong(&error))?;
        let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
        notes
            .iter()
            .for_each(|message| messages::print_load_note(message));
        let ir = shaping
            .processing(input.rate())
            .apply(ir)
            .map_err(|error| wrong(&error))?;
        let channels = input.channels().count();
        let paths = Paths::from_ir(&ir, channels).map_err(|error| wrong(&error))?;
        Ok(Self {
            paths,
            partition: None,
            files: Vec::new(),
            notes,
        })
    }

    fn from_config(path: &Path, input: &Reader, limit: &IrLimit) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let bytes = read_bytes(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let reading = jconvolver::read(&bytes, folder, input.rate(), limit);
        let source = String::from_utf8_lossy(&bytes);
        let shown = text::render_diagnostics(&name, &source, &reading.diagnostics);
        if !shown.is_empty() {
            messages::print_note(shown.trim_end());
        }
        let config = reading.config.filter(|_| !has_errors(&reading.diagnostics));
        let config = config.ok_or_else(Failure::bad_input_reported)?;
        let (declared, has) = (config.paths.inputs(), input.channels().count());
        if declared != has {
            let sound = input.path().display();
            let message =
                format!("{name} declares {declared} inputs, and {sound} has {has} channels");
            return Err(Failure::bad_input(message));
        }
        let notes = reading.diagnostics.iter().map(|warning| {
            let line = warning.span.line;
            format!("{name}:{line}: {}", warning.message)
        });
        Ok(Self {
            partition: Some(config.min_partition_size),
            paths: config.paths,
            files: config.files,
            notes: notes.collect(),
        })
    }
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let name = path.display();
    let refuse = |error: std::io::Error| Failure::bad_input(format!("cannot read {name}: {error}"));
    let file = File::open(path).map_err(refuse)?;
    let mut bytes = Vec::new();
    file.take(MAX_CONFIG_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(refuse)?;
    if bytes.len() as u64 > MAX_CONFIG_BYTES {
        let max = MAX_CONFIG_BYTES >> 20;
        let message = format!("{name} is too large: a configuration has at most {max} MiB");
        return Err(Failure::bad_input(message));
    }
    Ok(bytes)
}
