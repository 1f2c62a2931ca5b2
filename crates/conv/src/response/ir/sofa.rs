//! SOFA files (AES69): responses from a source to both ears, by direction.
//!
//! The nearest measured direction is used as it was measured: a mix of several would mix their delays.

use super::{Ir, IrError, IrLimit, IrReason, LoadNote, LoadedIr, SourceDirection};
use sofar::hdf;
use sofar::reader::{Filter, OpenOptions, Sofar};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use units::SampleRate;
use workers::AudioThread;

/// Largest file in bytes.
const MAX_BYTES: u64 = 1 << 28;
/// Most bytes of all arrays together, unpacked. The reader unpacks at most 256 MiB of one array, whatever the file states, and
/// 20 MiB at a time.
const MAX_UNPACKED: usize = 1 << 29;
/// Arrays that the reader keeps.
const ARRAYS: [&str; 9] = [
    "ListenerPosition",
    "ReceiverPosition",
    "SourcePosition",
    "EmitterPosition",
    "ListenerUp",
    "ListenerView",
    "Data.IR",
    "Data.SamplingRate",
    "Data.Delay",
];
/// Longest delay before a response, in seconds.
const MAX_DELAY_S: f64 = 10.0;

impl Ir {
    /// Loads the responses of the measured direction that is nearest to `direction`: two channels, left and right.
    ///
    /// # Errors
    ///
    /// It cannot be read, holds no free-field responses of two ears, or is refused for what [`load`](Self::load) refuses.
    ///
    /// Real-time: waits, on the disk.
    pub fn load_sofa(
        path: impl AsRef<Path>,
        direction: SourceDirection,
        rate: SampleRate,
        limit: &IrLimit,
    ) -> Result<LoadedIr, IrError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let wrong = |why: &str| IrError::Sofa {
            name: name.clone(),
            why: why.into(),
        };
        let bytes = bytes(path).map_err(|error| wrong(&error.to_string()))?;
        // The library panics on some damaged files.
        let found = {
            let _silent = AudioThread::enter();
            catch_unwind(AssertUnwindSafe(|| {
                let values = values(&bytes)?;
                if values as u64 > limit.samples {
                    return Ok(Err(values));
                }
                read_ears(&bytes, direction).map(Ok)
            }))
        };
        let ears = found.unwrap_or_else(|_| Err("its numbers make no sense".into()));
        let ears = ears.map_err(|why| wrong(&why))?;
        let refused = |reason: IrReason| reason.of(&name);
        let ears = ears.map_err(|samples| {
            refused(IrReason::TooLarge {
                samples: samples as u64,
                max: limit.samples,
            })
        })?;
        let frames = ears.channels[0].len() as u64;
        limit.check(frames, 2).map_err(refused)?;
        Ir::new(ears.channels.clone(), ears.rate).map_err(|error| wrong(&error.to_string()))?;
        let mut loaded = Self::at_rate(&name, ears.channels, ears.rate, rate)?;
        loaded.notes.push(LoadNote::Direction {
            name,
            azimuth_deg: ears.measured.azimuth_deg,
            elevation_deg: ears.measured.elevation_deg,
        });
        Ok(loaded)
    }
}

fn bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    files::read(path, MAX_BYTES)
}

/// Responses of both ears, each behind its delay.
struct Ears {
    rate: SampleRate,
    channels: Vec<Vec<f32>>,
    measured: SourceDirection,
}

fn read_ears(bytes: &[u8], direction: SourceDirection) -> Result<Ears, String> {
    let rate = rate(bytes).ok_or("it is no SOFA file, or says no sampling rate")?;
    let mut options = OpenOptions::new();
    // Opened at its own rate nothing is resampled; the caller sees to its level.
    options.sample_rate(rate.hz() as f32).normalized(false);
    let sofa = options
        .open_data(bytes)
        .map_err(|error| error.to_string())?;
    let sizes = sofa.hrtf();
    let (m, r, n) = (sizes.m() as usize, sizes.r() as usize, sizes.n() as usize);
    if r != 2 {
        return Err(format!("it has {r} receivers, and a listener has two ears"));
    }
    if n == 0 || sizes.data_ir.len() != m * r * n {
        return Err("its responses are not all there".into());
    }
    let to = point(direction);
    let nearest = sofa
        .lookup()
        .find(&to)
        .ok_or("it has no source positions")?;
    let measured = position(&sofa, nearest).ok_or("its source positions are not all there")?;
    let mut filter = Filter::new(n);
    sofa.filter_nointerp(to[0], to[1], to[2], &mut filter);
    let behind = |delay_s: f32, response: &[f32]| {
        let delay_s = f64::from(delay_s);
        if !(0.0..=MAX_DELAY_S).contains(&delay_s) {
            return Err(format!("a delay of {delay_s} s"));
        }
        let frames = (delay_s * f64::from(rate.hz())).round() as usize;
        let mut channel = vec![0.0; frames];
        channel.extend_from_slice(response);
        Ok(channel)
    };
    let mut channels = vec![
        behind(filter.ldelay, &filter.left)?,
        behind(filter.rdelay, &filter.right)?,
    ];
    let frames = channels.iter().map(Vec::len).max().unwrap_or(0);
    channels
        .iter_mut()
        .for_each(|channel| channel.resize(frames, 0.0));
    Ok(Ears {
        rate,
        channels,
        measured,
    })
}

/// Most values of all arrays, found by unpacking one after the other; an error if they are too many.
fn values(bytes: &[u8]) -> Result<usize, String> {
    let file = hdf::parse_with_children(bytes).map_err(|_| "it is no SOFA file")?;
    let mut all = 0_usize;
    for name in ARRAYS {
        let array = file.get_child(name).and_then(Result::ok);
        all = all.saturating_add(array.map_or(0, |array| array.data.len()));
        if all > MAX_UNPACKED {
            return Err("unpacked it is larger than 512 MiB".into());
        }
    }
    Ok(all / size_of::<f32>())
}

/// Rate of the file: one number.
fn rate(bytes: &[u8]) -> Option<SampleRate> {
    let file = hdf::parse_with_children(bytes).ok()?;
    let data = file.get_child("Data.SamplingRate")?.ok()?.data;
    let hz = match *data.as_slice() {
        [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
        [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
        _ => return None,
    };
    let is_rate = hz.fract() == 0.0 && (1.0..=f64::from(media::MAX_RATE_HZ)).contains(&hz);
    SampleRate::new(hz as u32).filter(|_| is_rate)
}

/// Position of a source one metre away.
fn point(direction: SourceDirection) -> [f32; 3] {
    let turn = |degrees: f32| f64::from(degrees).to_radians();
    let (around, up) = (turn(direction.azimuth_deg), turn(direction.elevation_deg));
    let flat = libm::cos(up);
    let all = [
        libm::cos(around) * flat,
        libm::sin(around) * flat,
        libm::sin(up),
    ];
    all.map(|x| x as f32)
}

/// Direction of measurement `index`.
fn position(sofa: &Sofar, index: usize) -> Option<SourceDirection> {
    let at = sofa
        .hrtf()
        .source_position
        .values
        .get(3 * index..3 * index + 3)?;
    let [x, y, z] = [at[0], at[1], at[2]].map(f64::from);
    let degrees = |angle: f64| angle.to_degrees() as f32;
    Some(SourceDirection {
        azimuth_deg: degrees(libm::atan2(y, x)),
        elevation_deg: degrees(libm::atan2(z, x.hypot(y))),
    })
}
