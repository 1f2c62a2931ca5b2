//! Batches: several blocks of a row at once, all of a step before the next one.
//!
//! ```text
//!   block after block   osc~ *~ dac~   osc~ *~ dac~   osc~ *~ dac~
//!   a batch             osc~ osc~ osc~   *~ *~ *~   dac~ dac~ dac~
//! ```
//!
//! A patch that plays in long blocks does so while no message comes, or while those that come may run early (`control/early.rs`): the way from step to step is taken once, and sums and products run on.
//! The bits are the same as long as no step takes in a block what a step behind it has left in the block before, and a batch ends with the
//! block that sets a clock.

use super::bound_step::BoundStep;
use super::shared::SharedName;
use super::traits::Traits;
use crate::control::ObjectId;
use std::collections::HashMap;

/// Classes that do more in a block than to compute: read and write files, wait for others.
const APART: [&str; 3] = ["readsf~", "writesf~", "pd~"];

/// A step that touches a shared thing.
struct Access<'s> {
    class: &'s str,
    is_write: bool,
    may_join: bool,
}

/// Returns true if steps, in the order of Pd, may compute batches.
pub(super) fn may_batch(steps: &[BoundStep], traits: impl Fn(ObjectId) -> Option<Traits>) -> bool {
    let mut all: HashMap<SharedName, Vec<Access<'_>>> = HashMap::new();
    for step in steps {
        if step.hides_clocks || APART.contains(&&*step.class) {
            return false;
        }
        let traits = step.performed().and_then(&traits);
        for (name, is_write) in &step.accesses {
            all.entry(*name).or_default().push(Access {
                class: &step.class,
                is_write: *is_write,
                may_join: traits.is_some_and(|traits| traits.may_join),
            });
        }
    }
    all.iter()
        .all(|(name, accesses)| is_in_order(*name, accesses))
}

