//! What a patch prints, on its way from the audio thread to the terminal.

use processor::{BackgroundTask, Console, TaskStatus};
use rtrb::Consumer;

/// Takes lines to the console, on a thread that may wait.
pub(super) struct Printer {
    /// Name of the patch's node.
    pub(super) name: String,
    pub(super) console: Console,
    pub(super) lines: Consumer<String>,
}

/// Lines at a time.
const LINES: usize = 256;

impl BackgroundTask for Printer {
    fn poll(&mut self) -> TaskStatus {
        for _ in 0..LINES {
            let Ok(line) = self.lines.pop() else {
                return TaskStatus::Idle;
            };
            (self.console)(&self.name, &line);
        }
        TaskStatus::More
    }

    fn end(&mut self) {
        while let TaskStatus::More = self.poll() {}
    }
}
