//! [`FileRequests`]: files that objects ask for, served at once or by another thread.

use super::wire::ObjectId;
use crate::disk::{FileAccess, FileReply, FileRequest};

/// Files that objects ask for.
#[derive(Debug, Default)]
pub(crate) struct FileRequests {
    pub access: FileAccess,
    /// True if another thread serves them: messages then run where nothing may wait.
    pub is_deferred: bool,
    /// True if the patch runs only to be measured: it reads, and writes nothing.
    pub is_dry: bool,
    waiting: Vec<(ObjectId, FileRequest)>,
}

impl FileRequests {
    /// Serves a request, or keeps it for [`FileRequests::take`].
    pub(super) fn ask(&mut self, object: ObjectId, request: FileRequest) -> Option<FileReply> {
        if self.is_dry
            && let Some(reply) = request.left_out()
        {
            return Some(reply);
        }
        if self.is_deferred {
            self.waiting.push((object, request));
            return None;
        }
        Some(request.serve(&self.access))
    }

    /// Returns true if a request waits.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Takes what waits. Each is served with a copy of `access`, and its reply given to [`Machine::reply`](super::Machine).
    pub(crate) fn take(&mut self) -> Vec<(ObjectId, FileRequest)> {
        std::mem::take(&mut self.waiting)
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
        machine.globals().files.is_deferred = true;
        machine.load();
        assert!(machine.take_console().is_empty(), "nothing was read yet");
        let requests = machine.globals().files.take();
        let access = machine.globals().files.access.clone();
        let served = std::thread::spawn(move || {
            let serve = requests.into_iter();
            serve
                .map(|(id, request)| (id, request.serve(&access)))
                .collect::<Vec<_>>()
        });
        for (id, reply) in served.join().expect("no panic") {
            machine.reply(id, reply);
        }
        machine.schedule(0.0, "again", &[]);
        machine.tick();
        assert_eq!(machine.take_console(), ["print: a 1"]);
        std::fs::remove_dir_all(&folder).expect("ours");
    }
}
