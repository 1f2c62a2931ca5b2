//! Options of the commands that play a patch.

use crate::failure::Failure;
use clap::Args;
use divisi::pd::{Atom, allow_network, allow_writing, lost_writes, protect_from_writing};
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};

/// Where a patch finds its abstractions, and what is sent to it.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct PatchOptions {
    /// Folder in which a patch's abstractions are looked for, after its own; may be given several times
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Vec<PathBuf>,

    /// Send a message to a receiver of a patch: milliseconds, its name, words; may be given several times
    #[arg(long, value_name = "MS NAME WORDS", value_parser = PatchMessage::parse)]
    pub(crate) send: Vec<PatchMessage>,

    /// Folder into which patches may write files, and in which they may replace files; may be given several times
    #[arg(long, value_name = "DIR")]
    pub(crate) allow_write: Vec<PathBuf>,

    /// Let netsend and netreceive of patches reach other machines, and be reached from there
    #[arg(long)]
    pub(crate) allow_net: bool,
}

impl PatchOptions {
    /// Allows patches what the user says: to write, but not over `output`, and to reach other machines.
    pub(crate) fn allow(&self, output: Option<&Path>) -> Result<(), Failure> {
        if self.allow_net {
            allow_network();
        }
        for folder in &self.allow_write {
            if !folder.is_dir() {
                let message = format!(
                    "--allow-write {}: there is no such folder",
                    folder.display()
                );
                return Err(Failure::bad_input(message));
            }
            allow_writing(folder);
        }
        output.into_iter().for_each(protect_from_writing);
        Ok(())
    }

    /// Fails if a patch has lost a file that it wanted to write.
    pub(crate) fn check_writes() -> Result<(), Failure> {
        match lost_writes() {
            0 => Ok(()),
            1 => Err(Failure::failed("a patch could not write a file")),
            lost => Err(Failure::failed(format!(
                "patches could not write {lost} files"
            ))),
        }
    }
}

/// A message of `--send "MS RECEIVER WORDS"`.
#[derive(Clone, Debug)]
pub(crate) struct PatchMessage {
    ms: f64,
    receiver: String,
    words: String,
}

impl PatchMessage {
    /// Reads the value of the option.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wrong = "expected milliseconds, a receiver and words: \"500 freq 440\"";
        let mut parts = text.trim().splitn(3, char::is_whitespace);
        let ms = parts.next().and_then(|ms| ms.parse::<f64>().ok());
        let ms = ms.filter(|ms| ms.is_finite() && *ms >= 0.0);
        let (Some(ms), Some(receiver)) = (ms, parts.next()) else {
            return Err(wrong.to_owned());
        };
        let words = parts.next().unwrap_or("").trim();
        if Atom::words(words)
            .iter()
            .any(|word| matches!(word, Atom::Semicolon))
        {
            return Err("a message has no `;`: give --send several times".to_owned());
        }
        Ok(Self {
            ms,
            receiver: receiver.to_owned(),
            words: words.to_owned(),
        })
    }
}

impl Display for PatchMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.ms, self.receiver, self.words)
    }
}
