//! [`FastForward`]: time that a patch wants to be over before it is heard again, after `; pd fast-forward MS`.

use super::clocks::UNITS_PER_MS;
use super::machine::Machine;
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

impl Machine {
    /// Takes `; pd fast-forward MS`; 0 ends one.
    pub(super) fn fast_forward(&mut self, ms: f32) {
        let globals = &mut self.globals;
        if !globals.fast_forward.is_allowed {
            return globals.print(
                "error: pd: fast-forward: only in a render of a patch that has it in a message box and shares no names",
            );
        }
        let ms = f64::from(ms).clamp(0.0, MAX_MS);
        globals.fast_forward.until = globals.clocks.now() + ms * UNITS_PER_MS;
    }

    /// Returns true while time is to pass without being heard.
    ///
    /// Real-time: hot.
    #[inline]
    pub(crate) fn is_fast_forward(&self) -> bool {
        self.globals.clocks.now() < self.globals.fast_forward.until
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
