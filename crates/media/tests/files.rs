//! Files read back as they were written, in every format, from any frame; and hostile files are refused.

mod kit;
mod sample_info;

use divisi_media as media;

use kit::{Folder, Random, aiff, flac, noise, samples_of};
use media::{MediaError, Reader, ResamplingReader, SampleFormat, Sound, Writer};
use std::path::Path;
use std::sync::Arc;
use units::{Channels, SampleRate};

fn hz(hz: u32) -> SampleRate {
    SampleRate::new(hz).unwrap()
}

fn wav(path: &Path, channels: u16, format: SampleFormat, samples: &[f32]) {
    let mut writer = Writer::create(path, hz(48_000), Channels(channels), format).unwrap();
    writer.write_interleaved(samples).unwrap();
    writer.finish().unwrap();
}

fn rest(reader: &mut Reader) -> Vec<f32> {
    let width = reader.channels().count();
    let mut all = Vec::new();
    let mut samples = vec![0.0; 333 * width];
    loop {
        let n = reader.read_interleaved(&mut samples).unwrap();
        all.extend(&samples[..n * width]);
        if n < 333 {
            return all;
        }
    }
}

fn whole(path: &Path) -> Vec<f32> {
    rest(&mut media::open(path).unwrap())
}

fn bits(samples: &[f32]) -> Vec<u32> {
    samples.iter().map(|s| s.to_bits()).collect()
}

#[test]
fn a_float_file_keeps_its_bits() {
    let folder = Folder::new("float");
    let path = folder.file("f.wav");
    let mut random = Random(1);
    let mut samples: Vec<f32> = std::iter::repeat_with(|| f32::from_bits(random.next() as u32))
        .filter(|s| !s.is_nan())
        .take(3 * 5000)
        .collect();
    samples.extend([-0.0, f32::MIN_POSITIVE / 8.0, f32::INFINITY]);
    wav(&path, 3, SampleFormat::F32, &samples);
    assert_eq!(bits(&whole(&path)), bits(&samples));
}

#[test]
fn integer_formats_keep_exact_samples() {
    let folder = Folder::new("integers");
    for (format, full) in [
        (SampleFormat::I16, 32_768.0),
        (SampleFormat::I24, 8_388_608.0),
    ] {
        let path = folder.file("i.wav");
        let mut random = Random(2);
        let samples: Vec<f32> = (0..4000)
            .map(|_| random.below(2 * full as usize) as f32 / full - 1.0)
            .collect();
        wav(&path, 2, format, &samples);
        assert_eq!(whole(&path), samples, "{format:?}");
    }
}

#[test]
fn integer_formats_clip_at_full_scale() {
    let folder = Folder::new("loud");
    let path = folder.file("l.wav");
    wav(
        &path,
        1,
        SampleFormat::I16,
        &[2.0, -2.0, f32::NAN, f32::NEG_INFINITY],
    );
    assert_eq!(whole(&path), [32_767.0 / 32_768.0, -1.0, 0.0, -1.0]);
}

#[test]
fn aiff_and_flac_read_and_seek_like_wav() {
    let folder = Folder::new("formats");
    let frames = noise(5000);
    let want = samples_of(&frames);
    let wave = folder.file("n.wav");
    wav(&wave, 2, SampleFormat::I16, &want);
    let files = [
        wave,
        folder.with("n.aiff", &aiff(&frames)),
        folder.with("n.flac", &flac(&frames)),
    ];
    for path in files {
        let mut reader = media::open(&path).unwrap();
        assert_eq!(
            (reader.rate(), reader.channels()),
            (hz(48_000), Channels(2))
        );
        assert_eq!(reader.frames(), Some(5000), "{path:?}");
        assert_eq!(rest(&mut reader), want, "{path:?}");
        for frame in [0, 1, 1023, 1024, 4321, 4999, 5000, 6000, 17] {
            reader.seek(frame).unwrap();
            let from = (frame as usize * 2).min(want.len());
            assert_eq!(rest(&mut reader), want[from..], "{path:?} from {frame}");
        }
    }
}

