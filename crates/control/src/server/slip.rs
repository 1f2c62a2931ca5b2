//! SLIP: packets in a stream of bytes, each between end marks.
//!
//! Source: J. Romkey, *A Nonstandard for Transmission of IP Datagrams over Serial Lines*, RFC 1055 (1988).

use super::stream::BufferedStream;
use std::io::{Read, Write};
use std::os::fd::AsFd;

/// Begins and ends a packet.
pub(super) const END: u8 = 0xc0;
const ESCAPE: u8 = 0xdb;
/// Behind an escape, these two stand for the two above.
const ESCAPED_END: u8 = 0xdc;
const ESCAPED_ESCAPE: u8 = 0xdd;

/// The next whole packet of a stream that is not empty. One of more than `max` bytes ends the client.
pub(super) fn next_packet<S: Read + Write + AsFd>(
    client: &mut BufferedStream<S>,
    max: usize,
) -> Option<Vec<u8>> {
    loop {
        let Some(end) = client.input.iter().position(|byte| *byte == END) else {
            // Each byte of a packet may be two here.
            if client.input.len() > 2 * max {
                client.end();
            }
            return None;
        };
        let rest = client.input.split_off(end + 1);
        let framed = std::mem::replace(&mut client.input, rest);
        if end > 0 {
            return Some(unframed(&framed[..end]));
        }
    }
}

fn unframed(framed: &[u8]) -> Vec<u8> {
    let mut packet = Vec::with_capacity(framed.len());
    let mut bytes = framed.iter();
    while let Some(byte) = bytes.next() {
        packet.push(match *byte {
            ESCAPE => match bytes.next() {
                Some(&ESCAPED_END) => END,
                Some(&ESCAPED_ESCAPE) | None => ESCAPE,
                Some(other) => *other,
            },
            other => other,
        });
    }
    packet
}

/// `packet` between end marks.
pub(super) fn framed(packet: &[u8]) -> Vec<u8> {
    let mut framed = vec![END];
    for byte in packet {
        match *byte {
            END => framed.extend([ESCAPE, ESCAPED_END]),
            ESCAPE => framed.extend([ESCAPE, ESCAPED_ESCAPE]),
            byte => framed.push(byte),
        }
    }
    framed.push(END);
    framed
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_packet_of_any_bytes_is_read_as_it_was_framed() {
        let packet: Vec<u8> = (0..=255).rev().collect();
        let (stream, _peer) = UnixStream::pair().unwrap();
        let mut client = BufferedStream::new(stream);
        client.input = [framed(&packet), framed(b"b"), vec![END, 1]].concat();
        assert_eq!(next_packet(&mut client, 1000), Some(packet));
        assert_eq!(next_packet(&mut client, 1000).as_deref(), Some(&b"b"[..]));
        assert_eq!(next_packet(&mut client, 1000), None);
        client.input = vec![1; 2001];
        assert_eq!(next_packet(&mut client, 1000), None);
        assert!(client.has_ended, "a packet without an end");
    }
}
