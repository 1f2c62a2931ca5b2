//! [`Canvases`]: the canvases of a patch as messages to them see them: boxes by number, inlets and outlets, and what stands around.

use super::selection::{Selection, edges_of};
use super::symbol::Symbol;
use super::value::Value;
use super::wire::{ObjectId, Wire};
use crate::class::{PortKind, Ports};
use crate::file::Atom;
use crate::load::{BoxLoader, LoadedObject, ObjectBody, Scope};
use std::ops::Range;
use std::sync::Arc;

/// Number of a canvas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CanvasId(pub(super) u32);

/// A message to a canvas.
pub(super) struct CanvasMessage {
    pub canvas: CanvasId,
    /// The object that has received it.
    pub receiver: ObjectId,
    pub selector: Symbol,
    pub values: Vec<Value>,
}

/// All canvases of a patch, the outermost first.
#[derive(Default)]
pub(super) struct Canvases {
    all: Vec<CanvasState>,
    /// Boxes that were made, in all of them.
    pub boxes: usize,
    /// Loads the boxes that messages make.
    pub loaders: Vec<Option<BoxLoader>>,
}

/// A canvas.
#[derive(Default)]
pub(super) struct CanvasState {
    /// Name under which it receives.
    pub name: Option<Symbol>,
    pub scope: Arc<Scope>,
    /// Values of `$1` and further ones.
    pub arguments: Vec<Value>,
    /// Words that the patch around has saved for it.
    pub saved_around: Vec<Vec<Atom>>,
    pub boxes: Vec<CanvasBox>,
    /// Boxes that messages have selected.
    pub selection: Selection,
    /// Number of canvases around it.
    pub depth: usize,
    /// Its scalars.
    pub list: u32,
}

/// A box of a canvas.
pub(super) struct CanvasBox {
    pub place: BoxPlace,
    /// Its inlets and outlets; those of a canvas follow from the boxes inside.
    ports: Ports,
    /// Side of the canvas on which it is an inlet or outlet.
    side: Option<(Side, PortKind)>,
    /// Left, upper, right and lower edge.
    pub edges: [f32; 4],
    /// True if it sends when the patch is loaded.
    pub is_loadbang: bool,
    /// True for `block~` and `switch~` with arguments.
    pub sets_blocks: bool,
    /// Objects that were made with it.
    pub objects: Range<u32>,
}

/// The two sides of a canvas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Inlets,
    Outlets,
}

/// What messages to a box reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BoxPlace {
    None,
    Object(ObjectId),
    Canvas {
        id: CanvasId,
        is_abstraction: bool,
    },
    Clones {
        distributor: ObjectId,
        collector: ObjectId,
        canvases: Box<[CanvasId]>,
    },
}

impl CanvasBox {
    pub(super) fn new(object: &LoadedObject, place: BoxPlace, objects: Range<u32>) -> Self {
        let class = match &object.body {
            ObjectBody::Class(class) => &**class,
            _ => "",
        };
        let side = match class {
            "inlet" => Some((Side::Inlets, PortKind::Message)),
            "inlet~" => Some((Side::Inlets, PortKind::Signal)),
            "outlet" => Some((Side::Outlets, PortKind::Message)),
            "outlet~" => Some((Side::Outlets, PortKind::Signal)),
            _ => None,
        };
        Self {
            place,
            ports: object.ports.clone(),
            side,
            edges: edges_of(object),
            is_loadbang: class == "loadbang" || matches!(object.body, ObjectBody::Gui(_)),
            sets_blocks: matches!(class, "block~" | "switch~") && !object.arguments.is_empty(),
            objects,
        }
    }

    /// Canvases inside.
    pub(super) fn canvases(&self) -> &[CanvasId] {
        match &self.place {
            BoxPlace::Canvas { id, .. } => std::slice::from_ref(id),
            BoxPlace::Clones { canvases, .. } => canvases,
            BoxPlace::None | BoxPlace::Object(_) => &[],
        }
    }
}

impl CanvasState {
    /// The box at an inlet or outlet, from the left, and its kind. Of two that stand as far to the left, the one that was made later
    /// comes first, as in Pd.
    fn port(&self, side: Side, number: usize) -> Option<(ObjectId, PortKind)> {
        let all = self.boxes.iter().enumerate();
        let of_side = |(at, one): (usize, &CanvasBox)| match (one.side, &one.place) {
            (Some((found, kind)), BoxPlace::Object(id)) if found == side => {
                Some((one.edges[0], at, *id, kind))
            }
            _ => None,
        };
        let mut ports: Vec<_> = all.filter_map(of_side).collect();
        ports.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        ports.get(number).map(|port| (port.2, port.3))
    }
}

