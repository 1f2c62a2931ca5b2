//! Ctrl-C: the first one requests a clean end, the second ends the program at once.

use crate::failure::{Failure, error_chain};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns true if the user requested the end.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Installs the handler.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_shutdown(signal, 1, asked.clone())
                .and_then(|_| flag::register(signal, asked.clone()))
                .map_err(|error| Failure::failed(error_chain(&error)))?;
        }
        Ok(Self(asked))
    }

    /// The flag that an interrupt sets.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }

    /// Returns true if the end was requested.
    pub(crate) fn is_requested(&self) -> bool {
        // Relaxed: nothing travels with it.
        self.0.load(Ordering::Relaxed)
    }
}
