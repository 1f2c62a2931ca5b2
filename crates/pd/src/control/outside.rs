//! Input of a machine from outside, and its output: messages of the host, MIDI, sockets, lines.

use super::clocks::Due;
use super::context::Context;
use super::machine::Machine;
use super::net::{Budget, NetService, symbol_counts};
use super::object::Object;
use super::receivers::Passed;
use super::symbol::{Symbol, words};
use super::value::{Message, Value};
use super::wire::{ObjectId, Wire};
use super::work::{Entry, Stored, Work, store};
use crate::file::Atom;
use crate::net::MAX_MESSAGE;
use crate::state::held;

impl Machine {
    /// Gives objects what has come through their sockets.
    ///
    /// Real-time: waits, on the system, in a render; hot while a patch plays live.
    pub(crate) fn receive_net(&mut self) {
        self.globals.net.poll();
        if self.globals.net.events.is_some() {
            self.give_net_events();
        }
    }

    /// Gives objects the events that have come.
    fn give_net_events(&mut self) {
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

    /// Sends a message to everything that receives under the first word of `text`, at once. False if nothing does.
    ///
    /// Real-time: hot for words that the patch knows; a new one allocates.
    pub(crate) fn send_text(&mut self, patch: u16, text: &str) -> bool {
        let mut words = text.split_ascii_whitespace();
        let Some(receiver) = words.next() else {
            return false;
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
                true
            }
            _ => {
                let is_received = name == words::PD || self.globals.receivers.any(name, of_patch);
                if !is_received {
                    self.globals.report_no_receiver(name);
                }
                self.send_from_outside(patch, name, message);
                is_received
            }
        }
    }

    /// Sends words to everything that receives under `name`, as a patch around does.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(crate) fn send_words(&mut self, name: Symbol, words: &[Value]) {
        let is_received = self.globals.receivers.next(name, Passed::NONE).is_some();
        if !(is_received || name == words::PD) {
            return self.globals.report_no_receiver(name);
        }
        let message = store(&mut self.values, Message::of_words(words));
        self.send_from_outside(0, name, message);
    }

    /// Objects that receive under a name in one patch.
    ///
    /// Real-time: setup.
    pub(crate) fn receivers_in(&self, patch: u16, name: Symbol) -> Vec<ObjectId> {
        let (mut found, mut passed) = (Vec::new(), Passed::NONE);
        while let Some((id, after)) = self.globals.receivers.next(name, passed) {
            passed = after;
            found.push(id);
        }
        found.retain(|id| self.patches.of(*id) == patch);
        found
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

    /// Sends a message to everything in a patch that receives under `name`, or to the box of that name.
    pub(super) fn send_from_outside(&mut self, patch: u16, name: Symbol, message: Stored) {
        let (keep, depth) = (message.to, 0);
        let work = Work::Receivers {
            name,
            passed: Passed::NONE,
            message,
            only: Some(patch),
            is_loud: false,
            follows: false,
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
}

/// A move that the host makes at the begin.
struct ScheduledMove {
    target: ObjectId,
    number: f32,
}

impl Object for ScheduledMove {
    held!(; not target, number);

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
    held!(; not name, patch, words);

    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        if self.name != words::PD
            && context
                .globals
                .receivers
                .next(self.name, Passed::NONE)
                .is_none()
        {
            context.globals.report_no_receiver(self.name);
        }
        context.send_into(self.patch, self.name, Message::of_words(&self.words));
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
