//! Messages that come late while a long change of a patch that plays live is made: few in one block, and none is lost, also behind `pd~`.

mod live;

use driver::{AudioCallback, CallbackInfo};
use processor::Mode;
use std::path::{Path, PathBuf};

/// Blocks whose messages must come late before a run proves something.
const LATE: usize = 40;
/// Runs until one is late enough: on a busy machine the change may be made while no block is computed.
const RUNS: usize = 10;
/// Blocks behind the change.
const REST: usize = 300;
/// A loop that makes 1500 boxes, in one change.
const MAKES: &str = "#X obj 0 0 r many;\n#X msg 0 0 1500;\n#X obj 0 0 until;\n#X msg 0 0 \\; pd-s obj 0 0 r x;\n#N canvas 0 0 9 9 s 0;\n\
    #X restore 0 0 pd s;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n";
/// Counts ticks of a clock: in each block one. From box 5 on.
const COUNTS: &str = "#X obj 0 0 loadbang;\n#X obj 0 0 metro 1.4512471;\n#X obj 0 0 f;\n#X obj 0 0 + 1;\n\
    #X connect 5 0 6 0;\n#X connect 6 0 7 0;\n#X connect 7 0 8 0;\n#X connect 8 0 7 1;\n";

/// The first sample of each block, and the lines that were printed.
struct Played {
    blocks: Vec<f32>,
    lines: Vec<String>,
}

impl Played {
    /// Blocks in a row in which no message came, at most.
    fn longest_wait(&self) -> usize {
        let runs = self.blocks.chunk_by(|a, b| a == b);
        // Those of the begin wait for nothing.
        let runs = runs.filter(|run| run[0] > 20.0);
        runs.map(<[f32]>::len).max().unwrap_or(0)
    }
}

/// Plays a patch live, as fast as it can be computed, with the change behind 60 blocks.
fn play(patch: &Path) -> Played {
    let (mut engine, mut callback, lines) = live::engine(patch, 64, Mode::Live);
    let node = engine.graph().find("patch").expect("it is there");
    let (mut blocks, mut rest) = (Vec::new(), REST);
    while rest > 0 {
        match blocks.len() {
            60 => drop(engine.send_words(node, "many").expect("there is room")),
            2_000_000 => panic!("the change is never made"),
            _ => {}
        }
        let mut output = [0.0; 64];
        callback.process(CallbackInfo::default(), &[], &mut [&mut output]);
        blocks.push(output[0]);
        if blocks.len() % 50 == 0 {
            engine.update();
        }
        let lines = lines.lock().expect("no panic");
        if lines
            .iter()
            .any(|line: &String| line.starts_with("canvas: "))
        {
            rest -= 1;
        }
    }
    drop((engine, callback));
    let lines = lines.lock().expect("no panic").clone();
    Played { blocks, lines }
}

/// Plays until the messages of enough blocks were late.
fn play_late(patch: &Path, check: impl Fn(&Played)) {
    for _ in 0..RUNS {
        let played = play(patch);
        let errors = played.lines.iter().any(|it| it.starts_with("error"));
        assert!(!errors, "{:?}", played.lines);
        check(&played);
        if played.longest_wait() >= LATE {
            return;
        }
    }
    panic!("in {RUNS} runs no message was late");
}

fn folder(name: &str) -> PathBuf {
    let name = format!("divisi-late-{name}-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

#[test]
fn messages_that_are_late_come_a_few_in_each_block_and_none_is_lost() {
    let folder = folder("bound");
    let patch = format!(
        "#N canvas 0 0 9 9 12;\n{MAKES}{COUNTS}#X obj 0 0 sig~;\n#X obj 0 0 dac~ 1;\n#X connect 7 0 9 0;\n#X connect 9 0 10 0;\n"
    );
    std::fs::write(folder.join("p.pd"), patch).expect("writable");
    play_late(&folder.join("p.pd"), |played| {
        let steps = played.blocks.windows(2).map(|two| two[1] - two[0]);
        // Eight of late blocks and that of the block itself, and one at a border of two.
        let most = steps.clone().fold(0.0, f32::max);
        assert!((1.0..=10.0).contains(&most), "{most} messages in one block");
        assert!(steps.clone().all(|step| step >= 0.0));
        let (count, blocks) = (played.blocks[played.blocks.len() - 1], played.blocks.len());
        assert!((count - blocks as f32).abs() <= 2.0, "{count} in {blocks}");
        if played.longest_wait() >= LATE {
            assert!(most >= 8.0, "{most} messages in one block");
        }
    });
    std::fs::remove_dir_all(&folder).expect("ours");
}

#[test]
fn a_sub_patch_gets_all_messages_behind_a_long_change() {
    let folder = folder("child");
    // The sub-patch is there before the first message. Each says which one it is; the sub-patch subtracts how many it has got.
    let begin = "#X connect 5 0 6 0;\n";
    let counts = COUNTS.replace(begin, &format!("#X connect 5 0 11 0;\n{begin}"));
    let patch = format!(
        "#N canvas 0 0 9 9 12;\n{MAKES}{counts}#X msg 0 0 number \\$1;\n#X obj 0 0 pd~ -ninsig 1 -noutsig 2 -fifo 3;\n\
         #X msg 0 0 pd~ start -nogui child.pd;\n#X obj 0 0 dac~ 1;\n#X obj 0 0 print from;\n\
         #X connect 8 0 9 0;\n#X connect 9 0 10 0;\n#X connect 11 0 10 0;\n#X connect 10 1 12 0;\n#X connect 10 0 13 0;\n"
    );
    let child = "#N canvas 0 0 9 9 12;\n#X obj 0 0 r number;\n#X obj 0 0 t f b;\n#X obj 0 0 f;\n#X obj 0 0 + 1;\n#X obj 0 0 -;\n#X obj 0 0 sel 0;\n\
                 #X obj 0 0 stdout;\n#X obj 0 0 sig~;\n#X obj 0 0 dac~;\n#X obj 0 0 loadbang;\n#X msg 0 0 \\; pd dsp 1;\n\
                 #X connect 0 0 1 0;\n#X connect 1 1 2 0;\n#X connect 2 0 3 0;\n#X connect 3 0 2 1;\n#X connect 3 0 4 1;\n#X connect 1 0 4 0;\n\
                 #X connect 4 0 5 0;\n#X connect 5 1 6 0;\n#X connect 1 0 7 0;\n#X connect 7 0 8 0;\n#X connect 9 0 10 0;\n";
    std::fs::write(folder.join("p.pd"), patch).expect("writable");
    std::fs::write(folder.join("child.pd"), child).expect("writable");
    play_late(&folder.join("p.pd"), |played| {
        // A message that was lost or came twice would be said by all behind it.
        let said = played.lines.iter().find(|line| line.starts_with("from"));
        assert_eq!(said, None);
        let steps = played.blocks.windows(2).map(|two| two[1] - two[0]);
        assert!(steps.clone().all(|step| (0.0..=10.0).contains(&step)));
        let (count, blocks) = (played.blocks[played.blocks.len() - 1], played.blocks.len());
        assert!((count - blocks as f32).abs() <= 6.0, "{count} in {blocks}");
    });
    std::fs::remove_dir_all(&folder).expect("ours");
}
