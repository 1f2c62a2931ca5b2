//! Boxes of a patch that is loaded, as they would stand in its file again: what a copy of them is made of.

use super::instance::{Instance, LoadedObject, ObjectBody};
use crate::file::{Atom, BoxBody, Canvas, PatchBox};

/// The box of an object. Names have their dollars again, which stand for other arguments in another canvas.
pub(crate) fn box_of(object: &LoadedObject) -> PatchBox {
    let words = || object.arguments.clone();
    let written = || object.written.clone();
    let body = match &object.body {
        ObjectBody::Message => BoxBody::Message(words()),
        ObjectBody::Gui(gui) => {
            let mut gui = gui.clone();
            let names = [&mut gui.send, &mut gui.receive, &mut gui.label];
            for (name, written) in names.into_iter().zip(written()) {
                *name = name.take().map(|_| written);
            }
            BoxBody::Gui(gui)
        }
        ObjectBody::Subpatch(inner) => BoxBody::Canvas {
            canvas: Box::new(canvas_of(inner)),
            words: written(),
        },
        ObjectBody::Array(array) => {
            let mut array = array.clone();
            array.name = written().pop().unwrap_or(array.name);
            BoxBody::Array(array)
        }
        ObjectBody::Scalar => BoxBody::Scalar(words()),
        ObjectBody::Comment => BoxBody::Comment(words()),
        ObjectBody::Class(_)
        | ObjectBody::Abstraction(_)
        | ObjectBody::Clones { .. }
        | ObjectBody::StandIn(_) => BoxBody::Object(written()),
    };
    PatchBox {
        body,
        position: object.position,
        width: object.width,
        saved: object.saved.clone(),
        span: object.span,
    }
}

/// Words of a box that a copy of it needs.
pub(super) fn words_of(body: &BoxBody) -> Vec<Atom> {
    let is_plain = |word: &Atom| matches!(word, Atom::Float(_) | Atom::Symbol(_));
    match body {
        BoxBody::Object(words) | BoxBody::Canvas { words, .. } => words.clone(),
        BoxBody::Array(array) if !is_plain(&array.name) => vec![array.name.clone()],
        BoxBody::Gui(gui) => {
            let names = [&gui.send, &gui.receive, &gui.label];
            let empty = || Atom::symbol("");
            match names.into_iter().flatten().all(is_plain) {
                true => Vec::new(),
                false => names
                    .map(|name| name.clone().unwrap_or_else(empty))
                    .to_vec(),
            }
        }
        _ => Vec::new(),
    }
}

fn canvas_of(inner: &Instance) -> Canvas {
    Canvas {
        name: inner.name.as_str().into(),
        boxes: inner.objects.iter().map(box_of).collect(),
        connections: inner.connections.clone(),
        coordinates: inner.coordinates,
        window: [0.0, 0.0, inner.window[0], inner.window[1]],
        font: inner.font,
        ..Canvas::default()
    }
}

/// Size of copies.
#[derive(Clone, Copy, Default)]
pub(crate) struct CopySize {
    /// Number of boxes, also of those inside.
    pub(crate) boxes: usize,
    /// Number of canvases.
    pub(crate) canvases: usize,
    /// Canvases inside one another, at most.
    pub(crate) depth: usize,
    /// Number of words, of points of arrays and of connections inside.
    pub(crate) words: usize,
}

impl CopySize {
    pub(crate) fn of(boxes: &[PatchBox]) -> Self {
        let mut size = Self::default();
        for one in boxes {
            size.boxes += 1;
            size.words += match &one.body {
                BoxBody::Object(words)
                | BoxBody::Message(words)
                | BoxBody::Comment(words)
                | BoxBody::Scalar(words) => words.iter().map(weight).sum(),
                BoxBody::Canvas { canvas, words } => {
                    let inner = Self::of(&canvas.boxes);
                    size.boxes += inner.boxes;
                    size.canvases += inner.canvases + 1;
                    size.depth = size.depth.max(inner.depth + 1);
                    inner.words + words.len() + canvas.connections.len()
                }
                BoxBody::Array(array) => array.points.len(),
                BoxBody::Gui(_) => 3,
            };
        }
        size
    }
}

/// Words as which a word counts: a long one as several.
fn weight(word: &Atom) -> usize {
    match word {
        Atom::Symbol(text) | Atom::DollarSymbol(text) => 1 + text.len() / 16,
        _ => 1,
    }
}

/// Returns true for a box that gives the signals of its canvas other blocks.
pub(crate) fn sets_blocks(one: &PatchBox) -> bool {
    let BoxBody::Object(words) = &one.body else {
        return false;
    };
    let class = words.first().and_then(Atom::as_symbol);
    matches!(class, Some("block~" | "switch~")) && words.len() > 1
}
