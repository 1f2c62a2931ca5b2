//! What patches of control objects print, compared with the real Pd.

use divisi_pd::{Machine, SearchPath, load_patch};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Lines that Pd prints within `ms` milliseconds, or `None` where there is no Pd.
fn printed_by_pd(patch: &Path, ms: u32) -> Option<Vec<String>> {
    all_of_pd(patch, ms).map(|text| lines(text.lines()))
}

/// All that Pd prints.
fn all_of_pd(patch: &Path, ms: u32) -> Option<String> {
    let name = format!(
        "divisi-quit-{}-{}.pd",
        std::process::id(),
        patch.file_stem()?.display()
    );
    let quit = std::env::temp_dir().join(name);
    let text = format!(
        "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X obj 0 0 delay {ms};\n#X msg 0 0 \\; pd quit;\n\
         #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n"
    );
    std::fs::write(&quit, text).expect("a file can be written");
    let output = Command::new("pd")
        .args([
            "-nogui", "-noprefs", "-batch", "-noaudio", "-stderr", "-r", "44100",
        ])
        .args([patch, &quit])
        .stdin(Stdio::null())
        .output();
    std::fs::remove_file(&quit).expect("it is ours");
    Some(String::from_utf8_lossy(&output.ok()?.stderr).into_owned())
}

/// Lines that objects print, without those that differ between programs.
fn lines<'l>(all: impl Iterator<Item = &'l str>) -> Vec<String> {
    let lines = all.filter(|line| {
        let others = ["error", "verbose", "warning"];
        !line.is_empty() && !others.iter().any(|it| line.starts_with(it))
    });
    lines
        .filter(|line| !line.starts_with("... ") && !line.ends_with("connection failed"))
        .map(str::to_owned)
        .collect()
}

fn printed_here(patch: &Path, ms: u32) -> Vec<String> {
    lines(all_here(patch, ms).iter().map(String::as_str))
}

fn all_here(patch: &Path, ms: u32) -> Vec<String> {
    let loaded = load_patch(patch, &SearchPath::only([])).expect("it is there");
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let (mut machine, not_yet) = Machine::build(&loaded, 44_100.0);
    assert!(not_yet.is_empty(), "{not_yet:?}");
    machine.load();
    for _ in 0..(f64::from(ms) * 44.1 / 64.0) as u32 {
        machine.tick();
    }
    machine.take_console()
}

#[test]
fn control_patches_print_what_pd_prints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/control");
    let mut patches: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    patches.sort();
    let mut wrong = Vec::new();
    for patch in &patches {
        let Some(expected) = printed_by_pd(patch, 100) else {
            println!("SKIPPED: needs puredata-core");
            return;
        };
        let found = printed_here(patch, 100);
        if let Some(at) =
            (0..expected.len().max(found.len())).find(|at| expected.get(*at) != found.get(*at))
        {
            wrong.push(format!(
                "{}: line {at} of {}: Pd {:?}, here {:?}",
                patch.file_stem().expect("a name").display(),
                expected.len(),
                expected.get(at),
                found.get(at)
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(patches.len() >= 16);
}

#[test]
fn names_that_nothing_receives_are_said_as_in_pd() {
    let patch = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages/nobody.pd");
    let said = |lines: &mut dyn Iterator<Item = &str>| {
        let ours = lines.filter(|line| !line.is_empty() && !line.starts_with("verbose"));
        // Pd's `qlist` says its own name too.
        let ours = ours.map(|line| line.trim_end().replace("qlist: ", ""));
        ours.collect::<Vec<_>>()
    };
    let Some(expected) = all_of_pd(&patch, 20) else {
        println!("SKIPPED: needs puredata-core");
        return;
    };
    let found = all_here(&patch, 20);
    let found = said(&mut found.iter().map(String::as_str));
    assert_eq!(found, said(&mut expected.lines()));
    let errors = found.iter().filter(|line| line.ends_with("no such object"));
    assert_eq!(errors.count(), 4, "{found:?}");
}

#[test]
fn lists_that_nothing_takes_are_refused_as_in_pd() {
    let patch = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages/refused-lists.pd");
    let Some(expected) = all_of_pd(&patch, 20) else {
        println!("SKIPPED: needs puredata-core");
        return;
    };
    let refused = |line: &&str| line.starts_with("error");
    let found = all_here(&patch, 20);
    let found: Vec<_> = found.iter().map(String::as_str).filter(refused).collect();
    assert_eq!(found, expected.lines().filter(refused).collect::<Vec<_>>());
    assert_eq!(found.len(), 7, "{found:?}");
}
