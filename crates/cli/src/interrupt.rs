//! Ctrl-C: the first asks for a clean end, the second ends at once.

use crate::failure::{Failure, error_chain};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user has asked for the end.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_shutdown(signal, 1, asked.clone())
                .and_then(|_| flag::register(signal, asked.clone()))
                .map_err(|error| Failure::failed(error_chain(&error)))?;
        }
        Ok(Self(asked))
    }

    /// What is set then.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }

    /// Whether the end was asked for.
    pub(crate) fn is_requested(&self) -> bool {
        // Relaxed: nothing travels with it.
        self.0.load(Ordering::Relaxed)
    }
}
