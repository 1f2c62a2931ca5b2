//! `soundfiler`: sound files to arrays, and back (`d_soundfile.c`).

use super::super::object::{Context, Handled, Object};
use super::super::symbol::Symbol;
use super::super::value::{Message, Value};
use super::Making;
use crate::disk::{FileName, FileReply, FileRequest, FileType, SoundFormat, SoundRead, SoundWrite};
use std::path::PathBuf;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    match making.class {
        "soundfiler" => Some(Box::new(SoundFiler {
            folder: making.folder.to_owned(),
            pending: Pending::default(),
        })),
        _ => None,
    }
}

/// Frames of an array, at most.
const MAX_FRAMES: usize = 1 << 28;

struct SoundFiler {
    folder: PathBuf,
    pending: Pending,
}

/// What the reply is for.
#[derive(Default)]
struct Pending {
    arrays: Vec<Symbol>,
    resizes: bool,
    frames: usize,
    max_frames: usize,
}

/// Words of a message: flags with their numbers, then a name, then arrays.
struct Words<'w> {
    rest: &'w [Value],
}

impl Words<'_> {
    /// The next flag, without its dash.
    fn flag(&mut self, context: &mut Context<'_>) -> Option<String> {
        let Some(Value::Symbol(symbol)) = self.rest.first() else {
            return None;
        };
        let flag = context
            .symbols()
            .text(*symbol)
            .strip_prefix('-')?
            .to_owned();
        self.rest = &self.rest[1..];
        Some(flag)
    }

    fn next(&mut self) -> Option<Value> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative"
    )]
    fn count(&mut self) -> Option<usize> {
        match self.next()? {
            Value::Float(number) if number >= 0.0 => Some(number as usize),
            _ => None,
        }
    }

    fn symbol(&mut self) -> Option<Symbol> {
        match self.next()? {
            Value::Symbol(symbol) => Some(symbol),
            Value::Float(_) => None,
        }
    }
}

const READ_USAGE: [&str; 3] = [
    "error: usage: read [flags] filename [tablename]...",
    "flags: -skip <n> -resize -maxsize <n> -wave -aiff -caf -next -ascii ...",
    "-raw <headerbytes> <channels> <bytespersample> <endian (b, l, or n)>",
];

const WRITE_USAGE: [&str; 3] = [
    "error: usage: write [flags] filename tablename...",
    "flags: -skip <n> -nframes <n> -bytes <n> -wave -aiff -caf -next ...",
    "-big -little -normalize -rate <n>",
];

impl SoundFiler {
    fn nothing(&self, context: &mut Context<'_>) {
        self.output(None, 0, context);
    }

    /// The format from the right outlet, then the number of frames.
    #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
    fn output(&self, format: Option<SoundFormat>, frames: usize, context: &mut Context<'_>) {
        let letter = if format.is_some_and(|format| format.is_big) {
            "b"
        } else {
            "l"
        };
        let letter = Value::Symbol(context.symbols().intern(letter));
        let numbers = format.map_or([0.0; 4], |format| {
            let counts = [format.header_bytes, format.channels, format.sample_bytes];
            [
                format.rate,
                counts[0] as f32,
                counts[1] as f32,
                counts[2] as f32,
            ]
        });
        let [a, b, c, d] = numbers.map(Value::Float);
        context.send_list(1, &[a, b, c, d, letter]);
        context.send_float(0, frames as f32);
    }

    fn usage(&self, lines: [&str; 3], context: &mut Context<'_>) {
        for line in lines {
            context.print(line.into());
        }
        self.nothing(context);
    }

    /// The arrays of a message; `None` if one is not there, which is printed.
    fn arrays(
        &self,
        words: &Words<'_>,
        verb: &str,
        context: &mut Context<'_>,
    ) -> Option<Vec<Symbol>> {
        let mut arrays = Vec::new();
        for value in words.rest {
            let Value::Symbol(name) = value else {
                return None;
            };
            if context.arrays().find(*name).is_none() {
                let name = context.symbols().text(*name).to_owned();
                context.print(format!("error: soundfiler {verb}: {name}: no such table"));
                return None;
            }
            arrays.push(*name);
        }
        Some(arrays)
    }

    fn file_name(&self, name: Symbol, context: &mut Context<'_>) -> FileName {
        FileName {
            folder: self.folder.clone(),
            name: context.symbols().text(name).into(),
        }
    }

