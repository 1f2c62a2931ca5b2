//! [`Modulation`]: an input that drives a parameter of its node.
//!
//! ```text
//! p = clamp((start + adds) × times × 2^octaves × 10^(decibels / 20))
//!
//! start      m × amount of the last input with the law `set`; without one the base: the value as the node or the user sets it
//! adds       sum of m × amount over the inputs with the law `add`
//! times      product of m × amount over those with `times`
//! octaves    sum of m × amount over those with `octaves`
//! decibels   sum of m × amount over those with `dB`
//! m          what enters the input; 0 while it is silent
//! ```
//!
//! Sums and products go through the inputs in their order. The result is held within the parameter's range. A parameter in
//! dB takes `dB` as `add`. An input without an edge changes nothing, nor does one with `set` for events before its first.

use crate::{Node, Port, Signal};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// Maximum number of inputs of a node that drive parameters. A larger number in a file is an error.
pub const MAX_MODULATIONS: usize = 1024;

/// Law by which an input changes the parameter that it drives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Law {
    /// Adds to the base.
    #[default]
    Add,
    /// Multiplies.
    Times,
    /// Multiplies by a power of two.
    Octaves,
    /// Multiplies by a gain in dB; adds to a parameter in dB.
    Decibels,
    /// Takes the place of the base.
    Set,
}

impl Law {
    /// The words for laws in a session.
    pub const WORDS: [&'static str; 6] = ["add", "octaves", "semitones", "times", "dB", "set"];
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Add => "add",
            Self::Times => "times",
            Self::Octaves => "octaves",
            Self::Decibels => "dB",
            Self::Set => "set",
        })
    }
}

/// An input drives a parameter of its node.
#[derive(Clone, Copy, Debug)]
pub struct Modulation {
    /// Index of the parameter among the kind's parameters; [`Kind::OWN`](crate::Kind::OWN) of one of the node's own, which the
    /// port's name tells.
    pub param: u16,
    /// Law of the change.
    pub law: Law,
    /// Factor on what enters the input: in the parameter's unit for `add`, else in octaves or dB. Finite.
    pub amount: f64,
}

impl PartialEq for Modulation {
    fn eq(&self, other: &Self) -> bool {
        let key = |it: &Self| (it.param, it.law, it.amount.to_bits());
        key(self) == key(other)
    }
}

impl Eq for Modulation {}

impl Hash for Modulation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.param, self.law, self.amount.to_bits()).hash(state);
    }
}

/// An amount and a law as a session writes them: `2 octaves`, `times 0.5`, `-6 dB`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount {
    /// The law.
    pub law: Law,
    /// The factor.
    pub factor: f64,
}

impl Default for Amount {
    fn default() -> Self {
        Self {
            law: Law::Add,
            factor: 1.0,
        }
    }
}

/// Error of reading an [`Amount`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AmountError {
    /// Neither a number nor a law.
    #[error("`{0}` is no number and no law")]
    Word(String),
    /// There are two numbers or two laws.
    #[error("there are two {0}")]
    Twice(&'static str),
    /// There is no number.
    #[error("the amount is missing")]
    Missing,
}

impl FromStr for Amount {
    type Err = AmountError;

