//! [`Servers`]: all ways in of one engine, on one thread.
//!
//! | file | holds |
//! |---|---|
//! | `unix` | JSON lines over a Unix socket that belongs to its owner; a client |
//! | `osc` | OSC packets over UDP and TCP |
//! | `slip` | frames of packets in a stream |
//! | `stream` | one connection: what was read and what is to be written, within limits |

pub mod osc;
mod slip;
mod stream;
pub mod unix;

use crate::{Controller, Reply};
use engine::Engine;
use osc::OscServer;
use rustix::event::{PollFd, Timespec, poll};
use std::time::Duration;
use unix::UnixServer;

/// The servers of one engine. Without any, [`Self::serve`] only waits.
#[derive(Default)]
pub struct Servers {
    /// JSON lines.
    pub unix: Option<UnixServer>,
    /// OSC.
    pub osc: Option<OscServer>,
}

/// Clients of the OSC server have this bit in their numbers.
const OSC_CLIENT: u64 = 1 << 63;

impl Servers {
    /// Serves clients for at most `time`: takes requests, updates the controller, sends replies. Returns early if a
    /// request came.
    ///
    /// Real-time: waits.
    pub fn serve(&mut self, controller: &mut Controller, engine: &mut Engine, time: Duration) {
        self.wait(time);
        if let Some(unix) = &mut self.unix {
            unix.receive(controller);
        }
        if let Some(osc) = &mut self.osc {
            osc.receive(controller, engine);
        }
        for (client, message) in controller.update(engine) {
            match (client & OSC_CLIENT == 0, &mut self.unix, &mut self.osc) {
                (true, Some(unix), _) => unix.send(client, &message),
                (false, _, Some(osc)) => osc.send(client, &message),
                _ => {}
            }
        }
        if let Some(unix) = &mut self.unix {
            unix.flush(controller);
        }
        if let Some(osc) = &mut self.osc {
            osc.flush(controller);
        }
    }

    /// Waits until a client sends, connects or can read on; at most for `time`.
    fn wait(&self, time: Duration) {
        let mut all: Vec<PollFd<'_>> = Vec::new();
        if let Some(unix) = &self.unix {
            unix.poll_fds(&mut all);
        }
        if let Some(osc) = &self.osc {
            osc.poll_fds(&mut all);
        }
        let time = Timespec::try_from(time).unwrap_or_default();
        // An interrupted wait is a short one.
        let _ = poll(&mut all, Some(&time));
    }
}

/// The reply to something that is no request.
fn no_request(id: serde_json::Value, error: String) -> Reply {
    Reply {
        id,
        error: Some(error),
        ..Reply::default()
    }
}
