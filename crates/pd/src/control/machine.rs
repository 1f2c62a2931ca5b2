//! [`Machine`]: objects, wires, the stack of messages, and one tick.

use super::arrays::ArrayId;
use super::canvases::{CanvasMessage, Canvases};
use super::chains::Chains;
use super::clocks::{Due, UNITS_PER_MS};
use super::globals::Globals;
use super::jobs::{Job, JobResult};
use super::layout::Layout;
use super::midi::MidiParser;
use super::net::{Budget, NetService, symbol_counts};
use super::object::{Context, Handled, Object};
use super::patches::Patches;
use super::placed_box::PlacedBox;
use super::slot::ObjectSlot;
use super::symbol::{ROOM, Symbol, words};
use super::value::{Message, Value};
use super::wire::{ObjectId, Wire};
use super::work::{Entry, Stored, Work, store};
use crate::child::ChildPatch;
use crate::file::Atom;
use crate::net::MAX_MESSAGE;
use crate::signal::{ObjectGroup, ObjectPlace};
use std::ops::Range;
use std::sync::Arc;

/// Messages within one tick, at most: a patch that never comes to an end is stopped, and says so.
pub(crate) const MAX_MESSAGES: u32 = 10_000_000;
/// Messages that cause each other, at most; Pd has the same limit and says "stack overflow".
const MAX_DEPTH: u32 = 1000;

/// The control objects of a patch.
pub struct Machine {
    objects: Vec<ObjectSlot>,
    /// Class of each object, for messages.
    classes: Vec<Box<str>>,
    /// Connections of each outlet of each object.
    wires: Vec<Vec<Vec<Wire>>>,
    loadbangs: Vec<ObjectId>,
    globals: Globals,
    stack: Vec<Entry>,
    values: Vec<Value>,
    sent: Vec<Entry>,
    /// Values of the message that is being delivered.
    delivered: Vec<Value>,
    /// Messages that may still be delivered until the end of this tick: by clocks, and by what came from outside before it.
    left: u32,
    /// Length of a tick, in units of logical time.
    tick: f64,
    /// By patch.
    pub(super) midi_parsers: Vec<MidiParser>,
    /// Canvases, for messages to them.
    pub(super) canvases: Canvases,
    /// Boxes and connections, where messages may change signals.
    pub(super) layout: Option<Box<Layout>>,
    pub(super) patches: Patches,
    /// Messages that wait for a change of the patch.
    pub(super) chains: Chains,
}

impl Machine {
    /// A machine without objects at `rate` hertz.
    pub(crate) fn new(rate: f32) -> Self {
        Self {
            objects: Vec::new(),
            classes: Vec::new(),
            wires: Vec::new(),
            loadbangs: Vec::new(),
            globals: Globals::new(rate),
            stack: Vec::with_capacity(4096),
            values: Vec::with_capacity(4096),
            sent: Vec::with_capacity(256),
            delivered: Vec::with_capacity(256),
            left: MAX_MESSAGES,
            midi_parsers: vec![MidiParser::default()],
            canvases: Canvases::default(),
            layout: None,
            patches: Patches::default(),
            chains: Chains::default(),
            // Pd multiplies by an inverse that is a float.
            tick: UNITS_PER_MS * 1000.0 * 64.0 * f64::from(1.0 / rate),
        }
    }

    /// Adds an object.
    pub(super) fn add(&mut self, class: &str, object: Box<dyn Object>) -> ObjectId {
        let id = ObjectId(u32::try_from(self.objects.len()).expect("boxes are bounded"));
        self.objects.push(ObjectSlot::Control(object));
        self.classes.push(class.into());
        self.wires.push(Vec::new());
        id
    }

    /// Number of objects.
    pub(super) fn object_count(&self) -> u32 {
        u32::try_from(self.objects.len()).expect("boxes are bounded")
    }

    /// Disconnects an outlet; false if there is no such connection.
    pub(super) fn disconnect(&mut self, from: ObjectId, outlet: usize, to: Wire) -> bool {
        let wires = self.wires[from.0 as usize].get_mut(outlet);
        let found = wires.and_then(|wires| {
            let at = wires.iter().position(|wire| *wire == to)?;
            Some(wires.remove(at))
        });
        found.is_some()
    }

    /// Lets objects be called when what is under way has ended, the first of them first.
    pub(super) fn load_objects(&mut self, objects: &[ObjectId], depth: u32) {
        let keep = u32::try_from(self.values.len()).expect("fewer values than memory");
        let work = |object: &ObjectId| Work::Load { object: *object };
        let entries = objects.iter().rev().map(|object| Entry {
            work: work(object),
            keep,
            depth,
        });
        self.stack.extend(entries);
    }

