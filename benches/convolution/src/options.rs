//! What stands on the command line: `--name value`, or `--name` alone.

use std::error::Error;

/// The words.
pub struct Options(Vec<(String, Option<String>)>);

impl Options {
    /// Reads this program's.
    pub fn read() -> Result<Self, Box<dyn Error>> {
        let mut all = Vec::<(String, Option<String>)>::new();
        for word in std::env::args().skip(1) {
            match (word.strip_prefix("--"), all.last_mut()) {
                (Some(name), _) => all.push((name.to_owned(), None)),
                (None, Some((_, value @ None))) => *value = Some(word),
                _ => return Err(format!("{word}: what is that?").into()),
            }
        }
        Ok(Self(all))
    }

    /// Whether it was said.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(n, _)| n == name)
    }

    /// What was said behind it.
    pub fn text(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(n, _)| n == name)?;
        value.as_deref()
    }

    /// The same as a number.
    pub fn number(&self, name: &str) -> Result<Option<usize>, Box<dyn Error>> {
        Ok(self.text(name).map(str::parse).transpose()?)
    }

    /// The same as numbers with commas between.
    pub fn numbers(&self, name: &str) -> Result<Option<Vec<usize>>, Box<dyn Error>> {
        let read = |text: &str| {
            text.split(',')
                .map(str::parse)
                .collect::<Result<Vec<_>, _>>()
        };
        Ok(self.text(name).map(read).transpose()?)
    }
}
