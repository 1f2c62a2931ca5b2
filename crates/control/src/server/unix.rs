//! JSON lines over a Unix socket that belongs to its owner.
//!
//! A client writes one [`Request`] a line and reads one reply a line, and the messages that it has subscribed to.
//!
//! The socket is made with mode 0600, and a client of another user is turned away. Lines are at most 1 MiB, clients at most
//! 64; one that does not read what it is sent is cut off.

use super::no_request;
use super::stream::BufferedStream;
use crate::{Controller, Reply, Request};
use rustix::event::{PollFd, PollFlags};
use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use serde_json::Value;
use std::fs::Permissions;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Largest line, in bytes.
const MAX_LINE: usize = 1 << 20;
const MAX_CLIENTS: usize = 64;

/// A listening socket with its clients. Dropping it removes the socket, unless another one has its name by then.
pub struct UnixServer {
    listener: UnixListener,
    path: PathBuf,
    /// The socket as a file; `None` where the system does not say.
    id: Option<SocketId>,
    clients: Vec<(u64, BufferedStream<UnixStream>)>,
    next_id: u64,
}

impl UnixServer {
    /// Listens at `path`. A socket that is there is replaced if nobody listens to it.
    ///
    /// # Errors
    ///
    /// Another program listens there, or something that is no socket is in the way.
    ///
    /// Real-time: setup.
    pub fn listen(path: &Path) -> io::Result<Self> {
        let listener = match UnixListener::bind(path) {
            Err(error) if error.kind() == ErrorKind::AddrInUse && is_abandoned(path) => {
                std::fs::remove_file(path)?;
                UnixListener::bind(path)?
            }
            bound => bound?,
        };
        // Until here others may have connected; they are turned away when they are accepted.
        std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            listener,
            path: path.to_owned(),
            id: socket_id(path),
            clients: Vec::new(),
            next_id: 0,
        })
    }

    pub(super) fn poll_fds<'a>(&'a self, all: &mut Vec<PollFd<'a>>) {
        all.push(PollFd::new(&self.listener, PollFlags::IN));
        all.extend(self.clients.iter().map(|(_, client)| client.poll_fd()));
    }

    pub(super) fn receive(&mut self, controller: &mut Controller) {
        self.accept();
        for (id, client) in &mut self.clients {
            client.read(MAX_LINE);
            while let Some(line) = next_line(client) {
                if let Some(reply) = submit(controller, *id, &line) {
                    send_line(client, &serde_json::to_value(reply).unwrap_or_default());
                }
            }
        }
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            let is_owner = socket_peercred(&stream).is_ok_and(|peer| peer.uid == geteuid());
            let is_ready = stream.set_nonblocking(true).is_ok();
            if is_owner && is_ready && self.clients.len() < MAX_CLIENTS {
                self.next_id += 1;
                let client = BufferedStream::new(stream);
                self.clients.push((self.next_id, client));
            }
        }
    }

    pub(super) fn send(&mut self, client: u64, message: &Value) {
        if let Some((_, stream)) = self.clients.iter_mut().find(|(id, _)| *id == client) {
            send_line(stream, message);
        }
    }

    pub(super) fn flush(&mut self, controller: &mut Controller) {
        self.clients.retain_mut(|(id, client)| {
            client.write();
            // One that has sent all still gets its replies.
            let is_done = client.is_done() && !controller.is_waiting(*id);
            if is_done {
                controller.forget(*id);
            }
            !is_done
        });
    }
}

impl Drop for UnixServer {
    fn drop(&mut self) {
        if self.id.is_some() && socket_id(&self.path) == self.id {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Device and inode of a socket, and when it was made: an inode is used again at once.
type SocketId = (u64, u64, i64, i64);

fn socket_id(path: &Path) -> Option<SocketId> {
    let facts = path.symlink_metadata().ok()?;
    Some((facts.dev(), facts.ino(), facts.mtime(), facts.mtime_nsec()))
}

/// Returns true if `path` is a socket to which nobody listens.
fn is_abandoned(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let is_socket = path
        .symlink_metadata()
        .is_ok_and(|it| it.file_type().is_socket());
    let refused = |error: io::Error| error.kind() == ErrorKind::ConnectionRefused;
    is_socket && UnixStream::connect(path).is_err_and(refused)
}

/// Gives a line to the controller. Returns the reply where it is known at once.
fn submit(controller: &mut Controller, client: u64, line: &[u8]) -> Option<Reply> {
    match serde_json::from_slice::<Request>(line) {
        Ok(request) => controller.submit(client, request),
        Err(error) => {
            // A line that is no request may have an id all the same.
            let value: Option<Value> = serde_json::from_slice(line).ok();
            let id = value.and_then(|value| value.get("id").cloned());
            let error = format!("this is no request: {error}");
            Some(no_request(id.unwrap_or_default(), error))
        }
    }
}

/// The next whole line. A line that is too long is answered and ends the client.
fn next_line(client: &mut BufferedStream<UnixStream>) -> Option<Vec<u8>> {
    loop {
        let Some(end) = client.input.iter().position(|byte| *byte == b'\n') else {
            if client.input.len() > MAX_LINE {
                let error = format!("a line has at most {MAX_LINE} bytes");
                send_line(client, &serde_json::json!({ "ok": false, "error": error }));
                client.end();
            }
            return None;
        };
        let rest = client.input.split_off(end + 1);
        let mut line = std::mem::replace(&mut client.input, rest);
        line.truncate(end);
        if !line.iter().all(u8::is_ascii_whitespace) {
            return Some(line);
        }
    }
}

fn send_line(client: &mut BufferedStream<UnixStream>, message: &Value) {
    client.send(format!("{message}\n").as_bytes());
}

/// A connection to an engine that listens.
pub struct Connection {
    stream: UnixStream,
    lines: io::Lines<BufReader<UnixStream>>,
}

impl Connection {
    /// Connects to the engine that listens at `path`.
    ///
    /// # Errors
    ///
    /// Nobody listens there, or another user does: in a folder that all may write, anybody can be first.
    ///
    /// Real-time: waits.
    pub fn open(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(path)?;
        let owner = socket_peercred(&stream)?.uid;
        if owner != geteuid() && !owner.is_root() {
            let message = "another user listens there";
            return Err(io::Error::new(ErrorKind::PermissionDenied, message));
        }
        let lines = BufReader::new(stream.try_clone()?).lines();
        Ok(Self { stream, lines })
    }

    /// Sends a request.
    ///
    /// # Errors
    ///
    /// The connection is broken.
    ///
    /// Real-time: waits.
    pub fn send(&mut self, request: &Request) -> io::Result<()> {
        let mut line = serde_json::to_string(request)?;
        line.push('\n');
        self.stream.write_all(line.as_bytes())
    }

    /// The next reply or message; `None` when the engine has ended.
    ///
    /// # Errors
    ///
    /// The connection is broken, or the line is no JSON.
    ///
    /// Real-time: waits.
    pub fn receive(&mut self) -> io::Result<Option<Value>> {
        let line = self.lines.next().transpose()?;
        Ok(line.map(|line| serde_json::from_str(&line)).transpose()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_removes_no_socket_but_its_own() {
        let name = format!("divisi-control-{}.sock", std::process::id());
        let path = std::env::temp_dir().join(name);
        let first = UnixServer::listen(&path).unwrap();
        // Its name is lost, and another program takes it.
        std::fs::remove_file(&path).unwrap();
        let second = UnixServer::listen(&path).unwrap();
        drop(first);
        assert!(UnixStream::connect(&path).is_ok());
        drop(second);
        assert!(!path.exists());
    }
}