impl Canvases {
    /// Adds a canvas.
    pub(super) fn open(&mut self, canvas: CanvasState) -> CanvasId {
        self.all.push(canvas);
        CanvasId(u32::try_from(self.all.len() - 1).expect("canvases are bounded"))
    }

    /// Adds a box to a canvas.
    pub(super) fn add(&mut self, canvas: CanvasId, made: CanvasBox) {
        self.boxes += 1;
        self.get_mut(canvas).boxes.push(made);
    }

    /// Number of boxes and of canvases that were made.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.boxes, self.all.len())
    }

    pub(super) fn get(&self, id: CanvasId) -> &CanvasState {
        &self.all[id.0 as usize]
    }

    pub(super) fn get_mut(&mut self, id: CanvasId) -> &mut CanvasState {
        &mut self.all[id.0 as usize]
    }

    /// Where messages to an inlet of a box go, and the kind of the inlet.
    pub(super) fn inlet(
        &self,
        canvas: CanvasId,
        at: usize,
        number: usize,
    ) -> Option<(Wire, PortKind)> {
        let one = self.get(canvas).boxes.get(at)?;
        let inlet = u32::try_from(number).ok()?;
        match &one.place {
            BoxPlace::None => None,
            BoxPlace::Object(object)
            | BoxPlace::Clones {
                distributor: object,
                ..
            } => {
                let kind = *one.ports.inlets.get(number)?;
                let object = *object;
                Some((Wire { object, inlet }, kind))
            }
            BoxPlace::Canvas { id, .. } => {
                let (object, kind) = self.get(*id).port(Side::Inlets, number)?;
                Some((Wire { object, inlet: 0 }, kind))
            }
        }
    }

    /// The object and its outlet behind an outlet of a box, and the kind of the outlet.
    pub(super) fn outlet(
        &self,
        canvas: CanvasId,
        at: usize,
        number: usize,
    ) -> Option<((ObjectId, usize), PortKind)> {
        let one = self.get(canvas).boxes.get(at)?;
        match &one.place {
            BoxPlace::None => None,
            BoxPlace::Object(object)
            | BoxPlace::Clones {
                collector: object, ..
            } => {
                let kind = *one.ports.outlets.get(number)?;
                Some(((*object, number), kind))
            }
            BoxPlace::Canvas { id, .. } => {
                let (object, kind) = self.get(*id).port(Side::Outlets, number)?;
                Some(((object, 0), kind))
            }
        }
    }

    /// Objects that send when a canvas is loaded: those of abstractions, then of subpatches, then its own.
    pub(super) fn loadbangs(&self, canvas: CanvasId, to: &mut Vec<ObjectId>) {
        let boxes = &self.get(canvas).boxes;
        for is_first in [true, false] {
            for one in boxes {
                let is_abstraction = !matches!(
                    one.place,
                    BoxPlace::Canvas {
                        is_abstraction: false,
                        ..
                    }
                );
                if is_abstraction == is_first {
                    one.canvases().iter().for_each(|id| self.loadbangs(*id, to));
                }
            }
        }
        for one in boxes.iter().filter(|one| one.is_loadbang) {
            if let BoxPlace::Object(id) = one.place {
                to.push(id);
            }
        }
    }

    /// Objects of the boxes from `first` on that send when they are loaded, in the order of the boxes.
    pub(super) fn loadbangs_from(&self, canvas: CanvasId, first: usize, to: &mut Vec<ObjectId>) {
        for one in self.get(canvas).boxes.iter().skip(first) {
            one.canvases().iter().for_each(|id| self.loadbangs(*id, to));
            if let (true, BoxPlace::Object(id)) = (one.is_loadbang, &one.place) {
                to.push(*id);
            }
        }
    }

    /// Lists of scalars of a canvas and of those inside.
    pub(super) fn lists(&self, canvas: CanvasId, to: &mut Vec<u32>) {
        to.push(self.get(canvas).list);
        for one in &self.get(canvas).boxes {
            one.canvases().iter().for_each(|id| self.lists(*id, to));
        }
    }

    /// Objects that were made with a box, and lists of scalars inside.
    pub(super) fn contents(
        &self,
        canvas: CanvasId,
        at: usize,
        (objects, lists): (&mut Vec<Range<u32>>, &mut Vec<u32>),
    ) {
        let Some(one) = self.get(canvas).boxes.get(at) else {
            return;
        };
        objects.push(one.objects.clone());
        for id in one.canvases() {
            self.objects(*id, objects);
            self.lists(*id, lists);
        }
    }

    /// Objects that were made in a canvas and in those inside, also by messages.
    pub(super) fn objects(&self, canvas: CanvasId, to: &mut Vec<Range<u32>>) {
        for one in &self.get(canvas).boxes {
            to.push(one.objects.clone());
            one.canvases().iter().for_each(|id| self.objects(*id, to));
        }
    }
}
