//! [`Gains`]: a matrix of gains as a session writes it.

use crate::layout::MAX_CHANNELS;

/// Gains from input channels to output channels: `"1 0 0.7; 0 1 0.7"` has a row for each output, and in it a number for each input.
#[derive(Clone, Debug, PartialEq)]
pub struct Gains {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Row by row.
    gains: Vec<f64>,
}

/// Error of reading [`Gains`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GainsError {
    /// A word is no number, or no gain.
    #[error("`{0}` is no gain; it must be a number from -1000 to 1000")]
    Number(String),
    /// Rows differ in length.
    #[error("row {row} has {found} gain{}, and row 1 has {first}", if *found == 1 { "" } else { "s" })]
    Ragged {
        /// The row, from 1.
        row: usize,
        /// Its gains.
        found: usize,
        /// Gains of the first row.
        first: usize,
    },
    /// There is no gain in a row, or there are too many rows or columns.
    #[error("it must have 1 to {} rows of 1 to {} gains", MAX_CHANNELS.0, MAX_CHANNELS.0)]
    Size,
}

impl Gains {
    /// Each of `channels` inputs to the output of its number.
    pub fn identity(channels: usize) -> Self {
        let gain = |at: usize| f64::from(u8::from(at / channels == at % channels));
        Self {
            inputs: channels,
            outputs: channels,
            gains: (0..channels * channels).map(gain).collect(),
        }
    }

    /// Reads rows, separated by `;`, of numbers, separated by spaces or commas.
    ///
    /// # Errors
    ///
    /// A word is no number, or rows are empty, too many or of different lengths.
    pub fn parse(text: &str) -> Result<Self, GainsError> {
        let max = MAX_CHANNELS.count();
        let (mut gains, mut inputs, mut outputs) = (Vec::new(), 0, 0);
        let text = text.trim().trim_end_matches(';');
        for row in text.split(';') {
            let before = gains.len();
            let words = row
                .split([' ', ',', '\t', '\n', '\r'])
                .filter(|word| !word.is_empty());
            for word in words {
                let gain = word.parse().ok().filter(|gain: &f64| gain.abs() <= 1000.0);
                gains.push(gain.ok_or_else(|| GainsError::Number(word.to_owned()))?);
                if gains.len() - before > max {
                    return Err(GainsError::Size);
                }
            }
            let found = gains.len() - before;
            outputs += 1;
            inputs = if outputs == 1 { found } else { inputs };
            if found == 0 || outputs > max {
                return Err(GainsError::Size);
            }
            if found != inputs {
                return Err(GainsError::Ragged {
                    row: outputs,
                    found,
                    first: inputs,
                });
            }
        }
        Ok(Self {
            inputs,
            outputs,
            gains,
        })
    }

    /// The gain from `input` to `output`, both counted from 0.
    ///
    /// # Panics
    ///
    /// There is no such input or output.
    pub fn gain(&self, output: usize, input: usize) -> f64 {
        assert!(input < self.inputs, "there are {} inputs", self.inputs);
        self.gains[output * self.inputs + input]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_outputs_and_columns_are_inputs() {
        let gains = Gains::parse("1 0 0.5; 0, -1, 0.5;\n").unwrap();
        assert_eq!((gains.inputs, gains.outputs), (3, 2));
        assert_eq!((gains.gain(0, 2), gains.gain(1, 1)), (0.5, -1.0));
        assert_eq!(Gains::parse("1 0; 0 1"), Ok(Gains::identity(2)));
    }

    #[test]
    fn a_wrong_matrix_is_refused() {
        let said = |text: &str| Gains::parse(text).unwrap_err().to_string();
        assert_eq!(said("1 0; 1"), "row 2 has 1 gain, and row 1 has 2");
        assert_eq!(
            said("1 x"),
            "`x` is no gain; it must be a number from -1000 to 1000"
        );
        assert!(said("nan").contains("no gain"));
        assert!(said("").contains("rows"));
        assert!(said("1;;1").contains("rows"));
        assert!(said(&"1 ".repeat(257)).contains("rows"));
        assert!(said(&"1;".repeat(257)).contains("rows"));
    }
}
