//! [`PlacedBox`]: a box of the interface with the name under which a face finds it, and [`BoxNames`], which gives these names.
//!
//! | box | name |
//! |---|---|
//! | with a label | the label |
//! | without one | its class, and its number among those of the class in its canvas, from 1: `hsl1` |
//! | in a canvas inside | the names of the canvases around it come before, with `-` between them: `voice-cutoff` |
//! | one that receives under a name without `$0` | that name, for the first such box |
//!
//! Letters, digits, `_` and `-` stand; runs of others become one `_`. Of canvases with one name in one canvas, and of boxes with one name,
//! the second gets `-2` and so on. Numbers follow the order of the file.

use super::wire::ObjectId;
use crate::file::{Gui, GuiKind};
use processor::{BoxFace, ShownBox};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Boxes of a patch that have names, at most.
const MAX_BOXES: usize = 4096;
/// Keys and ports of a node of kind `pd`, which no box is called.
const RESERVED: [&str; 18] = [
    "args", "bypass", "channels", "cost_us", "enabled", "every", "file", "in", "kind", "layout",
    "midi", "names", "out", "own", "path", "send", "stand_in", "version",
];

/// A box that faces can show.
#[derive(Debug)]
pub(crate) struct PlacedBox {
    pub(crate) name: String,
    pub(crate) id: ObjectId,
    /// True if its name is one under which it receives: that name is what is set.
    pub(crate) receives: bool,
    pub(crate) face: BoxFace,
}

impl PlacedBox {
    /// Returns true for a button.
    pub(crate) fn is_button(&self) -> bool {
        self.face.class == GuiKind::Bang.class()
    }
}

/// Names of the boxes of a patch, while it is built.
#[derive(Default)]
pub(super) struct BoxNames {
    /// Names of the canvases around, the outermost first, and what was counted in each.
    around: Vec<CountedCanvas>,
    boxes: Vec<NamedBox>,
}

/// A canvas whose boxes are being named.
#[derive(Default)]
struct CountedCanvas {
    /// Its name in the names of its boxes; empty for the outermost.
    name: String,
    /// Canvases inside by name, and boxes by class.
    counts: HashMap<String, usize>,
}

/// A box whose name may still be that of another one.
struct NamedBox {
    /// Its own name, with the canvases around it.
    name: String,
    /// Name under which it receives.
    received: Option<String>,
    id: ObjectId,
    face: BoxFace,
}

impl CountedCanvas {
    /// Number of what is called `name` so far, from 1.
    fn count(&mut self, name: &str) -> usize {
        let count = self.counts.entry(name.to_owned()).or_default();
        *count += 1;
        *count
    }
}

impl BoxNames {
    /// Goes into a canvas.
    pub(super) fn enter(&mut self, name: &str) {
        let plain = Some(plain(name)).filter(|name| !name.is_empty());
        let name = match self.around.last_mut() {
            None => String::new(),
            Some(around) => {
                let name = plain.unwrap_or_else(|| "pd".to_owned());
                let number = around.count(&format!("canvas {name}"));
                let prefix = match around.name.as_str() {
                    "" => String::new(),
                    outer => format!("{outer}-"),
                };
                match number {
                    1 => format!("{prefix}{name}"),
                    number => format!("{prefix}{name}-{number}"),
                }
            }
        };
        let counts = HashMap::new();
        self.around.push(CountedCanvas { name, counts });
    }

    /// Leaves it.
    pub(super) fn leave(&mut self) {
        self.around.pop();
    }

