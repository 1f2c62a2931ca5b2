//! `readsf~` and `writesf~`: sound files as signals (`d_soundfile.c`).
//!
//! `readsf~` gets pieces of its file, some before it needs them. `writesf~` fills pieces of memory while it computes, and the messages of the next block give
//! full ones to where files are written, from which they come back empty.

use super::super::context::Context;
use super::super::job_queue::MAX_JOBS;
use super::super::jobs::{Job, JobResult};
use super::super::object::{Handled, Object};
use super::super::value::{Message, Value};
use super::Making;
use super::sound_words::{SoundNames, Words, WriteOptions, raw_format};
use crate::disk::{
    FileAccess, FileReply, FileRequest, FileType, SoundFormat, SoundRead, StreamOpen,
};
use crate::signal::{Accesses, Inlets, RowFormat, SignalWorld};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

/// Frames of a piece that is read.
const READ_PIECE: usize = 32_768;
/// Pieces that a `readsf~` has or has asked for, at most.
const READ_PIECES: usize = 4;
/// Frames of a piece that is written.
const PIECE: usize = 8192;
/// Pieces of a `writesf~`.
const PIECES: usize = 8;

/// Number of the next file.
static NEXT: AtomicU64 = AtomicU64::new(1);

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and 64"
    )]
    let channels = making.number(0, 1.0).clamp(1.0, 64.0) as usize;
    let names = SoundNames::new(making.folder);
    Some(match making.class {
        "readsf~" => Box::new(Read {
            names,
            state: ReadState::Idle,
            channels,
            file: None,
            pieces: VecDeque::with_capacity(READ_PIECES),
            used: Vec::with_capacity(4 * READ_PIECES),
            at: 0,
            played: 0,
            asked: 0,
            total: None,
            opened: 0,
            under_way: VecDeque::with_capacity(MAX_JOBS),
        }),
        "writesf~" => Box::new(Write {
            names,
            access: making.globals.jobs.access.clone(),
            state: WriteState::Idle,
            filling: piece(channels, 64),
            full: VecDeque::with_capacity(PIECES),
            empty: (1..PIECES).map(|_| piece(channels, 64)).collect(),
            under_way: 0,
            lost: 0,
            is_told: false,
        }),
        _ => return None,
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadState {
    Idle,
    /// Opened, and not started.
    Open,
    Playing,
}

struct Read {
    names: SoundNames,
    state: ReadState,
    channels: usize,
    /// The file, from its first frame on.
    file: Option<SoundRead>,
    /// Events that have come and are not played yet.
    pieces: VecDeque<Piece>,
    /// Memory that goes away with the next result.
    used: Vec<Piece>,
    /// The next frame of the first piece.
    at: usize,
    /// Frames that were played, and those that were asked for.
    played: usize,
    asked: usize,
    /// Frames in the file, once that is known.
    total: Option<usize>,
    /// Number of files that were opened: what comes for older ones is left out.
    opened: u64,
    /// For which of them the results are that are still to come.
    under_way: VecDeque<u64>,
}

const READ_USAGE: [&str; 3] = [
    "error: usage: open [flags] filename [onset] [headersize]...",
    "error: [nchannels] [bytespersample] [endian (b or l)]",
    "flags: -wave -aiff -caf -next",
];

const WRITE_USAGE: [&str; 2] = [
    "error: usage: open [flags] filename...",
    "flags: -bytes <n> -wave -aiff -caf -next -big -little -rate <n>",
];

fn usage(lines: &[&str], context: &mut Context<'_>) {
    for line in lines {
        context.print_with(|_, to| to.write_str(line));
    }
}

impl Read {
    fn open(&mut self, values: &[Value], context: &mut Context<'_>) -> Option<()> {
        let mut words = Words { rest: values };
        let mut raw = None;
        while let Some(flag) = words.flag(context) {
            match &*flag {
                "wave" | "aiff" | "caf" | "next" | "nextstep" => {}
                "raw" => raw = Some(raw_format(&mut words, context)?),
                _ => return None,
            }
        }
        let name = words.symbol()?;
        let skip = if words.rest.is_empty() {
            0
        } else {
            words.count()?
        };
        if raw.is_none() && words.rest.len() >= 4 {
            raw = raw_format(&mut words, context);
        }
        let name = self.names.file_name(name, "", context)?;
        self.state = ReadState::Open;
        self.forget();
        self.file = Some(SoundRead {
            name,
            raw,
            skip,
            max_frames: READ_PIECE,
            channels: self.channels,
        });
        self.ask(context);
        Some(())
    }

    /// Leaves the file.
    fn forget(&mut self) {
        self.opened += 1;
        while let Some(piece) = self.pieces.pop_front() {
            self.use_up(piece);
        }
        (self.at, self.played, self.asked, self.total) = (0, 0, 0, None);
    }

    fn use_up(&mut self, piece: Piece) {
        if self.used.len() < self.used.capacity() {
            self.used.push(piece);
        }
    }

    /// Asks for what is played next. Until the first piece has come the length of the file is not known.
    fn ask(&mut self, context: &mut Context<'_>) {
        while let Some(file) = &self.file {
            let own = self.under_way.iter().filter(|file| **file == self.opened);
            let ahead = own.count() + self.pieces.len();
            let is_due = match self.total {
                None => self.asked == 0,
                Some(total) => self.asked < total && ahead < READ_PIECES,
            };
            if !is_due {
                return;
            }
            let mut read = file.clone();
            read.skip = read.skip.saturating_add(self.asked);
            match context.ask(Job::File(FileRequest::ReadSound(read))) {
                None => self.under_way.push_back(self.opened),
                Some(JobResult::Refused) if self.total.is_some() => {
                    // Others are first; it is asked for again.
                    return context.set_clock(MORE, 1.0);
                }
                Some(mut result) => self.take(&mut result, context),
            }
            self.asked += READ_PIECE;
        }
    }

    /// Takes a piece.
    fn take(&mut self, result: &mut JobResult, context: &mut Context<'_>) {
        let begin = self.played
            + self
                .pieces
                .iter()
                .map(|piece| piece[0].len())
                .sum::<usize>();
        let begin = begin - self.at;
        match result {
            JobResult::File(FileReply::Sound(Ok((_, in_file, channels)))) => {
                let count = channels[0].len();
                // A file that has become shorter meanwhile ends here.
                let is_whole = count == READ_PIECE || count == *in_file;
                if self.total.is_none() {
                    self.total = Some(*in_file);
                } else if !is_whole {
                    self.total = Some(begin + count);
                }
                if count > 0 {
                    let used = self.used.pop().unwrap_or_default();
                    let piece = std::mem::replace(channels, used);
                    self.pieces.push_back(piece);
                }
                return;
            }
            JobResult::File(FileReply::Sound(Err(why))) => {
                context.print_with(|_, line| write!(line, "error: readsf~: {why}"));
            }
            _ => {
                context
                    .print_with(|_, line| line.write_str("error: readsf~: too many files at once"));
            }
        }
        self.total = Some(begin);
    }

    fn start(&mut self, context: &mut Context<'_>) {
        match self.state {
            ReadState::Idle => context.print_with(|_, line| {
                line.write_str("error: readsf~: start requested with no prior 'open'")
            }),
            _ => self.state = ReadState::Playing,
        }
    }
}

impl Object for Read {
    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        match number == 0.0 {
            true => self.state = ReadState::Idle,
            false => self.start(context),
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match context.symbols().text(message.selector) {
            "start" => self.start(context),
            "stop" => self.state = ReadState::Idle,
            "open" => {
                if self.open(message.values, context).is_none() {
                    usage(&READ_USAGE, context);
                }
            }
            "print" => {}
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn reply(&mut self, result: &mut JobResult, context: &mut Context<'_>) {
        if self.under_way.pop_front() == Some(self.opened) {
            self.take(result, context);
            self.ask(context);
        }
    }

    /// The end of the file, or of a piece.
    fn clock(&mut self, slot: u32, context: &mut Context<'_>) {
        match slot {
            MORE => self.ask(context),
            _ => context.send_bang(self.channels),
        }
    }

    fn accesses(&self, list: &mut Accesses) {
        list.sets_clocks();
    }

    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        let frames = outlets[0].len();
        let (ReadState::Playing, Some(total)) = (self.state, self.total) else {
            return outlets.iter_mut().for_each(|to| to.fill(0.0));
        };
        let mut done = 0;
        while done < frames
            && let Some(piece) = self.pieces.front()
        {
            let count = (piece[0].len() - self.at).min(frames - done);
            for (to, from) in outlets.iter_mut().zip(piece) {
                to[done..done + count].copy_from_slice(&from[self.at..self.at + count]);
            }
            self.at += count;
            done += count;
            if self.at == piece[0].len() {
                self.at = 0;
                let piece = self.pieces.pop_front();
                piece.into_iter().for_each(|piece| self.use_up(piece));
                world.set_clock(MORE, 0.0);
            }
        }
        outlets.iter_mut().for_each(|to| to[done..].fill(0.0));
        self.played += done;
        if done < frames && self.played >= total {
            self.state = ReadState::Idle;
            world.set_clock(END, 0.0);
        }
    }
}

/// Clocks of a `readsf~`: the end of its file, and of a piece.
const END: u32 = 0;
const MORE: u32 = 1;

/// Channels of a piece.
type Piece = Vec<Vec<f32>>;

fn piece(channels: usize, frames: usize) -> Piece {
    vec![Vec::with_capacity(PIECE + frames); channels]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriteState {
    Idle,
    /// Opened, and not started.
    Open(u64),
    Recording(u64),
}

struct Write {
    names: SoundNames,
    access: FileAccess,
    state: WriteState,
    filling: Piece,
    full: VecDeque<Piece>,
    empty: Vec<Piece>,
    /// Pieces and other requests that have not come back.
    under_way: usize,
    /// Frames for which there was no memory.
    lost: u64,
    /// True once a mistake with this file was printed.
    is_told: bool,
}

impl Write {
    fn open(&mut self, values: &[Value], context: &mut Context<'_>) -> Option<()> {
        let mut words = Words { rest: values };
        let mut options = WriteOptions::at_rate(context.globals().rate);
        while let Some(flag) = words.flag(context) {
            options.set(&flag, &mut words)?;
        }
        let name = words.symbol()?;
        let by_name = FileType::of_name(context.symbols().text(name));
        let file_type = options.file_type.or(by_name).unwrap_or(FileType::Wave);
        let ending = match by_name == Some(file_type) {
            true => "",
            false => file_type.ending(),
        };
        let name = self.names.file_name(name, ending, context)?;
        self.stop(context);
        // Relaxed: a number alone.
        let stream = NEXT.fetch_add(1, Ordering::Relaxed);
        let format = SoundFormat {
            rate: options.rate,
            header_bytes: 0,
            channels: self.filling.len(),
            sample_bytes: options.sample_bytes,
            is_big: options.is_big(file_type),
        };
        self.state = WriteState::Open(stream);
        self.is_told = false;
        let open = StreamOpen {
            stream,
            name,
            file_type,
            format,
        };
        self.ask(FileRequest::OpenStream(open), context);
        Some(())
    }

    fn ask(&mut self, request: FileRequest, context: &mut Context<'_>) {
        self.under_way += 1;
        if let Some(mut result) = context.ask(Job::File(request)) {
            self.reply(&mut result, context);
        }
    }

    /// Gives the full pieces away.
    fn flush(&mut self, stream: u64, context: &mut Context<'_>) {
        while let Some(samples) = self.full.pop_front() {
            self.ask(FileRequest::Append { stream, samples }, context);
        }
        if self.lost > 0 {
            let lost = std::mem::take(&mut self.lost);
            context.print_with(|_, line| {
                write!(
                    line,
                    "error: writesf~: the disk is too slow: {lost} frames are lost"
                )
            });
            self.access.count_lost();
        }
    }

    fn stop(&mut self, context: &mut Context<'_>) {
        let state = std::mem::replace(&mut self.state, WriteState::Idle);
        let (WriteState::Open(stream) | WriteState::Recording(stream)) = state else {
            return;
        };
        self.end_piece();
        self.flush(stream, context);
        self.ask(FileRequest::CloseStream(stream), context);
    }

    /// Puts what was filled behind the full pieces.
    fn end_piece(&mut self) {
        if self.filling[0].is_empty() {
            return;
        }
        match self.empty.pop() {
            Some(next) => self
                .full
                .push_back(std::mem::replace(&mut self.filling, next)),
            None => {
                self.lost += self.filling[0].len() as u64;
                self.filling.iter_mut().for_each(Vec::clear);
            }
        }
    }
}

impl Object for Write {
    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match context.symbols().text(message.selector) {
            "start" => match self.state {
                WriteState::Open(stream) => self.state = WriteState::Recording(stream),
                WriteState::Recording(_) => {}
                WriteState::Idle => context.print_with(|_, line| {
                    line.write_str("error: writesf~: start requested with no prior 'open'")
                }),
            },
            "stop" => self.stop(context),
            "open" => {
                if self.open(message.values, context).is_none() {
                    usage(&WRITE_USAGE, context);
                }
            }
            "print" => {}
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn reply(&mut self, result: &mut JobResult, context: &mut Context<'_>) {
        self.under_way = self.under_way.saturating_sub(1);
        let why = match result {
            JobResult::File(FileReply::Appended(samples, result)) => {
                let mut samples = std::mem::take(samples);
                samples.iter_mut().for_each(Vec::clear);
                self.empty.push(samples);
                result.as_ref().err().map(String::as_str)
            }
            JobResult::File(FileReply::Stream(Err(why))) => Some(why.as_str()),
            // A piece is gone as well: the next ones are lost, and counted.
            JobResult::Refused => Some("too many files at once"),
            _ => None,
        };
        if let Some(why) = why
            && !std::mem::replace(&mut self.is_told, true)
        {
            context.print_with(|_, line| write!(line, "error: writesf~: {why}"));
        }
    }

    /// A piece is full.
    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        if let WriteState::Recording(stream) = self.state {
            self.flush(stream, context);
        }
    }

    fn prepare(&mut self, format: &RowFormat) {
        let all = self.empty.iter_mut().chain([&mut self.filling]);
        for channel in all.flatten() {
            channel.reserve((PIECE + format.vector).saturating_sub(channel.len()));
        }
    }

    fn accesses(&self, list: &mut Accesses) {
        list.sets_clocks();
    }

    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        if !matches!(self.state, WriteState::Recording(_)) {
            return;
        }
        for (at, to) in self.filling.iter_mut().enumerate() {
            let from = inlets.get(at);
            let room = to.capacity() - to.len();
            to.extend_from_slice(&from[..from.len().min(room)]);
        }
        if self.filling[0].len() >= PIECE {
            self.end_piece();
            world.set_clock(0, 0.0);
        }
    }
}

impl Drop for Write {
    /// The file of a patch that ends is complete, as in Pd.
    fn drop(&mut self) {
        let (WriteState::Open(stream) | WriteState::Recording(stream)) = self.state else {
            return;
        };
        if self.under_way > 0 {
            // What comes before this is not written yet.
            return self.access.count_lost();
        }
        let full = self
            .full
            .drain(..)
            .chain([std::mem::take(&mut self.filling)]);
        let appended = full
            .map(|samples| self.access.streams.append(stream, &samples))
            .find(Result::is_err);
        if appended.is_some() || self.access.streams.close(stream).is_err() {
            self.access.count_lost();
        }
    }
}
