//! [`Built`]: what the boxes of a canvas have become.

use super::canvases::CanvasId;
use super::wire::ObjectId;

/// Results for a canvas's boxes, one for each.
#[derive(Clone)]
pub(crate) struct Built {
    pub(crate) boxes: Vec<BuiltBox>,
}

#[derive(Clone)]
pub(crate) enum BuiltBox {
    /// Nothing that takes or gives messages.
    None,
    Object(ObjectId),
    /// A canvas, with its inlets and outlets from the left.
    Canvas {
        id: CanvasId,
        inside: Built,
        inlets: Vec<Option<ObjectId>>,
        outlets: Vec<Option<ObjectId>>,
    },
    /// `clone`: what comes in is distributed.
    Clones {
        distributor: ObjectId,
        collector: ObjectId,
        instances: Vec<BuiltBox>,
    },
}
