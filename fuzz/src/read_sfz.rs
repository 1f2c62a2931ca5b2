//! SFZ files, which may include others and themselves: no panic; a sampler or an error that says what is wrong; the files
//! that are named are paths, each once, and what is included lies in the folder.
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
    std::fs::write(folder.join("more.sfz"), MORE).expect("room for a small file");
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

/// A file that the other one may include.
const MORE: &str = "#define $V 9\n<region> sample=a.wav key=$K xfin_lovel=$V #include \"it.sfz\"";

/// A WAV file of 64 frames, with a loop from the second to the ninth.
fn sound() -> Vec<u8> {
    let mut bytes = b"RIFF\xe8\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
    bytes.extend(48_000u32.to_le_bytes());
    bytes.extend(96_000u32.to_le_bytes());
    bytes.extend(b"\x02\0\x10\0data\x80\0\0\0");
    bytes.resize(bytes.len() + 128, 1);
    bytes.extend(b"smpl\x3c\0\0\0");
    let numbers = [0u32, 0, 20_833, 60, 0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0];
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    bytes
}

/// Without the fuzzer's flags: reads the files that are named.
#[cfg(not(fuzzing))]
fn main() {
    for name in std::env::args().skip(1) {
        read(&std::fs::read(name).expect("a file that can be read"));
    }
}
