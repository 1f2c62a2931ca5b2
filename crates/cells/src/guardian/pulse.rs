//! [`Pulse`]: words by which a supervisor shows that it lives, and where it is, for the guardian and for the next supervisor.
//!
//! | word | stored by |
//! |---|---|
//! | beats of the main thread and of the monitor | each of these, in each look |
//! | blocks, and for the last whole one its begin, and the position after it | the audio thread |
//! | begin of its first block | the audio thread, once |
//! | supervisors that were lost, blocks of silence between two of them | the audio thread, in its first block |
//! | figures of each cell: blocks, lost, samples that were no numbers, lost events | the monitor |
//!
//! Every word stands for itself, so all are relaxed. A word that a dying supervisor left is a figure at most a block old.

use crate::status::CellStatus;
use rt::mirror::{RingError, SharedWords};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

/// Cells whose figures are kept: those with smaller indices.
const CELLS: usize = 448;
/// First word of a cell, and words of each.
const FIRST_CELL: usize = 16;
const CELL_WORDS: usize = 4;
const WORDS: usize = FIRST_CELL + CELLS * CELL_WORDS;

/// Index of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum PulseWord {
    /// Beats of the main thread.
    Main = 0,
    /// Beats of the monitor.
    Monitor = 1,
    /// Blocks that this supervisor has played.
    Blocks = 2,
    /// Time at which the last of them began, in nanoseconds of the monotonic clock.
    Begin = 3,
    /// Frame after it.
    Position = 4,
    /// Time at which its first block began.
    First = 5,
    /// Blocks of silence between supervisors.
    Silent = 6,
    /// Longest of these silences, in nanoseconds.
    Longest = 7,
    /// Length of a block in nanoseconds; 0 until it plays, and from its end on.
    Period = 8,
}

/// The words, mapped.
pub(crate) struct Pulse(SharedWords);

impl Pulse {
    /// New memory.
    pub(crate) fn create() -> io::Result<(Self, OwnedFd)> {
        let file = memfd_create(
            "divisi-pulse",
            MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING,
        )?;
        ftruncate(
            &file,
            (WORDS * size_of::<u64>()).next_multiple_of(1 << 16) as u64,
        )?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let words = Self::open(&file).map_err(io::Error::other)?;
        Ok((words, file))
    }

    /// That of another process.
    pub(crate) fn open(file: &OwnedFd) -> Result<Self, RingError> {
        SharedWords::open(file, WORDS).map(Self)
    }

    fn word(&self, word: PulseWord) -> &AtomicU64 {
        &self.0.words()[word as usize]
    }

    /// Real-time: hot.
    pub(crate) fn get(&self, word: PulseWord) -> u64 {
        self.word(word).load(Ordering::Relaxed)
    }

    /// Real-time: hot.
    pub(crate) fn set(&self, word: PulseWord, value: u64) {
        self.word(word).store(value, Ordering::Relaxed);
    }

    /// Real-time: hot.
    pub(crate) fn add(&self, word: PulseWord, value: u64) {
        self.word(word).fetch_add(value, Ordering::Relaxed);
    }

    fn cell(&self, index: usize) -> Option<&[AtomicU64]> {
        let from = FIRST_CELL + CELL_WORDS * index;
        (index < CELLS).then(|| &self.0.words()[from..from + CELL_WORDS])
    }

    /// Leaves the figures of a cell.
    pub(crate) fn leave_figures(&self, index: usize, status: &CellStatus) {
        let figures = figures(status);
        let words = self.cell(index).into_iter().flatten();
        words.zip(figures).for_each(|(word, figure)| {
            let value = figure.load(Ordering::Relaxed);
            word.store(value, Ordering::Relaxed);
        });
    }

    /// Goes on from the figures that the supervisor before left.
    pub(crate) fn take_figures(&self, index: usize, status: &CellStatus) {
        let words = self.cell(index).into_iter().flatten();
        words.zip(figures(status)).for_each(|(word, figure)| {
            let value = word.load(Ordering::Relaxed);
            figure.store(value, Ordering::Relaxed);
        });
    }
}

fn figures(status: &CellStatus) -> [&AtomicU64; CELL_WORDS] {
    [
        &status.blocks,
        &status.lost,
        &status.not_finite,
        &status.lost_events,
    ]
}
