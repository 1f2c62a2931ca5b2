//! Loops of signals: boxes that Pd does not schedule, because each waits for another.
//!
//! Pd looks at each canvas alone, and takes a subpatch for one box. So does this.

use super::connections::name;
use super::instance::LoadedObject;
use crate::class::PortKind;
use crate::file::Connection;
use graph::{Diagnostic, SourceSpan};

/// Names of a loop that a message shows, at most.
const MAX_NAMES: usize = 8;

/// Finds the loop of signals in a canvas, if there is one.
pub(super) fn signal_loop(
    connections: &[Connection],
    objects: &[LoadedObject],
    place: impl Fn(SourceSpan) -> SourceSpan,
) -> Option<Diagnostic> {
    let is_signal = |connection: &&Connection| {
        let outlet = objects[connection.from]
            .ports
            .outlets
            .get(connection.outlet);
        let inlet = objects[connection.to].ports.inlets.get(connection.inlet);
        (outlet, inlet) == (Some(&PortKind::Signal), Some(&PortKind::Signal))
    };
    let signals: Vec<&Connection> = connections.iter().filter(is_signal).collect();
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); objects.len()];
    let mut waits: Vec<usize> = vec![0; objects.len()];
    for connection in &signals {
        next[connection.from].push(connection.to);
        waits[connection.to] += 1;
    }
    // What waits for nothing is scheduled, then what waits for that alone.
    let mut ready: Vec<usize> = (0..objects.len()).filter(|at| waits[*at] == 0).collect();
    while let Some(at) = ready.pop() {
        for to in &next[at] {
            waits[*to] -= 1;
            if waits[*to] == 0 {
                ready.push(*to);
            }
        }
    }
    // Each box that is left waits for another one that is left: backwards from any of them leads into a loop.
    let mut from: Vec<usize> = vec![usize::MAX; objects.len()];
    for connection in signals
        .iter()
        .filter(|connection| waits[connection.from] > 0)
    {
        from[connection.to] = connection.from;
    }
    let mut at = waits.iter().position(|waits| *waits > 0)?;
    let mut seen = vec![false; objects.len()];
    while !std::mem::replace(&mut seen[at], true) {
        at = from[at];
    }
    let mut boxes = vec![at];
    let mut before = from[at];
    while before != at {
        boxes.push(before);
        before = from[before];
    }
    boxes.push(at);
    boxes.reverse();
    let names: Vec<&str> = boxes.iter().map(|at| name(&objects[*at])).collect();
    let shown = match names.len() > MAX_NAMES {
        true => format!("{}, …", names[..MAX_NAMES].join(", ")),
        false => names.join(", "),
    };
    let lost = waits.iter().filter(|waits| **waits > 0).count();
    let message = format!("DSP loop detected: {shown}");
    let diagnostic = Diagnostic::warning(place(objects[at].span), message);
    Some(diagnostic.help(format!(
        "{lost} boxes are in it or behind it, and Pd computes none of them; `delwrite~` and `delread~`, or `send~` and `receive~`, break \
         a loop"
    )))
}
