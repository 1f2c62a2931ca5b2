//! A canvas to the row of its objects.
//!
//! Pd collects the boxes of a canvas that have signals, the last made first, and starts each one that no signal leads to. After a box
//! it follows the connections of its outlets, the last made first, into every box whose inlets are then all filled. A subpatch is
//! played where its box stands. This order decides which readers of delay lines and buses see the block before, so it is kept.

use super::objects::is_signal_class;
use super::reblock::{BlockSettings, Upsampling};
use super::world::BufferId;
use crate::class::PortKind;
use crate::control::{Built, BuiltBox, ObjectId};
use crate::file::{Atom, Connection};
use crate::load::{Instance, LoadedObject, ObjectBody};

/// One step of a block.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Fills a buffer with the number at an inlet.
    Fill {
        object: ObjectId,
        inlet: usize,
        to: BufferId,
    },
    /// The sum of two buffers.
    Add {
        new: BufferId,
        sum: BufferId,
        to: BufferId,
    },
    /// An object computes.
    Perform {
        object: ObjectId,
        inlets: Vec<BufferId>,
        outlets: Vec<BufferId>,
    },
}

impl Step {
    /// The object that it is of.
    pub(crate) fn object(&self) -> Option<ObjectId> {
        match self {
            Self::Fill { object, .. } | Self::Perform { object, .. } => Some(*object),
            Self::Add { .. } => None,
        }
    }

    /// Signals that it reads.
    pub(crate) fn inlets(&self) -> Vec<BufferId> {
        match self {
            Self::Fill { .. } => Vec::new(),
            Self::Add { new, sum, .. } => vec![*new, *sum],
            Self::Perform { inlets, .. } => inlets.clone(),
        }
    }

    /// Signals that it writes.
    pub(crate) fn outlets(&self) -> Vec<BufferId> {
        match self {
            Self::Fill { to, .. } | Self::Add { to, .. } => vec![*to],
            Self::Perform { outlets, .. } => outlets.clone(),
        }
    }
}

/// Steps of a block. Each signal has a buffer of its own, whose number is higher than those of all that it is made from.
#[derive(Debug, Default)]
pub(super) struct Order {
    pub steps: Vec<Step>,
    pub buffers: u32,
    /// Canvases with blocks of their own: a step each, by the object of their `block~`.
    pub blocks: Vec<BlockOrder>,
    /// Objects without signals that depend on the rate.
    pub observers: Vec<ObjectId>,
    /// A buffer that stays silent.
    silence: Option<BufferId>,
}

/// A canvas with blocks of its own.
#[derive(Debug)]
pub(super) struct BlockOrder {
    /// Its `block~` or `switch~`.
    pub object: ObjectId,
    pub settings: BlockSettings,
    /// True for `switch~`.
    pub is_switch: bool,
    /// True if no canvas is around it.
    pub is_root: bool,
    pub order: Order,
    /// Buffers inside that hold the signals of inlets.
    pub inputs: Vec<(BufferId, Upsampling)>,
    /// Buffers inside with the signals of outlets; `None` where no signal reaches an outlet.
    pub outputs: Vec<(Option<BufferId>, Upsampling)>,
}

/// Orders patches, one behind the other.
pub(super) fn order(patches: &[(&Instance, &Built)]) -> Order {
    let mut order = Order::new();
    for (root, built) in patches {
        match block_box(root, built) {
            Some(block) => {
                order.block(root, built, block, &[], true);
            }
            None => {
                order.canvas(root, built, &[]);
            }
        }
    }
    order
}

/// The box of `block~` or `switch~` that counts in a canvas, the last one.
fn block_box(instance: &Instance, built: &Built) -> Option<(usize, ObjectId)> {
    let boxes = instance.objects.iter().zip(&built.boxes).enumerate().rev();
    boxes
        .filter_map(|(at, (object, built))| match (&object.body, built) {
            (ObjectBody::Class(class), BuiltBox::Object(id))
                if matches!(&**class, "block~" | "switch~") =>
            {
                Some((at, *id))
            }
            _ => None,
        })
        .next()
}

/// Method of upsampling of an `inlet~` or `outlet~`.
fn upsampling(object: &LoadedObject) -> Upsampling {
    Upsampling::of(object.arguments.first().and_then(Atom::as_symbol))
}

/// Signals at the inlets of a canvas, and those of its outlets as they arise, by index of the box.
type CanvasPorts<'c> = (&'c [(usize, BufferId)], &'c mut Vec<(usize, BufferId)>);

/// A box while its canvas is being sorted.
struct Waiting {
    /// Signal connections that are still to come.
    missing: usize,
    /// Sum of what came so far, for each inlet.
    inlets: Vec<Option<BufferId>>,
    is_done: bool,
}

impl Order {
    fn new() -> Self {
        let mut new = Self::default();
        let silence = new.buffer();
        new.silence = Some(silence);
        new
    }

