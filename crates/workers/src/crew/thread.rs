//! A worker's life: it gets ready, then works a cycle at a time, and rests in between.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::{Builder, JoinHandle};

use rt::stamp::TickScale;

use super::board::{Board, Turn};
use super::{Ready, WorkerPoolOptions};
use crate::{AudioThread, CoreId, Priority, Refusal, WaitPolicy, pin, set_priority, unpin};

/// Starts worker `worker`, which says by `ready` what it was granted.
pub(super) fn spawn(
    worker: usize,
    options: &WorkerPoolOptions,
    board: Arc<Board>,
    ready: Sender<Ready>,
) -> io::Result<JoinHandle<()>> {
    let options = options.clone();
    let name = format!("{}-{worker}", options.name.replace('\0', ""));
    Builder::new().name(name).spawn(move || {
        let _plays = AudioThread::enter();
        let facts = get_ready(worker, &options);
        if let Some(start) = &options.on_thread_start {
            start(worker);
        }
        // Whoever asked for the crew has gone if this fails; then the board says stop.
        let _ = ready.send(facts);
        drop(ready);
        let linger = match options.wait {
            WaitPolicy::Hybrid => TickScale::calibrated().ticks(options.spin_before_sleep),
            WaitPolicy::Sleep | WaitPolicy::Spin => 0,
        };
        live(worker, &board, (options.wait, linger));
    })
}

/// Sets what threads inherit: core and priority, both.
fn get_ready(worker: usize, options: &WorkerPoolOptions) -> Ready {
    let mut refused = Vec::new();
    let mut granted = |asked: Result<(), Refusal>| asked.map_err(|why| refused.push(why)).is_ok();
    let core = options
        .pin
        .as_deref()
        .and_then(|cores| core_of(worker, cores));
    let is_placed = granted(core.map_or_else(unpin, pin));
    let has_priority = granted(set_priority(options.priority));
    Ready {
        worker,
        granted: if has_priority {
            options.priority
        } else {
            Priority::Ordinary
        },
        pinned: core.filter(|_| is_placed),
        refused,
    }
}

fn core_of(worker: usize, cores: &[CoreId]) -> Option<CoreId> {
    cores.get(worker.checked_rem(cores.len())?).copied()
}

/// Who has just worked lingers for so many ticks before it sleeps; who is not wanted sleeps at once.
fn live(worker: usize, board: &Board, (wait, linger): (WaitPolicy, u64)) {
    let mut place = board.place(worker);
    let mut ticks = 0;
    loop {
        match place.take() {
            Turn::Stop => return,
            Turn::Rest(cycle) => board.rest(worker, cycle, (wait, std::mem::take(&mut ticks))),
            Turn::Work(taken) => {
                ticks = linger;
                // The last resort: executors catch the panics of steps.
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| taken.work())) {
                    // To free it here might do anything.
                    std::mem::forget(panic);
                    board.count_panic();
                }
            }
        }
    }
}
