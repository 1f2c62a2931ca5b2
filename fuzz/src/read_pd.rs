//! The reader of Pure Data patches: no panic, connections between boxes that exist, no more boxes than statements.
#![cfg_attr(fuzzing, no_main)]

use pd::{BoxBody, Canvas, read_patch};

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| read(bytes));

fn read(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let file = read_patch(&text);
    assert!(check(&file.canvas) <= text.len());
    for diagnostic in &file.diagnostics {
        assert!(diagnostic.span.line as usize <= text.lines().count().max(1));
    }
}

/// Checks the connections, gives the number of boxes.
fn check(canvas: &Canvas) -> usize {
    for connection in &canvas.connections {
        assert!(connection.from.max(connection.to) < canvas.boxes.len());
    }
    let inside = |body: &BoxBody| match body {
        BoxBody::Canvas { canvas, .. } => 1 + check(canvas),
        BoxBody::Array(array) => {
            assert!(array.points.len() <= array.size);
            1
        }
        _ => 1,
    };
    canvas.boxes.iter().map(|one| inside(&one.body)).sum()
}

/// Without the fuzzer's flags: reads the files that are named.
#[cfg(not(fuzzing))]
fn main() {
    for name in std::env::args().skip(1) {
        read(&std::fs::read(name).expect("a file that can be read"));
    }
}
