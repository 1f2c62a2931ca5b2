//! [`Pulse`]: words by which a supervisor shows that it lives, and where it is, for the guardian and for the next supervisor.
//!
//! | word | stored by |
//! |---|---|
//! | beats of the main thread and of the monitor | each of these, in each look |
//! | blocks, and for the last whole one its begin, and the position after it; if it is in one | the audio thread |
//! | begin of its first block | the audio thread, once |
//! | supervisors that were lost, blocks of silence between two of them | the audio thread, in its first block |
//! | figures of each cell: blocks, lost, samples that were no numbers, lost events | the monitor |
//!
//! | state of the transport after its last change | the audio thread, after each block with one |
//!
//! Every word but those of the transport stands for itself, so all are relaxed. A word that a dying supervisor left is a figure at
//! most a block old. The words of the transport are read after their writer has ended; one that ended amid them leaves an odd
//! number of changes.

use crate::status::CellStatus;
use processor::TransportChange;
use rt::mirror::{RingError, SharedWords};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering, fence};

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
    /// 1 while the audio thread is in a block.
    Inside = 9,
    /// Changes of the transport: twice their number, and one more while one is written.
    Changes = 10,
    /// The last of them: its frame in the run, its position and speed as bits, 1 if it rolls.
    ChangeFrame = 11,
    ChangePosition = 12,
    ChangeSpeed = 13,
    ChangeRolls = 14,
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

    /// Leaves the state of the transport; `frame` is that of the run.
    ///
    /// Real-time: hot.
    pub(crate) fn leave_transport(&self, frame: u64, change: TransportChange) {
        // Odd already, if the one before has ended amid this.
        let odd = self.get(PulseWord::Changes) | 1;
        self.set(PulseWord::Changes, odd);
        // A process that is killed below leaves an odd number: the store above comes first.
        fence(Ordering::Release);
        self.set(PulseWord::ChangeFrame, frame);
        self.set(PulseWord::ChangePosition, change.position.to_bits());
        self.set(PulseWord::ChangeSpeed, change.speed.to_bits());
        self.set(PulseWord::ChangeRolls, u64::from(change.is_rolling));
        fence(Ordering::Release);
        self.set(PulseWord::Changes, odd + 1);
    }

    /// The state of the transport that the supervisor before has left.
    pub(crate) fn transport(&self) -> Option<TransportChange> {
        let changes = self.get(PulseWord::Changes);
        let bits = |word| f64::from_bits(self.get(word));
        let (position, speed) = (
            bits(PulseWord::ChangePosition),
            bits(PulseWord::ChangeSpeed),
        );
        let is_sound = position.is_finite() && position.abs() < 1e15;
        let is_sound = is_sound && (1e-6..=1e6).contains(&speed);
        let is_whole = changes > 0 && changes.is_multiple_of(2);
        (is_whole && is_sound).then(|| TransportChange {
            frame: self.get(PulseWord::ChangeFrame),
            position,
            speed,
            is_rolling: self.get(PulseWord::ChangeRolls) == 1,
            is_cut: true,
            is_jump: true,
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transport_that_was_not_left_whole_is_none() {
        let (pulse, _file) = Pulse::create().unwrap();
        assert_eq!(pulse.transport(), None);
        let change = TransportChange {
            frame: 640,
            position: 48_000.5,
            speed: 1.5,
            is_rolling: false,
            is_cut: true,
            is_jump: true,
        };
        pulse.leave_transport(640, change);
        assert_eq!(pulse.transport(), Some(change));
        // Killed amid the next one.
        pulse.add(PulseWord::Changes, 1);
        assert_eq!(pulse.transport(), None);
        pulse.leave_transport(640, change);
        assert_eq!(pulse.transport(), Some(change));
        pulse.set(PulseWord::ChangeSpeed, f64::NAN.to_bits());
        assert_eq!(pulse.transport(), None);
    }
}