#[test]
fn planar_and_interleaved_reads_agree() {
    let folder = Folder::new("planes");
    let path = folder.file("p.wav");
    let (left, right) = ([0.5, 0.25, -0.5], [-1.0, 0.0, 0.75]);
    let mut writer = Writer::create(&path, hz(44_100), Channels(2), SampleFormat::F32).unwrap();
    writer.write(&[&left, &right]).unwrap();
    writer.write_silence(2).unwrap();
    assert_eq!(writer.frames(), 5);
    writer.finish().unwrap();
    let (mut l, mut r) = ([9.0; 8], [9.0; 8]);
    let mut reader = media::open(&path).unwrap();
    assert_eq!(reader.read(&mut [&mut l, &mut r]).unwrap(), 5);
    assert_eq!(l, [0.5, 0.25, -0.5, 0.0, 0.0, 9.0, 9.0, 9.0]);
    assert_eq!(r, [-1.0, 0.0, 0.75, 0.0, 0.0, 9.0, 9.0, 9.0]);
}

#[test]
fn a_killed_program_leaves_a_playable_file() {
    let folder = Folder::new("killed");
    let path = folder.file("k.wav");
    let mut writer = Writer::record(&path, hz(1000), Channels(1), SampleFormat::I24).unwrap();
    writer.write_interleaved(&vec![0.5; 2500]).unwrap();
    std::mem::forget(writer);
    let found = whole(&path);
    assert!(found.len() > 1500 && found.iter().all(|sample| *sample == 0.5));
}

#[test]
fn a_file_that_is_not_finished_leaves_the_old_one_as_it_was() {
    let folder = Folder::new("given-up");
    let path = folder.with("old.wav", b"precious");
    let mut writer = Writer::create(&path, hz(1000), Channels(1), SampleFormat::I24).unwrap();
    writer.write_interleaved(&vec![0.5; 2500]).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    drop(writer);
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    assert_eq!(
        std::fs::read_dir(path.parent().unwrap()).unwrap().count(),
        1
    );
}

#[test]
fn a_full_disk_is_an_error() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        eprintln!("SKIPPED a_full_disk_is_an_error: there is no /dev/full");
        return;
    }
    let mut writer = Writer::create(full, hz(1000), Channels(1), SampleFormat::F32).unwrap();
    let written = (0..100).try_for_each(|_| writer.write_silence(1000));
    assert!(matches!(written, Err(MediaError::Io(..))));
    let writer = Writer::create(full, hz(1000), Channels(1), SampleFormat::F32).unwrap();
    assert!(matches!(writer.finish(), Err(MediaError::Io(..))));
    let recording = Writer::record(full, hz(1000), Channels(1), SampleFormat::F32);
    assert!(matches!(recording, Err(MediaError::Io(..))));
}

#[test]
fn damage_is_named_with_its_place() {
    let folder = Folder::new("named-damage");
    let frames = noise(5000);
    let wave = folder.file("whole.wav");
    wav(&wave, 2, SampleFormat::I16, &samples_of(&frames));
    let wave = std::fs::read(wave).unwrap();
    let flac = flac(&frames);
    let mut corrupt = flac.clone();
    let middle = corrupt.len() / 2;
    corrupt[middle..middle + 64].fill(0x55);
    let half = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
    for (name, bytes, what) in [
        ("whole.flac", flac.clone(), None),
        ("whole.wav", wave.clone(), None),
        ("cut.wav", half(&wave), Some("bytes are missing")),
        ("cut.flac", half(&flac), Some("frame")),
        ("corrupt.flac", corrupt, Some("at frame")),
    ] {
        let path = folder.with(name, &bytes);
        let found = media::find_damage(&path).unwrap();
        assert_eq!(found.is_some(), what.is_some(), "{name}: {found:?}");
        assert!(
            found.unwrap_or_default().contains(what.unwrap_or_default()),
            "{name}"
        );
        let sound = Sound::load(&path, hz(48_000), 1 << 20).unwrap().unwrap();
        assert_eq!(sound.damage().is_some(), what.is_some(), "{name}");
    }
}

