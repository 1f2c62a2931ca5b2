//! `file handle` and `file define`: a file byte by byte (`x_file.c`).

use super::super::context::Context;
use super::super::globals::Globals;
use super::super::jobs::{Job, JobResult};
use super::super::object::{Handled, Object};
use super::super::symbol::{Symbol, words};
use super::super::value::{Message, Value};
use super::super::wire::ObjectId;
use super::Making;
use crate::disk::{
    FileName, FileReply, FileRequest, HandleMode, HandleReply, HandleRequest, SeekFrom, ShortText,
};
use std::path::Path;
use std::sync::Arc;

/// Bytes that one message reads, at most.
const MAX_READ: usize = 1 << 20;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    let function = making.symbol(0).unwrap_or(words::EMPTY);
    let (defined, globals) = (making.symbol(1), &mut *making.globals);
    let (files, access) = (&mut globals.open_files, &globals.jobs.access);
    match globals.symbols.text(function) {
        "define" => Some(Box::new(Define {
            own: files.add(defined, access),
        })),
        "handle" | "" => {
            let name = match making.values {
                [_, .., Value::Symbol(name)] if !globals.symbols.text(*name).starts_with('-') => {
                    Some(*name)
                }
                _ => None,
            };
            Some(Box::new(Handle {
                own: files.add(None, access),
                name,
                folder: Path::new(".").into(),
            }))
        }
        _ => None,
    }
}

/// Keeps a file that several `file handle` share.
struct Define {
    /// Its file among all.
    own: usize,
}

impl Object for Define {
    fn removed(&mut self, own: ObjectId, globals: &mut Globals) {
        let Globals {
            open_files, jobs, ..
        } = globals;
        open_files.remove(self.own, own, jobs);
    }

    fn anything(&mut self, _: Message<'_>, _: &mut Context<'_>) -> Handled {
        Handled::Yes
    }
}

struct Handle {
    /// Its own file among all.
    own: usize,
    /// The `file define` whose file it uses instead.
    name: Option<Symbol>,
    folder: Arc<Path>,
}

fn print(line: &str, context: &mut Context<'_>) {
    context.print_with(|_, to| write!(to, "error: file handle: {line}"));
}

/// Says that bytes are not written.
fn lose(why: &str, context: &mut Context<'_>) {
    context.print_with(|_, to| write!(to, "error: file handle: write failed: {why}"));
    context.globals().jobs.access.count_lost();
}

/// The byte that Pd makes of a number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as C does it"
)]
fn byte(value: Value) -> u8 {
    let number = value.number();
    match number.abs() < 2_147_483_648.0 {
        true => number as i32 as u8,
        false => 0,
    }
}

impl Handle {
    /// The file that it uses.
    fn file(&self, context: &mut Context<'_>) -> Option<usize> {
        let Some(name) = self.name else {
            return Some(self.own);
        };
        let found = context.globals().open_files.find(name);
        if found.is_none() {
            context.print_with(|symbols, to| {
                let name = symbols.text(name);
                write!(to, "error: file handle: couldn't find file-define '{name}'")
            });
        }
        found
    }

    /// The file, its number and whether it is written; says so where it is not open.
    fn opened(&self, command: &str, context: &mut Context<'_>) -> Option<(usize, u64, bool)> {
        let at = self.file(context)?;
        let open = context.globals().open_files.get(at).open;
        if open.is_none() {
            context.print_with(|_, to| {
                write!(to, "error: file handle: '{command}' without prior 'open'")
            });
        }
        open.map(|(number, is_written)| (at, number, is_written))
    }

    fn ask(&mut self, request: HandleRequest, context: &mut Context<'_>) {
        let opens = match request {
            HandleRequest::Open { number, .. } => Some(number),
            _ => None,
        };
        let result = context.ask(Job::File(FileRequest::Handle(request)));
        if let (Some(JobResult::Refused), Some(number)) = (&result, opens) {
            context.globals().open_files.forget(number);
        }
        if let Some(mut result) = result {
            self.reply(&mut result, context);
        }
    }

    /// Gives what waits away to be written.
    fn flush(&mut self, at: usize, context: &mut Context<'_>) {
        let own = context.own();
        let Globals {
            open_files, jobs, ..
        } = context.globals();
        if let Some(mut result) = open_files.flush(at, own, jobs) {
            open_files.take_back(&mut result, own, jobs);
            self.reply(&mut result, context);
        }
    }

