//! Ctrl-C: the first one requests a clean end, the second ends the program at once.

use crate::failure::Failure;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The user's request to end, set by SIGINT or SIGTERM.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Installs the handler.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let requested = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_shutdown(signal, 1, requested.clone())
                .and_then(|_| flag::register(signal, requested.clone()))
                .map_err(Failure::from_error)?;
        }
        Ok(Self(requested))
    }

    /// The flag that an interrupt sets.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }

    /// Returns true if the end was requested.
    pub(crate) fn is_requested(&self) -> bool {
        // Relaxed: no data travels with it.
        self.0.load(Ordering::Relaxed)
    }

    /// `Break` if the end was requested: the answer of a progress callback.
    pub(crate) fn control_flow(&self) -> ControlFlow<()> {
        match self.is_requested() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