#[test]
fn a_truncated_file_gives_its_frames() {
    let folder = Folder::new("truncated");
    let path = folder.file("t.wav");
    wav(&path, 2, SampleFormat::I16, &samples_of(&noise(4000)));
    let bytes = std::fs::read(&path).unwrap();
    let path = folder.with("t.wav", &bytes[..bytes.len() - 8001]);
    let mut reader = media::open(&path).unwrap();
    let mut samples = [0.0; 10_000];
    assert_eq!(reader.read_interleaved(&mut samples).unwrap(), 1999);
    let mut stream = ResamplingReader::open(&path, hz(48_000)).unwrap();
    assert_eq!(stream.frames(), 1999);
    assert_eq!(stream.read_interleaved(&mut samples), 1999);
    assert_eq!(samples[..3998], samples_of(&noise(4000))[..3998]);
}

#[test]
fn a_resampling_reader_is_silent_after_damage() {
    let folder = Folder::new("damaged");
    let bytes = flac(&noise(4096));
    let path = folder.with("d.flac", &bytes[..bytes.len() / 2]);
    let mut stream = ResamplingReader::open(&path, hz(48_000)).unwrap();
    let mut samples = [9.0; 2 * 4096];
    assert_eq!(stream.read_interleaved(&mut samples), 4096);
    assert_eq!(samples[..2048], samples_of(&noise(1024)));
    assert_eq!(samples[6000..], [0.0; 2192]);
}

#[test]
fn frames_are_counted_if_the_file_does_not_state_them() {
    let folder = Folder::new("counted");
    let mut bytes = flac(&noise(3000));
    bytes[8 + 14..8 + 18].fill(0);
    let unsaid = folder.with("u.flac", &bytes);
    let path = folder.file("u.wav");
    wav(&path, 2, SampleFormat::I16, &samples_of(&noise(3000)));
    let mut bytes = std::fs::read(&path).unwrap();
    let data = bytes.windows(4).position(|w| w == b"data").unwrap();
    bytes[4..8].fill(0xff);
    bytes[data + 4..data + 8].fill(0xff);
    let piped = folder.with("u.wav", &bytes);
    for path in [unsaid, piped] {
        assert_eq!(media::open(&path).unwrap().frames(), None);
        let mut stream = ResamplingReader::open(&path, hz(48_000)).unwrap();
        assert_eq!(stream.frames(), 3000);
        assert_eq!(Sound::from_reader(&mut stream).channel(1).len(), 3000);
    }
}

#[test]
fn an_error_names_the_missing_file() {
    let error = media::open("no/such/loop.wav").err().unwrap();
    assert!(matches!(error, MediaError::Open(..)));
    assert!(error.to_string().contains("no/such/loop.wav"));
}

#[test]
fn texts_folders_and_empty_files_are_refused() {
    let folder = Folder::new("texts");
    let text = folder.with("t.wav", "nothing but words, ".repeat(1000).as_bytes());
    assert!(matches!(
        media::open(text),
        Err(MediaError::UnknownFormat(..))
    ));
    let empty = folder.with("e.flac", &[]);
    assert!(media::open(empty).is_err());
    assert!(matches!(
        media::open(folder.file("")),
        Err(MediaError::Open(..))
    ));
}

/// A WAV file with one number of its head replaced.
fn forged(at: usize, number: &[u8]) -> Vec<u8> {
    let folder = Folder::new(&format!("forged{at}"));
    let path = folder.file("f.wav");
    wav(&path, 2, SampleFormat::I16, &[0.0; 200]);
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at..][..number.len()].copy_from_slice(number);
    bytes
}

#[test]
fn a_chunk_larger_than_the_file_is_refused() {
    let folder = Folder::new("claims");
    let mut bytes = forged(0, b"RIFF");
    let text = [b"LIST".as_slice(), &u32::MAX.to_le_bytes(), b"INFO"].concat();
    bytes.splice(12..12, text);
    let path = folder.with("c.wav", &bytes);
    assert!(matches!(media::open(path), Err(MediaError::Damaged(..))));
}

