//! The report, to people and to a file.

use crate::failure::Failure;
use crate::say;
use divisi::report::Report;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where machines read what came out.
pub(crate) enum Json {
    /// Nowhere.
    None,
    /// On standard output.
    Printed,
    /// In a file, which is there before the work begins: better refused early than lost late.
    File(PathBuf, File),
}

impl Json {
    /// Opens what `--json` named.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        match path {
            None => Ok(Self::None),
            Some(path) if path == Path::new("-") => Ok(Self::Printed),
            Some(path) => match File::create(path) {
                Ok(file) => Ok(Self::File(path.to_path_buf(), file)),
                Err(error) => Err(cannot_write(path, &error)),
            },
        }
    }

    /// Writes `json`, and shows `text` to people: on standard output where that is free.
    pub(crate) fn tell(self, text: &str, json: &str) -> Result<(), Failure> {
        match self {
            Self::None => say::result(text),
            Self::Printed => {
                say::note(text.trim_end());
                say::result(&format!("{json}\n"));
            }
            Self::File(path, mut file) => {
                say::result(text);
                writeln!(file, "{json}").map_err(|error| cannot_write(&path, &error))?;
            }
        }
        Ok(())
    }

    /// The report. What was refused, and what was noted, stands in the JSON and has been said to people.
    pub(crate) fn report(self, report: &Report) -> Result<(), Failure> {
        let mut shown = report.clone();
        shown.refused.clear();
        shown.notes.clear();
        self.tell(&shown.to_string(), &report.to_json())
    }
}

/// A file that the system does not take.
pub(crate) fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("cannot write {}: {error}", path.display()))
}
