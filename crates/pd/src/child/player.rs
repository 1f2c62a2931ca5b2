//! [`ChildPlayer`]: a sub-patch that plays, a block at a time.

use super::border::{ChildPatch, blocks_at_start};
use super::children::word;
use super::frames::FrameKind;
use super::opening::{ChildName, ChildRequest, OpenChild, Opened};
use super::pipe::{ChildEnd, FrameReader, MAX_WORDS, pipe, reply_buffer, words_of};
use crate::control::{Job, Machine, Value};
use crate::disk::FileAccess;
use crate::load::{LoadedPatch, SearchPath, find_sub_patch, load_inner, longer_chain};
use crate::node::{JobClient, live_services};
use crate::signal::{BLOCK, MessageStep, PatchSteps, Row, SharedCell};
use processor::BackgroundTask;
use rt::ftz::FlushToZero;
use std::fmt::{self, Debug};
use std::path::PathBuf;
use std::sync::Arc;

/// Opens the sub-patches of a patch: each is read when it is started, as in Pd.
struct PatchOpener {
    search: SearchPath,
    /// The patch, behind those that have started it.
    chain: Vec<PathBuf>,
}

/// Lets the boxes `pd~` of patches start others.
///
/// Real-time: setup.
pub(crate) fn allow_children<'p>(
    patches: impl IntoIterator<Item = &'p LoadedPatch>,
    machine: &mut Machine,
) {
    for patch in patches {
        let path = patch.files.first().map(|file| file.path.clone());
        let path = path.map(|path| path.canonicalize().unwrap_or(path));
        add_opener(patch, path.into_iter().collect(), machine);
    }
}

fn add_opener(patch: &LoadedPatch, chain: Vec<PathBuf>, machine: &mut Machine) {
    let search = patch.search.clone();
    let opener = Arc::new(PatchOpener { search, chain });
    machine.globals().children.openers.push(opener);
}

impl OpenChild for PatchOpener {
    fn open(&self, request: &ChildRequest, access: &FileAccess) -> Result<Opened, String> {
        let ChildName { file, path, rate } = request.name;
        let more = Some(&*path).filter(|path| !path.is_empty());
        let found = find_sub_patch(&self.search, &request.folder, &file, more);
        let path = found.ok_or_else(|| format!("{file}: can't open"))?;
        let chain = longer_chain(&self.chain, &path)?;
        // Those that it starts itself are read when it does.
        let mut patch = load_inner(&path, &self.search, &chain, &mut 0)
            .map_err(|why| format!("cannot read {}: {why}", path.display()))?;
        if let Some(found) = patch.diagnostics.iter().find(|found| found.is_error()) {
            return Err(format!("{}: {}", path.display(), found.message));
        }
        patch.access.add(access);
        let size = request.size;
        let (end, other) = pipe(size);
        let (mut steps, _) = PatchSteps::new(&patch, rate, (size.inputs, size.outputs));
        add_opener(&patch, chain, steps.messages.machine());
        let (mut player, tasks) = ChildPlayer::new(steps, other, request);
        // Sound threads flush denormals, so these blocks do too.
        let _flush = FlushToZero::enable();
        while player.blocks < blocks_at_start(size.fifo) {
            player.compute();
        }
        Ok(Opened {
            name: request.name,
            child: Some(Box::new(player)),
            end,
            tasks,
        })
    }
}

/// A sub-patch that plays.
struct ChildPlayer {
    messages: MessageStep,
    row: Row,
    outputs: Box<[SharedCell]>,
    end: ChildEnd,
    jobs: Option<JobClient>,
    words: Vec<Value>,
    blocks: u64,
    is_over: bool,
}

impl Debug for ChildPlayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a sub-patch at block {}", self.blocks)
    }
}

