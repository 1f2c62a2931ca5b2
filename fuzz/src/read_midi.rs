//! The reader of MIDI files: no panic, also not in the library; never more events than bytes; events in order; what was read
//! without damage is the same when written and read again.
#![cfg_attr(fuzzing, no_main)]

use divisi_fuzz::allow_panics_of;
use midi::MidiFile;

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| read(bytes));

fn read(bytes: &[u8]) {
    allow_panics_of("midly");
    let Ok(file) = MidiFile::read(bytes) else {
        return;
    };
    let events = file.tracks.iter().map(|track| track.events.len());
    assert!(events.sum::<usize>() <= bytes.len());
    for track in &file.tracks {
        assert!(track.events.is_sorted_by_key(|event| event.tick));
        let last = track.events.last().map_or(0, |event| event.tick);
        assert!(last <= track.ticks);
    }
    let written = file.write().expect("no more tracks than were read");
    let mut again = MidiFile::read(&written).expect("what we write can be read");
    assert_eq!(again.damage, None);
    again.damage.clone_from(&file.damage);
    again.not_played.clone_from(&file.not_played);
    // Format 1 with one track is written as format 0, and a format is all that differs.
    assert_eq!(again, file);
}

/// Without the fuzzer's flags: reads the files that are named.
#[cfg(not(fuzzing))]
fn main() {
    for name in std::env::args().skip(1) {
        read(&std::fs::read(name).expect("a file that can be read"));
    }
}
