//! What must hold for whatever a reader is given.
//!
//! Takes bytes from the fuzzer, panics where a promise is broken. May not: be published.

#[path = "../../crates/text/src/sample.rs"]
mod sample;

use graph::{Catalogue, Diagnostic, Place};
use std::sync::LazyLock;
use text::{Reading, render};

/// The small catalogue of the text crate's own tests.
pub fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(sample::catalogue);
    &CATALOGUE
}

/// Every place is inside the text, and the diagnostics can be shown.
pub fn check(reading: &Reading, bytes: &[u8]) {
    for diagnostic in &reading.diagnostics {
        assert!(diagnostic.place.is_somewhere(), "nowhere: {diagnostic:?}");
    }
    check_found(&reading.diagnostics, bytes);
    for (_, node) in reading.session.graph.nodes() {
        assert!(node.place.is_somewhere(), "`{}` stands nowhere", node.name);
    }
}

/// The same, of what may be wrong with the text as a whole.
pub fn check_found(diagnostics: &[Diagnostic], bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<usize> = text.split('\n').map(|line| line.chars().count()).collect();
    for diagnostic in diagnostics {
        if diagnostic.place.is_somewhere() {
            inside(diagnostic.place, &lines, diagnostic);
        }
        for (place, _) in &diagnostic.also {
            inside(*place, &lines, diagnostic);
        }
    }
    let shown = render("file", &text, diagnostics);
    assert!(!shown.chars().any(|c| c.is_control() && c != '\n'));
}

fn inside(place: Place, lines: &[usize], diagnostic: &Diagnostic) {
    let length = lines.get((place.line as usize).wrapping_sub(1));
    let length = length.unwrap_or_else(|| panic!("no such line: {diagnostic:?}"));
    assert!(place.column >= 1 && place.width >= 1, "{diagnostic:?}");
    // A place may be the end of a line, one character wide.
    let end = (place.column + place.width - 1) as usize;
    assert!(end <= length + 1, "outside of its line: {diagnostic:?}");
}
