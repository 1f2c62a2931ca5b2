//! [`OwnParams`]: what a patch receives by name and the boxes that it shows, as parameters of its node.

use crate::control::{Machine, ObjectId, PlacedBox, Symbol};
use crate::signal::MessageStep;
use graph::{Kind, Node, Signal};
use processor::{EventBody, EventTarget, Events, MakeContext, MakeError, OwnParam};
use std::collections::HashSet;

/// The names that a patch receives, then the boxes that are not among them, as parameters of its node.
pub(super) struct OwnParams {
    /// Index of the first.
    first: usize,
    /// Number of the patch among those that share names.
    patch: u16,
    targets: Vec<OwnTarget>,
}

/// Target of a parameter of a patch's own.
#[derive(Clone, Copy)]
enum OwnTarget {
    /// All that receives under a name.
    Name(Symbol),
    /// Buttons that receive under a name, and nothing else: 0 presses none.
    Buttons(Symbol),
    /// A box.
    Box(ObjectId),
}

impl OwnParams {
    /// The parameters of a patch whose node's kind has `first` of its own.
    ///
    /// Real-time: setup.
    pub(super) fn new(machine: &mut Machine, patch: u16, first: usize) -> (Self, Vec<OwnParam>) {
        let names = machine.received(patch).to_vec();
        let symbols = Vec::from_iter(names.iter().map(|name| machine.symbol(name)));
        let boxes = machine.placed_boxes(patch);
        let (mut params, mut targets, mut placed) = (Vec::new(), Vec::new(), HashSet::new());
        for (name, symbol) in names.into_iter().zip(symbols) {
            let receivers = machine.receivers_in(patch, symbol);
            let boxed = receivers
                .iter()
                .map(|id| boxes.iter().find(|it| it.id == *id));
            let boxed: Option<Vec<&PlacedBox>> = boxed.collect();
            let shown = boxes.iter().find(|it| it.receives && it.name == name);
            // Where all that receive are boxes which only show, the first is what cannot be set.
            let only_shown = boxed.as_ref().and_then(|all| {
                let is_read_only = all.iter().all(|it| it.face.is_read_only);
                all.iter().min_by_key(|it| it.id).filter(|_| is_read_only)
            });
            let known = shown.or(only_shown.copied());
            placed.extend(known.map(|it| it.id));
            let are_buttons = boxed.is_some_and(|all| all.iter().all(|it| it.is_button()));
            targets.push(match known.is_some() && are_buttons {
                true => OwnTarget::Buttons(symbol),
                false => OwnTarget::Name(symbol),
            });
            params.push(OwnParam {
                name,
                face: known.map(|it| it.face.clone()),
            });
        }
        for own in boxes.iter().filter(|it| !placed.contains(&it.id)) {
            params.push(OwnParam {
                name: own.name.clone(),
                face: Some(own.face.clone()),
            });
            targets.push(OwnTarget::Box(own.id));
        }
        let own = Self {
            first,
            patch,
            targets,
        };
        (own, params)
    }

    /// Sends the changes of a block.
    ///
    /// Real-time: as [`Machine::send_number`].
    pub(super) fn receive(&self, events: Events<'_>, machine: &mut Machine) {
        for event in events.iter() {
            if let EventTarget::Param(param) = event.target
                && let Some(at) = usize::from(param).checked_sub(self.first)
                && let Some(target) = self.targets.get(at)
                && let EventBody::Value(number) | EventBody::Glide(number) = event.body
            {
                match target {
                    OwnTarget::Buttons(_) if number == 0.0 => {}
                    OwnTarget::Name(name) | OwnTarget::Buttons(name) => {
                        machine.send_number(self.patch, *name, number)
                    }
                    OwnTarget::Box(object) => machine.move_box(*object, number),
                }
            }
        }
    }

    /// Sends what a node states behind the loadbangs. What sound drives has it from there: its first value comes in the first block.
    ///
    /// # Errors
    ///
    /// The node states a parameter that the patch has not, or one that cannot be set.
    ///
    /// Real-time: setup.
    pub(super) fn state(
        &self,
        params: &[OwnParam],
        make: &MakeContext<'_>,
        messages: &mut MessageStep,
    ) -> Result<(), MakeError> {
        for (port, _) in make.node.modulations() {
            find(params, port.driven_name())?;
        }
        for (name, value) in own_values(make) {
            let at = find(params, name)?;
            if is_driven_by_sound(make.node, name) {
                continue;
            }
            #[expect(clippy::cast_possible_truncation, reason = "Pd's numbers are floats")]
            let number = value as f32;
            match self.targets[at] {
                OwnTarget::Buttons(_) if number == 0.0 => {}
                OwnTarget::Name(_) | OwnTarget::Buttons(_) => {
                    let words = [crate::Atom::Float(number)];
                    messages.schedule_in(self.patch, 0.0, name, &words);
                }
                OwnTarget::Box(id) => messages.machine().move_at_begin(id, number),
            }
        }
        Ok(())
    }
}

/// Index of the parameter that a node names.
fn find(params: &[OwnParam], name: &str) -> Result<usize, MakeError> {
    let known = params.iter().position(|param| param.name == name);
    let message = match known {
        Some(at) if params[at].can_be_set() => return Ok(at),
        Some(_) => format!("`{name}` shows a value and cannot be set"),
        None => {
            let names = params.iter().map(|param| param.name.as_str());
            let nearest = graph::nearest(name, names);
            let hint = nearest.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            format!("nothing in the patch receives `{name}`, and no box is called so{hint}")
        }
    };
    Err(MakeError { message, key: None })
}

/// Returns true if sound drives a parameter.
fn is_driven_by_sound(node: &Node, name: &str) -> bool {
    let mut driven = node.modulations();
    driven.any(|(port, _)| port.driven_name() == name && matches!(port.signal, Signal::Audio(_)))
}

/// Values that a node states for parameters of its own.
fn own_values<'n>(make: &MakeContext<'n>) -> impl Iterator<Item = (&'n str, f64)> {
    let (node, kind): (&'n Node, _) = (make.node, make.kind);
    let is_own = |name: &str| matches!(kind.param(name), Some((Kind::OWN, _)));
    let keys = node.params.iter().map(|(key, _)| key.as_str());
    keys.filter(move |key| is_own(key))
        .filter_map(|key| Some((key, node.number(key)?)))
}