    fn open(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let [Value::Symbol(name), rest @ ..] = values else {
            return Handled::No;
        };
        let Some(at) = self.file(context) else {
            return Handled::Yes;
        };
        if context.globals().open_files.get(at).open.is_some() {
            print("'open' without prior 'close'", context);
            return Handled::Yes;
        }
        let mode = match rest {
            [Value::Symbol(mode), ..] => context.symbols().text(*mode).as_bytes().first(),
            _ => None,
        };
        let mode = match mode {
            Some(b'w') => HandleMode::Write,
            Some(b'a') => HandleMode::Append,
            Some(b'c') => HandleMode::Create,
            _ => HandleMode::Read,
        };
        let Some(name) = ShortText::new(&[context.symbols().text(*name)]) else {
            print("the name is too long", context);
            context.send_bang(1);
            return Handled::Yes;
        };
        let is_written = mode != HandleMode::Read;
        let number = context.globals().open_files.get(at).begin(is_written);
        let folder = self.folder.clone();
        let name = FileName { folder, name };
        self.ask(HandleRequest::Open { number, name, mode }, context);
        Handled::Yes
    }

    fn close(&mut self, context: &mut Context<'_>) {
        let Some(at) = self.file(context) else {
            return;
        };
        self.flush(at, context);
        let own = context.own();
        let Globals {
            open_files, jobs, ..
        } = context.globals();
        if !open_files.close(at, own, jobs) {
            lose("too many files at once", context);
        }
    }

    fn seek(&mut self, values: &[Value], context: &mut Context<'_>) {
        let (offset, from) = match values {
            [] => (0.0, SeekFrom::Current),
            [Value::Float(offset)] => (*offset, SeekFrom::Start),
            [Value::Float(offset), Value::Symbol(mode)] => {
                let mode = context.symbols().text(*mode).as_bytes().first();
                let from = match mode.map(u8::to_ascii_lowercase) {
                    Some(b's') | None => SeekFrom::Start,
                    Some(b'e') => SeekFrom::End,
                    Some(b'c' | b'r') => SeekFrom::Current,
                    _ => {
                        return print(
                            "seek mode must be 'set', 'end' or 'current' (resp. 'relative')",
                            context,
                        );
                    }
                };
                (*offset, from)
            }
            _ => return print("usage: seek [<int:offset> [<symbol:mode>]]", context),
        };
        if let Some((at, number, _)) = self.opened("seek", context) {
            self.flush(at, context);
            #[expect(clippy::cast_possible_truncation, reason = "as in Pd")]
            let offset = i64::from(offset as i32);
            let request = HandleRequest::Seek {
                number,
                offset,
                from,
            };
            self.ask(request, context);
        }
    }

    fn read(&mut self, number: u64, values: &[Value], context: &mut Context<'_>) {
        let [Value::Float(count)] = values else {
            return print(
                "no way to handle 'list' messages while reading file",
                context,
            );
        };
        if *count < 1.0 || count.is_nan() {
            let count = count.trunc();
            return context
                .print_with(|_, to| write!(to, "error: file handle: cannot read {count} bytes"));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at least 1"
        )]
        let count = (*count as usize).min(MAX_READ);
        self.ask(HandleRequest::Read { number, count }, context);
    }

    fn write(&mut self, at: usize, values: &[Value], context: &mut Context<'_>) {
        if context.globals().jobs.is_dry {
            return;
        }
        let mut rest = values;
        while !rest.is_empty() {
            let bytes = rest.iter().map(|value| byte(*value));
            match context.globals().open_files.fill(at, bytes.clone()) {
                0 => {
                    self.flush(at, context);
                    let files = &mut context.globals().open_files;
                    if files.get(at).open.is_none() {
                        // The disk did not take it, which was said.
                        return;
                    }
                    if files.fill(at, bytes.take(1)) == 0 {
                        return lose("the disk is too slow", context);
                    }
                    rest = &rest[1..];
                }
                count => rest = &rest[count..],
            }
        }
        if !context.globals().open_files.get(at).is_writing() {
            self.flush(at, context);
        }
    }

    /// Takes what came of a request; true if it is told by a bang.
    fn settle(&mut self, reply: &HandleReply, context: &mut Context<'_>) -> bool {
        let files = &mut context.globals().open_files;
        match reply {
            HandleReply::Opened(_, Ok(())) | HandleReply::Closed => return false,
            HandleReply::Opened(number, Err(why)) | HandleReply::Read(number, Err(Some(why))) => {
                files.forget(*number);
                print(why, context);
            }
            HandleReply::Read(number, Err(None)) => {
                files.forget(*number);
                print("'read' without prior 'open'", context);
                return false;
            }
            HandleReply::Read(number, Ok(bytes)) if bytes.is_empty() => files.forget(*number),
            HandleReply::Read(_, Ok(bytes)) => {
                context.with_line(|line, context| {
                    line.extend(bytes.iter().map(|byte| Value::Float(f32::from(*byte))));
                    context.send_list(0, line);
                });
                return false;
            }
            HandleReply::Written(_, _, Ok(())) => return false,
            HandleReply::Written(_, _, Err(why)) => {
                context.print_with(|_, to| write!(to, "error: file handle: write failed: {why}"));
            }
            HandleReply::Sought(Some(place)) => {
                #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
                let values = &[Value::Float(*place as f32)];
                let selector = context.symbols().intern("seek");
                context.send(1, Message { selector, values });
                return false;
            }
            HandleReply::Sought(None) => {
                print("'seek' without prior 'open'", context);
                return false;
            }
        }
        true
    }
}

