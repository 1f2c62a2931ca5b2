//! The reader of sound files (WAV, RF64, AIFF, FLAC): no panic but the library's own, which become errors; never more frames
//! than it states, or than the file can hold; a seek goes where it says.
#![cfg_attr(fuzzing, no_main)]

use divisi_fuzz::{allow_panics_of, file};
use media::Reader;

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| read(bytes));

/// Frames that FLAC packs into a byte at most; see `media::chunks`.
const MAX_FRAMES_PER_BYTE: u64 = 8192;
/// Frames that are read of a file: packed silence may have millions.
const MAX_FRAMES: u64 = 1 << 18;
/// Frames that are read at once.
const PORTION: usize = 1000;

fn read(bytes: &[u8]) {
    allow_panics_of("symphonia");
    if let Ok(info) = media::sample_info(file(bytes)) {
        assert!(info.key.is_none_or(|key| (0.0..129.0).contains(&key)));
        assert!(info.cycle.is_none_or(|(first, end)| first < end));
    }
    let Ok(mut reader) = media::open(file(bytes)) else {
        return;
    };
    let limit = (bytes.len() as u64).saturating_mul(MAX_FRAMES_PER_BYTE);
    assert!((1..=256).contains(&reader.channels().count()));
    assert!(reader.frames().is_none_or(|frames| frames <= limit));
    let has = read_on(&mut reader, MAX_FRAMES);
    assert!(has <= limit && reader.frames().is_none_or(|frames| has <= frames));
    assert_eq!(reader.position(), has);
    if reader.seek(has / 2).is_ok() {
        assert_eq!(reader.position(), has / 2);
        read_on(&mut reader, PORTION as u64);
    }
}

/// Reads up to `limit` frames, to the end or to the first damage. Returns their number.
fn read_on(reader: &mut Reader, limit: u64) -> u64 {
    let channels = reader.channels().count();
    let mut samples = vec![0.0_f32; PORTION * channels];
    let (begin, mut has) = (reader.position(), 0);
    while has < limit {
        match reader.read_interleaved(&mut samples) {
            Ok(frames) => {
                assert!(frames <= PORTION);
                has += frames as u64;
                if frames == 0 {
                    break;
                }
            }
            // What came before the damage counts too.
            Err(_) => return reader.position() - begin,
        }
    }
    has
}

/// Without the fuzzer's flags: reads the files that are named.
#[cfg(not(fuzzing))]
fn main() {
    for name in std::env::args().skip(1) {
        read(&std::fs::read(name).expect("a file that can be read"));
    }
}
