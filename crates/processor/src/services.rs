//! Services for a processor: [`SetupServices`] in its setup, [`ProcessServices`] while a step runs.

use crate::{FileLog, Gauge, MidiPorts, Transport};
use rt::background::BackgroundTask;
use rt::deferred::JobRunner;
use rt::fork::{ForkAbandoned, ForkTask};
use std::sync::Arc;
use units::Nanos;

/// Services that a processor may use in [`Processor::setup`](crate::Processor::setup), and only there.
///
/// Real-time: setup, each of them.
pub trait SetupServices {
    /// Registers a deferred job, whose pieces run beside the graph; see [`rt::deferred`].
    fn defer(&mut self, job: JobRunner);

    /// Registers a task for a thread that may wait.
    fn spawn_background(&mut self, task: Box<dyn BackgroundTask>);

    /// Returns a gauge, which the user sees under `name`.
    fn gauge(&mut self, name: &str) -> Gauge;

    /// Returns the log in which the processor and its background tasks report what went wrong with their files.
    fn file_log(&mut self) -> FileLog {
        FileLog::default()
    }

    /// Returns the transport, for a processor that follows its position. Where there is none, it rolls for ever.
    fn transport(&mut self) -> Arc<Transport> {
        Arc::default()
    }

    /// Returns the live MIDI ports. Where the driver has none, there are none.
    fn midi_ports(&mut self) -> Arc<MidiPorts> {
        Arc::default()
    }

    /// Publishes a setting that the processor found for itself, for the report: `kernels`, `partition`.
    fn publish_setting(&mut self, _name: &'static str, _value: String) {}

    /// Tells the user about a decision that the processor took by itself, for example a resampled file. `message` is in
    /// lower case, without full stop. Does nothing if there is no user.
    fn notify_user(&mut self, _message: String) {}
}

/// Services of an executor for the steps that it runs. Processors reach them through [`Block`](crate::Block).
pub trait ProcessServices: Sync {
    /// Runs the branches 0 to `count - 1` of `task`, on idle workers too, and returns when all have run.
    ///
    /// # Errors
    ///
    /// The cycle is given up, and other workers are still in branches. The step is to be left.
    ///
    /// # Panics
    ///
    /// A branch panicked; all have ended then.
    ///
    /// Real-time: hot; the wait for the last branch is part of the join of the cycle, and as bounded.
    fn fork(&self, count: u32, task: &ForkTask) -> Result<(), ForkAbandoned>;

    /// Number of workers that run this cycle, the caller included.
    ///
    /// Real-time: hot.
    fn workers(&self) -> u32 {
        1
    }

    /// Counts a deferred result that missed its deadline.
    ///
    /// Real-time: hot.
    fn count_late(&self);

    /// Time that the steps of this cycle, all together, may still spend on late results: they help or wait. Zero if
    /// they may not any more. `None` where nobody waits for the cycle (offline, or a server that freewheels): there a
    /// step waits until the result has come.
    ///
    /// Real-time: hot.
    fn time_for_late_results(&self) -> Option<Nanos>;

    /// Returns true if a step may still run pieces of late deferred work.
    ///
    /// Real-time: hot.
    fn may_help(&self) -> bool {
        self.time_for_late_results() != Some(Nanos(0))
    }
}
