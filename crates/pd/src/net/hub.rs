//! [`NetHub`]: all sockets of a patch, served by one thread without waiting.

use super::MAX_MESSAGE;
use super::address::{Target, listening, look_up, target};
use super::frame::{EventWriter, NetCommand, NetEvent, SocketFormat, SocketId};
use super::stream::{Connection, Progress};
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

/// Sockets of a patch that objects open, at most.
const MAX_SOCKETS: usize = 64;
/// Connections to one listener, at most.
const MAX_CONNECTIONS: usize = 64;
/// Pieces of one socket that are taken at once, at most.
const MAX_PIECES: usize = 16;
/// Time until a connection stands, at most; as in Pd.
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// Time between two attempts to get a port that is taken.
const RETRY: Duration = Duration::from_millis(100);

/// Sockets of a patch.
#[derive(Default)]
pub(crate) struct NetHub {
    sockets: Vec<Socket>,
}

struct Socket {
    id: SocketId,
    format: SocketFormat,
    body: SocketBody,
}

enum SocketBody {
    /// A connection that is under way, on a thread of its own, and what is to be sent then.
    Connecting(Receiver<Result<TcpStream, String>>, Vec<u8>),
    Stream(Box<Connection>),
    Datagrams(UdpSocket),
    Listener(TcpListener, Vec<Connection>),
    /// A port that was taken.
    Waiting {
        addresses: Vec<SocketAddr>,
        next: Instant,
    },
}

/// Result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Served {
    /// It is done.
    Done,
    /// An event will tell.
    Later,
}

fn sentence(why: &std::io::Error) -> String {
    // Without "(os error N)".
    let text = why.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned()
}

impl NetHub {
    /// Does what an object asks for.
    ///
    /// Real-time: waits, on the system alone: connections to other machines are made by threads of their own.
    pub(crate) fn serve(
        &mut self,
        id: SocketId,
        command: NetCommand<'_>,
        events: &mut EventWriter,
    ) -> Result<Served, String> {
        match command {
            NetCommand::Connect {
                format,
                host,
                port,
                source,
            } => {
                let body = match format.is_udp {
                    true => SocketBody::Datagrams(connect_datagrams(host, port, source)?),
                    false => connect(host, port)?,
                };
                let served = match &body {
                    SocketBody::Connecting(..) => Served::Later,
                    _ => Served::Done,
                };
                self.add(Socket { id, format, body })?;
                Ok(served)
            }
            NetCommand::Listen { format, host, port } => {
                let addresses = listening(host, port)?;
                let (body, result) = match listen(&addresses, format.is_udp) {
                    Ok(body) => (body, Ok(Served::Done)),
                    Err(why) if why.kind() == ErrorKind::AddrInUse => {
                        let next = Instant::now() + RETRY;
                        let why = format!("port {port} is taken; it is tried again");
                        (SocketBody::Waiting { addresses, next }, Err(why))
                    }
                    Err(why) => return Err(sentence(&why)),
                };
                self.add(Socket { id, format, body })?;
                result
            }
            NetCommand::Send(bytes) => {
                self.send(id, bytes, events);
                Ok(Served::Done)
            }
            NetCommand::Close => {
                self.close(id);
                Ok(Served::Done)
            }
        }
    }

    /// As [`NetHub::serve`]; an event tells what came of it.
    pub(crate) fn serve_and_tell(
        &mut self,
        id: SocketId,
        command: NetCommand<'_>,
        events: &mut EventWriter,
    ) {
        let connects = matches!(command, NetCommand::Connect { .. });
        match self.serve(id, command, events) {
            Ok(Served::Done) if connects => events.write(id, NetEvent::Connected),
            Err(why) if connects => events.write(id, NetEvent::Ended(&why)),
            Err(why) => events.write(id, NetEvent::Trouble(&why)),
            Ok(_) => {}
        }
    }

    fn add(&mut self, socket: Socket) -> Result<(), String> {
        if self.sockets.len() >= MAX_SOCKETS {
            return Err(format!("a patch has at most {MAX_SOCKETS} sockets"));
        }
        self.sockets.push(socket);
        Ok(())
    }

