//! [`FastForward`]: time that a patch wants to be over before it is heard again, after `; pd fast-forward MS`.

use super::clocks::UNITS_PER_MS;
use crate::load::{Instance, ObjectBody};

/// Milliseconds of one message, at most: a day.
const MAX_MS: f64 = 86_400_000.0;
/// The word in message boxes.
pub(super) const WORD: &str = "fast-forward";

/// Time that is to pass at once.
#[derive(Debug, Default)]
pub(crate) struct FastForward {
    /// True where time may pass at once.
    pub is_allowed: bool,
    /// Logical time until which nothing is heard.
    until: f64,
}

impl FastForward {
    /// Begins such a time at the logical time `now`; 0 ends one. False if none is allowed.
    pub(super) fn begin(&mut self, now: f64, ms: f32) -> bool {
        if self.is_allowed {
            self.until = now + f64::from(ms).clamp(0.0, MAX_MS) * UNITS_PER_MS;
        }
        self.is_allowed
    }

    /// Returns true while time is to pass without being heard.
    #[inline]
    pub(super) fn lasts(&self, now: f64) -> bool {
        now < self.until
    }
}

/// Returns true if the word stands in a message box of a patch.
pub(super) fn has_fast_forward(root: &Instance) -> bool {
    root.objects.iter().any(|object| match &object.body {
        ObjectBody::Message => object
            .arguments
            .iter()
            .any(|it| it.as_symbol() == Some(WORD)),
        ObjectBody::Subpatch(inner) | ObjectBody::Abstraction(inner) => has_fast_forward(inner),
        ObjectBody::Clones { instances, .. } => instances.iter().any(has_fast_forward),
        _ => false,
    })
}
