//! [`SoundStreams`]: sound files that are written piece by piece.

use super::access::FileAccess;
use super::header::{FileType, SoundFormat};
use super::name::FileName;
use super::new_header::header_of;
use super::samples::encode;
use files::NewFile;
use std::collections::HashMap;
use std::io::{Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A sound file that is being written. It takes its place once it is closed.
struct SoundStream {
    file: NewFile,
    name: FileName,
    file_type: FileType,
    format: SoundFormat,
    frames: usize,
}

/// Settings with which a file is opened.
#[derive(Clone, Debug)]
pub(crate) struct StreamOpen {
    /// Number that nobody else uses.
    pub stream: u64,
    pub name: FileName,
    pub file_type: FileType,
    pub format: SoundFormat,
}

/// Files that are being written, by their numbers. All copies are one.
#[derive(Clone, Default)]
pub(crate) struct SoundStreams(Arc<Mutex<HashMap<u64, SoundStream>>>);

impl std::fmt::Debug for SoundStreams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SoundStreams")
    }
}

impl SoundStream {
    fn open(open: StreamOpen, access: &FileAccess) -> Result<Self, String> {
        let name = open.name;
        let with_name = |why: String| format!("{}: {why}", name.name);
        let target = access.target(&name).map_err(with_name)?;
        let header = header_of(open.file_type, open.format, 0);
        let (format, header) = header.ok_or_else(|| with_name("no such format".into()))?;
        let begin = || {
            let mut file = NewFile::replace(&target)?;
            file.write_all(&header)?;
            Ok(file)
        };
        let file = begin().map_err(|why: std::io::Error| with_name(why.to_string()))?;
        let (file_type, frames) = (open.file_type, 0);
        Ok(Self {
            file,
            name,
            file_type,
            format,
            frames,
        })
    }

    /// Adds samples: of each channel the same number.
    fn append(&mut self, channels: &[Vec<f32>]) -> Result<(), String> {
        let frames = channels.iter().map(Vec::len).min().unwrap_or(0);
        let mut bytes = Vec::new();
        encode(channels, frames, 1.0, self.format, &mut bytes);
        let result = self.file.write_all(&bytes);
        self.frames += frames;
        result.map_err(|why| format!("{}: {why}", self.name.name))
    }

    /// Writes the number of frames into the header; the file takes its place.
    fn close(mut self) -> Result<(), String> {
        let header = header_of(self.file_type, self.format, self.frames);
        let Some((_, header)) = header else {
            return Err(format!("{}: the file would be too long", self.name.name));
        };
        let mut end = || {
            self.file.seek(SeekFrom::Start(0))?;
            self.file.write_all(&header)
        };
        let result = end().and_then(|()| self.file.commit());
        result
            .map(drop)
            .map_err(|why| format!("{}: {why}", self.name.name))
    }
}

impl SoundStreams {
    fn all(&self) -> MutexGuard<'_, HashMap<u64, SoundStream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a file.
    ///
    /// Real-time: waits, on the disk.
    pub(super) fn open(&self, open: StreamOpen, access: &FileAccess) -> Result<(), String> {
        let number = open.stream;
        let stream = SoundStream::open(open, access)?;
        self.all().insert(number, stream);
        Ok(())
    }

    /// Adds samples to a file. One that could not be opened takes nothing.
    ///
    /// Real-time: waits, on the disk.
    pub(crate) fn append(&self, stream: u64, channels: &[Vec<f32>]) -> Result<(), String> {
        match self.all().get_mut(&stream) {
            Some(stream) => stream.append(channels),
            None => Ok(()),
        }
    }

    /// Closes a file.
    ///
    /// Real-time: waits, on the disk.
    pub(crate) fn close(&self, stream: u64) -> Result<(), String> {
        let stream = self.all().remove(&stream);
        stream.map_or(Ok(()), SoundStream::close)
    }
}
