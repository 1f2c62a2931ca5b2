//! [`Border`]: what a patch and a sub-patch tell each other between blocks, and [`ChildRunner`], which computes the sub-patch.
//!
//! | mail of block `k` | until |
//! |---|---|
//! | written by the parent, in block `k` | the end of block `k` |
//! | read by the runner, which puts back what has ended | block `k + 1`; block `k` itself if it waits for the parent |
//! | taken by the parent again | the begin of block `k + 2` |
//!
//! So there are two of them, and no one is ever claimed by both sides at once. Nodes number their blocks by the frames that have passed,
//! so that both sides agree also behind a block that one of them was not computed in. What was said and never read is said again.

use crate::signal::Claimed;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// A sub-patch that plays.
pub(crate) trait ChildPatch: Send + Debug {
    /// Number of its blocks that are computed.
    fn blocks(&self) -> u64;

    /// Computes a block.
    ///
    /// Real-time: as the messages of a patch.
    fn compute(&mut self);
}

/// A change at the border.
enum Command {
    Start(Box<dyn ChildPatch>),
    Stop,
}

/// Commands of the parent in a block.
#[derive(Default)]
struct Mail {
    /// A change and its number.
    command: Option<(u64, Command)>,
    /// Blocks that the parent has exchanged since the start.
    exchanged: u64,
    /// A sub-patch that has ended, for the parent.
    ended: Option<Box<dyn ChildPatch>>,
}

/// Commands and answers between a patch and a sub-patch.
pub(crate) struct Border {
    /// Claimed by one side at a time.
    mail: [Claimed<SyncMail>; 2],
    /// Block of the parent, from 1.
    block: AtomicU64,
    exchanged: AtomicU64,
    /// Changes that the parent has said.
    said: AtomicU64,
    /// True if the sub-patch waits for the parent in each block.
    is_direct: bool,
}

/// Mail, which whoever claims it has alone.
#[derive(Default)]
struct SyncMail(std::sync::Mutex<Mail>);

impl SyncMail {
    fn get(&mut self) -> &mut Mail {
        // Nobody locks it: a mutable borrow is enough.
        self.0
            .get_mut()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

// Relaxed in this file: the parent alone touches these numbers, in steps that the plan orders.
impl Border {
    pub(super) fn new(is_direct: bool) -> Self {
        Self {
            mail: Default::default(),
            block: AtomicU64::new(0),
            exchanged: AtomicU64::new(0),
            said: AtomicU64::new(0),
            is_direct,
        }
    }

    /// Block of the parent.
    pub(super) fn block(&self) -> u64 {
        self.block.load(Relaxed)
    }

    fn of_block(&self, block: u64) -> &Claimed<SyncMail> {
        &self.mail[usize::from(block % 2 == 1)]
    }

    /// Begins a block of the parent, the next one if it has no number; nothing if it has begun. Gives the sub-patch that has ended, to be
    /// freed elsewhere.
    ///
    /// Real-time: hot.
    pub(crate) fn begin_block(&self, number: Option<u64>) -> Option<Box<dyn ChildPatch>> {
        let last = self.block();
        let block = number.unwrap_or(last + 1);
        if block == last {
            return None;
        }
        self.block.store(block, Relaxed);
        let before = match self.is_direct {
            // What was said while the patch was loaded, or while nobody computed.
            true => self.of_block(last).write().get().command.take(),
            false => None,
        };
        let mut mail = self.of_block(block).write();
        let mail = mail.get();
        let ended = mail.ended.take();
        mail.exchanged = self.exchanged.load(Relaxed);
        match std::mem::replace(&mut mail.command, before) {
            // The runner was not computed in the block in which it would have read it.
            Some((number, unread)) if number == self.said.load(Relaxed) => {
                mail.command = Some((number, unread));
                ended
            }
            Some((_, Command::Start(child))) if ended.is_none() => Some(child),
            _ => ended,
        }
    }

    /// Starts a sub-patch. Gives one that was started in the same block, and that nobody will compute.
    ///
    /// Real-time: hot.
    pub(super) fn start(&self, child: Box<dyn ChildPatch>) -> Option<Box<dyn ChildPatch>> {
        self.exchanged.store(0, Relaxed);
        self.say(Command::Start(child))
    }

    /// Stops the sub-patch; as [`Border::start`].
    ///
    /// Real-time: hot.
    pub(super) fn stop(&self) -> Option<Box<dyn ChildPatch>> {
        self.say(Command::Stop)
    }

    fn say(&self, command: Command) -> Option<Box<dyn ChildPatch>> {
        let mut mail = self.of_block(self.block()).write();
        let mail = mail.get();
        mail.exchanged = self.exchanged.load(Relaxed);
        let number = self.said.load(Relaxed) + 1;
        self.said.store(number, Relaxed);
        match mail.command.replace((number, command)) {
            Some((_, Command::Start(child))) => Some(child),
            _ => None,
        }
    }

    /// Counts a block that the parent has exchanged.
    ///
    /// Real-time: hot.
    pub(super) fn count_exchanged(&self) {
        let exchanged = self.exchanged.load(Relaxed) + 1;
        self.exchanged.store(exchanged, Relaxed);
        self.of_block(self.block()).write().get().exchanged = exchanged;
    }
}

#[cfg(test)]
impl Border {
    /// Claims the mail of a block, as the sub-patch does while it reads it.
    pub(crate) fn claim_mail(&self, block: u64) -> impl Sized + '_ {
        self.of_block(block).write()
    }

    /// Number of changes that the parent has said.
    pub(crate) fn changes(&self) -> u64 {
        self.said.load(Relaxed)
    }
}

/// Computes a sub-patch, a block ahead of its parent.
pub(crate) struct ChildRunner {
    border: Arc<Border>,
    child: Option<Box<dyn ChildPatch>>,
    /// Number of the last change.
    heard: u64,
}

impl ChildRunner {
    pub(super) fn new(border: Arc<Border>) -> Self {
        Self {
            border,
            child: None,
            heard: 0,
        }
    }

