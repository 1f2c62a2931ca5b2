//! [`FileRequest`] and [`FileReply`]: what an object asks for, and what it gets.

use super::access::FileAccess;
use super::handles::{HandleReply, HandleRequest};
use super::header::{FileType, SoundFormat, parse_header, sound_layout};
use super::name::FileName;
use super::new_header::header_of;
use super::query::{FileAnswer, FileQuery};
use super::samples::{decode, encode};
use super::stream::StreamOpen;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// Bytes of a file that are read, at most.
const MAX_BYTES: u64 = 4 << 30;

/// A sound file to be read.
#[derive(Clone, Debug)]
pub(crate) struct SoundRead {
    pub name: FileName,
    /// Format of a file without a header.
    pub raw: Option<SoundFormat>,
    /// Frames that are left out at the beginning.
    pub skip: usize,
    /// Frames, at most.
    pub max_frames: usize,
    /// Channels that are wanted: those that the file lacks are silent.
    pub channels: usize,
}

/// A sound file to be written.
#[derive(Clone, Debug)]
pub(crate) struct SoundWrite {
    pub name: FileName,
    pub file_type: FileType,
    pub format: SoundFormat,
    /// Factor of all samples.
    pub factor: f64,
    /// Samples of each channel, equally many.
    pub channels: Vec<Vec<f32>>,
}

/// What an object asks for.
#[expect(
    clippy::large_enum_variant,
    reason = "where it is made nothing may be allocated: it moves through queues of fixed size"
)]
#[derive(Clone, Debug)]
pub(crate) enum FileRequest {
    ReadSound(SoundRead),
    WriteSound(SoundWrite),
    WriteText(FileName, String),
    /// Opens a file that is written piece by piece.
    OpenStream(StreamOpen),
    /// Adds samples to it.
    Append {
        stream: u64,
        samples: Vec<Vec<f32>>,
    },
    /// Closes it.
    CloseStream(u64),
    Query(FileQuery),
    /// Something of an open file.
    Handle(HandleRequest),
}

/// What an object gets. A mistake is a sentence with the file's name.
#[derive(Debug)]
pub(crate) enum FileReply {
    /// The format, the frames in the file behind those that were skipped, and the channels.
    Sound(Result<(SoundFormat, usize, Vec<Vec<f32>>), String>),
    Written(Result<SoundFormat, String>),
    TextWritten(Result<(), String>),
    /// A file was opened or closed.
    Stream(Result<(), String>),
    /// The samples, to be used again.
    Appended(Vec<Vec<f32>>, Result<(), String>),
    Answer(FileAnswer),
    Handle(HandleReply),
}

impl FileRequest {
    /// The reply to a write that is left out; `None` for a read.
    pub(crate) fn left_out(&self) -> Option<FileReply> {
        match self {
            Self::Query(query) if query.question.is_write() => {
                Some(FileReply::Answer(FileAnswer::Done))
            }
            Self::Handle(request) => request.left_out().map(FileReply::Handle),
            Self::OpenStream(_) | Self::CloseStream(_) => Some(FileReply::Stream(Ok(()))),
            Self::WriteSound(write) => Some(FileReply::Written(Ok(write.format))),
            Self::WriteText(..) => Some(FileReply::TextWritten(Ok(()))),
            _ => None,
        }
    }

    /// Returns true if it writes a file.
    pub(crate) fn is_write(&self) -> bool {
        match self {
            Self::ReadSound(_) => false,
            Self::Query(query) => query.question.is_write(),
            Self::Handle(request) => request.is_write(),
            _ => true,
        }
    }

    /// Does what is asked.
    ///
    /// Real-time: waits, on the disk.
    pub(crate) fn serve(self, access: &FileAccess) -> FileReply {
        match self {
            Self::ReadSound(read) => FileReply::Sound(read_sound(&read, access)),
            Self::WriteSound(write) => FileReply::Written(write_sound(write, access)),
            Self::Query(query) => FileReply::Answer(query.serve(access)),
            Self::Handle(request) => FileReply::Handle(request.serve(access)),
            Self::OpenStream(open) => {
                FileReply::Stream(counted(access.streams.open(open, access), access))
            }
            Self::Append { stream, samples } => {
                let result = access.streams.append(stream, &samples);
                FileReply::Appended(samples, counted(result, access))
            }
            Self::CloseStream(stream) => {
                FileReply::Stream(counted(access.streams.close(stream), access))
            }
            Self::WriteText(name, text) => {
                FileReply::TextWritten(access.write(&name, text.as_bytes()))
            }
        }
    }
}

