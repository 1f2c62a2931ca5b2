//! The classes of Pd: names, and the inlets and outlets that a box of a class has.
//!
//! | file | holds |
//! |---|---|
//! | `table` | classes whose ports are always the same |
//! | `by_arguments` | classes whose ports follow from their arguments |
//! | `kinds` | kinds of the arguments that a class takes |

mod by_arguments;
mod kinds;
mod table;

use crate::file::Atom;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Kind of an inlet or an outlet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PortKind {
    /// A signal. Such an inlet takes messages too.
    Signal,
    /// Messages alone.
    Message,
}

/// Inlets and outlets of a box, from the left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    /// Inlets.
    pub inlets: Box<[PortKind]>,
    /// Outlets.
    pub outlets: Box<[PortKind]>,
}

impl Ports {
    /// From a text: `~` for a signal, `m` for messages alone.
    pub(crate) fn of(inlets: &str, outlets: &str) -> Self {
        Self {
            inlets: kinds(inlets),
            outlets: kinds(outlets),
        }
    }
}

fn kinds(text: &str) -> Box<[PortKind]> {
    let kind = |c| match c {
        '~' => PortKind::Signal,
        _ => PortKind::Message,
    };
    text.chars().map(kind).collect()
}

/// Most inlets or outlets that arguments can ask for.
pub(crate) const MAX_PORTS: usize = 1024;

static FIXED: LazyLock<HashMap<&str, (&str, &str)>> = LazyLock::new(|| {
    let rows = table::FIXED.iter();
    rows.map(|(name, inlets, outlets)| (*name, (*inlets, *outlets)))
        .collect()
});

/// The name under which a class is known here: `t` is `trigger`.
pub(crate) fn class_name(name: &str) -> &str {
    let alias = table::ALIASES.iter().find(|(short, _)| *short == name);
    alias.map_or(name, |(_, long)| long)
}

/// Ports of a box of class `name`, not an alias, with these arguments; `None` if Pd has no such class.
pub(crate) fn ports_of(name: &str, arguments: &[Atom]) -> Option<Ports> {
    match FIXED.get(name) {
        Some((inlets, outlets)) => Some(Ports::of(inlets, outlets)),
        None => by_arguments::ports(name, arguments),
    }
}

/// A mistake in the arguments of a box for which Pd does not make it.
pub(crate) fn mistake(name: &str, arguments: &[Atom]) -> Option<String> {
    kinds::mistake(name, arguments).or_else(|| by_arguments::mistake(name, arguments))
}

/// Every class of Pd by its full name, sorted.
pub fn class_names() -> Vec<&'static str> {
    let fixed = table::FIXED.iter().map(|row| row.0);
    let mut names: Vec<&str> = fixed.chain(by_arguments::NAMES.iter().copied()).collect();
    names.sort_unstable();
    names
}

/// Every name that an object box can begin with.
pub(crate) fn known_names() -> impl Iterator<Item = &'static str> {
    let aliases = table::ALIASES.iter().map(|(short, _)| *short);
    class_names().into_iter().chain(aliases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let names = class_names();
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{names:?}");
        assert!(known_names().count() > 230);
    }

    #[test]
    fn every_class_has_ports_without_arguments() {
        for name in class_names() {
            assert!(ports_of(name, &[]).is_some(), "{name}");
        }
    }
}
