//! The sections of cells in a session: no panic; each cell has nodes and bounds that make sense; a cell that was added
//! as JSON is read like one of a session.
#![cfg_attr(fuzzing, no_main)]

use cells::{CellSpec, cell_text, read_cells};
use divisi_fuzz::catalogue;
use text::toml;

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| read(bytes));

fn read(bytes: &[u8]) {
    let session = toml::read(bytes, catalogue()).session;
    let (cells, mistakes) = read_cells(&session);
    cells.iter().for_each(check);
    assert!(mistakes.iter().all(|it| it.is_error()));
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(cell) = CellSpec::from_text("added", text)
    {
        check(&cell);
    }
    if let Ok(settings) = serde_json::from_slice(bytes)
        && let Ok(text) = cell_text(&["voice".to_owned()], &settings)
        && let Ok(cell) = CellSpec::from_text("added", &text)
    {
        check(&cell);
    }
}

fn check(cell: &CellSpec) {
    assert!(!cell.nodes.is_empty() && cell.precedence <= 9);
    assert!(cell.workers() >= 1);
}

/// Without the fuzzer's flags: reads the files that are named.
#[cfg(not(fuzzing))]
fn main() {
    for name in std::env::args().skip(1) {
        read(&std::fs::read(name).expect("a file that can be read"));
    }
}
