//! [`complete_recording`]: the header of a recording whose program was killed.

use crate::wav_header::{HEADER_BYTES, WavFormat};
use crate::{MAX_CHANNELS, MAX_RATE_HZ, SampleFormat};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Completes a recording whose program was killed: samples that are in the file, but not in its header, are its end. Returns
/// the number of frames that were added. A file with another header than ours, or with a complete one, stays as it is.
///
/// # Errors
///
/// The file cannot be read or written.
///
/// Real-time: waits, on the disk.
pub fn complete_recording(path: impl AsRef<Path>) -> io::Result<u64> {
    let path = path.as_ref();
    if !path.metadata()?.is_file() {
        return Ok(0);
    }
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let Some((format, stated)) = read_header(&file)? else {
        return Ok(0);
    };
    let bytes = file.metadata()?.len().saturating_sub(HEADER_BYTES);
    let frames = bytes / format.frame_bytes();
    // One byte behind the samples makes their number even.
    if frames <= stated {
        return Ok(0);
    }
    // Cut first: so the pad byte is zero.
    let data = frames * format.frame_bytes();
    file.set_len(HEADER_BYTES + data)?;
    file.set_len(HEADER_BYTES + data + data % 2)?;
    file.write_all_at(&format.header(frames), 0)?;
    file.sync_data()?;
    Ok(frames - stated)
}

/// Format and number of frames, if the header is one of ours to the last byte.
fn read_header(file: &File) -> io::Result<Option<(WavFormat, u64)>> {
    let mut header = [0; HEADER_BYTES as usize];
    match file.read_exact_at(&mut header, 0) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let short = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let word = |at: usize| u32::from(short(at)) | u32::from(short(at + 2)) << 16;
    let samples = match short(70) {
        32 => SampleFormat::F32,
        24 => SampleFormat::I24,
        16 => SampleFormat::I16,
        _ => return Ok(None),
    };
    let format = WavFormat {
        channels: short(58),
        rate_hz: word(60),
        samples,
    };
    if !(1..=MAX_CHANNELS).contains(&format.channels) || format.rate_hz > MAX_RATE_HZ {
        return Ok(None);
    }
    let data = match &header[..4] {
        b"RF64" => u64::from(word(28)) | u64::from(word(32)) << 32,
        _ => u64::from(word(100)),
    };
    // No file is that long, and the sizes of its header would overflow.
    if data > u64::MAX / 2 {
        return Ok(None);
    }
    let is_ours = |frames: &u64| format.header(*frames) == header;
    let frames = data.checked_div(format.frame_bytes());
    Ok(frames.filter(is_ours).map(|frames| (format, frames)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Writer, open};
    use units::{Channels, SampleRate};

    #[test]
    fn a_recording_of_a_killed_program_gets_its_last_frames_and_other_files_stay() {
        let name = format!("divisi-completion-{}.wav", std::process::id());
        let path = std::env::temp_dir().join(name);
        let rate = SampleRate::new(48_000).unwrap();
        for format in [SampleFormat::F32, SampleFormat::I24, SampleFormat::I16] {
            let mut writer = Writer::record(&path, rate, Channels(3), format).unwrap();
            writer.write_interleaved(&[0.25; 3 * 1001]).unwrap();
            writer.finish().unwrap();
            let whole = std::fs::read(&path).unwrap();
            assert_eq!(complete_recording(&path).unwrap(), 0, "it is whole");
            assert!(std::fs::read(&path).unwrap() == whole);
            // Killed behind the header of 700 frames, amid a frame.
            let own = WavFormat {
                channels: 3,
                rate_hz: 48_000,
                samples: format,
            };
            let mut killed = own.header(700);
            killed.extend(&whole[HEADER_BYTES as usize..][..1000 * own.frame_bytes() as usize + 1]);
            std::fs::write(&path, &killed).unwrap();
            assert_eq!(complete_recording(&path).unwrap(), 300);
            let mut reader = open(&path).unwrap();
            assert_eq!((reader.frames(), reader.damage()), (Some(1000), None));
            let mut samples = vec![0.0; 3 * 1000];
            assert_eq!(reader.read_interleaved(&mut samples).unwrap(), 1000);
            assert!(samples.iter().all(|it| *it == 0.25));
            // Any other header.
            for at in 0..HEADER_BYTES as usize {
                let mut other = killed.clone();
                other[at] ^= 0x41;
                std::fs::write(&path, &other).unwrap();
                let _ = complete_recording(&path).unwrap();
                let is_size = (4..8).contains(&at) || (100..104).contains(&at);
                assert!(is_size || std::fs::read(&path).unwrap() == other, "{at}");
            }
            for short in [&b""[..], b"RIFF", &killed[..90]] {
                std::fs::write(&path, short).unwrap();
                assert_eq!(complete_recording(&path).unwrap(), 0);
                assert!(std::fs::read(&path).unwrap() == short);
            }
        }
        std::fs::remove_file(path).unwrap();
    }

    fn file(name: &str) -> (std::path::PathBuf, WavFormat) {
        let name = format!("divisi-{name}-{}.wav", std::process::id());
        let format = WavFormat {
            channels: 1,
            rate_hz: 48_000,
            samples: SampleFormat::I24,
        };
        (std::env::temp_dir().join(name), format)
    }

    #[test]
    fn samples_of_odd_length_keep_their_pad_byte() {
        let (path, format) = file("pad");
        // Three frames of three bytes, and the begin of the fourth.
        let mut killed = format.header(2);
        killed.extend([7; 11]);
        std::fs::write(&path, &killed).unwrap();
        assert_eq!(complete_recording(&path).unwrap(), 1);
        let mut whole = format.header(3);
        whole.extend([7, 7, 7, 7, 7, 7, 7, 7, 7, 0]);
        assert!(std::fs::read(&path).unwrap() == whole);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_header_with_the_largest_sizes_is_another_ones() {
        let (path, format) = file("largest");
        for size in [u64::MAX, u64::MAX - 2, u64::MAX / 2 + 1, u64::MAX / 2] {
            let mut foreign = format.header(1 << 33);
            foreign[28..36].copy_from_slice(&size.to_le_bytes());
            foreign.extend([7; 12]);
            std::fs::write(&path, &foreign).unwrap();
            assert_eq!(complete_recording(&path).unwrap(), 0);
            assert!(std::fs::read(&path).unwrap() == foreign);
        }
        std::fs::remove_file(path).unwrap();
    }
}
