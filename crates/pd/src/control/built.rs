//! [`Built`]: what the boxes of a canvas have become.

use super::canvases::{BoxPlace, CanvasId};
use super::wire::{ObjectId, Wire};
use crate::load::ObjectBody;

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

impl BuiltBox {
    /// Its place in the canvas.
    pub(super) fn place(&self, body: &ObjectBody) -> BoxPlace {
        match self {
            Self::None => BoxPlace::None,
            Self::Object(id) => BoxPlace::Object(*id),
            Self::Canvas { id, .. } => BoxPlace::Canvas {
                id: *id,
                is_abstraction: matches!(body, ObjectBody::Abstraction(_)),
            },
            Self::Clones {
                distributor,
                collector,
                instances,
            } => {
                let canvas = |one: &Self| match one {
                    Self::Canvas { id, .. } => Some(*id),
                    _ => None,
                };
                BoxPlace::Clones {
                    distributor: *distributor,
                    collector: *collector,
                    canvases: instances.iter().filter_map(canvas).collect(),
                }
            }
        }
    }

    pub(super) fn id(&self) -> Option<ObjectId> {
        match self {
            Self::Object(id) => Some(*id),
            _ => None,
        }
    }

    pub(super) fn inlet(&self, inlet: usize) -> Option<Wire> {
        match self {
            Self::Object(object) => {
                let inlet = u32::try_from(inlet).ok()?;
                Some(Wire {
                    object: *object,
                    inlet,
                })
            }
            Self::Canvas { inlets, .. } => {
                let object = (*inlets.get(inlet)?)?;
                Some(Wire { object, inlet: 0 })
            }
            Self::Clones { distributor, .. } => Some(Wire {
                object: *distributor,
                inlet: u32::try_from(inlet).ok()?,
            }),
            Self::None => None,
        }
    }

    pub(super) fn outlet(&self, outlet: usize) -> Option<(ObjectId, usize)> {
        match self {
            Self::Object(object) => Some((*object, outlet)),
            Self::Canvas { outlets, .. } => Some(((*outlets.get(outlet)?)?, 0)),
            Self::Clones { collector, .. } => Some((*collector, outlet)),
            Self::None => None,
        }
    }
}
