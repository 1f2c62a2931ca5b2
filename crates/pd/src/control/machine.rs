//! [`Machine`]: objects, wires, and one tick.

use super::arrays::ArrayId;
use super::canvases::Canvases;
use super::chains::Chains;
use super::clocks::UNITS_PER_MS;
use super::copied::Clipboard;
use super::early_message::EarlyState;
use super::globals::Globals;
use super::layout::Layout;
use super::midi::MidiParser;
use super::object::Object;
use super::patches::Patches;
use super::placed_box::PlacedBox;
use super::slot::ObjectSlot;
use super::symbol::Symbol;
use super::value::Value;
use super::wire::{ObjectId, Wire};
use super::work::{Entry, Work};
use std::ops::Range;

/// Messages within one tick, at most: a patch that never comes to an end is stopped, and says so.
pub(crate) const MAX_MESSAGES: u32 = 10_000_000;

/// The control objects of a patch.
pub struct Machine {
    pub(super) objects: Vec<ObjectSlot>,
    /// Boxes and connections that were made and removed, counted.
    pub(super) changes: u64,
    /// Class of each object, for messages.
    pub(super) classes: Vec<Box<str>>,
    /// Number of inlets of each object: a list is spread over so many.
    pub(super) inlets: Vec<u32>,
    /// Connections of each outlet of each object.
    pub(super) wires: Vec<Vec<Vec<Wire>>>,
    pub(super) loadbangs: Vec<ObjectId>,
    /// True where messages may connect boxes: what an outlet sends then goes on along a connection that it makes itself, as in Pd.
    pub(super) connects: bool,
    pub(super) globals: Globals,
    pub(super) stack: Vec<Entry>,
    pub(super) values: Vec<Value>,
    /// Values of the message that is being delivered.
    pub(super) delivered: Vec<Value>,
    /// Messages that may still be delivered until the end of this tick: by clocks, and by what came from outside before it.
    pub(super) left: u32,
    /// Length of a tick, in units of logical time.
    pub(super) tick: f64,
    /// By patch.
    pub(super) midi_parsers: Vec<MidiParser>,
    /// Canvases, for messages to them.
    pub(super) canvases: Canvases,
    /// Boxes and connections, where messages may change signals.
    pub(super) layout: Option<Box<Layout>>,
    pub(super) patches: Patches,
    /// Boxes that messages have copied.
    pub(super) clipboard: Clipboard,
    /// Words of all copies that were made.
    pub(super) copied_words: usize,
    /// Messages that wait for a change of the patch.
    pub(super) chains: Chains,
    pub(super) early: EarlyState,
}

impl Machine {
    /// A machine without objects at `rate` hertz.
    pub(crate) fn new(rate: f32) -> Self {
        Self {
            objects: Vec::new(),
            changes: 0,
            classes: Vec::new(),
            inlets: Vec::new(),
            wires: Vec::new(),
            loadbangs: Vec::new(),
            connects: false,
            globals: {
                let mut globals = Globals::new(rate);
                let Globals { data, symbols, .. } = &mut globals;
                data.add_own_templates(symbols);
                globals
            },
            stack: Vec::with_capacity(4096),
            values: Vec::with_capacity(4096),
            delivered: Vec::with_capacity(256),
            left: MAX_MESSAGES,
            midi_parsers: vec![MidiParser::default()],
            canvases: Canvases::default(),
            layout: None,
            patches: Patches::default(),
            clipboard: Clipboard::default(),
            copied_words: 0,
            chains: Chains::default(),
            early: EarlyState::default(),
            // Pd multiplies by an inverse that is a float.
            tick: UNITS_PER_MS * 1000.0 * 64.0 * f64::from(1.0 / rate),
        }
    }

    /// Adds an object with one inlet.
    pub(super) fn add(&mut self, class: &str, object: Box<dyn Object>) -> ObjectId {
        let id = ObjectId(u32::try_from(self.objects.len()).expect("boxes are bounded"));
        self.changes += 1;
        self.objects.push(ObjectSlot::Control(object));
        self.classes.push(class.into());
        self.inlets.push(1);
        self.wires.push(Vec::new());
        id
    }

    /// Gives an object the inlets of its box.
    pub(super) fn set_inlets(&mut self, id: ObjectId, count: usize) {
        self.inlets[id.0 as usize] = u32::try_from(count).expect("a box has few inlets");
    }

    /// Number of objects.
    pub(super) fn object_count(&self) -> u32 {
        u32::try_from(self.objects.len()).expect("boxes are bounded")
    }

    /// Returns true if an outlet is connected to an inlet.
    pub(super) fn is_connected(&self, from: ObjectId, outlet: usize, to: Wire) -> bool {
        let wires = self.wires[from.0 as usize].get(outlet);
        wires.is_some_and(|wires| wires.contains(&to))
    }

