//! The report, to people and to a file.

use crate::failure::Failure;
use crate::output::messages;
use divisi::report::Report;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where machines read what came out.
pub(crate) enum JsonOutput {
    /// Nowhere.
    Off,
    /// On standard output.
    Stdout,
    /// In a file, which is there before the work begins: better refused early than lost late.
    File(PathBuf, File),
}

impl JsonOutput {
    /// Opens what `--json` named.
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

    /// Writes `json`, and shows `text` to people: on standard output where that is free.
    pub(crate) fn write(self, text: &str, json: &str) -> Result<(), Failure> {
        match self {
            Self::Off => messages::print_result(text),
            Self::Stdout => {
                messages::print_note(text.trim_end());
                messages::print_result(&format!("{json}\n"));
            }
            Self::File(path, mut file) => {
                messages::print_result(text);
                writeln!(file, "{json}").map_err(|error| write_failure(&path, &error))?;
            }
        }
        Ok(())
    }

    /// The report. What was refused, and what was noted, stands in the JSON and has been said to people.
    pub(crate) fn write_report(self, report: &Report) -> Result<(), Failure> {
        let mut shown = report.clone();
        shown.refused.clear();
        shown.notes.clear();
        self.write(&shown.to_string(), &report.to_json())
    }
}

/// A file that the system does not take.
pub(crate) fn write_failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("cannot write {}: {error}", path.display()))
}
