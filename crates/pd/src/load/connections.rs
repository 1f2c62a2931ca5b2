//! The connections that hold: those whose outlets and inlets exist, and that lead no signal to an inlet for messages.

use super::instance::{LoadedObject, ObjectBody};
use crate::class::PortKind;
use crate::file::Connection;
use graph::{Diagnostic, SourceSpan};
use std::collections::HashSet;

/// Splits connections into those that hold and what is wrong with the others.
pub(super) fn checked(
    connections: &[Connection],
    objects: &[LoadedObject],
    place: impl Fn(SourceSpan) -> SourceSpan,
) -> (Vec<Connection>, Vec<Diagnostic>) {
    let mut wrong = Vec::new();
    let mut hold = Vec::with_capacity(connections.len());
    let mut known = HashSet::with_capacity(connections.len());
    for connection in connections {
        match problem(connection, objects, &mut known) {
            None => hold.push(*connection),
            Some(Problem::StandIn) => {}
            Some(Problem::Wrong(message)) => {
                let diagnostic = Diagnostic::warning(place(connection.span), message);
                wrong.push(diagnostic.help("the connection is left out, as Pd does"));
            }
        }
    }
    (hold, wrong)
}

enum Problem {
    /// One end is a stand-in, which was reported.
    StandIn,
    Wrong(String),
}

/// Box and outlet, box and inlet.
type Ends = (usize, usize, usize, usize);

fn problem(
    connection: &Connection,
    objects: &[LoadedObject],
    known: &mut HashSet<Ends>,
) -> Option<Problem> {
    let (from, to) = (&objects[connection.from], &objects[connection.to]);
    let is_stand_in = |o: &LoadedObject| matches!(o.body, ObjectBody::StandIn(_));
    if is_stand_in(from) || is_stand_in(to) {
        return Some(Problem::StandIn);
    }
    let Some(outlet) = from.ports.outlets.get(connection.outlet) else {
        let (name, count) = (name(from), from.ports.outlets.len());
        let message = format!(
            "`{name}` has {count} outlets, there is no {}",
            connection.outlet
        );
        return Some(Problem::Wrong(message));
    };
    let Some(inlet) = to.ports.inlets.get(connection.inlet) else {
        let (name, count) = (name(to), to.ports.inlets.len());
        let message = format!(
            "`{name}` has {count} inlets, there is no {}",
            connection.inlet
        );
        return Some(Problem::Wrong(message));
    };
    if (*outlet, *inlet) == (PortKind::Signal, PortKind::Message) {
        let message = format!(
            "a signal of `{}` leads to inlet {} of `{}`, which takes messages alone",
            name(from),
            connection.inlet,
            name(to)
        );
        return Some(Problem::Wrong(message));
    }
    let Connection {
        from: source,
        outlet,
        to: target,
        inlet,
        ..
    } = *connection;
    if !known.insert((source, outlet, target, inlet)) {
        let (from, to) = (name(from), name(to));
        let message =
            format!("outlet {outlet} of `{from}` is connected to inlet {inlet} of `{to}` already");
        return Some(Problem::Wrong(message));
    }
    None
}

/// A box by its name, for messages.
pub(super) fn name(object: &LoadedObject) -> &str {
    match &object.body {
        ObjectBody::Class(name) | ObjectBody::StandIn(name) => name,
        ObjectBody::Message => "message box",
        ObjectBody::Gui(gui) => gui.kind.class(),
        ObjectBody::Comment => "comment",
        ObjectBody::Subpatch(inner) | ObjectBody::Abstraction(inner) => &inner.name,
        ObjectBody::Clones { .. } => "clone",
        ObjectBody::Array(_) => "array",
        ObjectBody::Scalar => "scalar",
    }
}
