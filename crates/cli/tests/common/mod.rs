//! The program, called as a user calls it, in a folder of its own.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod asked;
#[cfg(target_os = "linux")]
pub(crate) mod guarded;
#[cfg(target_os = "linux")]
pub(crate) mod jackd;
pub(crate) mod json_schema;
pub(crate) mod osc;
pub(crate) mod patch_cell;
pub(crate) mod playing;
pub(crate) mod silences;
pub(crate) mod two_cells;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A temporary folder, removed on drop.
pub(crate) struct Folder(PathBuf);

/// Exit code and output of a call.
#[derive(Debug)]
pub(crate) struct CallResult {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("divisi-cli-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&self.read(name)).unwrap()
    }

    /// The program in this folder, with the words of `line` as arguments.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_divisi"));
        command.args(line.split_whitespace()).current_dir(&self.0);
        // Measurements are stored here, not in the user's folder.
        command.env("XDG_CACHE_HOME", self.path(".cache"));
        command.stdin(Stdio::null());
        command
    }

    /// Calls it.
    pub(crate) fn call(&self, line: &str) -> CallResult {
        self.command(line).output().unwrap().into()
    }

    /// Calls it and asserts exit code 0.
    pub(crate) fn well(&self, line: &str) -> CallResult {
        let gave = self.call(line);
        assert_eq!(gave.code, Some(0), "divisi {line}\n{}", gave.err);
        gave
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl From<Output> for CallResult {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the output is UTF-8");
        Self {
            code: output.status.code(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

/// Path of a file of the repository.
pub(crate) fn repository(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap().join(name)
}

/// Channels and samples of a WAV file of 32-bit floats, sample by sample as bits.
pub(crate) fn wav(bytes: &[u8]) -> (u16, Vec<u32>) {
    let at = |tag: &[u8; 4]| {
        let mut at = 12;
        while &bytes[at..at + 4] != tag {
            at += 8 + u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
        }
        let size = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
        &bytes[at + 8..at + 8 + size]
    };
    assert_eq!((&bytes[..4], &bytes[8..12]), (&b"RIFF"[..], &b"WAVE"[..]));
    let channels = u16::from_le_bytes(at(b"fmt ")[2..4].try_into().unwrap());
    let samples = at(b"data").chunks_exact(4);
    let bits = samples.map(|b| u32::from_le_bytes(b.try_into().unwrap()));
    (channels, bits.collect())
}

/// A graph without an end.
pub(crate) const BEEP: &str = "o = { kind: \"osc\", freq: 440, volume: 0.3, in: 0, out: 1, };\n\
    s = { kind: \"sink\", in: 1, out: 0, };\no.1 -> s.1;\n";

/// A WAV file of 32-bit floats.
pub(crate) fn sound(hz: u32, channels: &[&[f32]]) -> Vec<u8> {
    let (width, frames) = (channels.len() as u32, channels[0].len());
    let mut data = Vec::new();
    for frame in 0..frames {
        for channel in channels {
            data.extend(channel[frame].to_le_bytes());
        }
    }
    let mut bytes = Vec::new();
    bytes.extend(b"RIFF");
    bytes.extend((36 + data.len() as u32).to_le_bytes());
    bytes.extend(b"WAVEfmt ");
    bytes.extend(16_u32.to_le_bytes());
    bytes.extend(3_u16.to_le_bytes());
    bytes.extend((width as u16).to_le_bytes());
    bytes.extend(hz.to_le_bytes());
    bytes.extend((hz * width * 4).to_le_bytes());
    bytes.extend((width as u16 * 4).to_le_bytes());
    bytes.extend(32_u16.to_le_bytes());
    bytes.extend(b"data");
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(data);
    bytes
}

/// A file in which controller 74 of channel 3 is 127 at each of four beats.
pub(crate) fn controller_file() -> Vec<u8> {
    let mut track = Vec::new();
    for beat in 0..4 {
        let delta = if beat == 0 { 0 } else { 48 };
        track.extend([delta, 0xb2, 74, 127]);
    }
    track.extend([48, 0xff, 0x2f, 0]);
    let mut file = b"MThd\0\0\0\x06\0\0\0\x01\0\x60MTrk".to_vec();
    file.extend((track.len() as u32).to_be_bytes());
    file.extend(track);
    file
}
