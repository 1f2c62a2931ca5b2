//! [`MessageStep`]: the messages of a patch, which come before all signals of a block.

use super::bound_step::BoundStep;
use super::row::Row;
use super::row_blocks::RowBlocks;
use super::shared::{SharedCell, SharedName, SharedThings};
use super::state::StateFormat;
use super::touched::Touched;
use super::world::{BlockTime, BlockTimer, BufferId};
use super::{BLOCK, RowFormat};
use crate::control::{JobResult, Jobs, MAX_JOBS, Machine, ObjectId};
use crate::file::Atom;
use std::collections::VecDeque;
use std::sync::Arc;

/// A message of the host: the patch, milliseconds after its begin, the receiver and the words.
pub(super) type HostMessage = (u16, f64, String, Vec<Atom>);

/// The messages of a patch: they come before all signals of a block.
pub(crate) struct MessageStep {
    pub(super) machine: Machine,
    /// Block length and rate of the patch.
    pub(super) format: RowFormat,
    pub(super) time: Arc<BlockTime>,
    pub(super) things: SharedThings,
    pub(super) touched: Touched,
    pub(super) state_format: StateFormat,
    /// Messages of the host, until the loadbangs are sent: their clocks come first.
    pub(super) after_load: Option<Vec<HostMessage>>,
    /// Results of jobs, until the next block.
    pub(super) results: VecDeque<(ObjectId, JobResult)>,
    /// Results that objects have taken: another thread frees them.
    pub(super) used: Vec<JobResult>,
    /// True while memory for symbols is on its way.
    pub(super) waits_for_symbols: bool,
    /// Channels of `adc~`.
    pub(super) inputs: Box<[SharedCell]>,
}

/// Arrays and numbers that lie in the machine: they return to the signals in the end, also when a message panics.
pub(super) struct Swapped<'s>(pub(super) &'s mut MessageStep);

impl<'s> Swapped<'s> {
    pub(super) fn new(step: &'s mut MessageStep) -> Self {
        step.swap_arrays();
        Self(step)
    }
}

impl Drop for Swapped<'_> {
    fn drop(&mut self) {
        self.0.swap_arrays();
        self.0.silence_lines();
    }
}

