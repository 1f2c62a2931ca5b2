//! Thread that may wait, for the jobs of messages while a patch plays live.
//!
//! ```text
//!  messages ── requests ──▶ server ── results ──▶ messages ── used ──▶ server, which frees
//! ```

use super::editor::{Editor, EditorClient};
use super::net_server::NetServer;
use crate::control::{Job, JobResult, MAX_JOBS, ObjectId};
use crate::disk::FileAccess;
use crate::signal::MessageStep;
use processor::{BackgroundTask, TaskStatus};
use rtrb::{Consumer, Producer, RingBuffer};

/// Room of a queue: all jobs that may be under way, and one for the memory of symbols.
const ROOM: usize = 2 * MAX_JOBS;

/// Does jobs.
pub(super) struct JobServer {
    editor: Editor,
    access: FileAccess,
    requests: Consumer<(ObjectId, Job)>,
    results: Producer<(ObjectId, JobResult)>,
    used: Consumer<JobResult>,
    /// Work of sub-patches.
    tasks: Vec<Box<dyn BackgroundTask>>,
}

/// The messages' ends of the queues.
pub(crate) struct JobClient {
    requests: Producer<(ObjectId, Job)>,
    results: Consumer<(ObjectId, JobResult)>,
    used: Producer<JobResult>,
    access: FileAccess,
    /// Changes the patch.
    pub(super) editor: EditorClient,
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
    fn new(access: FileAccess, tasks: Vec<Box<dyn BackgroundTask>>) -> (Self, JobClient) {
        let (request_in, requests) = RingBuffer::new(ROOM);
        let (results, result_out) = RingBuffer::new(ROOM);
        let (used_in, used) = RingBuffer::new(ROOM);
        let (editor, editor_client) = Editor::new();
        let server = Self {
            editor,
            access: access.clone(),
            requests,
            results,
            used,
            tasks,
        };
        let client = JobClient {
            requests: request_in,
            results: result_out,
            used: used_in,
            access,
            editor: editor_client,
        };
        (server, client)
    }
}

impl JobServer {
    /// Works for sub-patches.
    fn poll_tasks(&mut self) -> TaskStatus {
        let mut status = TaskStatus::Idle;
        self.tasks.retain_mut(|task| match task.poll() {
            TaskStatus::Done => {
                task.end();
                false
            }
            TaskStatus::More => {
                status = TaskStatus::More;
                true
            }
            TaskStatus::Idle => true,
        });
        status
    }
}

impl JobClient {
    /// Takes the results that have come.
    ///
    /// Real-time: hot.
    pub(crate) fn take_results(&mut self, step: &mut MessageStep) {
        while step.has_room() {
            let Ok((object, result)) = self.results.pop() else {
                return;
            };
            step.keep_result(object, result);
        }
    }

    /// Passes on what objects ask for, and gives back what they have used.
    ///
    /// Real-time: hot.
    pub(crate) fn ask(&mut self, step: &mut MessageStep) {
        for job in step.jobs().drain() {
            // There is room: no more are under way than the queue takes.
            let _ = self.requests.push(job);
        }
        while !self.used.is_full()
            && let Some(used) = step.take_used()
        {
            let _ = self.used.push(used);
        }
    }
}

/// Gives what waits to other threads from now on: each takes a task.
///
/// Real-time: setup.
pub(crate) fn live_services(
    step: &mut MessageStep,
    spawn: &mut dyn FnMut(Box<dyn BackgroundTask>),
) -> JobClient {
    let jobs = step.jobs();
    jobs.is_deferred = true;
    let tasks = std::mem::take(&mut jobs.tasks);
    let (server, client) = JobServer::new(jobs.access.clone(), tasks);
    spawn(Box::new(server));
    if let Some(service) = step.machine().take_net() {
        spawn(Box::new(NetServer(service)));
    }
    client
}

impl BackgroundTask for JobServer {
    fn poll(&mut self) -> TaskStatus {
        while self.used.pop().is_ok() {}
        // Changes that come one behind the other keep neither sub-patches nor files waiting.
        let has_edited = self.editor.serve();
        let has_more = match self.poll_tasks() {
            _ if has_edited => TaskStatus::More,
            status => status,
        };
        if self.results.is_full() {
            return has_more;
        }
        let Ok((object, job)) = self.requests.pop() else {
            return match self.requests.is_abandoned() && self.tasks.is_empty() {
                true => TaskStatus::Done,
                false => has_more,
            };
        };
        let mut result = job.serve(&self.access);
        if let JobResult::Opened(Ok(opened)) = &mut result {
            self.tasks.append(&mut opened.tasks);
        }
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
        self.tasks.iter_mut().for_each(|task| task.end());
    }
}
