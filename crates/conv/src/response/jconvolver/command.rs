//! One line to one command; numbers are checked as far as a line alone allows.

use super::PortName;
use super::sources::FilePart;
use super::words::{Word, Words};
use graph::{Diagnostic, SourceSpan, nearest};
use std::ops::RangeInclusive;

/// A number and its place in the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Located {
    pub(super) value: usize,
    pub(super) place: SourceSpan,
}

/// An input and an output, from 1.
pub(super) type Pair = (Located, Located);

/// A command and its place in the text.
#[derive(Debug, PartialEq)]
pub(super) struct Statement {
    pub(super) place: SourceSpan,
    pub(super) command: ConfigCommand,
}

/// Command of a line.
#[derive(Debug, PartialEq)]
pub(super) enum ConfigCommand {
    Cd(Word),
    New {
        inputs: usize,
        outputs: usize,
        partition: usize,
        max_frames: usize,
    },
    Name {
        is_input: bool,
        channel: Located,
        name: PortName,
    },
    Impulse {
        pair: Pair,
        gain: f32,
        delay: Located,
        response: Response,
    },
    Copy {
        pair: Pair,
        from: Pair,
    },
}

/// Origin of a response.
#[derive(Debug, PartialEq)]
pub(super) enum Response {
    File(FilePart),
    Dirac,
    /// A Hilbert transform of this length.
    Hilbert(usize),
}

/// Commands with their arguments.
const COMMANDS: [(&str, &str); 8] = [
    ("/cd", "FOLDER"),
    (
        "/convolver/new",
        "INPUTS OUTPUTS PARTITION MAXSIZE [DENSITY]",
    ),
    ("/input/name", "NUMBER NAME [PORT]"),
    ("/output/name", "NUMBER NAME [PORT]"),
    (
        "/impulse/read",
        "INPUT OUTPUT GAIN DELAY OFFSET LENGTH CHANNEL FILE; LENGTH 0 is all of it",
    ),
    ("/impulse/dirac", "INPUT OUTPUT GAIN DELAY"),
    ("/impulse/hilbert", "INPUT OUTPUT GAIN DELAY LENGTH"),
    ("/impulse/copy", "INPUT OUTPUT FROM-INPUT FROM-OUTPUT"),
];

/// Maximum number of inputs or outputs: that of a sound file.
const MAX_CHANNELS: u32 = media::MAX_CHANNELS as u32;
/// Sizes of the smallest partition.
const PARTITIONS: RangeInclusive<u32> = 64..=8192;
/// Lengths of a Hilbert response.
const HILBERTS: RangeInclusive<u32> = 64..=65_536;
/// Any number of frames.
const FRAMES: RangeInclusive<u32> = 0..=u32::MAX;

/// Parses the command of a line; `None` if there is none or it has an error.
pub(super) fn parse(words: &mut Words<'_>, found: &mut Vec<Diagnostic>) -> Option<Statement> {
    let first = words.word().filter(|word| !word.text.starts_with('#'))?;
    let command = Args {
        first: &first,
        words,
        found,
    }
    .command();
    let command = command.map_err(|wrong| found.push(wrong)).ok()?;
    if let Some(place) = words.rest() {
        let message = format!(
            "`{}` has no further arguments: this is not read",
            first.text
        );
        let help = "put quotes around a name with spaces, and a `#` before a comment";
        found.push(Diagnostic::warning(place, message).help(help));
    }
    Some(Statement {
        place: first.place,
        command,
    })
}

fn unknown(Word { text, place }: &Word) -> Diagnostic {
    let names = COMMANDS.map(|(name, _)| name);
    let wrong = match text.starts_with('/') {
        true => Diagnostic::error(*place, format!("there is no command `{text}`")),
        false => Diagnostic::error(*place, "a line begins with a command or a `#`"),
    };
    let meant = Some(text).filter(|text| text.starts_with('/') && text.len() < 64);
    match meant.and_then(|text| nearest(text, names.into_iter())) {
        Some(meant) => wrong.help(format!("did you mean `{meant}`?")),
        None => wrong.help(format!("the commands are {}", names.join(", "))),
    }
}

/// Arguments of a command, one after another.
struct Args<'a, 't> {
    first: &'a Word,
    words: &'a mut Words<'t>,
    found: &'a mut Vec<Diagnostic>,
}

impl Args<'_, '_> {
    fn command(&mut self) -> Result<ConfigCommand, Diagnostic> {
        match self.first.text.as_str() {
            "/cd" => self.name("folder").map(ConfigCommand::Cd),
            "/convolver/new" => self.convolver(),
            "/input/name" => self.port(true),
            "/output/name" => self.port(false),
            "/impulse/read" | "/impulse/dirac" | "/impulse/hilbert" => self.impulse(),
            "/impulse/copy" => Ok(ConfigCommand::Copy {
                pair: self.pair()?,
                from: self.pair()?,
            }),
            _ => Err(unknown(self.first)),
        }
    }

