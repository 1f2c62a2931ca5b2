//! The thread of a worker: its set-up, and its loop of work and waits.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::{Builder, JoinHandle};

use rt::stamp::TickScale;

use super::job_board::{JobBoard, NextAction};
use super::options::WorkerPoolOptions;
use crate::{AudioThread, CoreId, Priority, Refusal, WaitPolicy, pin, set_priority, unpin};

/// Requests that the system granted to one thread.
pub(super) struct ThreadGrants {
    pub(super) worker: usize,
    pub(super) granted: Priority,
    pub(super) pinned: Option<CoreId>,
    pub(super) refused: Vec<Refusal>,
}

/// Starts the thread of `worker`. The thread sends what the system granted it by `ready`.
pub(super) fn spawn(
    worker: usize,
    options: &WorkerPoolOptions,
    board: Arc<JobBoard>,
    ready: Sender<ThreadGrants>,
) -> io::Result<JoinHandle<()>> {
    let options = options.clone();
    let name = format!("{}-{worker}", options.name.replace('\0', ""));
    Builder::new().name(name).spawn(move || {
        let grants = set_up(worker, &options);
        if let Some(start) = &options.on_thread_start {
            start(worker);
        }
        // This fails if the pool was dropped meanwhile. Then `run` finds that the board is stopping.
        let _ = ready.send(grants);
        drop(ready);
        // Last: what comes before may allocate and free, and nothing after it does.
        let _audio_thread = AudioThread::enter();
        let spin_ticks = match options.wait {
            WaitPolicy::Hybrid => TickScale::calibrated().ticks(options.spin_before_sleep),
            WaitPolicy::Sleep | WaitPolicy::Spin => 0,
        };
        run(worker, &board, (options.wait, spin_ticks));
    })
}

/// Sets core and priority, even to the defaults: a thread inherits both from the thread that started it.
fn set_up(worker: usize, options: &WorkerPoolOptions) -> ThreadGrants {
    let mut refused = Vec::new();
    let mut is_granted =
        |asked: Result<(), Refusal>| asked.map_err(|why| refused.push(why)).is_ok();
    let core = options
        .pin
        .as_deref()
        .and_then(|cores| core_of(worker, cores));
    let is_pinned = is_granted(core.map_or_else(unpin, pin));
    let has_priority = is_granted(set_priority(options.priority));
    ThreadGrants {
        worker,
        granted: if has_priority {
            options.priority
        } else {
            Priority::Ordinary
        },
        pinned: core.filter(|_| is_pinned),
        refused,
    }
}

fn core_of(worker: usize, cores: &[CoreId]) -> Option<CoreId> {
    cores.get(worker.checked_rem(cores.len())?).copied()
}

/// Works until the pool stops. A worker that has just worked spins for `spin_ticks` before it sleeps; one that found no
/// work sleeps at once.
fn run(worker: usize, board: &JobBoard, (policy, spin_ticks): (WaitPolicy, u64)) {
    let mut receiver = board.receiver(worker);
    let mut ticks = 0;
    loop {
        match receiver.next() {
            NextAction::Stop => return,
            NextAction::Wait(cycle) => {
                board.wait(worker, cycle, (policy, std::mem::take(&mut ticks)));
            }
            NextAction::Work(job) => {
                ticks = spin_ticks;
                // The last resort: executors catch the panics of steps.
                if let Err(payload) = catch_unwind(AssertUnwindSafe(|| job.work())) {
                    // Its destructor may allocate, lock or panic.
                    std::mem::forget(payload);
                }
            }
        }
    }
}
