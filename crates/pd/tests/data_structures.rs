//! Pd's own examples of data structures: every message box is banged, then what is printed and what each canvas holds is compared with Pd.

use divisi_pd::{PatchPlayer, SearchPath, load_patch};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const DOCS: &str = "/usr/share/puredata/doc";

/// Statements of a patch, each with its end.
fn statements(text: &str) -> Vec<String> {
    let (mut all, mut one, mut is_escaped) = (Vec::new(), String::new(), false);
    for letter in text.chars() {
        one.push(letter);
        if letter == ';' && !is_escaped {
            all.push(one.trim().to_owned());
            one.clear();
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    all
}

/// Boxes of the outermost canvas: their number, those that are banged, those that show a value; and the names of subpatches.
#[derive(Default)]
struct Boxes {
    count: usize,
    banged: Vec<usize>,
    shown: Vec<usize>,
    canvases: Vec<String>,
}

impl Boxes {
    fn of(statements: &[String]) -> Self {
        let (mut boxes, mut depth) = (Self::default(), 0);
        for statement in statements {
            let words: Vec<&str> = statement.trim_end_matches(';').split_whitespace().collect();
            let word = |at: usize| words.get(at).map_or("", |word| word.trim_end_matches(','));
            match (word(0), word(1)) {
                ("#N", "canvas") => depth += 1,
                ("#X", "restore") => {
                    depth -= 1;
                    let name = word(5).to_owned();
                    if word(4) == "pd"
                        && !name.contains('$')
                        && !name.is_empty()
                        && !boxes.canvases.contains(&name)
                    {
                        boxes.canvases.push(name);
                    }
                    boxes.count += usize::from(depth == 1);
                }
                ("#X", "connect" | "coords" | "declare" | "f") => {}
                ("#X", kind) if depth == 1 => {
                    if kind == "msg" || kind == "obj" && word(4) == "bng" {
                        boxes.banged.push(boxes.count);
                    }
                    if matches!(kind, "floatatom" | "symbolatom" | "listbox") {
                        boxes.shown.push(boxes.count);
                    }
                    boxes.count += 1;
                }
                _ => {}
            }
        }
        boxes
    }
}

/// The patch with boxes that bang, print and write files of data.
fn exercised(text: &str) -> String {
    let mut all = statements(text);
    let boxes = Boxes::of(&all);
    let (first, bangs) = (boxes.count, boxes.banged.len());
    let mut writes = String::new();
    for name in &boxes.canvases {
        let _ = write!(writes, "\\; pd-{name} write out-{name}.txt ");
    }
    all.extend([
        "#X obj 0 0 loadbang;".to_owned(),
        "#X obj 0 0 delay 20;".to_owned(),
        format!("#X obj 0 0 t{};", " b".repeat(bangs + 1)),
        "#X obj 0 0 delay 200;".to_owned(),
        format!("#X msg 0 0 {writes};"),
    ]);
    all.extend(
        boxes
            .shown
            .iter()
            .map(|at| format!("#X obj 0 0 print box{at};")),
    );
    for (from, to) in [(0, 1), (1, 2), (0, 3), (3, 4)] {
        all.push(format!("#X connect {} 0 {} 0;", first + from, first + to));
    }
    for (at, shown) in boxes.shown.iter().enumerate() {
        all.push(format!("#X connect {shown} 0 {} 0;", first + 5 + at));
    }
    for (at, banged) in boxes.banged.iter().enumerate() {
        all.push(format!(
            "#X connect {} {} {banged} 0;",
            first + 2,
            bangs - at
        ));
    }
    all.join("\n")
}

/// Lines that objects print, and names that nothing receives.
fn lines(text: &str) -> Vec<String> {
    let is_ours = |line: &&str| {
        let others = ["error", "verbose", "... ", "sigmund~ version"];
        let is_other = others.iter().any(|other| line.starts_with(other));
        !line.is_empty() && (!is_other || line.ends_with("no such object"))
    };
    let lines = text.lines().map(str::trim_end);
    lines.filter(is_ours).map(str::to_owned).collect()
}

/// Takes the files that were written.
fn take_files(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder)
        .expect("the folder is there")
        .flatten()
    {
        let name = entry.file_name().display().to_string();
        if name.starts_with("out-") {
            let text = std::fs::read_to_string(entry.path()).expect("a text");
            std::fs::remove_file(entry.path()).expect("ours");
            files.insert(name, text);
        }
    }
    files
}

fn printed_by_pd(patch: &Path, quit: &Path) -> Option<Vec<String>> {
    let output = Command::new("pd")
        .args([
            "-nogui", "-noprefs", "-batch", "-noaudio", "-stderr", "-r", "44100",
        ])
        .args([patch, quit])
        .stdin(Stdio::null())
        .output()
        .ok()?;
    Some(lines(&String::from_utf8_lossy(&output.stderr)))
}

fn printed_here(patch: &Path, folder: &Path) -> Vec<String> {
    let mut loaded = load_patch(patch, &SearchPath::only([])).expect("it is there");
    loaded.allow_write(folder);
    let (mut player, not_yet) = PatchPlayer::new(&loaded, 44_100.0, 0, 2);
    assert!(not_yet.is_empty(), "{}: {not_yet:?}", patch.display());
    (0..207).for_each(|_| player.play(&[]));
    lines(&player.take_console().join("\n"))
}

/// A folder with the examples and what they need.
fn folder() -> Option<PathBuf> {
    let folder = std::env::temp_dir().join(format!("divisi-pd-data-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    for of in ["4.data.structures", "5.reference"] {
        for entry in std::fs::read_dir(Path::new(DOCS).join(of)).ok()?.flatten() {
            if entry.path().is_file() {
                std::fs::copy(entry.path(), folder.join(entry.file_name())).expect("copied");
            }
        }
    }
    let quit = "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X obj 0 0 delay 300;\n#X msg 0 0 \\; pd quit;\n\
                #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n";
    std::fs::write(folder.join("quit-at-300.pd"), quit).expect("writable");
    Some(folder)
}

/// Help patches of the classes.
const HELP: [&str; 13] = [
    "append",
    "element",
    "get",
    "getsize",
    "pointer",
    "set",
    "setsize",
    "struct",
    "plot",
    "drawtext",
    "draw-shapes",
    "text-object",
    "array-object",
];

#[test]
fn examples_of_data_structures_do_what_they_do_in_pd() {
    let Some(folder) = folder() else {
        println!("SKIPPED: needs puredata-doc");
        return;
    };
    let examples =
        std::fs::read_dir(Path::new(DOCS).join("4.data.structures")).expect("it is there");
    let mut names: Vec<String> = examples
        .flatten()
        .map(|entry| entry.file_name().display().to_string())
        .collect();
    names.extend(HELP.iter().map(|name| format!("{name}-help.pd")));
    names.retain(|name| name.ends_with(".pd"));
    names.sort();
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for name in &names {
        let bytes = std::fs::read(folder.join(name)).expect("it is there");
        let patch = folder.join(format!("driven-{name}"));
        std::fs::write(&patch, exercised(&String::from_utf8_lossy(&bytes))).expect("writable");
        let Some(expected) = printed_by_pd(&patch, &folder.join("quit-at-300.pd")) else {
            println!("SKIPPED: needs puredata-core");
            return;
        };
        let expected_files = take_files(&folder);
        let found = printed_here(&patch, &folder);
        let files = take_files(&folder);
        compared += expected_files
            .values()
            .map(|text| text.lines().count())
            .sum::<usize>();
        if let Some(at) =
            (0..expected.len().max(found.len())).find(|at| expected.get(*at) != found.get(*at))
        {
            wrong.push(format!(
                "{name}: line {at}: Pd {:?}, here {:?}",
                expected.get(at),
                found.get(at)
            ));
        }
        // Its sound is made while more time passes than is played here.
        let is_left_out =
            |file: &&String| name == "16.FFT-plot.pd" && *file == "out-peaks-list.txt";
        let all_files = expected_files.keys().chain(files.keys());
        for file in all_files.filter(|file| !is_left_out(file)) {
            let (expected, found) = (expected_files.get(file), files.get(file));
            if expected != found {
                wrong.push(format!("{name}: {file}: Pd {expected:?}, here {found:?}"));
            }
        }
    }
    std::fs::remove_dir_all(&folder).expect("ours");
    wrong.dedup();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(
        names.len() >= 35 && compared > 1000,
        "{} examples, {compared} lines",
        names.len()
    );
}
