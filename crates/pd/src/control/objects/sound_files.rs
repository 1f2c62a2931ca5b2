//! `soundfiler`: sound files to arrays, and back (`d_soundfile.c`).

use super::super::context::Context;
use super::super::jobs::{Job, JobResult, MAX_PARTS};
use super::super::object::{Handled, Object};
use super::super::symbol::{Symbol, words};
use super::super::value::{Message, Value};
use super::Making;
use super::sound_words::{SoundNames, Words, WriteOptions, raw_format};
use crate::disk::{FileName, FileReply, FileRequest, FileType, SoundFormat, SoundRead, SoundWrite};
use crate::state::held;
use std::collections::VecDeque;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    match making.class {
        "soundfiler" => Some(Box::new(SoundFiler {
            names: SoundNames::new(making.folder),
            pending: VecDeque::with_capacity(MAX_PENDING),
        })),
        _ => None,
    }
}

/// Frames of an array, at most.
const MAX_FRAMES: usize = 1 << 28;

/// Files under way for one box, at most.
const MAX_PENDING: usize = 16;

struct SoundFiler {
    names: SoundNames,
    /// Purposes of the next results, in order.
    pending: VecDeque<Pending>,
}

/// Arrays of a message.
#[derive(Clone, Copy, Debug)]
struct ArrayNames {
    names: [Symbol; MAX_PARTS],
    count: usize,
}

impl ArrayNames {
    fn get(&self) -> &[Symbol] {
        &self.names[..self.count]
    }
}

/// Purpose of a result.
#[derive(Clone, Debug)]
struct Pending {
    arrays: ArrayNames,
    resizes: bool,
    frames: usize,
    max_frames: usize,
    /// File to be written once there is memory for the samples.
    write: Option<PendingWrite>,
}