impl FileAccess {
    /// Reads a text; a mistake is a sentence with the file's name.
    ///
    /// Real-time: waits, on the disk.
    pub(crate) fn read_text(&self, name: &FileName) -> Result<String, String> {
        let bytes = files::read(self.find(name), MAX_BYTES);
        let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        text.map_err(|why| format!("{}: {}", name.name, reason(&why)))
    }
}

/// Counts what was lost.
fn counted(result: Result<(), String>, access: &FileAccess) -> Result<(), String> {
    if result.is_err() {
        access.count_lost();
    }
    result
}

/// The words of C for the most usual reason.
fn reason(why: &std::io::Error) -> String {
    match why.kind() {
        std::io::ErrorKind::NotFound => "No such file or directory".into(),
        _ => why.to_string(),
    }
}

/// Bytes of a file's begin in which its header is looked for.
const MAX_HEADER: u64 = 1 << 16;

/// Samples of a sound file: the format, the frames behind those that are skipped, and the channels.
type ReadSound = (SoundFormat, usize, Vec<Vec<f32>>);

fn read_sound(read: &SoundRead, access: &FileAccess) -> Result<ReadSound, String> {
    let name = &read.name.name;
    let with_name = |why: std::io::Error| format!("{name}: {}", reason(&why));
    let path = access.find(&read.name);
    let mut file = files::open(&path).map_err(with_name)?;
    let mut begin = Vec::new();
    let header = file.by_ref().take(MAX_HEADER).read_to_end(&mut begin);
    header.map_err(with_name)?;
    let found = match read.raw {
        Some(format) => Some((format, usize::MAX)),
        None => sound_layout(&begin),
    };
    let (format, frames, mut channels) = match found {
        Some(layout) => read_frames(&mut file, layout, read).map_err(with_name)?,
        // The header may lie behind the samples.
        None => {
            let bytes = files::read(&path, MAX_BYTES).map_err(with_name)?;
            let found = parse_header(&bytes);
            let (format, data) =
                found.ok_or_else(|| format!("{name}: unknown or bad header format"))?;
            let (frames, from, count) = wanted(format, data.len(), read);
            let data = data.get(from..from + count).unwrap_or_default();
            (format, frames, decode(data, format))
        }
    };
    let count = channels.iter().map(Vec::len).min().unwrap_or(0);
    channels.resize(read.channels, vec![0.0; count]);
    // An array has a point at least.
    channels.iter_mut().for_each(|channel| channel.reserve(1));
    Ok((format, frames, channels))
}

/// Frames behind those that are skipped, and which bytes of `bytes` are wanted: the first, and how many.
fn wanted(format: SoundFormat, bytes: usize, read: &SoundRead) -> (usize, usize, usize) {
    let frame_bytes = format.channels * format.sample_bytes;
    let frames = (bytes / frame_bytes).saturating_sub(read.skip);
    let from = bytes.min(read.skip.saturating_mul(frame_bytes));
    (frames, from, frames.min(read.max_frames) * frame_bytes)
}

/// Reads the wanted frames alone.
fn read_frames(
    file: &mut File,
    (format, length): (SoundFormat, usize),
    read: &SoundRead,
) -> std::io::Result<ReadSound> {
    let in_file = file.metadata()?.len().min(MAX_BYTES);
    let in_file = usize::try_from(in_file).unwrap_or(usize::MAX);
    let in_file = in_file.saturating_sub(format.header_bytes);
    let (frames, from, count) = wanted(format, in_file.min(length), read);
    let begin = (format.header_bytes + from) as u64;
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::with_capacity(count);
    file.take(count as u64).read_to_end(&mut bytes)?;
    Ok((format, frames, decode(&bytes, format)))
}

fn write_sound(write: SoundWrite, access: &FileAccess) -> Result<SoundFormat, String> {
    let frames = write.channels.iter().map(Vec::len).min().unwrap_or(0);
    let (format, mut bytes) =
        header_of(write.file_type, write.format, frames).ok_or_else(|| {
            access.count_lost();
            format!("{}: the file would be too long", write.name.name)
        })?;
    encode(&write.channels, frames, write.factor, format, &mut bytes);
    access.write(&write.name, &bytes)?;
    Ok(format)
}
