//! Ctrl-C, and the end of the terminal: the first one requests a clean end, the second ends the program at once.

use crate::failure::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The user's request to end, set by SIGINT, SIGTERM or SIGHUP.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

/// The request of this process: signals belong to the process, so there is one.
static PROCESS: OnceLock<Interrupt> = OnceLock::new();

impl Interrupt {
    /// Installs the handler.
    pub(crate) fn listen() -> Result<Self, Failure> {
        if let Some(listening) = PROCESS.get() {
            return Ok(listening.clone());
        }
        let requested = Arc::new(AtomicBool::new(false));
        // `nohup` lets a program outlive its terminal, and so does this one then.
        let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
            flag::register_conditional_shutdown(signal, 1, requested.clone())
                .and_then(|_| flag::register(signal, requested.clone()))
                .map_err(Failure::from_error)?;
        }
        Ok(PROCESS.get_or_init(|| Self(requested)).clone())
    }

    /// The flag that an interrupt sets; `None` before [`listen`](Self::listen).
    pub(crate) fn process_flag() -> Option<Arc<AtomicBool>> {
        PROCESS.get().map(Self::flag)
    }

    /// Fails if the end was requested; `state` says what there is by then.
    pub(crate) fn check_process(state: &str) -> Result<(), Failure> {
        match PROCESS.get() {
            Some(request) if request.is_requested() => {
                Err(Failure::failed(format!("interrupted: {state}")))
            }
            _ => Ok(()),
        }
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

/// Returns true if the process was started with `signal` ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0) >> (signal - 1) & 1 == 1
}