    fn read(&mut self, values: &[Value], context: &mut Context<'_>) {
        let mut words = Words { rest: values };
        let (mut skip, mut raw, mut resizes, mut max_frames) = (0, None, false, None);
        while let Some(flag) = words.flag(context) {
            let is_right = match flag.as_str() {
                "skip" => words.count().map(|count| skip = count).is_some(),
                "resize" => {
                    resizes = true;
                    true
                }
                "maxsize" => {
                    resizes = true;
                    max_frames = words.count();
                    max_frames.is_some()
                }
                "raw" => {
                    raw = raw_format(&mut words, context);
                    raw.is_some()
                }
                "wave" | "aiff" | "caf" | "next" | "nextstep" => true,
                _ => false,
            };
            if !is_right {
                return self.usage(READ_USAGE, context);
            }
        }
        let Some(name) = words.symbol() else {
            return self.usage(READ_USAGE, context);
        };
        let Some(arrays) = self.arrays(&words, "read", context) else {
            return self.nothing(context);
        };
        let sizes = arrays
            .iter()
            .map(|name| context.arrays().named(*name).map_or(0, <[f32]>::len));
        let sizes: Vec<usize> = sizes.collect();
        if !resizes && sizes.windows(2).any(|pair| pair[0] != pair[1]) {
            context.print("arrays have different lengths, resizing...".into());
            resizes = true;
        }
        self.pending = Pending {
            resizes,
            frames: sizes.last().copied().unwrap_or(MAX_FRAMES),
            max_frames: max_frames.unwrap_or(MAX_FRAMES).min(MAX_FRAMES),
            arrays,
        };
        let frames = if resizes {
            self.pending.max_frames
        } else {
            self.pending.frames
        };
        let name = self.file_name(name, context);
        let max_frames = if self.pending.arrays.is_empty() {
            0
        } else {
            frames
        };
        self.ask(
            FileRequest::ReadSound(SoundRead {
                name,
                raw,
                skip,
                max_frames,
            }),
            context,
        );
    }

    fn ask(&mut self, request: FileRequest, context: &mut Context<'_>) {
        if let Some(reply) = context.ask(request) {
            self.reply(reply, context);
        }
    }

    /// Puts what was read into the arrays.
    fn fill(&mut self, in_file: usize, channels: &[Vec<f32>], context: &mut Context<'_>) -> usize {
        let pending = std::mem::take(&mut self.pending);
        if pending.resizes && in_file > pending.max_frames {
            let max = pending.max_frames;
            context.print(format!(
                "error: soundfiler read: truncated to {max} elements"
            ));
        }
        let read = channels.first().map_or(0, Vec::len);
        for (at, name) in pending.arrays.iter().enumerate() {
            let Some(id) = context.arrays().find(*name) else {
                continue;
            };
            if pending.resizes && !context.arrays().resize(id, read.max(1)) {
                context.print(format!(
                    "error: soundfiler read: {read} points are too many for the memory of arrays"
                ));
            }
            let points = context.arrays().points_mut(id);
            let samples = channels.get(at).map_or(&[][..], Vec::as_slice);
            let count = samples.len().min(points.len());
            points[..count].copy_from_slice(&samples[..count]);
            points[count..].fill(0.0);
        }
        if pending.arrays.is_empty() {
            in_file
        } else {
            read
        }
    }

    fn write(&mut self, values: &[Value], context: &mut Context<'_>) {
        let mut words = Words { rest: values };
        let mut options = WriteOptions {
            sample_bytes: 2,
            rate: context.globals().rate,
            ..WriteOptions::default()
        };
        while let Some(flag) = words.flag(context) {
            if options.set(&flag, &mut words).is_none() {
                return self.usage(WRITE_USAGE, context);
            }
        }
        let Some(name) = words.symbol().filter(|_| !words.rest.is_empty()) else {
            return self.usage(WRITE_USAGE, context);
        };
        let Some(arrays) = self.arrays(&words, "write", context) else {
            return self.nothing(context);
        };
        let mut name = self.file_name(name, context);
        let by_name = FileType::of_name(&name.name);
        let file_type = options.file_type.or(by_name).unwrap_or(FileType::Wave);
        let shown = name.name.clone();
        if by_name != Some(file_type) {
            name.name = format!("{shown}{}", file_type.ending()).into();
        }
        if file_type == FileType::Wave && options.is_big == Some(true) {
            context.print("wave: forced to little endian".into());
        }
        let parts = arrays.iter().map(|array| {
            let points = context.arrays().named(*array).unwrap_or_default();
            let from = points.get(options.skip..).unwrap_or_default();
            from[..from.len().min(options.frames.unwrap_or(usize::MAX))].to_vec()
        });
        let channels: Vec<Vec<f32>> = parts.collect();
        let frames = channels.iter().map(Vec::len).min().unwrap_or(0);
        let all = channels.iter().flat_map(|channel| &channel[..frames]);
        let peak = all.fold(0.0_f32, |peak, sample| peak.max(sample.abs()));
        let factor = options.factor(peak, &shown, context);
        self.pending = Pending {
            frames,
            ..Pending::default()
        };
        let format = SoundFormat {
            rate: options.rate,
            header_bytes: 0,
            channels: channels.len(),
            sample_bytes: options.sample_bytes,
            is_big: options
                .is_big
                .unwrap_or(matches!(file_type, FileType::Aiff | FileType::Caf)),
        };
        let write = SoundWrite {
            name,
            file_type,
            format,
            factor,
            channels,
        };
        self.ask(FileRequest::WriteSound(write), context);
    }
}

