//! Messages to the user. A closed pipe is not an error: `divisi schema | head` works.

use crate::failure::Failure;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Prints a result to standard output. If that is a file on a full disk, the result is lost, and the call fails.
pub(crate) fn print_result(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let message = format!("cannot write to standard output: {error}");
            Err(Failure::failed(message))
        }
        _ => Ok(()),
    }
}

/// Prints a note if samples were beyond full scale, and returns it. `what` names the sound, `advice` says how to make it
/// quieter.
pub(crate) fn print_peak(what: &str, peak: f32, advice: &str) -> Option<String> {
    if peak <= 1.0 {
        return None;
    }
    let over = 20.0 * f64::from(peak).log10();
    let message = format!("the peak of {what} is {over:.1} dB above full scale{advice}");
    print_note(&message);
    Some(message)
}

/// Prints notes about automatic changes, such as resampling.
pub(crate) fn print_notes(messages: &[String]) {
    messages.iter().for_each(|message| print_note(message));
}

/// Prints a note about an automatic change.
pub(crate) fn print_note(message: &str) {
    print_message(&format!("note: {message}"));
}

/// Prints under which name the earlier file of the name `path` is kept, if there is one.
pub(crate) fn print_kept(path: &Path, kept: Option<&Path>) {
    if let Some(kept) = kept {
        let (path, kept) = (path.display(), kept.display());
        print_note(&format!("the earlier {path} is kept as {kept}"));
    }
}

/// Prints a line to standard error.
pub(crate) fn print_message(line: &str) {
    // In one piece: the processes of cells print too.
    let _ = std::io::stderr()
        .lock()
        .write_all(format!("{line}\n").as_bytes());
}
