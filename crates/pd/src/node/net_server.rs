//! Thread that may wait, for the sockets of a patch while it plays live.
//!
//! ```text
//!  messages ── commands ──▶ server, which owns the sockets ── events ──▶ messages
//! ```

use crate::control::NetService;
use processor::{BackgroundTask, TaskStatus};

/// Commands that are served in one go, at most.
const MAX_COMMANDS: usize = 256;

/// Serves sockets.
pub(super) struct NetServer(pub(super) NetService);

impl NetServer {
    /// Serves what waits; true if there may be more.
    fn serve(&mut self) -> bool {
        let NetService {
            hub,
            commands,
            events,
        } = &mut self.0;
        for _ in 0..MAX_COMMANDS {
            if !events.has_room() {
                return false;
            }
            let Some((id, command)) = commands.read() else {
                return false;
            };
            hub.serve_and_tell(id, command, events);
        }
        true
    }
}

impl BackgroundTask for NetServer {
    fn poll(&mut self) -> TaskStatus {
        let is_abandoned = self.0.commands.is_abandoned();
        let has_more = self.serve() | self.0.hub.poll(&mut self.0.events);
        match has_more {
            true => TaskStatus::More,
            false if is_abandoned => TaskStatus::Done,
            false => TaskStatus::Idle,
        }
    }

    fn end(&mut self) {
        // What was sent before the end goes out.
        while self.serve() {}
        self.0.hub.finish();
    }
}
