//! Output of a report: text for people, JSON for programs.

use crate::failure::Failure;
use crate::files::write_failure;
use crate::guard::FileGuard;
use crate::output::messages;
use divisi::files::NewFile;
use divisi::report::Report;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Destination of the JSON.
pub(crate) enum JsonOutput {
    /// No JSON.
    Off,
    /// Standard output.
    Stdout,
    /// A file, begun before the work: an error now is better than a lost report later.
    File(PathBuf, NewFile),
}

impl JsonOutput {
    /// Begins the file that `--json` names, unless `guard` refuses it.
    pub(crate) fn open(path: Option<&Path>, guard: &mut FileGuard) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Ok(Self::Off);
        };
        if ["-", "/dev/stdout"].map(Path::new).contains(&path) {
            return Ok(Self::Stdout);
        }
        guard.output(path)?;
        match NewFile::create(path) {
            Ok(file) => Ok(Self::File(path.to_path_buf(), file)),
            Err(error) => Err(write_failure(path, &error)),
        }
    }

    /// Writes `json`, and prints `text`: to standard output, or to standard error if the JSON goes to standard output.
    pub(crate) fn write(self, text: &str, json: &str) -> Result<(), Failure> {
        match self {
            Self::Off => messages::print_result(text),
            Self::Stdout => {
                messages::print_message(text.trim_end());
                messages::print_result(&format!("{json}\n"))
            }
            Self::File(path, mut file) => {
                let printed = messages::print_result(text);
                let written = file.write_all(format!("{json}\n").as_bytes());
                let written = written.and_then(|()| file.commit());
                let kept = written.map_err(|error| write_failure(&path, &error))?;
                messages::print_kept(&path, kept.as_deref());
                printed
            }
        }
    }

    /// Writes a report. Refused privileges and notes are in the JSON only, since they were printed before.
    pub(crate) fn write_report(self, report: &Report) -> Result<(), Failure> {
        self.write_report_with(report, None)
    }

    /// The same; in the JSON is a value of this name too.
    pub(crate) fn write_report_with(
        self,
        report: &Report,
        more: Option<(&str, Value)>,
    ) -> Result<(), Failure> {
        let mut shown = report.clone();
        shown.refused.clear();
        shown.notes.clear();
        let json = match (more, serde_json::to_value(report)) {
            (Some((name, more)), Ok(Value::Object(mut all))) => {
                all.insert(name.to_owned(), more);
                format!("{:#}", Value::Object(all))
            }
            _ => report.to_json(),
        };
        self.write(&shown.to_string(), &json)
    }
}
