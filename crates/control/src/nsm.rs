//! [`NsmClient`]: a client of the New Session Manager: OSC over UDP, at the address in `NSM_URL`.
//!
//! ```text
//!   announce ─▶ /reply or /error ─▶ /nsm/client/open PATH NAME ID ─▶ /reply … /nsm/client/save ─▶ /reply …
//! ```
//!
//! The protocol is that of version 1 of its API. The server starts and ends programs; it ends them by SIGTERM. What comes
//! from another address than the server's is ignored, and so is what is no message of the protocol.

use rosc::{OscMessage, OscPacket, OscType};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::time::{Duration, Instant};

/// Largest packet that is read, in bytes.
const MAX_BYTES: usize = 65_536;
/// Most packets that are read at a time.
const MAX_PACKETS: usize = 64;
/// Version of the protocol.
const API: (i32, i32) = (1, 2);

/// Request of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NsmRequest {
    /// Open the session at a path, or make it there.
    Open(NsmProject),
    /// Save the session.
    Save,
}

/// A session that the server keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NsmProject {
    /// Path without an extension: a file or folder of this name is the client's.
    pub path: std::path::PathBuf,
    /// Name of the session, for people.
    pub name: String,
    /// Name that the client's ports have, unique in the session.
    pub client_id: String,
}

/// Numbers of errors, as the protocol has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum NsmErrorCode {
    /// Any other reason.
    General = -1,
    /// It cannot be done now.
    NotNow = -8,
    /// The session's file is broken.
    BadProject = -9,
    /// The session's file cannot be made.
    CreateFailed = -10,
}

/// Reason for which there is no server to talk to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NsmError {
    /// `NSM_URL` is no address of a server; unset it, or start the program from the session manager.
    #[error("NSM_URL is `{0}`, which is no address: osc.udp://localhost:PORT/")]
    Address(String),
    /// The server cannot be reached.
    #[error("the session manager at {0} cannot be reached")]
    Io(String, #[source] io::Error),
    /// The server does not answer.
    #[error("the session manager at {0} does not answer: is it still running?")]
    NoAnswer(String),
    /// The server refuses this program.
    #[error("the session manager refuses: {0}")]
    Refused(String),
}

/// A client that the server knows.
#[derive(Debug)]
pub struct NsmClient {
    socket: UdpSocket,
    server: SocketAddr,
    url: String,
    bytes: Vec<u8>,
}

