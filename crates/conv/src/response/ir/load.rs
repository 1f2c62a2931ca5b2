//! Impulse response from a sound file: every sample is checked and converted to the rate at which it will be used.

use super::resample::resample;
use super::{Ir, IrError, IrLimit, IrReason, not_finite};
use media::{RateRatioError, Reader};
use std::fmt;
use std::path::Path;
use units::SampleRate;

/// An impulse response, and notes for the user.
#[derive(Clone, Debug)]
pub struct LoadedIr {
    /// The response.
    pub ir: Ir,
    /// Changes that the user did not ask for.
    pub notes: Vec<LoadNote>,
}

/// A change to a response that is no error.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LoadNote {
    /// It was resampled.
    Resampled {
        /// Name of the file.
        name: String,
        /// Rate of the file.
        from: SampleRate,
        /// Rate at which it is used.
        to: SampleRate,
    },
    /// It begins so suddenly that resampling makes it ring before its beginning; that part is left out.
    CutBefore {
        /// Name of the file.
        name: String,
        /// Energy of that part, in dB of the whole.
        lost_db: f64,
    },
    /// Direction of a SOFA file that was measured nearest to the requested one.
    Direction {
        /// Name of the file.
        name: String,
        /// Degrees to the left of straight ahead.
        azimuth_deg: f32,
        /// Degrees above the ears.
        elevation_deg: f32,
    },
}

/// Direction of a source from the listener.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SourceDirection {
    /// Degrees to the left of straight ahead.
    pub azimuth_deg: f32,
    /// Degrees above the ears.
    pub elevation_deg: f32,
}

/// Energy before the beginning below which there is no note: it is not audible.
const AUDIBLE_DB: f64 = -60.0;
/// Frames that are read at once.
const PORTION: usize = 4096;

impl fmt::Display for LoadNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resampled { name, from, to } => {
                write!(f, "{name} is at {from} and was resampled to {to}")
            }
            Self::CutBefore { name, lost_db } => write!(
                f,
                "{name} begins so suddenly that {lost_db:.0} dB of it, resampled, lie before its beginning and are left \
                 out: a pre-delay in the file keeps them"
            ),
            Self::Direction {
                name,
                azimuth_deg,
                elevation_deg,
            } => write!(
                f,
                "{name}: as measured at {azimuth_deg:.1} degrees to the left and {elevation_deg:.1} up"
            ),
        }
    }
}

impl Ir {
    /// Loads a whole sound file, resampled to `rate`.
    ///
    /// # Errors
    ///
    /// It cannot be read, is damaged, empty or beyond `limit`, or has a sample that is NaN or infinite.
    ///
    /// Real-time: waits, on the disk.
    pub fn load(
        path: impl AsRef<Path>,
        rate: SampleRate,
        limit: &IrLimit,
    ) -> Result<LoadedIr, IrError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let mut reader = media::open(path)?;
        let from = reader.rate();
        let check = |frames: u64, channels| {
            let checked = limit.check(scaled(frames, from, rate).max(frames), channels);
            checked.map_err(|reason| reason.of(&name))
        };
        if let Some(frames) = reader.frames() {
            check(frames, reader.channels().count())?;
        }
        let channels = read(&mut reader, &name, &check)?;
        Self::at_rate(&name, channels, from, rate)
    }

    /// Resamples frames that have been checked to `rate`.
    pub(super) fn at_rate(
        name: &str,
        channels: Vec<Vec<f32>>,
        from: SampleRate,
        rate: SampleRate,
    ) -> Result<LoadedIr, IrError> {
        let mut notes = Vec::new();
        let mut channels = channels;
        if from != rate {
            let too_far = |RateRatioError { from, to }| IrReason::FarRates { from, to }.of(name);
            let (made, lost_db) = resample(&channels, from, rate).map_err(too_far)?;
            channels = made;
            let name = || name.to_owned();
            notes.push(LoadNote::Resampled {
                name: name(),
                from,
                to: rate,
            });
            if lost_db > AUDIBLE_DB {
                notes.push(LoadNote::CutBefore {
                    name: name(),
                    lost_db,
                });
            }
        }
        let channels = channels.into_iter().map(Into::into).collect();
        let ir = Self::named(name, channels, rate)?;
        Ok(LoadedIr { ir, notes })
    }
}

/// Number of frames at rate `to` that last as long as `frames` at rate `from`, rounded up.
fn scaled(frames: u64, from: SampleRate, to: SampleRate) -> u64 {
    let exact = (u128::from(frames) * u128::from(to.hz())).div_ceil(u128::from(from.hz()));
    u64::try_from(exact).unwrap_or(u64::MAX)
}

/// Reads all channels of the file; `check` refuses a length before they grow to it.
fn read(
    reader: &mut Reader,
    name: &str,
    check: &dyn Fn(u64, usize) -> Result<(), IrError>,
) -> Result<Vec<Vec<f32>>, IrError> {
    let width = reader.channels().count();
    let mut channels: Vec<Vec<f32>> = vec![Vec::new(); width];
    let mut portion = vec![0.0; PORTION * width];
    let mut found = 0_u64;
    let mut asked = reader.frames().unwrap_or(0);
    loop {
        let n = reader.read_interleaved(&mut portion)?;
        if n == 0 {
            break;
        }
        let samples = &portion[..n * width];
        if let Some(at) = not_finite(samples) {
            let reason = IrReason::NotFinite {
                channel: at % width,
                frame: found + (at / width) as u64,
                value: samples[at],
            };
            return Err(reason.of(name));
        }
        found += n as u64;
        if found > asked {
            asked = found * 2;
            check(found, width)?;
        }
        for (c, channel) in channels.iter_mut().enumerate() {
            channel.extend(samples.iter().skip(c).step_by(width));
        }
    }
    match reader.frames() {
        Some(stated) if found < stated => Err(IrReason::Short { stated, found }.of(name)),
        _ if found == 0 => Err(IrReason::Empty.of(name)),
        _ => Ok(channels),
    }
}
