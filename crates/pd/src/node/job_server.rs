//! Thread that may wait, for the jobs of messages while a patch plays live.
//!
//! ```text
//!  messages ── requests ──▶ server ── results ──▶ messages ── used ──▶ server, which frees
//! ```

use crate::control::{Job, JobResult, MAX_JOBS, ObjectId};
use crate::disk::FileAccess;
use processor::{BackgroundTask, TaskStatus};
use rtrb::{Consumer, Producer, RingBuffer};

/// Room of a queue: all jobs that may be under way, and one for the memory of symbols.
const ROOM: usize = 2 * MAX_JOBS;

/// Does jobs.
pub(super) struct JobServer {
    access: FileAccess,
    requests: Consumer<(ObjectId, Job)>,
    results: Producer<(ObjectId, JobResult)>,
    used: Consumer<JobResult>,
}

/// The messages' ends of the queues.
pub(super) struct JobClient {
    pub(super) requests: Producer<(ObjectId, Job)>,
    pub(super) results: Consumer<(ObjectId, JobResult)>,
    pub(super) used: Producer<JobResult>,
    access: FileAccess,
}

impl Drop for JobClient {
    /// Counts the files that are not written: there is memory for them, and nobody copies into it any more.
    fn drop(&mut self) {
        while let Ok((_, result)) = self.results.pop() {
            if let JobResult::Samples(_) | JobResult::WriteText { .. } = result {
                self.access.count_lost();
            }
        }
    }
}

impl JobServer {
    /// A server with the other ends of its queues.
    ///
    /// Real-time: setup.
    pub(super) fn new(access: FileAccess) -> (Self, JobClient) {
        let (request_in, requests) = RingBuffer::new(ROOM);
        let (results, result_out) = RingBuffer::new(ROOM);
        let (used_in, used) = RingBuffer::new(ROOM);
        let server = Self {
            access: access.clone(),
            requests,
            results,
            used,
        };
        let client = JobClient {
            requests: request_in,
            results: result_out,
            used: used_in,
            access,
        };
        (server, client)
    }
}

impl BackgroundTask for JobServer {
    fn poll(&mut self) -> TaskStatus {
        while self.used.pop().is_ok() {}
        if self.results.is_full() {
            return TaskStatus::Idle;
        }
        let Ok((object, job)) = self.requests.pop() else {
            return TaskStatus::Idle;
        };
        let result = job.serve(&self.access);
        // There is room, and nobody else writes.
        let _ = self.results.push((object, result));
        TaskStatus::More
    }

    fn end(&mut self) {
        // What was asked for before the end is written. For the first half of a write there are no samples any more.
        while let Ok((_, job)) = self.requests.pop() {
            match job {
                Job::Samples { .. } | Job::WriteText { .. } => self.access.count_lost(),
                job => drop(job.serve(&self.access)),
            }
        }
    }
}
