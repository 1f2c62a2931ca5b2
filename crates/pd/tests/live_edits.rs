//! Messages to canvases while a patch plays live: the change comes at a block that is said, with the bits that it has in a render there.

mod live;

use divisi_pd::{PatchPlayer, SearchPath, load_patch};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, WordsFate};
use processor::Mode;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Frames of the whole run, in blocks, at most.
const BLOCKS: usize = 4000;

/// What was played, and the lines that were printed.
struct Played {
    bits: Vec<u32>,
    lines: Vec<String>,
}

/// Plays a patch live and sends it each word once what the one before has caused is said, then plays 100 blocks more.
fn play(patch: &Path, words: &[&str]) -> Played {
    play_from(patch, words, 50)
}

/// As [`play`]; the first word is sent before block `first`.
fn play_from(patch: &Path, words: &[&str], first: usize) -> Played {
    let (mut engine, mut callback, lines) = live::engine(patch, 64, Mode::Live);
    let node = engine.graph().find("patch").expect("it is there");
    let (mut bits, mut sent, mut rest) = (Vec::new(), 0, 100);
    let said = || {
        let lines = lines.lock().expect("no panic");
        lines.iter().filter(|it| it.starts_with("canvas: ")).count()
    };
    for block in 0..BLOCKS {
        if said() == words.len() {
            rest -= 1;
        }
        if rest == 0 {
            break;
        }
        if block >= first && sent < words.len() && said() == sent {
            engine.send_words(node, words[sent]).expect("there is room");
            sent += 1;
        }
        let mut output = [0.0; 64];
        callback.process(CallbackInfo::default(), &[], &mut [&mut output]);
        bits.extend(output.map(f32::to_bits));
        if block % 50 == 0 {
            engine.update();
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    drop((engine, callback));
    let lines = lines.lock().expect("no panic").clone();
    Played { bits, lines }
}

#[test]
fn a_message_tells_its_block_and_whether_something_receives_it() {
    let folder = folder("fate");
    let patch = folder.join("p.pd");
    std::fs::write(
        &patch,
        "#N canvas 0 0 9 9 12;\n#X obj 0 0 r x;\n#X obj 0 0 dac~;\n",
    )
    .expect("writable");
    let (mut engine, mut callback, _) = live::engine(&patch, 64, Mode::Live);
    let node = engine.graph().find("patch").expect("it is there");
    let mut play = |engine: &mut Engine, blocks: usize| {
        for _ in 0..blocks {
            let mut output = [0.0; 64];
            callback.process(CallbackInfo::default(), &[], &mut [&mut output]);
            engine.update();
        }
    };
    play(&mut engine, 5);
    let heard = engine.send_words(node, "x 1").expect("there is room");
    let unheard = engine.send_words(node, "y 1").expect("there is room");
    assert_eq!(engine.words_fate(&heard), WordsFate::Waits);
    play(&mut engine, 1);
    assert_eq!(engine.words_fate(&heard), WordsFate::Received(5 * 64));
    assert_eq!(engine.words_fate(&unheard), WordsFate::Unheard(5 * 64));
    // What nobody asks for is forgotten in the end, and nothing waits for it.
    for _ in 0..50 {
        for _ in 0..100 {
            engine.send_words(node, "x 1").expect("there is room");
        }
        play(&mut engine, 1);
    }
    assert_eq!(engine.words_fate(&heard), WordsFate::Unknown);
    std::fs::remove_dir_all(&folder).expect("ours");
}

/// The block that a line names, from 0.
fn block_of(line: &str) -> usize {
    let number = line
        .rsplit(' ')
        .next()
        .and_then(|word| word.parse::<usize>().ok());
    number.expect("a block is named") - 1
}

/// Bits of a patch to which each word is sent at its block.
fn rendered(patch: &Path, words: &[(&str, usize)], frames: usize) -> Vec<u32> {
    let _flush = rt::ftz::FlushToZero::enable();
    let loaded = load_patch(patch, &SearchPath::only([])).expect("it is there");
    let (mut player, _) = PatchPlayer::new(&loaded, 44_100.0, 0, 1);
    for (word, block) in words {
        // Within the block: at its begin another clock may be due.
        let ms = (*block as f64 + 0.25) * 64.0 / 44.1;
        player.schedule(ms, word, &[]);
    }
    let mut bits = Vec::new();
    while bits.len() < frames {
        player.play(&[]);
        bits.extend(player.output(0).iter().map(|x| x.to_bits()));
    }
    bits
}

fn folder(name: &str) -> PathBuf {
    let name = format!("divisi-live-{name}-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

/// Sounds with all kinds of states, and messages that add others, connect, and take away. No clock is due while a change is made: its
/// message would come late by as many blocks as the machine takes, and a render has none.
const CHANGING: &str = "#N canvas 0 0 9 9 12;
#X obj 0 0 r add;
#X msg 0 0 \\; pd-s obj 0 0 osc~ 660 \\, obj 0 0 *~ 0.25 \\, obj 0 0 dac~ \\, obj 0 0 r level \\, connect 0 0 1 0 \\, connect 1 0 2 0 \\, connect 3 0 1 1 \\; level 0.5;
#X obj 0 0 r more;
#X msg 0 0 \\; pd-s obj 0 0 voice 3 \\, obj 0 0 delread~ line 20 \\, connect 4 0 1 0 \\, connect 5 0 1 0 \\, obj 0 0 tabosc4~ wave 110 \\, connect 6 0 2 0;
#X obj 0 0 r less;
#X msg 0 0 \\; pd-s clear;
#N canvas 0 0 9 9 s 0;
#X restore 0 0 pd s;
#X obj 0 0 osc~ 220;
#X obj 0 0 delwrite~ line 100;
#X obj 0 0 delread~ line 30;
#X obj 0 0 dac~;
#X obj 0 0 noise~;
#X obj 0 0 lop~ 300;
#X obj 0 0 loadbang;
#X obj 0 0 t b;
#X obj 0 0 random 500;
#X obj 0 0 line~;
#X obj 0 0 pack 0 1500;
#X obj 0 0 *~;
#X obj 0 0 table wave 67;
#X msg 0 0 \\; wave sinesum 64 1 0.5;
#N canvas 0 0 9 9 slow 0;
#X obj 0 0 block~ 512 2;
#X obj 0 0 osc~ 55;
#X obj 0 0 outlet~;
#X connect 1 0 2 0;
#X restore 0 0 pd slow;
#X obj 0 0 r twice;
#X msg 0 0 \\; pd-s selectall \\, duplicate \\, copy \\, paste;
#X connect 22 0 23 0;
#X connect 0 0 1 0;
#X connect 2 0 3 0;
#X connect 4 0 5 0;
#X connect 21 0 10 0;
#X connect 7 0 8 0;
#X connect 7 0 10 0;
#X connect 9 0 10 0;
#X connect 11 0 12 0;
#X connect 12 0 10 0;
#X connect 13 0 14 0;
#X connect 14 0 15 0;
#X connect 15 0 17 0;
#X connect 17 0 16 0;
#X connect 16 0 18 0;
#X connect 12 0 18 1;
#X connect 18 0 10 0;
#X connect 13 0 20 0;
";

/// An abstraction with an array and a message of its own.
const VOICE: &str = "#N canvas 0 0 9 9 12;
#X obj 0 0 phasor~ 33;
#X obj 0 0 *~ 0.1;
#X obj 0 0 outlet~;
#X obj 0 0 loadbang;
#X obj 0 0 f \\$1;
#X obj 0 0 print voice;
#X connect 0 0 1 0;
#X connect 1 0 2 0;
";

#[test]
fn a_change_has_the_bits_of_a_render_from_the_block_that_is_said() {
    let folder = folder("bits");
    // Blocks inside begin anew when signals change: that one is another test.
    let plain = CHANGING.replace("#X obj 0 0 block~ 512 2;", "#X text 0 0 none;");
    std::fs::write(folder.join("p.pd"), plain).expect("writable");
    std::fs::write(folder.join("voice.pd"), VOICE).expect("writable");
    let patch = folder.join("p.pd");
    let words = ["add", "more", "twice", "less"];
    let played = play(&patch, &words);
    let said = played.lines.iter().filter(|it| it.starts_with("canvas: "));
    let blocks = Vec::from_iter(said.map(|line| block_of(line)));
    assert_eq!(blocks.len(), 4, "{:?}", played.lines);
    let errors = played.lines.iter().any(|it| it.starts_with("error"));
    assert!(!errors, "{:?}", played.lines);
    let at = Vec::from_iter(words.iter().copied().zip(blocks.iter().copied()));
    let expected = rendered(&patch, &at, played.bits.len());
    let first = played.bits.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(first.map(|at| at / 64), None, "blocks {blocks:?}");
    // Each change is heard.
    for count in 0..4 {
        let other = rendered(&patch, &at[..count], played.bits.len());
        assert!(other != expected, "{count}");
    }
    std::fs::remove_dir_all(&folder).expect("ours");
}

#[test]
fn canvases_with_blocks_of_their_own_play_on_through_a_change() {
    let folder = folder("blocks");
    std::fs::write(folder.join("p.pd"), CHANGING).expect("writable");
    std::fs::write(folder.join("voice.pd"), VOICE).expect("writable");
    let patch = folder.join("p.pd");
    // The canvas computes every eighth block: a change comes before, in and behind such a one.
    for first in 56..66 {
        let played = play_from(&patch, &["add"], first);
        let said = played.lines.iter().find(|it| it.starts_with("canvas: "));
        let block = block_of(said.expect("it is said"));
        let expected = rendered(&patch, &[("add", block)], played.bits.len());
        let found = played.bits.iter().zip(&expected).position(|(a, b)| a != b);
        let differs = found.map(|at| at / 64);
        println!("sent before block {first}, heard in {block}: differs {differs:?}");
        assert_eq!(differs, None, "block {block}");
    }
    std::fs::remove_dir_all(&folder).expect("ours");
}

#[test]
fn a_loop_that_makes_boxes_is_one_change() {
    let folder = folder("loop");
    let patch = "#N canvas 0 0 9 9 12;\n#X obj 0 0 r many;\n#X msg 0 0 20;\n#X obj 0 0 until;\n#X obj 0 0 f;\n#X obj 0 0 + 1;\n\
                 #X msg 0 0 \\; pd-s obj 0 \\$1 osc~ \\$1 \\, connect \\$1 0 0 0;\n#N canvas 0 0 9 9 s 0;\n#X obj 0 0 dac~;\n#X restore 0 0 pd s;\n\
                 #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n#X connect 3 0 4 0;\n#X connect 4 0 3 1;\n#X connect 4 0 5 0;\n";
    std::fs::write(folder.join("p.pd"), patch).expect("writable");
    let path = folder.join("p.pd");
    let played = play(&path, &["many"]);
    let [line] = &played.lines[..] else {
        panic!("{:?}", played.lines);
    };
    assert!(line.starts_with("canvas: 40 changes"), "{line}");
    let expected = rendered(&path, &[("many", block_of(line))], played.bits.len());
    assert!(played.bits == expected);
    assert!(expected.iter().any(|bits| *bits != 0));
    std::fs::remove_dir_all(&folder).expect("ours");
}

#[test]
fn a_message_goes_on_along_the_connection_that_it_makes() {
    let folder = folder("own-connection");
    let patch = "#N canvas 0 0 9 9 12;\n#X obj 0 0 r go;\n#X obj 0 0 t f;\n#X msg 0 0 \\; pd-p.pd connect 1 0 3 0;\n#X obj 0 0 print later;\n\
                 #X obj 0 0 osc~;\n#X obj 0 0 dac~;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 4 0 5 0;\n";
    std::fs::write(folder.join("p.pd"), patch).expect("writable");
    let played = play(&folder.join("p.pd"), &["go 5"]);
    let later = played.lines.iter().filter(|line| *line == "later: 5");
    assert_eq!(later.count(), 1, "{:?}", played.lines);
    std::fs::remove_dir_all(&folder).expect("ours");
}

#[test]
fn a_patch_that_plays_in_many_nodes_changes_its_messages() {
    let folder = folder("messages");
    // No message box has the name of a canvas: what comes from outside changes no signals.
    let patch = "#N canvas 0 0 9 9 12;\n#N canvas 0 0 9 9 s 0;\n#X obj 0 0 print made;\n#X restore 0 0 pd s;\n#X obj 0 0 osc~ 5;\n#X obj 0 0 dac~;\n\
                 #X connect 1 0 2 0;\n#X obj 0 0 r x;\n#X obj 0 0 s pd-s;\n#X connect 3 0 4 0;\n";
    std::fs::write(folder.join("p.pd"), patch).expect("writable");
    let words = ["x obj 0 0 r note", "x connect 1 0 0 0"];
    let played = play(&folder.join("p.pd"), &words);
    assert_eq!(played.lines.len(), 2, "{:?}", played.lines);
    let all = ["x obj 0 0 osc~ 3"];
    let played = play(&folder.join("p.pd"), &all);
    let refused = played
        .lines
        .iter()
        .any(|it| it.contains("this box computes none"));
    assert!(refused, "{:?}", played.lines);
    std::fs::remove_dir_all(&folder).expect("ours");
}

#[test]
fn blocks_of_signals_that_play_are_prepared_anew_in_a_silence_that_is_said() {
    for makes in ["pd-s obj 0 0 block~ 256 4", "pd-s paste"] {
        prepares_anew(makes);
    }
}

fn prepares_anew(makes: &str) {
    let folder = folder("reblock");
    let patch = "#N canvas 0 0 9 9 12;\n#X obj 0 0 r add;\n#X msg 0 0 \\; MAKES \\; pd-s obj 0 0 osc~ 30 \\, connect 3 0 4 0;\n#X obj 0 0 r other;\n\
                 #X msg 0 0 \\; pd-s obj 0 0 osc~ 77 \\, connect 5 0 2 0;\n\
                 #N canvas 0 0 9 9 s 0;\n#X obj 0 0 osc~ 440;\n#X obj 0 0 fexpr~ \\$x1+\\$x1[-1];\n#X obj 0 0 outlet~;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n\
                 #X restore 0 0 pd s;\n#X obj 0 0 osc~ 100;\n#X obj 0 0 dac~;\n#N canvas 0 0 9 9 t 0;\n#X obj 0 0 block~ 256 4;\n#X restore 0 0 pd t;\n#X obj 0 0 loadbang;\n\
                 #X msg 0 0 \\; pd-t selectall \\, copy;\n#X connect 8 0 9 0;\n\
                 #X connect 5 0 6 0;\n#X connect 4 0 6 0;\n#X connect 0 0 1 0;\n#X connect 2 0 3 0;\n";
    std::fs::write(folder.join("p.pd"), patch.replace("MAKES", makes)).expect("writable");
    let path = folder.join("p.pd");
    let played = play(&path, &["add", "other"]);
    let errors = played.lines.iter().filter(|it| it.starts_with("error"));
    // Nothing leads from `block~`.
    assert_eq!(errors.count(), 1, "{:?}", played.lines);
    let said = |begin: &str| {
        let mut lines = played.lines.iter();
        lines
            .find(|line| line.starts_with(begin))
            .expect("it is said")
    };
    let changes = played.lines.iter().filter(|it| it.starts_with("canvas: "));
    let blocks = Vec::from_iter(changes.map(|line| block_of(line)));
    let silence = said("signals: prepared anew, silent for ");
    let silent: usize = silence
        .split(' ')
        .nth(5)
        .expect("a number")
        .parse()
        .expect("a number");
    let (from, to) = (blocks[0] - silent, blocks[0]);
    let is_silent = |bits: &[u32]| bits.iter().all(|it| it << 1 == 0);
    let mut behind = played.bits[from * 64..].chunks(64);
    let first = behind.position(|bits| !is_silent(bits));
    assert_eq!(first, Some(silent), "from {from}: {:?}", played.lines);
    assert!(silent > 0);
    // But for the silence it is a render whose change comes where the silence begins.
    let heard = [&played.bits[..from * 64], &played.bits[to * 64..]].concat();
    let words = [("add", from), ("other", blocks[1] - silent)];
    let expected = rendered(&path, &words, heard.len());
    let first = heard.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(
        first.map(|at| at / 64),
        None,
        "blocks {blocks:?}, silent {silent}"
    );
    for count in 0..2 {
        assert!(rendered(&path, &words[..count], heard.len()) != expected);
    }
    std::fs::remove_dir_all(&folder).expect("ours");
}

#[test]
fn files_that_are_read_between_changes_are_served() {
    let folder = folder("files");
    let patch = "#N canvas 0 0 9 9 12;\n#X obj 0 0 r both;\n#X obj 0 0 t b b;\n#X msg 0 0 read words.txt;\n#X obj 0 0 text define words;\n\
                 #X msg 0 0 \\; pd-s obj 0 0 osc~ 100;\n#N canvas 0 0 9 9 s 0;\n#X restore 0 0 pd s;\n#X obj 0 0 dac~;\n\
                 #X connect 0 0 1 0;\n#X connect 1 1 2 0;\n#X connect 2 0 3 0;\n#X connect 1 0 4 0;\n";
    std::fs::write(folder.join("p.pd"), patch).expect("writable");
    std::fs::write(folder.join("words.txt"), "a;\nb;\nc;\n").expect("writable");
    let played = play(&folder.join("p.pd"), &["both"; 4]);
    let count = |words: &str| {
        let lines = played.lines.iter();
        lines.filter(|line| line.contains(words)).count()
    };
    // The same thread reads each file before it makes the next change; the last one may come behind the end.
    let served = count("file served in block");
    assert!((3..=4).contains(&served), "{:?}", played.lines);
    assert_eq!(
        [count("canvas: "), count("error")],
        [4, 0],
        "{:?}",
        played.lines
    );
    std::fs::remove_dir_all(&folder).expect("ours");
}