    /// Removes objects; what they have under way does nothing. Their numbers are not given again.
    ///
    /// Real-time: setup.
    pub(super) fn remove(&mut self, ranges: &[Range<u32>]) {
        let mut is_removed = vec![false; self.objects.len()];
        for at in ranges.iter().flat_map(Clone::clone) {
            is_removed[at as usize] = true;
            self.objects[at as usize].clear();
            self.wires[at as usize].clear();
        }
        let removed = |id: ObjectId| is_removed[id.0 as usize];
        for wires in self.wires.iter_mut().flatten() {
            wires.retain(|wire| !removed(wire.object));
        }
        for (name, id) in self.globals.receivers.remove_all(removed) {
            if &*self.classes[id.0 as usize] == "array" {
                self.globals.arrays.remove(name);
            }
        }
    }

    /// Returns true if one of the objects has signals.
    pub(super) fn has_signals(&self, ranges: &[Range<u32>]) -> bool {
        let mut all = ranges.iter().flat_map(Clone::clone);
        all.any(|at| matches!(self.objects[at as usize], ObjectSlot::Signal(_)))
    }

    /// Returns true if messages may change signals.
    pub(crate) fn may_change_signals(&self) -> bool {
        self.layout.is_some()
    }

    /// The patch as it is now, if its signals were changed since the last call.
    ///
    /// Real-time: hot.
    pub(crate) fn take_changed_layout(&mut self) -> Option<Box<Layout>> {
        let changed = |layout: &mut Box<Layout>| std::mem::take(&mut layout.is_changed);
        self.layout.take_if(changed)
    }

    /// Gives a layout back.
    pub(crate) fn keep_layout(&mut self, layout: Box<Layout>) {
        self.layout = Some(layout);
    }

    /// Makes an object one of signals, with a number for each inlet that is one of signals.
    pub(super) fn set_signal_inlets(&mut self, id: ObjectId, numbers: Box<[Option<f32>]>) {
        self.objects[id.0 as usize].share(numbers);
    }

    /// The place of a signal object, which its step shares; `None` for another object.
    pub(crate) fn signal_object(&self, id: ObjectId) -> Option<&ObjectPlace> {
        match &self.objects[id.0 as usize] {
            ObjectSlot::Signal(place) => Some(place),
            ObjectSlot::Control(_) => None,
        }
    }

    /// Moves these objects of signals together. Copies of their places that were made before lead to nothing.
    ///
    /// Real-time: setup.
    pub(crate) fn join(&mut self, ids: &[ObjectId]) -> Arc<ObjectGroup> {
        let places = ids.iter().filter_map(|id| self.signal_object(*id));
        let objects = Vec::from_iter(places.map(ObjectPlace::take));
        let group = Arc::new(ObjectGroup::new(objects));
        let mut places = ObjectPlace::all_of(&group);
        for id in ids {
            if let ObjectSlot::Signal(place) = &mut self.objects[id.0 as usize] {
                *place = places.next().expect("as many as were taken");
            }
        }
        group
    }

    /// Moves an object of signals to another place; its old one is left in `place`.
    ///
    /// Real-time: hot.
    pub(crate) fn move_object(&mut self, id: ObjectId, place: &mut ObjectPlace) {
        if let ObjectSlot::Signal(old) = &mut self.objects[id.0 as usize] {
            old.exchange(place);
            std::mem::swap(old, place);
        }
    }

    /// Sets the clocks that an object has set while it computed.
    ///
    /// Real-time: hot.
    pub(crate) fn take_clocks(&mut self, id: ObjectId) {
        if let ObjectSlot::Signal(place) = &self.objects[id.0 as usize] {
            for (slot, delay_ms) in place.write().clocks.drain(..) {
                self.globals.clocks.set(Due { object: id, slot }, delay_ms);
            }
        }
    }

    /// Exchanges the points of an array with those of a step.
    ///
    /// Real-time: hot.
    pub(crate) fn swap_points(&mut self, array: ArrayId, points: &mut Vec<f32>) {
        std::mem::swap(self.globals.arrays.points_mut(array), points);
    }

    /// The array of this name.
    pub(crate) fn array(&self, name: Symbol) -> Option<ArrayId> {
        self.globals.arrays.find(name)
    }

    /// Names of all arrays.
    pub(crate) fn array_names(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.globals.arrays.names()
    }

    /// Length of a tick, in units.
    pub(crate) fn tick_length(&self) -> f64 {
        self.tick
    }

    /// Logical time, in units.
    pub(crate) fn now(&self) -> f64 {
        self.globals.clocks.now()
    }

    /// Objects whose outlets send messages to the left inlet of `to`.
    pub(crate) fn senders(&self, to: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        let wire = Wire {
            object: to,
            inlet: 0,
        };
        let sends =
            move |outlets: &Vec<Vec<Wire>>| outlets.iter().any(|wires| wires.contains(&wire));
        let all = (0..).zip(&self.wires);
        all.filter(move |(_, outlets)| sends(outlets))
            .map(|(id, _)| ObjectId(id))
    }

