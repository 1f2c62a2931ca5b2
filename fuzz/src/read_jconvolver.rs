//! The reader of jconvolver's configurations: no panic, every place inside the text, nothing beyond the limit; there are
//! paths if and only if nothing is wrong.
#![cfg_attr(fuzzing, no_main)]

use conv::ir::IrLimit;
use conv::jconvolver;
use divisi_fuzz::check_found;
use graph::Diagnostic;
use media::{SampleFormat, Writer};
use std::path::PathBuf;
use std::sync::LazyLock;
use units::{Channels, SampleRate};

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| read(bytes));

/// A folder with a sound of two channels, `a.wav`.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join("divisi-fuzz-jconvolver");
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    let rate = SampleRate::new(44_100).expect("44100 is not zero");
    let file = folder.join("a.wav");
    let mut writer =
        Writer::create(file, rate, Channels(2), SampleFormat::F32).expect("room on the disk");
    writer
        .write(&[&[1.0, 0.5, 0.25], &[-1.0, 0.0, 1.0]])
        .expect("room on the disk");
    writer.finish().expect("room on the disk");
    folder
});

fn read(bytes: &[u8]) {
    let limit = IrLimit {
        frames: 1 << 14,
        samples: 1 << 17,
        bytes: Some(1 << 30),
    };
    // Another rate than the file's: it is resampled.
    let rate = SampleRate::new(48_000).expect("48000 is not zero");
    let reading = jconvolver::read(bytes, &FOLDER, rate, &limit);
    check_found(&reading.diagnostics, bytes);
    let is_wrong = reading.diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(
        reading.config.is_none(),
        is_wrong,
        "{:#?}",
        reading.diagnostics
    );
    if let Some(config) = reading.config {
        let (inputs, outputs) = (config.paths.inputs(), config.paths.outputs());
        assert_eq!(
            (config.inputs.len(), config.outputs.len()),
            (inputs, outputs)
        );
        assert_eq!(jconvolver::declared_channels(bytes), Some((inputs, outputs)));
        assert!(config.paths.frames() <= config.max_frames.max(1));
        for path in config.paths.paths() {
            assert!(path.path.input < inputs && path.path.output < outputs);
            assert!(path.frames() > 0 && path.taps().iter().all(|tap| tap.is_finite()));
        }
    }
}

/// Without the fuzzer's flags: reads the files that are named.
#[cfg(not(fuzzing))]
fn main() {
    for name in std::env::args().skip(1) {
        read(&std::fs::read(name).expect("a file that can be read"));
    }
}
