//! Packets of OSC, byte by byte.

/// A message in OSC: address, type tags without the comma, arguments.
pub(crate) fn osc(address: &str, tags: &str, arguments: &[u8]) -> Vec<u8> {
    let padded = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize((bytes.len() / 4 + 1) * 4, 0);
        bytes
    };
    [
        padded(address),
        padded(&format!(",{tags}")),
        arguments.to_vec(),
    ]
    .concat()
}

/// A bundle of packets, for the time of a tag.
pub(crate) fn bundle(tag: [u8; 8], packets: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = [b"#bundle\0".as_slice(), &tag].concat();
    for packet in packets {
        bytes.extend((packet.len() as u32).to_be_bytes());
        bytes.extend(packet);
    }
    bytes
}
