//! Why a command did not do what it was asked, and the exit code that says so.

use crate::output::messages;
use std::error::Error;
use std::process::ExitCode;

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    message: Option<String>,
}

impl Failure {
    /// The call or the input is wrong.
    pub(crate) fn bad_input(message: impl Into<String>) -> Self {
        Self {
            code: 2,
            message: Some(message.into()),
        }
    }

    /// It was right, and could not be done.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self {
            code: 1,
            message: Some(message.into()),
        }
    }

    /// The input is wrong, and all of that has been said.
    pub(crate) fn bad_input_reported() -> Self {
        Self {
            code: 2,
            message: None,
        }
    }

    /// The same, and what became of the work.
    pub(crate) fn with_note(mut self, more: &str) -> Self {
        if let Some(message) = &mut self.message {
            message.push_str("; ");
            message.push_str(more);
        }
        self
    }

    /// Says it, and ends the program.
    pub(crate) fn report(self) -> ExitCode {
        if let Some(message) = self.message {
            messages::print_note(&format!("divisi: {message}"));
        }
        ExitCode::from(self.code)
    }
}

/// An error with what caused it, in one line.
pub(crate) fn error_chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    let words: Vec<String> = causes.map(ToString::to_string).collect();
    words.join(": ")
}