    /// Adds a box of the canvas that was entered last.
    pub(super) fn add(
        &mut self,
        gui: &Gui,
        received: Option<&str>,
        id: ObjectId,
        shown: &Arc<ShownBox>,
    ) {
        let Some(around) = self.around.last_mut() else {
            return;
        };
        if gui.kind == GuiKind::Canvas || self.boxes.len() >= MAX_BOXES {
            return;
        }
        let class = gui.kind.class();
        let number = around.count(class);
        let label = gui
            .label
            .as_ref()
            .map_or(String::new(), ToString::to_string);
        let own = match plain(&label) {
            own if own.is_empty() => format!("{class}{number}"),
            own => own,
        };
        let name = match around.name.as_str() {
            "" => own,
            around => format!("{around}-{own}"),
        };
        let is_number = !matches!(gui.kind, GuiKind::Symbol | GuiKind::List | GuiKind::Bang);
        let face = BoxFace {
            class,
            label,
            initial: is_number.then(|| shown.value()),
            is_read_only: matches!(gui.kind, GuiKind::Meter | GuiKind::Symbol | GuiKind::List),
            shown: shown.clone(),
        };
        let received = received.map(str::to_owned);
        self.boxes.push(NamedBox {
            name,
            received,
            id,
            face,
        });
    }

    /// All boxes with their names. `received` are the names that the patch receives.
    pub(super) fn finish(self, received: &[String]) -> Vec<PlacedBox> {
        let mut taken: HashSet<String> = received.iter().cloned().collect();
        // By name: the first number that may be free. What is taken stays so.
        let mut next: HashMap<String, usize> = HashMap::new();
        let mut shown = HashSet::new();
        let placed = self.boxes.into_iter().map(|named| {
            let NamedBox {
                name,
                received: by_name,
                id,
                face,
            } = named;
            let is_sent = |name: &String| received.contains(name) && !face.is_read_only;
            let known = by_name.filter(is_sent);
            if let Some(name) = known.filter(|name| shown.insert(name.clone())) {
                return PlacedBox {
                    name,
                    id,
                    receives: true,
                    face,
                };
            }
            let is_free = |name: &str| !taken.contains(name) && !is_reserved(name);
            let mut free = name.clone();
            if !is_free(&free) {
                let number = next.entry(name.clone()).or_insert(2);
                while !is_free(&free) {
                    free = format!("{name}-{number}");
                    *number += 1;
                }
            }
            taken.insert(free.clone());
            PlacedBox {
                name: free,
                id,
                receives: false,
                face,
            }
        });
        placed.collect()
    }
}

/// Returns true for the keys and ports of the node: `in1` is one.
fn is_reserved(name: &str) -> bool {
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
    let mut sides = ["in", "out"].iter();
    let is_port = sides.any(|side| name.strip_prefix(side).is_some_and(is_number));
    is_port || RESERVED.contains(&name)
}

/// A text of letters, digits, `_` and `-`.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for letter in text.chars() {
        match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => plain.push(letter),
            _ if !plain.ends_with('_') => plain.push('_'),
            _ => {}
        }
    }
    plain.trim_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Atom;

    fn button(label: &str) -> Gui {
        Gui {
            kind: GuiKind::Bang,
            size: [15.0; 2],
            range: [0.0; 2],
            is_logarithmic: false,
            sends_at_load: false,
            value: 0.0,
            on_value: 1.0,
            sends_lists: false,
            sends_left: false,
            cells: 1,
            send: None,
            receive: None,
            label: Some(Atom::Symbol(label.into())),
            label_at: [0.0; 2],
        }
    }

    fn named(labels: &[&str], received: &[&str]) -> Vec<String> {
        let mut names = BoxNames::default();
        names.enter("");
        for (id, label) in (0..).zip(labels) {
            names.add(&button(label), None, ObjectId(id), &Arc::default());
        }
        let received: Vec<String> = received.iter().map(|it| (*it).to_owned()).collect();
        let placed = names.finish(&received).into_iter();
        placed.map(|it| it.name).collect()
    }

    #[test]
    fn equal_labels_get_the_next_number_that_no_other_box_has() {
        let labels = ["a", "a-3", "a", "a", "a-3", "in", "in", "a", "b"];
        let names = [
            "a", "a-3", "a-2", "a-4", "a-3-2", "in-2", "in-3", "a-6", "b-2",
        ];
        assert_eq!(named(&labels, &["a-5", "b"]), names);
    }

    #[test]
    fn many_boxes_of_one_label_are_named_in_order() {
        let names = named(&["level"; MAX_BOXES], &[]);
        let numbers = (2..=MAX_BOXES).map(|number| format!("level-{number}"));
        assert!(names[0] == "level" && names[1..].iter().cloned().eq(numbers));
    }
}
