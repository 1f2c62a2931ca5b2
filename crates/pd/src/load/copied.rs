//! Boxes of a patch that is loaded, as they would stand in its file again: what a copy of them is made of.

use super::instance::{Instance, LoadedObject, ObjectBody};
use crate::file::{Atom, BoxBody, Canvas, PatchBox};

/// The box of an object.
pub(crate) fn box_of(object: &LoadedObject) -> PatchBox {
    let words = || object.arguments.clone();
    let body = match &object.body {
        ObjectBody::Message => BoxBody::Message(words()),
        ObjectBody::Gui(gui) => BoxBody::Gui(gui.clone()),
        ObjectBody::Subpatch(inner) => BoxBody::Canvas {
            canvas: Box::new(canvas_of(inner)),
            words: words(),
        },
        ObjectBody::Array(array) => BoxBody::Array(array.clone()),
        ObjectBody::Scalar => BoxBody::Scalar(words()),
        ObjectBody::Comment => BoxBody::Comment(words()),
        ObjectBody::Class(_)
        | ObjectBody::Abstraction(_)
        | ObjectBody::Clones { .. }
        | ObjectBody::StandIn(_) => BoxBody::Object(object.written.clone()),
    };
    PatchBox {
        body,
        position: object.position,
        width: object.width,
        saved: object.saved.clone(),
        span: object.span,
    }
}

fn canvas_of(inner: &Instance) -> Canvas {
    Canvas {
        name: inner.name.as_str().into(),
        boxes: inner.objects.iter().map(box_of).collect(),
        connections: inner.connections.clone(),
        coordinates: inner.coordinates,
        font: inner.font,
        ..Canvas::default()
    }
}

/// Numbers of boxes and of canvases in boxes, and how deep these are nested.
pub(crate) fn counts(boxes: &[PatchBox]) -> (usize, usize, usize) {
    let (mut count, mut canvases, mut depth) = (boxes.len(), 0, 0);
    for one in boxes {
        if let BoxBody::Canvas { canvas, .. } = &one.body {
            let inner = counts(&canvas.boxes);
            count += inner.0;
            canvases += inner.1 + 1;
            depth = depth.max(inner.2 + 1);
        }
    }
    (count, canvases, depth)
}

/// Returns true for a box that gives the signals of its canvas other blocks.
pub(crate) fn sets_blocks(one: &PatchBox) -> bool {
    let BoxBody::Object(words) = &one.body else {
        return false;
    };
    let class = words.first().and_then(Atom::as_symbol);
    matches!(class, Some("block~" | "switch~")) && words.len() > 1
}
