//! One line to one command; numbers are checked as far as a line alone allows.

use super::words::{Word, Words};
use graph::{Diagnostic, SourceSpan, nearest};
use std::ops::RangeInclusive;

/// A value and its place in the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct At<T> {
    pub(super) is: T,
    pub(super) place: SourceSpan,
}

/// An input and an output, from 1.
pub(super) type Pair = (At<u32>, At<u32>);

/// A command and its place in the text.
#[derive(Debug, PartialEq)]
pub(super) struct Said {
    pub(super) place: SourceSpan,
    pub(super) command: Command,
}

/// Command of a line.
#[derive(Debug, PartialEq)]
pub(super) enum Command {
    Cd(Word),
    New {
        inputs: u32,
        outputs: u32,
        partition: u32,
        most_frames: u32,
    },
    Name {
        is_input: bool,
        channel: At<u32>,
        name: String,
        connect: Option<String>,
    },
    Read {
        pair: Pair,
        gain: f32,
        delay: At<u32>,
        offset: At<u32>,
        length: At<u32>,
        channel: At<u32>,
        file: Word,
    },
    Dirac {
        pair: Pair,
        gain: f32,
        delay: At<u32>,
    },
    Hilbert {
        pair: Pair,
        gain: f32,
        delay: At<u32>,
        length: At<u32>,
    },
    Copy {
        pair: Pair,
        from: Pair,
    },
}

const COMMANDS: [&str; 8] = [
    "/cd",
    "/convolver/new",
    "/input/name",
    "/output/name",
    "/impulse/read",
    "/impulse/dirac",
    "/impulse/hilbert",
    "/impulse/copy",
];

/// Most inputs or outputs: those of a sound file.
const MOST_CHANNELS: u32 = media::MAX_CHANNELS as u32;
/// Sizes of the smallest partition.
const PARTITIONS: RangeInclusive<u32> = 64..=8192;
/// Lengths of a Hilbert response.
const HILBERTS: RangeInclusive<u32> = 64..=65_536;
/// Any number of frames.
const FRAMES: RangeInclusive<u32> = 0..=u32::MAX;

/// Parses the command of a line; `None` if there is none or it has an error.
pub(super) fn parse(words: &mut Words<'_>, found: &mut Vec<Diagnostic>) -> Option<Said> {
    let first = words.word().filter(|word| !word.text.starts_with('#'))?;
    let place = first.place;
    let mut args = Args {
        of: &first.text,
        words,
        found,
    };
    let command = match first.text.as_str() {
        "/cd" => Command::Cd(args.name("folder")?),
        "/convolver/new" => args.convolver()?,
        "/input/name" => args.port(true)?,
        "/output/name" => args.port(false)?,
        "/impulse/read" => args.read()?,
        "/impulse/dirac" => Command::Dirac {
            pair: args.pair()?,
            gain: args.gain()?,
            delay: args.number("delay", FRAMES)?,
        },
        "/impulse/hilbert" => Command::Hilbert {
            pair: args.pair()?,
            gain: args.gain()?,
            delay: args.number("delay", FRAMES)?,
            length: args.number("length", HILBERTS)?,
        },
        "/impulse/copy" => Command::Copy {
            pair: args.pair()?,
            from: args.pair()?,
        },
        _ => {
            found.push(unknown(&first));
            return None;
        }
    };
    if let Some(place) = words.rest() {
        let message = format!("`{}` has said all before this: it is not read", first.text);
        let help = "put quotes around a name with spaces, and a `#` before a comment";
        found.push(Diagnostic::warning(place, message).help(help));
    }
    Some(Said { place, command })
}

fn unknown(word: &Word) -> Diagnostic {
    let Word { text, place } = word;
    if !text.starts_with('/') {
        let wrong = Diagnostic::error(*place, "a line begins with a command or a `#`");
        return wrong.help(format!("the commands are {}", COMMANDS.join(", ")));
    }
    let wrong = Diagnostic::error(*place, format!("there is no command `{text}`"));
    let meant = Some(text).filter(|text| text.len() < 64);
    match meant.and_then(|text| nearest(text, COMMANDS.into_iter())) {
        Some(meant) => wrong.help(format!("did you mean `{meant}`?")),
        None => wrong.help(format!("the commands are {}", COMMANDS.join(", "))),
    }
}

/// Arguments of a command, one after another; `None` if one is missing or invalid, which is then reported.
struct Args<'a, 't> {
    of: &'a str,
    words: &'a mut Words<'t>,
    found: &'a mut Vec<Diagnostic>,
}

