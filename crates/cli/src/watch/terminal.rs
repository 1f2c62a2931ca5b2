//! The terminal's alternate screen. It is restored however the program ends.

use super::styled_line::StyledLine;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write, stderr};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;

/// Enters the alternate screen, hides the cursor, turns line wrap off.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
/// Reverses `ENTER`.
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";
/// Size if the terminal does not report one: columns, rows.
const DEFAULT_SIZE: (usize, usize) = (80, 24);

/// True while the alternate screen is shown; there is at most one.
static IS_ACTIVE: AtomicBool = AtomicBool::new(false);

/// The terminal of standard error.
pub(crate) struct Terminal {
    has_colours: bool,
}

impl Terminal {
    /// Enters the alternate screen. `None` if standard error is no capable terminal.
    pub(crate) fn enter() -> Option<Self> {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
        if is_dumb || !stderr().is_terminal() {
            return None;
        }
        restore_on_panic();
        // Relaxed: only this thread, and a panic on it, read the flag.
        IS_ACTIVE.store(true, Ordering::Relaxed);
        write_raw(ENTER);
        let has_colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Some(Self { has_colours })
    }

    /// Current columns and rows.
    pub(crate) fn size(&self) -> (usize, usize) {
        match rustix::termios::tcgetwinsize(stderr()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
                (size.ws_col.into(), size.ws_row.into())
            }
            _ => DEFAULT_SIZE,
        }
    }

    /// Replaces the screen by `lines`.
    pub(crate) fn show(&self, lines: &[StyledLine]) {
        let mut frame = String::from("\x1b[H");
        for (i, line) in lines.iter().enumerate() {
            let words = match self.has_colours {
                true => line.to_ansi(),
                false => line.to_plain(),
            };
            // No line break after the last line: it would scroll the screen.
            let before = if i > 0 { "\r\n" } else { "" };
            let _ = write!(frame, "{before}{words}\x1b[K");
        }
        write_raw(&(frame + "\x1b[J"));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

fn restore() {
    // Relaxed: as above.
    if IS_ACTIVE.swap(false, Ordering::Relaxed) {
        write_raw(LEAVE);
    }
}

/// Restores the screen before the message of a panic on this thread. Panics of audio threads are caught and
/// cost one node: then the view stays.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    let here: ThreadId = std::thread::current().id();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().id() == here {
                restore();
            }
            before(panic);
        }));
    });
}

/// Writes to the terminal; a closed terminal is no error.
fn write_raw(text: &str) {
    let mut out = stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
