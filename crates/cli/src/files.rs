//! Files that a command reads or writes: names, size limits, reading and writing in one piece.

use crate::failure::Failure;
use divisi::files;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Largest size of the samples in a WAV file, in bytes: its 32-bit size less room for the header.
const MAX_WAV_BYTES: u128 = u32::MAX as u128 - 4096;

/// Extension of a file name in lower case; empty if there is none.
pub(crate) fn extension(path: &Path) -> String {
    let extension = path.extension().unwrap_or_default();
    extension.to_string_lossy().to_ascii_lowercase()
}

/// Refuses a name with the extension of another format than WAV.
pub(crate) fn check_sound_name(path: &Path) -> Result<(), Failure> {
    match extension(path).as_str() {
        "wav" | "wave" => Ok(()),
        "" if path.as_os_str() != "-" => Ok(()),
        _ => {
            let message = format!("{}: a sound file ends in .wav", path.display());
            Err(Failure::bad_input(message))
        }
    }
}

/// Refuses an output that is too large for a WAV file of 32-bit samples, before the work begins. `advice` says how to make
/// it shorter.
pub(crate) fn check_wav_size(frames: u128, channels: usize, advice: &str) -> Result<(), Failure> {
    let bytes = frames.saturating_mul(channels as u128 * 4);
    if bytes <= MAX_WAV_BYTES {
        return Ok(());
    }
    let gib = bytes as f64 / f64::from(1 << 30);
    Err(Failure::bad_input(format!(
        "this would be {gib:.1} GiB, and a WAV file holds 4: {advice}"
    )))
}

/// Returns the first of `inputs` that is the same file as `output`, by whatever path. `None` if `output` does not exist.
pub(crate) fn same_file(
    output: &Path,
    mut inputs: impl Iterator<Item = PathBuf>,
) -> Option<PathBuf> {
    let output = output.canonicalize().ok()?;
    inputs.find(|path| path.canonicalize().is_ok_and(|path| path == output))
}

/// Reads a whole file of at most `max_bytes` bytes. `what` names the kind of file in messages: "a session".
pub(crate) fn read_file(path: &Path, max_bytes: u64, what: &str) -> Result<Vec<u8>, Failure> {
    files::read(path, max_bytes).map_err(|error| {
        let name = path.display();
        Failure::bad_input(match error.kind() {
            ErrorKind::FileTooLarge => {
                let max = max_bytes >> 20;
                format!("{name} is too large: {what} has at most {max} MiB")
            }
            ErrorKind::IsADirectory => format!("{name} is a folder: name {what}"),
            _ => format!("cannot read {name}: {error}"),
        })
    })
}

/// Writes `content` as a whole: if the disk is full, the old file is as it was.
pub(crate) fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    files::write(path, content).map_err(|error| write_failure(path, &error))
}

/// Failure of writing `path`.
pub(crate) fn write_failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("cannot write {}: {error}", path.display()))
}