/// A file that is to be written.
#[derive(Clone, Debug)]
struct PendingWrite {
    name: FileName,
    /// Bytes of the name as the message gives it.
    shown: usize,
    file_type: FileType,
    options: WriteOptions,
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
            context.print_with(|_, to| to.write_str(line));
        }
        self.nothing(context);
    }

    /// The arrays of a message; `None` if one is not there, which is printed.
    fn arrays(
        &self,
        words: &Words<'_>,
        verb: &str,
        context: &mut Context<'_>,
    ) -> Option<ArrayNames> {
        let (names, mut count) = ([words::EMPTY; MAX_PARTS], 0);
        let mut arrays = ArrayNames { names, count };
        for value in words.rest {
            let Value::Symbol(name) = value else {
                return None;
            };
            if context.arrays().find(*name).is_none() {
                context.print_with(|symbols, line| {
                    let name = symbols.text(*name);
                    write!(line, "error: soundfiler {verb}: {name}: no such table")
                });
                return None;
            }
            *arrays.names.get_mut(count)? = *name;
            count += 1;
        }
        arrays.count = count;
        Some(arrays)
    }

    fn read(&mut self, values: &[Value], context: &mut Context<'_>) {
        let mut words = Words { rest: values };
        let (mut skip, mut raw, mut resizes, mut max_frames) = (0, None, false, None);
        while let Some(flag) = words.flag(context) {
            let is_right = match &*flag {
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
        let size = |name: &Symbol, context: &mut Context<'_>| {
            context.arrays().named(*name).map_or(0, <[f32]>::len)
        };
        let last = arrays.get().last();
        let frames = last.map_or(MAX_FRAMES, |name| size(name, context));
        if !resizes
            && arrays
                .get()
                .iter()
                .any(|name| size(name, context) != frames)
        {
            context
                .print_with(|_, line| line.write_str("arrays have different lengths, resizing..."));
            resizes = true;
        }
        let pending = Pending {
            resizes,
            frames,
            max_frames: max_frames.unwrap_or(MAX_FRAMES).min(MAX_FRAMES),
            arrays,
            write: None,
        };
        let Some(name) = self.names.file_name(name, "", context) else {
            return self.nothing(context);
        };
        let max_frames = match (arrays.count, resizes) {
            (0, _) => 0,
            (_, true) => pending.max_frames,
            (_, false) => pending.frames,
        };
        let read = SoundRead {
            name,
            raw,
            skip,
            max_frames,
            channels: arrays.count,
        };
        self.ask(Job::File(FileRequest::ReadSound(read)), pending, context);
    }

    fn ask(&mut self, job: Job, pending: Pending, context: &mut Context<'_>) {
        if self.pending.len() == MAX_PENDING {
            context.print_with(|_, line| {
                line.write_str("error: soundfiler: too many files at once: one is left out")
            });
            if job.is_write() {
                context.globals().jobs.access.count_lost();
            }
            return self.nothing(context);
        }
        self.pending.push_back(pending);
        if let Some(mut result) = context.ask(job) {
            if matches!(result, JobResult::Refused) {
                // It is the last of those that wait.
                self.pending.rotate_right(1);
            }
            self.reply(&mut result, context);
        }
    }

    /// Puts what was read into the arrays. Gives the number of frames.
    fn fill(
        &self,
        pending: &Pending,
        in_file: usize,
        channels: &mut [Vec<f32>],
        context: &mut Context<'_>,
    ) -> usize {
        if pending.resizes && in_file > pending.max_frames {
            let max = pending.max_frames;
            context.print_with(|_, line| {
                write!(line, "error: soundfiler read: truncated to {max} elements")
            });
        }
        let read = channels.first().map_or(0, Vec::len);
        for (samples, name) in channels.iter_mut().zip(pending.arrays.get()) {
            let Some(id) = context.arrays().find(*name) else {
                continue;
            };
            if pending.resizes {
                samples.resize(read.max(1), 0.0);
                if !context.arrays().replace(id, samples, false) {
                    context.print_with(|_, line| {
                        write!(line, "error: soundfiler read: {read} points are too many for the memory of arrays")
                    });
                }
                continue;
            }
            let points = context.arrays().points_mut(id);
            let count = samples.len().min(points.len());
            points[..count].copy_from_slice(&samples[..count]);
            points[count..].fill(0.0);
        }
        match pending.arrays.count {
            0 => in_file,
            _ => read,
        }
    }

    fn write(&mut self, values: &[Value], context: &mut Context<'_>) {
        let mut words = Words { rest: values };
        let mut options = WriteOptions::at_rate(context.globals().rate);
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
        let by_name = FileType::of_name(context.symbols().text(name));
        let file_type = options.file_type.or(by_name).unwrap_or(FileType::Wave);
        let shown = context.symbols().text(name).len();
        let ending = match by_name == Some(file_type) {
            true => "",
            false => file_type.ending(),
        };
        let Some(name) = self.names.file_name(name, ending, context) else {
            context.globals().jobs.access.count_lost();
            return self.nothing(context);
        };
        if file_type == FileType::Wave && options.is_big == Some(true) {
            context.print_with(|_, line| line.write_str("wave: forced to little endian"));
        }
        let frames = frames_of(&arrays, &options, context);
        let channels = arrays.count;
        let write = PendingWrite {
            name,
            shown,
            file_type,
            options,
        };
        let pending = Pending {
            arrays,
            resizes: false,
            frames,
            max_frames: frames,
            write: Some(write),
        };
        self.ask(Job::Samples { channels, frames }, pending, context);
    }

    /// Copies the samples of the arrays into the memory that has come, and writes them.
    fn copy(&mut self, pending: Pending, memory: &mut Vec<Vec<f32>>, context: &mut Context<'_>) {
        let (Some(write), arrays) = (pending.write, pending.arrays) else {
            return;
        };
        let options = write.options;
        // An array may have become shorter.
        let frames = pending.frames.min(frames_of(&arrays, &options, context));
        let mut peak = 0.0_f32;
        for (to, name) in memory.iter_mut().zip(arrays.get()) {
            to.truncate(frames);
            if let Some(points) = context.arrays().named(*name) {
                to.copy_from_slice(&points[options.skip..options.skip + frames]);
            }
            peak = to.iter().fold(peak, |peak, sample| peak.max(sample.abs()));
        }
        let factor = options.factor(peak, &write.name.name[..write.shown], context);
        let format = SoundFormat {
            rate: options.rate,
            header_bytes: 0,
            channels: memory.len(),
            sample_bytes: options.sample_bytes,
            is_big: options.is_big(write.file_type),
        };
        let job = Job::File(FileRequest::WriteSound(SoundWrite {
            name: write.name,
            file_type: write.file_type,
            format,
            factor,
            channels: std::mem::take(memory),
        }));
        let pending = Pending {
            frames,
            write: None,
            ..pending
        };
        self.ask(job, pending, context);
    }
}

/// Frames that all arrays have behind those that are skipped.
fn frames_of(arrays: &ArrayNames, options: &WriteOptions, context: &mut Context<'_>) -> usize {
    let frames = arrays.get().iter().map(|name| {
        let points = context.arrays().named(*name).map_or(0, <[f32]>::len);
        points.saturating_sub(options.skip)
    });
    let frames = frames.min().unwrap_or(0);
    frames.min(options.frames.unwrap_or(usize::MAX))
}

impl Object for SoundFiler {
    held!(; not names, pending);

    fn reply(&mut self, result: &mut JobResult, context: &mut Context<'_>) {
        let Some(mut pending) = self.pending.pop_front() else {
            return;
        };
        let why = match result {
            JobResult::File(FileReply::Sound(Ok((format, in_file, channels)))) => {
                let frames = self.fill(&pending, *in_file, channels, context);
                return self.output(Some(*format), frames, context);
            }
            JobResult::File(FileReply::Written(Ok(format))) => {
                return self.output(Some(*format), pending.frames, context);
            }
            JobResult::Samples(memory) => {
                pending.frames = memory.first().map_or(0, Vec::len);
                return self.copy(pending, memory, context);
            }
            JobResult::File(FileReply::Sound(Err(why))) => ("read", &why[..]),
            JobResult::File(FileReply::Written(Err(why))) => ("write", &why[..]),
            _ => ("file", "too many at once"),
        };
        context.print_with(|_, line| write!(line, "error: soundfiler {}: {}", why.0, why.1));
        self.nothing(context);
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