    /// Class of an object.
    pub(crate) fn class(&self, id: ObjectId) -> &str {
        &self.classes[id.0 as usize]
    }

    /// Connects an outlet.
    pub(super) fn connect(&mut self, from: ObjectId, outlet: usize, to: Wire) {
        let outlets = &mut self.wires[from.0 as usize];
        if outlets.len() <= outlet {
            outlets.resize(outlet + 1, Vec::new());
        }
        outlets[outlet].push(to);
    }

    /// Lets an object receive under a name. Pd adds to the front: the last one receives first.
    pub(super) fn receive(&mut self, name: Symbol, object: ObjectId) {
        self.globals.receivers.add(name, object);
    }

    /// Lets an object know when the patch is loaded, after those that were named before.
    pub(super) fn at_load(&mut self, object: ObjectId) {
        self.loadbangs.push(object);
    }

    /// Number of objects that are told when the patch is loaded.
    pub(super) fn loadbang_count(&self) -> usize {
        self.loadbangs.len()
    }

    /// The patch of an object, from 0.
    pub(crate) fn patch_of(&self, id: ObjectId) -> u16 {
        self.patches.of(id)
    }

    /// Names that a patch receives, sorted.
    pub(crate) fn received(&self, patch: u16) -> &[String] {
        self.patches.received(patch)
    }

    /// Lets nothing reach the objects of a patch that was removed, or again.
    ///
    /// Real-time: hot.
    pub(crate) fn close_patch(&mut self, patch: u16, is_closed: bool) {
        self.patches.close(patch, is_closed);
    }

    /// Names under which objects of a patch receive while it is built, sorted; not those that begin with a digit, as `$0` does, nor those of
    /// canvases and of MIDI.
    ///
    /// Real-time: setup.
    pub(super) fn received_from(&self, first: ObjectId) -> Vec<String> {
        let globals = &self.globals;
        let names = globals
            .receivers
            .names_from(first)
            .map(|name| globals.symbols.text(name));
        let is_plain = |name: &&str| {
            let is_of_pd = name.starts_with('#') || name.starts_with("pd-");
            !is_of_pd && !name.starts_with(|c: char| c.is_ascii_digit())
        };
        let plain = names.filter(is_plain);
        let mut names: Vec<String> = plain.map(str::to_owned).collect();
        names.sort_unstable();
        names
    }

    /// State that all objects share.
    pub(crate) fn globals(&mut self) -> &mut Globals {
        &mut self.globals
    }

    /// Sends every loadbang.
    ///
    /// Real-time: setup.
    pub fn load(&mut self) {
        for at in 0..self.loadbangs.len() {
            self.patches.open(at, &mut self.globals.receivers);
            let id = self.loadbangs[at];
            self.left = MAX_MESSAGES;
            self.call(id, 0, |object, context| object.loadbang(context));
            self.run();
        }
        let all = self.loadbangs.len();
        self.patches.open(all, &mut self.globals.receivers);
        self.left = MAX_MESSAGES;
    }

    /// Runs every clock that is due within the next 64 frames, then moves on to their end.
    ///
    /// Real-time: hot, but for what the classes' table names.
    pub fn tick(&mut self) {
        let end = self.globals.clocks.now() + self.tick;
        while let Some(due) = self.globals.clocks.take_before(end) {
            self.call(due.object, 0, |object, context| {
                object.clock(due.slot, context)
            });
            self.run();
            if self.left == 0 {
                break;
            }
        }
        self.globals.clocks.advance_to(end);
        self.left = MAX_MESSAGES;
    }

    /// Gives an object the result of what it has asked for. What was replaced is left in it.
    ///
    /// Real-time: hot; a copy of the array or of the symbols where they have grown.
    pub(crate) fn reply(&mut self, object: ObjectId, result: &mut JobResult) {
        self.globals.jobs.end_one();
        match result {
            JobResult::Points {
                array,
                points,
                keeps,
            } => {
                if !self.globals.arrays.replace(*array, points, *keeps) {
                    self.globals.print("error: array: no memory for its points");
                }
            }
            JobResult::Symbols(larger) => self.globals.symbols.move_into(larger),
            result => {
                self.call(object, 0, |object, context| object.reply(result, context));
                self.run();
            }
        }
    }

    /// Gives objects what has come through their sockets.
    ///
    /// Real-time: waits, on the system, in a render; hot while a patch plays live.
    pub(crate) fn receive_net(&mut self) {
        self.globals.net.poll();
        let Some(mut events) = self.globals.net.events.take() else {
            return;
        };
        let mut budget = Budget::new();
        while events.advance()
            && let Some((socket, event)) = events.current()
        {
            let needed = symbol_counts(&event);
            let room = self.globals.symbols.room();
            let waits = self.globals.jobs.is_deferred && (needed.0 > room.0 || needed.1 > room.1);
            if waits || !budget.take(&event) {
                break;
            }
            if (socket.object as usize) < self.objects.len() {
                self.call(ObjectId(socket.object), 0, |object, context| {
                    object.net(socket.number, &event, context)
                });
                self.run();
            }
            events.forget();
        }
        self.globals.net.events = Some(events);
    }

