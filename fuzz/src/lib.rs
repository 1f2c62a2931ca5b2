//! The promises that every reader keeps, whatever bytes it is given.
//!
//! Takes bytes from the fuzzer, panics where a promise is broken. May not: be published.

#[path = "../../crates/text/src/sample.rs"]
mod sample;

use graph::{Catalogue, Diagnostic, Kind, Param, PortSpec, SourceSpan};
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Once};
use text::{ParsedSession, render_diagnostics};

/// The small catalogue of the tests of `text`, and what lists of events and curves become.
pub fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
        let mut catalogue = sample::catalogue();
        let source = |name, key, out| Kind {
            outputs: vec![out],
            params: vec![Param::text(key), Param::number("loop", (0.0, 1e6), 0.0)],
            ..Kind::new(name, "")
        };
        catalogue.insert(source("score", "events", PortSpec::events("out")));
        catalogue.insert(source("curve", "points", PortSpec::mono("out")));
        catalogue
    });
    &CATALOGUE
}

/// A folder of this process, in memory where that is possible.
pub fn folder() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let memory = PathBuf::from("/dev/shm");
        let above = if memory.is_dir() {
            memory
        } else {
            std::env::temp_dir()
        };
        let folder = above.join(format!("divisi-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for small files");
        folder
    });
    &FOLDER
}

/// A file of this process with `bytes`, for readers that take a path.
pub fn file(bytes: &[u8]) -> PathBuf {
    let file = folder().join("it");
    std::fs::write(&file, bytes).expect("room for a small file");
    file
}

/// Lets a panic in the source of `library` unwind, where our code turns it into an error. libFuzzer's hook ends the process at
/// every panic, before it unwinds.
pub fn allow_panics_of(library: &'static str) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            let place = info.location().map_or("", |place| place.file());
            if !place.contains(library) {
                before(info);
            }
        }));
    });
}

/// Checks that every span is inside the text, and that the diagnostics can be shown.
pub fn check(reading: &ParsedSession, bytes: &[u8]) {
    for diagnostic in &reading.diagnostics {
        assert!(diagnostic.span.is_known(), "nowhere: {diagnostic:?}");
    }
    check_found(&reading.diagnostics, bytes);
    for (_, node) in reading.session.graph.nodes() {
        assert!(node.span.is_known(), "`{}` stands nowhere", node.name);
    }
}

/// Checks the same for diagnostics of the text as a whole, which may have no span.
pub fn check_found(diagnostics: &[Diagnostic], bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<usize> = text.split('\n').map(|line| line.chars().count()).collect();
    for diagnostic in diagnostics {
        if diagnostic.span.is_known() {
            inside(diagnostic.span, &lines, diagnostic);
        }
        for (span, _) in &diagnostic.related {
            inside(*span, &lines, diagnostic);
        }
    }
    let shown = render_diagnostics("file", &text, diagnostics);
    assert!(!shown.chars().any(|c| c.is_control() && c != '\n'));
}

fn inside(span: SourceSpan, lines: &[usize], diagnostic: &Diagnostic) {
    let length = lines.get((span.line as usize).wrapping_sub(1));
    let length = length.unwrap_or_else(|| panic!("no such line: {diagnostic:?}"));
    assert!(span.column >= 1 && span.len >= 1, "{diagnostic:?}");
    // A span may be the end of a line, one character wide.
    let end = (span.column + span.len - 1) as usize;
    assert!(end <= length + 1, "outside of its line: {diagnostic:?}");
}
