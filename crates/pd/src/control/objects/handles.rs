//! `file handle` and `file define`: a file byte by byte (`x_file.c`).

use super::super::globals::Globals;
use super::super::jobs::{Job, JobResult};
use super::super::object::{Context, Handled, Object};
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
    let access = making.globals.jobs.access.clone();
    let symbols = &making.globals.symbols;
    match symbols.text(function) {
        "define" => {
            let name = making.symbol(1);
            let own = making.globals.open_files.add(name, access);
            Some(Box::new(Define { own }))
        }
        "handle" | "" => {
            let name = match making.values {
                [_, .., Value::Symbol(name)] if !symbols.text(*name).starts_with('-') => {
                    Some(*name)
                }
                _ => None,
            };
            Some(Box::new(Handle {
                own: making.globals.open_files.add(None, access),
                name,
                folder: Path::new(".").into(),
                asked: std::collections::VecDeque::with_capacity(64),
                written: 0,
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
        close_removed(self.own, own, globals);
    }

    fn anything(&mut self, _: Message<'_>, _: &mut Context<'_>) -> Handled {
        Handled::Yes
    }
}

/// Writes what the file of a removed box holds, and closes it.
fn close_removed(file: usize, own: ObjectId, globals: &mut Globals) {
    let (bytes, number) = globals.open_files.remove(file);
    let Some(number) = number else { return };
    let write = bytes.map(|bytes| HandleRequest::Write { number, bytes });
    for request in write.into_iter().chain([HandleRequest::Close(number)]) {
        let is_write = matches!(request, HandleRequest::Write { .. });
        let job = Job::File(FileRequest::Handle(request));
        if let Some(JobResult::Refused) = globals.jobs.ask(own, job)
            && is_write
        {
            globals.jobs.access.count_lost();
        }
    }
}

struct Handle {
    /// Its own file among all.
    own: usize,
    /// The `file define` whose file it uses instead.
    name: Option<Symbol>,
    folder: Arc<Path>,
    /// For which files the results are that are still to come.
    asked: std::collections::VecDeque<usize>,
    /// How many of these are pieces that are being written.
    written: usize,
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

    fn ask(&mut self, at: usize, request: HandleRequest, context: &mut Context<'_>) {
        let opens = match request {
            HandleRequest::Open { number, .. } => Some(number),
            _ => None,
        };
        self.asked.push_back(at);
        let Some(mut result) = context.ask(Job::File(FileRequest::Handle(request))) else {
            return;
        };
        if let JobResult::Refused = result {
            // It is the last of those that wait.
            self.asked.rotate_right(1);
            if let Some(number) = opens {
                context.globals().open_files.get(at).forget(number);
            }
        }
        self.reply(&mut result, context);
    }

    /// Gives what waits away to be written, where there is room for a job more.
    fn flush(&mut self, at: usize, number: u64, context: &mut Context<'_>) {
        if context.globals().jobs.is_full() {
            return;
        }
        if let Some(bytes) = context.globals().open_files.get(at).take_piece() {
            self.written += 1;
            self.ask(at, HandleRequest::Write { number, bytes }, context);
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
        self.ask(at, HandleRequest::Open { number, name, mode }, context);
        Handled::Yes
    }

    fn close(&mut self, context: &mut Context<'_>) {
        let Some(at) = self.file(context) else {
            return;
        };
        if let Some((number, _)) = context.globals().open_files.get(at).open {
            self.flush(at, number, context);
            let file = context.globals().open_files.get(at);
            file.forget(number);
            if !file.filling.is_empty() {
                file.filling.clear();
                lose("too many files at once", context);
            }
            self.ask(at, HandleRequest::Close(number), context);
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
            self.flush(at, number, context);
            #[expect(clippy::cast_possible_truncation, reason = "as in Pd")]
            let offset = i64::from(offset as i32);
            let request = HandleRequest::Seek {
                number,
                offset,
                from,
            };
            self.ask(at, request, context);
        }
    }

    fn read(&mut self, at: usize, number: u64, values: &[Value], context: &mut Context<'_>) {
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
        self.ask(at, HandleRequest::Read { number, count }, context);
    }

    fn write(&mut self, at: usize, number: u64, values: &[Value], context: &mut Context<'_>) {
        if context.globals().jobs.is_dry {
            return;
        }
        let mut rest = values;
        while !rest.is_empty() {
            let file = context.globals().open_files.get(at);
            if file.room() == 0 {
                self.flush(at, number, context);
            }
            let file = context.globals().open_files.get(at);
            let (now, later) = rest.split_at(rest.len().min(file.room()));
            if now.is_empty() {
                return lose("the disk is too slow", context);
            }
            file.filling.extend(now.iter().map(|value| byte(*value)));
            rest = later;
        }
        if context.globals().open_files.get(at).under_way == 0 {
            self.flush(at, number, context);
        }
    }

    /// Takes what came of a request; true if it is told by a bang.
    fn settle(&mut self, at: usize, reply: &mut HandleReply, context: &mut Context<'_>) -> bool {
        let file = context.globals().open_files.get(at);
        match reply {
            HandleReply::Opened(_, Ok(())) | HandleReply::Closed => return false,
            HandleReply::Opened(number, Err(why)) | HandleReply::Read(number, Err(Some(why))) => {
                file.forget(*number);
                print(why, context);
            }
            HandleReply::Read(number, Err(None)) => {
                file.forget(*number);
                print("'read' without prior 'open'", context);
                return false;
            }
            HandleReply::Read(number, Ok(bytes)) if bytes.is_empty() => file.forget(*number),
            HandleReply::Read(_, Ok(bytes)) => {
                context.with_line(|line, context| {
                    line.extend(bytes.iter().map(|byte| Value::Float(f32::from(*byte))));
                    context.send_list(0, line);
                });
                return false;
            }
            HandleReply::Written(number, bytes, result) => {
                file.give_back(std::mem::take(bytes));
                self.written = self.written.saturating_sub(1);
                let is_open = file.open.is_some_and(|open| open.0 == *number);
                let Err(why) = result else {
                    if is_open {
                        self.flush(at, *number, context);
                    }
                    return false;
                };
                if is_open {
                    file.forget(*number);
                    file.filling.clear();
                }
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
        if let Some(shared) = self.name.and_then(|name| globals.open_files.find(name)) {
            globals.open_files.get(shared).replace_pieces(self.written);
        }
        close_removed(self.own, own, globals);
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        if let Some((at, number, is_written)) = self.opened("read", context) {
            match is_written {
                true => self.write(at, number, values, context),
                false => self.read(at, number, values, context),
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
        let Some(at) = self.asked.pop_front() else {
            return;
        };
        let is_told = match result {
            JobResult::File(FileReply::Handle(reply)) => self.settle(at, reply, context),
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
    use crate::load::{SearchPath, load_patch};

    /// Serves what waits as another thread does, one job a block.
    fn serve(machine: &mut Machine, blocks: usize) {
        let access = machine.globals().jobs.access.clone();
        let mut queue = std::collections::VecDeque::new();
        for _ in 0..blocks {
            queue.extend(machine.globals().jobs.drain());
            if let Some((id, job)) = queue.pop_front() {
                let mut result = job.serve(&access);
                machine.reply(id, &mut result);
            }
            machine.tick();
        }
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
        let path = folder.join("p.pd");
        std::fs::write(&path, patch).expect("writable");
        let mut loaded = load_patch(&path, &SearchPath::only([])).expect("it is there");
        loaded.allow_write(&folder);
        let (mut machine, not_yet) = Machine::build(&loaded, 44_100.0);
        assert!(not_yet.is_empty(), "{not_yet:?}");
        machine.globals().jobs.is_deferred = true;
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
}