impl ChildPlayer {
    /// Loads the patch, with its loadbangs; gives what other threads do for it.
    fn new(
        steps: PatchSteps,
        end: ChildEnd,
        request: &ChildRequest,
    ) -> (Self, Vec<Box<dyn BackgroundTask>>) {
        let PatchSteps {
            mut messages,
            steps,
            outputs,
        } = steps;
        messages.jobs().is_dry = request.is_dry;
        let children = &mut messages.machine().globals().children;
        children.replies = Some(reply_buffer());
        children.is_live = request.is_live;
        let row = messages.row(steps, (&[], &[])).0;
        messages.load();
        let row = messages.take_changed_row().unwrap_or(row);
        let (mut tasks, mut jobs) = (Vec::new(), None);
        if request.is_live {
            prepare_named(&mut messages);
            jobs = Some(live_services(&mut messages, &mut |task| tasks.push(task)));
        }
        let player = Self {
            messages,
            row,
            outputs,
            end,
            jobs,
            words: Vec::with_capacity(MAX_WORDS),
            blocks: 0,
            is_over: false,
        };
        (player, tasks)
    }

    /// Sends what the patch has said since the block before.
    fn reply(&mut self, has_sound: bool) {
        let mut sound = [0.0; BLOCK];
        for output in &self.outputs {
            output.write().take_block(&mut sound);
            if !has_sound {
                sound.fill(0.0);
            }
            self.end.replies.write_channel(&sound);
        }
        let machine = self.messages.machine();
        let Some(mut frames) = machine.globals().children.replies.take() else {
            return;
        };
        self.is_over = machine.is_over();
        if self.is_over {
            // In Pd the process is gone before its last messages are read.
            frames.clear();
        }
        machine.drain_console(|line| {
            frames.line(line);
        });
        machine.drain_midi(|_, _| {});
        let mark = match self.is_over {
            true => FrameKind::End,
            false => FrameKind::Block,
        };
        self.end.replies.end_block(&mut frames, mark);
        machine.globals().children.replies = Some(frames);
    }
}

impl ChildPatch for ChildPlayer {
    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn compute(&mut self) {
        self.blocks += 1;
        if self.is_over {
            return;
        }
        if let Some(jobs) = &mut self.jobs {
            jobs.take_results(&mut self.messages);
        }
        let ChildEnd {
            requests, audio, ..
        } = &mut self.end;
        let words = &mut self.words;
        self.messages.run_with(
            Some(|machine: &mut Machine| receive(requests, words, machine)),
            |_, to| audio.read_channel(to),
        );
        if let Some(row) = self.messages.take_changed_row() {
            self.row = row;
        }
        let is_on = self.messages.machine().globals().dsp;
        if is_on {
            self.row.run();
        }
        self.messages.run_children();
        self.reply(is_on);
        if let Some(jobs) = &mut self.jobs {
            jobs.ask(&mut self.messages);
        }
    }
}

/// Sends what has come before a block: the first word is a receiver.
fn receive(requests: &mut FrameReader, words: &mut Vec<Value>, machine: &mut Machine) {
    while let Some((FrameKind::Message, payload)) = requests.next() {
        words_of(payload, &mut machine.globals().symbols, words);
        if let [Value::Symbol(receiver), rest @ ..] = &words[..]
            // A receiver alone is no message, as in Pd.
            && !rest.is_empty()
        {
            machine.send_words(*receiver, rest);
        }
    }
}

/// Opens the sub-patches that message boxes name, so that they are ready when they are started.
///
/// Real-time: waits, on the disk.
pub(crate) fn prepare_named(messages: &mut MessageStep) {
    let jobs = messages.jobs();
    let (access, is_dry) = (jobs.access.clone(), jobs.is_dry);
    let globals = messages.machine().globals();
    let (children, symbols) = (&globals.children, &globals.symbols);
    let requests = children.named(|words, format| {
        let words = words.iter().map(|value| word(value, symbols));
        Some(ChildRequest {
            opener: children.openers.get(format.patch)?.clone(),
            folder: format.folder.clone(),
            name: ChildName::read(words, format).ok()?,
            size: format.size,
            is_live: children.is_live,
            is_dry,
        })
    });
    for (object, request) in requests {
        let mut result = Job::Open(request).serve(&access);
        messages.machine().reply(object, &mut result);
        // What it could not take has tasks of its own, which end with it.
        drop(result);
    }
}
