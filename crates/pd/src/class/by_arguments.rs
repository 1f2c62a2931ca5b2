//! Classes whose inlets and outlets follow from their arguments.

use super::{MAX_PORTS, Ports};
use crate::expression::{Dialect, parse, text_of};
use crate::file::Atom;

/// Their names.
#[rustfmt::skip]
pub(super) const NAMES: &[&str] = &[
    "send", "receive", "select", "route", "pack", "unpack", "trigger", "pipe", "value", "list",
    "expr", "expr~", "fexpr~",
    "notein", "ctlin", "pgmin", "bendin", "touchin", "polytouchin",
    "+~", "-~", "*~", "/~", "max~", "min~", "dac~", "adc~", "readsf~", "writesf~",
    "netreceive", "text", "array", "file", "pointer", "get", "set", "append", "fiddle~", "sigmund~",
    "pd~", "bonk~",
];

/// Ports of a box of the class `name`, if the class is one of these.
pub(super) fn ports(name: &str, arguments: &[Atom]) -> Option<Ports> {
    let count = arguments.len();
    let first = arguments.first().and_then(Atom::as_symbol).unwrap_or("");
    Some(match name {
        "send" => Ports::of(if count == 0 { "mm" } else { "m" }, ""),
        "receive" => Ports::of("", "m"),
        "value" => Ports::of(if count == 0 { "mm" } else { "m" }, "m"),
        // One value can be changed by an inlet of its own.
        "select" | "route" => Ports::of(
            if count < 2 { "mm" } else { "m" },
            &many('m', count.max(1) + 1),
        ),
        "pack" => Ports::of(&many('m', or(count, 2)), "m"),
        "unpack" | "trigger" => Ports::of("m", &many('m', or(count, 2))),
        "pipe" => pipe(count),
        "list" => list(first),
        "expr" | "expr~" | "fexpr~" => expression(name, arguments),
        "notein" | "polytouchin" => midi_input(3, &[states_channel(arguments, 0)]),
        "ctlin" => {
            let number = arguments.first().map(|n| n.as_float().unwrap_or(0.0));
            let is_stated = number.is_some_and(|number| number >= 0.0);
            match states_channel(arguments, 1) {
                true => midi_input(1, &[]),
                false => midi_input(3, &[is_stated]),
            }
        }
        "pgmin" | "bendin" | "touchin" => midi_input(2, &[states_channel(arguments, 0)]),
        // With a number the other operand is not a signal.
        "+~" | "-~" | "*~" | "/~" | "max~" | "min~" => {
            Ports::of(if count == 0 { "~~" } else { "~m" }, "~")
        }
        "dac~" => Ports::of(&many('~', or(count, 2)), ""),
        "adc~" => Ports::of("m", &many('~', or(count, 2))),
        "readsf~" => Ports::of("m", &(many('~', channels(arguments)) + "m")),
        "writesf~" => Ports::of(&many('~', channels(arguments)), ""),
        "netreceive" => net_receive(arguments),
        "text" => text(first, arguments),
        "array" => array(first),
        "file" => file(first),
        "pointer" => Ports::of("mm", &many('m', count + 2)),
        "get" => Ports::of("m", &many('m', fields(count))),
        "set" => set(first, count),
        "append" => Ports::of(&many('m', fields(count) + 1), "m"),
        "pd~" => other_program(arguments),
        "fiddle~" => Ports::of("~", &many('m', fiddle_outlets(arguments))),
        "bonk~" => {
            let count = bonk_channels(arguments);
            Ports::of(&many('~', count), &many('m', count + 1))
        }
        "sigmund~" => Ports::of("~", &many('m', sigmund_outlets(arguments))),
        _ => return None,
    })
}

fn or(count: usize, default: usize) -> usize {
    if count == 0 { default } else { count }
}

/// `count` times the same letter.
fn many(kind: char, count: usize) -> String {
    std::iter::repeat_n(kind, count.min(MAX_PORTS)).collect()
}

