//! The table of all classes in `docs/pd-classes.md`: made here from the classes and from what is built, and held current.
//!
//! `UPDATE_DOCS=1 cargo test -p divisi-pd --test class_table` writes it.

use divisi_pd::{DRAWING_CLASSES, Machine, SILENT_CLASSES, SearchPath, class_names, load_patch};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Functions of classes that are several.
const FUNCTIONS: &[(&str, &[&str])] = &[
    (
        "array",
        &[
            "define", "size", "sum", "get", "set", "quantile", "random", "max", "min",
        ],
    ),
    (
        "file",
        &[
            "handle",
            "define",
            "which",
            "glob",
            "stat",
            "size",
            "isfile",
            "isdirectory",
            "mkdir",
            "delete",
            "copy",
            "move",
            "split",
            "join",
            "splitext",
            "splitname",
        ],
    ),
    (
        "list",
        &[
            "append",
            "prepend",
            "split",
            "trim",
            "length",
            "fromsymbol",
            "tosymbol",
            "store",
        ],
    ),
    (
        "text",
        &[
            "define", "get", "set", "insert", "delete", "size", "tolist", "fromlist", "search",
            "sequence",
        ],
    ),
];

/// Differences from Pd of classes that are built.
const DIFFERS: &[(&str, &str)] = &[
    ("bob~", "takes frequency and resonance at its inlets alone"),
    ("cputime", "measures logical time"),
    ("expr~", "`random()` counts for each box alone"),
    ("fexpr~", "`random()` counts for each box alone"),
    ("fft~", "the last bits differ"),
    (
        "fiddle~",
        "pitches beside the first may be others than Pd's; see pd.md",
    ),
    (
        "file",
        "changes files only with `--allow-write`; times are of UTC; no verbosity",
    ),
    ("framp~", "the last bits differ"),
    ("get", "all fields are read before the first one is sent"),
    ("ifft~", "the last bits differ"),
    (
        "netreceive",
        "only this machine without `--allow-net`; no `old` form, no multicast; see pd.md",
    ),
    (
        "netsend",
        "only this machine without `--allow-net`; no `timeout`; see pd.md",
    ),
    (
        "oscparse",
        "a message that is cut short is left out as a whole",
    ),
    (
        "pdcontrol",
        "`dir` and `args` of its own canvas alone; `browse` and `sendcanvas` do nothing",
    ),
    (
        "pd~",
        "no other process: a node beside its patch, with the same bits; see pd.md",
    ),
    ("print~", "prints after the block"),
    ("qlist", "writes only with `--allow-write`"),
    ("realtime", "measures logical time"),
    ("rfft~", "the last bits differ"),
    ("rifft~", "the last bits differ"),
    ("savestate", "gives what was saved; nothing is saved"),
    (
        "soundfiler",
        "writes only with `--allow-write`; AIFF floats have the high byte first",
    ),
    (
        "stdout",
        "prints to the console, in a sub-patch of `pd~` sends to its left outlet; flags do nothing",
    ),
    ("struct", "no mouse, so it sends nothing"),
    (
        "text",
        "`$1` in a line is a symbol for `get`; writes only with `--allow-write`",
    ),
    ("textfile", "writes only with `--allow-write`"),
    ("trace", "passes on, and prints nothing"),
    (
        "writesf~",
        "writes only with `--allow-write`; the header of 24 bits counts all frames; a file takes its place once it is closed",
    ),
];

/// Classes of MIDI.
const MIDI: &[&str] = &[
    "notein",
    "ctlin",
    "pgmin",
    "bendin",
    "touchin",
    "polytouchin",
    "midiin",
    "sysexin",
    "midirealtimein",
    "noteout",
    "ctlout",
    "pgmout",
    "bendout",
    "touchout",
    "polytouchout",
    "midiout",
];
const MIDI_REMARK: &str = "one port of 16 channels; see pd.md";

const DRAWS_REMARK: &str =
    "drawn by `divisi draw` as it is saved; takes every message and sends nothing";

