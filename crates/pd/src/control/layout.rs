//! [`Layout`]: the boxes and connections of a patch whose messages may change its signals, so that these can be put in order anew.

use super::built::{Built, BuiltBox};
use super::canvases::CanvasId;
use crate::class::PortKind;
use crate::file::{Atom, Connection};
use crate::load::{Instance, LoadedObject, ObjectBody, ports_of_canvas};
use graph::SourceSpan;

/// A patch as it is now.
pub(crate) struct Layout {
    pub(crate) root: Instance,
    pub(crate) built: Built,
    id: CanvasId,
    /// True if signals were changed since they were put in order.
    pub(super) is_changed: bool,
}

/// Words of messages that change canvases.
const CHANGES: [&str; 7] = [
    "obj",
    "connect",
    "disconnect",
    "clear",
    "cut",
    "paste",
    "duplicate",
];

/// Messages to canvases that a patch may send, by the words of its boxes.
#[derive(Default)]
pub(super) struct ToCanvases {
    /// The name of a canvas stands where it may be the receiver.
    names: bool,
    changes: bool,
    connects: bool,
}

impl ToCanvases {
    pub(super) fn of(root: &Instance) -> Self {
        let mut found = Self::default();
        look_at(root, &mut |object| found.add(object));
        found
    }

    fn add(&mut self, object: &LoadedObject) {
        let is_message = matches!(object.body, ObjectBody::Message);
        let is_send = matches!(&object.body, ObjectBody::Class(class) if &**class == "send");
        for word in &object.arguments {
            if let Atom::Symbol(text) | Atom::DollarSymbol(text) = word {
                self.names |= (is_message || is_send) && text.starts_with("pd-");
                self.changes |= is_message && CHANGES.contains(&&**text);
                self.connects |= &**text == "connect";
            }
        }
    }

    /// Returns true if a message of a box may change a canvas.
    pub(super) fn may_change(&self) -> bool {
        self.names && self.changes
    }

    /// Returns true if a message may connect boxes; its word may stand in any box, for lists are put together.
    pub(super) fn may_connect(&self) -> bool {
        self.names && self.connects
    }
}

fn look_at(instance: &Instance, look: &mut impl FnMut(&LoadedObject)) {
    for object in &instance.objects {
        look(object);
        match &object.body {
            ObjectBody::Subpatch(inner) | ObjectBody::Abstraction(inner) => look_at(inner, look),
            ObjectBody::Clones { instances, .. } => {
                instances.iter().for_each(|inner| look_at(inner, look));
            }
            _ => {}
        }
    }
}

impl Layout {
    pub(super) fn new(root: &Instance, built: &Built, id: CanvasId) -> Self {
        Self {
            root: root.clone(),
            built: built.clone(),
            id,
            is_changed: false,
        }
    }

    /// A canvas and what its boxes have become.
    pub(super) fn canvas(&mut self, id: CanvasId) -> Option<(&mut Instance, &mut Built)> {
        match id == self.id {
            true => Some((&mut self.root, &mut self.built)),
            false => find(&mut self.root, &mut self.built, id),
        }
    }

    /// Adds boxes that were made.
    pub(super) fn add(&mut self, canvas: CanvasId, made: Vec<(LoadedObject, BuiltBox)>) {
        let is_signal = |(object, _): &(LoadedObject, BuiltBox)| match &object.body {
            ObjectBody::Class(class) => class.ends_with('~'),
            ObjectBody::Subpatch(_) | ObjectBody::Abstraction(_) | ObjectBody::Clones { .. } => {
                true
            }
            _ => false,
        };
        let changes = made.iter().any(is_signal);
        if let Some((instance, boxes)) = self.canvas(canvas) {
            for (object, built) in made {
                instance.objects.push(object);
                boxes.boxes.push(built);
            }
        }
        if changes {
            self.change();
        }
    }

    /// Takes note of a connection of messages that was made or removed.
    pub(super) fn note_wire(
        &mut self,
        canvas: CanvasId,
        [from, outlet, to, inlet]: [usize; 4],
        connects: bool,
    ) {
        let Some((instance, _)) = self.canvas(canvas) else {
            return;
        };
        let wire = Connection {
            from,
            outlet,
            to,
            inlet,
            span: SourceSpan::default(),
        };
        let is_same = |other: &Connection| {
            Connection {
                span: wire.span,
                ..*other
            } == wire
        };
        match connects {
            true => instance.connections.push(wire),
            false => {
                let at = instance.connections.iter().position(is_same);
                at.map(|at| instance.connections.remove(at));
            }
        }
    }

