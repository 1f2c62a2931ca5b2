//! JSON lines over a Unix socket that belongs to its owner.
//!
//! A client writes one [`Request`] a line and reads one reply a line, and the messages that it has subscribed to. Nothing
//! here waits but [`UnixServer::serve`], for at most the time that it is given.
//!
//! The socket is made with mode 0600, and a client of another user is turned away. Lines are at most 1 MiB, clients at most
//! 64; one that does not read what it is sent is cut off.

use crate::{Controller, Reply, Request};
use engine::Engine;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use serde_json::Value;
use std::fs::Permissions;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Largest line, in bytes.
const MAX_LINE: usize = 1 << 20;
/// Largest number of bytes that wait for a client to read them.
const MAX_OUTPUT: usize = 16 << 20;
const MAX_CLIENTS: usize = 64;
/// Bytes that are read from a client at once, so that no client keeps the others waiting.
const MAX_READ: usize = 1 << 16;

/// A listening socket with its clients. Dropping it removes the socket.
pub struct UnixServer {
    listener: UnixListener,
    path: PathBuf,
    clients: Vec<Client>,
    next_id: u64,
}

struct Client {
    id: u64,
    stream: UnixStream,
    input: Vec<u8>,
    output: Vec<u8>,
    /// It has sent all, or cannot be spoken with.
    has_ended: bool,
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
            clients: Vec::new(),
            next_id: 0,
        })
    }

    /// Serves clients until `time` is over: takes requests, updates the controller, sends replies. Returns early if a
    /// request came.
    ///
    /// Real-time: waits.
    pub fn serve(&mut self, controller: &mut Controller, engine: &mut Engine, time: Duration) {
        self.wait(time);
        self.accept();
        for client in &mut self.clients {
            client.read();
            while let Some(line) = client.next_line() {
                if let Some(reply) = submit(controller, client.id, &line) {
                    client.send(&serde_json::to_value(reply).unwrap_or_default());
                }
            }
        }
        for (id, message) in controller.update(engine) {
            if let Some(client) = self.clients.iter_mut().find(|client| client.id == id) {
                client.send(&message);
            }
        }
        self.clients.iter_mut().for_each(Client::write);
        self.clients.retain(|client| {
            // One that has sent all still gets its replies.
            let is_done = client.has_ended && !controller.is_waiting(client.id);
            if is_done {
                controller.forget(client.id);
            }
            !is_done
        });
    }

    /// Waits until a client sends, connects or can read on; at most for `time`.
    fn wait(&self, time: Duration) {
        let readable = |ended: bool| match ended {
            true => PollFlags::empty(),
            false => PollFlags::IN,
        };
        let mut all = vec![PollFd::new(&self.listener, PollFlags::IN)];
        for client in &self.clients {
            let mut flags = readable(client.has_ended);
            flags.set(PollFlags::OUT, !client.output.is_empty());
            all.push(PollFd::new(&client.stream, flags));
        }
        let time = Timespec::try_from(time).unwrap_or_default();
        // An interrupted wait is a short one.
        let _ = poll(&mut all, Some(&time));
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            let is_owner = socket_peercred(&stream).is_ok_and(|peer| peer.uid == geteuid());
            let is_ready = stream.set_nonblocking(true).is_ok();
            if is_owner && is_ready && self.clients.len() < MAX_CLIENTS {
                self.next_id += 1;
                self.clients.push(Client {
                    id: self.next_id,
                    stream,
                    input: Vec::new(),
                    output: Vec::new(),
                    has_ended: false,
                });
            }
        }
    }
}

impl Drop for UnixServer {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
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
            Some(Reply {
                id: id.unwrap_or_default(),
                error: Some(format!("this is no request: {error}")),
                ..Reply::default()
            })
        }
    }
}

impl Client {
    /// Reads what has come, within its limits.
    fn read(&mut self) {
        let mut part = [0; MAX_READ];
        if self.has_ended || self.input.len() > MAX_LINE {
            return;
        }
        match self.stream.read(&mut part) {
            Ok(0) => self.has_ended = true,
            Ok(count) => self.input.extend_from_slice(&part[..count]),
            Err(error) if is_transient(&error) => {}
            Err(_) => self.has_ended = true,
        }
    }

    /// The next whole line. A line that is too long is answered and ends the client.
    fn next_line(&mut self) -> Option<Vec<u8>> {
        let Some(end) = self.input.iter().position(|byte| *byte == b'\n') else {
            if self.input.len() > MAX_LINE {
                self.input = Vec::new();
                let error = format!("a line has at most {MAX_LINE} bytes");
                self.send(&serde_json::json!({ "ok": false, "error": error }));
                self.has_ended = true;
            }
            return None;
        };
        let rest = self.input.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.input, rest);
        line.truncate(end);
        match line.iter().all(u8::is_ascii_whitespace) {
            true => self.next_line(),
            false => Some(line),
        }
    }

    fn send(&mut self, message: &Value) {
        if self.output.len() > MAX_OUTPUT {
            self.output = Vec::new();
            self.has_ended = true;
            return;
        }
        self.output
            .extend_from_slice(message.to_string().as_bytes());
        self.output.push(b'\n');
    }

    /// Writes as much as the client takes.
    fn write(&mut self) {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(0) => break,
                Ok(count) => {
                    self.output.drain(..count);
                }
                Err(error) if is_transient(&error) => break,
                Err(_) => {
                    self.output = Vec::new();
                    self.has_ended = true;
                }
            }
        }
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
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
    /// Nobody listens there.
    ///
    /// Real-time: waits.
    pub fn open(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(path)?;
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