    /// Disconnects an outlet; false if there is no such connection.
    pub(super) fn disconnect(&mut self, from: ObjectId, outlet: usize, to: Wire) -> bool {
        let wires = self.wires[from.0 as usize].get_mut(outlet);
        let at = wires.and_then(|wires| {
            let at = wires.iter().position(|wire| *wire == to)?;
            wires.remove(at);
            Some(at)
        });
        self.changes += 1;
        if let Some(at) = at {
            self.pass_over(|object, number, next| {
                usize::from(object == from && number == outlet && at < next)
            });
        }
        at.is_some()
    }

    /// Lets messages that are on their way through an outlet go on where they were: `gone` tells how many of the connections before
    /// the next one are removed.
    fn pass_over(&mut self, gone: impl Fn(ObjectId, usize, usize) -> usize) {
        for entry in self.stack.iter_mut().chain(self.chains.entries()) {
            if let Some((object, outlet, next)) = entry.work.next_connection() {
                let before = *next as usize;
                let left = before - gone(object, outlet, before).min(before);
                *next = u32::try_from(left).expect("fewer than before");
            }
        }
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
        self.changes += 1;
        let mut is_removed = vec![false; self.objects.len()];
        for at in ranges.iter().flat_map(Clone::clone) {
            is_removed[at as usize] = true;
            self.objects[at as usize].clear(ObjectId(at), &mut self.globals);
            self.wires[at as usize].clear();
        }
        let removed = |id: ObjectId| is_removed[id.0 as usize];
        let wires = std::mem::take(&mut self.wires);
        self.pass_over(|object, outlet, next| {
            let passed = wires[object.0 as usize].get(outlet);
            let passed = passed.and_then(|wires| wires.get(..next));
            let passed = passed.into_iter().flatten();
            passed.filter(|wire| removed(wire.object)).count()
        });
        self.wires = wires;
        for wires in self.wires.iter_mut().flatten() {
            wires.retain(|wire| !removed(wire.object));
        }
        let (data, mut beside, _) = self.globals.data();
        for name in data.forget_boxes(removed, &mut beside) {
            let Globals {
                console, symbols, ..
            } = &mut self.globals;
            let name = symbols.text(name);
            console.line(|line| write!(line, "error: {name}: no memory for more data"));
        }
        self.globals.receivers.remove_all(removed);
        // While the patch plays live the points may be with the signals.
        if !self.chains.makes_changes {
            while self.globals.arrays.take_removed().is_some() {}
        }
        self.globals.children.remove(removed);
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

    /// Class of an object.
    pub(crate) fn class(&self, id: ObjectId) -> &str {
        &self.classes[id.0 as usize]
    }

    /// Connects an outlet.
    pub(super) fn connect(&mut self, from: ObjectId, outlet: usize, to: Wire) {
        self.changes += 1;
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
        let end = match self.waits_in_tick() {
            true => self.end_wait(),
            false => None,
        };
        let end = end.unwrap_or_else(|| self.globals.clocks.now() + self.tick);
        // What has waited, or came from outside, may have delivered all messages of the tick: clocks then come in the next one.
        while self.left > 0
            && let Some(due) = self.globals.clocks.take_before(end)
        {
            self.call(due.object, 0, |object, context| {
                object.clock(due.slot, context)
            });
            self.run();
        }
        self.globals.clocks.advance_to(end);
        self.left = MAX_MESSAGES;
    }

    /// Lets a tick pass in which there are no messages; false if there may be some.
    ///
    /// Real-time: hot.
    #[inline]
    pub(crate) fn rest(&mut self) -> bool {
        let end = self.globals.clocks.now() + self.tick;
        let rests = !self.waits_in_tick()
            && self.globals.clocks.rest_until(end)
            && self.globals.net.is_empty()
            && !(self.globals.jobs.is_deferred && self.is_short_of_symbols());
        if rests {
            self.globals.clocks.advance_to(end);
        }
        rests
    }

    /// Returns true if lines or messages of MIDI wait to be taken.
    ///
    /// Real-time: hot.
    #[inline]
    pub(crate) fn has_output(&self) -> bool {
        !(self.globals.console.is_empty() && self.globals.midi_output.is_empty())
    }

    /// The symbol of a name.
    ///
    /// Real-time: setup.
    pub(crate) fn symbol(&mut self, name: &str) -> Symbol {
        self.globals.symbols.intern(name)
    }

    /// Boxes of a patch that faces can show.
    pub(crate) fn placed_boxes(&self, patch: u16) -> &[PlacedBox] {
        self.patches.boxes(patch)
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
}