    fn convolver(&mut self) -> Result<ConfigCommand, Diagnostic> {
        let inputs = self.number("number of inputs", 1..=MAX_CHANNELS)?.value;
        let outputs = self.number("number of outputs", 1..=MAX_CHANNELS)?.value;
        let partition = self.number("partition size", PARTITIONS)?;
        let max_frames = self.number("maximum length", 1..=u32::MAX)?.value;
        self.density();
        let Located { value, place } = partition;
        if !value.is_power_of_two() {
            let near = value.next_power_of_two();
            let wrong = Diagnostic::error(place, "a partition size is a power of two");
            return Err(wrong.help(format!("{} and {near} are", near / 2)));
        }
        Ok(ConfigCommand::New {
            inputs,
            outputs,
            partition: value,
            max_frames,
        })
    }

    /// Density: a hint for jconvolver's choice of partitions, which is not needed here.
    fn density(&mut self) {
        let has_density = self.words.rest().is_some();
        let Some(Word { text, place }) = self.words.word().filter(|_| has_density) else {
            return;
        };
        if !matches!(text.parse::<f32>(), Ok(density) if (0.0..=1.0).contains(&density)) {
            let message = format!("the density is from 0 to 1, not `{text}`");
            self.found.push(Diagnostic::error(place, message));
        }
    }

    fn port(&mut self, is_input: bool) -> Result<ConfigCommand, Diagnostic> {
        let channel = self.number("channel", 1..=MAX_CHANNELS)?;
        let name = Some(self.name("name")?.text);
        let connect = match self.words.rest() {
            Some(_) => Some(self.name("port")?.text),
            None => None,
        };
        Ok(ConfigCommand::Name {
            is_input,
            channel,
            name: PortName { name, connect },
        })
    }

    fn impulse(&mut self) -> Result<ConfigCommand, Diagnostic> {
        Ok(ConfigCommand::Impulse {
            pair: self.pair()?,
            gain: self.gain()?,
            delay: self.number("delay", FRAMES)?,
            response: match self.first.text.as_str() {
                "/impulse/dirac" => Response::Dirac,
                "/impulse/hilbert" => Response::Hilbert(self.number("length", HILBERTS)?.value),
                _ => Response::File(FilePart {
                    offset: self.number("offset", FRAMES)?,
                    length: self.number("length", FRAMES)?,
                    channel: self.number("channel", 1..=u32::MAX)?,
                    file: self.name("file")?,
                }),
            },
        })
    }

    fn pair(&mut self) -> Result<Pair, Diagnostic> {
        let input = self.number("input", 1..=u32::MAX)?;
        Ok((input, self.number("output", 1..=u32::MAX)?))
    }

    fn gain(&mut self) -> Result<f32, Diagnostic> {
        let Word { text, place } = self.word("gain")?;
        let gain = text.parse::<f32>().ok().filter(|gain| gain.is_finite());
        let message = || format!("the gain is a factor as 0.5, not `{text}`");
        gain.ok_or_else(|| Diagnostic::error(place, message()))
    }

    fn number(&mut self, what: &str, range: RangeInclusive<u32>) -> Result<Located, Diagnostic> {
        let Word { text, place } = self.word(what)?;
        let number = text.parse::<u32>().ok().filter(|n| range.contains(n));
        let wrong = || {
            let (min, max) = range.clone().into_inner();
            let from = match max {
                u32::MAX => format!("a whole number from {min}"),
                max => format!("a whole number from {min} to {max}"),
            };
            Diagnostic::error(place, format!("the {what} is {from}, not `{text}`"))
        };
        let value = number.ok_or_else(wrong)? as usize;
        Ok(Located { value, place })
    }

    fn word(&mut self, what: &str) -> Result<Word, Diagnostic> {
        let word = self.words.word();
        word.ok_or_else(|| self.missing(what))
    }

    fn name(&mut self, what: &str) -> Result<Word, Diagnostic> {
        match self.words.name()? {
            Some(word) if !word.text.is_empty() => Ok(word),
            Some(word) => Err(Diagnostic::error(
                word.place,
                format!("the {what} is empty"),
            )),
            None => Err(self.missing(what)),
        }
    }

    fn missing(&self, what: &str) -> Diagnostic {
        let command = &self.first.text;
        let usage = COMMANDS.iter().find(|(name, _)| name == command);
        let usage = usage.map_or("", |(_, usage)| usage);
        Diagnostic::error(self.words.here(), format!("`{command}` lacks its {what}"))
            .help(format!("{command} {usage}"))
    }
}
