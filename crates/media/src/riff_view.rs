//! [`RiffView`]: a WAV file as the parser can read it, with a few bytes of its header replaced.
//!
//! - RF64 and RIFF differ in the first four bytes, and in the sizes: where RF64 has its own, the 32-bit ones are all ones.
//!   That is how the parser knows a file whose length is unknown, which it reads to the end.
//! - The parser knows few channels only. A file that has more, in whole samples, is read as one channel in which the
//!   samples of a frame follow one another.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use symphonia::core::io::MediaSource;

/// A file of which some bytes read as others.
pub(crate) struct RiffView {
    file: File,
    position: u64,
    patches: Vec<Patch>,
}

/// A place in a file, and the bytes that are read there.
pub(crate) type Patch = (u64, Vec<u8>);

impl RiffView {
    /// The view of a file that is positioned at its beginning.
    pub(crate) fn new(file: File, patches: Vec<Patch>) -> Self {
        Self {
            file,
            position: 0,
            patches,
        }
    }
}

impl Read for RiffView {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        for (place, bytes) in &self.patches {
            for (at, byte) in (*place..).zip(bytes) {
                let at = at.checked_sub(self.position);
                let to = at.and_then(|at| buffer[..read].get_mut(usize::try_from(at).ok()?));
                to.into_iter().for_each(|to| *to = *byte);
            }
        }
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for RiffView {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = self.file.seek(to)?;
        Ok(self.position)
    }
}

impl MediaSource for RiffView {
    fn is_seekable(&self) -> bool {
        true
    }

    fn byte_len(&self) -> Option<u64> {
        self.file.metadata().map(|metadata| metadata.len()).ok()
    }
}
