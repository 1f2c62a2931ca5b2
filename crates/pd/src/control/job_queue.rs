//! [`Jobs`]: what objects ask for, done at once or by another thread.

use super::jobs::{Job, JobResult};
use super::wire::ObjectId;
use crate::disk::FileAccess;
use processor::BackgroundTask;
use std::fmt;

/// Jobs that are under way, at most.
pub(crate) const MAX_JOBS: usize = 64;

/// Jobs that objects ask for.
pub(crate) struct Jobs {
    pub access: FileAccess,
    /// True if another thread does them: messages then run where nothing may wait.
    pub is_deferred: bool,
    /// True if the patch runs only to be measured: it reads, and writes nothing.
    pub is_dry: bool,
    waiting: Vec<(ObjectId, Job)>,
    /// Jobs that were asked for and have no result yet.
    under_way: usize,
    /// Memory that objects have done with, to be freed elsewhere.
    used: Vec<JobResult>,
    /// Work of sub-patches for another thread, until one takes it.
    pub tasks: Vec<Box<dyn BackgroundTask>>,
}

impl fmt::Debug for Jobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} jobs", self.under_way)
    }
}

impl Default for Jobs {
    fn default() -> Self {
        Self {
            access: FileAccess::default(),
            is_deferred: false,
            is_dry: false,
            waiting: Vec::with_capacity(MAX_JOBS + 1),
            under_way: 0,
            used: Vec::with_capacity(MAX_JOBS),
            tasks: Vec::new(),
        }
    }
}

impl Jobs {
    /// Does a job, or keeps it for [`Jobs::drain`].
    ///
    /// Real-time: waits, on the disk; hot where another thread does it.
    pub(super) fn ask(&mut self, object: ObjectId, job: Job) -> Option<JobResult> {
        if self.is_dry
            && let Some(result) = job.left_out()
        {
            return Some(result);
        }
        if !self.is_deferred {
            return Some(job.serve(&self.access));
        }
        if self.under_way >= MAX_JOBS {
            if job.is_write() {
                self.access.count_lost();
            }
            return Some(JobResult::Refused);
        }
        self.keep(object, job);
        None
    }

    /// Returns true if one more job would be refused.
    pub(crate) fn is_full(&self) -> bool {
        self.is_deferred && self.under_way >= MAX_JOBS
    }

    /// Asks for memory for symbols: one more job than objects may ask for.
    pub(super) fn keep(&mut self, object: ObjectId, job: Job) {
        self.under_way += 1;
        self.waiting.push((object, job));
    }

    /// Counts a result that has come.
    pub(super) fn end_one(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
    }

    /// Keeps something to be freed where memory may be freed: another thread does it while the patch plays live.
    ///
    /// Real-time: hot; where too much waits, it is freed here.
    pub(crate) fn retire(&mut self, used: JobResult) {
        if self.is_deferred && self.used.len() < self.used.capacity() {
            self.used.push(used);
        }
    }

    /// Takes something that is to be freed.
    ///
    /// Real-time: hot.
    pub(crate) fn take_used(&mut self) -> Option<JobResult> {
        self.used.pop()
    }

    /// Takes what waits. Each is done with a copy of `access`, and its result given to [`Machine::reply`](super::Machine).
    ///
    /// Real-time: hot.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (ObjectId, Job)> + '_ {
        self.waiting.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use crate::control::Machine;
    use crate::load::{SearchPath, load_patch};

    #[test]
    fn another_thread_serves_what_messages_ask_for() {
        let folder =
            std::env::temp_dir().join(format!("divisi-pd-deferred-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        std::fs::write(folder.join("t.txt"), "a 1;\nb 2;\n").expect("writable");
        let patch = "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X msg 0 0 read t.txt \\, rewind \\, bang;\n\
                     #X obj 0 0 textfile;\n#X obj 0 0 print;\n#X obj 0 0 r again;\n#X msg 0 0 rewind \\, bang;\n\
                     #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n#X connect 4 0 5 0;\n#X connect 5 0 2 0;\n";
        let path = folder.join("p.pd");
        std::fs::write(&path, patch).expect("writable");
        let loaded = load_patch(&path, &SearchPath::only([])).expect("it is there");
        let (mut machine, not_yet) = Machine::build(&loaded, 44_100.0);
        assert!(not_yet.is_empty(), "{not_yet:?}");
        machine.globals().jobs.is_deferred = true;
        machine.load();
        assert!(machine.take_console().is_empty(), "nothing was read yet");
        let requests = machine.globals().jobs.drain().collect::<Vec<_>>();
        let access = machine.globals().jobs.access.clone();
        let served = std::thread::spawn(move || {
            let serve = requests.into_iter();
            serve
                .map(|(id, job)| (id, job.serve(&access)))
                .collect::<Vec<_>>()
        });
        for (id, mut result) in served.join().expect("no panic") {
            machine.reply(id, &mut result);
        }
        machine.schedule(0.0, "again", &[]);
        machine.tick();
        assert_eq!(machine.take_console(), ["print: a 1"]);
        std::fs::remove_dir_all(&folder).expect("ours");
    }
}