/// The last argument is the time.
fn pipe(count: usize) -> Ports {
    let values = count.saturating_sub(1).max(1);
    Ports::of(&many('m', values + 1), &many('m', values))
}

fn list(function: &str) -> Ports {
    match function {
        "split" => Ports::of("mm", "mmm"),
        "trim" | "length" | "fromsymbol" | "tosymbol" => Ports::of("m", "m"),
        "store" => Ports::of("mm", "mm"),
        _ => Ports::of("mm", "m"),
    }
}

/// Ports of an expression; none where its text has a mistake: Pd makes no such box.
fn expression(name: &str, arguments: &[Atom]) -> Ports {
    let program = Dialect::of(name).map(|dialect| parse(dialect, &text_of(arguments.iter())));
    match program {
        Some(Ok(program)) => program.ports(),
        _ => Ports::default(),
    }
}

/// A mistake in the arguments for which Pd does not make the box.
pub(super) fn mistake(name: &str, arguments: &[Atom]) -> Option<String> {
    if name == "pd~" {
        return channels_mistake(arguments);
    }
    let dialect = Dialect::of(name)?;
    let why = parse(dialect, &text_of(arguments.iter())).err()?;
    Some(format!("`{name}`: {why}"))
}

/// Signals to or from a sub-patch that are too many, or fewer than none.
fn channels_mistake(arguments: &[Atom]) -> Option<String> {
    let is_wrong = |pair: &[Atom]| {
        let is_count = matches!(pair[0].as_symbol(), Some("-ninsig" | "-noutsig"));
        is_count
            && !pair[1]
                .as_float()
                .is_some_and(|count| (0.0..=64.0).contains(&count))
    };
    let wrong = arguments.windows(2).find(|pair| is_wrong(pair))?;
    Some(format!(
        "`pd~`: {} is from 0 to 64, not {}",
        wrong[0], wrong[1]
    ))
}

/// A channel, or a controller, that is stated has no outlet.
fn midi_input(outlets: usize, stated: &[bool]) -> Ports {
    let stated = stated.iter().filter(|is_stated| **is_stated).count();
    Ports::of("", &many('m', outlets - stated))
}

/// Returns true for a channel other than 0, which is all of them.
fn states_channel(arguments: &[Atom], at: usize) -> bool {
    let channel = arguments.get(at).and_then(Atom::as_float);
    channel.is_some_and(|channel| channel != 0.0)
}

/// Channels of a sound file: the first number, 1 to 64.
fn channels(arguments: &[Atom]) -> usize {
    let number = arguments.first().and_then(Atom::as_float).unwrap_or(1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and 64"
    )]
    let channels = number.clamp(1.0, 64.0) as usize;
    channels
}

fn has_flag(arguments: &[Atom], flag: &str) -> bool {
    arguments.iter().any(|word| word.as_symbol() == Some(flag))
}

/// Over UDP nobody connects, so nothing tells how many did. `-f` gives the sender's address.
fn net_receive(arguments: &[Atom]) -> Ports {
    let is_udp = has_flag(arguments, "-u") || arguments.get(1) == Some(&Atom::Float(1.0));
    let outlets = 2 - usize::from(is_udp) + usize::from(has_flag(arguments, "-f"));
    Ports::of("m", &many('m', outlets))
}

/// Signals to and from another program: `-ninsig` and `-noutsig`, two of each by default.
fn other_program(arguments: &[Atom]) -> Ports {
    let count = |flag: &str| {
        let at = arguments
            .iter()
            .position(|word| word.as_symbol() == Some(flag));
        let number = at.and_then(|at| arguments.get(at + 1)?.as_float());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 1024"
        )]
        let count = number.unwrap_or(2.0).clamp(0.0, 1024.0) as usize;
        count
    };
    let inlets = many('~', count("-ninsig").max(1));
    Ports::of(&inlets, &("m".to_owned() + &many('~', count("-noutsig"))))
}

