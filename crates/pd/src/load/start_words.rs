//! [`StartWords`]: the words behind `pd~ start`, which are arguments of another Pd.

use super::instance::LoadedObject;
use crate::file::Atom;

/// A word: a number or a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StartWord<'w> {
    Number(f32),
    Text(&'w str),
}

/// The arguments of a start that count here; the others are for windows and devices.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StartWords<'w> {
    /// The patch.
    pub file: Option<&'w str>,
    /// Folder in which it is looked for too.
    pub path: Option<&'w str>,
    /// Sample rate in hertz.
    pub rate: Option<f32>,
}

/// Flags of Pd that a word follows.
const WITH_WORD: [&str; 29] = [
    "-r",
    "-inchannels",
    "-outchannels",
    "-channels",
    "-soundbuf",
    "-audiobuf",
    "-blocksize",
    "-sleepgrain",
    "-audiodev",
    "-audioindev",
    "-audiooutdev",
    "-audioadddev",
    "-audioaddindev",
    "-audioaddoutdev",
    "-midiindev",
    "-midioutdev",
    "-mididev",
    "-midiadddev",
    "-path",
    "-helppath",
    "-open",
    "-lib",
    "-font-size",
    "-font-face",
    "-font",
    "-typeface",
    "-d",
    "-send",
    "-guicmd",
];

impl<'w> StartWords<'w> {
    /// Reads the words. Of several patches the first counts.
    ///
    /// Real-time: hot.
    pub(crate) fn read(words: impl IntoIterator<Item = StartWord<'w>>) -> Self {
        let mut found = Self::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let StartWord::Text(text) = word else {
                continue;
            };
            let next = match WITH_WORD.contains(&text) {
                true => words.next(),
                false => None,
            };
            match (text, next) {
                ("-r", Some(StartWord::Number(rate))) => found.rate = Some(rate),
                ("-path", Some(StartWord::Text(path))) => found.path = Some(path),
                ("-open", Some(StartWord::Text(file))) => found.file = found.file.or(Some(file)),
                (text, _) if !text.starts_with('-') => found.file = found.file.or(Some(text)),
                _ => {}
            }
        }
        found
    }
}

/// The words behind each `pd~ start` in a message box that are known before it is sent.
pub(crate) fn literal_starts(object: &LoadedObject) -> impl Iterator<Item = &[Atom]> {
    let messages = object.arguments.split(|word| *word == Atom::Semicolon);
    let messages = messages.enumerate().flat_map(|(at, part)| {
        // Behind a `;` stands a receiver.
        let words = part.get(usize::from(at > 0)..).unwrap_or_default();
        words.split(|word| *word == Atom::Comma)
    });
    messages.filter_map(|message| {
        let is_word = |at: usize, text| message.get(at).and_then(Atom::as_symbol) == Some(text);
        let has_dollar = |word: &Atom| matches!(word, Atom::Dollar(_) | Atom::DollarSymbol(_));
        let is_start = is_word(0, "pd~") && is_word(1, "start");
        (is_start && !message.iter().any(has_dollar)).then(|| &message[2..])
    })
}

/// A word of a box; `None` for those that stand for others.
pub(crate) fn start_word(atom: &Atom) -> Option<StartWord<'_>> {
    match atom {
        Atom::Float(number) => Some(StartWord::Number(*number)),
        Atom::Symbol(text) => Some(StartWord::Text(text)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_told_from_the_patch() {
        let words = Atom::words("-nogui -r 22050 -audiobuf 20 -path lib sub.pd other.pd -stderr");
        let found = StartWords::read(words.iter().filter_map(start_word));
        let expected = StartWords {
            file: Some("sub.pd"),
            path: Some("lib"),
            rate: Some(22_050.0),
        };
        assert_eq!(found, expected);
        let words = Atom::words("-nogui -r");
        assert_eq!(
            StartWords::read(words.iter().filter_map(start_word)).file,
            None
        );
    }
}
