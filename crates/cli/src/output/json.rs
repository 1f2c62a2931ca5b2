//! Output of a report: text for people, JSON for programs.

use crate::failure::Failure;
use crate::files::write_failure;
use crate::output::messages;
use divisi::report::Report;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Destination of the JSON.
pub(crate) enum JsonOutput {
    /// No JSON.
    Off,
    /// Standard output.
    Stdout,
    /// A file, opened before the work begins: an error now is better than a lost report later.
    File(PathBuf, File),
}

impl JsonOutput {
    /// Opens the destination that `--json` names.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        match path {
            None => Ok(Self::Off),
            Some(path) if path == Path::new("-") => Ok(Self::Stdout),
            Some(path) => match File::create(path) {
                Ok(file) => Ok(Self::File(path.to_path_buf(), file)),
                Err(error) => Err(write_failure(path, &error)),
            },
        }
    }

    /// Writes `json`, and prints `text`: to standard output, or to standard error if the JSON goes to standard output.
    pub(crate) fn write(self, text: &str, json: &str) -> Result<(), Failure> {
        match self {
            Self::Off => messages::print_result(text),
            Self::Stdout => {
                messages::print_message(text.trim_end());
                messages::print_result(&format!("{json}\n"));
            }
            Self::File(path, mut file) => {
                messages::print_result(text);
                writeln!(file, "{json}").map_err(|error| write_failure(&path, &error))?;
            }
        }
        Ok(())
    }

    /// Writes a report. Refused privileges and notes are in the JSON only, since they were printed before.
    pub(crate) fn write_report(self, report: &Report) -> Result<(), Failure> {
        let mut shown = report.clone();
        shown.refused.clear();
        shown.notes.clear();
        self.write(&shown.to_string(), &report.to_json())
    }
}