impl NsmClient {
    /// Announces this program to the server at `url` and waits for its answer. Returns the client and the server's name.
    ///
    /// Real-time: waits, on the server, for at most `time`.
    pub fn announce(
        url: &str,
        (application, executable): (&str, &str),
        time: Duration,
    ) -> Result<(Self, String), NsmError> {
        let server = address(url).ok_or_else(|| NsmError::Address(url.to_owned()))?;
        let failed = |error| NsmError::Io(url.to_owned(), error);
        let local: IpAddr = match server {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let socket = UdpSocket::bind((local, 0)).map_err(failed)?;
        let mut client = Self {
            socket,
            server,
            url: url.to_owned(),
            bytes: vec![0; MAX_BYTES],
        };
        let process = i32::try_from(std::process::id()).unwrap_or_default();
        let arguments = vec![
            OscType::String(application.to_owned()),
            // No `:switch:`: the server ends us to open another session.
            OscType::String(":dirty:".to_owned()),
            OscType::String(executable.to_owned()),
            OscType::Int(API.0),
            OscType::Int(API.1),
            OscType::Int(process),
        ];
        client.send(ANNOUNCE, arguments).map_err(failed)?;
        let name = client.wait_for_answer(time)?;
        Ok((client, name))
    }

    /// Waits for the session that the server opens.
    ///
    /// # Errors
    ///
    /// The server does not say within `time`.
    ///
    /// Real-time: waits, on the server.
    pub fn wait_for_open(&mut self, time: Duration) -> Result<NsmProject, NsmError> {
        let until = Instant::now() + time;
        while let Some(message) = self.receive_until(until)? {
            if let Some(NsmRequest::Open(project)) = request(&message) {
                return Ok(project);
            }
        }
        Err(NsmError::NoAnswer(self.url.clone()))
    }

    /// The requests that have come since the last call. Does not wait.
    ///
    /// Real-time: setup.
    pub fn requests(&mut self) -> Vec<NsmRequest> {
        let mut all = Vec::new();
        for _ in 0..MAX_PACKETS {
            match self.receive_until(Instant::now()) {
                Ok(Some(message)) => all.extend(request(&message)),
                // A server that is gone asks for nothing.
                Ok(None) | Err(_) => break,
            }
        }
        all
    }

    /// Answers a request: it is done, with a message for people, or why it is not.
    ///
    /// # Errors
    ///
    /// The message cannot be sent.
    ///
    /// Real-time: setup.
    pub fn answer(
        &self,
        request: &NsmRequest,
        done: Result<&str, (NsmErrorCode, &str)>,
    ) -> io::Result<()> {
        let address = match request {
            NsmRequest::Open(_) => OPEN,
            NsmRequest::Save => SAVE,
        };
        let address = OscType::String(address.to_owned());
        let text = |text: &str| OscType::String(text.replace('\0', ""));
        match done {
            Ok(message) => self.send("/reply", vec![address, text(message)]),
            Err((code, message)) => {
                let code = OscType::Int(code as i32);
                self.send("/error", vec![address, code, text(message)])
            }
        }
    }

    /// Says whether the session has changes that are not saved.
    ///
    /// # Errors
    ///
    /// The message cannot be sent.
    ///
    /// Real-time: setup.
    pub fn report_unsaved(&self, has_unsaved: bool) -> io::Result<()> {
        let address = match has_unsaved {
            true => "/nsm/client/is_dirty",
            false => "/nsm/client/is_clean",
        };
        self.send(address, Vec::new())
    }

    fn send(&self, address: &str, args: Vec<OscType>) -> io::Result<()> {
        let message = OscMessage {
            addr: address.to_owned(),
            args,
        };
        let packet = rosc::encoder::encode(&OscPacket::Message(message));
        let bytes = packet.map_err(|error| io::Error::other(format!("{error:?}")))?;
        self.socket.send_to(&bytes, self.server).map(drop)
    }

    fn wait_for_answer(&mut self, time: Duration) -> Result<String, NsmError> {
        let until = Instant::now() + time;
        while let Some(message) = self.receive_until(until)? {
            let words = strings(&message);
            if words.first().map(String::as_str) != Some(ANNOUNCE) {
                continue;
            }
            match message.addr.as_str() {
                // Address, greeting, name, capabilities.
                "/reply" => return Ok(words.get(2).cloned().unwrap_or_default()),
                "/error" => {
                    let reason = words.get(1).cloned().unwrap_or_default();
                    return Err(NsmError::Refused(reason));
                }
                _ => {}
            }
        }
        Err(NsmError::NoAnswer(self.url.clone()))
    }

    /// The next message of the server, before `until`.
    fn receive_until(&mut self, until: Instant) -> Result<Option<OscMessage>, NsmError> {
        let failed = |error| NsmError::Io(self.url.clone(), error);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            self.socket
                .set_nonblocking(left.is_zero())
                .map_err(failed)?;
            if !left.is_zero() {
                let set = self.socket.set_read_timeout(Some(left));
                set.map_err(failed)?;
            }
            let (len, from) = match self.socket.recv_from(&mut self.bytes) {
                Ok(received) => received,
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => return Ok(None),
                    io::ErrorKind::Interrupted if !left.is_zero() => continue,
                    io::ErrorKind::Interrupted => return Ok(None),
                    _ => return Err(failed(error)),
                },
            };
            if !is_same_host(from, self.server) {
                continue;
            }
            if let Some(message) = read(&self.bytes[..len]) {
                return Ok(Some(message));
            }
        }
    }
}

const ANNOUNCE: &str = "/nsm/server/announce";
const OPEN: &str = "/nsm/client/open";
const SAVE: &str = "/nsm/client/save";

/// Address of `osc.udp://HOST:PORT/`; that of version 4 where there are several.
fn address(url: &str) -> Option<SocketAddr> {
    let rest = url.trim().strip_prefix("osc.udp://")?;
    let rest = rest.trim_end_matches('/');
    let all: Vec<SocketAddr> = rest.to_socket_addrs().ok()?.collect();
    let first_v4 = all.iter().find(|address| address.is_ipv4());
    first_v4.or(all.first()).copied()
}

/// Returns true if a packet is the server's: its port, and its host or, on this machine, any name of it.
fn is_same_host(from: SocketAddr, server: SocketAddr) -> bool {
    let is_here = |address: SocketAddr| address.ip().is_loopback();
    let is_host = from.ip() == server.ip() || (is_here(from) && is_here(server));
    is_host && from.port() == server.port()
}

