//! The tasks of a lane: boxes with their words, and those too narrow to be seen one by one.

use super::sheet::{Seen, Sheet, last_ns, name};
use super::{GanttBar, GanttRow, NodeClass};
use crate::ink::{self, Pair};
use crate::picture::{Anchor, Look, Pen, Picture, plain};
use crate::ticks;

/// Boxes narrower than this, in pixels, are drawn together with their neighbours.
const NARROW: f64 = 0.8;

impl Sheet<'_> {
    /// A lane with its boxes, and at its right how much of the time it is busy.
    pub(super) fn lane(&self, picture: &mut Picture, i: usize, lane: &GanttRow, seen: &mut Seen) {
        let (y, height) = (self.y(i), self.lane_height);
        let size = (self.right - self.left, height);
        picture.rect((self.left, y), size, 3.0, Look::filled(ink::IDLE));
        let font = plain(if height > 20.0 { 12.0 } else { 9.0 });
        let middle = y + height / 2.0 + font.size * 0.35;
        let at = (self.left - 12.0, middle);
        picture.text(at, &name(lane), font, ink::DARK, Anchor::End);
        let mut boxes: Vec<&GanttBar> = lane.bars.iter().collect();
        boxes.sort_by_key(|item| (item.start_ns, item.end_ns));
        let busy = busy_ns(&boxes) / last_ns(self.all) * 100.0;
        let words = format!("{busy:.0} % busy");
        let at = (self.right + 12.0, middle);
        picture.text(
            at,
            &words,
            plain(font.size.min(11.0)),
            ink::FAINT,
            Anchor::Start,
        );
        let mut rest = boxes.as_slice();
        while let Some(first) = rest.first() {
            let together = self.narrow(rest);
            if together > 1 {
                self.together(picture, y, &rest[..together]);
                seen.together = true;
            } else {
                self.task(picture, y, first);
                seen.critical |= first.critical;
                seen.copy |= first.copy;
            }
            rest = &rest[together.max(1)..];
        }
    }

    /// How many boxes at the head of `boxes` are too narrow to be drawn one by one.
    fn narrow(&self, boxes: &[&GanttBar]) -> usize {
        let begin = self.x(boxes[0].start_ns);
        let is_in = |item: &&&GanttBar| {
            let (x0, x1) = (self.x(item.start_ns), self.x(item.end_ns));
            x1 - x0 < NARROW && x0 - begin < NARROW
        };
        boxes.iter().take_while(is_in).count()
    }

    fn together(&self, picture: &mut Picture, y: f64, boxes: &[&GanttBar]) {
        let (x, end) = (
            self.x(boxes[0].start_ns),
            boxes.iter().map(|item| item.end_ns).max(),
        );
        let width = (self.x(end.unwrap_or(0)) - x).max(NARROW);
        let is_critical = boxes.iter().any(|item| item.critical);
        let ink = if is_critical { ink::ALARM } else { ink::WIRE };
        picture.open(format!("{} tasks", boxes.len()));
        picture.rect((x, y), (width, self.lane_height), 0.0, Look::filled(ink));
        picture.close();
    }

    fn task(&self, picture: &mut Picture, y: f64, item: &GanttBar) {
        let (x, end) = (self.x(item.start_ns), self.x(item.end_ns));
        let width = (end - x).max(NARROW);
        let pair = pair(item.class);
        let pen = match (item.critical, item.copy) {
            (true, true) => Pen::dashed(ink::ALARM, 2.0, (4.0, 3.0)),
            (true, false) => Pen::solid(ink::ALARM, 2.0),
            (false, true) => Pen::dashed(pair.line, 1.25, (4.0, 3.0)),
            (false, false) => Pen::solid(pair.line, 1.0),
        };
        picture.open(story(item));
        if width < 4.0 {
            // A border would be all there is to see.
            let fill = if item.critical { ink::ALARM } else { pair.line };
            let size = ((width - 0.3).max(0.5), self.lane_height);
            picture.rect((x, y), size, 0.0, Look::filled(fill));
        } else {
            let inset = pen.width / 2.0;
            let size = (width - 2.0 * inset, self.lane_height - 2.0 * inset);
            picture.rect(
                (x + inset, y + inset),
                size,
                2.5,
                Look::both(pair.fill, pen),
            );
            self.label(picture, (x + width / 2.0, y), width - 8.0, item);
        }
        picture.close();
    }

    fn label(&self, picture: &mut Picture, (x, y): (f64, f64), room: f64, item: &GanttBar) {
        let font = plain(if self.lane_height > 20.0 { 11.0 } else { 8.5 });
        let words = font.fit(&item.label, room);
        if words.chars().count() < 3 && words != item.label {
            return;
        }
        let middle = y + self.lane_height / 2.0;
        let time = ticks::span(item.end_ns.saturating_sub(item.start_ns) as f64);
        let has_time = self.lane_height > 36.0 && plain(9.0).width(&time) < room;
        let base = if has_time {
            middle - 1.5
        } else {
            middle + font.size * 0.35
        };
        picture.text((x, base), &words, font, ink::DARK, Anchor::Middle);
        if has_time {
            picture.text(
                (x, middle + 11.0),
                &time,
                plain(9.0),
                ink::FAINT,
                Anchor::Middle,
            );
        }
    }
}

fn pair(hue: NodeClass) -> Pair {
    match hue {
        NodeClass::Effect => ink::BLUE,
        NodeClass::Source => ink::GREEN,
        NodeClass::Join => ink::AMBER,
        NodeClass::Delay => ink::PINK,
        NodeClass::Sink => ink::VIOLET,
        NodeClass::Other => ink::GREY,
    }
}

fn story(item: &GanttBar) -> String {
    let times = [item.start_ns, item.end_ns].map(|ns| ticks::span(ns as f64));
    let span = ticks::span(item.end_ns.saturating_sub(item.start_ns) as f64);
    let mut story = format!("{}\n{span}: {} to {}", item.label, times[0], times[1]);
    if item.critical {
        story += "\non the critical path";
    }
    if item.copy {
        story += "\na copy";
    }
    story
}

/// How much of the time at least one of `boxes`, sorted by their begin, runs.
fn busy_ns(boxes: &[&GanttBar]) -> f64 {
    let (mut sum, mut until) = (0, 0);
    for item in boxes {
        let begin = item.start_ns.max(until);
        sum += item.end_ns.saturating_sub(begin);
        until = until.max(item.end_ns);
    }
    sum as f64
}
