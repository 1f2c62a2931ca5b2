//! [`OpenFiles`]: what `file handle` boxes have open; those of one `file define` share it.

use super::symbol::Symbol;
use crate::disk::FileAccess;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a piece that is written.
const PIECE: usize = 8192;
/// Pieces of memory of a box.
const PIECES: usize = 8;

/// Number of the next file.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// An open file as messages see it.
#[derive(Debug)]
pub(crate) struct OpenFile {
    /// Its number, and true if it is written; `None` while it is closed.
    pub open: Option<(u64, bool)>,
    /// Bytes that wait until those before them are on the disk.
    pub filling: Vec<u8>,
    /// Memory for more.
    pub empty: Vec<Vec<u8>>,
    /// Pieces that are being written.
    pub under_way: usize,
    access: FileAccess,
}

impl OpenFile {
    fn new(access: FileAccess) -> Self {
        Self {
            open: None,
            filling: Vec::with_capacity(PIECE),
            empty: (1..PIECES).map(|_| Vec::with_capacity(PIECE)).collect(),
            under_way: 0,
            access,
        }
    }

    /// The number of a file that is being opened.
    ///
    /// Real-time: hot.
    pub(crate) fn begin(&mut self, is_written: bool) -> u64 {
        // Relaxed: only the number matters.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.open = Some((number, is_written));
        number
    }

    /// Takes what waits, if there is anything, to be written.
    ///
    /// Real-time: hot.
    pub(crate) fn take_piece(&mut self) -> Option<Vec<u8>> {
        if self.filling.is_empty() {
            return None;
        }
        self.under_way += 1;
        Some(std::mem::replace(
            &mut self.filling,
            self.empty.pop().unwrap_or_default(),
        ))
    }

    /// Gives back the memory of a piece.
    ///
    /// Real-time: hot.
    pub(crate) fn give_back(&mut self, mut piece: Vec<u8>) {
        self.under_way = self.under_way.saturating_sub(1);
        piece.clear();
        self.give_memory(piece);
    }

    /// Room in what waits.
    pub(crate) fn room(&self) -> usize {
        self.filling.capacity() - self.filling.len()
    }

    /// Gives up on pieces that are being written for a box that is removed: their memory does not come back.
    ///
    /// Real-time: setup.
    pub(crate) fn replace_pieces(&mut self, count: usize) {
        self.under_way = self.under_way.saturating_sub(count);
        for _ in 0..count {
            self.give_memory(Vec::with_capacity(PIECE));
        }
    }

    fn give_memory(&mut self, piece: Vec<u8>) {
        match self.filling.capacity() {
            0 => self.filling = piece,
            _ if self.empty.len() < PIECES => self.empty.push(piece),
            _ => {}
        }
    }

    /// Closes it if it is the file of this number.
    pub(crate) fn forget(&mut self, number: u64) {
        if self.open.is_some_and(|open| open.0 == number) {
            self.open = None;
        }
    }
}

impl Drop for OpenFile {
    /// Counts what nobody writes any more.
    fn drop(&mut self) {
        if !self.filling.is_empty() {
            self.access.count_lost();
        }
    }
}

/// Open files of a patch.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles {
    all: Vec<OpenFile>,
    /// Those whose boxes are removed.
    free: Vec<usize>,
    names: HashMap<Symbol, usize>,
}

impl OpenFiles {
    /// Adds one; with a name, one that several boxes share.
    ///
    /// Real-time: setup.
    pub(crate) fn add(&mut self, name: Option<Symbol>, access: FileAccess) -> usize {
        let at = match self.free.pop() {
            Some(at) => {
                self.all[at] = OpenFile::new(access);
                at
            }
            None => {
                self.all.push(OpenFile::new(access));
                self.all.len() - 1
            }
        };
        if let Some(name) = name {
            self.names.insert(name, at);
        }
        at
    }

    /// Takes one away whose box is removed: what it still is to write, and its number if it is open.
    ///
    /// Real-time: setup.
    pub(crate) fn remove(&mut self, at: usize) -> (Option<Vec<u8>>, Option<u64>) {
        self.names.retain(|_, named| *named != at);
        self.free.push(at);
        let file = &mut self.all[at];
        (file.take_piece(), file.open.take().map(|open| open.0))
    }

    /// The one of a `file define`.
    pub(crate) fn find(&self, name: Symbol) -> Option<usize> {
        self.names.get(&name).copied()
    }

    /// One of them.
    pub(crate) fn get(&mut self, at: usize) -> &mut OpenFile {
        &mut self.all[at]
    }
}