    /// Orders a canvas with blocks of its own: a step of this order. `inputs` are the signals at its inlets. Gives those of its
    /// outlets, by index of the box.
    fn block(
        &mut self,
        instance: &Instance,
        built: &Built,
        (at, object): (usize, ObjectId),
        inputs: &[(usize, BufferId)],
        is_root: bool,
    ) -> Vec<(usize, BufferId)> {
        let mut inside = Self::new();
        let mut ports = Vec::new();
        let mut block_inputs = Vec::new();
        for (port, _) in inputs {
            let buffer = inside.buffer();
            ports.push((*port, buffer));
            block_inputs.push((buffer, upsampling(&instance.objects[*port])));
        }
        let found = inside.canvas(instance, built, &ports);
        let mut outputs = Vec::new();
        let mut outlets = Vec::new();
        let all = instance.ports(["outlet~", "outlet~"]);
        for port in all.into_iter().filter(|_| !is_root) {
            let buffer = found.iter().find(|(index, _)| *index == port);
            let buffer = buffer.map(|(_, buffer)| *buffer);
            outputs.push((buffer, upsampling(&instance.objects[port])));
            outlets.push((port, self.buffer()));
        }
        let words = &instance.objects[at].arguments;
        let number = |at: usize| words.get(at).and_then(Atom::as_float).unwrap_or(0.0);
        let is_switch =
            matches!(&instance.objects[at].body, ObjectBody::Class(class) if &**class == "switch~");
        self.blocks.push(BlockOrder {
            object,
            settings: BlockSettings::new(number(0), number(1), number(2)),
            is_switch,
            is_root,
            order: inside,
            inputs: block_inputs,
            outputs,
        });
        self.steps.push(Step::Perform {
            object,
            inlets: inputs.iter().map(|(_, buffer)| *buffer).collect(),
            outlets: outlets.iter().map(|(_, buffer)| *buffer).collect(),
        });
        outlets
    }

    fn buffer(&mut self) -> BufferId {
        self.buffers += 1;
        BufferId(self.buffers - 1)
    }

    /// Orders one canvas; `inputs` are the signals at its inlets. Gives those of its outlets, by index of the box.
    fn canvas(
        &mut self,
        instance: &Instance,
        built: &Built,
        inputs: &[(usize, BufferId)],
    ) -> Vec<(usize, BufferId)> {
        let signals = |at: usize| is_signal_box(&instance.objects[at].body);
        for (object, built) in instance.objects.iter().zip(&built.boxes) {
            if let (ObjectBody::Class(class), BuiltBox::Object(id)) = (&object.body, built)
                && &**class == "samplerate~"
            {
                self.observers.push(*id);
            }
        }
        let mut waiting: Vec<Waiting> = instance
            .objects
            .iter()
            .map(|object| Waiting {
                missing: 0,
                inlets: vec![None; object.ports.inlets.len()],
                is_done: false,
            })
            .collect();
        let mut wires = vec![Vec::new(); instance.objects.len()];
        for connection in &instance.connections {
            let kind = instance.objects[connection.from].ports.outlets[connection.outlet];
            if kind == PortKind::Signal && signals(connection.from) && signals(connection.to) {
                waiting[connection.to].missing += 1;
                wires[connection.from].push(*connection);
            }
        }
        let mut outputs = Vec::new();
        for at in (0..instance.objects.len()).rev() {
            if !signals(at) || waiting[at].missing > 0 || waiting[at].is_done {
                continue;
            }
            let mut stack = vec![self.start(
                instance,
                built,
                at,
                &mut waiting,
                (inputs, &mut outputs),
                &wires,
            )];
            while let Some(row) = stack.last_mut() {
                let Some((wire, buffer)) = row.pop() else {
                    stack.pop();
                    continue;
                };
                if self.fill(&mut waiting[wire.to], wire.inlet, buffer) {
                    let of_box = self.start(
                        instance,
                        built,
                        wire.to,
                        &mut waiting,
                        (inputs, &mut outputs),
                        &wires,
                    );
                    stack.push(of_box);
                }
            }
        }
        outputs
    }

    /// Runs a box. Gives what its outlets lead to, the first to be followed last.
    fn start(
        &mut self,
        instance: &Instance,
        built: &Built,
        at: usize,
        waiting: &mut [Waiting],
        (inputs, outputs): CanvasPorts<'_>,
        wires: &[Vec<Connection>],
    ) -> Vec<(Connection, BufferId)> {
        waiting[at].is_done = true;
        let inlets = std::mem::take(&mut waiting[at].inlets);
        let outlets = self.run_box(instance, built, at, &inlets, inputs, outputs);
        let mut row = Vec::new();
        for (outlet, buffer) in outlets.iter().enumerate().rev() {
            let of_outlet = wires[at].iter().filter(|wire| wire.outlet == outlet);
            row.extend(of_outlet.map(|wire| (*wire, *buffer)));
        }
        row
    }