    fn send(&mut self, id: SocketId, bytes: &[u8], events: &mut EventWriter) {
        let Some(socket) = self.sockets.iter_mut().find(|socket| socket.id == id) else {
            return;
        };
        let is_sent = match &mut socket.body {
            SocketBody::Connecting(_, waiting) => {
                let has_room = waiting.len() + bytes.len() <= 1 << 20;
                if has_room {
                    waiting.extend_from_slice(bytes);
                }
                has_room
            }
            SocketBody::Stream(connection) => connection.send(bytes),
            // Nobody may be there: the next one may arrive.
            SocketBody::Datagrams(datagrams) => match datagrams.send(bytes) {
                Ok(_) => true,
                Err(why) => why.kind() == ErrorKind::ConnectionRefused,
            },
            SocketBody::Listener(_, connections) => {
                let mut is_sent = true;
                for connection in connections {
                    is_sent &= connection.send(bytes);
                }
                is_sent
            }
            SocketBody::Waiting { .. } => true,
        };
        if !is_sent && events.has_room() {
            events.write(
                id,
                NetEvent::Trouble("the other side does not read: a message is lost"),
            );
        }
    }

    /// Closes a socket; what waits to be sent goes out, if that takes no time.
    fn close(&mut self, id: SocketId) {
        if let Some(at) = self.sockets.iter().position(|socket| socket.id == id) {
            self.sockets.remove(at).finish(Instant::now());
        }
    }

    /// Moves everything on; true if something has happened.
    ///
    /// Real-time: waits, on the system alone.
    pub(crate) fn poll(&mut self, events: &mut EventWriter) -> bool {
        let mut has_more = false;
        self.sockets.retain_mut(|socket| {
            let Socket { id, format, body } = socket;
            let mut is_open = true;
            for _ in 0..MAX_PIECES {
                if !events.has_room() {
                    break;
                }
                match body.poll(*id, *format, events) {
                    Progress::Idle => break,
                    Progress::More => has_more = true,
                    Progress::Ended(why) => {
                        let why = why.map_or(String::new(), |why| sentence(&why));
                        events.write(*id, NetEvent::Ended(&why));
                        has_more = true;
                        is_open = false;
                        break;
                    }
                }
            }
            is_open
        });
        has_more
    }

    /// Sends what waits, for a second at most; then all is closed.
    ///
    /// Real-time: waits, on the other sides.
    pub(crate) fn finish(&mut self) -> usize {
        let deadline = Instant::now() + Duration::from_secs(1);
        let all = self.sockets.drain(..);
        all.map(|mut socket| socket.finish(deadline)).sum()
    }
}

