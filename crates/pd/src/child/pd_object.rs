//! The box `pd~`.

use super::border::Border;
use super::children::{MAX_PREPARED, word};
use super::frames::FrameKind;
use super::opening::{ChildFormat, ChildName, ChildRequest, Opened};
use super::pipe::{MAX_WORDS, PipeSize, words_of};
use crate::control::{
    CHANNELS_OF_PATCH, Context, Handled, Job, JobResult, Making, Message, Object, Symbol, Symbols,
    Value, words,
};
use crate::signal::{Accesses, Inlets, RowFormat, SignalWorld};
use std::fmt;
use std::sync::{Arc, Mutex};

/// Channels of a side, at most.
const MAX_CHANNELS: f32 = 64.0;
/// Blocks on the way, at most.
const MAX_FIFO: f32 = 4096.0;
/// Blocks on the way without `-fifo`, as in Pd.
const FIFO: f32 = 5.0;

pub(crate) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    if making.class != "pd~" {
        return None;
    }
    let (format, mistake) = format_of(making);
    if let Some(mistake) = mistake {
        making.globals.print(mistake);
    }
    let format = Arc::new(format);
    let border = making.globals.children.add(format.clone());
    Some(Box::new(PdBox {
        format,
        border,
        is_plain: true,
        last_block: 0,
        state: Mutex::new(State {
            playing: None,
            prepared: Vec::with_capacity(MAX_PREPARED),
            awaited: None,
            words: Vec::with_capacity(MAX_WORDS),
            due: 0,
        }),
    }))
}

/// Settings from the arguments, and mistakes in these.
fn format_of(making: &Making<'_>) -> (ChildFormat, Option<&'static str>) {
    let (mut inputs, mut outputs, mut fifo, mut rate) = (2.0, 2.0, FIFO, making.globals.rate);
    let (mut rest, mut mistake) = (making.values, None);
    while let [Value::Symbol(flag), after @ ..] = rest {
        let number = after.first().map_or(0.0, |value| value.number());
        match making.globals.symbols.text(*flag) {
            "-ninsig" => inputs = number,
            "-noutsig" => outputs = number,
            "-fifo" => fifo = number,
            "-sr" => rate = number,
            "-pddir" | "-scheddir" => {}
            "-ascii" => {
                rest = after;
                continue;
            }
            _ => break,
        }
        rest = after.get(1..).unwrap_or_default();
    }
    if !rest.is_empty() {
        mistake = Some("error: pd~: usage: pd~ [-sr #] [-ninsig #] [-noutsig #] [-fifo #]");
    }
    if !(1.0..=MAX_FIFO).contains(&fifo) {
        mistake = Some("error: pd~: -fifo is from 1 to 4096 blocks: Pd stands still with less");
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 4096"
    )]
    let whole = |number: f32, min: f32, max: f32| number.clamp(min, max) as usize;
    let size = PipeSize {
        inputs: whole(inputs, 0.0, MAX_CHANNELS),
        outputs: whole(outputs, 0.0, MAX_CHANNELS),
        fifo: whole(fifo, 1.0, MAX_FIFO),
    };
    let format = ChildFormat {
        folder: making.folder.into(),
        size,
        rate,
        patch: making.globals.first_channel / CHANNELS_OF_PATCH,
    };
    (format, mistake)
}

struct PdBox {
    format: Arc<ChildFormat>,
    border: Arc<Border>,
    /// True where its canvas computes 64 frames at a time, as the sub-patch does.
    is_plain: bool,
    /// Block of the last exchange.
    last_block: u64,
    /// Never locked: whoever has the box has it alone.
    state: Mutex<State>,
}

struct State {
    playing: Option<Box<Opened>>,
    /// Sub-patches that wait for their start.
    #[expect(
        clippy::vec_box,
        reason = "they come and go in boxes, where nothing may be allocated"
    )]
    prepared: Vec<Box<Opened>>,
    /// The one that begins as soon as another thread has opened it.
    awaited: Option<ChildName>,
    /// Words of a message.
    words: Vec<Value>,
    /// Blocks of the sub-patch whose messages come out at the next clock: more than one after blocks without messages.
    due: u32,
}

