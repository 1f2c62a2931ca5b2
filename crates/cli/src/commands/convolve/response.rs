//! The response to convolve with: an impulse response mapped to channels, or a jconvolver configuration.

use super::options::ResponseOptions;
use crate::failure::Failure;
use crate::files::{extension, read_file};
use crate::output::messages;
use crate::session::load::has_errors;
use divisi::conv::ir::{Ir, IrError, IrLimit, LoadedIr, Paths};
use divisi::conv::jconvolver;
use divisi::media::Reader;
use divisi::text;
use std::path::{Path, PathBuf};

/// Largest configuration file, in bytes.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// An impulse response for each path from an input channel to an output channel.
pub(super) struct Response {
    /// Response of each path.
    pub(super) paths: Paths,
    /// Smallest partition that the configuration asks for, in frames.
    pub(super) partition: Option<usize>,
    /// Files that the configuration names.
    pub(super) files: Vec<PathBuf>,
    /// Notes about automatic changes, such as resampling; they were printed already.
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
        let paths = paths.map_err(Failure::from_input_error)?;
        // Each input and each path has spectra of its own.
        let name = path.display().to_string();
        let channels = paths.inputs() + paths.paths().len().min(256);
        let checked = limit.check(paths.frames() as u64, channels);
        checked.map_err(|reason| Failure::from_input_error(reason.of(&name)))?;
        Ok(Self { paths, ..response })
    }

    fn from_ir(
        loaded: Result<LoadedIr, IrError>,
        shaping: &ResponseOptions,
        input: &Reader,
    ) -> Result<Self, Failure> {
        let LoadedIr { ir, notes } = loaded.map_err(Failure::from_input_error)?;
        let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
        notes
            .iter()
            .for_each(|message| messages::print_note(message));
        let ir = shaping
            .processing(input.rate())
            .apply(ir)
            .map_err(Failure::from_input_error)?;
        let channels = input.channels().count();
        let paths = Paths::from_ir(&ir, channels).map_err(Failure::from_input_error)?;
        Ok(Self {
            paths,
            partition: None,
            files: Vec::new(),
            notes,
        })
    }

    fn from_config(path: &Path, input: &Reader, limit: &IrLimit) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let bytes = read_file(path, MAX_CONFIG_BYTES, "a configuration")?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let reading = jconvolver::read(&bytes, folder, input.rate(), limit);
        let source = String::from_utf8_lossy(&bytes);
        let shown = text::render_diagnostics(&name, &source, &reading.diagnostics);
        if !shown.is_empty() {
            messages::print_message(shown.trim_end());
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
