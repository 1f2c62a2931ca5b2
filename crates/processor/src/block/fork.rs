//! [`ForkState`]: state of a processor that the branches of a fork read.
//!
//! A worker that helps can lose its core inside a branch, or never return. The step that forked does not wait for it
//! longer than the cycle may take: it is left, by unwinding, while the branch still runs. So a branch borrows nothing
//! from the step. What it needs is either plain data that it holds by value, or a [`ForkState`], which has a memory of
//! its own and is never touched again after a fork was left.

use super::split::SplitBlock;
use super::{Block, BlockPart};
use rt::fork::{ForkAbandoned, ForkTask};
use std::ops::{Deref, DerefMut, Range};
use std::panic::resume_unwind;
use std::ptr::NonNull;

/// State of a processor that branches may read while they run, and the processor may change in between. Behaves like a
/// `Box<T>`.
///
/// After a fork that was left it can be dropped and nothing else: its memory stays as it is, because a branch may
/// still read it.
pub struct ForkState<T: Send + Sync + 'static> {
    value: NonNull<T>,
    /// A fork was left while branches read the value.
    is_abandoned: bool,
}

// SAFETY: it owns its value like a `Box`, and what branches on other threads do is read it.
unsafe impl<T: Send + Sync + 'static> Send for ForkState<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync + 'static> Sync for ForkState<T> {}

impl<T: Send + Sync + 'static> ForkState<T> {
    /// Moves `value` to memory of its own.
    ///
    /// Real-time: setup.
    pub fn new(value: T) -> Self {
        Self {
            value: NonNull::from(Box::leak(Box::new(value))),
            is_abandoned: false,
        }
    }

    /// Runs a fork whose branches read the value, and notes if it was left.
    #[inline(always)]
    fn lend(
        &mut self,
        fork: impl FnOnce(StateRef<T>) -> Result<(), ForkAbandoned>,
    ) -> Result<(), ForkAbandoned> {
        self.check();
        let result = fork(StateRef(self.value.as_ptr()));
        self.is_abandoned = result.is_err();
        result
    }

    /// Gives the value to `step`, whose branches may read it. If the step is left by unwinding, the value is given up.
    pub(super) fn lend_to_step<R>(&mut self, step: impl FnOnce(*mut T) -> R) -> R {
        self.check();
        self.is_abandoned = true;
        let result = step(self.value.as_ptr());
        self.is_abandoned = false;
        result
    }

    /// Panics if a fork that reads it was left.
    #[inline]
    fn check(&self) {
        assert!(!self.is_abandoned, "a branch may still read this state");
    }
}

impl<T: Send + Sync + 'static> Deref for ForkState<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.check();
        // SAFETY: it came from a box and is freed in `drop`.
        unsafe { self.value.as_ref() }
    }
}

impl<T: Send + Sync + 'static> DerefMut for ForkState<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.check();
        // SAFETY: as above. No branch reads it: a fork that has it by `&mut` is over, and none was left.
        unsafe { self.value.as_mut() }
    }
}

impl<T: Send + Sync + Clone + 'static> Clone for ForkState<T> {
    fn clone(&self) -> Self {
        Self::new(T::clone(self))
    }
}

impl<T: Send + Sync + Default + 'static> Default for ForkState<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: Send + Sync + 'static> Drop for ForkState<T> {
    fn drop(&mut self) {
        if !self.is_abandoned {
            // SAFETY: it came from a box, and no branch reads it.
            drop(unsafe { Box::from_raw(self.value.as_ptr()) });
        }
    }
}

/// A pointer to a state, for branches.
struct StateRef<T>(*const T);

impl<T> Clone for StateRef<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for StateRef<T> {}

// SAFETY: a branch only reads through it, and `T` is `Sync` wherever one is made.
unsafe impl<T: Sync> Send for StateRef<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for StateRef<T> {}

impl<T> StateRef<T> {
    /// # Safety
    ///
    /// The state is alive, and nobody writes it.
    unsafe fn get<'a>(self) -> &'a T {
        // SAFETY: this function's contract.
        unsafe { &*self.0 }
    }
}