/// The format of a file without a header: bytes, channels, bytes of a sample, and `b`, `l` or `n`.
fn raw_format(words: &mut Words<'_>, context: &mut Context<'_>) -> Option<SoundFormat> {
    let (header_bytes, channels, sample_bytes) = (words.count()?, words.count()?, words.count()?);
    let endian = words.symbol()?;
    let is_big = match context.symbols().text(endian) {
        "b" => true,
        "l" | "n" => false,
        _ => return None,
    };
    let is_right = (1..=64).contains(&channels) && (2..=4).contains(&sample_bytes);
    is_right.then_some(SoundFormat {
        rate: context.globals().rate,
        header_bytes,
        channels,
        sample_bytes,
        is_big,
    })
}

/// What a message wants to be written.
#[derive(Default)]
struct WriteOptions {
    skip: usize,
    frames: Option<usize>,
    sample_bytes: usize,
    file_type: Option<FileType>,
    is_big: Option<bool>,
    is_normalized: bool,
    rate: f32,
}

impl WriteOptions {
    /// `None` if a flag is not understood.
    fn set(&mut self, flag: &str, words: &mut Words<'_>) -> Option<()> {
        match flag {
            "skip" => self.skip = words.count()?,
            "nframes" => self.frames = Some(words.count()?),
            "bytes" => self.sample_bytes = words.count().filter(|bytes| (2..=4).contains(bytes))?,
            "normalize" => self.is_normalized = true,
            "wave" => self.file_type = Some(FileType::Wave),
            "aiff" => self.file_type = Some(FileType::Aiff),
            "nextstep" | "next" => self.file_type = Some(FileType::Next),
            "caf" => self.file_type = Some(FileType::Caf),
            "big" => self.is_big = Some(true),
            "little" => self.is_big = Some(false),
            "rate" | "r" => self.rate = words.next()?.number(),
            _ => return None,
        }
        Some(())
    }

    /// Factor of all samples: so that integers are not clipped.
    fn factor(&self, peak: f32, name: &str, context: &mut Context<'_>) -> f64 {
        let is_reduced = !self.is_normalized && self.sample_bytes != 4 && peak > 1.0;
        match (self.is_normalized, is_reduced) {
            (false, true) => {
                context.print(format!("{name}: reducing max amplitude {peak:.6} to 1"))
            }
            (false, false) => context.print(format!("{name}: biggest amplitude = {peak:.6}")),
            _ => {}
        }
        match (self.is_normalized || is_reduced) && peak > 0.0 {
            true => 32767.0 / (32768.0 * f64::from(peak)),
            false => 1.0,
        }
    }
}

impl Object for SoundFiler {
    fn reply(&mut self, reply: FileReply, context: &mut Context<'_>) {
        match reply {
            FileReply::Sound(Ok((format, in_file, channels))) => {
                let frames = self.fill(in_file, &channels, context);
                self.output(Some(format), frames, context);
            }
            FileReply::Sound(Err(why)) => {
                context.print(format!("error: soundfiler read: {why}"));
                self.nothing(context);
            }
            FileReply::Written(Ok(format)) => {
                self.output(Some(format), self.pending.frames, context)
            }
            FileReply::Written(Err(why)) => {
                context.print(format!("error: soundfiler write: {why}"));
                self.nothing(context);
            }
            _ => {}
        }
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match context.symbols().text(message.selector) {
            "read" => self.read(message.values, context),
            "write" => self.write(message.values, context),
            _ => return Handled::No,
        }
        Handled::Yes
    }
}