    /// Reads a number and a law, in any order; without a law it is `add`.
    fn from_str(text: &str) -> Result<Self, AmountError> {
        let (mut law, mut factor) = (None, None);
        for word in text.split_whitespace() {
            let found = match word {
                "add" => Some((Law::Add, 1.0)),
                "times" => Some((Law::Times, 1.0)),
                "octaves" | "octave" => Some((Law::Octaves, 1.0)),
                "semitones" | "semitone" => Some((Law::Octaves, 1.0 / 12.0)),
                "dB" => Some((Law::Decibels, 1.0)),
                "set" => Some((Law::Set, 1.0)),
                _ => None,
            };
            if let Some(found) = found {
                if law.replace(found).is_some() {
                    return Err(AmountError::Twice("laws"));
                }
                continue;
            }
            let number = word.parse().ok().filter(|n: &f64| n.is_finite());
            let number = number.ok_or_else(|| AmountError::Word(word.to_owned()))?;
            if factor.replace(number).is_some() {
                return Err(AmountError::Twice("numbers"));
            }
        }
        let (law, unit) = law.unwrap_or((Law::Add, 1.0));
        let factor = factor.ok_or(AmountError::Missing)? * unit;
        Ok(Self { law, factor })
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = crate::number_text(self.factor);
        match self.law {
            Law::Add | Law::Times | Law::Set => write!(f, "{} {number}", self.law),
            Law::Octaves | Law::Decibels => write!(f, "{number} {}", self.law),
        }
    }
}

impl Modulation {
    /// Its amount and law.
    pub fn amount(&self) -> Amount {
        Amount {
            law: self.law,
            factor: self.amount,
        }
    }
}

impl Node {
    /// The inputs that its kind gives it: all but those that drive parameters, which come behind them.
    pub fn kind_inputs(&self) -> &[Port] {
        let is_own = |port: &Port| port.modulation.is_none();
        &self.inputs[..self.inputs.partition_point(is_own)]
    }

    /// The inputs that drive its parameters, in order.
    pub fn modulations(&self) -> impl Iterator<Item = (&Port, Modulation)> {
        let driven = self.inputs[self.kind_inputs().len()..].iter();
        driven.filter_map(|port| Some((port, port.modulation?)))
    }

    /// Adds an input that drives the parameter called `param` and returns its index; `None` if the node has
    /// [`MAX_MODULATIONS`] of them.
    pub fn add_modulation(
        &mut self,
        param: &str,
        signal: Signal,
        modulation: Modulation,
    ) -> Option<u16> {
        let index = u16::try_from(self.inputs.len()).ok()?;
        if self.inputs.len() - self.kind_inputs().len() >= MAX_MODULATIONS {
            return None;
        }
        let same = self
            .modulations()
            .filter(|(port, it)| it.param == modulation.param && port.driven_name() == param);
        let name = match same.count() {
            0 => param.to_owned(),
            n => format!("{param} ({})", n + 1),
        };
        self.inputs.push(Port {
            name,
            signal,
            modulation: Some(modulation),
        });
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_read_as_it_is_written() {
        let read = |text: &str| text.parse::<Amount>().unwrap();
        for text in [
            "add 0.3",
            "times -0.5",
            "2 octaves",
            "-6 dB",
            "1e-9 octaves",
        ] {
            assert_eq!(read(text).to_string(), text);
        }
        assert_eq!(read("octaves 2"), read("2 octaves"));
        assert_eq!(read("7"), read("add 7"));
        assert_eq!(read("semitones 6"), read("0.5 octaves"));
    }

    #[test]
    fn what_is_no_amount_says_why() {
        for (text, why) in [
            ("", "the amount is missing"),
            ("times", "the amount is missing"),
            ("2 dB add", "there are two laws"),
            ("2 3", "there are two numbers"),
            ("2 Hz", "`Hz` is no number and no law"),
            ("inf dB", "`inf` is no number and no law"),
        ] {
            assert_eq!(text.parse::<Amount>().unwrap_err().to_string(), why);
        }
    }

    #[test]
    fn inputs_that_drive_parameters_come_behind_those_of_the_kind() {
        let mut node = Node::new("a", "osc");
        let drive = |param| Modulation {
            param,
            law: Law::Add,
            amount: 1.0,
        };
        for param in [0, 1, 0] {
            node.add_modulation(
                ["freq", "volume"][usize::from(param)],
                Signal::Event,
                drive(param),
            );
        }
        let names: Vec<&str> = node.inputs.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["freq", "volume", "freq (2)"]);
        assert!(node.kind_inputs().is_empty());
        assert_eq!(node.modulations().count(), 3);
    }
}