    /// Gives the sockets away to a thread that serves them from now on; `None` if there are none.
    ///
    /// Real-time: setup.
    pub(crate) fn take_net(&mut self) -> Option<NetService> {
        let service = self.globals.net.take_service()?;
        // What comes from outside makes no list longer than this.
        for list in [
            &mut self.globals.line,
            &mut self.delivered,
            &mut self.values,
        ] {
            list.reserve(2 * MAX_MESSAGE);
        }
        Some(service)
    }

    /// Prints that the job of an object took effect in a block.
    ///
    /// Real-time: hot.
    pub(crate) fn print_served(&mut self, object: ObjectId, block: u64) {
        let class = &self.classes[object.0 as usize];
        let console = &mut self.globals.console;
        console.line(|line| write!(line, "{class}: file served in block {block}"));
    }

    /// Prints that an array was given its memory in a block.
    ///
    /// Real-time: hot.
    pub(crate) fn print_resized(&mut self, block: u64) {
        let console = &mut self.globals.console;
        console.line(|line| write!(line, "array: resized in block {block}"));
    }

    /// Returns true if there is room for the symbols of a result.
    pub(crate) fn fits(&self, result: &JobResult) -> bool {
        let (count, bytes) = result.symbol_counts();
        let room = self.globals.symbols.room();
        count <= room.0 && bytes <= room.1
    }

    /// Asks for memory for symbols where half of it is used up, or for those of a result.
    ///
    /// Real-time: hot.
    pub(crate) fn ask_for_symbols(&mut self, result: Option<&JobResult>) {
        let symbols = &self.globals.symbols;
        let (count, bytes) = result.map_or((0, 0), JobResult::symbol_counts);
        let job = Job::Symbols {
            count: symbols.len() + count,
            bytes: symbols.bytes() + bytes,
        };
        self.globals.jobs.keep(ObjectId(u32::MAX), job);
    }

    /// Returns true if half of the memory for new symbols is used up.
    pub(crate) fn is_short_of_symbols(&self) -> bool {
        let (count, bytes) = self.globals.symbols.room();
        count < ROOM.0 / 2 || bytes < ROOM.1 / 2
    }

    /// Sends a message to everything that receives under `name`, `ms` milliseconds from now.
    ///
    /// Real-time: setup.
    pub fn schedule(&mut self, ms: f64, name: &str, words: &[Atom]) {
        self.schedule_in(0, ms, name, words);
    }

    /// As [`Machine::schedule`], to what receives in one patch.
    pub(crate) fn schedule_in(&mut self, patch: u16, ms: f64, name: &str, words: &[Atom]) {
        let symbols = &mut self.globals.symbols;
        let name = symbols.intern(name);
        let words = words.iter().map(|word| Value::of(word, symbols)).collect();
        let object = self.add("message", Box::new(Scheduled { name, patch, words }));
        self.globals.clocks.set(Due { object, slot: 0 }, ms);
    }

    /// Sends a message to everything that receives under the first word of `text`, at once.
    ///
    /// Real-time: hot for words that the patch knows; a new one allocates.
    pub(crate) fn send_text(&mut self, patch: u16, text: &str) {
        let mut words = text.split_ascii_whitespace();
        let Some(receiver) = words.next() else {
            return;
        };
        let symbols = &mut self.globals.symbols;
        let name = symbols.intern(receiver);
        let mut values = std::mem::take(&mut self.delivered);
        values.clear();
        values.extend(words.map(|word| match word.parse::<f32>() {
            Ok(number) if number.is_finite() => Value::Float(number),
            _ => Value::Symbol(symbols.intern(word)),
        }));
        let message = store(&mut self.values, Message::of_words(&values));
        self.delivered = values;
        let of_patch = |id: ObjectId| self.patches.of(id) == patch;
        match self.patches.box_named(patch, receiver) {
            Some(object) if !self.globals.receivers.any(name, of_patch) => {
                self.deliver(Wire { object, inlet: 0 }, message, 0);
                self.run();
            }
            _ => self.send_from_outside(patch, name, message),
        }
    }

