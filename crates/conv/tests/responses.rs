//! Impulse responses from real files, good and bad.

use divisi_conv::ir::{Ir, IrError, IrLimit, IrReason, LoadNote};
use media::{SampleFormat, Writer};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use units::{Channels, SampleRate};

/// A file that is removed when it is dropped.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("divisi-response-{}-{number}.wav", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn sound(hz: u32, format: SampleFormat, channels: &[&[f32]]) -> Self {
        let file = Self::new();
        let width = Channels(channels.len() as u16);
        let mut writer = Writer::create(&file.0, rate(hz), width, format).unwrap();
        writer.write(channels).unwrap();
        writer.finish().unwrap();
        file
    }

    fn bytes(bytes: &[u8]) -> Self {
        let file = Self::new();
        std::fs::write(&file.0, bytes).unwrap();
        file
    }

    fn load(&self, hz: u32) -> Result<(Ir, Vec<LoadNote>), IrError> {
        let loaded = Ir::load(&self.0, rate(hz), &IrLimit::default())?;
        Ok((loaded.ir, loaded.notes))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn rate(hz: u32) -> SampleRate {
    SampleRate::new(hz).unwrap()
}

#[test]
fn a_file_at_the_same_rate_keeps_its_samples() {
    let samples: [&[f32]; 3] = [
        &[0.5, -0.25, 0.0],
        &[1.0, 0.0, -1.0],
        &[0.125, 0.125, 0.125],
    ];
    for format in [SampleFormat::F32, SampleFormat::I24, SampleFormat::I16] {
        let (ir, notes) = Temporary::sound(48_000, format, &samples)
            .load(48_000)
            .unwrap();
        assert_eq!((ir.frames(), notes.len()), (3, 0));
        for (channel, samples) in ir.channels().iter().zip(samples) {
            let apart = channel.iter().zip(samples).map(|(a, b)| (a - b).abs());
            assert!(apart.fold(0.0, f32::max) < 1e-4, "{format:?}");
        }
    }
}

#[test]
fn another_rate_is_resampled_with_a_note() {
    let mut click = [0.0; 300];
    click[200] = 1.0;
    let (ir, notes) = Temporary::sound(44_100, SampleFormat::F32, &[&click])
        .load(48_000)
        .unwrap();
    assert_eq!(ir.rate(), rate(48_000));
    let [LoadNote::Resampled { from, to, .. }] = &notes[..] else {
        panic!("{notes:?}")
    };
    assert_eq!((*from, *to), (rate(44_100), rate(48_000)));
    let sum: f32 = ir.channels()[0].iter().sum();
    assert!((sum - 1.0).abs() < 1e-3, "{sum}");
    let (_, notes) = Temporary::sound(44_100, SampleFormat::F32, &[&[1.0, 0.0]])
        .load(48_000)
        .unwrap();
    assert!(
        matches!(notes[..], [_, LoadNote::CutBefore { .. }]),
        "{notes:?}"
    );
}

#[test]
fn nan_is_refused_with_frame_and_channel_also_before_resampling() {
    let mut bad = vec![0.0; 10_000];
    bad[9_000] = f32::INFINITY;
    let file = Temporary::sound(44_100, SampleFormat::F32, &[&vec![0.0; 10_000], &bad]);
    for hz in [44_100, 48_000] {
        let Some(IrReason::NotFinite { channel, frame, .. }) = file.load(hz).unwrap_err().reason()
        else {
            panic!("it has one");
        };
        assert_eq!((channel, frame), (1, 9_000));
    }
}

#[test]
fn a_response_beyond_a_limit_is_refused_before_it_is_read() {
    let file = Temporary::sound(48_000, SampleFormat::F32, &[&[0.0; 1000], &[0.0; 1000]]);
    let load = |limit| Ir::load(&file.0, rate(96_000), &limit).unwrap_err();
    let usual = IrLimit::default();
    let frames = IrLimit {
        frames: 1999,
        ..usual
    };
    assert!(matches!(
        load(frames).reason(),
        Some(IrReason::TooLong { frames: 2000, .. })
    ));
    let samples = IrLimit {
        samples: 3999,
        ..usual
    };
    assert!(matches!(
        load(samples).reason(),
        Some(IrReason::TooLarge { samples: 4000, .. })
    ));
    let bytes = Some(1000);
    let memory = IrLimit { bytes, ..usual };
    assert!(matches!(
        load(memory).reason(),
        Some(IrReason::Memory { free: 1000, .. })
    ));
    // A sparse file of one gigabyte.
    let huge = Temporary::sound(48_000, SampleFormat::F32, &[&[0.0; 10]]);
    let mut bytes = std::fs::read(&huge.0).unwrap();
    let at = bytes.windows(4).position(|tag| tag == b"data").unwrap();
    bytes[at + 4..at + 8].copy_from_slice(&(1_u32 << 30).to_le_bytes());
    bytes[4..8].copy_from_slice(&((1_u32 << 30) + 100).to_le_bytes());
    std::fs::write(&huge.0, bytes).unwrap();
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(&huge.0)
        .unwrap();
    file.set_len((1 << 30) + 1000).unwrap();
    let refused = huge.load(48_000).unwrap_err();
    let is_too_long = matches!(refused.reason(), Some(IrReason::TooLong { .. }));
    assert!(is_too_long, "{refused:?}");
}

#[test]
fn a_missing_an_empty_and_an_unreadable_file_are_refused_by_name() {
    let missing = Ir::load("no-such-file.wav", rate(48_000), &IrLimit::default()).unwrap_err();
    assert!(missing.to_string().contains("no-such-file.wav"));
    let empty = Temporary::sound(48_000, SampleFormat::F32, &[&[]]);
    assert!(matches!(
        empty.load(48_000).unwrap_err().reason(),
        Some(IrReason::Empty)
    ));
    for bytes in [
        &b""[..],
        b"RIFF",
        b"this is no sound at all, but a text of some length",
    ] {
        let file = Temporary::bytes(bytes);
        let message = file.load(48_000).unwrap_err().to_string();
        assert!(message.contains("divisi-response"), "{message}");
    }
    let far = Temporary::sound(100, SampleFormat::F32, &[&[1.0]]);
    assert!(matches!(
        far.load(48_000).unwrap_err().reason(),
        Some(IrReason::FarRates { .. })
    ));
    let folder = Ir::load(std::env::temp_dir(), rate(48_000), &IrLimit::default());
    assert!(matches!(folder, Err(IrError::File(_))));
}
