//! Messages of Pure Data patches do not allocate once a patch has warmed up.

use divisi::pd::{Machine, SearchPath, load_patch};
use divisi_check::alloc::{Counting, calls};
use std::fmt::Write;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Boxes, each driven in turn by a number that grows, a symbol, a list and a bang.
const BOXES: &[&str] = &[
    "bang",
    "float 3",
    "int",
    "symbol",
    "spigot 1",
    "moses 4",
    "change",
    "swap 3",
    "t b f l a s",
    "route 1 2 list symbol",
    "route a b",
    "select 1 2 3",
    "select a",
    "pack f s f",
    "pack 0 0 0",
    "unpack f s f",
    "list append a b 1",
    "list prepend a 2",
    "list store 1 2",
    "list split 1",
    "list trim",
    "list length",
    "list fromsymbol",
    "list tosymbol",
    "makefilename n-%d",
    "makefilename n-%s",
    "+ 1",
    "- 2",
    "* 3",
    "/ 4",
    "pow 2",
    "mod 5",
    "div 3",
    "min 2",
    "max 3",
    "&& 1",
    "== 2",
    ">> 1",
    "sin",
    "sqrt",
    "log",
    "exp",
    "abs",
    "wrap",
    "mtof",
    "ftom",
    "dbtorms",
    "rmstodb",
    "clip 1 5",
    "random 10",
    "expr $f1 * 2 + 1",
    "delay 3",
    "metro 2",
    "line 0 5",
    "pipe 4",
    "pipe 0 s 7",
    "timer",
    "send nobody",
    "send heard",
    "receive heard",
    "value v",
    "poly 4 1",
    "makenote 100 5",
    "stripnote",
    "tabread t",
    "tabread4 t",
    "tabwrite t",
    "array get t",
    "array sum t",
    "array max t",
    "file split",
    "file splitname",
    "file join",
    "textfile",
    "bng 15 250 50 0 e-out e-in empty 17 7 0 10",
    "tgl 15 0 empty empty empty 17 7 0 10 0 0 0 0 1",
    "nbx 5 14 0 9 0 0 empty empty empty 0 -8 0 10 0 0 0 0 256",
    "hsl 128 15 0 127 0 0 empty empty empty -2 -8 0 10 0 0 0 0 1",
    "hradio 15 1 0 8 empty empty empty 0 -8 0 10 0 0 0 0",
    "vu 15 120 empty empty -1 -8 0 10 0 0 1 0",
    "print x",
    "inlet",
    "sig~ 1",
    "line~",
    "osc~ 3",
    "+~ 1",
    "snapshot~",
    "vcf~ 3",
    "biquad~",
];

/// A patch in which everything of the list gets a message each millisecond, and sends what it makes into a box that prints it.
fn patch(class: &str) -> String {
    let mut text = "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X obj 0 0 metro 1;\n#X obj 0 0 f;\n#X obj 0 0 + 1;\n\
                    #X obj 0 0 mod 50;\n#X msg 0 0 \\$1;\n#X msg 0 0 list a \\$1 b;\n#X msg 0 0 symbol s-\\$1;\n#X msg 0 0 \\$1 2 3;\n\
                    #X msg 0 0 foo 1 \\, \\$1 \\$1 \\, bang \\; heard \\$1 \\; heard foo 1 2;\n#X obj 0 0 table t 100;\n#X obj 0 0 spigot 1;\n\
                    #X floatatom 0 0 5 0 0 0 - - -;\n#X symbolatom 0 0 5 0 0 0 - - -;\n"
        .to_owned();
    writeln!(text, "#X obj 0 0 {};", class.replace('$', "\\$")).expect("a String takes all");
    for (from, to) in [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 4),
        (2, 5),
        (2, 6),
        (2, 7),
        (2, 8),
        (2, 9),
    ] {
        writeln!(text, "#X connect {from} 0 {to} 0;").expect("a String takes all");
    }
    // The counter goes round, so that the texts made of it come again.
    text += "#X connect 4 0 2 1;\n";
    for from in 5..10 {
        writeln!(text, "#X connect {from} 0 14 0;").expect("a String takes all");
    }
    writeln!(
        text,
        "#X connect 5 0 14 1;\n#X connect 14 0 11 0;\n#X connect 11 0 12 0;\n#X connect 11 0 13 0;"
    )
    .expect("a String takes all");
    text
}

/// Calls of the allocator in a thousand ticks, after as many to warm up.
fn calls_of(class: &str) -> u64 {
    let name = format!("divisi-messages-{}.pd", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, patch(class)).expect("a file can be written");
    let loaded = load_patch(&path, &SearchPath::only([])).expect("it is there");
    std::fs::remove_file(&path).expect("it is ours");
    let (mut machine, not_yet) = Machine::build(&loaded, 44_100.0);
    assert!(not_yet.is_empty(), "{not_yet:?}");
    machine.load();
    let mut bytes = 0;
    let mut run = || {
        for _ in 0..1000 {
            machine.tick();
            machine.drain_console(|line| bytes += line.len());
        }
    };
    run();
    let before = calls();
    run();
    calls() - before
}

#[test]
fn messages_do_not_allocate_after_warm_up() {
    let found: Vec<(&str, u64)> = BOXES
        .iter()
        .map(|class| (*class, calls_of(class)))
        .collect();
    let wrong: Vec<_> = found.into_iter().filter(|(_, calls)| *calls > 0).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}