/// Returns true if what a thing passes from step to step in a block is all that it passes.
fn is_in_order(name: SharedName, accesses: &[Access<'_>]) -> bool {
    let writers = accesses.iter().filter(|it| it.is_write).count();
    let is_alone = accesses.len() == 1;
    let are = |classes: [&str; 2]| accesses.iter().all(|it| classes.contains(&it.class));
    match name {
        SharedName::Input(_) | SharedName::Output(_) => true,
        SharedName::Send(_) => {
            is_alone || writers == 0 || (are(["send~", "receive~"]) && accesses[0].is_write)
        }
        SharedName::Throw(_) => {
            let catches = accesses.iter().rev().skip_while(|it| it.class == "catch~");
            let is_last = catches.clone().all(|it| it.class == "throw~");
            is_alone || is_last
        }
        // How far apart the writer and its readers are, they say themselves.
        SharedName::Delay(_) => {
            let is_known = accesses.iter().all(|it| it.may_join);
            is_alone || writers == 0 || (writers == 1 && is_known)
        }
        // One that writes says so itself.
        SharedName::Array(_) => {
            let mut writers = accesses.iter().filter(|it| it.is_write);
            is_alone || writers.all(|it| it.class == "tabwrite~")
        }
        SharedName::Value(_) => is_alone || writers == 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::steps::PatchSteps;
    use super::super::{MAX_BATCH, SharedCell};
    use super::*;
    use crate::control::{EarlyTick, words};
    use crate::load::load_text;
    use crate::signal::{MessageStep, Row};

    fn access(class: &str) -> Access<'_> {
        Access {
            class,
            is_write: !matches!(class, "receive~" | "delread~" | "delread4~" | "tabread~"),
            may_join: matches!(class, "delwrite~" | "delread~"),
        }
    }

    fn found(name: SharedName, classes: &[&'static str]) -> bool {
        let accesses = Vec::from_iter(classes.iter().map(|class| access(class)));
        is_in_order(name, &accesses)
    }

    #[test]
    fn what_one_block_leaves_to_the_next_one_is_no_batch() {
        let send = SharedName::Send(words::EMPTY);
        assert!(found(send, &["send~", "receive~", "receive~"]));
        assert!(found(send, &["receive~", "receive~"]));
        assert!(!found(send, &["receive~", "send~"]));
        assert!(!found(send, &["block~", "receive~"]));
        let throw = SharedName::Throw(words::EMPTY);
        assert!(found(throw, &["throw~", "throw~", "catch~"]));
        assert!(!found(throw, &["catch~", "throw~"]));
        assert!(!found(throw, &["throw~", "catch~", "throw~"]));
        assert!(!found(throw, &["switch~", "catch~"]));
        let line = SharedName::Delay(words::EMPTY);
        assert!(found(line, &["delread~", "delwrite~", "delread~"]));
        assert!(!found(line, &["delread4~", "delwrite~"]));
        assert!(!found(line, &["delwrite~", "delwrite~"]));
        let array = SharedName::Array(words::EMPTY);
        assert!(found(array, &["tabread~", "tabread~"]));
        assert!(found(array, &["tabwrite~", "tabread~"]));
        assert!(found(array, &["tabsend~"]));
        assert!(!found(array, &["tabsend~", "tabread~"]));
    }

    /// A patch with a row that may compute batches.
    fn ready(lines: &str) -> (MessageStep, Row, Box<[SharedCell]>) {
        let patch = load_text("p", format!("#N canvas 0 0 9 9 12;\n{lines}"));
        let (mut patch, _) = PatchSteps::new(&patch, 44_100.0, (0, 1));
        let steps = std::mem::take(&mut patch.steps);
        let mut row = patch.messages.row(steps, (&[], &[])).0;
        patch.outputs[0].write().allow_batches();
        patch.messages.allow_batches(&mut row);
        patch.messages.load();
        patch.messages.run(|_, _| {});
        (patch.messages, row, patch.outputs)
    }

    #[test]
    fn a_batch_is_as_long_as_its_objects_allow() {
        let batch = |lines| ready(lines).1.batch(MAX_BATCH);
        assert_eq!(
            batch("#X obj 0 0 osc~ 440;\n#X obj 0 0 dac~ 1;\n#X connect 0 0 1 0;\n"),
            8
        );
        assert_eq!(ready("#X obj 0 0 osc~ 440;\n").1.batch(5), 5);
        // 10 ms are 441 frames.
        let echo = "#X obj 0 0 delread~ a 10;\n#X obj 0 0 *~ 0.5;\n#X obj 0 0 delwrite~ a 100;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n";
        assert_eq!(batch(echo), 6);
        // Its period has begun with this block.
        assert_eq!(
            batch("#X obj 0 0 env~ 1024 512;\n#X obj 0 0 osc~ 1;\n#X connect 1 0 0 0;\n"),
            1
        );
        assert_eq!(batch("#X obj 0 0 bang~;\n"), 1);
        let own = "#N canvas 0 0 9 9 in 0;\n#X obj 0 0 bang~;\n#X obj 0 0 switch~ 64;\n#X restore 0 0 pd in;\n";
        assert_eq!(batch(own), 1);
        let writes = "#X obj 0 0 loadbang;\n#X obj 0 0 tabwrite~ t;\n#X obj 0 0 table t 1000;\n#X obj 0 0 osc~ 1;\n#X connect 0 0 1 0;\n#X connect 3 0 1 0;\n";
        assert_eq!(batch(writes), 1);
        assert_eq!(batch(&writes.replace("loadbang", "inlet")), 8);
    }

    /// Plays so many blocks in batches. Gives their sound.
    fn played(
        (messages, row, outputs): &mut (MessageStep, Row, Box<[SharedCell]>),
        count: usize,
    ) -> Vec<u32> {
        let mut ends = [0.0; MAX_BATCH];
        ends[0] = messages.now();
        for (after, end) in (1..).zip(&mut ends[1..count]) {
            assert_eq!(messages.run_early(after, false), EarlyTick::Quiet);
            *end = messages.now();
        }
        assert_eq!(row.batch(count), count);
        messages.begin_blocks(&ends[..count], |_, _| {});
        row.run_batch(&ends[..count]);
        let mut block = vec![0.0; count * super::super::BLOCK];
        outputs[0].write().take_block(&mut block);
        messages.run(|_, _| {});
        block.into_iter().map(f32::to_bits).collect()
    }

    #[test]
    fn a_number_that_changes_reaches_batches_of_each_length() {
        let lines = "#X obj 0 0 r hz;\n#X obj 0 0 osc~ 100;\n#X obj 0 0 osc~ 440;\n#X obj 0 0 *~;\n#X obj 0 0 dac~ 1;\n#X connect 0 0 1 0;\n\
             #X connect 0 0 3 1;\n#X connect 1 0 3 0;\n#X connect 2 0 4 0;\n#X connect 3 0 4 0;\n";
        let mut both = [ready(lines), ready(lines)];
        for (hz, count) in [
            (100, 3),
            (200, 1),
            (200, 3),
            (300, 2),
            (300, 3),
            (300, 2),
            (400, 8),
            (400, 1),
        ] {
            for (messages, ..) in &mut both {
                let name = messages.machine().symbol("hz");
                messages.machine().send_number(0, name, hz as f32);
            }
            let [blocks, batches] = &mut both;
            let expected = Vec::from_iter((0..count).flat_map(|_| played(blocks, 1)));
            assert_eq!(played(batches, count), expected, "{hz} {count}");
            assert!(expected.iter().any(|x| *x != 0));
        }
    }

    #[test]
    fn messages_come_early_up_to_one_that_needs_signals() {
        let clock = "#X obj 0 0 loadbang;\n#X obj 0 0 metro 2;\n#X msg 0 0 1 2;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n";
        let ticks = |lines: &str| {
            let (mut messages, ..) = ready(&format!("{clock}{lines}"));
            let mut ticks = Vec::new();
            while ticks.len() < 5 && ticks.last() != Some(&EarlyTick::Waits) {
                ticks.push(messages.run_early(ticks.len() as u64 + 1, true));
            }
            (ticks, messages.machine().waits_in_tick())
        };
        use EarlyTick::{Done, Quiet, Waits};
        let line = "#X obj 0 0 line~;\n#X connect 2 0 3 0;\n";
        let all = (vec![Done, Done, Quiet, Done, Done], false);
        assert_eq!(ticks(line), all);
        assert_eq!(ticks(&line.replace("line~", "print")), all);
        let begun = (vec![Waits], true);
        assert_eq!(ticks(&line.replace("line~", "snapshot~")), begun);
        assert_eq!(ticks(&line.replace("2 0 3", "1 0 3")), begun, "a bang");
        // Nothing of these ticks has run: what came from outside comes first in them.
        let apart = (vec![Waits], false);
        let reads = "#X obj 0 0 table t 9;\n#X obj 0 0 tabread~ t;\n";
        assert_eq!(ticks(&format!("{line}{reads}")), apart, "an array");
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("bound").port();
        drop(free);
        let hears = format!("#X obj 0 0 netreceive {port};\n");
        assert_eq!(ticks(&format!("{line}{hears}")), apart, "a socket");
    }

    #[test]
    fn a_batch_has_the_sound_of_its_blocks() {
        compare(
            "#X obj 0 0 osc~ 440;\n#X obj 0 0 tabsend~ t;\n#X obj 0 0 table t 64;\n#X obj 0 0 vline~;\n#X msg 0 0 1 3 \\, 0 4 5;\n\
             #X obj 0 0 *~;\n#X obj 0 0 lop~ 300;\n#X obj 0 0 dac~ 1;\n#X obj 0 0 loadbang;\n#X connect 0 0 1 0;\n#X connect 8 0 4 0;\n\
             #X connect 4 0 3 0;\n#X connect 0 0 5 0;\n#X connect 3 0 5 1;\n#X connect 5 0 6 0;\n#X connect 6 0 7 0;\n",
        );
    }

    #[test]
    fn filters_in_a_batch_drop_what_is_too_small_behind_each_block() {
        // A pulse, then silence: in lanes, in slices, and each by itself.
        compare(
            "#X obj 0 0 loadbang;\n#X msg 0 0 1 \\, 0 1;\n#X obj 0 0 vline~;\n#X obj 0 0 rpole~ 0.8;\n#X obj 0 0 cpole~ 0.5 0.3;\n#X obj 0 0 lop~ 3000;\n\
             #X obj 0 0 hip~ 5000;\n#X obj 0 0 hip~ 6000;\n#X obj 0 0 biquad~ 0.5 -0.2 1 0.3 0.1;\n#X obj 0 0 czero~ 0.1 0.2;\n#X obj 0 0 dac~ 1;\n\
             #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n#X connect 2 0 4 0;\n#X connect 4 0 5 0;\n#X connect 4 1 9 0;\n\
             #X connect 2 0 6 0;\n#X connect 2 0 7 0;\n#X connect 2 0 8 0;\n#X connect 3 0 10 0;\n#X connect 5 0 10 0;\n#X connect 6 0 10 0;\n\
             #X connect 7 0 10 0;\n#X connect 8 0 10 0;\n#X connect 9 0 10 0;\n",
        );
    }

    /// Compares the sound of eight blocks with that of two batches.
    fn compare(lines: &str) {
        let mut sound = [Vec::new(), Vec::new()];
        for (counts, sound) in [[1; 8].as_slice(), &[3, 5]].into_iter().zip(&mut sound) {
            let mut patch = ready(lines);
            for count in counts {
                sound.extend(played(&mut patch, *count));
            }
        }
        let [blocks, batches] = sound;
        assert!(blocks == batches && blocks.iter().any(|x| *x != 0));
    }
}
