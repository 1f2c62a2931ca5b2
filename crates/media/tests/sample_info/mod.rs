//! Keys and loops that sound files have as samples of instruments.

use crate::kit::{Folder, aiff, noise};
use divisi_media as media;
use media::{SampleFormat, SampleInfo, Writer};
use std::path::Path;
use units::{Channels, SampleRate};

fn wav(path: &Path, samples: &[f32]) {
    let rate = SampleRate::new(48_000).unwrap();
    let mut writer = Writer::create(path, rate, Channels(1), SampleFormat::I16).unwrap();
    writer.write_interleaved(samples).unwrap();
    writer.finish().unwrap();
}

/// A chunk of the key 69 and a loop from frame 10 up to and with 90.
fn smpl() -> Vec<u8> {
    let numbers = [60, 0, 0, 20_833, 69, 0, 0, 0, 1, 0, 0, 0, 10, 90, 0, 0];
    let numbers = numbers.map(u32::to_le_bytes);
    [b"smpl", numbers.as_flattened()].concat()
}

#[test]
fn a_wav_says_its_key_and_its_loop() {
    let folder = Folder::new("sample-info");
    let path = folder.file("s.wav");
    wav(&path, &[0.5; 101]);
    assert_eq!(
        media::sample_info(&path).unwrap(),
        media::SampleInfo::default()
    );
    let numbers = [0, 0, 20_833, 69, 0, 0, 0, 1, 0, 0, 0, 10, 90, 0, 0];
    let chunk = |size: u32| {
        let numbers = numbers.iter().flat_map(|number: &u32| number.to_le_bytes());
        [
            b"smpl".to_vec(),
            size.to_le_bytes().into(),
            numbers.collect(),
        ]
        .concat()
    };
    let sound = std::fs::read(&path).unwrap();
    let info = |bytes: Vec<u8>| media::sample_info(folder.with("t.wav", &bytes)).unwrap();
    let want = media::SampleInfo {
        key: Some(69.0),
        cycle: Some((10, 91)),
    };
    assert_eq!(info([&sound[..], &chunk(60)].concat()), want);
    // Before the samples too, and where the chunk claims more than the file has.
    assert_eq!(
        info([&sound[..12], &chunk(60), &sound[12..]].concat()),
        want
    );
    assert_eq!(info([&sound[..], &chunk(u32::MAX)].concat()), want);
    // The chunk of another file, and files that end anywhere.
    assert_eq!(
        info([b"FORM", &sound[4..], &chunk(60)].concat()),
        media::SampleInfo::default()
    );
    let whole = [&sound[..], &chunk(60)].concat();
    for length in 0..whole.len() {
        let info = info(whole[..length].to_vec());
        assert!(info.key.is_none_or(|key| key == 69.0), "{length}");
    }
    assert!(media::sample_info(folder.file("none.wav")).is_err());
}

/// A large file states the length of its samples in a chunk of its own; what follows them is found by that.
#[test]
fn the_loop_behind_the_samples_of_a_large_wav_is_found() {
    let folder = Folder::new("sample-info-large");
    let path = folder.file("s.wav");
    wav(&path, &[0.5; 101]);
    let small = std::fs::read(&path).unwrap();
    let data = small.windows(4).position(|name| name == b"data").unwrap();
    let bytes = (small.len() - data - 8) as u64;
    let mut ds64 = [b"ds64".as_slice(), &28u32.to_le_bytes()].concat();
    for size in [small.len() as u64 + 104, bytes, 101] {
        ds64.extend(size.to_le_bytes());
    }
    ds64.extend([0; 4]);
    let head = [b"RF64".as_slice(), &u32::MAX.to_le_bytes(), b"WAVE", &ds64].concat();
    let samples = [
        b"data".as_slice(),
        &u32::MAX.to_le_bytes(),
        &small[data + 8..],
    ]
    .concat();
    let large = [&head, &small[12..data], &samples, &smpl()].concat();
    let path = folder.with("large.wav", &large);
    assert_eq!(media::open(&path).unwrap().frames(), Some(101));
    let want = SampleInfo {
        key: Some(69.0),
        cycle: Some((10, 91)),
    };
    assert_eq!(media::sample_info(&path).unwrap(), want);
    let path = folder.with("wave.bw64", &[b"BW64", &large[4..]].concat());
    assert_eq!(media::sample_info(&path).unwrap(), want);
    // A length that makes no sense leads nowhere.
    let at = 12 + 8 + 8;
    for bytes in [u64::MAX, u64::MAX - 1, 1, 0] {
        let mut bad = large.clone();
        bad[at..at + 8].copy_from_slice(&bytes.to_le_bytes());
        let path = folder.with("bad.wav", &bad);
        assert_eq!(media::sample_info(&path).unwrap(), SampleInfo::default());
    }
}

#[test]
fn an_aiff_says_its_key_and_its_loop() {
    let folder = Folder::new("sample-info-aiff");
    let whole = aiff(&noise(200));
    let marks = [0, 2, 0, 1, 0, 0, 0, 10, 1, b'a', 0, 2, 0, 0, 0, 91, 0, 0];
    let inst = [
        69, 0, 0, 127, 1, 127, 0, 0, 0, 1, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0,
    ];
    let chunk = |name: &[u8; 4], body: &[u8]| {
        let size = (body.len() as u32).to_be_bytes();
        [name, &size[..], body].concat()
    };
    let (mark, inst) = (chunk(b"MARK", &marks), chunk(b"INST", &inst));
    let want = SampleInfo {
        key: Some(69.0),
        cycle: Some((10, 91)),
    };
    // Before and behind the samples, and in either order.
    for bytes in [
        [&whole[..], &mark, &inst].concat(),
        [&whole[..12], &inst, &whole[12..], &mark].concat(),
    ] {
        let size = (bytes.len() as u32 - 8).to_be_bytes();
        let bytes = [&bytes[..4], &size, &bytes[8..]].concat();
        let path = folder.with("a.aiff", &bytes);
        assert_eq!(media::sample_info(&path).unwrap(), want);
        assert_eq!(media::open(&path).unwrap().frames(), Some(200));
        for length in 0..bytes.len() {
            let info = media::sample_info(folder.with("cut.aiff", &bytes[..length])).unwrap();
            assert!(info.key.is_none_or(|key| key == 69.0), "{length}");
            assert!(info.cycle.is_none_or(|cycle| cycle == (10, 91)), "{length}");
        }
    }
    assert_eq!(
        media::sample_info(folder.with("n.aiff", &whole)).unwrap(),
        SampleInfo::default()
    );
}

#[test]
fn files_that_are_no_sound_are_refused_in_plain_words() {
    let folder = Folder::new("no-sound");
    let path = folder.file("whole.wav");
    wav(&path, &[0.5; 101]);
    let whole = std::fs::read(&path).unwrap();
    for (bytes, message) in [
        (&b""[..], "is damaged: it is empty"),
        (
            b"hello",
            "is not a readable sound file (it does not begin as one)",
        ),
        (
            &whole[..30],
            "it ends within its chunk \"JUNK\", before the samples",
        ),
    ] {
        let refused = media::open(folder.with("bad.wav", bytes));
        let error = refused.err().expect("it is no sound").to_string();
        assert!(error.contains(message), "{error}");
    }
}