    /// Returns true if this is its border.
    pub(super) fn is_at(&self, border: &Arc<Border>) -> bool {
        Arc::ptr_eq(&self.border, border)
    }

    /// Returns true if it waits for the sound of the parent in each block.
    pub(crate) fn is_direct(&self) -> bool {
        self.border.is_direct
    }

    /// Computes behind the parent, in its block.
    ///
    /// Real-time: as the messages of a patch.
    pub(crate) fn run_behind(&mut self) {
        self.run_in(self.border.block());
    }

    /// Computes in the block of this number.
    ///
    /// Real-time: as the messages of a patch.
    pub(crate) fn run_in(&mut self, block: u64) {
        let is_direct = self.border.is_direct;
        let Some(said) = block.checked_sub(u64::from(!is_direct)) else {
            return;
        };
        let exchanged = {
            let mut mail = self.border.of_block(said).write();
            let mail = mail.get();
            // Where something has ended, the parent was not there.
            if mail.ended.is_none()
                && let Some((number, command)) = mail.command.take()
            {
                let is_new = number > self.heard;
                self.heard = self.heard.max(number);
                mail.ended = match command {
                    Command::Start(child) if is_new => self.child.replace(child),
                    Command::Start(child) => Some(child),
                    Command::Stop if is_new => self.child.take(),
                    Command::Stop => None,
                };
            }
            mail.exchanged
        };
        let Some(child) = &mut self.child else {
            return;
        };
        // One block ahead, where the parent does not wait two.
        while child.blocks() < exchanged + 1 + u64::from(!is_direct) {
            child.compute();
        }
    }
}

/// Blocks of a sub-patch that are computed when it is opened: nothing can reach them.
pub(super) fn blocks_at_start(fifo: usize) -> u64 {
    match fifo {
        1 => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts its blocks.
    #[derive(Debug)]
    struct Counted(u64, Arc<AtomicU64>);

    impl ChildPatch for Counted {
        fn blocks(&self) -> u64 {
            self.0
        }

        fn compute(&mut self) {
            self.0 += 1;
            self.1.store(self.0, Relaxed);
        }
    }

    fn child() -> (Box<Counted>, Arc<AtomicU64>) {
        let count = Arc::new(AtomicU64::new(2));
        (Box::new(Counted(2, count.clone())), count)
    }

    #[test]
    fn a_sub_patch_is_one_block_ahead_of_what_was_exchanged() {
        let border = Arc::new(Border::new(false));
        let mut runner = ChildRunner::new(border.clone());
        let (first, count) = child();
        assert!(border.start(first).is_none());
        for block in 1..20 {
            assert!(border.begin_block(None).is_none());
            runner.run_in(block);
            // Either may come first: the runner knows what was true when the block began.
            if block != 7 {
                border.count_exchanged();
            }
            let exchanged = block - 1 - u64::from(block > 7);
            assert_eq!(count.load(Relaxed), exchanged + 2, "block {block}");
        }
    }

    #[test]
    fn what_has_ended_comes_back_to_be_freed() {
        let border = Arc::new(Border::new(false));
        let mut runner = ChildRunner::new(border.clone());
        let mut ended = Vec::new();
        for block in 1..9 {
            ended.extend(border.begin_block(Some(block)).map(|_| block));
            match block {
                1 => assert!(border.start(child().0).is_none()),
                3 => assert!(border.stop().is_none()),
                5 => {
                    assert!(border.start(child().0).is_none());
                    assert!(border.start(child().0).is_some(), "the first one");
                }
                _ => {}
            }
            runner.run_in(block);
        }
        assert_eq!(ended, [5]);
        assert!(runner.child.is_some());
    }

    #[test]
    fn what_was_said_is_heard_behind_blocks_that_one_side_missed() {
        for (parent, runs) in [(6, 0), (0, 6), (6, 6), (0, 13), (13, 13)] {
            let border = Arc::new(Border::new(false));
            let mut runner = ChildRunner::new(border.clone());
            let mut ended = 0;
            for block in 1..20 {
                if block != parent {
                    // Both at once: the runner has what was said in the block before.
                    let _read = border.of_block(block - 1).write();
                    ended += usize::from(border.begin_block(Some(block)).is_some());
                    assert!(border.begin_block(Some(block)).is_none(), "once");
                    match block {
                        5 => assert!(border.start(child().0).is_none()),
                        12 => assert!(border.stop().is_none()),
                        _ => {}
                    }
                }
                if block != runs {
                    runner.run_in(block);
                }
                match block {
                    10 => assert!(runner.child.is_some(), "{parent} {runs}"),
                    16 => assert!(runner.child.is_none(), "{parent} {runs}"),
                    _ => {}
                }
            }
            assert_eq!(ended, 1, "{parent} {runs}");
        }
    }
}
