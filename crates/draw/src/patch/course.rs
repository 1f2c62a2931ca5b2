//! Wires as lines: what they share is drawn once.

use super::face::Face;
use crate::ink::{self, Ink};
use crate::layout::{Course, Layout, Wire};
use crate::picture::{Look, Pen, Picture, Verb};
use crate::svg::length;
use graph::Signal;
use std::collections::{BTreeMap, BTreeSet};

/// With more wires than this they are drawn thin.
const MANY_WIRES: usize = 1500;

/// All wires of one output as one path, so that what they share is drawn once.
pub(super) fn draw_wires(picture: &mut Picture, boxes: &[Face], wires: &[Wire], layout: &Layout) {
    let mut paths = BTreeMap::<(bool, usize, usize), (Vec<Verb>, BTreeSet<String>)>::new();
    let mut arrows = Vec::new();
    for (wire, course) in wires.iter().zip(&layout.courses) {
        let (path, drawn) = paths
            .entry((course.is_back, wire.from.0, wire.from.1))
            .or_default();
        trace(course, path, drawn);
        if let (true, Some((_, x, y))) = (course.is_back, course.stretches.last()) {
            arrows.extend([
                Verb::Move(x - 3.0, *y),
                Verb::Line(x - 11.0, y - 4.5),
                Verb::Line(x - 11.0, y + 4.5),
                Verb::Close,
            ]);
        }
    }
    let is_thin = wires.len() > MANY_WIRES;
    for ((is_back, node, port), (path, _)) in paths {
        let signal = boxes[node].node.outputs[port].signal;
        picture.path(path, Look::drawn(pen(signal, is_back, is_thin)));
    }
    picture.path(arrows, Look::filled(ink::ALARM));
}

fn pen(signal: Signal, is_back: bool, is_thin: bool) -> Pen {
    let ink: Ink = match (is_back, is_thin) {
        (true, _) => ink::ALARM,
        (false, true) => ink::THIN,
        (false, false) => ink::WIRE,
    };
    let width = match signal {
        _ if is_thin => 0.6,
        Signal::Audio(channels) if channels.0 > 2 => 3.0,
        Signal::Audio(channels) if channels.0 == 2 => 2.25,
        _ => 1.5,
    };
    let dash = match signal {
        Signal::Audio(_) => (0.0, 0.0),
        Signal::Control => (5.0, 3.0),
        Signal::Event => (1.5, 3.5),
    };
    Pen { ink, width, dash }
}

/// Adds to `path` the pieces of a course that are not in it yet.
fn trace(course: &Course, path: &mut Vec<Verb>, drawn: &mut BTreeSet<String>) {
    let last = course.stretches.len() - 1;
    // A wire that leads back leaves to the right, runs left, and comes in to the right again; so does one that goes on in
    // the next row.
    let heading = |i: usize| {
        let (x0, x1, _) = course.stretches[i];
        let is_left = x1 < x0 || (x1 == x0 && course.is_back);
        if is_left && i > 0 && i < last {
            -1.0
        } else {
            1.0
        }
    };
    let mut is_open = false;
    for (i, (x0, x1, y)) in course.stretches.iter().enumerate() {
        let mut piece = Vec::new();
        let mut key = format!("{} {}", length(*x0), length(*y));
        if (x1 - x0).abs() > 0.05 {
            piece.push(Verb::Line(*x1, *y));
            key += &format!(" {}", length(*x1));
        }
        if let Some((next, _, below)) = course.stretches.get(i + 1) {
            let (out, inward) = (heading(i), heading(i + 1));
            let run = (next - x1) * out;
            let bend = if out == inward && run > 0.0 {
                run / 2.0
            } else {
                34.0
            };
            piece.push(Verb::Curve([
                (x1 + out * bend, *y),
                (next - inward * bend, *below),
                (*next, *below),
            ]));
            key += &format!(" to {} {}", length(*next), length(*below));
        }
        if piece.is_empty() || !drawn.insert(key) {
            // What follows begins anew.
            is_open = false;
            continue;
        }
        if !std::mem::replace(&mut is_open, true) {
            path.push(Verb::Move(*x0, *y));
        }
        path.extend(piece);
    }
}