    /// Sends words to everything that receives under `name`, as a patch around does.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(crate) fn send_words(&mut self, name: Symbol, words: &[Value]) {
        let is_received = self.globals.receivers.next(name, 0).is_some();
        if !(is_received || name == words::PD) {
            let Globals {
                console, symbols, ..
            } = &mut self.globals;
            let name = symbols.text(name);
            return console.line(|line| write!(line, "error: {name}: no such object"));
        }
        let message = store(&mut self.values, Message::of_words(words));
        self.send_from_outside(0, name, message);
    }

    /// Begins a block of the sub-patches.
    ///
    /// Real-time: hot.
    pub(crate) fn begin_children(&mut self) {
        let Globals { children, jobs, .. } = &mut self.globals;
        children.begin_block(|ended| jobs.retire(JobResult::Ended(ended)));
    }

    /// Takes a sub-patch that has ended while the machine was away.
    ///
    /// Real-time: hot.
    pub(crate) fn retire_child(&mut self, ended: Box<dyn ChildPatch>) {
        self.globals.jobs.retire(JobResult::Ended(ended));
    }

    /// The symbol of a name.
    ///
    /// Real-time: setup.
    pub(crate) fn symbol(&mut self, name: &str) -> Symbol {
        self.globals.symbols.intern(name)
    }

    /// Sends a number to everything that receives under `name`, at once.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(crate) fn send_number(&mut self, patch: u16, name: Symbol, number: f32) {
        let value = Value::Float(number);
        let message = store(&mut self.values, Message::of_words(&[value]));
        self.send_from_outside(patch, name, message);
    }

    /// Moves a box to a number, as a face does.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(crate) fn move_box(&mut self, object: ObjectId, number: f32) {
        self.call(object, 0, |object, context| object.moved(number, context));
        self.run();
    }

    /// Moves a box behind the loadbangs.
    ///
    /// Real-time: setup.
    pub(crate) fn move_at_begin(&mut self, target: ObjectId, number: f32) {
        let object = self.add("message", Box::new(ScheduledMove { target, number }));
        self.globals.clocks.set(Due { object, slot: 0 }, 0.0);
    }

    /// Boxes of a patch that faces can show.
    pub(crate) fn placed_boxes(&self, patch: u16) -> &[PlacedBox] {
        self.patches.boxes(patch)
    }

    /// Sends a message to everything in a patch that receives under `name`, or to the box of that name.
    fn send_from_outside(&mut self, patch: u16, name: Symbol, message: Stored) {
        let (next, keep, depth) = (0, message.to, 0);
        let work = Work::Receivers {
            name,
            next,
            message,
            only: Some(patch),
        };
        self.stack.push(Entry { work, keep, depth });
        self.run();
    }

    /// Takes what was printed.
    ///
    /// Real-time: setup.
    pub fn take_console(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        self.drain_console(|line| lines.push(line.to_owned()));
        lines
    }

    /// As [`Machine::drain_console`], with the patch of each line.
    ///
    /// Real-time: as `take`.
    pub(crate) fn drain_consoles(&mut self, take: impl FnMut(u16, &str)) {
        self.globals.console.drain_with(take);
    }

    /// Gives every line that was printed to `take`. What did not fit into the memory of the console is counted in a last line.
    ///
    /// Real-time: as `take`.
    pub fn drain_console(&mut self, take: impl FnMut(&str)) {
        self.globals.console.drain(take);
    }

    /// Returns true once the patch has sent `; pd quit`.
    ///
    /// Real-time: hot.
    pub fn is_over(&self) -> bool {
        self.globals.is_over
    }

    /// Makes room for what messages need while the patch plays.
    ///
    /// Real-time: setup.
    pub(super) fn reserve(&mut self) {
        self.globals.symbols.reserve();
        self.globals.clocks.reserve(self.objects.len());
    }

    /// Sends bytes of MIDI that came at `port` (0 has channels 1 to 16, 1 the next) to the boxes that receive them, at the logical
    /// time of the next tick's begin.
    ///
    /// Real-time: as [`Machine::tick`].
    pub fn midi(&mut self, port: u8, bytes: &[u8]) {
        self.midi_in(0, port, bytes);
    }

    /// As [`Machine::midi`], to the boxes of one patch.
    pub(crate) fn midi_in(&mut self, patch: u16, port: u8, bytes: &[u8]) {
        for byte in bytes {
            let mut parser = self.midi_parsers[usize::from(patch)];
            let mut lists = [None; 2];
            let mut count = 0;
            parser.byte(port, *byte, |list| {
                lists[count] = Some(list);
                count += 1;
            });
            self.midi_parsers[usize::from(patch)] = parser;
            for (name, values, count) in lists.into_iter().flatten() {
                let message = Message::of_list(&values[..count]);
                let message = store(&mut self.values, message);
                self.send_from_outside(patch, name, message);
            }
        }
    }

    /// Gives every message of MIDI that the patch has sent to `take`, with its port from 0. Returns the number of those that found no
    /// room.
    ///
    /// Real-time: as `take`.
    pub fn drain_midi(&mut self, mut take: impl FnMut(u8, &[u8])) -> u64 {
        self.drain_midis(|_, port, bytes| take(port, bytes))
    }

    /// As [`Machine::drain_midi`], with the patch of each message.
    pub(crate) fn drain_midis(&mut self, take: impl FnMut(u16, u8, &[u8])) -> u64 {
        self.globals.midi_output.drain(take)
    }

    /// Works until no message waits.
    fn run(&mut self) {
        while let Some(entry) = self.stack.pop() {
            if self.left == 0 {
                self.stack.clear();
                self.values.clear();
                return self.globals.console.line(|line| {
                    write!(
                        line,
                        "error: more than {MAX_MESSAGES} messages in one tick: the rest is left out"
                    )
                });
            }
            self.left -= 1;
            self.values.truncate(entry.keep as usize);
            self.step(entry);
        }
        self.values.clear();
    }

    /// Does one piece of work.
    fn step(&mut self, entry: Entry) {
        let depth = entry.depth;
        match entry.work {
            Work::Outlet {
                object,
                outlet,
                next,
                message,
            } => {
                let wires = self.wires[object.0 as usize].get(outlet as usize);
                let Some((wire, rest)) = wires.and_then(|w| w.get(next as usize..)?.split_first())
                else {
                    return;
                };
                let wire = *wire;
                if !rest.is_empty() {
                    let work = Work::Outlet {
                        object,
                        outlet,
                        next: next + 1,
                        message,
                    };
                    self.stack.push(Entry { work, ..entry });
                }
                self.deliver(wire, message, depth);
            }
            Work::Receivers {
                name,
                next,
                message,
                only,
            } => {
                let Some((object, after)) = self.globals.receivers.next(name, next) else {
                    if next == 0 && name == words::PD {
                        self.tell_pd(message);
                    }
                    return;
                };
                let work = Work::Receivers {
                    name,
                    next: after,
                    message,
                    only,
                };
                self.stack.push(Entry { work, ..entry });
                if only.is_some_and(|patch| patch != self.patches.of(object)) {
                    return;
                }
                self.deliver(Wire { object, inlet: 0 }, message, depth);
            }
            Work::Move { object, number } => {
                self.call(object, depth, |object, context| {
                    object.moved(number, context)
                });
            }
            Work::Load { object } => {
                self.call(object, depth, |object, context| object.loadbang(context));
            }
            Work::Resume { object, code } => {
                self.call(object, depth, |object, context| {
                    object.resume(code, context)
                });
            }
        }
    }

    /// A message to Pd itself.
    fn tell_pd(&mut self, message: Stored) {
        match message.selector {
            words::DSP => {
                let first = self.values[message.from as usize..message.to as usize].first();
                self.globals.dsp = first.is_some_and(|value| value.number() != 0.0);
            }
            words::QUIT => self.globals.is_over = true,
            _ => {}
        }
    }

    fn deliver(&mut self, wire: Wire, stored: Stored, depth: u32) {
        if depth > MAX_DEPTH {
            let class = &self.classes[wire.object.0 as usize];
            return self
                .globals
                .console
                .line(|line| write!(line, "error: {class}: stack overflow"));
        }
        let mut delivered = std::mem::take(&mut self.delivered);
        delivered.clear();
        delivered.extend_from_slice(&self.values[stored.from as usize..stored.to as usize]);
        let selector = stored.selector;
        let message = Message {
            selector,
            values: &delivered,
        };
        let inlet = wire.inlet as usize;
        if let (words::FLOAT | words::LIST, [Value::Float(number)]) = (selector, message.values)
            && self.objects[wire.object.0 as usize].set_number(inlet, *number)
        {
            self.delivered = delivered;
            return;
        }
        let mut handled = Handled::Yes;
        self.call(wire.object, depth, |object, context| {
            handled = match inlet {
                0 => to_left_inlet(object, message, context),
                inlet => object.cold(inlet, message, context),
            };
        });
        if handled == Handled::No {
            let class = &self.classes[wire.object.0 as usize];
            let Globals {
                console, symbols, ..
            } = &mut self.globals;
            let selector = symbols.text(selector);
            console.line(|line| match inlet {
                0 => write!(line, "error: {class}: no method for '{selector}'"),
                _ => write!(line, "error: inlet: expected 'float' but got '{selector}'"),
            });
        }
        self.delivered = delivered;
        if let Some(edit) = self.globals.edit.take() {
            self.edit_or_wait(edit, depth);
        }
    }

    /// Changes the patch, or sets the chain of messages aside until another thread has done it.
    fn edit_or_wait(&mut self, edit: Box<CanvasMessage>, depth: u32) {
        if !self.globals.jobs.is_deferred || self.chains.makes_changes {
            self.edit(&edit, depth);
            self.globals.keep_edit(edit);
            return;
        }
        let rest = (&mut self.stack, &mut self.values);
        if let Err(edit) = self.chains.suspend(rest, edit, depth) {
            self.globals.keep_edit(edit);
            self.globals
                .print("error: canvas: too many changes at once");
        }
    }

    /// Makes room for changes of the patch while it plays live.
    ///
    /// Real-time: setup.
    pub(crate) fn reserve_edits(&mut self) {
        self.chains.reserve();
        self.globals.reserve_edits();
    }

    /// Returns true if messages wait for a change of the patch.
    ///
    /// Real-time: hot.
    pub(crate) fn waits_for_edits(&self) -> bool {
        !self.chains.waiting.is_empty()
    }

    /// Makes the changes that messages wait for, and those that follow them at once.
    ///
    /// Real-time: waits, on the disk.
    pub(crate) fn make_edits(&mut self) {
        self.chains.makes_changes = true;
        while let Some(mut chain) = self.chains.waiting.pop_front() {
            std::mem::swap(&mut self.stack, &mut chain.stack);
            std::mem::swap(&mut self.values, &mut chain.values);
            if let Some(edit) = chain.edit.take() {
                self.edit(&edit, chain.depth);
                self.globals.keep_edit(edit);
            }
            while self.comes_to_a_canvas()
                && let Some(entry) = self.stack.pop()
            {
                self.values.truncate(entry.keep as usize);
                self.step(entry);
            }
            std::mem::swap(&mut self.stack, &mut chain.stack);
            std::mem::swap(&mut self.values, &mut chain.values);
            self.chains.changed.push_back(chain);
        }
        self.chains.makes_changes = false;
    }

    /// Returns true if the next piece of work is a message to a canvas, or none.
    fn comes_to_a_canvas(&self) -> bool {
        match self.stack.last().map(|entry| entry.work) {
            Some(Work::Receivers { name, next, .. }) => {
                let next = self.globals.receivers.next(name, next);
                next.map_or(name != words::PD, |(id, _)| self.class(id) == "canvas")
            }
            Some(Work::Outlet {
                object,
                outlet,
                next,
                ..
            }) => {
                let wires = self.wires[object.0 as usize].get(outlet as usize);
                wires.is_none_or(|wires| wires.len() <= next as usize)
            }
            _ => false,
        }
    }

    /// Goes on with the messages that waited for changes, and says in which block these took effect.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(crate) fn go_on_after_edits(&mut self, block: u64) {
        let count = std::mem::take(&mut self.chains.made);
        let console = &mut self.globals.console;
        console.line(|line| match count {
            1 => write!(line, "canvas: changed in block {block}"),
            _ => write!(line, "canvas: {count} changes took effect in block {block}"),
        });
        while (self.chains).resume(&mut self.stack, &mut self.values) {
            self.run();
        }
    }

    /// Calls a method of an object, then puts what it sent on the stack, so that the first is taken first.
    fn call(
        &mut self,
        id: ObjectId,
        depth: u32,
        method: impl FnOnce(&mut dyn Object, &mut Context<'_>),
    ) {
        if self.patches.are_several() {
            let patch = self.patches.of(id);
            if self.patches.is_closed(patch) {
                return;
            }
            self.globals.console.patch = patch;
            self.globals.midi_output.patch = patch;
        }
        let mut context = Context {
            object: id,
            sent: &mut self.sent,
            values: &mut self.values,
            globals: &mut self.globals,
            depth,
        };
        self.objects[id.0 as usize].with(|object| method(object, &mut context));
        let keep = u32::try_from(self.values.len()).expect("fewer values than memory");
        let sent = self.sent.drain(..).rev();
        self.stack.extend(sent.map(|entry| Entry { keep, ..entry }));
    }
}

