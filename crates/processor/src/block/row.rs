//! [`StepRow`]: equal processors whose steps follow each other, processed in one call.
//!
//! ```text
//!  step of A ─▶ A                  step of A ─▶ A B C
//!  step of B ─▶ B                  (the executor goes on behind C)
//!  step of C ─▶ C
//! ```
//!
//! For a processor that computes a block in some nanoseconds, the step costs as much as the samples do. In a row the call, the choice of
//! vectors and the numbers in registers are there once. Each processor does what it does alone, in the order of the steps.

use super::{Block, ProcessInfo, StepIo};
use crate::{ProcessStatus, Processor};
use std::any::{Any, TypeId};
use std::cell::Cell;
use std::marker::PhantomData;

/// The most processors of a row.
pub const MAX_ROW: usize = 8;

/// A processor that is processed in rows.
pub trait InRow: Processor + Sized {
    /// Does for each processor what [`Processor::process`] does. None of them forks.
    ///
    /// Real-time: hot.
    fn process_row(row: StepRow<'_, Self>) -> RowStatus;
}

/// The way in which processors of one type are processed in a row.
#[derive(Clone, Copy, Debug)]
pub struct RowKind {
    of: TypeId,
    run: unsafe fn(&[RowMember], &ProcessInfo<'_>, &Cell<usize>) -> RowStatus,
}

impl RowKind {
    /// The rows of processors of the type `P`.
    ///
    /// Real-time: setup.
    pub fn of<P: InRow>() -> Self {
        Self {
            of: TypeId::of::<P>(),
            run: run::<P>,
        }
    }

    /// Returns true if these are rows of the type of `processor`.
    ///
    /// Real-time: setup.
    pub fn is_of(&self, processor: &dyn Processor) -> bool {
        let processor: &dyn Any = processor;
        processor.type_id() == self.of
    }

    /// Returns true if both are rows of the same type.
    ///
    /// Real-time: setup.
    pub fn is(&self, other: &Self) -> bool {
        self.of == other.of
    }

    /// Processes the block of `info` of each member, in order. Returns those that sleep. If one panics, its number is in `panicked`, and
    /// those behind it have not run.
    ///
    /// # Safety
    ///
    /// `info` and each of `members` are as [`Block::new`] demands, and its processor is of the kind's type
    /// ([`is_of`](Self::is_of)). Until the call returns nobody else touches the processors, and no two members have the same one.
    ///
    /// Real-time: hot.
    #[inline]
    pub unsafe fn run(
        &self,
        members: &[RowMember],
        info: &ProcessInfo<'_>,
        panicked: &Cell<usize>,
    ) -> RowStatus {
        // SAFETY: the contract is the same.
        unsafe { (self.run)(members, info, panicked) }
    }
}

/// A processor and its block, without their types.
#[derive(Clone, Copy, Debug)]
pub struct RowMember {
    /// The processor.
    pub processor: *mut (),
    /// Its inputs and outputs.
    pub io: *const StepIo,
}

impl RowMember {
    /// A place without a processor.
    pub const NONE: Self = Self {
        processor: std::ptr::null_mut(),
        io: std::ptr::null(),
    };
}

/// The members of a row that sleep behind a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowStatus(u32);

impl RowStatus {
    /// Returns true if none of them sleeps.
    #[inline]
    pub fn is_awake(self) -> bool {
        self.0 == 0
    }

    /// The status of the member `at`, counted from 0.
    #[inline]
    pub fn of(self, at: usize) -> ProcessStatus {
        match self.0 & (1 << at) {
            0 => ProcessStatus::Continue,
            _ => ProcessStatus::Sleep,
        }
    }
}

/// Processors of a row, in the order of their steps.
pub struct StepRow<'a, P> {
    members: &'a [RowMember],
    info: &'a ProcessInfo<'a>,
    panicked: &'a Cell<usize>,
    of: PhantomData<&'a mut P>,
}

/// # Safety
///
/// As [`RowKind::run`], for the type `P`.
unsafe fn run<P: InRow>(
    members: &[RowMember],
    info: &ProcessInfo<'_>,
    panicked: &Cell<usize>,
) -> RowStatus {
    P::process_row(StepRow {
        members,
        info,
        panicked,
        of: PhantomData,
    })
}

/// The member that is processed. If it is dropped, that one has panicked.
struct Current<'a> {
    at: usize,
    panicked: &'a Cell<usize>,
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        self.panicked.set(self.at);
    }
}

impl<P: Processor> StepRow<'_, P> {
    /// Calls `process` for each processor with its block.
    ///
    /// Real-time: hot if the call is.
    #[inline(always)]
    pub fn process(
        self,
        mut process: impl FnMut(&mut P, &mut Block<'_>) -> ProcessStatus,
    ) -> RowStatus {
        let mut asleep = 0;
        let mut current = Current {
            at: 0,
            panicked: self.panicked,
        };
        for member in self.members {
            // SAFETY: a row is made by `RowKind::run` alone, whose contract gives it the processors, which are of the type `P`, and
            // their blocks.
            let (processor, io) = unsafe { (&mut *member.processor.cast::<P>(), &*member.io) };
            let mut block = Block {
                io,
                info: self.info,
            };
            if process(processor, &mut block) == ProcessStatus::Sleep {
                asleep |= 1 << current.at;
            }
            current.at += 1;
        }
        std::mem::forget(current);
        RowStatus(asleep)
    }
}
