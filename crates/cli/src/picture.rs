//! Pictures, written as their files' names say.

use crate::failure::{Failure, in_full};
use crate::files::extension;
use crate::outcome::cannot_write;
use divisi::draw::Picture;
use std::path::Path;

/// How many pixels a PNG has for each of the picture's.
const SCALE: f32 = 2.0;

/// Writes a picture as its file's name says.
pub(crate) fn write_picture(path: &Path, picture: &Picture) -> Result<(), Failure> {
    let bytes = match extension(path).as_str() {
        "svg" => picture.svg().into_bytes(),
        "pdf" => picture.pdf(),
        "png" => {
            let drawn = picture.png_within_limit(SCALE);
            drawn.map_err(|error| Failure::failed(in_full(&error)))?.0
        }
        _ => return Err(no_picture(path)),
    };
    std::fs::write(path, bytes).map_err(|error| cannot_write(path, &error))
}

/// Refuses a name that is no picture's, before the work and not after it.
pub(crate) fn is_picture(path: &Path) -> Result<(), Failure> {
    match extension(path).as_str() {
        "svg" | "pdf" | "png" => Ok(()),
        _ => Err(no_picture(path)),
    }
}

fn no_picture(path: &Path) -> Failure {
    let told = format!("{}: a picture ends in .svg, .pdf or .png", path.display());
    Failure::wrong(told)
}