impl Object for Handle {
    fn removed(&mut self, own: ObjectId, globals: &mut Globals) {
        let Globals {
            open_files, jobs, ..
        } = globals;
        open_files.remove(self.own, own, jobs);
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        if let Some((at, number, is_written)) = self.opened("read", context) {
            match is_written {
                true => self.write(at, values, context),
                false => self.read(number, values, context),
            }
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match context.symbols().text(message.selector) {
            "open" => return self.open(message.values, context),
            "close" => self.close(context),
            "seek" => self.seek(message.values, context),
            "set" => return self.cold(1, message, context),
            "verbose" | "creationmode" => {}
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        let name = match message.values {
            [Value::Symbol(name), ..] => *name,
            [] => words::EMPTY,
            [_, ..] => return Handled::No,
        };
        self.name = (name != words::EMPTY).then_some(name);
        if self.name.is_some() && context.globals().open_files.get(self.own).open.is_some() {
            print("shadowing the file that is open", context);
        }
        Handled::Yes
    }

    fn reply(&mut self, result: &mut JobResult, context: &mut Context<'_>) {
        let is_told = match result {
            JobResult::File(FileReply::Handle(reply)) => self.settle(reply, context),
            _ => {
                print("too many files at once", context);
                true
            }
        };
        if is_told {
            context.send_bang(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::control::Machine;
    use crate::file::Atom;
    use crate::load::{SearchPath, load_patch};
    use std::path::{Path, PathBuf};

    /// Serves what waits as other threads do: changes of the patch, and one job a block.
    fn serve(machine: &mut Machine, blocks: usize) {
        let access = machine.globals().jobs.access.clone();
        let mut queue = std::collections::VecDeque::new();
        for block in 0..blocks {
            while machine.waits_for_edits() {
                machine.make_edits();
                machine.go_on_after_edits(block as u64);
            }
            queue.extend(machine.globals().jobs.drain());
            if let Some((id, job)) = queue.pop_front() {
                let mut result = job.serve(&access);
                machine.reply(id, &mut result);
            }
            machine.tick();
        }
    }

    /// The machine of a patch in a folder, in which it may write. Another thread does what waits.
    fn deferred(folder: &Path, patch: &str) -> (Machine, crate::LoadedPatch) {
        let path = folder.join("p.pd");
        std::fs::write(&path, patch).expect("writable");
        let mut loaded = load_patch(&path, &SearchPath::only([])).expect("it is there");
        loaded.allow_write(folder);
        let (mut machine, not_yet) = Machine::build(&loaded, 44_100.0);
        assert!(not_yet.is_empty(), "{not_yet:?}");
        machine.globals().jobs.is_deferred = true;
        (machine, loaded)
    }

    #[test]
    fn bytes_keep_their_order_while_another_thread_writes_them() {
        let folder = std::env::temp_dir().join(format!("divisi-pd-byte-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let patch = format!(
            "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X obj 0 0 t b b b;\n#X msg 0 0 open {0}/b c;\n#X obj 0 0 until;\n#X obj 0 0 f;\n\
             #X obj 0 0 + 1;\n#X obj 0 0 sel 20000;\n#X msg 0 0 seek \\, close \\, open {0}/b \\, 3;\n#X obj 0 0 file handle;\n#X obj 0 0 print;\n\
             #X connect 0 0 1 0;\n#X connect 1 2 2 0;\n#X connect 2 0 8 0;\n#X connect 1 1 3 0;\n#X connect 3 0 4 0;\n\
             #X connect 4 0 5 0;\n#X connect 5 0 4 1;\n#X connect 4 0 8 0;\n#X connect 5 0 6 0;\n#X connect 6 0 3 1;\n\
             #X connect 1 0 7 0;\n#X connect 7 0 8 0;\n#X connect 8 0 9 0;\n#X connect 8 1 9 0;\n",
            folder.display()
        );
        let (mut machine, loaded) = deferred(&folder, &patch);
        machine.load();
        assert!(!folder.join("b").exists(), "nothing was written yet");
        serve(&mut machine, 40);
        let written = std::fs::read(folder.join("b")).expect("there");
        #[expect(clippy::cast_possible_truncation, reason = "as written")]
        let expected = Vec::from_iter((0..20_000_u32).map(|n| n as u8));
        assert!(written == expected, "{} bytes", written.len());
        assert_eq!(
            machine.take_console(),
            ["print: seek 20000", "print: 0 1 2"]
        );
        assert_eq!(loaded.lost_writes(), 0);
        std::fs::remove_dir_all(&folder).expect("ours");
    }

    /// A machine whose files another thread writes, with a canvas `st` into which messages put boxes.
    fn with_boxes(name: &str, message: &str) -> (Machine, crate::LoadedPatch, PathBuf) {
        let folder = std::env::temp_dir().join(format!("divisi-pd-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let message = message.replace("FILE", &folder.join("b").display().to_string());
        let patch = format!(
            "#N canvas 0 0 9 9 12;\n#N canvas 0 0 9 9 st 0;\n#X restore 0 0 pd st;\n#X obj 0 0 r go;\n#X obj 0 0 until;\n\
             #X msg 0 0 {message};\n#X obj 0 0 file define d;\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n"
        );
        let (mut machine, loaded) = deferred(&folder, &patch);
        machine.reserve_edits();
        machine.load();
        (machine, loaded, folder)
    }

    fn mistakes(machine: &mut Machine) -> Vec<String> {
        let mut lines = machine.take_console();
        lines.retain(|line| line.contains("error"));
        lines
    }

    #[test]
    fn bytes_outlive_the_boxes_that_have_sent_them() {
        let cleared = "pd-st obj 0 0 r q \\; pd-st obj 0 0 file handle HOW \\; pd-st connect 0 0 1 0 \\; q open FILE c \\; q 65 \\; q 66 \\; pd-st clear";
        let again =
            "pd-st obj 0 0 r q \\; pd-st obj 0 0 file handle d \\; pd-st connect 0 0 1 0 \\; q 67";
        for (name, how, message) in [
            ("own", "", format!("\\; {cleared}")),
            ("shared", "d", format!("\\; {cleared} \\; {again}")),
        ] {
            let (mut machine, loaded, folder) = with_boxes(name, &message.replace("HOW", how));
            machine.schedule(0.0, "go", &[Atom::Float(1.0)]);
            machine.tick();
            serve(&mut machine, 20);
            assert_eq!(mistakes(&mut machine), [""; 0], "{name}");
            let expected = if how == "d" { "ABC" } else { "AB" };
            let written = std::fs::read_to_string(folder.join("b")).expect("there");
            assert_eq!(written, expected, "{name}");
            drop(machine);
            assert_eq!(loaded.lost_writes(), 0);
            std::fs::remove_dir_all(&folder).expect("ours");
        }
    }

    #[test]
    fn files_of_removed_boxes_are_closed_once_there_is_room() {
        // Two jobs of each fit into those that may be under way, and the closes do not.
        let boxes: String = (1..33)
            .map(|at| format!("\\; pd-st obj 0 0 file handle \\; pd-st connect 0 0 {at} 0 "))
            .collect();
        let message =
            format!("\\; pd-st obj 0 0 r q {boxes}\\; q open FILE a \\; q 65 \\; pd-st clear");
        let (mut machine, loaded, folder) = with_boxes("room", &message);
        for _ in 0..3 {
            machine.schedule(0.0, "go", &[Atom::Float(1.0)]);
            machine.tick();
            serve(&mut machine, 120);
        }
        assert_eq!(mistakes(&mut machine), [""; 0]);
        let written = std::fs::read(folder.join("b")).expect("there");
        assert_eq!((written, loaded.lost_writes()), (vec![65; 96], 0));
        std::fs::remove_dir_all(&folder).expect("ours");
    }
}
