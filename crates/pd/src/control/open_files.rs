//! [`OpenFiles`]: what `file handle` boxes have open; those of one `file define` share it.
//!
//! ```text
//!  box ── bytes ──▶ OpenFile::filling ── flush ──▶ a job ── Written(number) ──▶ take_back ──▶ pool
//! ```
//!
//! A file has a number from `open` to `close`. What comes back says it, so that it does not matter which box has asked, nor whether
//! that box is still there.

use super::job_queue::Jobs;
use super::jobs::{Job, JobResult};
use super::symbol::Symbol;
use super::wire::ObjectId;
use crate::disk::{FileAccess, FileReply, FileRequest, HandleReply, HandleRequest};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a piece that is written.
const PIECE: usize = 8192;
/// Pieces of memory for a box, beside the one that is being filled.
const PIECES: usize = 7;

/// Number of the next file.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A file as messages see it.
#[derive(Debug, Default)]
pub(crate) struct OpenFile {
    /// Its number, and true if it is written; `None` while it is closed.
    pub open: Option<(u64, bool)>,
    /// Bytes that wait until those before them are on the disk.
    filling: Vec<u8>,
    /// Pieces of this number that are being written.
    under_way: usize,
}

impl OpenFile {
    /// The number of a file that is being opened.
    ///
    /// Real-time: hot.
    pub(crate) fn begin(&mut self, is_written: bool) -> u64 {
        // Relaxed: only the number matters.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        (self.open, self.under_way) = (Some((number, is_written)), 0);
        number
    }

    /// Returns true if bytes are being written.
    pub(crate) fn is_writing(&self) -> bool {
        self.under_way > 0
    }

    fn close(&mut self) {
        self.open = None;
        self.filling.clear();
    }
}

/// Open files of a patch.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles {
    all: Vec<OpenFile>,
    /// Those whose boxes are removed.
    free: Vec<usize>,
    /// Each `file define`; of one name the last counts.
    names: Vec<(Symbol, usize)>,
    /// Memory for more pieces.
    pool: Vec<Vec<u8>>,
    /// Files that are still to be closed, since there was no room for the job.
    closing: Vec<u64>,
    access: FileAccess,
}

impl OpenFiles {
    /// Adds one; with a name, one that several boxes share.
    ///
    /// Real-time: setup.
    pub(crate) fn add(&mut self, name: Option<Symbol>, access: &FileAccess) -> usize {
        self.access = access.clone();
        let new = OpenFile {
            filling: Vec::with_capacity(PIECE),
            ..OpenFile::default()
        };
        let at = match self.free.pop() {
            Some(at) => {
                self.all[at] = new;
                at
            }
            None => {
                self.all.push(new);
                self.all.len() - 1
            }
        };
        self.names.extend(name.map(|name| (name, at)));
        let pieces = PIECES * (self.all.len() - self.free.len());
        while self.pool.len() < pieces {
            self.pool.push(Vec::with_capacity(PIECE));
        }
        self.pool.reserve(pieces);
        self.closing.reserve(self.all.len());
        at
    }

    /// Takes one away whose box is removed: what it holds is written, and the file is closed.
    ///
    /// Real-time: setup.
    pub(crate) fn remove(&mut self, at: usize, own: ObjectId, jobs: &mut Jobs) {
        if let Some(mut written) = self.flush(at, own, jobs) {
            self.take_back(&mut written, own, jobs);
        }
        if !self.close(at, own, jobs) {
            self.access.count_lost();
        }
        self.names.retain(|(_, named)| *named != at);
        self.all[at] = OpenFile::default();
        self.free.push(at);
        self.pool
            .truncate(PIECES * (self.all.len() - self.free.len()));
    }

    /// The one of a `file define`.
    pub(crate) fn find(&self, name: Symbol) -> Option<usize> {
        let mut names = self.names.iter().rev();
        names.find(|named| named.0 == name).map(|named| named.1)
    }

    /// One of them.
    pub(crate) fn get(&mut self, at: usize) -> &mut OpenFile {
        &mut self.all[at]
    }