impl Object for PdBox {
    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.send_on(words::BANG, &[], context)
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let selector = match values {
            [Value::Float(_)] => words::FLOAT,
            [Value::Symbol(_)] => words::SYMBOL,
            _ => words::LIST,
        };
        self.send_on(selector, values, context)
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        if context.symbols().text(message.selector) == "pd~" {
            return self.command(message.values, context);
        }
        self.send_on(message.selector, message.values, context)
    }

    fn reply(&mut self, result: &mut JobResult, context: &mut Context<'_>) {
        let JobResult::Opened(result) = result else {
            return;
        };
        if let Ok(opened) = result {
            // While the patch is loaded; later the thread that has opened it has them.
            context.globals().jobs.tasks.append(&mut opened.tasks);
        }
        let state = self.state();
        let taken = match std::mem::replace(result, Err(String::new())) {
            Ok(opened) if state.awaited == Some(opened.name) => opened,
            Ok(opened) if state.prepared.len() < MAX_PREPARED => {
                state.prepared.push(opened);
                return;
            }
            Ok(opened) => {
                *result = Ok(opened);
                return;
            }
            Err(why) => {
                // One that was to be ready says so when it is started.
                if state.awaited.take().is_some() {
                    context.print_with(|_, line| write!(line, "error: pd~: {why}"));
                }
                *result = Err(why);
                return;
            }
        };
        self.begin(taken, context);
    }

    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        self.take_messages(context);
    }

    fn resume(&mut self, _: u32, context: &mut Context<'_>) {
        self.take_messages(context);
    }

    fn prepare(&mut self, format: &RowFormat) {
        self.is_plain = *format == RowFormat::outermost(format.nominal_rate);
    }

    fn accesses(&self, list: &mut Accesses) {
        list.sets_clocks();
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let (block, size) = (self.border.block(), self.format.size);
        // A `switch~` that is banged may compute twice in a block: the sub-patch has but one.
        let is_due = self.is_plain && self.last_block != block;
        let (playing, due) = match self.state.get_mut() {
            Ok(State { playing, due, .. }) if is_due => (playing.as_mut(), due),
            _ => (None, &mut 0),
        };
        let Some(playing) = playing else {
            outlets.iter_mut().for_each(|outlet| outlet.fill(0.0));
            return;
        };
        self.last_block = block;
        let end = &mut playing.end;
        (0..size.inputs).for_each(|at| end.write_channel(inlets.get(at)));
        end.end_block();
        let outlets = outlets.iter_mut().take(size.outputs);
        outlets.for_each(|outlet| end.read_channel(outlet));
        self.border.count_exchanged();
        // What the sub-patch has sent comes out at the begin of the next block.
        *due = due.saturating_add(1);
        world.set_clock(0, 0.0);
    }
}

