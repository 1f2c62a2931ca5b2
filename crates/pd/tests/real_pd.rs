//! Inlets and outlets of Pd's classes, compared with the real program.

use divisi_pd::{LoadedPatch, ObjectBody, PortKind, SearchPath, class_names, load_patch};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const CASES: &str = include_str!("cases.txt");

/// Output of Pd for a patch, or `None` where there is no Pd.
fn run_pd(patch: &Path) -> Option<String> {
    let output = Command::new("pd")
        .args(["-nogui", "-noprefs", "-batch", "-noaudio", "-stderr"])
        .args(["-path", "/usr/lib/puredata/extra"])
        .arg(patch)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A patch with the cases, a `print` and a `sig~` at its beginning, and these connections.
fn patch(connections: &str) -> String {
    let mut text = "#N canvas 0 0 450 300 12;\n#X obj 0 0 print;\n#X obj 0 0 sig~;\n".to_owned();
    for case in cases() {
        writeln!(text, "#X obj 0 0 {};", case.replace('$', "\\$")).expect("a String takes all");
    }
    text + connections
}

fn cases() -> impl Iterator<Item = &'static str> {
    CASES.lines().filter(|line| !line.starts_with('#'))
}

fn load(name: &str, text: &str) -> (LoadedPatch, std::path::PathBuf) {
    let path = std::env::temp_dir().join(format!("divisi-{name}-{}.pd", std::process::id()));
    std::fs::write(&path, text).expect("a file can be written");
    let loaded = load_patch(&path, &SearchPath::new([])).expect("it is there");
    (loaded, path)
}

#[test]
fn every_class_has_the_ports_that_pd_gives_it() {
    let (loaded, path) = load("cases", &patch(""));
    let objects = &loaded.root.objects[2..];
    // Each port that there is here, and one more, which Pd must refuse.
    let (mut connections, mut refused) = (String::new(), BTreeSet::new());
    for (at, object) in objects
        .iter()
        .enumerate()
        .map(|(at, object)| (at + 2, object))
    {
        let (inlets, outlets) = (object.ports.inlets.len(), object.ports.outlets.len());
        for outlet in 0..=outlets {
            writeln!(connections, "#X connect {at} {outlet} 0 0;").expect("a String takes all");
        }
        for inlet in 0..=inlets {
            writeln!(connections, "#X connect 1 0 {at} {inlet};").expect("a String takes all");
        }
        refused.insert(format!("{at} {outlets} 0 0"));
        refused.insert(format!("1 0 {at} {inlets}"));
    }
    let quit = "#X obj 0 0 loadbang;\n#X msg 0 0 \\; pd quit;\n";
    let quit_at = objects.len() + 2;
    let wire = format!("#X connect {quit_at} 0 {} 0;\n", quit_at + 1);
    std::fs::write(&path, patch(&(quit.to_owned() + &connections + &wire))).expect("written");
    let said = run_pd(&path);
    std::fs::remove_file(&path).expect("it is ours");
    let Some(said) = said else {
        println!("SKIPPED: needs puredata-core");
        return;
    };
    let found: BTreeSet<String> = said
        .lines()
        .filter(|line| line.ends_with("connection failed"))
        .filter_map(|line| {
            let words: Vec<&str> = line.split(' ').skip(1).take(4).collect();
            (words.len() == 4).then(|| words.join(" "))
        })
        .collect();
    let texts: Vec<&str> = cases().collect();
    let name = |key: &String| {
        let numbers: Vec<usize> = key.split(' ').filter_map(|n| n.parse().ok()).collect();
        let at = numbers[0].max(numbers[2]) - 2;
        format!("{key}: {}", texts.get(at).unwrap_or(&"?"))
    };
    let missing: Vec<String> = refused.difference(&found).map(name).collect();
    let surplus: Vec<String> = found.difference(&refused).map(name).collect();
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "accepted by Pd: {missing:#?}\nrefused by Pd: {surplus:#?}"
    );
}

