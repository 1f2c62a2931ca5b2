//! Files that a command writes in one piece.

use crate::failure::Failure;
use crate::output::json::write_failure;
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

/// Writes `content`; replaces the file.
pub(crate) fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    std::fs::write(path, content).map_err(|error| write_failure(path, &error))
}
