//! [`BankKind`]: how equal processors are computed side by side, each with the bits that it has alone.
//!
//! ```text
//!  step of A ─▶ A ┐                            step of A ─▶ A B C D in the lanes of vectors
//!  step of B ─▶ B │ each waits for its own     step of B ─▶ nothing is left to do
//!  step of C ─▶ C │ frame before               step of C
//!  step of D ─▶ D ┘                            step of D
//! ```
//!
//! A recursive filter waits in each frame for the one before. Several of them wait at the same time where they are computed
//! together. An executor forms banks of processors whose [`BankKind`] is the same and of which none waits for another.

use crate::{Block, ProcessStatus, Processor};
use std::any::{Any, TypeId};

/// The most processors of a bank.
pub const MAX_BANK: usize = 8;

/// The way in which processors of one type are computed side by side.
#[derive(Clone, Copy, Debug)]
pub struct BankKind {
    /// The type. Only processors of one type are in a bank.
    pub of: TypeId,
    /// Does for each member what [`Processor::process`] does, and sets its status. Members need not be in the same state: one
    /// that cannot be computed with the others is processed by itself. None of them forks.
    ///
    /// Real-time: hot.
    pub run: fn(&mut BankMembers<'_>),
}

/// The members of a bank that are processed now; those that are there come first.
pub type BankMembers<'a> = [Option<BankMember<'a>>; MAX_BANK];

/// A processor, its block, and what became of it.
pub struct BankMember<'a> {
    /// The processor.
    pub processor: &'a mut (dyn Processor + 'static),
    /// Its block. All members have blocks of the same frames.
    pub block: Block<'a>,
    /// The status of the block.
    pub status: ProcessStatus,
}

impl<'a> BankMember<'a> {
    /// A processor that is to process `block`.
    ///
    /// Real-time: hot.
    pub fn new(processor: &'a mut (dyn Processor + 'static), block: Block<'a>) -> Self {
        Self {
            processor,
            block,
            status: ProcessStatus::Continue,
        }
    }

    /// Processes the block by itself.
    ///
    /// Real-time: hot.
    pub fn process(&mut self) {
        self.status = self.processor.process(&mut self.block);
    }

    /// The processor and its block, if it is a `P`.
    ///
    /// Real-time: hot.
    pub fn parts<P: Processor>(&mut self) -> Option<(&mut P, &mut Block<'a>)> {
        let processor: &mut dyn Any = &mut *self.processor;
        Some((processor.downcast_mut::<P>()?, &mut self.block))
    }
}
