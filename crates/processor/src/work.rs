//! Deferred work in a form that can travel: a request and a reply of plain words, done here or in another process.
//!
//! ```text
//!   step ── start ──▶ DeferredWork ──▶ DeferredJob, for idle workers of this process
//!    ▲                     │     └──▶ WorkChannel ─ request ─▶ a NodeWork in another process
//!    └── take, when due ◀──┴─────────────────────── reply ◀──┘
//! ```
//!
//! Whoever does it: the result counts at the frame in which it is due, so the bits are the same. A reply that is not there then is
//! late, as a job is.
//!
//! | | |
//! |---|---|
//! | [`WordJob`] | a deferred job whose input and result are words |
//! | [`DeferredWork`] | the owner's end, wherever the job is done |
//! | [`NodeWork`] | the other end: a job of a registered kind, without its node |
//! | [`WorkChannel`], [`WorkHost`] | the way to another process, and who gives it to a node |

use crate::Block;
use rt::deferred::{DeferredJob, JobRunner, PiecewiseJob};
use std::ops::Range;
use std::sync::Arc;

/// Most words of a request or of a reply.
pub const MAX_WORK_WORDS: usize = 1 << 23;

/// A job that can be done in another process. Its words are those of the same program on the same machine.
pub trait WordJob: PiecewiseJob {
    /// Number of words of each request and of each reply.
    fn words(&self) -> (usize, usize);

    /// Writes what the job needs.
    ///
    /// Real-time: hot.
    fn write_request(&self, words: &mut [u32]);

    /// Reads what the job needs, and begins. It takes any words.
    ///
    /// Real-time: hot.
    fn read_request(&mut self, words: &[u32]);

    /// Writes the result.
    ///
    /// Real-time: hot.
    fn write_reply(&self, words: &mut [u32]);

    /// Reads a result. Returns false, and changes nothing, if it can be none: another process has written it.
    ///
    /// Real-time: hot.
    fn read_reply(&mut self, words: &[u32]) -> bool;
}

/// Work of a node, of a registered kind, for a process that does it for another one.
pub trait NodeWork: Send {
    /// Number of words of each request and of each reply.
    fn words(&self) -> (usize, usize);

    /// Does the work.
    ///
    /// Real-time: hot, as long as the work takes.
    fn answer(&mut self, request: &[u32], reply: &mut [u32]);
}

impl<T: WordJob> NodeWork for T {
    fn words(&self) -> (usize, usize) {
        WordJob::words(self)
    }

    fn answer(&mut self, request: &[u32], reply: &mut [u32]) {
        self.read_request(request);
        while !self.run_piece() {}
        self.write_reply(reply);
    }
}

/// The way to a process that does the work of one node.
pub trait WorkChannel: Send {
    /// Sends a request, in place of the one before. `write` gets exactly its words, as they were in the one before, and changes
    /// those in `parts`.
    ///
    /// Real-time: hot, wakes.
    fn ask(&mut self, parts: &[Range<usize>], write: &mut dyn FnMut(&mut [u32]));

    /// The reply to the last request, if it has come. With `waits` it waits until it comes, or until nobody is left to send
    /// it. Counts what has not come. Anybody may have written the words.
    ///
    /// Real-time: hot; with `waits` it waits, on that process.
    fn take_reply(&mut self, waits: bool) -> Option<&[u32]>;

    /// Counts a reply that was none.
    ///
    /// Real-time: hot.
    fn count_nonsense(&mut self);
}

/// Gives nodes the ways to other processes.
pub trait WorkHost: Send + Sync {
    /// The way to the process that does part `index` of the work of `node`, whose requests and replies have so many words. `None` if
    /// the node does it itself.
    ///
    /// Real-time: setup.
    fn channel(
        &self,
        node: &str,
        index: usize,
        words: (usize, usize),
    ) -> Option<Box<dyn WorkChannel>>;
}

/// The place of a node's work: what its processor needs to ask for a channel in its setup.
#[derive(Clone, Default)]
pub struct WorkSeat {
    pub(crate) host: Option<Arc<dyn WorkHost>>,
    pub(crate) node: String,
}

impl WorkSeat {
    /// The way to the process that does part `index` of the node's work, if another one does.
    ///
    /// Real-time: setup.
    pub fn channel(&self, index: usize, words: (usize, usize)) -> Option<Box<dyn WorkChannel>> {
        let host = self.host.as_ref()?;
        host.channel(&self.node, index, words)
    }
}

/// The owner's end of a job that may be done in another process.
pub struct DeferredWork<T> {
    /// The job; with a channel, its data alone.
    owner: DeferredJob<T>,
    channel: Option<Box<dyn WorkChannel>>,
    is_out: bool,
}

impl<T: WordJob> DeferredWork<T> {
    /// The owner's end of `job`, which is done in this process.
    ///
    /// Real-time: setup.
    pub fn new(job: T) -> Self {
        Self {
            owner: DeferredJob::new(job),
            channel: None,
            is_out: false,
        }
    }

    /// Has the job done in another process, if one does the work of the node at `seat`. Returns true if so.
    ///
    /// Real-time: setup.
    pub fn travel(&mut self, seat: &WorkSeat) -> bool {
        let words = self.owner.get().map(|job| WordJob::words(job));
        self.channel = words.and_then(|words| seat.channel(0, words));
        self.channel.is_some()
    }

    /// The end for workers of this process, to be registered with [`SetupServices::defer`](crate::SetupServices::defer);
    /// none if the job travels.
    ///
    /// Real-time: setup.
    pub fn job_runner(&self) -> Option<JobRunner> {
        let is_here = self.channel.is_none();
        is_here.then(|| self.owner.job_runner())
    }

    /// The job, while it is the owner's.
    ///
    /// Real-time: hot.
    pub fn get(&mut self) -> Option<&mut T> {
        self.owner.get()
    }

    /// Begins with what the owner has filled in, to be done by frame `deadline`.
    ///
    /// Real-time: hot, wakes.
    pub fn start(&mut self, deadline: u64) {
        let Some(channel) = &mut self.channel else {
            return self.owner.start(deadline);
        };
        if let Some(job) = self.owner.get() {
            let (all, _) = WordJob::words(job);
            channel.ask(&[Range { start: 0, end: all }], &mut |words| {
                job.write_request(words);
            });
            self.is_out = true;
        }
    }
}

impl Block<'_> {
    /// Returns the result of work that is due now, as [`take_deferred`](Self::take_deferred) does. Of work in another process
    /// nothing is waited for live; offline it waits.
    ///
    /// Real-time: hot; offline it waits.
    pub fn take_work<'o, T: WordJob>(&self, work: &'o mut DeferredWork<T>) -> Option<&'o mut T> {
        let Some(channel) = &mut work.channel else {
            return self.take_deferred(&mut work.owner);
        };
        if !std::mem::take(&mut work.is_out) {
            return work.owner.get();
        }
        let waits = self.time_for_late_results().is_none();
        let Some(reply) = channel.take_reply(waits) else {
            self.count_late();
            return None;
        };
        let job = work.owner.get()?;
        if job.read_reply(reply) {
            return Some(job);
        }
        channel.count_nonsense();
        self.count_late();
        None
    }
}
