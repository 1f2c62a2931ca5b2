//! [`Pitch`]: a key number as in MIDI, with a fraction, and the names that people write for it.

use core::str::FromStr;

/// A pitch as a MIDI key number with a fraction, from 0 to 127: 69 is A4, 440 Hz; 60 is C4, and 12 are an octave.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Pitch(f32);

/// Error of reading a [`Pitch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PitchError {
    /// The text is neither a number nor a name such as `C4`, `F#3` or `Bb-1`.
    NotAPitch,
    /// The pitch is below 0 or above 127.
    OutOfRange,
}

impl Pitch {
    /// The pitch with this key number. `None` if it is not from 0 to 127.
    pub fn new(key: f32) -> Option<Self> {
        (0.0..=127.0).contains(&key).then_some(Self(key))
    }

    /// The key number.
    pub fn key(self) -> f32 {
        self.0
    }
}

impl core::fmt::Display for PitchError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::NotAPitch => "a pitch is a key number or a name: 60, 60.5, C4, F#3, Bb2",
            Self::OutOfRange => "a pitch is from 0 (C-1) to 127 (G9)",
        })
    }
}

impl core::error::Error for PitchError {}

/// Reads a number, or a name: a letter, any number of `#` and `b` (or `♯` and `♭`), and the octave. `C4` is 60.
impl FromStr for Pitch {
    type Err = PitchError;

    fn from_str(text: &str) -> Result<Self, PitchError> {
        let key = match text.parse::<f32>() {
            Ok(key) if key.is_finite() => key,
            Ok(_) => return Err(PitchError::NotAPitch),
            Err(_) => named(text).ok_or(PitchError::NotAPitch)?,
        };
        Self::new(key).ok_or(PitchError::OutOfRange)
    }
}

/// Key number of a name.
fn named(text: &str) -> Option<f32> {
    let mut rest = text.chars();
    let mut key = match rest.next()?.to_ascii_uppercase() {
        'C' => 0,
        'D' => 2,
        'E' => 4,
        'F' => 5,
        'G' => 7,
        'A' => 9,
        'B' => 11,
        _ => return None,
    };
    let octave = loop {
        let left = rest.as_str();
        match rest.next()? {
            '#' | '♯' => key += 1,
            'b' | '♭' => key -= 1,
            _ => break left.parse::<i8>().ok()?,
        }
    };
    // Accidentals are bounded by the length of the text, octaves by their type.
    Some((key + 12 * (i32::from(octave) + 1)) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pitch_is_a_number_or_a_name() {
        for (text, key) in [
            ("60", 60.0),
            ("60.5", 60.5),
            ("C4", 60.0),
            ("a4", 69.0),
            ("F#3", 54.0),
            ("Bb2", 46.0),
            ("bb2", 46.0),
            ("E♭-1", 3.0),
            ("B##0", 25.0),
            ("C-1", 0.0),
            ("G9", 127.0),
        ] {
            assert_eq!(text.parse(), Ok(Pitch(key)), "{text}");
        }
        for text in ["", "C", "H4", "C4x", "4C", "C+", "NaN", "inf", "b"] {
            assert_eq!(text.parse::<Pitch>(), Err(PitchError::NotAPitch), "{text}");
        }
        for text in ["128", "-1", "G#9", "Cb-1", "C99"] {
            assert_eq!(text.parse::<Pitch>(), Err(PitchError::OutOfRange), "{text}");
        }
    }
}
