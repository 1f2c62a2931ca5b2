//! Comparison of what is computed together with what is computed alone: equal filters of several voices, filters one behind the other, and short
//! blocks of a canvas.

use divisi_pd::{PatchPlayer, SearchPath, load_patch};
use std::fmt::Write;
use std::path::PathBuf;

/// Blocks that are compared.
const BLOCKS: usize = 60;

/// The bits of each channel of a patch.
fn play(name: &str, lines: &str, channels: usize) -> Vec<Vec<u32>> {
    let file = format!("divisi-side-{name}-{}.pd", std::process::id());
    let path: PathBuf = std::env::temp_dir().join(file);
    std::fs::write(&path, format!("#N canvas 0 0 9 9 12;\n{lines}")).expect("writable");
    let loaded = load_patch(&path, &SearchPath::new([])).expect("it is there");
    std::fs::remove_file(&path).expect("ours");
    let (mut player, not_yet) = PatchPlayer::new(&loaded, 44_100.0, 0, channels);
    assert!(not_yet.is_empty(), "{not_yet:?}");
    let mut sound = vec![Vec::new(); channels];
    for _ in 0..BLOCKS {
        player.play(&[]);
        for (channel, sound) in sound.iter_mut().enumerate() {
            sound.extend(player.output(channel).iter().map(|x| x.to_bits()));
        }
    }
    sound
}

/// Voices of a filter, each at a frequency of its own. Behind the source come a slow `osc~` at 1 and, where asked for, more inlets.
struct Voices {
    class: &'static str,
    /// Arguments, by voice.
    arguments: fn(usize) -> String,
    /// Inlets that a slow oscillator drives.
    driven: &'static [usize],
    /// Arguments of `block~`, in a canvas of its own, if there are any.
    block: &'static str,
}

impl Voices {
    /// The patch of some voices: each sounds in the channel of its place in `voices`.
    fn patch(&self, voices: &[usize]) -> String {
        let mut lines = String::new();
        let mut object = 0;
        if !self.block.is_empty() {
            lines.push_str("#N canvas 0 0 9 9 inside 0;\n");
            writeln!(lines, "#X obj 0 0 block~ {};", self.block).unwrap();
            object += 1;
        }
        for (channel, voice) in voices.iter().enumerate() {
            writeln!(lines, "#X obj 0 0 phasor~ {};", 110 + 37 * voice).unwrap();
            writeln!(lines, "#X obj 0 0 osc~ {};", 3 + voice).unwrap();
            writeln!(lines, "#X obj 0 0 *~ 0.4;").unwrap();
            let arguments = (self.arguments)(*voice);
            writeln!(lines, "#X obj 0 0 {} {arguments};", self.class).unwrap();
            let sink = match self.block {
                "" => format!("dac~ {}", channel + 1),
                _ => "outlet~".into(),
            };
            writeln!(lines, "#X obj {} 0 {sink};", 50 * channel).unwrap();
            let [source, slow, scaled, filter, out] = [0, 1, 2, 3, 4].map(|at| object + at);
            writeln!(lines, "#X connect {source} 0 {filter} 0;").unwrap();
            writeln!(lines, "#X connect {slow} 0 {scaled} 0;").unwrap();
            for inlet in self.driven {
                writeln!(lines, "#X connect {scaled} 0 {filter} {inlet};").unwrap();
            }
            writeln!(lines, "#X connect {filter} 0 {out} 0;").unwrap();
            object += 5;
        }
        if !self.block.is_empty() {
            lines.push_str("#X restore 0 0 pd inside;\n");
            for channel in 0..voices.len() {
                writeln!(lines, "#X obj 0 0 dac~ {};", channel + 1).unwrap();
                writeln!(lines, "#X connect 0 {channel} {} 0;", channel + 1).unwrap();
            }
        }
        lines
    }

    fn compare(&self, name: &str, counts: &[usize]) {
        for count in counts {
            let all = Vec::from_iter(0..*count);
            let together = play(name, &self.patch(&all), *count);
            for (voice, found) in together.iter().enumerate() {
                let alone = play(name, &self.patch(&[voice]), 1);
                assert!(alone[0] == *found, "{name}: voice {voice} of {count}");
                assert!(
                    found.iter().any(|bits| f32::from_bits(*bits) != 0.0),
                    "{name}"
                );
            }
        }
    }
}

/// A class, the arguments of a voice, and the inlets that a signal drives.
type Kind = (&'static str, fn(usize) -> String, &'static [usize]);

#[test]
fn filters_side_by_side_sound_as_each_alone() {
    let hz: fn(usize) -> String = |voice| format!("{}", 200 * voice);
    let none: fn(usize) -> String = |_| String::new();
    let kinds: [Kind; 8] = [
        // The first voices of these pass everything, or nothing.
        ("lop~", |voice| format!("{}", 100 + 200 * voice), &[]),
        ("hip~", hz, &[]),
        ("bp~", |voice| format!("{} {}", 100 * voice, 2 + voice), &[]),
        (
            "biquad~",
            |voice| format!("1.{voice} -0.9 0.2 0.1 0.3"),
            &[],
        ),
        ("vcf~", |voice| format!("{voice}"), &[1]),
        ("rpole~", |voice| format!("0.{voice}"), &[]),
        ("cpole~", none, &[1, 2, 3]),
        ("rpole~", none, &[1]),
    ];
    for (class, arguments, driven) in kinds {
        let voices = Voices {
            class,
            arguments,
            driven,
            block: "",
        };
        voices.compare(class.trim_end_matches('~'), &[2, 3, 9]);
    }
}