/// A packet as a message; `None` for a bundle, which the protocol does not have, and for anything else.
fn read(bytes: &[u8]) -> Option<OscMessage> {
    // A bundle may be nested deeper than a reader's stack.
    if !bytes.starts_with(b"/") {
        return None;
    }
    match rosc::decoder::decode_udp(bytes).ok()? {
        (_, OscPacket::Message(message)) => Some(message),
        _ => None,
    }
}

/// The texts among the arguments of a message.
fn strings(message: &OscMessage) -> Vec<String> {
    let texts = message.args.iter().filter_map(|argument| match argument {
        OscType::String(text) => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

fn request(message: &OscMessage) -> Option<NsmRequest> {
    match message.addr.as_str() {
        SAVE => Some(NsmRequest::Save),
        OPEN => {
            let [path, name, client_id] = <[String; 3]>::try_from(strings(message)).ok()?;
            let path = std::path::PathBuf::from(path);
            // What is relative would be so to a folder that the server does not know.
            path.is_absolute().then_some(NsmRequest::Open(NsmProject {
                path,
                name,
                client_id,
            }))
        }
        // It shows a window of ours, or says that all is loaded: there is nothing to do.
        _ => None,
    }
}

/// Reads a packet as a client would. For the fuzzer.
pub fn read_request(bytes: &[u8]) -> Option<NsmRequest> {
    request(&read(bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(addr: &str, args: Vec<OscType>) -> Vec<u8> {
        let addr = addr.to_owned();
        rosc::encoder::encode(&OscPacket::Message(OscMessage { addr, args })).unwrap()
    }

    fn texts(all: &[&str]) -> Vec<OscType> {
        let texts = all.iter().map(|text| OscType::String((*text).to_owned()));
        texts.collect()
    }

    #[test]
    fn only_whole_requests_with_an_absolute_path_are_read() {
        assert_eq!(read_request(&packet(SAVE, vec![])), Some(NsmRequest::Save));
        let open = packet(OPEN, texts(&["/s/divisi.nABC", "song", "divisi.nABC"]));
        let project = NsmProject {
            path: "/s/divisi.nABC".into(),
            name: "song".into(),
            client_id: "divisi.nABC".into(),
        };
        assert_eq!(read_request(&open), Some(NsmRequest::Open(project)));
        for wrong in [
            packet(OPEN, texts(&["divisi.nABC", "song", "divisi.nABC"])),
            packet(OPEN, texts(&["/s", "song"])),
            packet("/nsm/client/show_optional_gui", vec![]),
            b"#bundle\0".to_vec(),
            vec![],
        ] {
            assert_eq!(read_request(&wrong), None);
        }
    }

    #[test]
    fn an_address_that_is_none_is_refused_with_its_text() {
        for url in [
            "",
            "localhost:1",
            "osc.tcp://localhost:1/",
            "osc.udp://localhost/",
        ] {
            let answer = NsmClient::announce(url, ("a", "b"), Duration::ZERO);
            let Err(NsmError::Address(text)) = answer else {
                panic!("{url}");
            };
            assert_eq!(text, url);
        }
    }

    #[test]
    fn packets_of_other_programs_are_ignored_and_a_refusal_comes_with_its_reason() {
        let server = UdpSocket::bind("127.0.0.1:0").unwrap();
        let url = format!(
            "osc.udp://127.0.0.1:{}/",
            server.local_addr().unwrap().port()
        );
        let server = std::thread::spawn(move || {
            let mut bytes = [0; 1024];
            let (len, client) = server.recv_from(&mut bytes).unwrap();
            let message = read(&bytes[..len]).unwrap();
            assert_eq!(message.addr, ANNOUNCE);
            let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
            let reply = packet("/reply", texts(&[ANNOUNCE, "hello", "stranger", ""]));
            stranger.send_to(&reply, client).unwrap();
            server.send_to(&[0xff; 40], client).unwrap();
            let mut error = texts(&[ANNOUNCE, "too old"]);
            error.insert(1, OscType::Int(-2));
            server.send_to(&packet("/error", error), client).unwrap();
        });
        let answer = NsmClient::announce(&url, ("Divisi", "divisi"), Duration::from_secs(30));
        let Err(NsmError::Refused(reason)) = answer else {
            panic!("{answer:?}");
        };
        assert_eq!(reason, "too old");
        server.join().unwrap();
    }
}
