//! What stands around the lanes: title, axis, deadline, legend.

use super::MarkerKind;
use super::marks::{MOST_CROSSINGS, MOST_MARKS, sign};
use super::sheet::{Seen, Sheet, TOP, is_near, last_ns};
use crate::ink;
use crate::picture::{Anchor, Look, Pen, Picture, bold, plain};
use crate::ticks;

impl Sheet<'_> {
    pub(super) fn head(&self, picture: &mut Picture) {
        let room = self.width - 48.0;
        let title = bold(15.0).fit(&self.all.title, room);
        picture.text((24.0, 28.0), &title, bold(15.0), ink::DARK, Anchor::Start);
        let mut notes: Vec<String> = vec![self.all.note.clone()];
        if let Some(deadline) = self.all.deadline_ns
            && !is_near(deadline, last_ns(self.all))
        {
            notes.push(format!("deadline after {}", ticks::span(deadline as f64)));
        }
        let hidden = self.all.rows.len() - self.lanes.len();
        if hidden > 0 {
            notes.push(format!("{hidden} more lanes are not drawn"));
        }
        if self.all.arrows.len() > MOST_CROSSINGS {
            let count = self.all.arrows.len();
            notes.push(format!("{count} messages between lanes are not drawn"));
        }
        if self.all.markers.len() > MOST_MARKS {
            let hidden = self.all.markers.len() - MOST_MARKS;
            notes.push(format!("{hidden} more marks are not drawn"));
        }
        notes.retain(|note| !note.is_empty());
        let note = plain(11.5).fit(&notes.join(" · "), room);
        picture.text((24.0, 46.0), &note, plain(11.5), ink::FAINT, Anchor::Start);
    }

    pub(super) fn axis(&self, picture: &mut Picture) {
        let bottom = self.bottom() + 8.0;
        let end_us = self.end_ns / 1e3;
        let (values, step) = ticks::linear(0.0, end_us, 10);
        for value in values {
            let x = self.left + value / end_us * (self.right - self.left);
            picture.line((x, TOP - 6.0), (x, bottom), Pen::solid(ink::GRID, 1.0));
            let words = ticks::number(value, step);
            picture.text(
                (x, bottom + 15.0),
                &words,
                plain(11.0),
                ink::FAINT,
                Anchor::Middle,
            );
        }
        let ends = ((self.left, bottom), (self.right, bottom));
        picture.line(ends.0, ends.1, Pen::solid(ink::AXIS, 1.0));
        let unit = (self.right + 12.0, bottom + 15.0);
        picture.text(unit, "µs", plain(11.0), ink::FAINT, Anchor::Start);
    }

    pub(super) fn deadline(&self, picture: &mut Picture) {
        let Some(deadline) = self.all.deadline_ns else {
            return;
        };
        if !is_near(deadline, last_ns(self.all)) {
            return;
        }
        let x = self.x(deadline);
        let pen = Pen::dashed(ink::ALARM, 1.5, (5.0, 3.0));
        picture.line((x, TOP - 8.0), (x, self.bottom() + 8.0), pen);
        let words = format!("deadline {}", ticks::span(deadline as f64));
        let half = plain(11.0).width(&words) / 2.0;
        let x = x.clamp(half + 4.0, self.width - half - 4.0);
        picture.text(
            (x, TOP - 12.0),
            &words,
            plain(11.0),
            ink::ALARM,
            Anchor::Middle,
        );
    }

    pub(super) fn legend(&self, picture: &mut Picture, seen: &Seen) {
        let y = self.height - 16.0;
        let mut x = self.left;
        let mut say = |words: &str, draw: &dyn Fn(&mut Picture, f64)| {
            draw(picture, x);
            picture.text((x + 20.0, y), words, plain(11.0), ink::FAINT, Anchor::Start);
            x += 20.0 + plain(11.0).width(words) + 20.0;
        };
        let sample = |pen: Pen| {
            move |picture: &mut Picture, x: f64| {
                let look = Look::both(ink::BLUE.fill, pen);
                picture.rect((x, y - 9.0), (14.0, 11.0), 2.0, look);
            }
        };
        if seen.critical {
            say("critical path", &sample(Pen::solid(ink::ALARM, 2.0)));
        }
        if seen.copy {
            say(
                "copy",
                &sample(Pen::dashed(ink::BLUE.line, 1.25, (4.0, 3.0))),
            );
        }
        if seen.together {
            say("many short tasks", &|picture, x| {
                picture.rect((x, y - 9.0), (14.0, 11.0), 0.0, Look::filled(ink::WIRE));
            });
        }
        if seen.crossing {
            say("message", &|picture, x| {
                picture.line((x, y - 9.0), (x + 13.0, y), Pen::solid(ink::FAINT, 0.8));
                picture.circle((x + 13.0, y), 1.8, Look::filled(ink::FAINT));
            });
        }
        let marks = [
            (seen.wake, MarkerKind::Wake, "wakes"),
            (seen.sleep, MarkerKind::Sleep, "sleeps"),
            (seen.miss, MarkerKind::Miss, "misses"),
            (seen.note, MarkerKind::Note, "note"),
        ];
        for (_, what, words) in marks.into_iter().filter(|mark| mark.0) {
            say(words, &|picture, x| sign(picture, (x + 7.0, y - 4.0), what));
        }
    }
}
