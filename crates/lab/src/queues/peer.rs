//! The other process: the program starts itself again, which sends back what comes or only reads it, by two rings that it
//! is handed or by pipes.

use super::Backoff;
use super::pipes::Pipes;
use super::transfer::{Disconnected, Endpoint, MirroredEnd, capacity, queue_end};
use divisi::rt::mirror::{PageSize, Ring};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Command of the program `divisi` that makes it the other process.
const COMMAND: &str = "queue-peer";

/// Upper bound on a message by pipes: more is a mistake.
const MAX_MESSAGE: usize = 1 << 26;

/// Role of the other process. It returns the first message in either role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerRole {
    /// Returns it.
    Echo,
    /// Only reads it.
    Sink,
}

/// The other process, and this process's end of the connection. The process ends when this is dropped.
pub(super) struct Peer<E> {
    end: Option<E>,
    child: Child,
}

/// The program `divisi`, which can start itself again; `None` in a test or another program, which does not know [`COMMAND`].
pub(crate) fn program() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let is_divisi = program.file_stem().is_some_and(|name| name == "divisi");
    is_divisi.then_some(program)
}

fn command(program: &PathBuf, role: PeerRole, size: usize) -> Command {
    let mut command = Command::new(program);
    command.arg(COMMAND).arg(size.to_string());
    if role == PeerRole::Sink {
        command.arg("--sink");
    }
    command
}

impl Peer<MirroredEnd> {
    /// Starts `program` once more, connected by two rings.
    pub(super) fn with_rings(program: &PathBuf, role: PeerRole, size: usize) -> io::Result<Self> {
        let ring =
            || Ring::<u8>::shared(1, capacity(size), PageSize::Default).map_err(io::Error::other);
        let (to_peer, from_peer) = (ring()?, ring()?);
        let outgoing = to_peer.producer().map_err(io::Error::other)?;
        let incoming = from_peer.consumer().map_err(io::Error::other)?;
        let path = |ring: &Ring<u8>| {
            let file = ring.file().map_or(-1, |file| file.as_raw_fd());
            format!("/proc/{}/fd/{file}", std::process::id())
        };
        let child = command(program, role, size)
            .args([path(&to_peer), path(&from_peer)])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        // Both rings stay open here until the peer has opened them, which its first answer shows.
        Self::connected(queue_end(outgoing, incoming), child, size)
    }
}

impl Peer<Pipes> {
    /// Starts `program` once more, connected by two pipes.
    pub(super) fn with_pipes(program: &PathBuf, role: PeerRole, size: usize) -> io::Result<Self> {
        let mut child = command(program, role, size)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (outgoing, incoming) = (child.stdin.take(), child.stdout.take());
        let missing = || io::Error::other("the other process has no pipes");
        let end = Pipes::of_child(outgoing.ok_or_else(missing)?, incoming.ok_or_else(missing)?);
        Self::connected(end, child, size)
    }
}

impl<E: Endpoint> Peer<E> {
    /// Sends a first message and waits until it is back.
    fn connected(end: E, child: Child, size: usize) -> io::Result<Self> {
        let mut peer = Self {
            end: Some(end),
            child,
        };
        let ended = |Disconnected| io::Error::other("the other process has ended");
        let mut message = vec![0; size];
        peer.end().send(&message).map_err(ended)?;
        while !peer.end().receive(&mut message).map_err(ended)? {
            if let Some(status) = peer.child.try_wait()? {
                let message = format!("the other process has ended: {status}");
                return Err(io::Error::other(message));
            }
            std::thread::yield_now();
        }
        Ok(peer)
    }

    /// This process's end.
    pub(super) fn end(&mut self) -> &mut E {
        self.end.as_mut().expect("it is there until it is dropped")
    }
}

impl<E> Drop for Peer<E> {
    fn drop(&mut self) {
        drop(self.end.take());
        let _ = self.child.wait();
    }
}

/// Serves messages of `size` bytes as the other process, until the first one ends.
///
/// `rings`: paths of a ring to this process and of one from it; without them, standard input and output.
///
/// # Errors
///
/// A path leads to no ring, or standard input or output is closed.
///
/// Real-time: waits, for the first process.
pub fn serve_peer(role: PeerRole, size: usize, rings: Option<(&str, &str)>) -> io::Result<()> {
    let Some((to_peer, from_peer)) = rings else {
        serve(
            role,
            size.clamp(1, MAX_MESSAGE),
            &mut Pipes::of_this_process()?,
        );
        return Ok(());
    };
    let open = |path: &str| -> io::Result<Ring<u8>> {
        let file: File = OpenOptions::new().read(true).write(true).open(path)?;
        Ring::open(file.into()).map_err(io::Error::other)
    };
    let (to_peer, from_peer) = (open(to_peer)?, open(from_peer)?);
    let size = size.clamp(1, to_peer.capacity().min(from_peer.capacity()));
    let incoming = to_peer.consumer().map_err(io::Error::other)?;
    let outgoing = from_peer.producer().map_err(io::Error::other)?;
    serve(role, size, &mut queue_end(outgoing, incoming));
    Ok(())
}

/// Serves until the other end is gone.
fn serve(role: PeerRole, size: usize, end: &mut impl Endpoint) {
    let (mut message, mut is_first) = (vec![0; size], true);
    while wait_for(end, &mut message).is_ok() {
        if (role == PeerRole::Echo || is_first) && end.send(&message).is_err() {
            return;
        }
        is_first = false;
    }
}

fn wait_for(end: &mut impl Endpoint, message: &mut [u8]) -> Result<(), Disconnected> {
    let mut backoff = Backoff::default();
    while !end.receive(message)? {
        backoff.wait();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::transfer::mirrored_pair;

    #[test]
    fn an_echo_answers_every_message_and_a_sink_the_first_only() {
        for (role, wanted) in [(PeerRole::Echo, 3), (PeerRole::Sink, 1)] {
            let (mut near, mut far) = mirrored_pair(64);
            for _ in 0..3 {
                assert_eq!(near.send(&[5; 64]), Ok(true));
            }
            let mut answers = 0;
            std::thread::scope(|scope| {
                let served = scope.spawn(move || serve(role, 64, &mut far));
                let mut bytes = [0; 64];
                while answers < wanted {
                    answers += u32::from(near.receive(&mut bytes).unwrap());
                }
                assert_eq!(bytes, [5; 64]);
                drop(near);
                served.join().unwrap();
            });
        }
    }
}
