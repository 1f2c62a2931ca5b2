//! What happened at a moment, and what was sent from lane to lane.

use super::sheet::{Seen, Sheet};
use super::{GanttArrow, MarkerKind};
use crate::ink;
use crate::picture::{Look, Pen, Picture, Verb};
use crate::ticks;

/// More messages than this are only counted.
pub(super) const MOST_CROSSINGS: usize = 200;
/// More marks than this are only counted.
pub(super) const MOST_MARKS: usize = 4000;

impl Sheet<'_> {
    pub(super) fn crossings(&self, picture: &mut Picture, seen: &mut Seen) {
        if self.all.arrows.len() > MOST_CROSSINGS {
            return;
        }
        let is_there =
            |c: &&GanttArrow| c.from.0.max(c.to.0) < self.lanes.len() && c.from.0 != c.to.0;
        for crossing in self.all.arrows.iter().filter(is_there) {
            let is_down = crossing.from.0 < crossing.to.0;
            let edge = |lane: usize, is_low: bool| {
                self.y(lane) + if is_low { self.lane_height } else { 0.0 }
            };
            let from = (self.x(crossing.from.1), edge(crossing.from.0, is_down));
            let to = (self.x(crossing.to.1), edge(crossing.to.0, !is_down));
            picture.line(from, to, Pen::solid(ink::FAINT, 0.8));
            picture.circle(to, 1.8, Look::filled(ink::FAINT));
            seen.crossing = true;
        }
    }

    pub(super) fn marks(&self, picture: &mut Picture, seen: &mut Seen) {
        for mark in self.all.markers.iter().take(MOST_MARKS) {
            let x = self.x(mark.time_ns);
            let y = match mark.row {
                Some(lane) if lane < self.lanes.len() => self.y(lane) + self.lane_height,
                Some(_) => continue,
                None => self.bottom() + 8.0,
            };
            match mark.kind {
                MarkerKind::Wake => seen.wake = true,
                MarkerKind::Sleep => seen.sleep = true,
                MarkerKind::Miss => seen.miss = true,
                MarkerKind::Note => seen.note = true,
            }
            picture.open(format!(
                "{} at {}",
                mark.label,
                ticks::span(mark.time_ns as f64)
            ));
            sign(picture, (x, y), mark.kind);
            picture.close();
        }
    }
}

/// The sign of a mark, with its middle at `at`.
pub(super) fn sign(picture: &mut Picture, (x, y): (f64, f64), what: MarkerKind) {
    let triangle = |tip: f64| [(x - 4.0, y - tip), (x + 4.0, y - tip), (x, y + tip)];
    match what {
        MarkerKind::Wake => {
            let look = Look::both(ink::GREEN.line, Pen::solid(ink::GREEN.line, 1.0));
            picture.polyline(&triangle(-4.0), look);
        }
        MarkerKind::Sleep => {
            let look = Look::both(ink::SHEET, Pen::solid(ink::VIOLET.line, 1.2));
            picture.polyline(&triangle(4.0), look);
        }
        MarkerKind::Miss => {
            let cross = vec![
                Verb::Move(x - 4.0, y - 4.0),
                Verb::Line(x + 4.0, y + 4.0),
                Verb::Move(x - 4.0, y + 4.0),
                Verb::Line(x + 4.0, y - 4.0),
            ];
            picture.path(cross, Look::drawn(Pen::solid(ink::ALARM, 2.2)));
        }
        MarkerKind::Note => picture.circle((x, y), 3.0, Look::filled(ink::AMBER.line)),
    }
}
