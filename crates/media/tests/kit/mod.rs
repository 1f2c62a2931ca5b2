//! Files to test with: a folder of their own, noise, and the plainest AIFF and FLAC there can be.

use std::path::PathBuf;

/// A folder that goes with its test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Self {
        let name = format!("divisi-media-{}-{test}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn with(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.file(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The same numbers on every machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// `frames` frames of 16-bit stereo noise.
pub(crate) fn noise(frames: usize) -> Vec<[i16; 2]> {
    let mut random = Random(7);
    let mut one = || random.next() as i16;
    (0..frames).map(|_| [one(), one()]).collect()
}

/// Samples as a reader returns them, interleaved.
pub(crate) fn samples_of(frames: &[[i16; 2]]) -> Vec<f32> {
    let samples = frames.iter().flatten();
    samples.map(|s| f32::from(*s) / 32_768.0).collect()
}

pub(crate) fn aiff(frames: &[[i16; 2]]) -> Vec<u8> {
    let sound: Vec<u8> = frames
        .iter()
        .flatten()
        .flat_map(|s| s.to_be_bytes())
        .collect();
    let mut comm = Vec::new();
    comm.extend(2_u16.to_be_bytes());
    comm.extend((frames.len() as u32).to_be_bytes());
    comm.extend(16_u16.to_be_bytes());
    // 48000 as an 80-bit float.
    comm.extend([0x40, 0x0e, 0xbb, 0x80, 0, 0, 0, 0, 0, 0]);
    let mut body = b"AIFF".to_vec();
    chunk(&mut body, b"COMM", &comm);
    chunk(&mut body, b"SSND", &[&[0; 8][..], &sound].concat());
    let mut file = Vec::new();
    chunk(&mut file, b"FORM", &body);
    file
}

fn chunk(file: &mut Vec<u8>, name: &[u8; 4], body: &[u8]) {
    file.extend(name);
    file.extend((body.len() as u32).to_be_bytes());
    file.extend(body);
}

/// FLAC that packs nothing: verbatim blocks of 1024 frames.
pub(crate) fn flac(frames: &[[i16; 2]]) -> Vec<u8> {
    const BLOCK: usize = 1024;
    let mut file = b"fLaC".to_vec();
    file.extend([0x80, 0, 0, 34]);
    file.extend((BLOCK as u16).to_be_bytes());
    file.extend((BLOCK as u16).to_be_bytes());
    file.extend([0; 6]);
    let stream_info = 48_000_u64 << 44 | 1 << 41 | 15 << 36 | frames.len() as u64;
    file.extend(stream_info.to_be_bytes());
    file.extend([0; 16]);
    for (i, block) in frames.chunks(BLOCK).enumerate() {
        file.extend(flac_frame(i as u32, block));
    }
    file
}

fn flac_frame(number: u32, block: &[[i16; 2]]) -> Vec<u8> {
    // Fixed blocks; a length of 16 bits at the end of the head, 48 kHz; two channels of 16 bits.
    let mut frame = vec![0xff, 0xf8, 0x7a, 0x18];
    let mut text = [0; 4];
    frame.extend(
        char::from_u32(number)
            .unwrap()
            .encode_utf8(&mut text)
            .bytes(),
    );
    frame.extend((block.len() as u16 - 1).to_be_bytes());
    frame.push(crc8(&frame));
    for c in 0..2 {
        frame.push(0x02);
        frame.extend(block.iter().flat_map(|f| f[c].to_be_bytes()));
    }
    let sum = crc16(&frame);
    frame.extend(sum.to_be_bytes());
    frame
}

fn crc8(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| {
        (0..8).fold(sum ^ byte, |s: u8, _| {
            (s << 1) ^ if s >> 7 == 1 { 0x07 } else { 0 }
        })
    })
}

fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |sum, byte| {
        (0..8).fold(sum ^ u16::from(*byte) << 8, |s: u16, _| {
            (s << 1) ^ if s >> 15 == 1 { 0x8005 } else { 0 }
        })
    })
}
