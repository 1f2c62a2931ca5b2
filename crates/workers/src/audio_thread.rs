//! [`AudioThread`]: set-up of an audio thread: denormals flushed to zero, silent panics, a mapped stack.

use std::cell::Cell;
use std::hint::black_box;
use std::marker::PhantomData;
use std::sync::Once;

use rt::ftz::FlushToZero;

thread_local! {
    static IS_AUDIO: Cell<bool> = const { Cell::new(false) };
}

/// Bytes of stack that are touched before the first cycle, so that no cycle causes a page fault there.
const STACK: usize = 128 * 1024;

/// Guard: while it lives, its thread is an audio thread. Denormals are flushed to zero, and a panic prints nothing.
#[derive(Debug)]
#[must_use = "the thread is an audio thread as long as this value lives"]
pub struct AudioThread {
    _floats: FlushToZero,
    was_audio: bool,
    /// It restores the state of its own thread when it is dropped, so it must not be sent to another one.
    _not_send: PhantomData<*const ()>,
}

impl AudioThread {
    /// Makes the calling thread an audio thread. The first call in a process installs a panic hook, which is silent for
    /// audio threads and calls the previous hook for all others.
    ///
    /// Real-time: setup.
    pub fn enter() -> Self {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let previous = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                if !Self::is_current() {
                    previous(panic);
                }
            }));
        });
        touch_stack();
        Self {
            _floats: FlushToZero::enable(),
            was_audio: IS_AUDIO.replace(true),
            _not_send: PhantomData,
        }
    }

    /// Returns true if the calling thread is an audio thread.
    ///
    /// Real-time: hot.
    pub fn is_current() -> bool {
        IS_AUDIO.try_with(Cell::get).unwrap_or(false)
    }
}

impl Drop for AudioThread {
    fn drop(&mut self) {
        IS_AUDIO.set(self.was_audio);
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
    fn a_thread_is_an_audio_thread_while_the_guard_lives() {
        let outer = AudioThread::enter();
        drop(AudioThread::enter());
        assert!(AudioThread::is_current());
        std::thread::scope(|s| assert!(!s.spawn(AudioThread::is_current).join().unwrap()));
        drop(outer);
        assert!(!AudioThread::is_current() && !FlushToZero::is_enabled());
    }
}
