//! Messages in the two rings of a cell, and the checks of the supervisor.
//!
//! A message is a fixed number of words, so no length is ever read. A request has the inputs of one block, a reply its
//! outputs.
//!
//! | word | request | reply |
//! |---|---|---|
//! | 0 | a constant | a constant |
//! | 1, 2 | number of the block | the same number |
//! | 3, 4 | first frame of the block | in the first message: latency of the cell's graph, in frames |
//! | 5 | a drill, else 0 | in the first message: 1 if the cell continues from a checkpoint; else 0 |
//! | 6 … | channels x frames | channels x frames |
//!
//! # What the supervisor believes
//!
//! | of a reply | then |
//! |---|---|
//! | the count of its ring is out of range | the ring is used no more ([`ReplyError::Corrupt`]) |
//! | another constant, or the number of a block that was not asked for | the same |
//! | the number of an earlier block | it is dropped: it came too late. At most a ring's length of them in a call |
//! | a sample that is not finite | it is 0, and counted |
//! | a sample that changes while it is read | each sample is read once |

use rt::mirror::{ChunkError, Consumer, Producer, Ring, RingError};
use std::os::fd::OwnedFd;
use units::Nanos;

/// Words before the samples.
pub(crate) const HEADER: usize = 6;
/// First word of a request.
const REQUEST: u32 = 0x4443_5131;
/// First word of a reply.
const REPLY: u32 = 0x4443_5031;
/// Number of the first message of a cell.
const HELLO: u64 = u64::MAX;
/// Messages that a ring holds at least, beside those that a latency keeps on their way.
const DEPTH: usize = 4;

/// Words of a ring for messages of `samples` words behind their header, `latency` of which are on their way.
pub(crate) fn ring_words(samples: usize, latency: u64) -> usize {
    (DEPTH + latency as usize) * (HEADER + samples)
}

/// Reason for which there is no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplyError {
    /// It has not come within the limit.
    Late,
    /// The process has ended, or has closed its end.
    Dead,
    /// The supervisor has ended without closing its end: another one may come.
    Abandoned,
    /// The ring holds nonsense: use it no more.
    Corrupt,
}

/// Header of a request, beside its samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestInfo {
    pub(crate) block: u64,
    pub(crate) position: u64,
    pub(crate) drill: u32,
}

/// The supervisor's ends of a cell's rings.
pub(crate) struct HostEnd {
    requests: Producer<u32>,
    replies: Consumer<u32>,
    /// Number of the process, from 1.
    process: u32,
    /// Frame from which it continues, if it does.
    continues_from: Option<u64>,
    request_words: usize,
    reply_words: usize,
}

impl HostEnd {
    /// To the process of this number, for `inputs` and `outputs` samples a block.
    pub(crate) fn new(
        process: u32,
        requests: Producer<u32>,
        replies: Consumer<u32>,
        (inputs, outputs): (usize, usize),
    ) -> Self {
        Self {
            process,
            continues_from: None,
            requests,
            replies,
            request_words: HEADER + inputs,
            reply_words: HEADER + outputs,
        }
    }

    /// To a process that plays, in place of a supervisor that has ended.
    pub(crate) fn resume(
        process: u32,
        (requests, replies): (OwnedFd, OwnedFd),
        (inputs, outputs): (usize, usize),
    ) -> Result<Self, RingError> {
        let (requests, replies) = (Ring::open(requests)?, Ring::open(replies)?);
        let is_short = |ring: &Ring<u32>, samples| ring.capacity() < HEADER + samples;
        if is_short(&requests, inputs) || is_short(&replies, outputs) {
            return Err(RingError::Incompatible("its blocks are shorter"));
        }
        let (requests, replies) = (requests.resume_producer()?, replies.resume_consumer()?);
        Ok(Self::new(process, requests, replies, (inputs, outputs)))
    }

    /// Notes the frame from which the process continues.
    pub(crate) fn set_continues_from(&mut self, from: Option<u64>) {
        self.continues_from = from;
    }

    /// Frame from which the process continues, if it does.
    ///
    /// Real-time: hot.
    pub(crate) fn continues_from(&self) -> Option<u64> {
        self.continues_from
    }

    /// Number of the process, from 1.
    pub(crate) fn process(&self) -> u32 {
        self.process
    }

    /// Sends a request, whose samples `fill` writes.
    ///
    /// Real-time: hot, wakes.
    pub(crate) fn send(
        &mut self,
        info: RequestInfo,
        fill: impl FnOnce(&mut [u32]),
    ) -> Result<(), ReplyError> {
        let words = self.request_words;
        let mut chunk = self.requests.write_chunk(words).map_err(reason)?;
        let (header, samples) = chunk.split_at_mut(HEADER);
        header[0] = REQUEST;
        put(&mut header[1..3], info.block);
        put(&mut header[3..5], info.position);
        header[5] = info.drill;
        fill(samples);
        chunk.commit(words);
        Ok(())
    }