/// A move that the host makes at the begin.
struct ScheduledMove {
    target: ObjectId,
    number: f32,
}

impl Object for ScheduledMove {
    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        context.send_move(self.target, self.number);
    }
}

/// A message that the host sends at its time.
struct Scheduled {
    name: Symbol,
    patch: u16,
    words: Vec<Value>,
}

impl Object for Scheduled {
    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        context.send_into(self.patch, self.name, Message::of_words(&self.words));
    }
}

/// Pd's rules for messages that a class has no method of its own for (`m_class.c`).
fn to_left_inlet(
    object: &mut dyn Object,
    message: Message<'_>,
    context: &mut Context<'_>,
) -> Handled {
    let exact = match (message.selector, message.values) {
        (words::BANG, _) => object.bang(context),
        (words::FLOAT, [Value::Float(number), ..]) => object.float(*number, context),
        (words::FLOAT, []) => object.float(0.0, context),
        (words::FLOAT, [Value::Symbol(_), ..]) => return Handled::No,
        (words::SYMBOL, [Value::Symbol(symbol), ..]) => object.symbol(*symbol, context),
        (words::SYMBOL, _) => object.symbol(words::EMPTY, context),
        (words::LIST, values) => return to_list(object, values, context),
        _ => return object.anything(message, context),
    };
    if exact == Handled::Yes {
        return exact;
    }
    match object.list(message.values, context) {
        Handled::Yes => Handled::Yes,
        Handled::No => object.anything(message, context),
    }
}