/// Counts what Pd says about a signal that leads to an inlet for messages.
fn refused_signals(name: &str, connections: &str) -> Option<usize> {
    let (_, path) = load(name, "");
    let at = cases().count() + 2;
    let start = format!(
        "#X obj 0 0 loadbang;\n#X msg 0 0 \\; pd dsp 1 \\; pd quit;\n{connections}#X connect {at} 0 {} 0;\n",
        at + 1
    );
    std::fs::write(&path, patch(&start)).expect("written");
    let said = run_pd(&path);
    std::fs::remove_file(&path).expect("it is ours");
    Some(said?.matches("connected to nonsignal inlet").count())
}

#[test]
fn every_class_has_as_many_signals_as_in_pd() {
    let (loaded, path) = load("signals", &patch(""));
    std::fs::remove_file(&path).expect("it is ours");
    let objects = &loaded.root.objects[2..];
    let (mut outlets, mut inlets) = (String::new(), String::new());
    let (mut signals, mut messages) = (0, 0);
    for (at, object) in objects
        .iter()
        .enumerate()
        .map(|(at, object)| (at + 2, object))
    {
        for (outlet, kind) in object.ports.outlets.iter().enumerate() {
            writeln!(outlets, "#X connect {at} {outlet} 0 0;").expect("a String takes all");
            signals += usize::from(*kind == PortKind::Signal);
        }
        for (inlet, kind) in object.ports.inlets.iter().enumerate() {
            writeln!(inlets, "#X connect 1 0 {at} {inlet};").expect("a String takes all");
            messages += usize::from(*kind == PortKind::Message);
        }
    }
    match (
        refused_signals("out", &outlets),
        refused_signals("in", &inlets),
    ) {
        (Some(found_signals), Some(found_messages)) => {
            assert_eq!((found_signals, found_messages), (signals, messages));
        }
        _ => println!("SKIPPED: needs puredata-core"),
    }
}

/// Classes that do something outside of the patch, or whose words have rules of their own.
const NOT_TRIED: [&str; 7] = [
    "netsend",
    "netreceive",
    "pd~",
    "expr",
    "expr~",
    "fexpr~",
    "savestate",
];

#[test]
fn boxes_with_words_of_other_kinds_are_not_made() {
    let words = ["3", "0", "word"];
    let mut ends = vec![String::new()];
    for len in 0..3 {
        let longer = |end: &String| words.map(|word| format!("{end} {word}"));
        let of_len = ends.iter().filter(|end| end.matches(' ').count() == len);
        let more = Vec::from_iter(of_len.flat_map(longer));
        ends.extend(more);
    }
    let classes = class_names().into_iter();
    let boxes = classes
        .filter(|class| !NOT_TRIED.contains(class))
        .flat_map(|class| ends.iter().map(move |end| format!("{class}{end}")));
    let boxes = Vec::from_iter(boxes);
    let mut text = "#N canvas 0 0 450 300 12;\n".to_owned();
    for one in &boxes {
        writeln!(text, "#X obj 0 0 {one};").expect("a String takes all");
    }
    let (loaded, path) = load("kinds", &text);
    let quit = boxes.len();
    writeln!(
        text,
        "#X obj 0 0 loadbang;\n#X msg 0 0 \\; pd quit;\n#X connect {quit} 0 {} 0;",
        quit + 1
    )
    .expect("a String takes all");
    std::fs::write(&path, text).expect("written");
    let said = run_pd(&path);
    std::fs::remove_file(&path).expect("it is ours");
    let Some(said) = said else {
        println!("SKIPPED: needs puredata-core");
        return;
    };
    // Pd names such a box before it says that it could not be made.
    let lines = Vec::from_iter(said.lines());
    let refused = lines
        .windows(2)
        .filter(|pair| pair[1].ends_with("couldn't create"));
    let refused: BTreeSet<_> = refused
        .filter_map(|pair| pair[0].split_once("): "))
        .map(|(_, text)| text.trim())
        .collect();
    let is_stand_in = |at: usize| matches!(loaded.root.objects[at].body, ObjectBody::StandIn(_));
    let ours: BTreeSet<_> = (0..boxes.len())
        .filter(|at| is_stand_in(*at))
        .map(|at| boxes[at].as_str())
        .collect();
    let differing = Vec::from_iter(ours.symmetric_difference(&refused));
    assert!(differing.is_empty(), "{differing:?}");
    assert!(ours.len() > 1000, "{}", ours.len());
}
