//! Messages to the user. A closed pipe is not an error: `divisi schema | head` works.

use std::io::Write;

/// Prints a result to standard output.
pub(crate) fn print_result(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Prints notes about automatic changes, such as resampling.
pub(crate) fn print_notes(messages: &[String]) {
    messages.iter().for_each(|message| print_note(message));
}

/// Prints a note about an automatic change.
pub(crate) fn print_note(message: &str) {
    print_message(&format!("note: {message}"));
}

/// Prints a line to standard error.
pub(crate) fn print_message(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