impl Args<'_, '_> {
    fn convolver(&mut self) -> Option<Command> {
        let inputs = self.number("number of inputs", 1..=MOST_CHANNELS)?.is;
        let outputs = self.number("number of outputs", 1..=MOST_CHANNELS)?.is;
        let partition = self.number("partition size", PARTITIONS)?;
        let most_frames = self.number("maximum length", 1..=u32::MAX)?.is;
        self.density();
        if !partition.is.is_power_of_two() {
            let (size, place) = (partition.is, partition.place);
            let near = size.next_power_of_two();
            let wrong = Diagnostic::error(place, "a partition size is a power of two");
            let help = format!("{} and {near} are", near / 2);
            self.found.push(wrong.help(help));
            return None;
        }
        Some(Command::New {
            inputs,
            outputs,
            partition: partition.is,
            most_frames,
        })
    }

    /// Density: a hint for jconvolver's choice of partitions, which is not needed here.
    fn density(&mut self) {
        if self.words.rest().is_none() {
            return;
        }
        let Some(word) = self.words.word() else {
            return;
        };
        if !matches!(word.text.parse::<f32>(), Ok(density) if (0.0..=1.0).contains(&density)) {
            let message = format!("the density is from 0 to 1, not `{}`", word.text);
            self.found.push(Diagnostic::error(word.place, message));
        }
    }

    fn port(&mut self, is_input: bool) -> Option<Command> {
        let channel = self.number("channel", 1..=MOST_CHANNELS)?;
        let name = self.name("name")?.text;
        let connect = match self.words.rest() {
            Some(_) => Some(self.name("port")?.text),
            None => None,
        };
        Some(Command::Name {
            is_input,
            channel,
            name,
            connect,
        })
    }

    fn read(&mut self) -> Option<Command> {
        Some(Command::Read {
            pair: self.pair()?,
            gain: self.gain()?,
            delay: self.number("delay", FRAMES)?,
            offset: self.number("offset", FRAMES)?,
            length: self.number("length", FRAMES)?,
            channel: self.number("channel", 1..=u32::MAX)?,
            file: self.name("file")?,
        })
    }

    fn pair(&mut self) -> Option<Pair> {
        let input = self.number("input", 1..=u32::MAX)?;
        Some((input, self.number("output", 1..=u32::MAX)?))
    }

    fn gain(&mut self) -> Option<f32> {
        let word = self.word("gain")?;
        match word.text.parse::<f32>() {
            Ok(gain) if gain.is_finite() => Some(gain),
            _ => {
                let message = format!("the gain is a factor as 0.5, not `{}`", word.text);
                self.found.push(Diagnostic::error(word.place, message));
                None
            }
        }
    }

    fn number(&mut self, what: &str, may: RangeInclusive<u32>) -> Option<At<u32>> {
        let Word { text, place } = self.word(what)?;
        let number = text.parse::<u32>().ok().filter(|n| may.contains(n));
        if number.is_none() {
            let (least, most) = (may.start(), may.end());
            let from = match *most {
                u32::MAX => format!("a whole number from {least}"),
                most => format!("a whole number from {least} to {most}"),
            };
            let message = format!("the {what} is {from}, not `{text}`");
            self.found.push(Diagnostic::error(place, message));
        }
        number.map(|is| At { is, place })
    }

    fn word(&mut self, what: &str) -> Option<Word> {
        let word = self.words.word();
        if word.is_none() {
            self.missing(what);
        }
        word
    }

    fn name(&mut self, what: &str) -> Option<Word> {
        match self.words.name() {
            Ok(Some(word)) if !word.text.is_empty() => Some(word),
            Ok(Some(word)) => {
                let message = format!("the {what} is empty");
                self.found.push(Diagnostic::error(word.place, message));
                None
            }
            Ok(None) => {
                self.missing(what);
                None
            }
            Err(bad) => {
                self.found.push(Diagnostic::error(bad.place, bad.why));
                None
            }
        }
    }

    fn missing(&mut self, what: &str) {
        let message = format!("`{}` lacks its {what}", self.of);
        let wrong = Diagnostic::error(self.words.here(), message);
        self.found.push(wrong.help(usage(self.of)));
    }
}

fn usage(command: &str) -> &'static str {
    match command {
        "/cd" => "/cd FOLDER",
        "/convolver/new" => "/convolver/new INPUTS OUTPUTS PARTITION MAXSIZE [DENSITY]",
        "/input/name" => "/input/name NUMBER NAME [PORT]",
        "/output/name" => "/output/name NUMBER NAME [PORT]",
        "/impulse/read" => {
            "/impulse/read INPUT OUTPUT GAIN DELAY OFFSET LENGTH CHANNEL FILE; LENGTH 0 is all of it"
        }
        "/impulse/dirac" => "/impulse/dirac INPUT OUTPUT GAIN DELAY",
        "/impulse/hilbert" => "/impulse/hilbert INPUT OUTPUT GAIN DELAY LENGTH",
        _ => "/impulse/copy INPUT OUTPUT FROM-INPUT FROM-OUTPUT",
    }
}