    /// Connects signals, or disconnects them; false if that cannot be.
    pub(super) fn connect(
        &mut self,
        canvas: CanvasId,
        [from, outlet, to, inlet]: [usize; 4],
        connects: bool,
    ) -> bool {
        let Some((instance, _)) = self.canvas(canvas) else {
            return false;
        };
        let is_same = |wire: &Connection| {
            (wire.from, wire.outlet, wire.to, wire.inlet) == (from, outlet, to, inlet)
        };
        if !connects {
            let at = instance.connections.iter().position(is_same);
            let done = at.map(|at| instance.connections.remove(at)).is_some();
            self.is_changed |= done;
            return done;
        }
        let kind = |at: usize, port: usize, is_outlet: bool| {
            let ports = &instance.objects.get(at)?.ports;
            let side = if is_outlet {
                &ports.outlets
            } else {
                &ports.inlets
            };
            side.get(port).copied()
        };
        let ends = (kind(from, outlet, true), kind(to, inlet, false));
        let holds = ends == (Some(PortKind::Signal), Some(PortKind::Signal));
        if holds {
            instance.connections.push(Connection {
                from,
                outlet,
                to,
                inlet,
                span: SourceSpan::default(),
            });
            self.is_changed = true;
        }
        holds
    }

    /// Removes all boxes of a canvas.
    pub(super) fn clear(&mut self, canvas: CanvasId) {
        if let Some((instance, built)) = self.canvas(canvas) {
            instance.objects.clear();
            instance.connections.clear();
            built.boxes.clear();
        }
        self.change();
    }

    /// Removes boxes of a canvas: their numbers, ascending.
    pub(super) fn remove(&mut self, canvas: CanvasId, cut: &[usize]) {
        if let Some((instance, built)) = self.canvas(canvas) {
            leave_out(&mut instance.objects, cut);
            leave_out(&mut built.boxes, cut);
            let wires = &mut instance.connections;
            let is_cut = |at: usize| cut.binary_search(&at).is_ok();
            wires.retain(|wire| !is_cut(wire.from) && !is_cut(wire.to));
            let moved = |at: usize| at - cut.partition_point(|cut| *cut < at);
            for wire in wires {
                (wire.from, wire.to) = (moved(wire.from), moved(wire.to));
            }
        }
        self.change();
    }

    /// Takes note of a change, and gives canvases the ports that their boxes have.
    fn change(&mut self) {
        self.is_changed = true;
        fix_ports(&mut self.root);
    }
}

/// Removes what has these numbers, ascending.
fn leave_out<T>(all: &mut Vec<T>, cut: &[usize]) {
    let mut at = 0;
    all.retain(|_| {
        at += 1;
        cut.binary_search(&(at - 1)).is_err()
    });
}

/// A canvas in those inside another one.
fn find<'l>(
    instance: &'l mut Instance,
    built: &'l mut Built,
    id: CanvasId,
) -> Option<(&'l mut Instance, &'l mut Built)> {
    let boxes = instance.objects.iter_mut().zip(&mut built.boxes);
    boxes
        .filter_map(|(object, built)| find_in_box(&mut object.body, built, id))
        .next()
}

fn find_in_box<'l>(
    body: &'l mut ObjectBody,
    built: &'l mut BuiltBox,
    id: CanvasId,
) -> Option<(&'l mut Instance, &'l mut Built)> {
    match (body, built) {
        (ObjectBody::Subpatch(inner) | ObjectBody::Abstraction(inner), built) => {
            find_in_canvas(inner, built, id)
        }
        (ObjectBody::Clones { instances, .. }, BuiltBox::Clones { instances: all, .. }) => {
            let mut both = instances.iter_mut().zip(all);
            both.find_map(|(inner, built)| find_in_canvas(inner, built, id))
        }
        _ => None,
    }
}

fn find_in_canvas<'l>(
    inner: &'l mut Instance,
    built: &'l mut BuiltBox,
    id: CanvasId,
) -> Option<(&'l mut Instance, &'l mut Built)> {
    match built {
        BuiltBox::Canvas {
            id: own, inside, ..
        } => match *own == id {
            true => Some((inner, inside)),
            false => find(inner, inside, id),
        },
        _ => None,
    }
}

/// Gives subpatches the inlets and outlets that stand in them, and takes away connections that lead nowhere any more.
fn fix_ports(instance: &mut Instance) {
    for object in &mut instance.objects {
        match &mut object.body {
            ObjectBody::Subpatch(inner) | ObjectBody::Abstraction(inner) => {
                fix_ports(inner);
                object.ports = ports_of_canvas(inner);
            }
            ObjectBody::Clones { instances, .. } => instances.iter_mut().for_each(fix_ports),
            _ => {}
        }
    }
    let objects = &instance.objects;
    instance.connections.retain(|wire| {
        let outlets = &objects[wire.from].ports.outlets;
        let inlets = &objects[wire.to].ports.inlets;
        let kinds = (outlets.get(wire.outlet), inlets.get(wire.inlet));
        match kinds {
            (Some(PortKind::Signal), Some(kind)) => *kind == PortKind::Signal,
            (Some(_), Some(_)) => true,
            _ => false,
        }
    });
}
