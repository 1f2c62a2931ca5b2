//! [`Owner`]: which of several parties may use what they share. They hand it over without waiting.
//!
//! | transition | by | memory order |
//! |---|---|---|
//! | free to owned | [`Owner::try_acquire`] | Acquire: sees all that the last owner did |
//! | owned to free | [`Owner::release`] | Release: publishes all that this owner did |
//!
//! Any thread may release for a party, also one that drops it: a party that is not the owner releases nothing.

use crate::sync::atomic::{AtomicU64, Ordering};

/// No party owns it.
const FREE: u64 = 0;

/// The party that may use what several share, and a number for each party.
#[derive(Debug)]
pub struct Owner {
    /// ID of the party that owns it, or [`FREE`].
    owner: AtomicU64,
    next_id: AtomicU64,
}

/// Result of [`Owner::try_acquire`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquired {
    /// The party owned it before the call.
    Already,
    /// The party owns it since this call.
    Now,
    /// Another party owns it.
    Refused,
}

impl Default for Owner {
    fn default() -> Self {
        Self::new()
    }
}

impl Owner {
    /// One that nobody owns.
    ///
    /// Real-time: setup.
    pub fn new() -> Self {
        Self {
            owner: AtomicU64::new(FREE),
            next_id: AtomicU64::new(FREE + 1),
        }
    }

    /// ID for a new party. No two are equal.
    ///
    /// Real-time: hot.
    pub fn new_id(&self) -> u64 {
        // Relaxed: only the number matters.
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Makes the party `id` the owner if there is none.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn try_acquire(&self, id: u64) -> Acquired {
        if self.is_owner(id) {
            return Acquired::Already;
        }
        // Acquire pairs with `release`: all that the last owner did is seen.
        match (self.owner).compare_exchange(FREE, id, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Acquired::Now,
            Err(_) => Acquired::Refused,
        }
    }

    /// Returns true if the party `id` is the owner.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_owner(&self, id: u64) -> bool {
        // Relaxed: only this party stores its ID. A thread that reads an old value notices a little later, nothing else.
        self.owner.load(Ordering::Relaxed) == id
    }

    /// Frees it if the party `id` is the owner.
    ///
    /// Real-time: hot.
    pub fn release(&self, id: u64) {
        // Release pairs with `try_acquire`: the next owner sees all that this one did.
        let _ = (self.owner).compare_exchange(id, FREE, Ordering::Release, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Acquired, Owner};

    #[test]
    fn one_party_at_a_time_owns_it_and_only_the_owner_releases() {
        let owner = Owner::new();
        let (a, b) = (owner.new_id(), owner.new_id());
        assert_eq!(owner.try_acquire(a), Acquired::Now);
        assert_eq!(owner.try_acquire(a), Acquired::Already);
        owner.release(b);
        assert_eq!(owner.try_acquire(b), Acquired::Refused);
        owner.release(a);
        assert_eq!(owner.try_acquire(b), Acquired::Now);
        assert!(!owner.is_owner(a));
    }
}

/// The handover of an executor: made by the control thread, run by the audio thread, and freed by the control thread.
#[cfg(all(test, loom))]
mod models {
    use super::{Acquired, Owner};
    use crate::sync::atomic::{AtomicBool, Ordering};
    use crate::sync::{Arc, UnsafeCell};

    /// A ring of one place with the orders of the crate `rtrb`: the write of the place travels with the index.
    struct OnePlace {
        is_full: AtomicBool,
        place: UnsafeCell<u64>,
    }

    // SAFETY: one thread pushes and one pops. The place belongs to the first while it is empty, else to the second.
    unsafe impl Send for OnePlace {}
    // SAFETY: as above.
    unsafe impl Sync for OnePlace {}

    impl OnePlace {
        fn new() -> Self {
            Self {
                is_full: AtomicBool::new(false),
                place: UnsafeCell::new(0),
            }
        }

        fn push(&self, value: u64) -> bool {
            if self.is_full.load(Ordering::Acquire) {
                return false;
            }
            // SAFETY: it is empty, so it is the pusher's.
            self.place.with_mut(|place| unsafe { *place = value });
            self.is_full.store(true, Ordering::Release);
            true
        }

        fn pop(&self) -> Option<u64> {
            if !self.is_full.load(Ordering::Acquire) {
                return None;
            }
            // SAFETY: it is full, so it is the popper's.
            let value = self.place.with(|place| unsafe { *place });
            self.is_full.store(false, Ordering::Release);
            Some(value)
        }
    }

    /// A processor that two executors share, and the memory of each executor, by its ID.
    struct Shared {
        owner: Owner,
        processor: UnsafeCell<u32>,
        memory: [UnsafeCell<u32>; 3],
        swaps: OnePlace,
        retired: OnePlace,
    }

    // SAFETY: the rules that the models check.
    unsafe impl Send for Shared {}
    // SAFETY: as above.
    unsafe impl Sync for Shared {}

    impl Shared {
        fn new() -> Arc<Self> {
            Arc::new(Self {
                owner: Owner::new(),
                processor: UnsafeCell::new(0),
                memory: [(); 3].map(|()| UnsafeCell::new(0)),
                swaps: OnePlace::new(),
                retired: OnePlace::new(),
            })
        }

        /// A cycle of the executor `id`; false if another one owns the runtime.
        fn run(&self, id: u64) -> bool {
            if self.owner.try_acquire(id) == Acquired::Refused {
                return false;
            }
            // SAFETY: the owner alone runs the processor, in its own memory.
            self.processor.with_mut(|x| unsafe { *x += 1 });
            self.memory[id as usize].with_mut(|x| unsafe { *x += 1 });
            true
        }

        /// Binds or frees the executor `id`: writes its memory.
        fn touch(&self, id: u64) {
            // SAFETY: it has not been sent yet, or has come back.
            self.memory[id as usize].with_mut(|x| unsafe { *x += 10 });
        }
    }

    #[test]
    fn an_executor_travels_to_the_audio_thread_and_the_old_one_comes_back() {
        loom::model(|| {
            let shared = Shared::new();
            let audio = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    let mut playing = 1;
                    for _ in 0..2 {
                        if let Some(next) = shared.swaps.pop() {
                            shared.owner.release(playing);
                            assert!(
                                shared.retired.push(playing),
                                "one edit at a time is under way"
                            );
                            playing = next;
                        }
                        assert!(shared.run(playing));
                    }
                    playing
                })
            };
            shared.touch(2);
            assert!(shared.swaps.push(2));
            if let Some(retired) = shared.retired.pop() {
                // Freed, as its drop does it.
                shared.touch(retired);
                shared.owner.release(retired);
            }
            let playing = audio.join().unwrap();
            assert!(shared.owner.is_owner(playing));
            shared.processor.with(|x| assert_eq!(unsafe { *x }, 2));
        });
    }

    #[test]
    fn a_processor_passes_from_one_owner_to_the_next_and_a_late_drop_takes_nothing() {
        loom::model(|| {
            let shared = Shared::new();
            assert!(shared.run(1));
            let last = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    // The last worker of the old executor leaves its step; its drop releases once more.
                    shared.processor.with_mut(|x| unsafe { *x += 1 });
                    shared.owner.release(1);
                    shared.owner.release(1);
                })
            };
            let runs = (0..2).filter(|_| shared.run(2)).count() as u32;
            last.join().unwrap();
            assert!(shared.owner.is_owner(2) || runs == 0);
            shared
                .processor
                .with(|x| assert_eq!(unsafe { *x }, 2 + runs));
        });
    }
}