impl Block<'_> {
    /// Runs `branch(0)` to `branch(count - 1)`, on idle workers too, and returns when all have run. The closure holds
    /// what it needs by value (192 bytes at most); see [`fork_with`](Self::fork_with).
    ///
    /// # Panics
    ///
    /// A branch panicked. The call also unwinds if the cycle is given up while a branch does not return.
    ///
    /// Real-time: hot.
    pub fn fork<F>(&self, count: u32, branch: F)
    where
        F: Fn(u32) + Copy + Send + Sync + 'static,
    {
        // SAFETY: the closure holds plain data, and references to what lives for ever.
        let task = unsafe { ForkTask::new(branch) };
        if self.info.services.fork(count, &task).is_err() {
            leave_step();
        }
    }

    /// As [`fork`](Self::fork), with a state that all branches read.
    ///
    /// # Panics
    ///
    /// As [`fork`](Self::fork).
    ///
    /// Real-time: hot.
    pub fn fork_with<T, F>(&self, state: &mut ForkState<T>, count: u32, branch: F)
    where
        T: Send + Sync + 'static,
        F: Fn(&T, u32) + Copy + Send + Sync + 'static,
    {
        let result = state.lend(|value| {
            // SAFETY: the closure holds plain data and the state, which is borrowed from here until all branches have
            // ended. If the fork is left, nobody writes or frees the state any more.
            let task = unsafe { ForkTask::new(move |index| branch(value.get(), index)) };
            self.info.services.fork(count, &task)
        });
        if result.is_err() {
            leave_step();
        }
    }

    /// Processes the frames of `range`: calls `work` for each of at most `parts` parts, on idle workers too. Returns
    /// when all calls have returned. A part has at least 16 frames, a cache line, so short ranges have fewer parts. A
    /// single part is processed by this worker, without a fork. The closure holds what it needs by value (96 bytes at
    /// most); see [`split_with`](Self::split_with).
    ///
    /// The result has the bits of an unsplit block if `work` computes each frame in the same way in every part.
    ///
    /// # Panics
    ///
    /// `range` is not within the block, or `work` panicked. The call also unwinds if the cycle is given up while a
    /// part does not return.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub fn split<F>(&mut self, range: Range<usize>, parts: u32, work: F)
    where
        F: Fn(&mut BlockPart<'_>) + Copy + Send + Sync + 'static,
    {
        if parts <= 1 && range == (0..self.frames()) {
            return work(&mut BlockPart::whole(self));
        }
        self.split_range(range, parts, work);
    }

    #[inline(never)]
    fn split_range<F>(&mut self, range: Range<usize>, parts: u32, work: F)
    where
        F: Fn(&mut BlockPart<'_>) + Copy + Send + Sync + 'static,
    {
        let split = SplitBlock::new(self, range, parts);
        // SAFETY: the closure holds plain data, and references to what lives for ever.
        if unsafe { split.run(work) }.is_err() {
            leave_step();
        }
    }

    /// As [`split`](Self::split), with a state that all parts read.
    ///
    /// # Panics
    ///
    /// As [`split`](Self::split).
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub fn split_with<T, F>(
        &mut self,
        state: &mut ForkState<T>,
        range: Range<usize>,
        parts: u32,
        work: F,
    ) where
        T: Send + Sync + 'static,
        F: Fn(&T, &mut BlockPart<'_>) + Copy + Send + Sync + 'static,
    {
        if parts <= 1 && range == (0..self.frames()) {
            return work(state, &mut BlockPart::whole(self));
        }
        self.split_range_with(state, range, parts, work);
    }

    #[inline(never)]
    fn split_range_with<T, F>(
        &mut self,
        state: &mut ForkState<T>,
        range: Range<usize>,
        parts: u32,
        work: F,
    ) where
        T: Send + Sync + 'static,
        F: Fn(&T, &mut BlockPart<'_>) + Copy + Send + Sync + 'static,
    {
        let split = SplitBlock::new(self, range, parts);
        let result = state.lend(|value| {
            // SAFETY: as in `fork_with`.
            unsafe { split.run(move |part: &mut BlockPart<'_>| work(value.get(), part)) }
        });
        if result.is_err() {
            leave_step();
        }
    }
}

/// Leaves a step whose fork was abandoned. The executor catches it. Not a panic: no message is printed.
#[cold]
fn leave_step() -> ! {
    resume_unwind(Box::new(ForkAbandoned))
}