#[test]
fn impossible_channels_and_rates_are_refused() {
    let folder = Folder::new("absurd");
    for (at, number) in [
        (58, [0, 0, 0x80, 0xbb]),
        (58, [0xff, 0xff, 0x80, 0xbb]),
        (60, [0, 0, 0, 0]),
        (60, [0xff, 0xff, 0xff, 0x7f]),
    ] {
        let path = folder.with("a.wav", &forged(at, &number));
        assert!(media::open(path).is_err(), "{number:?} at {at}");
    }
}

#[test]
fn damaged_files_neither_panic_nor_grow() {
    let folder = Folder::new("damage");
    let frames = noise(600);
    let path = folder.file("d.wav");
    wav(&path, 2, SampleFormat::I16, &samples_of(&frames));
    let whole = [std::fs::read(path).unwrap(), aiff(&frames), flac(&frames)];
    let mut random = Random(3);
    let mut read = 0;
    for round in 0..3000 {
        let mut bytes = whole[round % 3].clone();
        for _ in 0..1 + random.below(4) {
            // Mostly in the head, where the numbers are.
            let most = if random.below(4) > 0 {
                130
            } else {
                bytes.len()
            };
            let at = random.below(most);
            bytes[at] = random.next() as u8;
        }
        if random.below(8) == 0 {
            bytes.truncate(random.below(bytes.len()));
        }
        let path = folder.with("d", &bytes);
        let Ok(mut reader) = media::open(&path) else {
            continue;
        };
        let width = reader.channels().count();
        let mut samples = vec![0.0; 64 * width];
        let mut frames = 0;
        // Damage costs its packet; a reader that comes to no end would fail here.
        for _ in 0..10_000 {
            match reader.read_interleaved(&mut samples) {
                Ok(0) | Err(MediaError::Io(..)) => break,
                Ok(n) => frames += n,
                Err(_) => {}
            }
        }
        assert!(
            frames <= 4 * bytes.len(),
            "{frames} frames of {} bytes",
            bytes.len()
        );
        let _ = reader.seek(random.below(700) as u64);
        read += 1;
    }
    assert!(read > 300, "only {read} were read at all");
}

#[test]
fn resampled_frames_do_not_depend_on_seeks_or_portions() {
    let folder = Folder::new("streams");
    let path = folder.file("s.wav");
    wav(&path, 2, SampleFormat::I16, &samples_of(&noise(9000)));
    for rate in [48_000, 44_100, 96_000, 32_000, 8_000, 47_999] {
        let mut stream = ResamplingReader::open(&path, hz(rate)).unwrap();
        let frames = stream.frames() as usize;
        assert_eq!(frames, (9000 * rate as usize).div_ceil(48_000));
        let mut all = vec![0.0; 2 * frames + 10];
        assert_eq!(stream.read_interleaved(&mut all), frames);
        let mut random = Random(u64::from(rate));
        for _ in 0..20 {
            let from = random.below(frames);
            stream.seek(from as u64);
            let mut portion = vec![0.0; 2 * (1 + random.below(1500))];
            for _ in 0..3 {
                let at = stream.position() as usize;
                let n = stream.read_interleaved(&mut portion);
                assert_eq!(
                    bits(&portion[..2 * n]),
                    bits(&all[2 * at..][..2 * n]),
                    "{rate} {from}"
                );
            }
        }
    }
}

#[test]
fn a_sound_is_loaded_once() {
    let folder = Folder::new("sounds");
    let path = folder.file("h.wav");
    wav(&path, 1, SampleFormat::F32, &[0.5, -0.5, 0.25]);
    let load = |rate, most| Sound::load(&path, hz(rate), most).unwrap();
    let one = load(48_000, 3).unwrap();
    assert_eq!(one.channel(0), [0.5, -0.5, 0.25]);
    assert!(Arc::ptr_eq(&one, &load(48_000, 100).unwrap()));
    assert!(!Arc::ptr_eq(&one, &load(44_100, 100).unwrap()));
    assert!(load(48_000, 2).is_none() && load(96_000, 2).is_none());
}

#[test]
fn a_writer_refuses_more_channels_than_a_port_has() {
    let folder = Folder::new("wide");
    let refused = Writer::create(
        folder.file("w.wav"),
        hz(48_000),
        Channels(257),
        SampleFormat::F32,
    );
    assert!(matches!(refused, Err(MediaError::Unsupported(..))));
}