const SILENT: &str = "takes every message and sends nothing";
const DECLARE: &str = "folders are used; libraries are not loaded";

/// Every box that is asked for: its label and the text of the box.
fn boxes() -> Vec<(String, String, &'static str)> {
    let mut boxes = Vec::new();
    for class in class_names() {
        match FUNCTIONS.iter().find(|(name, _)| *name == class) {
            Some((_, functions)) => {
                boxes.extend(
                    functions
                        .iter()
                        .map(|f| (format!("{class} {f}"), format!("{class} {f}"), class)),
                );
            }
            None => boxes.push((class.to_owned(), class.to_owned(), class)),
        }
    }
    boxes
}

/// Boxes that are not built.
fn missing(boxes: &[(String, String, &'static str)]) -> Vec<bool> {
    let mut patch = "#N canvas 0 0 9 9 12;\n".to_owned();
    for (_, text, _) in boxes {
        let _ = writeln!(patch, "#X obj 0 0 {text};");
    }
    let path = std::env::temp_dir().join(format!("divisi-pd-classes-{}.pd", std::process::id()));
    std::fs::write(&path, patch).expect("writable");
    let loaded = load_patch(&path, &SearchPath::only([])).expect("it is there");
    std::fs::remove_file(&path).expect("it is ours");
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let (_, not_yet) = Machine::build(&loaded, 44_100.0);
    let lines: Vec<usize> = not_yet.iter().map(|one| one.span.line as usize).collect();
    (0..boxes.len())
        .map(|at| lines.contains(&(at + 2)))
        .collect()
}

fn table() -> String {
    let boxes = boxes();
    let missing = missing(&boxes);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rows = String::new();
    for ((label, _, class), is_missing) in boxes.iter().zip(missing) {
        let differs = DIFFERS.iter().find(|(name, _)| name == class);
        let (state, remark) = match differs {
            _ if is_missing => ("not yet", ""),
            _ if *class == "declare" => ("differs", DECLARE),
            _ if MIDI.contains(class) => ("differs", MIDI_REMARK),
            _ if DRAWING_CLASSES.contains(class) => ("differs", DRAWS_REMARK),
            _ if SILENT_CLASSES.contains(class) => ("differs", SILENT),
            Some((_, how)) => ("differs", *how),
            None => ("done", ""),
        };
        *counts.entry(state).or_default() += 1;
        let _ = writeln!(rows, "| `{label}` | {state} | {remark} |");
    }
    let count = |state| counts.get(state).copied().unwrap_or(0);
    format!(
        "# Classes of Pure Data\n\n\
         Every class of Pd 0.53 and its `extra`: {} are done, {} differ as the table says, {} are not yet there. A box of one that is not\n\
         there passes nothing and is named when the patch is played. A test makes this table.\n\n\
         Boxes that show a value (`bng`, `tgl`, `nbx`, `hsl`, `vsl`, `hradio`, `vradio`, `vu`, `cnv`, number, symbol and list boxes), subpatches,\n\
         abstractions, `clone`, arrays and graphs are not classes here: they are done, and drawn by `divisi draw` alone.\n\n\
         | class | state | how it differs |\n|---|---|---|\n{rows}",
        count("done"),
        count("differs"),
        count("not yet")
    )
}

#[test]
fn the_docs_name_every_class_and_its_state() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pd-classes.md");
    let made = table();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &made).expect("writable");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == made,
        "docs/pd-classes.md is not current: UPDATE_DOCS=1 writes it"
    );
}

#[test]
fn what_differs_is_built_and_named_once() {
    let names = class_names();
    for pair in DIFFERS.windows(2) {
        assert!(pair[0].0 < pair[1].0, "{} is out of order", pair[1].0);
    }
    for (class, _) in DIFFERS {
        assert!(names.contains(class), "{class}");
        assert!(!SILENT_CLASSES.contains(class), "{class}");
    }
    for class in SILENT_CLASSES.iter().chain(DRAWING_CLASSES) {
        assert!(names.contains(class), "{class}");
    }
}
