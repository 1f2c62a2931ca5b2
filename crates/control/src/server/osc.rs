//! OSC packets over UDP and TCP, at one port. Over TCP each packet has its length before it, in four bytes (OSC 1.0), or is
//! framed by SLIP (OSC 1.1).
//!
//! Anybody who can send to the address can change what plays, so it is the machine's own unless the user names another.

use super::slip;
use super::stream::BufferedStream;
use super::{OSC_CLIENT, no_request};
use crate::osc::{TimeReference, read_packet, write_packet};
use crate::{Controller, Reply, Request};
use engine::Engine;
use rustix::event::{PollFd, PollFlags};
use serde_json::Value;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{SystemTime, UNIX_EPOCH};

/// Largest packet, in bytes.
const MAX_PACKET: usize = 65_536;
const MAX_CLIENTS: usize = 64;
/// Packets that are taken at once.
const MAX_PACKETS: usize = 256;

/// A connection, and how its packets are framed: known from its first byte.
struct OscClient {
    stream: BufferedStream<TcpStream>,
    is_slip: Option<bool>,
}

/// One UDP socket and one TCP socket at the same port, with their clients.
pub struct OscServer {
    udp: UdpSocket,
    tcp: TcpListener,
    /// Senders over UDP, the last ones that were heard of.
    peers: Vec<(u64, SocketAddr)>,
    clients: Vec<(u64, OscClient)>,
    next_id: u64,
    buffer: Vec<u8>,
}

impl OscServer {
    /// Listens at `address`.
    ///
    /// # Errors
    ///
    /// The address is not this machine's, or the port is taken.
    ///
    /// Real-time: setup.
    pub fn listen(address: SocketAddr) -> io::Result<Self> {
        let udp = UdpSocket::bind(address)?;
        let tcp = TcpListener::bind(udp.local_addr()?)?;
        udp.set_nonblocking(true)?;
        tcp.set_nonblocking(true)?;
        Ok(Self {
            udp,
            tcp,
            peers: Vec::new(),
            clients: Vec::new(),
            next_id: OSC_CLIENT,
            buffer: vec![0; MAX_PACKET],
        })
    }

    /// The address at which it listens.
    ///
    /// # Errors
    ///
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.udp.local_addr()
    }

    pub(super) fn poll_fds<'a>(&'a self, all: &mut Vec<PollFd<'a>>) {
        all.push(PollFd::new(&self.udp, PollFlags::IN));
        all.push(PollFd::new(&self.tcp, PollFlags::IN));
        all.extend(
            self.clients
                .iter()
                .map(|(_, client)| client.stream.poll_fd()),
        );
    }

    pub(super) fn receive(&mut self, controller: &mut Controller, engine: &Engine) {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = TimeReference {
            unix_s: unix.unwrap_or_default().as_secs_f64(),
            frame: engine.position(),
            rate_hz: engine.plan().rate.hz().into(),
        };
        let read = |bytes: &[u8]| read_packet(bytes, engine.graph(), now);
        self.receive_udp(controller, read);
        self.accept();
        for (id, client) in &mut self.clients {
            // Framed by SLIP, a byte may be two.
            client.stream.read(2 * MAX_PACKET);
            while let Some(packet) = next_packet(client) {
                if let Some(reply) = submit(controller, *id, read(&packet)) {
                    send_framed(client, &reply);
                }
            }
        }
    }

    fn receive_udp(
        &mut self,
        controller: &mut Controller,
        read: impl Fn(&[u8]) -> Result<Request, String>,
    ) {
        for _ in 0..MAX_PACKETS {
            let Ok((length, from)) = self.udp.recv_from(&mut self.buffer) else {
                return;
            };
            let id = self.peer(from, controller);
            let request = read(&self.buffer[..length]);
            if let Some(reply) = submit(controller, id, request) {
                self.send(id, &reply);
            }
        }
    }

    /// The number of a sender. The oldest of too many is forgotten.
    fn peer(&mut self, from: SocketAddr, controller: &mut Controller) -> u64 {
        if let Some((id, _)) = self.peers.iter().find(|(_, address)| *address == from) {
            return *id;
        }
        if self.peers.len() == MAX_CLIENTS {
            controller.forget(self.peers.remove(0).0);
        }
        self.next_id += 1;
        self.peers.push((self.next_id, from));
        self.next_id
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.tcp.accept() {
            if stream.set_nonblocking(true).is_ok() && self.clients.len() < MAX_CLIENTS {
                self.next_id += 1;
                let client = OscClient {
                    stream: BufferedStream::new(stream),
                    is_slip: None,
                };
                self.clients.push((self.next_id, client));
            }
        }
    }

    pub(super) fn send(&mut self, client: u64, message: &Value) {
        if let Some((_, to)) = self.peers.iter().find(|(id, _)| *id == client) {
            // A reply that is larger than a packet can be, or finds no room, is lost, as UDP has it.
            if let Some(packet) = write_packet(message) {
                let _ = self.udp.send_to(&packet, to);
            }
        } else if let Some((_, stream)) = self.clients.iter_mut().find(|(id, _)| *id == client) {
            send_framed(stream, message);
        }
    }

    pub(super) fn flush(&mut self, controller: &mut Controller) {
        self.clients.retain_mut(|(id, client)| {
            client.stream.write();
            let is_done = client.stream.is_done() && !controller.is_waiting(*id);
            if is_done {
                controller.forget(*id);
            }
            !is_done
        });
    }
}