    /// The one that has this number open.
    ///
    /// Real-time: hot, by the number of boxes.
    pub(crate) fn opened(&self, number: u64) -> Option<usize> {
        let is_it = |file: &OpenFile| file.open.is_some_and(|open| open.0 == number);
        self.all.iter().position(is_it)
    }

    /// Forgets a file that could not be opened, or has ended.
    ///
    /// Real-time: hot.
    pub(crate) fn forget(&mut self, number: u64) {
        if let Some(at) = self.opened(number) {
            self.all[at].close();
        }
    }

    /// Takes bytes, as many as there is room for. Returns their number.
    ///
    /// Real-time: hot.
    pub(crate) fn fill(&mut self, at: usize, bytes: impl Iterator<Item = u8>) -> usize {
        let filling = &mut self.all[at].filling;
        if filling.capacity() == 0 {
            *filling = self.pool.pop().unwrap_or_default();
        }
        let (before, room) = (filling.len(), filling.capacity() - filling.len());
        filling.extend(bytes.take(room));
        filling.len() - before
    }

    /// Gives what waits away to be written, where there is room for a job more.
    ///
    /// Real-time: waits, on the disk; hot where another thread does it.
    pub(crate) fn flush(&mut self, at: usize, own: ObjectId, jobs: &mut Jobs) -> Option<JobResult> {
        let file = &mut self.all[at];
        let (number, _) = file.open?;
        if file.filling.is_empty() || jobs.is_full() {
            return None;
        }
        let memory = self.pool.pop().unwrap_or_default();
        let bytes = std::mem::replace(&mut file.filling, memory);
        file.under_way += 1;
        let request = HandleRequest::Write { number, bytes };
        jobs.ask(own, Job::File(FileRequest::Handle(request)))
    }

    /// Closes a file of which all was flushed. Returns false if bytes are left, which are lost.
    ///
    /// Real-time: as [`flush`](Self::flush).
    pub(crate) fn close(&mut self, at: usize, own: ObjectId, jobs: &mut Jobs) -> bool {
        let file = &mut self.all[at];
        let is_whole = file.filling.is_empty();
        self.closing.extend(file.open.map(|open| open.0));
        file.close();
        self.close_one(own, jobs);
        is_whole
    }

    /// Asks that a file be closed, if one waits for that and there is room.
    ///
    /// Real-time: as [`flush`](Self::flush).
    pub(crate) fn close_one(&mut self, own: ObjectId, jobs: &mut Jobs) {
        if !jobs.is_full()
            && let Some(number) = self.closing.pop()
        {
            // Its result says nothing.
            let _ = jobs.ask(
                own,
                Job::File(FileRequest::Handle(HandleRequest::Close(number))),
            );
        }
    }

    /// Takes the memory of a piece that was written. What waits behind it goes next; a file that took not all is forgotten.
    ///
    /// Real-time: hot where another thread writes.
    pub(crate) fn take_back(&mut self, result: &mut JobResult, own: ObjectId, jobs: &mut Jobs) {
        let JobResult::File(FileReply::Handle(HandleReply::Written(number, bytes, written))) =
            result
        else {
            return;
        };
        let mut piece = std::mem::take(bytes);
        piece.clear();
        // What the boxes of the present do not need goes where memory may be freed.
        match self.pool.len() < self.pool.capacity() {
            true => self.pool.push(piece),
            false => *bytes = piece,
        }
        let Some(at) = self.opened(*number) else {
            return;
        };
        self.all[at].under_way -= 1;
        match written {
            // At once it has written all: only where another thread writes is there more.
            Ok(()) => drop(self.flush(at, own, jobs)),
            Err(_) => self.all[at].close(),
        }
    }
}

impl Drop for OpenFiles {
    /// Counts what nobody writes any more.
    fn drop(&mut self) {
        let lost = self.all.iter().filter(|file| !file.filling.is_empty());
        lost.for_each(|_| self.access.count_lost());
    }
}