/// A list: for its own method, else as the value that it is, else spread over the inlets, the left one last.
fn to_list(object: &mut dyn Object, values: &[Value], context: &mut Context<'_>) -> Handled {
    if object.list(values, context) == Handled::Yes {
        return Handled::Yes;
    }
    let short = match values {
        [] => object.bang(context),
        [Value::Float(number)] => object.float(*number, context),
        [Value::Symbol(symbol)] => object.symbol(*symbol, context),
        _ => Handled::No,
    };
    if short == Handled::Yes {
        return short;
    }
    let message = Message {
        selector: words::LIST,
        values,
    };
    if object.anything(message, context) == Handled::Yes {
        return Handled::Yes;
    }
    for (inlet, value) in values.iter().enumerate().skip(1) {
        object.cold(
            inlet,
            Message::of_list(std::slice::from_ref(value)),
            context,
        );
    }
    match values.first() {
        Some(Value::Float(number)) => object.float(*number, context),
        Some(Value::Symbol(symbol)) => object.symbol(*symbol, context),
        None => Handled::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{SearchPath, load_patch};

    /// A machine of a patch with these lines.
    fn machine(name: &str, lines: &str) -> Machine {
        let name = format!("divisi-machine-{name}-{}.pd", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, format!("#N canvas 0 0 9 9 12;\n{lines}"))
            .expect("it can be written");
        let loaded = load_patch(&path, &SearchPath::only([])).expect("it is there");
        std::fs::remove_file(&path).expect("it is ours");
        let (mut machine, not_yet) = Machine::build(&loaded, 44_100.0);
        assert!(not_yet.is_empty() && loaded.diagnostics.is_empty());
        machine.load();
        machine
    }

    #[test]
    fn midi_reaches_the_boxes_that_receive_it() {
        let mut machine = machine(
            "in",
            "#X obj 0 0 notein;\n#X obj 0 0 pack 0 0 0;\n#X obj 0 0 print note;\n#X obj 0 0 bendin 2;\n#X obj 0 0 print bend;\n\
             #X obj 0 0 ctlin 7;\n#X obj 0 0 print volume;\n#X obj 0 0 midirealtimein;\n#X obj 0 0 print clock;\n\
             #X obj 0 0 pgmin;\n#X obj 0 0 print program;\n\
             #X connect 0 0 1 0;\n#X connect 0 1 1 1;\n#X connect 0 2 1 2;\n#X connect 1 0 2 0;\n#X connect 3 0 4 0;\n\
             #X connect 5 0 6 0;\n#X connect 7 0 8 0;\n#X connect 9 0 10 0;\n",
        );
        // A running status, a clock inside a message, and a note that ends.
        machine.midi(0, &[0x90, 60, 100, 61, 0xf8, 0, 0x82, 62, 9]);
        machine.midi(1, &[0x90, 60, 1, 0xc0, 4]);
        machine.midi(0, &[0xe1, 0, 64, 0xb3, 7, 5, 0xb3, 8, 5, 0xff]);
        let found = machine.take_console();
        let expected = [
            "note: 60 100 1",
            "clock: 248",
            "note: 61 0 1",
            "note: 62 0 3",
            "note: 60 1 17",
            "program: 5",
            "bend: 8192",
            "volume: 5",
            "clock: 255",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn boxes_send_midi() {
        let mut machine = machine(
            "out",
            "#X obj 0 0 loadbang;\n#X msg 0 0 60 100;\n#X obj 0 0 noteout 17;\n#X msg 0 0 300;\n#X obj 0 0 ctlout 7 2;\n\
             #X msg 0 0 -1;\n#X obj 0 0 bendout;\n#X obj 0 0 pgmout;\n#X msg 0 0 254;\n#X obj 0 0 midiout 2;\n\
             #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 0 0 3 0;\n#X connect 3 0 4 0;\n#X connect 0 0 5 0;\n\
             #X connect 5 0 6 0;\n#X connect 5 0 7 0;\n#X connect 0 0 8 0;\n#X connect 8 0 9 0;\n",
        );
        let mut found = Vec::new();
        let lost = machine.drain_midi(|port, bytes| found.push((port, bytes.to_vec())));
        let expected = [
            (1, vec![0x90, 60, 100]),
            (0, vec![0xb1, 7, 127]),
            (0, vec![0xe0, 127, 63]),
            (0, vec![0xc0, 0]),
            (1, vec![254]),
        ];
        assert_eq!(found, expected);
        assert_eq!(lost, 0);
    }

    #[test]
    fn pd_quit_ends_the_run() {
        let mut machine = machine(
            "quit",
            "#X obj 0 0 loadbang;\n#X obj 0 0 delay 10;\n#X msg 0 0 \\; pd quit;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n",
        );
        assert!(!machine.is_over());
        (0..10).for_each(|_| machine.tick());
        assert!(machine.is_over());
    }
}
