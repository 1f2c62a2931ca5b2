//! The .toml reader: no panic, every place inside the text; what was read without mistakes is the same when it has been
//! written, in either format, and read again.
#![cfg_attr(fuzzing, no_main)]

use divisi_fuzz::{catalogue, check};
use text::{Session, ag, toml};

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| read(bytes));

fn read(bytes: &[u8]) {
    let catalogue = catalogue();
    let reading = toml::read(bytes, catalogue);
    check(&reading, bytes);
    if reading.has_errors() {
        return;
    }
    let written = toml::write(&reading.session, catalogue);
    let again = toml::read(&written, catalogue);
    assert!(!again.has_errors(), "{written}\n{:#?}", again.diagnostics);
    assert_eq!(again.session, reading.session, "{written}");
    if let Ok(as_ag) = ag::write(&reading.session, catalogue) {
        let again = ag::read(&as_ag, catalogue);
        assert!(!again.has_errors(), "{as_ag}\n{:#?}", again.diagnostics);
        // Parts are written flat.
        let flat = Session {
            parts: None,
            ..reading.session
        };
        assert_eq!(again.session, flat, "{as_ag}");
    }
}

/// Without the fuzzer's flags: reads the files that are named.
#[cfg(not(fuzzing))]
fn main() {
    for name in std::env::args().skip(1) {
        read(&std::fs::read(name).expect("a file that can be read"));
    }
}
