//! Messages that run before the signals of earlier blocks: in long blocks a patch has the sound, and prints the lines, of blocks of 64 frames.

mod live;

use driver::{AudioCallback, CallbackInfo};
use processor::Mode;
use std::fmt::Write;
use std::path::Path;

/// Blocks of 64 frames that are compared: a multiple of all lengths.
const BLOCKS: usize = 144;
/// Patches that are put together by chance.
const PATCHES: u32 = 150;

/// The bits of a render in blocks of so many times 64 frames, and the lines that it prints.
fn rendered(patch: &Path, times: usize) -> (Vec<u32>, Vec<String>) {
    let (mut engine, mut callback, lines) = live::engine(patch, 64 * times as u32, Mode::Offline);
    let mut bits = Vec::new();
    for _ in 0..BLOCKS / times {
        let mut output = vec![0.0; 64 * times];
        callback.process(CallbackInfo::default(), &[], &mut [&mut output]);
        bits.extend(output.into_iter().map(f32::to_bits));
        engine.update();
    }
    assert_eq!(engine.quarantined(), [] as [String; 0]);
    drop((engine, callback));
    let lines = std::mem::take(&mut *lines.lock().expect("no panic"));
    (bits, lines)
}

/// A row of numbers by chance.
struct Chance(u32);

impl Chance {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % count
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// Objects of signals that messages reach, with the number of their inlets.
const TARGETS: [(&str, usize); 9] = [
    ("line~", 2),
    ("line~", 2),
    ("vline~", 3),
    ("vline~", 3),
    ("sig~", 1),
    ("osc~ 300", 2),
    ("*~ 0.5", 2),
    ("hip~ 90", 2),
    ("snapshot~", 1),
];
/// Words that clocks send to them.
const WORDS: [&str; 9] = [
    "$1 3",
    "$1 0.7",
    "$1 11.3",
    "stop",
    "bang",
    "$1",
    "0.5 2 1 \\, 1 1.5",
    "$1 2 -1",
    "-0.25",
];

/// A patch of clocks, of what they send to, and of signals behind one another.
fn patch_by_chance(seed: u32) -> String {
    let mut chance = Chance(seed);
    let (mut boxes, mut wires) = (String::new(), String::new());
    let mut count = 0;
    let mut add = |text: &str| {
        writeln!(boxes, "#X {text};").expect("a text grows");
        count += 1;
        count - 1
    };
    let mut connect = |from: usize, outlet: usize, to: usize, inlet: usize| {
        writeln!(wires, "#X connect {from} {outlet} {to} {inlet};").expect("a text grows");
    };
    let load = add("obj 0 0 loadbang");
    let kinds = Vec::from_iter((0..6).map(|_| TARGETS[chance.below(TARGETS.len())]));
    let targets = Vec::from_iter(
        kinds
            .iter()
            .map(|(class, _)| add(&format!("obj 0 0 {class}"))),
    );
    let print = add("obj 0 0 print");
    for _ in 0..1 + chance.below(3) {
        let period = chance.of(&["0.4", "1.1", "2.1", "3.7", "9", "20.3"]);
        let clock = add(&format!("obj 0 0 metro {period}"));
        let [number, sum, rest] =
            ["f", "+ 1", "mod 7"].map(|class| add(&format!("obj 0 0 {class}")));
        let steps = [(load, clock), (clock, number), (number, sum), (sum, rest)];
        steps
            .iter()
            .for_each(|(from, to)| connect(*from, 0, *to, 0));
        connect(rest, 0, number, 1);
        for _ in 0..1 + chance.below(4) {
            let words = add(&format!("msg 0 0 {}", chance.of(&WORDS)));
            connect(number, 0, words, 0);
            let to = chance.below(targets.len());
            connect(words, 0, targets[to], chance.below(kinds[to].1));
        }
        if chance.below(4) == 0 {
            connect(number, 0, print, 0);
        }
    }
    let sound = add("obj 0 0 dac~ 1");
    for (at, (class, _)) in kinds.iter().enumerate() {
        let is_heard = *class != "snapshot~";
        let behind = targets[at + 1..].iter().zip(&kinds[at + 1..]);
        let takes = behind.filter(|(_, kind)| !matches!(kind.0, "line~" | "vline~" | "sig~"));
        match takes.into_iter().next() {
            Some((to, _)) if is_heard && chance.below(2) == 0 => connect(targets[at], 0, *to, 0),
            _ if is_heard => connect(targets[at], 0, sound, 0),
            // What it finds is printed, or moves a ramp.
            _ => connect(targets[at], 0, [print, targets[0]][chance.below(2)], 0),
        }
    }
    format!("#N canvas 0 0 9 9 12;\n{boxes}{wires}")
}

#[test]
fn patches_by_chance_sound_alike_in_all_blocks() {
    let folder = std::env::temp_dir().join(format!("divisi-early-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let mut sounding = 0;
    for seed in 0..PATCHES {
        let patch = folder.join(format!("{seed}.pd"));
        std::fs::write(&patch, patch_by_chance(seed)).expect("a file can be written");
        let (expected, lines) = rendered(&patch, 1);
        sounding += usize::from(expected.iter().any(|x| *x != 0));
        for times in [2, 3, 8, 24] {
            let (found, printed) = rendered(&patch, times);
            let first = expected.iter().zip(&found).position(|(a, b)| a != b);
            let text = || patch_by_chance(seed);
            assert_eq!(first, None, "seed {seed}, {times} times 64\n{}", text());
            assert_eq!(printed, lines, "seed {seed}, {times} times 64\n{}", text());
        }
    }
    std::fs::remove_dir_all(&folder).expect("ours");
    assert!(
        sounding > PATCHES as usize / 2,
        "{sounding} of {PATCHES} sound"
    );
}

#[test]
fn an_endless_loop_ends_alike_in_all_blocks() {
    let text = "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X obj 0 0 delay 60;\n#X obj 0 0 until;\n#X obj 0 0 f;\n#X obj 0 0 + 1;\n\
                #X obj 0 0 line~;\n#X obj 0 0 dac~ 1;\n#X obj 0 0 metro 20;\n#X obj 0 0 print alive;\n\
                #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n#X connect 3 0 4 0;\n#X connect 4 0 3 1;\n\
                #X connect 3 0 5 0;\n#X connect 5 0 6 0;\n#X connect 0 0 7 0;\n#X connect 7 0 8 0;\n";
    let patch = std::env::temp_dir().join(format!("divisi-endless-{}.pd", std::process::id()));
    std::fs::write(&patch, text).expect("a file can be written");
    let expected = rendered(&patch, 1);
    let found = rendered(&patch, 24);
    std::fs::remove_file(&patch).expect("ours");
    let errors = expected.1.iter().filter(|line| line.starts_with("error"));
    assert_eq!(errors.count(), 1, "{:?}", expected.1);
    assert!(expected.1.len() > 8, "{:?}", expected.1);
    assert_eq!(found.1, expected.1);
    assert!(found.0 == expected.0, "other bits");
}
