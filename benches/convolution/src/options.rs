//! Command-line options: `--name value`, or `--name` alone.

use std::error::Error;

/// The options of this program.
pub struct Options(Vec<(String, Option<String>)>);

impl Options {
    /// Reads the command line.
    pub fn read() -> Result<Self, Box<dyn Error>> {
        let mut all = Vec::<(String, Option<String>)>::new();
        for word in std::env::args().skip(1) {
            match (word.strip_prefix("--"), all.last_mut()) {
                (Some(name), _) => all.push((name.to_owned(), None)),
                (None, Some((_, value @ None))) => *value = Some(word),
                _ => return Err(format!("unknown argument {word}").into()),
            }
        }
        Ok(Self(all))
    }

    /// Returns true if the option is present.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(n, _)| n == name)
    }

    /// Value of the option.
    pub fn text(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(n, _)| n == name)?;
        value.as_deref()
    }

    /// Value of the option as a number.
    pub fn number(&self, name: &str) -> Result<Option<usize>, Box<dyn Error>> {
        Ok(self.text(name).map(str::parse).transpose()?)
    }

    /// Value of the option as numbers separated by commas.
    pub fn numbers(&self, name: &str) -> Result<Option<Vec<usize>>, Box<dyn Error>> {
        let read = |text: &str| {
            text.split(',')
                .map(str::parse)
                .collect::<Result<Vec<_>, _>>()
        };
        Ok(self.text(name).map(read).transpose()?)
    }
}
