//! The other process: the program starts itself again, which sends back what comes or only reads it, by two rings that it
//! is handed or by pipes.

use super::Patience;
use super::pass::{Gone, Mirrored, Post, capacity, ways};
use super::pipe::Pipes;
use divisi::rt::mirror::{PageSize, Ring};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The name by which the program is asked to be the other process.
const COMMAND: &str = "queue-peer";

/// The longest portion that it takes by pipes: more is a mistake.
const MOST: usize = 1 << 26;

/// What the other process does with what comes. The first portion comes back in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerRole {
    /// Sends it back.
    Echo,
    /// Reads it.
    Sink,
}

/// The other process and this end of its ways. Dropped, it ends.
pub(super) struct Peer<E> {
    end: Option<E>,
    child: Child,
}

/// The program, where this is it and not a test or a host.
pub(super) fn program() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let is_it = program.file_stem().is_some_and(|name| name == "divisi");
    is_it.then_some(program)
}

fn command(program: &PathBuf, role: PeerRole, size: usize) -> Command {
    let mut command = Command::new(program);
    command.arg(COMMAND).arg(size.to_string());
    if role == PeerRole::Sink {
        command.arg("--sink");
    }
    command
}

impl Peer<Mirrored> {
    /// Starts `program` again, which gets two rings.
    pub(super) fn by_rings(program: &PathBuf, role: PeerRole, size: usize) -> io::Result<Self> {
        let ring =
            || Ring::<u8>::shared(1, capacity(size), PageSize::Default).map_err(io::Error::other);
        let (there, back) = (ring()?, ring()?);
        let out = there.producer().map_err(io::Error::other)?;
        let home = back.consumer().map_err(io::Error::other)?;
        let path = |ring: &Ring<u8>| {
            let file = ring.file().map_or(-1, |file| file.as_raw_fd());
            format!("/proc/{}/fd/{file}", std::process::id())
        };
        let child = command(program, role, size)
            .args([path(&there), path(&back)])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        // Until it has opened both rings, which its answer shows, they stay open here.
        Self::greeted(ways(out, home), child, size)
    }
}

impl Peer<Pipes> {
    /// Starts `program` again, which gets a pipe for each way.
    pub(super) fn by_pipes(program: &PathBuf, role: PeerRole, size: usize) -> io::Result<Self> {
        let mut child = command(program, role, size)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (out, home) = (child.stdin.take(), child.stdout.take());
        let missing = || io::Error::other("the other process has no pipes");
        let end = Pipes::of_child(out.ok_or_else(missing)?, home.ok_or_else(missing)?);
        Self::greeted(end, child, size)
    }
}

impl<E: Post> Peer<E> {
    /// Sends the first portion and waits until it is back.
    fn greeted(end: E, child: Child, size: usize) -> io::Result<Self> {
        let mut peer = Self {
            end: Some(end),
            child,
        };
        let gone = |Gone: Gone| io::Error::other("the other process has gone");
        let mut bytes = vec![0; size];
        peer.end().put(&bytes).map_err(gone)?;
        while !peer.end().take(&mut bytes).map_err(gone)? {
            if let Some(status) = peer.child.try_wait()? {
                let told = format!("the other process has ended: {status}");
                return Err(io::Error::other(told));
            }
            std::thread::yield_now();
        }
        Ok(peer)
    }

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

/// What the other process does, until the first one is gone: with portions of `size` bytes that come by the ring behind
/// the first of two paths, and go back by the other's; or by standard input and output.
///
/// # Errors
///
/// A path leads to no ring, or a pipe is none.
///
/// Real-time: waits, for the first process.
pub fn serve_peer(role: PeerRole, size: usize, rings: Option<(&str, &str)>) -> io::Result<()> {
    let Some((there, back)) = rings else {
        serve(role, size.clamp(1, MOST), &mut Pipes::of_this_process()?);
        return Ok(());
    };
    let open = |path: &str| -> io::Result<Ring<u8>> {
        let file: File = OpenOptions::new().read(true).write(true).open(path)?;
        Ring::open(file.into()).map_err(io::Error::other)
    };
    let (there, back) = (open(there)?, open(back)?);
    let size = size.clamp(1, there.capacity().min(back.capacity()));
    let home = there.consumer().map_err(io::Error::other)?;
    let out = back.producer().map_err(io::Error::other)?;
    serve(role, size, &mut ways(out, home));
    Ok(())
}

/// Serves until the other one is gone.
fn serve(role: PeerRole, size: usize, end: &mut impl Post) {
    let (mut bytes, mut is_first) = (vec![0; size], true);
    while arrive(end, &mut bytes).is_ok() {
        if (role == PeerRole::Echo || is_first) && end.put(&bytes).is_err() {
            return;
        }
        is_first = false;
    }
}

fn arrive(end: &mut impl Post, bytes: &mut [u8]) -> Result<(), Gone> {
    let mut patience = Patience::default();
    while !end.take(bytes)? {
        patience.wait();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::pass::mirrored;

    #[test]
    fn an_echo_answers_everything_and_a_sink_the_first_portion_only() {
        for (role, wanted) in [(PeerRole::Echo, 3), (PeerRole::Sink, 1)] {
            let (mut here, mut far) = mirrored(64);
            for _ in 0..3 {
                assert_eq!(here.put(&[5; 64]), Ok(true));
            }
            let mut answers = 0;
            std::thread::scope(|scope| {
                let served = scope.spawn(move || serve(role, 64, &mut far));
                let mut bytes = [0; 64];
                while answers < wanted {
                    answers += u32::from(here.take(&mut bytes).unwrap());
                }
                assert_eq!(bytes, [5; 64]);
                drop(here);
                served.join().unwrap();
            });
        }
    }
}