#[test]
fn filters_in_longer_and_in_shorter_blocks_sound_as_each_alone() {
    for block in ["256", "16"] {
        let voices = Voices {
            class: "hip~",
            arguments: |voice| format!("{}", 150 * voice),
            driven: &[],
            block,
        };
        voices.compare(&format!("hip{block}"), &[5]);
    }
}

/// Objects one behind the other in a canvas, with `between` each two of them.
fn chain(block: &str, objects: &[&str], between: &str) -> String {
    let mut lines = format!("#N canvas 0 0 9 9 chain 0;\n#X obj 0 0 block~ {block};\n");
    lines.push_str("#X obj 0 0 phasor~ 90;\n");
    let mut count = 1;
    for object in objects.iter().flat_map(|object| [between, object]) {
        if !object.is_empty() {
            writeln!(lines, "#X obj 0 0 {object};").unwrap();
            writeln!(lines, "#X connect {count} 0 {} 0;", count + 1).unwrap();
            count += 1;
        }
    }
    writeln!(
        lines,
        "#X obj 0 0 outlet~;\n#X connect {count} 0 {} 0;",
        count + 1
    )
    .unwrap();
    lines + "#X restore 0 0 pd chain;\n#X obj 0 0 dac~ 1;\n#X connect 0 0 1 0;\n"
}

#[test]
fn filters_one_behind_the_other_sound_as_each_alone() {
    let long = [
        "lop~ 900",
        "*~ 0.7",
        "hip~ 40",
        "-~ 0.25",
        "hip~ 0",
        "rzero~ 0.3",
        "bp~ 500 3",
        "*~ 4",
        "+~ 0.1",
        "biquad~ 1.2 -0.9 0.2 0.1 0.3",
        "vcf~ 3",
        "+~ 0.4",
        "rpole~ 0.5",
        "rzero_rev~ 0.4",
        "cpole~ 0.3 0.2",
        "czero~ 0.3 -0.2",
        "cpole~ 0.5 0.6",
        "czero_rev~ 0.5 0.1",
        "cpole~ -0.5 0.6",
        "lop~ 3000",
    ];
    for objects in [&long[..], &long[..3], &["rpole~ 0.3"; 18]] {
        for block in ["64", "32", "16", "256"] {
            let found = play("behind", &chain(block, objects, ""), 1);
            // What holds nothing back, and cannot be cut.
            let alone = play("between", &chain(block, objects, "clip~ -1e+09 1e+09"), 1);
            assert!(found == alone, "block~ {block}, {} objects", objects.len());
            assert!(found[0].iter().any(|bits| f32::from_bits(*bits) != 0.0));
        }
    }
}

/// A delay line in blocks of one frame, which feeds itself back; `more` boxes stand beside it.
fn string(block: &str, delay: f32, more: &str) -> String {
    format!(
        "#N canvas 0 0 9 9 string 0;\n#X obj 0 0 inlet~;\n#X obj 0 0 +~;\n#X obj 0 0 delwrite~ \\$0-s 100;\n#X obj 0 0 delread~ \\$0-s {delay};\n\
         #X obj 0 0 *~ 0.98;\n#X obj 0 0 outlet~;\n#X obj 0 0 block~ {block};\n{more}#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n\
         #X connect 3 0 4 0;\n#X connect 4 0 1 1;\n#X connect 1 0 5 0;\n#X restore 0 0 pd string;\n#X obj 0 0 phasor~ 90;\n\
         #X obj 0 0 dac~ 1;\n#X connect 1 0 0 0;\n#X connect 0 0 2 0;\n"
    )
}

#[test]
fn short_blocks_computed_as_one_sound_as_each_alone() {
    for block in ["1", "4", "1 2", "2 1 2"] {
        for delay in [0.0, 0.05, 0.2, 0.7, 1.5, 99.9, 1000.0] {
            let found = play("joined", &string(block, delay, ""), 1);
            // This one minds where a block ends.
            let alone = play("alone", &string(block, delay, "#X obj 0 0 bang~;\n"), 1);
            assert!(found == alone, "block~ {block}, {delay} ms");
            assert!(found[0].iter().any(|bits| *bits != 0));
        }
    }
}

#[test]
fn a_number_that_changes_reaches_short_blocks_of_every_length() {
    let lines = |more: &str| {
        let inside = string("1", 0.4, more).replace(
            "#X connect 0 0 1 0;",
            "#X obj 0 0 r time;\n#X obj 0 0 r gain;\n#X connect 0 0 1 0;",
        );
        let count = inside[..inside.find("r time").unwrap()]
            .matches("#X obj")
            .count()
            - 1;
        inside.replacen(
            "#X connect 0 0 1 0;",
            &format!(
                "#X connect 0 0 1 0;\n#X connect {count} 0 3 0;\n#X connect {} 0 4 1;",
                count + 1
            ),
            1,
        ) + "#X obj 0 0 metro 7;\n#X obj 0 0 loadbang;\n#X obj 0 0 random 30;\n#X obj 0 0 / 20;\n#X obj 0 0 s time;\n\
             #X obj 0 0 * 0.6;\n#X obj 0 0 s gain;\n#X connect 4 0 3 0;\n#X connect 3 0 5 0;\n#X connect 5 0 6 0;\n\
             #X connect 6 0 7 0;\n#X connect 6 0 8 0;\n#X connect 8 0 9 0;\n"
    };
    let found = play("changing", &lines(""), 1);
    let alone = play("changing-alone", &lines("#X obj 0 0 bang~;\n"), 1);
    assert!(found == alone);
}
