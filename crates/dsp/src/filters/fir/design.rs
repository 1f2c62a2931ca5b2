//! The taps of a FIR filter: from a file, a list, or a design.
//!
//! ```text
//! h[i] = sin(2π f t) / (π t) × w[i], t = i - (taps - 1) / 2       then divided by their sum: gain 1 at 0 Hz
//! w[i] = 0.42 - 0.5 cos(2π (i + 1) / (taps + 1)) + 0.08 cos(4π (i + 1) / (taps + 1))
//! high-pass: δ[i - (taps - 1) / 2] - h[i]
//! ```
//!
//! A sinc under a Blackman window (Blackman and Tukey, *The Measurement of Power Spectra*, 1958): 74 dB down in the stop band,
//! with a transition band of 5.5 sample rates divided by `taps`.

use super::MAX_TAPS;
use media::ResamplingReader;
use processor::{MakeContext, MakeError};
use std::f64::consts::PI;
use std::path::PathBuf;
use std::sync::Arc;
use units::SampleRate;

/// Impulse responses of a filter's channels, reversed: the tap for the newest frame is last.
pub(crate) struct ImpulseResponse {
    /// One for all channels, or one for each.
    channels: Vec<Box<[f32]>>,
    max_input: f32,
}

impl Default for ImpulseResponse {
    /// One tap of 0.
    fn default() -> Self {
        Self::new(vec![vec![0.0]])
    }
}

impl ImpulseResponse {
    /// A response of at least one tap, given in time order: the tap for the newest frame is first.
    fn new(mut channels: Vec<Vec<f32>>) -> Self {
        let sum = |taps: &Vec<f32>| taps.iter().map(|h| f64::from(h.abs())).sum::<f64>();
        let max_sum = channels.iter().map(sum).fold(1.0, f64::max);
        channels.iter_mut().for_each(|taps| taps.reverse());
        Self {
            channels: channels.into_iter().map(Vec::into).collect(),
            // Half of the largest sample, divided by the largest sum that the taps can give.
            max_input: (f64::from(f32::MAX) / 2.0 / max_sum) as f32,
        }
    }

    /// Number of taps.
    pub(crate) fn taps(&self) -> usize {
        self.channels[0].len()
    }

    /// Taps of one channel; `None` if it is silent.
    ///
    /// Real-time: hot.
    pub(crate) fn channel(&self, channel: usize) -> Option<&[f32]> {
        let is_shared = self.channels.len() == 1;
        self.channels
            .get(if is_shared { 0 } else { channel })
            .map(|c| &**c)
    }

    /// Largest input for which every sum is a finite sample.
    ///
    /// Real-time: hot.
    pub(crate) fn max_input(&self) -> f32 {
        self.max_input
    }
}

/// Source of the taps, as the node's parameters name it.
#[derive(Clone)]
pub(crate) enum TapSource {
    /// A file and its sample rate.
    File(PathBuf, SampleRate),
    /// A list in time order.
    List(Arc<[f32]>),
    /// Frequency, number of taps, and true for a high-pass.
    Design(f64, usize, bool),
}

impl TapSource {
    /// Reads the node's parameters.
    ///
    /// # Errors
    ///
    /// The file cannot be read, the list is none, or a high-pass has an even number of taps.
    pub(crate) fn from_node(creation: &MakeContext<'_>) -> Result<Self, MakeError> {
        let text = |key| creation.node.text(key);
        if let Some(file) = text("file") {
            if file.is_empty() {
                return Err(MakeError::param("file", "`file` names no file"));
            }
            return from_file(creation.folder.join(file));
        }
        if let Some(coefs) = text("coefs") {
            return list(coefs).map(|list| Self::List(list.into()));
        }
        let (freq, taps) = (creation.number("freq")?, creation.number("taps")? as usize);
        let high = creation.choice("mode")? == 1;
        if high && taps.is_multiple_of(2) {
            let message = format!("a high-pass has an odd number of `taps`, not {taps}");
            return Err(MakeError::param("taps", message));
        }
        Ok(Self::Design(freq, taps, high))
    }

    /// Returns true if the response is symmetric by design.
    pub(crate) fn is_designed(&self) -> bool {
        matches!(self, Self::Design(..))
    }

    /// The response at `rate`. A file that no longer exists gives silence.
    pub(crate) fn response(&self, rate: SampleRate) -> ImpulseResponse {
        match self {
            Self::File(path, own) => read(path, *own, rate)
                .map(ImpulseResponse::new)
                .unwrap_or_default(),
            Self::List(list) => ImpulseResponse::new(vec![list.to_vec()]),
            Self::Design(freq, taps, high) => {
                let at = (freq / f64::from(rate.hz())).min(0.49);
                ImpulseResponse::new(vec![designed(at, *taps, *high)])
            }
        }
    }
}

fn from_file(path: PathBuf) -> Result<TapSource, MakeError> {
    let wrong = |message: String| MakeError::param("file", message);
    let reader = media::open(&path).map_err(|error| wrong(graph::error_chain(&error)))?;
    match reader.frames() {
        Some(0) => Err(wrong(format!("{} is empty", path.display()))),
        Some(frames) if frames > MAX_TAPS as u64 => Err(wrong(format!(
            "{} has {frames} frames; a direct filter takes at most {MAX_TAPS}",
            path.display()
        ))),
        _ => match media::find_damage(&path) {
            Ok(None) => Ok(TapSource::File(path, reader.rate())),
            Ok(Some(what)) => Err(wrong(format!("{} is damaged: {what}", path.display()))),
            Err(error) => Err(wrong(graph::error_chain(&error))),
        },
    }
}