/// Gives a request to the controller. Returns the reply where it is known at once.
fn submit(
    controller: &mut Controller,
    client: u64,
    request: Result<Request, String>,
) -> Option<Value> {
    let reply: Option<Reply> = match request {
        Ok(request) => controller.submit(client, request),
        Err(error) => Some(no_request(Value::Null, error)),
    };
    reply.map(|reply| serde_json::to_value(reply).unwrap_or_default())
}

/// The next whole packet of a stream. One that is too long ends the client. A stream that begins with SLIP's end mark is framed
/// by SLIP, as OSC 1.1 has it; no length of a packet begins with that byte.
fn next_packet(client: &mut OscClient) -> Option<Vec<u8>> {
    let first = *client.stream.input.first()?;
    let is_slip = *client.is_slip.get_or_insert(first == slip::END);
    let client = &mut client.stream;
    if is_slip {
        return slip::next_packet(client, MAX_PACKET);
    }
    let length = client.input.first_chunk::<4>()?;
    let length = u32::from_be_bytes(*length) as usize;
    if length > MAX_PACKET {
        client.end();
        return None;
    }
    if client.input.len() < 4 + length {
        return None;
    }
    let rest = client.input.split_off(4 + length);
    let packet = std::mem::replace(&mut client.input, rest);
    Some(packet[4..].to_vec())
}

fn send_framed(client: &mut OscClient, message: &Value) {
    let Some(packet) = write_packet(message) else {
        return;
    };
    if client.is_slip == Some(true) {
        return client.stream.send(&slip::framed(&packet));
    }
    client.stream.send(&(packet.len() as u32).to_be_bytes());
    client.stream.send(&packet);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_largest_packet_comes_through_in_any_pieces() {
        const MAX_FRAMED: usize = MAX_PACKET + 4;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (near, _) = listener.accept().unwrap();
        near.set_nonblocking(true).unwrap();
        let mut client = OscClient {
            stream: BufferedStream::new(near),
            is_slip: None,
        };
        let mut bytes = (MAX_PACKET as u32).to_be_bytes().to_vec();
        bytes.resize(MAX_FRAMED, 7);
        let (first, last) = bytes.split_at(MAX_PACKET + 2);
        for (part, end) in [(first, first.len()), (last, MAX_FRAMED)] {
            assert_eq!(next_packet(&mut client), None);
            far.write_all(part).unwrap();
            for _ in 0..10_000 {
                client.stream.read(MAX_FRAMED);
                if client.stream.input.len() == end {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
        assert_eq!(next_packet(&mut client), Some(vec![7; MAX_PACKET]));
    }
}
