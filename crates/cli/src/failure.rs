//! Failure of a command: message and exit code.

use crate::output::messages;
use divisi::graph::error_chain;
use std::error::Error;
use std::process::ExitCode;

/// A message for the user, and the exit code: 1 (failure) or 2 (wrong input or wrong call).
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    message: Option<String>,
}

impl Failure {
    /// The call or the input is wrong (exit code 2).
    pub(crate) fn bad_input(message: impl Into<String>) -> Self {
        Self {
            code: 2,
            message: Some(message.into()),
        }
    }

    /// The command could not be completed (exit code 1).
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self {
            code: 1,
            message: Some(message.into()),
        }
    }

    /// The input is wrong, and its diagnostics were printed already (exit code 2).
    pub(crate) fn bad_input_reported() -> Self {
        Self {
            code: 2,
            message: None,
        }
    }

    /// Another process of the command has failed with this exit code, and has said why.
    pub(crate) fn reported(code: u8) -> Self {
        Self {
            code,
            message: None,
        }
    }

    /// `error` ended the command (exit code 1).
    pub(crate) fn from_error(error: impl Error + 'static) -> Self {
        Self::failed(error_chain(&error))
    }

    /// `error` is a mistake in the call or the input (exit code 2).
    pub(crate) fn from_input_error(error: impl Error + 'static) -> Self {
        Self::bad_input(error_chain(&error))
    }

    /// Appends a note about the output that exists already.
    pub(crate) fn with_note(mut self, more: &str) -> Self {
        if let Some(message) = &mut self.message {
            message.push_str("; ");
            message.push_str(more);
        }
        self
    }

    /// The message, for a user who goes on.
    pub(crate) fn message(self) -> String {
        self.message.unwrap_or_default()
    }

    /// The message; empty if it was printed already.
    pub(crate) fn text(&self) -> &str {
        self.message.as_deref().unwrap_or_default()
    }

    /// Prints the message and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        if let Some(message) = self.message {
            messages::print_message(&format!("divisi: {message}"));
        }
        ExitCode::from(self.code)
    }
}