/// The first 65,536 frames of the file at `rate`; `None` if it cannot be read.
fn read(path: &PathBuf, own: SampleRate, rate: SampleRate) -> Option<Vec<Vec<f32>>> {
    let mut stream = ResamplingReader::open(path, rate).ok()?;
    let width = stream.channels().count();
    // At twice the rate there are twice as many taps for the same gain.
    let scale = (f64::from(own.hz()) / f64::from(rate.hz())) as f32;
    let mut channels = vec![Vec::new(); width];
    let mut samples = vec![0.0; 4096 * width];
    while channels[0].len() < MAX_TAPS {
        let n = stream.read_interleaved(&mut samples);
        if n == 0 {
            break;
        }
        let n = n.min(MAX_TAPS - channels[0].len());
        for (c, channel) in channels.iter_mut().enumerate() {
            let own = samples[..n * width].iter().skip(c).step_by(width);
            channel.extend(own.map(|x| if x.is_finite() { x * scale } else { 0.0 }));
        }
    }
    (!channels[0].is_empty()).then_some(channels)
}

/// Parses a list of numbers.
fn list(text: &str) -> Result<Vec<f32>, MakeError> {
    let wrong = |message: String| MakeError::param("coefs", message);
    let mut numbers = Vec::new();
    let words = text.split(|c: char| c.is_whitespace() || c == ',');
    for word in words.filter(|word| !word.is_empty()) {
        let number = word.parse().ok().filter(|x: &f32| x.is_finite());
        let Some(number) = number else {
            return Err(wrong(format!("`coefs` has `{word}`, which is no number")));
        };
        if numbers.len() == MAX_TAPS {
            return Err(wrong(format!("`coefs` has more than {MAX_TAPS} numbers")));
        }
        numbers.push(number);
    }
    if numbers.is_empty() {
        return Err(wrong("`coefs` has no number".into()));
    }
    Ok(numbers)
}

/// A windowed sinc that is 6 dB down at `at` cycles per frame.
fn designed(at: f64, taps: usize, high: bool) -> Vec<f32> {
    let middle = (taps as f64 - 1.0) / 2.0;
    let mut low: Vec<f64> = (0..taps)
        .map(|i| {
            let t = i as f64 - middle;
            let sinc = if t == 0.0 {
                2.0 * at
            } else {
                libm::sin(2.0 * PI * at * t) / (PI * t)
            };
            // One frame wider on either side, so that the outermost taps are not lost to the window's zeros.
            let turn = 2.0 * PI * (i as f64 + 1.0) / (taps as f64 + 1.0);
            sinc * (0.42 - 0.5 * libm::cos(turn) + 0.08 * libm::cos(2.0 * turn))
        })
        .collect();
    let sum: f64 = low.iter().sum();
    low.iter_mut().for_each(|h| *h /= sum);
    if high {
        // The input less its low-pass.
        low.iter_mut().for_each(|h| *h = -*h);
        low[taps / 2] += 1.0;
    }
    low.into_iter().map(|h| h as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gain in dB at `at` cycles per frame.
    fn gain_db(taps: &[f32], at: f64) -> f64 {
        let (mut re, mut im) = (0.0, 0.0);
        for (i, h) in taps.iter().enumerate() {
            let (sin, cos) = libm::sincos(2.0 * PI * at * i as f64);
            re += f64::from(*h) * cos;
            im -= f64::from(*h) * sin;
        }
        10.0 * libm::log10(re * re + im * im)
    }

    #[test]
    fn a_designed_filter_passes_one_side_and_stops_the_other() {
        for (at, taps) in [(0.05, 255), (0.1, 254), (0.25, 101), (0.4, 63)] {
            let low = designed(at, taps, false);
            let step = 5.5 / taps as f64 / 2.0;
            assert!(gain_db(&low, 0.0).abs() < 1e-4);
            assert!((gain_db(&low, at) + 6.02).abs() < 0.1, "{at} {taps}");
            assert!(gain_db(&low, at - step).abs() < 0.01, "{at} {taps}");
            assert!(gain_db(&low, at + step) < -70.0, "{at} {taps}");
            assert!(
                low.iter()
                    .zip(low.iter().rev())
                    .all(|(a, b)| (a - b).abs() < 1e-7)
            );
        }
        let high = designed(0.1, 255, true);
        assert!(gain_db(&high, 0.08) < -70.0 && gain_db(&high, 0.12).abs() < 0.01);
    }

    #[test]
    fn a_list_is_numbers_and_nothing_else() {
        assert_eq!(list(" 1, -0.5\n2e-1,,").unwrap(), [1.0, -0.5, 0.2]);
        for wrong in ["1 x", "inf", "NaN 1", "1e99", ", ,"] {
            assert!(list(wrong).is_err(), "{wrong}");
        }
        assert!(list(&"0 ".repeat(MAX_TAPS)).is_ok());
        assert!(list(&"0 ".repeat(MAX_TAPS + 1)).is_err());
    }
}