    /// Gives the samples of the reply to `block`, if it comes within `limit`, to `read`.
    ///
    /// Real-time: hot for a limit of 0; else it waits, on the cell, for `limit`.
    pub(crate) fn receive(
        &mut self,
        block: u64,
        limit: Nanos,
        mut read: impl FnMut(&[u32]),
    ) -> Result<(), ReplyError> {
        for _ in 0..=2 * self.replies.capacity() / self.reply_words {
            let chunk = self.reply(limit)?;
            let header: [u32; HEADER] = std::array::from_fn(|at| chunk[at]);
            let found = get(header[1], header[2]);
            let is_hello = found == HELLO;
            if header[0] != REPLY || (found > block && !is_hello) {
                return Err(ReplyError::Corrupt);
            }
            let is_wanted = found == block;
            if is_wanted {
                read(&chunk[HEADER..]);
            }
            let words = chunk.len();
            chunk.release(words);
            if is_wanted {
                return Ok(());
            }
        }
        Err(ReplyError::Corrupt)
    }

    /// The first message: the latency of the cell's graph, in frames, and true if the cell says that it continues from a
    /// checkpoint.
    ///
    /// Real-time: hot. A system call asks if the process is alive.
    pub(crate) fn hello(&mut self) -> Result<(u64, bool), ReplyError> {
        let chunk = self.reply(Nanos(0))?;
        let header: [u32; HEADER] = std::array::from_fn(|at| chunk[at]);
        let is_hello = header[0] == REPLY && get(header[1], header[2]) == HELLO;
        let words = chunk.len();
        chunk.release(words);
        match is_hello {
            true => Ok((get(header[3], header[4]), header[5] == 1)),
            false => Err(ReplyError::Corrupt),
        }
    }

    fn reply(&mut self, limit: Nanos) -> Result<rt::mirror::ReadChunk<'_, u32>, ReplyError> {
        let words = self.reply_words;
        let chunk = match limit {
            Nanos(0) => self.replies.read_chunk(words),
            limit => self.replies.wait_read_chunk(words, Some(limit)),
        };
        chunk.map_err(reason)
    }
}

/// The cell's ends of its rings.
pub(crate) struct CellEnd {
    requests: Consumer<u32>,
    replies: Producer<u32>,
    request_words: usize,
    reply_words: usize,
}

impl CellEnd {
    /// For `inputs` and `outputs` samples a block.
    pub(crate) fn new(
        requests: Consumer<u32>,
        replies: Producer<u32>,
        (inputs, outputs): (usize, usize),
    ) -> Self {
        Self {
            requests,
            replies,
            request_words: HEADER + inputs,
            reply_words: HEADER + outputs,
        }
    }

    /// Sends the first message.
    pub(crate) fn send_hello(
        &mut self,
        latency: u64,
        is_continued: bool,
    ) -> Result<(), ReplyError> {
        self.send_words((HELLO, latency, u32::from(is_continued)), |samples| {
            samples.fill(0);
        })
    }

    /// Sends the reply to `block`.
    ///
    /// Real-time: hot, wakes.
    pub(crate) fn send(
        &mut self,
        block: u64,
        fill: impl FnOnce(&mut [u32]),
    ) -> Result<(), ReplyError> {
        self.send_words((block, 0, 0), fill)
    }

    /// Sends words that are no reply, for a drill.
    pub(crate) fn send_raw(&mut self, fill: impl FnOnce(&mut [u32])) -> Result<(), ReplyError> {
        let words = self.reply_words;
        let mut chunk = self.replies.write_chunk(words).map_err(cell_reason)?;
        fill(&mut chunk);
        chunk.commit(words);
        Ok(())
    }

    fn send_words(
        &mut self,
        (block, latency, flag): (u64, u64, u32),
        fill: impl FnOnce(&mut [u32]),
    ) -> Result<(), ReplyError> {
        self.send_raw(|words| {
            let (header, samples) = words.split_at_mut(HEADER);
            header.fill(0);
            header[0] = REPLY;
            put(&mut header[1..3], block);
            put(&mut header[3..5], latency);
            header[5] = flag;
            fill(samples);
        })
    }

    /// Waits for a request, for `limit` at most, and gives its samples to `read`.
    ///
    /// Real-time: waits, on the supervisor.
    pub(crate) fn receive(
        &mut self,
        limit: Nanos,
        read: impl FnOnce(&[u32]),
    ) -> Result<RequestInfo, ReplyError> {
        let words = self.request_words;
        let chunk = self.requests.wait_read_chunk(words, Some(limit));
        let chunk = chunk.map_err(cell_reason)?;
        let header: [u32; HEADER] = std::array::from_fn(|at| chunk[at]);
        if header[0] != REQUEST {
            return Err(ReplyError::Corrupt);
        }
        read(&chunk[HEADER..]);
        chunk.release(words);
        Ok(RequestInfo {
            block: get(header[1], header[2]),
            position: get(header[3], header[4]),
            drill: header[5],
        })
    }
}

fn reason(error: ChunkError) -> ReplyError {
    match error {
        ChunkError::TooFewFrames { .. } => ReplyError::Late,
        ChunkError::Closed { .. } | ChunkError::PeerDead { .. } => ReplyError::Dead,
        _ => ReplyError::Corrupt,
    }
}

/// As [`reason`], for a cell, which outlives its supervisor.
fn cell_reason(error: ChunkError) -> ReplyError {
    match error {
        ChunkError::PeerDead { .. } => ReplyError::Abandoned,
        other => reason(other),
    }
}

fn put(words: &mut [u32], value: u64) {
    words[0] = value as u32;
    words[1] = (value >> 32) as u32;
}

fn get(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

#[cfg(test)]
mod tests;
