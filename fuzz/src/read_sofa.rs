//! SOFA files: no panic but the library's own, which become errors; a response that is read is finite and within the limit.
#![cfg_attr(fuzzing, no_main)]

use conv::ir::{Ir, IrLimit, SourceDirection};
use divisi_fuzz::{allow_panics_of, file};
use units::SampleRate;

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| read(bytes));

fn read(bytes: &[u8]) {
    allow_panics_of("sofar");
    let limit = IrLimit {
        frames: 1 << 14,
        samples: 1 << 20,
        bytes: Some(1 << 30),
    };
    let direction = SourceDirection {
        azimuth_deg: 30.0,
        elevation_deg: 5.0,
    };
    let rate = SampleRate::new(48_000).expect("48000 is not zero");
    let Ok(loaded) = Ir::load_sofa(file(bytes), direction, rate, &limit) else {
        return;
    };
    assert_eq!(loaded.ir.channels().len(), 2);
    assert!(loaded.ir.frames() as u64 <= limit.frames);
    for channel in loaded.ir.channels() {
        assert!(channel.iter().all(|x| x.is_finite()));
    }
    let _ = loaded
        .notes
        .iter()
        .map(ToString::to_string)
        .collect::<String>();
}

/// Without the fuzzer's flags: reads the files that are named.
#[cfg(not(fuzzing))]
fn main() {
    for name in std::env::args().skip(1) {
        read(&std::fs::read(name).expect("a file that can be read"));
    }
}
