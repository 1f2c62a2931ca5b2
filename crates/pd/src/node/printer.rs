//! What a patch prints, on its way from the audio thread to the terminal.

use processor::{BackgroundTask, Console, PollRequest, TaskStatus};
use rtrb::{Consumer, Producer, RingBuffer};

/// Bytes that may wait for the terminal.
const ROOM: usize = 1 << 18;

/// The end of the queue that the audio thread has.
pub(super) struct LineSender {
    bytes: Producer<u8>,
    /// To print what was sent.
    request: PollRequest,
    /// Lines that found no room.
    lost: u64,
}

/// The end that a thread has which may wait.
pub(super) struct LineReceiver {
    bytes: Consumer<u8>,
    request: PollRequest,
    line: Vec<u8>,
}

/// A queue of lines.
///
/// Real-time: setup.
pub(super) fn queue() -> (LineSender, LineReceiver) {
    let (sender, receiver) = RingBuffer::new(ROOM);
    let request = PollRequest::default();
    let sender = LineSender {
        bytes: sender,
        request: request.clone(),
        lost: 0,
    };
    let receiver = LineReceiver {
        bytes: receiver,
        request,
        line: Vec::new(),
    };
    (sender, receiver)
}

/// Mark of a line that was counted and not kept, before the number of such lines.
const LOST: u8 = 0;

impl LineSender {
    /// Sends a line; one that finds no room is counted, and reported with the next that does.
    ///
    /// Real-time: hot.
    pub(super) fn send(&mut self, line: &str) {
        if self.bytes.slots() < 10 + line.len() + 1 {
            self.lost += 1;
            return;
        }
        if self.lost > 0 {
            let mut mark = [LOST; 10];
            mark[1..9].copy_from_slice(&self.lost.to_le_bytes());
            mark[9] = b'\n';
            self.push(&mark);
            self.lost = 0;
        }
        self.push(line.as_bytes());
        self.push(b"\n");
        self.request.send();
    }

    /// Writes bytes for which there is room.
    fn push(&mut self, bytes: &[u8]) {
        let Ok(mut chunk) = self.bytes.write_chunk(bytes.len()) else {
            return;
        };
        let (first, second) = chunk.as_mut_slices();
        let (one, two) = bytes.split_at(first.len());
        first.copy_from_slice(one);
        second.copy_from_slice(two);
        chunk.commit_all();
    }
}

impl LineReceiver {
    /// Takes the next line.
    fn next(&mut self) -> Option<String> {
        loop {
            let byte = self.bytes.pop().ok()?;
            let is_mark = self.line.first() == Some(&LOST);
            if byte != b'\n' || (is_mark && self.line.len() < 9) {
                self.line.push(byte);
                continue;
            }
            let text = match self.line.get(1..9).and_then(|n| n.try_into().ok()) {
                Some(lost) if is_mark => {
                    format!("… and {} more lines", u64::from_le_bytes(lost))
                }
                _ => String::from_utf8_lossy(&self.line).into_owned(),
            };
            self.line.clear();
            return Some(text);
        }
    }
}

/// Takes lines to the console, on a thread that may wait.
pub(super) struct Printer {
    /// Name of the patch's node.
    pub(super) name: String,
    pub(super) console: Console,
    pub(super) lines: LineReceiver,
}

/// Lines at a time.
const LINES: usize = 256;

impl BackgroundTask for Printer {
    fn poll(&mut self) -> TaskStatus {
        for _ in 0..LINES {
            let Some(line) = self.lines.next() else {
                return TaskStatus::Idle;
            };
            (self.console)(&self.name, &line);
        }
        TaskStatus::More
    }

    fn poll_request(&self) -> Option<PollRequest> {
        Some(self.lines.request.clone())
    }

    fn end(&mut self) {
        while let TaskStatus::More = self.poll() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_find_no_room_are_counted_and_reported() {
        let (mut sender, mut receiver) = queue();
        let long = "x".repeat(ROOM / 2);
        for _ in 0..4 {
            sender.send(&long);
        }
        assert_eq!(receiver.next(), Some(long));
        sender.send("short");
        assert_eq!(receiver.next().as_deref(), Some("… and 3 more lines"));
        assert_eq!(receiver.next().as_deref(), Some("short"));
        assert_eq!(receiver.next(), None);
    }
}
