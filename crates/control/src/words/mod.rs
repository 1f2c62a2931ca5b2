//! Commands as a shell has them: `set tone.freq 800`.
//!
//! | file | holds |
//! |---|---|
//! | `forms` | the table of all commands: name, form, reader |
//! | `arguments` | numbers, times and names behind a command's name |

mod arguments;
mod forms;

use crate::Command;
pub(crate) use forms::FORMS;
use forms::Form;

/// Reason why words are no command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WordsError(String);

/// Reads one command. A word with blanks is put in double quotes.
///
/// # Errors
///
/// A sentence that shows the form of the command.
pub fn read_words(line: &str) -> Result<Command, WordsError> {
    let words = split(line)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (verb, arguments) = words.split_first().unwrap_or((&"", &[]));
    read_command(verb, arguments)
}

/// The command called `verb` with its arguments, each a word.
///
/// # Errors
///
/// As [`read_words`].
pub(crate) fn read_command(verb: &str, arguments: &[&str]) -> Result<Command, WordsError> {
    let form = FORMS.iter().find(|form| form.verb == verb);
    let form = form.ok_or_else(|| no_command(verb))?;
    let Form { written, read, .. } = form;
    read(arguments).ok_or_else(|| WordsError(format!("it is written `{written}`")))
}

fn no_command(verb: &str) -> WordsError {
    let names = || FORMS.iter().map(|form| form.verb);
    let help = match graph::nearest(verb, names()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => format!("; there are {}", names().collect::<Vec<_>>().join(", ")),
    };
    WordsError(format!("there is no command `{verb}`{help}"))
}

/// The words of a line: separated by blanks, or in double quotes, where `\"` is a quote.
fn split(line: &str) -> Result<Vec<String>, WordsError> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let mut word = String::new();
        let mut chars = rest.char_indices();
        let mut in_quotes = false;
        let mut end = rest.len();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => in_quotes = !in_quotes,
                '\\' if in_quotes => word.extend(chars.next().map(|(_, c)| c)),
                c if c.is_whitespace() && !in_quotes => {
                    end = at;
                    break;
                }
                c => word.push(c),
            }
        }
        if in_quotes {
            return Err(WordsError("a quote has no end".into()));
        }
        words.push(word);
        rest = rest[end..].trim_start();
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_read_as_the_command_of_its_name() {
        let lines = [
            "add tone osc freq=440 wave=saw",
            "remove tone",
            "replace tone noise",
            "connect tone.out -> out",
            "disconnect tone.out -> out",
            "set tone.freq 800 over 20 at 48000",
            "enable tone",
            "disable tone",
            "bypass tone off",
            "solo strip.3 on",
            "rename tone high",
            "move tone -> old",
            "value env.notes 1",
            "midi env.notes 0x90 60 100 at 64",
            "message patch freq 330",
            "snapshot verse of voice",
            "recall verse over 2000 at 96000",
            "remove_snapshot verse",
            "rename_snapshot verse chorus",
            "save_preset voice bright",
            "load_preset voice bright over 100",
            "start at 48000",
            "stop",
            "locate 16 beats",
            "loop 5.1 9.1 at 64",
            "tempo 96.5 at 64",
            "learn tone.freq 100 800",
            "undo",
            "redo",
            "load",
            "save \"my song.toml\"",
            "add_cell wet of room damp with cores=0,1 latency=1",
            "remove_cell wet",
            "resize_cell wet 0 1",
            "stop_cell wet",
            "start_cell wet",
            "query graph",
            "subscribe meters load of tone.out every 50",
        ];
        assert_eq!(FORMS.len(), lines.len());
        for (form, line) in FORMS.iter().zip(lines) {
            let command = read_words(line).unwrap_or_else(|e| panic!("{line}: {e}"));
            let json = serde_json::to_value(&command).unwrap();
            assert_eq!(json["do"], form.verb);
            assert!(form.written.starts_with(form.verb));
            assert_eq!(serde_json::from_value::<Command>(json).unwrap(), command);
        }
    }

    #[test]
    fn a_wrong_line_shows_the_form_or_the_nearest_command() {
        let error = |line| read_words(line).unwrap_err().to_string();
        assert_eq!(
            error("sett a.b 1"),
            "there is no command `sett`; did you mean `set`?"
        );
        assert!(error("set a.b").contains("set NODE.PARAM VALUE"));
        assert!(error("midi a 300 0 0").contains("midi NODE.INPUT"));
        assert!(error("add \"a").contains("quote"));
        assert!(error("").contains("there are add"));
    }
}
