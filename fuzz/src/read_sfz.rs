//! SFZ files: no panic; a sampler or an error that says what is wrong; the samples that are named are paths, each once.
#![cfg_attr(fuzzing, no_main)]

use divisi_fuzz::folder;
use graph::{GraphBuilder, ParamValue};
use processor::Registry;
use std::sync::LazyLock;

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| read(bytes));

fn read(bytes: &[u8]) {
    static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
        let mut registry = Registry::default();
        dsp::register(&mut registry);
        registry
    });
    let folder = folder();
    std::fs::write(folder.join("a.wav"), sound()).expect("room for a small file");
    let path = folder.join("it.sfz");
    std::fs::write(&path, bytes).expect("room for a small file");
    let named = dsp::samples_of(&path);
    assert!(named.windows(2).all(|two| two[0] < two[1]));
    let mut builder = GraphBuilder::new(REGISTRY.catalogue());
    let file = ("file", ParamValue::Text("it.sfz".into()));
    let id = builder.add("sampler", "sampler", &[file]);
    let id = id.expect("a node that a session may have");
    let node = builder.graph().node(id).expect("it was added");
    if let Err(error) = REGISTRY.make(node, folder) {
        assert!(!error.message.is_empty());
    }
}

/// A WAV file of 64 frames.
fn sound() -> Vec<u8> {
    let mut bytes = b"RIFF\xa4\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
    bytes.extend(48_000u32.to_le_bytes());
    bytes.extend(96_000u32.to_le_bytes());
    bytes.extend(b"\x02\0\x10\0data\x80\0\0\0");
    bytes.resize(bytes.len() + 128, 1);
    bytes
}

/// Without the fuzzer's flags: reads the files that are named.
#[cfg(not(fuzzing))]
fn main() {
    for name in std::env::args().skip(1) {
        read(&std::fs::read(name).expect("a file that can be read"));
    }
}
