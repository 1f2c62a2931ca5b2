//! Messages of other programs for `netreceive`: no panic, none longer than is allowed, the same however they are cut.
#![cfg_attr(fuzzing, no_main)]

use pd::Splitter;

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| read(bytes));

fn read(bytes: &[u8]) {
    let whole = messages(bytes, bytes.len().max(1));
    let length = 1 + usize::from(bytes.first().copied().unwrap_or(0));
    assert_eq!(whole, messages(bytes, length));
    let ends = bytes.iter().filter(|byte| **byte == b';').count();
    assert!(whole.len() <= ends);
    for text in whole.into_iter().flatten() {
        assert!(text.len() <= Splitter::MAX_MESSAGE);
    }
}

/// The messages of a stream that comes in pieces of `length` bytes.
fn messages(bytes: &[u8], length: usize) -> Vec<Result<String, ()>> {
    let mut splitter = Splitter::default();
    let mut found = Vec::new();
    for piece in bytes.chunks(length) {
        let mut rest = piece;
        while !rest.is_empty() {
            let (taken, message) = splitter.take(rest);
            found.extend(message);
            rest = &rest[taken..];
        }
    }
    found
}

/// Without the fuzzer's flags: reads the files that are named.
#[cfg(not(fuzzing))]
fn main() {
    for name in std::env::args().skip(1) {
        read(&std::fs::read(name).expect("a file that can be read"));
    }
}