impl MessageStep {
    /// Runs the messages of a block: takes in the channels of `adc~` with `input`, and gives everything to the signals.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(crate) fn run(&mut self, input: impl FnMut(usize, &mut [f32])) {
        self.run_with(None::<fn(&mut Machine)>, input);
    }

    /// As [`run`](Self::run), after the messages that `outside` sends, if there are any. Returns false if there were no messages at all.
    #[inline]
    pub(crate) fn run_with(
        &mut self,
        outside: Option<impl FnOnce(&mut Machine)>,
        mut input: impl FnMut(usize, &mut [f32]),
    ) -> bool {
        // Before the messages: a bang to `switch~` computes its canvas at once, with `adc~` and `dac~` in it.
        for (at, channel) in self.inputs.iter().enumerate() {
            input(at, &mut channel.write().samples[..BLOCK]);
        }
        self.machine.begin_children();
        for id in &self.touched.clock_setters {
            self.machine.take_clocks(*id);
        }
        let rests = outside.is_none() && self.results.is_empty() && self.machine.rest();
        if !rests {
            self.run_messages(outside);
        }
        self.time.begin(self.machine.now());
        !rests
    }

    /// Runs the messages of a block, with arrays and numbers in the machine.
    fn run_messages(&mut self, outside: Option<impl FnOnce(&mut Machine)>) {
        let swapped = Swapped::new(self);
        let step = &mut *swapped.0;
        if !step.machine.waits_in_tick() {
            step.give_results();
            step.machine.receive_net();
        }
        if let Some(outside) = outside {
            outside(&mut step.machine);
        }
        step.machine.tick();
    }

    /// Logical time, in units.
    pub(crate) fn now(&self) -> f64 {
        self.machine.now()
    }

    /// Returns true if lines or messages of MIDI wait to be taken.
    ///
    /// Real-time: hot.
    #[inline]
    pub(crate) fn has_output(&self) -> bool {
        self.machine.has_output()
    }

    /// A row of some of the patch's steps, and where its signals lie. `inputs` come from other rows, `outputs` go there.
    ///
    /// Real-time: setup.
    pub(crate) fn row(
        &mut self,
        steps: Vec<BoundStep>,
        ports: (&[BufferId], &[BufferId]),
    ) -> (Row, RowBlocks) {
        let format = (&self.format, self.time.clone());
        Row::new(&mut self.machine, steps, ports, format)
    }

    /// Runs the messages of a block whose signals have computed without them.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(crate) fn run_late(&mut self) {
        let swapped = Swapped::new(self);
        let step = &mut *swapped.0;
        for id in &step.touched.clock_setters {
            step.machine.take_clocks(*id);
        }
        step.machine.tick();
    }

    /// Runs messages that `outside` sends between two blocks.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(crate) fn run_between(&mut self, outside: impl FnOnce(&mut Machine)) {
        let swapped = Swapped::new(self);
        outside(&mut swapped.0.machine);
    }

    /// Channels of `adc~`.
    pub(crate) fn input_cells(&self) -> Box<[SharedCell]> {
        self.inputs.clone()
    }

    /// Timer that tells the signals the time of a block without messages.
    pub(crate) fn block_timer(&self) -> BlockTimer {
        BlockTimer::new(self.time.clone(), self.machine.tick_length())
    }

    /// Sends a message to everything that receives under `name`, `ms` milliseconds from now.
    ///
    /// Real-time: setup.
    pub(super) fn schedule(&mut self, ms: f64, name: &str, words: &[Atom]) {
        self.schedule_in(0, ms, name, words);
    }

    /// As [`MessageStep::schedule`], to what receives in one patch.
    ///
    /// Real-time: setup.
    pub(crate) fn schedule_in(&mut self, patch: u16, ms: f64, name: &str, words: &[Atom]) {
        match &mut self.after_load {
            Some(waiting) => waiting.push((patch, ms, name.to_owned(), words.to_vec())),
            None => self.machine.schedule_in(patch, ms, name, words),
        }
    }

    /// Sends the loadbangs.
    ///
    /// Real-time: setup.
    pub(crate) fn load(&mut self) {
        let swapped = Swapped::new(self);
        let step = &mut *swapped.0;
        step.machine.load();
        for (patch, ms, name, words) in step.after_load.take().into_iter().flatten() {
            step.machine.schedule_in(patch, ms, &name, &words);
        }
        drop(swapped);
        self.fix_state();
    }

    /// Files and memory that objects ask for.
    pub(crate) fn jobs(&mut self) -> &mut Jobs {
        &mut self.machine.globals().jobs
    }

    /// Keeps the result of a job for the next block.
    ///
    /// Real-time: hot.
    pub(crate) fn keep_result(&mut self, object: ObjectId, result: JobResult) {
        match result {
            // Others may wait for it.
            JobResult::Symbols(_) => self.results.push_front((object, result)),
            _ => self.results.push_back((object, result)),
        }
    }

    /// Takes the results that are used up.
    ///
    /// Real-time: hot.
    pub(crate) fn take_used(&mut self) -> Option<JobResult> {
        let of_objects = self.machine.globals().jobs.take_used();
        of_objects.or_else(|| self.used.pop())
    }

    /// Computes the sub-patches of `pd~` that are no nodes, behind the signals of a block.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(crate) fn run_children(&mut self) {
        self.machine.globals().children.run();
    }

    /// Returns true if the results of a block and those that are used up find room.
    pub(crate) fn has_room(&self) -> bool {
        self.results.len() + self.used.len() <= MAX_JOBS
    }

    /// Gives objects the results that have come, and says in which block.
    fn give_results(&mut self) {
        let machine = &mut self.machine;
        while let Some((object, mut result)) = self.results.pop_front() {
            if !machine.fits(&result) {
                if !std::mem::replace(&mut self.waits_for_symbols, true) {
                    machine.ask_for_symbols(Some(&result));
                }
                self.results.push_front((object, result));
                break;
            }
            machine.reply(object, &mut result);
            let block = self.time.tick() + 1;
            match &result {
                JobResult::Symbols(_) => self.waits_for_symbols = false,
                JobResult::Points { .. } => machine.print_resized(block),
                JobResult::Samples(_) | JobResult::WriteText { .. } => {}
                _ => machine.print_served(object, block),
            }
            self.used.push(result);
        }
        let is_live = machine.globals().jobs.is_deferred;
        if is_live && !self.waits_for_symbols && machine.is_short_of_symbols() {
            self.waits_for_symbols = true;
            machine.ask_for_symbols(None);
        }
    }

    /// The messages themselves.
    pub(crate) fn machine(&mut self) -> &mut Machine {
        &mut self.machine
    }

    /// Gives every message of MIDI that was sent to `take`, with the patch and the port of each, and returns the number of those that found no room.
    ///
    /// Real-time: as `take`.
    pub(crate) fn drain_midi(&mut self, take: impl FnMut(u16, u8, &[u8])) -> u64 {
        self.machine.drain_midis(take)
    }

    /// Gives every line that was printed to `take`, with its patch.
    ///
    /// Real-time: as `take`.
    pub(crate) fn drain_console(&mut self, take: impl FnMut(u16, &str)) {
        self.machine.drain_consoles(take);
    }

    /// Takes what was printed.
    pub(crate) fn take_console(&mut self) -> Vec<String> {
        self.machine.take_console()
    }

    /// Makes the delay lines silent that messages have cleared.
    #[inline]
    fn silence_lines(&mut self) {
        for name in self.machine.globals().silenced_lines.drain(..) {
            if let Some(line) = self.things.get(SharedName::Delay(name)) {
                line.write().samples.fill(0.0);
            }
        }
    }

    /// Moves the points of arrays and the numbers of `value` to the machine, or back to where the signals find them.
    #[inline]
    pub(super) fn swap_arrays(&mut self) {
        for (id, cell) in &self.touched.arrays {
            self.machine.swap_points(*id, &mut cell.write().samples);
        }
        for (name, cell) in &self.touched.values {
            if let Some(value) = self.machine.globals().values.get_mut(name) {
                std::mem::swap(value, &mut cell.write().samples[0]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::steps::PatchSteps;
    use super::*;
    use crate::load::{SearchPath, load_patch};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn steps(name: &str, lines: &str) -> (PatchSteps, std::path::PathBuf) {
        let folder =
            std::env::temp_dir().join(format!("divisi-steps-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let path = folder.join("p.pd");
        std::fs::write(&path, format!("#N canvas 0 0 9 9 12;\n{lines}")).expect("writable");
        let mut loaded = load_patch(&path, &SearchPath::only([])).expect("it is there");
        loaded.allow_write(&folder);
        (PatchSteps::new(&loaded, 44_100.0, (0, 1)).0, folder)
    }

    #[test]
    fn a_run_that_is_only_measured_writes_no_files() {
        let lines = "#X obj 0 0 loadbang;\n#X msg 0 0 write -wave out.wav t;\n#X obj 0 0 soundfiler;\n#X obj 0 0 table t 10;\n\
             #X obj 0 0 print;\n#X msg 0 0 symbol made;\n#X obj 0 0 file mkdir;\n#X obj 0 0 text define w;\n#X msg 0 0 write w.txt;\n\
             #X obj 0 0 writesf~;\n#X msg 0 0 open s.wav \\, start \\, stop;\n\
             #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 2 0 4 0;\n#X connect 0 0 5 0;\n#X connect 5 0 6 0;\n\
             #X connect 0 0 8 0;\n#X connect 8 0 7 0;\n#X connect 0 0 10 0;\n#X connect 10 0 9 0;\n";
        let (mut patch, folder) = steps("dry", lines);
        patch.messages.jobs().is_dry = true;
        patch.messages.load();
        patch.messages.run(|_, _| {});
        let printed = patch.messages.take_console().join("\n");
        drop(patch);
        let files: Vec<_> = std::fs::read_dir(&folder)
            .expect("there")
            .flatten()
            .collect();
        std::fs::remove_dir_all(&folder).expect("ours");
        assert!(printed.ends_with("print: 10"), "{printed}");
        assert_eq!(files.len(), 1, "{files:?}");
    }

    #[test]
    fn messages_of_the_host_come_behind_what_loadbangs_set() {
        let lines = "#X obj 0 0 loadbang;\n#X obj 0 0 delay 0;\n#X obj 0 0 print patch;\n#X obj 0 0 r x;\n#X obj 0 0 print host;\n\
             #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 3 0 4 0;\n";
        let (mut patch, folder) = steps("host", lines);
        patch.messages.schedule(0.0, "x", &[]);
        patch.messages.load();
        patch.messages.run(|_, _| {});
        std::fs::remove_dir_all(&folder).expect("ours");
        assert_eq!(patch.messages.take_console(), ["patch: bang", "host: bang"]);
    }

    #[test]
    fn a_block_without_messages_rests_and_time_goes_on() {
        let lines = "#X obj 0 0 loadbang;\n#X obj 0 0 print at;\n#X obj 0 0 delay 4;\n#X obj 0 0 table t 10;\n#X obj 0 0 r x;\n\
             #X obj 0 0 tabread~ t;\n#X obj 0 0 dac~;\n#X connect 0 0 1 0;\n#X connect 0 0 2 0;\n#X connect 2 0 1 0;\n\
             #X connect 4 0 1 0;\n#X connect 5 0 6 0;\n";
        let (mut patch, folder) = steps("rest", lines);
        std::fs::remove_dir_all(&folder).expect("ours");
        let messages = &mut patch.messages;
        messages.load();
        // What was printed before the first block waits, though no message comes.
        assert!(messages.has_output());
        let mut run = || messages.run_with(None::<fn(&mut Machine)>, |_, _| {});
        // 4 ms are 2.76 blocks.
        let ran = [run(), run(), run(), run()];
        assert_eq!(ran, [false, false, true, false]);
        let name = messages.machine.symbol("x");
        let send = |machine: &mut Machine| machine.send_number(0, name, 7.0);
        assert!(messages.run_with(Some(send), |_, _| {}));
        assert_eq!(messages.time.tick(), 5);
        assert_eq!(messages.take_console(), ["at: bang", "at: bang", "at: 7"]);
        assert!(!messages.has_output());
        assert_eq!(messages.touched.arrays[0].1.read().samples.len(), 10);
    }

    #[test]
    fn a_panic_in_a_message_leaves_arrays_with_the_signals() {
        let lines = "#X obj 0 0 table t 10;\n#X obj 0 0 tabread~ t;\n#X obj 0 0 dac~;\n#X connect 1 0 2 0;\n";
        let (mut patch, folder) = steps("panic", lines);
        patch.messages.load();
        let found = catch_unwind(AssertUnwindSafe(|| {
            patch
                .messages
                .run_with(Some(|_: &mut Machine| panic!("a mistake")), |_, _| {});
        }));
        assert!(found.is_err());
        assert_eq!(patch.messages.touched.arrays[0].1.read().samples.len(), 10);
        patch.messages.run(|_, _| {});
        assert_eq!(patch.messages.touched.arrays[0].1.read().samples.len(), 10);
        std::fs::remove_dir_all(&folder).expect("ours");
    }
}