impl PdBox {
    fn state(&mut self) -> &mut State {
        let state = self.state.get_mut();
        state.unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Sends a message to the sub-patch: the selector is the receiver there.
    fn send_on(
        &mut self,
        receiver: Symbol,
        values: &[Value],
        context: &mut Context<'_>,
    ) -> Handled {
        let state = self.state();
        let Some(playing) = state.playing.as_mut() else {
            return Handled::Yes;
        };
        let is_sent = values.len() < MAX_WORDS && {
            let words = &mut state.words;
            words.clear();
            words.push(Value::Symbol(receiver));
            words.extend_from_slice(values);
            playing.end.send(context.symbols(), words)
        };
        if !is_sent {
            context.print_with(|symbols, line| {
                let receiver = symbols.text(receiver);
                write!(
                    line,
                    "error: pd~: {receiver}: too long, or too much on the way: the message is left out"
                )
            });
        }
        Handled::Yes
    }

    fn command(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let command = match values.first() {
            Some(Value::Symbol(command)) => *command,
            _ => words::EMPTY,
        };
        match context.symbols().text(command) {
            "start" => {
                self.stop(context);
                let name = {
                    let symbols: &Symbols = context.symbols();
                    let words = values[1..].iter().map(|value| word(value, symbols));
                    ChildName::read(words, &self.format)
                };
                match name {
                    Ok(name) => self.start(name, context),
                    Err(why) => context.print_with(|_, line| write!(line, "error: pd~: {why}")),
                }
            }
            "stop" => self.stop(context),
            // There is no other program.
            "pddir" => {}
            _ => context.print_with(|symbols, line| {
                let command = symbols.text(command);
                write!(line, "error: pd~: unknown control message: {command}")
            }),
        }
        Handled::Yes
    }

    /// Starts a sub-patch: one that is ready, or else one that is opened now, or before a later block.
    fn start(&mut self, name: ChildName, context: &mut Context<'_>) {
        let state = self.state();
        let ready = state.prepared.iter().position(|it| it.name == name);
        match ready.map(|at| state.prepared.swap_remove(at)) {
            Some(opened) => {
                self.begin(opened, context);
                // Another one for the next start.
                let _ = self.ask(name, context);
            }
            None => {
                match self.ask(name, context) {
                    Some(JobResult::Opened(Ok(opened))) => self.begin(opened, context),
                    Some(JobResult::Opened(Err(why))) => {
                        context.print_with(|_, line| write!(line, "error: pd~: {why}"));
                    }
                    Some(_) => context
                        .print_with(|_, line| line.write_str("error: pd~: too many jobs at once")),
                    None => {
                        self.state().awaited = Some(name);
                        context.print_with(|_, line| {
                        let file = name.file;
                        write!(line, "pd~: {file}: not ready: it is read now, and starts in a later block")
                    });
                    }
                }
            }
        }
    }

    fn ask(&mut self, name: ChildName, context: &mut Context<'_>) -> Option<JobResult> {
        let is_dry = context.globals().jobs.is_dry;
        let children = &context.globals().children;
        let is_live = children.is_live;
        let Some(opener) = children.openers.get(self.format.patch).cloned() else {
            return Some(JobResult::Refused);
        };
        context.ask(Job::Open(ChildRequest {
            opener,
            folder: self.format.folder.clone(),
            name,
            size: self.format.size,
            is_live,
            is_dry,
        }))
    }

    fn begin(&mut self, mut opened: Box<Opened>, context: &mut Context<'_>) {
        let unplayed = opened
            .child
            .take()
            .and_then(|child| self.border.start(child));
        let jobs = &mut context.globals().jobs;
        unplayed
            .into_iter()
            .for_each(|it| jobs.retire(JobResult::Ended(it)));
        jobs.tasks.append(&mut opened.tasks);
        let state = self.state();
        state.playing = Some(opened);
        state.awaited = None;
        // What it has sent until now comes out at once.
        state.due = 1;
        context.set_clock(0, 0.0);
    }

    fn stop(&mut self, context: &mut Context<'_>) {
        let state = self.state();
        state.awaited = None;
        let Some(opened) = state.playing.take() else {
            return;
        };
        let unplayed = self.border.stop();
        let jobs = &mut context.globals().jobs;
        unplayed
            .into_iter()
            .for_each(|it| jobs.retire(JobResult::Ended(it)));
        jobs.retire(JobResult::Opened(Ok(opened)));
    }

    /// Sends one message of the sub-patch, and comes back for the next until the blocks that are due have ended.
    fn take_messages(&mut self, context: &mut Context<'_>) {
        let State {
            playing,
            words,
            due,
            ..
        } = self.state();
        let Some(playing) = playing.as_mut() else {
            return;
        };
        let file = playing.name.file;
        while let Some((kind, payload)) = playing.end.replies().next() {
            match kind {
                FrameKind::Message => {
                    words_of(payload, context.symbols(), words);
                    context.send(0, Message::of_words(words));
                    return context.resume(0);
                }
                FrameKind::Line => print_line(&file, payload, context),
                FrameKind::Block => {
                    *due = due.saturating_sub(1);
                    if *due == 0 {
                        return;
                    }
                }
                FrameKind::End => {
                    context.print_with(|_, line| line.write_str("error: pd~: subprocess exited"));
                    return self.stop(context);
                }
            }
        }
    }
}

/// Prints a line of a sub-patch, behind its name.
fn print_line(file: &str, payload: &[u8], context: &mut Context<'_>) {
    let name = file.rsplit('/').next().unwrap_or(file);
    let name = name.strip_suffix(".pd").unwrap_or(name);
    let text = std::str::from_utf8(payload).unwrap_or_default();
    context.print_with(|_, line: &mut dyn fmt::Write| write!(line, "{name}: {text}"));
}