impl Drop for NetHub {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Socket {
    fn finish(&mut self, deadline: Instant) -> usize {
        match &mut self.body {
            SocketBody::Stream(connection) => connection.finish(deadline),
            SocketBody::Listener(_, connections) => {
                let all = connections.iter_mut();
                all.map(|connection| connection.finish(deadline)).sum()
            }
            SocketBody::Connecting(_, waiting) => waiting.len(),
            SocketBody::Datagrams(_) | SocketBody::Waiting { .. } => 0,
        }
    }
}

impl SocketBody {
    fn poll(&mut self, id: SocketId, format: SocketFormat, events: &mut EventWriter) -> Progress {
        match self {
            Self::Connecting(result, waiting) => match result.try_recv() {
                Ok(Ok(stream)) => match Connection::new(stream) {
                    Ok(mut connection) => {
                        connection.send(waiting);
                        events.write(id, NetEvent::Connected);
                        *self = Self::Stream(Box::new(connection));
                        Progress::More
                    }
                    Err(why) => Progress::Ended(Some(why)),
                },
                Ok(Err(why)) => Progress::Ended(Some(std::io::Error::other(why))),
                Err(TryRecvError::Empty) => Progress::Idle,
                Err(TryRecvError::Disconnected) => Progress::Ended(None),
            },
            Self::Stream(connection) => connection.poll(id, format, events),
            Self::Datagrams(datagrams) => receive(datagrams, id, format, events),
            Self::Listener(listener, connections) => {
                let is_new = accept(listener, connections, id, events);
                let has_more = poll_connections(connections, id, format, events);
                match is_new || has_more {
                    true => Progress::More,
                    false => Progress::Idle,
                }
            }
            Self::Waiting { addresses, next } => {
                if Instant::now() >= *next {
                    match listen(addresses, format.is_udp) {
                        Ok(body) => *self = body,
                        Err(_) => *next = Instant::now() + RETRY,
                    }
                }
                Progress::Idle
            }
        }
    }
}

/// Connects: at once to this machine, else on a thread that may wait.
fn connect(host: &str, port: u16) -> Result<SocketBody, String> {
    let connect_to = |addresses: &[SocketAddr]| {
        let mut why = String::from("no address");
        for address in addresses {
            match TcpStream::connect_timeout(address, CONNECT_TIME) {
                Ok(stream) => return Ok(stream),
                Err(found) => why = sentence(&found),
            }
        }
        Err(why)
    };
    match target(host, port)? {
        Target::Here(addresses) => {
            let stream = connect_to(&addresses)?;
            let connection = Connection::new(stream).map_err(|why| sentence(&why))?;
            Ok(SocketBody::Stream(Box::new(connection)))
        }
        Target::Elsewhere(host) => {
            let (sender, receiver) = channel();
            let connect = move || {
                let found = look_up(&host, port).and_then(|all| connect_to(&all));
                // Nobody may wait for it any more.
                let _ = sender.send(found);
            };
            let thread = std::thread::Builder::new().name("pd connect".into());
            thread.spawn(connect).map_err(|why| sentence(&why))?;
            Ok(SocketBody::Connecting(receiver, Vec::new()))
        }
    }
}

fn connect_datagrams(host: &str, port: u16, source: u16) -> Result<UdpSocket, String> {
    let addresses = match target(host, port)? {
        Target::Here(addresses) => addresses,
        Target::Elsewhere(host) => look_up(&host, port)?,
    };
    let to = addresses.first().ok_or("no address")?;
    let own = match (to.is_ipv4(), to.ip().is_loopback()) {
        (true, true) => "127.0.0.1",
        (true, false) => "0.0.0.0",
        (false, true) => "::1",
        (false, false) => "::",
    };
    let open = || {
        let socket = UdpSocket::bind((own, source))?;
        socket.set_nonblocking(true)?;
        socket.connect(to)?;
        Ok(socket)
    };
    open().map_err(|why: std::io::Error| sentence(&why))
}

/// Listens at the first address that works.
fn listen(addresses: &[SocketAddr], is_udp: bool) -> std::io::Result<SocketBody> {
    match is_udp {
        true => {
            let socket = UdpSocket::bind(addresses)?;
            socket.set_nonblocking(true)?;
            Ok(SocketBody::Datagrams(socket))
        }
        false => {
            let listener = TcpListener::bind(addresses)?;
            listener.set_nonblocking(true)?;
            Ok(SocketBody::Listener(listener, Vec::new()))
        }
    }
}

/// Takes a connection that waits; true if there was one.
fn accept(
    listener: &TcpListener,
    connections: &mut Vec<Connection>,
    id: SocketId,
    events: &mut EventWriter,
) -> bool {
    let Ok((stream, from)) = listener.accept() else {
        return false;
    };
    if connections.len() >= MAX_CONNECTIONS {
        events.write(
            id,
            NetEvent::Trouble("too many connections: one is refused"),
        );
    } else if let Ok(connection) = Connection::new(stream) {
        connections.push(connection);
        events.write(id, NetEvent::Opened(from));
    }
    true
}

/// Moves the connections of a listener on; true if something has happened.
fn poll_connections(
    connections: &mut Vec<Connection>,
    id: SocketId,
    format: SocketFormat,
    events: &mut EventWriter,
) -> bool {
    let mut has_more = false;
    connections.retain_mut(|connection| {
        if !events.has_room() {
            return true;
        }
        match connection.poll(id, format, events) {
            Progress::Idle => true,
            Progress::More => {
                has_more = true;
                true
            }
            Progress::Ended(why) => {
                if let Some(why) = why.filter(|_| events.has_room()) {
                    let why = format!("{}: {}", connection.from(), sentence(&why));
                    events.write(id, NetEvent::Trouble(&why));
                }
                events.write(id, NetEvent::Closed);
                has_more = true;
                false
            }
        }
    });
    has_more
}

/// Takes a datagram.
fn receive(
    socket: &UdpSocket,
    id: SocketId,
    format: SocketFormat,
    events: &mut EventWriter,
) -> Progress {
    // One more byte than a message may have: of a longer one the rest is cut off by the system.
    let mut bytes = [0; MAX_MESSAGE + 1];
    let (count, from) = match socket.recv_from(&mut bytes) {
        Ok(found) => found,
        // What was sent before has found nobody.
        Err(why) if why.kind() == ErrorKind::ConnectionRefused => return Progress::More,
        Err(_) => return Progress::Idle,
    };
    let bytes = &bytes[..count];
    if count > MAX_MESSAGE {
        events.write(id, NetEvent::Trouble("a datagram is too long and left out"));
    } else if format.is_binary {
        events.write(id, NetEvent::Bytes(from, bytes));
    } else if let Some(text) = datagram_text(bytes) {
        events.write(id, NetEvent::Text(from, &text));
    }
    Progress::More
}

/// The one message of a datagram. As in Pd it ends with a new line, and what comes behind a `;` is left out.
fn datagram_text(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes.strip_suffix(b"\n")?);
    let text = text.split(';').next().unwrap_or_default().trim();
    (text.len() <= MAX_MESSAGE).then(|| text.to_owned())
}
