//! Which patches of a session share names: one sends, reads or throws to what another one has under a name.
//!
//! PatchNames count that are there when a patch is loaded. Those that messages put together are not known then.

use crate::file::Atom;
use crate::load::{Instance, LoadedObject, LoadedPatch, ObjectBody};
use std::collections::{BTreeSet, HashMap};

/// Classes whose first word is a name under which others find them.
const FOUND: [&str; 6] = ["receive", "catch~", "send~", "delwrite~", "table", "value"];

/// PatchNames of a patch.
#[derive(Default)]
pub(super) struct PatchNames {
    /// Under which others find something.
    found: BTreeSet<String>,
    /// That it may look for.
    sought: BTreeSet<String>,
    /// Numbers of its canvases: what begins with one is its own.
    numbers: (u32, u32),
}

impl PatchNames {
    /// Names of a patch.
    pub(super) fn of(patch: &LoadedPatch) -> Self {
        let numbers = (patch.root.number, patch.next_number);
        let mut names = Self {
            numbers,
            ..Self::default()
        };
        names.add_canvas(&patch.root, ".pd");
        names
    }

    fn add_canvas(&mut self, canvas: &Instance, ending: &str) {
        if !canvas.name.is_empty() {
            self.find(format!("pd-{}{ending}", canvas.name));
        }
        for object in &canvas.objects {
            self.add_box(object);
        }
    }

    fn add_box(&mut self, object: &LoadedObject) {
        match &object.body {
            ObjectBody::Class(class) => self.add_object(class, object),
            ObjectBody::Message => self.seek_words(&object.arguments),
            ObjectBody::Gui(gui) => {
                if let Some(name) = &gui.receive {
                    self.find(name.to_string());
                }
                self.seek_words(gui.send.as_slice());
            }
            ObjectBody::Array(array) => self.find(array.name.to_string()),
            ObjectBody::Subpatch(inner) => self.add_canvas(inner, ""),
            ObjectBody::Abstraction(inner) => self.add_canvas(inner, ".pd"),
            ObjectBody::Clones { instances, .. } => {
                instances.iter().for_each(|it| self.add_canvas(it, ".pd"));
            }
            ObjectBody::Comment | ObjectBody::Scalar | ObjectBody::StandIn(_) => {}
        }
    }

    fn add_object(&mut self, class: &str, object: &LoadedObject) {
        let words = &object.arguments;
        let first = words.first().map(ToString::to_string);
        let is_defined =
            matches!(class, "array" | "text") && matches!(first.as_deref(), Some("define" | "d"));
        if is_defined {
            words
                .iter()
                .skip(1)
                .for_each(|it| self.find(it.to_string()));
        } else if FOUND.contains(&class) {
            first.into_iter().for_each(|name| self.find(name));
        }
        if class == "value" || !(is_defined || FOUND.contains(&class)) {
            self.seek_words(words);
        }
        for statement in &object.saved {
            self.seek_words(statement);
        }
    }

    fn find(&mut self, name: String) {
        if !self.is_own(&name) {
            self.found.insert(name);
        }
    }

    /// Seeks words, and the names within those of an expression.
    fn seek_words(&mut self, words: &[Atom]) {
        for word in words {
            let text = match word {
                Atom::Symbol(text) | Atom::DollarSymbol(text) => &**text,
                _ => continue,
            };
            let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '~');
            let parts = text.split(|c| !is_of_name(c));
            for part in parts.chain([text]) {
                if !part.is_empty() && !self.is_own(part) {
                    self.sought.insert(part.to_owned());
                }
            }
        }
    }

    /// Returns true if a name begins with a `$0` of the patch.
    fn is_own(&self, name: &str) -> bool {
        let digits = name.split(|c: char| !c.is_ascii_digit()).next();
        let number = digits.and_then(|digits| digits.parse::<u32>().ok());
        number.is_some_and(|it| (self.numbers.0..self.numbers.1).contains(&it))
    }

    /// Names under which one of two patches would reach the other.
    pub(super) fn common<'n>(&'n self, other: &'n Self) -> impl Iterator<Item = &'n str> {
        let there = self.sought.intersection(&other.found);
        let here = other.sought.intersection(&self.found);
        there.chain(here).map(String::as_str)
    }

    fn reaches(&self, other: &Self) -> bool {
        !self.sought.is_disjoint(&other.found)
    }
}

/// Sets of patches that share names, the first member of each in the order given. Those that want names of their own stay alone.
///
/// Real-time: setup.
pub fn sharing_patches(patches: &[(&LoadedPatch, bool)]) -> Vec<Vec<usize>> {
    let names = patches.iter().map(|(patch, is_apart)| match is_apart {
        true => PatchNames::default(),
        false => PatchNames::of(patch),
    });
    let names = Vec::from_iter(names);
    let mut set_of = Vec::from_iter(0..patches.len());
    for (a, first) in names.iter().enumerate() {
        for (b, second) in names.iter().enumerate().take(a) {
            let (into, from) = (set_of[b], set_of[a]);
            if into != from && (first.reaches(second) || second.reaches(first)) {
                let joined = |set: &mut usize| *set = if *set == from { into } else { *set };
                set_of.iter_mut().for_each(joined);
            }
        }
    }
    let mut sets: HashMap<usize, Vec<usize>> = HashMap::new();
    for (patch, set) in set_of.into_iter().enumerate() {
        sets.entry(set).or_default().push(patch);
    }
    let mut sets = Vec::from_iter(sets.into_values());
    sets.sort_unstable();
    sets
}
