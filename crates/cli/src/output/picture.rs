//! Writing pictures, in the format of the file's extension.

use crate::failure::Failure;
use crate::files::{extension, write_file};
use divisi::draw::Picture;
use std::path::Path;

/// Pixels of a PNG per unit of the picture.
const SCALE: f32 = 2.0;

/// Writes a picture in the format of the file's extension.
pub(crate) fn write_picture(path: &Path, picture: &Picture) -> Result<(), Failure> {
    let bytes = match extension(path).as_str() {
        "svg" => picture.svg().into_bytes(),
        "pdf" => picture.pdf(),
        "png" => {
            let drawn = picture.png_within_limit(SCALE);
            drawn.map_err(Failure::from_error)?.0
        }
        _ => return Err(unknown_picture_format(path)),
    };
    write_file(path, bytes)
}

/// Refuses a name without a picture's extension, before the work begins.
pub(crate) fn check_picture_name(path: &Path) -> Result<(), Failure> {
    match extension(path).as_str() {
        "svg" | "pdf" | "png" => Ok(()),
        _ => Err(unknown_picture_format(path)),
    }
}

fn unknown_picture_format(path: &Path) -> Failure {
    let message = format!("{}: a picture ends in .svg, .pdf or .png", path.display());
    Failure::bad_input(message)
}
