//! A terminal's screen, borrowed: given back as it was, however the program ends.

use super::styled_line::StyledLine;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write, stderr};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;

/// A screen of its own, no cursor, long lines are cut.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
/// All that undone.
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";
/// Where the terminal does not say how large it is.
const DEFAULT_SIZE: (usize, usize) = (80, 24);

/// Whether the screen is borrowed: at most one is.
static IS_ACTIVE: AtomicBool = AtomicBool::new(false);

/// The screen that standard error is shown on.
pub(crate) struct Terminal {
    has_colours: bool,
}

impl Terminal {
    /// Borrows it; `None` where there is none that understands.
    pub(crate) fn enter() -> Option<Self> {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
        if is_dumb || !stderr().is_terminal() {
            return None;
        }
        restore_on_panic();
        // Relaxed: only this thread and a panic on it ask.
        IS_ACTIVE.store(true, Ordering::Relaxed);
        write_raw(ENTER);
        let has_colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Some(Self { has_colours })
    }

    /// Columns and rows, now.
    pub(crate) fn size(&self) -> (usize, usize) {
        match rustix::termios::tcgetwinsize(stderr()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
                (size.ws_col.into(), size.ws_row.into())
            }
            _ => DEFAULT_SIZE,
        }
    }

    /// Shows these lines and nothing else.
    pub(crate) fn show(&self, lines: &[StyledLine]) {
        let mut frame = String::from("\x1b[H");
        for (i, line) in lines.iter().enumerate() {
            let words = match self.has_colours {
                true => line.to_ansi(),
                false => line.to_plain(),
            };
            // No new line after the last: it would move all up.
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

/// In a panic on this thread the screen is given back before the panic speaks. Those of audio threads are caught, and
/// cost a node: then the view stays.
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

/// A terminal that is gone is no failure.
fn write_raw(text: &str) {
    let mut out = stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
