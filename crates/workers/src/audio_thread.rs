//! What every thread that plays must hold: denormals flushed, panics silent, a stack that is there.

use std::cell::Cell;
use std::hint::black_box;
use std::marker::PhantomData;
use std::sync::Once;

use rt::ftz::FlushToZero;

thread_local! {
    static PLAYS: Cell<bool> = const { Cell::new(false) };
}

/// How much stack is touched before the first cycle, so that no cycle is the first to.
const STACK: usize = 128 * 1024;

/// While it lives, the thread it was made on is one that plays: it flushes denormals, and a panic on it prints nothing.
#[derive(Debug)]
#[must_use = "the thread plays as long as this value lives"]
pub struct AudioThread {
    _floats: FlushToZero,
    before: bool,
    here: PhantomData<*const ()>,
}

impl AudioThread {
    /// Makes the calling thread one that plays. The first call in a process puts a panic hook before the one that is
    /// there; it is silent for threads that play and passes on all others.
    ///
    /// Real-time: setup.
    pub fn enter() -> Self {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let others = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                if !Self::is_current() {
                    others(panic);
                }
            }));
        });
        touch_stack();
        Self {
            _floats: FlushToZero::enable(),
            before: PLAYS.replace(true),
            here: PhantomData,
        }
    }

    /// Whether the calling thread is one that plays.
    ///
    /// Real-time: hot.
    pub fn is_current() -> bool {
        PLAYS.try_with(Cell::get).unwrap_or(false)
    }
}

impl Drop for AudioThread {
    fn drop(&mut self) {
        PLAYS.set(self.before);
    }
}

#[inline(never)]
fn touch_stack() {
    black_box(&mut [0u8; STACK]);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::AudioThread;
    use rt::ftz::FlushToZero;

    #[test]
    fn a_thread_plays_while_the_guard_lives() {
        let outer = AudioThread::enter();
        drop(AudioThread::enter());
        assert!(AudioThread::is_current());
        std::thread::scope(|s| assert!(!s.spawn(AudioThread::is_current).join().unwrap()));
        drop(outer);
        assert!(!AudioThread::is_current() && !FlushToZero::is_enabled());
    }
}
