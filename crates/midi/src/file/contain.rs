//! A panic of a parser, contained: it becomes `None`, and nothing is printed.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static IS_CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `parse`; `None` if it panics. The first call in a process installs a panic hook, which is silent for threads that are
/// in such a call and calls the previous hook for all others.
///
/// Real-time: setup.
pub(super) fn contain_panic<T>(parse: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_CONTAINED.try_with(Cell::get).unwrap_or(false) {
                previous(panic);
            }
        }));
    });
    let was_contained = IS_CONTAINED.replace(true);
    // What `parse` leaves behind is not used after a panic.
    let result = catch_unwind(AssertUnwindSafe(parse)).ok();
    IS_CONTAINED.set(was_contained);
    result
}

#[cfg(test)]
mod tests {
    use super::contain_panic;

    #[test]
    fn a_panic_is_none_and_a_result_is_kept() {
        assert_eq!(contain_panic(|| 7), Some(7));
        assert_eq!(contain_panic(|| -> i32 { panic!("contained") }), None);
    }
}
