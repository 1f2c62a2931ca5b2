//! Words to the user. Nobody who stops listening makes the program fail: `divisi schema | head` is no error.

use std::io::Write;

/// Results, to standard output.
pub(crate) fn print_result(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// What was done that nobody asked for.
pub(crate) fn print_notes(told: &[String]) {
    told.iter()
        .for_each(|told| print_note(&format!("note: {told}")));
}

/// Remarks, to standard error, a line each.
pub(crate) fn print_note(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