fn text(function: &str, arguments: &[Atom]) -> Ports {
    match function {
        "get" => Ports::of("mmmm", "mm"),
        "set" => Ports::of("mmmm", ""),
        "insert" => Ports::of("mmm", ""),
        "delete" | "fromlist" => Ports::of("mm", ""),
        "size" | "tolist" => Ports::of("mm", "m"),
        "search" => Ports::of("mm", "m"),
        // With `-w` it waits, and says for how long.
        "sequence" if has_flag(arguments, "-w") => Ports::of("mm", "mmm"),
        "sequence" => Ports::of("mm", "mm"),
        _ => Ports::of("m", "mm"),
    }
}

fn array(function: &str) -> Ports {
    match function {
        "sum" | "get" | "random" => Ports::of("mmm", "m"),
        "set" => Ports::of("mmm", ""),
        "quantile" => Ports::of("mmmm", "m"),
        "max" | "min" => Ports::of("mmm", "mm"),
        "size" => Ports::of("mm", "m"),
        _ => Ports::of("m", "m"),
    }
}

fn file(function: &str) -> Ports {
    match function {
        "define" => Ports::of("", ""),
        "handle" | "" => Ports::of("mm", "mm"),
        _ => Ports::of("m", "mm"),
    }
}

/// Fields of a data structure behind its template's name.
fn fields(count: usize) -> usize {
    count.saturating_sub(1).max(1)
}

fn set(first: &str, count: usize) -> Ports {
    let count = count - usize::from(first == "-symbol");
    Ports::of(&many('m', fields(count) + 1), "")
}

/// The second argument is the number of pitches, the fourth that of partials, which share an outlet.
fn fiddle_outlets(arguments: &[Atom]) -> usize {
    let number = |at: usize| arguments.get(at).and_then(Atom::as_float).unwrap_or(0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and 3"
    )]
    let pitches = number(1).clamp(1.0, 3.0) as usize;
    3 + pitches + usize::from(number(3) > 0.0)
}

/// Channels: the second of two numbers, or behind `-nsigs`; 1 to 8.
fn bonk_channels(arguments: &[Atom]) -> usize {
    let at = match arguments.first() {
        Some(Atom::Float(_)) => Some(1),
        _ => {
            let mut words = arguments.iter();
            let flag = words.position(|word| word.as_symbol() == Some("-nsigs"));
            flag.map(|at| at + 1)
        }
    };
    let number = at.and_then(|at| arguments.get(at)?.as_float());
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and 8"
    )]
    let count = number.unwrap_or(1.0).clamp(1.0, 8.0) as usize;
    count
}

/// One for each name of a result; pitch and envelope where none is named.
fn sigmund_outlets(arguments: &[Atom]) -> usize {
    let names = ["pitch", "env", "note", "notes", "peaks", "tracks"];
    let named = arguments.iter().filter_map(Atom::as_symbol);
    or(named.filter(|word| names.contains(word)).count(), 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ports_of(text: &str) -> Ports {
        let words: Vec<Atom> = text.split(' ').map(Atom::of_box).collect();
        ports(words[0].as_symbol().expect("a class"), &words[1..]).expect("a known class")
    }

    #[test]
    fn arguments_say_how_many_ports_there_are() {
        let cases = [
            ("select 1 2 3", "m", "mmmm"),
            ("route a", "mm", "mm"),
            ("pipe f s 500", "mmm", "mm"),
            (r"expr \$f1+\$f3", "mmm", "m"),
            (r"expr \$f1 \; \$f2", "mm", "mm"),
            (r"expr~ \$v1*\$f2", "~m", "~"),
            ("ctlin 7 1", "", "m"),
            ("*~ 0.1", "~m", "~"),
            ("dac~ 1 2 3", "~~~", ""),
            ("readsf~ 4", "m", "~~~~m"),
            ("text sequence x -w 1", "mm", "mmm"),
            ("set -symbol x a", "mm", ""),
            ("fiddle~ 1024 2 3 4", "~", "mmmmmm"),
            ("sigmund~ tracks", "~", "m"),
        ];
        for (text, inlets, outlets) in cases {
            assert_eq!(ports_of(text), Ports::of(inlets, outlets), "{text}");
        }
    }
}