    /// Gives a signal to an inlet; true if that was the last one that the box waited for.
    ///
    /// Pd goes on into a box as soon as it is full, before the next connection. Sums arise in that order too.
    fn fill(&mut self, to: &mut Waiting, inlet: usize, buffer: BufferId) -> bool {
        to.missing -= 1;
        to.inlets[inlet] = Some(match to.inlets[inlet] {
            None => buffer,
            Some(sum) => {
                let to = self.buffer();
                self.steps.push(Step::Add {
                    new: buffer,
                    sum,
                    to,
                });
                to
            }
        });
        to.missing == 0
    }

    fn run_box(
        &mut self,
        instance: &Instance,
        built: &Built,
        at: usize,
        inlets: &[Option<BufferId>],
        inputs: &[(usize, BufferId)],
        outputs: &mut Vec<(usize, BufferId)>,
    ) -> Vec<BufferId> {
        let object = &instance.objects[at];
        match (&object.body, &built.boxes[at]) {
            (ObjectBody::Class(class), _) if &**class == "inlet~" => {
                let given = inputs
                    .iter()
                    .find(|(index, _)| *index == at)
                    .map(|(_, buffer)| *buffer);
                let silence = self.silence.expect("it was made first");
                vec![given.unwrap_or(silence)]
            }
            (ObjectBody::Class(class), BuiltBox::Object(id)) if &**class == "outlet~" => {
                let buffer = match inlets[0] {
                    Some(buffer) => buffer,
                    None => self.scalar(*id, 0),
                };
                outputs.push((at, buffer));
                Vec::new()
            }
            (ObjectBody::Class(_), BuiltBox::Object(id)) => {
                let signals = object.ports.inlets.iter().enumerate();
                let signals = signals.filter(|(_, kind)| **kind == PortKind::Signal);
                let mut ids = Vec::new();
                for (inlet, _) in signals {
                    ids.push(match inlets[inlet] {
                        Some(buffer) => buffer,
                        None => self.scalar(*id, inlet),
                    });
                }
                let outlets = object.ports.outlets.iter();
                let silence = self.silence.expect("it was made first");
                // One of messages may stand before those of signals.
                let outlets = outlets.map(|kind| match kind {
                    PortKind::Signal => self.buffer(),
                    PortKind::Message => silence,
                });
                let outlets: Vec<BufferId> = outlets.collect();
                let signals = outlets.iter().filter(|buffer| **buffer != silence);
                self.steps.push(Step::Perform {
                    object: *id,
                    inlets: ids,
                    outlets: signals.copied().collect(),
                });
                outlets
            }
            (
                ObjectBody::Subpatch(inner) | ObjectBody::Abstraction(inner),
                BuiltBox::Canvas { inside, .. },
            ) => self.inner(inner, inside, inlets),
            (ObjectBody::Clones { instances, .. }, BuiltBox::Clones { instances: all, .. }) => {
                let mut sums: Vec<BufferId> = Vec::new();
                for (inner, built) in instances.iter().zip(all) {
                    let BuiltBox::Canvas { inside, .. } = built else {
                        continue;
                    };
                    let outlets = self.inner(inner, inside, inlets);
                    if sums.is_empty() {
                        sums = outlets;
                        continue;
                    }
                    for (sum, new) in sums.iter_mut().zip(outlets) {
                        let to = self.buffer();
                        self.steps.push(Step::Add { new, sum: *sum, to });
                        *sum = to;
                    }
                }
                sums
            }
            _ => Vec::new(),
        }
    }

    /// A canvas inside: its outlets of signals, from the left.
    fn inner(
        &mut self,
        inner: &Instance,
        inside: &Built,
        inlets: &[Option<BufferId>],
    ) -> Vec<BufferId> {
        let ports = inner.ports(["inlet~", "inlet"]);
        let mut inputs = Vec::new();
        for (port, given) in ports.iter().zip(inlets) {
            let is_signal = matches!(&inner.objects[*port].body, ObjectBody::Class(class) if &**class == "inlet~");
            if let (true, BuiltBox::Object(id)) = (is_signal, &inside.boxes[*port]) {
                let buffer = match given {
                    Some(buffer) => *buffer,
                    None => self.scalar(*id, 0),
                };
                inputs.push((*port, buffer));
            }
        }
        let outputs = match block_box(inner, inside) {
            Some(block) => self.block(inner, inside, block, &inputs, false),
            None => self.canvas(inner, inside, &inputs),
        };
        let silence = self.silence.expect("it was made first");
        inner
            .ports(["outlet~", "outlet"])
            .into_iter()
            .map(|port| {
                let found = outputs.iter().find(|(index, _)| *index == port);
                found.map_or(silence, |(_, buffer)| *buffer)
            })
            .collect()
    }

    /// A buffer that holds the number at an inlet.
    fn scalar(&mut self, object: ObjectId, inlet: usize) -> BufferId {
        let to = self.buffer();
        self.steps.push(Step::Fill { object, inlet, to });
        to
    }
}

/// Returns true if Pd sorts the box with the signals.
fn is_signal_box(body: &ObjectBody) -> bool {
    match body {
        ObjectBody::Class(class) => is_signal_class(class),
        ObjectBody::Subpatch(_) | ObjectBody::Abstraction(_) | ObjectBody::Clones { .. } => true,
        _ => false,
    }
}
