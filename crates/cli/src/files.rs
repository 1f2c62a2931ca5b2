//! Files that a command reads or writes: names, size limits, reading and writing in one piece.

use crate::failure::Failure;
use crate::output::messages;
use divisi::files;
use std::io::ErrorKind;
use std::path::Path;

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

/// Refuses a sound file of 32-bit samples that the disk of `path` has no room for, before the work begins. `advice` says how
/// to make it shorter.
pub(crate) fn check_room(
    path: &Path,
    (frames, channels): (u128, usize),
    advice: &str,
) -> Result<(), Failure> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let free = files::free_bytes(folder.unwrap_or(Path::new(".")));
    let bytes = frames.saturating_mul(channels as u128 * 4);
    if free.is_none_or(|free| bytes <= u128::from(free)) {
        return Ok(());
    }
    let gib = |bytes: f64| bytes / f64::from(1 << 30);
    let (wanted, free) = (gib(bytes as f64), gib(free.unwrap_or_default() as f64));
    Err(Failure::bad_input(format!(
        "this would be {wanted:.1} GiB, and {free:.1} GiB of the disk are free: {advice}"
    )))
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

/// Writes `content` as a whole: if the disk is full, the old file is as it was. Says under which name an earlier one is kept.
pub(crate) fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    let kept = files::write(path, content).map_err(|error| write_failure(path, &error))?;
    messages::print_kept(path, kept.as_deref());
    Ok(())
}

/// Failure of writing `path`.
pub(crate) fn write_failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("cannot write {}: {error}", path.display()))
}
