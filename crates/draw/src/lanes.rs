//! Who ran what when: a lane a core or worker, a box a task, time from left to right. Serves schedules and traced cycles.

use crate::ink::{self, Pair};
use crate::picture::{Anchor, Look, Pen, Picture, Verb, bold, plain};
use crate::ticks;

/// A schedule, or one cycle as it ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lanes {
    /// What it is, in a few words.
    pub title: String,
    /// What else is to be said: makespan, scheduler, cores. May be empty.
    pub note: String,
    /// From top to bottom.
    pub lanes: Vec<Lane>,
    /// What is sent from lane to lane. Drawn where there are few.
    pub crossings: Vec<Crossing>,
    /// What happened at a moment.
    pub marks: Vec<Mark>,
    /// When all must be done, in ns after the beginning.
    pub deadline_ns: Option<u64>,
}

/// One core or worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lane {
    /// Its name.
    pub name: String,
    /// What it runs, in any order.
    pub boxes: Vec<LaneBox>,
}

/// One task, or one step as it ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaneBox {
    /// What is run.
    pub label: String,
    /// When it begins, in ns after the beginning of all.
    pub start_ns: u64,
    /// When it is done.
    pub end_ns: u64,
    /// Whether it is on the critical path.
    pub critical: bool,
    /// Whether it is a second copy of what runs elsewhere too.
    pub copy: bool,
    /// Its colour.
    pub hue: Hue,
}

/// What colour a box has: the colours that a graph's picture has for the same sort of node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hue {
    /// One in, one out; and whatever is nothing else.
    #[default]
    Effect,
    /// A source.
    Source,
    /// A mix or a split.
    Join,
    /// A delay.
    Delay,
    /// A sink.
    Sink,
    /// Work of a lower priority, deferred pieces, overhead.
    Aside,
}

/// A message from a box's end to another's begin, by lane number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// Where and when it is sent.
    pub from: (usize, u64),
    /// Where and when it is needed.
    pub to: (usize, u64),
}

/// Something that happened at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// On which lane, by number; on all of them if none.
    pub lane: Option<usize>,
    /// When, in ns after the beginning.
    pub at_ns: u64,
    /// What.
    pub what: MarkKind,
    /// Words for who points at it.
    pub label: String,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKind {
    /// A worker woke.
    Wake,
    /// A worker went to sleep.
    Sleep,
    /// A deadline was missed.
    Miss,
    /// Something else.
    Note,
}

/// More lanes than this are not drawn.
const MOST_LANES: usize = 256;
/// More messages than this are only counted.
const MOST_CROSSINGS: usize = 200;
/// More marks than this are only counted.
const MOST_MARKS: usize = 4000;
/// Boxes narrower than this, in pixels, are drawn together with their neighbours.
const NARROW: f64 = 0.8;
const TOP: f64 = 64.0;
const RIGHT: f64 = 74.0;
const LEGEND: f64 = 30.0;

/// A schedule, or a traced cycle, as lanes over a time axis in µs. What is idle stays empty; the critical path has a
/// heavy border, copies a dashed one.
pub fn schedule(lanes: &Lanes) -> Picture {
    let sheet = Sheet::of(lanes);
    let about = format!("{}: {} lanes", lanes.title, lanes.lanes.len());
    let mut picture = Picture::new(sheet.width, sheet.height, &about);
    picture.is_for_night = true;
    sheet.head(&mut picture);
    sheet.axis(&mut picture);
    let mut seen = Seen::default();
    for (i, lane) in sheet.lanes.iter().enumerate() {
        sheet.lane(&mut picture, i, lane, &mut seen);
    }
    sheet.crossings(&mut picture, &mut seen);
    sheet.deadline(&mut picture);
    sheet.marks(&mut picture, &mut seen);
    sheet.legend(&mut picture, &seen);
    picture
}

/// What there is of each sort, for the legend.
#[derive(Default)]
struct Seen {
    critical: bool,
    copy: bool,
    crossing: bool,
    together: bool,
    wake: bool,
    sleep: bool,
    miss: bool,
    note: bool,
}

/// Where everything is.
struct Sheet<'a> {
    all: &'a Lanes,
    lanes: &'a [Lane],
    /// Where time 0 is.
    left: f64,
    /// Where the last moment is.
    right: f64,
    end_ns: f64,
    lane_height: f64,
    pitch: f64,
    width: f64,
    height: f64,
}

impl<'a> Sheet<'a> {
    fn of(all: &'a Lanes) -> Self {
        let lanes = &all.lanes[..all.lanes.len().min(MOST_LANES)];
        let names = lanes.iter().map(|lane| plain(12.0).width(&name(lane)));
        let left = 24.0 + names.fold(24.0, f64::max) + 12.0;
        let last = last_ns(all);
        let end_ns = match all.deadline_ns {
            Some(deadline) if is_near(deadline, last) => last.max(deadline as f64) * 1.02,
            _ => last,
        };
        let most = lanes.iter().map(|lane| lane.boxes.len()).max().unwrap_or(0);
        let field = (most as f64 * 22.0).clamp(760.0, 2400.0);
        let (lane_height, pitch) = match lanes.len() {
            0..=16 => (40.0, 56.0),
            17..=48 => (22.0, 30.0),
            _ => (12.0, 16.0),
        };
        let lanes_height = lanes.len().max(1) as f64 * pitch;
        Self {
            all,
            lanes,
            left,
            right: left + field,
            end_ns: end_ns.max(1.0),
            lane_height,
            pitch,
            width: left + field + RIGHT,
            height: TOP + lanes_height + 40.0 + LEGEND,
        }
    }

    fn x(&self, ns: u64) -> f64 {
        self.left + (ns as f64 / self.end_ns).min(1.0) * (self.right - self.left)
    }

    fn y(&self, lane: usize) -> f64 {
        TOP + lane as f64 * self.pitch
    }

    fn bottom(&self) -> f64 {
        self.y(self.lanes.len().max(1)) - (self.pitch - self.lane_height)
    }

    fn head(&self, picture: &mut Picture) {
        let room = self.width - 48.0;
        let title = bold(15.0).fit(&self.all.title, room);
        picture.text((24.0, 28.0), &title, bold(15.0), ink::DARK, Anchor::Start);
        let mut notes: Vec<String> = vec![self.all.note.clone()];
        if let Some(deadline) = self.all.deadline_ns
            && !is_near(deadline, last_ns(self.all))
        {
            notes.push(format!("deadline after {}", ticks::span(deadline as f64)));
        }
        let hidden = self.all.lanes.len() - self.lanes.len();
        if hidden > 0 {
            notes.push(format!("{hidden} more lanes are not drawn"));
        }
        if self.all.crossings.len() > MOST_CROSSINGS {
            let count = self.all.crossings.len();
            notes.push(format!("{count} messages between lanes are not drawn"));
        }
        if self.all.marks.len() > MOST_MARKS {
            let hidden = self.all.marks.len() - MOST_MARKS;
            notes.push(format!("{hidden} more marks are not drawn"));
        }
        notes.retain(|note| !note.is_empty());
        let note = plain(11.5).fit(&notes.join(" · "), room);
        picture.text((24.0, 46.0), &note, plain(11.5), ink::FAINT, Anchor::Start);
    }

    fn axis(&self, picture: &mut Picture) {
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

    /// A lane with its boxes, and at its right how much of the time it is busy.
    fn lane(&self, picture: &mut Picture, i: usize, lane: &Lane, seen: &mut Seen) {
        let (y, height) = (self.y(i), self.lane_height);
        let size = (self.right - self.left, height);
        picture.rect((self.left, y), size, 3.0, Look::filled(ink::IDLE));
        let font = plain(if height > 20.0 { 12.0 } else { 9.0 });
        let middle = y + height / 2.0 + font.size * 0.35;
        let at = (self.left - 12.0, middle);
        picture.text(at, &name(lane), font, ink::DARK, Anchor::End);
        let mut boxes: Vec<&LaneBox> = lane.boxes.iter().collect();
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
    fn narrow(&self, boxes: &[&LaneBox]) -> usize {
        let begin = self.x(boxes[0].start_ns);
        let is_in = |item: &&&LaneBox| {
            let (x0, x1) = (self.x(item.start_ns), self.x(item.end_ns));
            x1 - x0 < NARROW && x0 - begin < NARROW
        };
        boxes.iter().take_while(is_in).count()
    }

    fn together(&self, picture: &mut Picture, y: f64, boxes: &[&LaneBox]) {
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

    fn task(&self, picture: &mut Picture, y: f64, item: &LaneBox) {
        let (x, end) = (self.x(item.start_ns), self.x(item.end_ns));
        let width = (end - x).max(NARROW);
        let pair = pair(item.hue);
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

    fn label(&self, picture: &mut Picture, (x, y): (f64, f64), room: f64, item: &LaneBox) {
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

    fn crossings(&self, picture: &mut Picture, seen: &mut Seen) {
        if self.all.crossings.len() > MOST_CROSSINGS {
            return;
        }
        let is_there =
            |c: &&Crossing| c.from.0.max(c.to.0) < self.lanes.len() && c.from.0 != c.to.0;
        for crossing in self.all.crossings.iter().filter(is_there) {
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

    fn deadline(&self, picture: &mut Picture) {
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

    fn marks(&self, picture: &mut Picture, seen: &mut Seen) {
        for mark in self.all.marks.iter().take(MOST_MARKS) {
            let x = self.x(mark.at_ns);
            let y = match mark.lane {
                Some(lane) if lane < self.lanes.len() => self.y(lane) + self.lane_height,
                Some(_) => continue,
                None => self.bottom() + 8.0,
            };
            match mark.what {
                MarkKind::Wake => seen.wake = true,
                MarkKind::Sleep => seen.sleep = true,
                MarkKind::Miss => seen.miss = true,
                MarkKind::Note => seen.note = true,
            }
            picture.open(format!(
                "{} at {}",
                mark.label,
                ticks::span(mark.at_ns as f64)
            ));
            sign(picture, (x, y), mark.what);
            picture.close();
        }
    }

    fn legend(&self, picture: &mut Picture, seen: &Seen) {
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
            (seen.wake, MarkKind::Wake, "wakes"),
            (seen.sleep, MarkKind::Sleep, "sleeps"),
            (seen.miss, MarkKind::Miss, "misses"),
            (seen.note, MarkKind::Note, "note"),
        ];
        for (_, what, words) in marks.into_iter().filter(|mark| mark.0) {
            say(words, &|picture, x| sign(picture, (x + 7.0, y - 4.0), what));
        }
    }
}

/// The sign of a mark, with its middle at `at`.
fn sign(picture: &mut Picture, (x, y): (f64, f64), what: MarkKind) {
    let triangle = |tip: f64| [(x - 4.0, y - tip), (x + 4.0, y - tip), (x, y + tip)];
    match what {
        MarkKind::Wake => {
            let look = Look::both(ink::GREEN.line, Pen::solid(ink::GREEN.line, 1.0));
            picture.polyline(&triangle(-4.0), look);
        }
        MarkKind::Sleep => {
            let look = Look::both(ink::SHEET, Pen::solid(ink::VIOLET.line, 1.2));
            picture.polyline(&triangle(4.0), look);
        }
        MarkKind::Miss => {
            let cross = vec![
                Verb::Move(x - 4.0, y - 4.0),
                Verb::Line(x + 4.0, y + 4.0),
                Verb::Move(x - 4.0, y + 4.0),
                Verb::Line(x + 4.0, y - 4.0),
            ];
            picture.path(cross, Look::drawn(Pen::solid(ink::ALARM, 2.2)));
        }
        MarkKind::Note => picture.circle((x, y), 3.0, Look::filled(ink::AMBER.line)),
    }
}

fn pair(hue: Hue) -> Pair {
    match hue {
        Hue::Effect => ink::BLUE,
        Hue::Source => ink::GREEN,
        Hue::Join => ink::AMBER,
        Hue::Delay => ink::PINK,
        Hue::Sink => ink::VIOLET,
        Hue::Aside => ink::GREY,
    }
}

fn story(item: &LaneBox) -> String {
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

fn name(lane: &Lane) -> String {
    plain(12.0).fit(&lane.name, 150.0)
}

/// How much of the time at least one of `boxes`, sorted by their begin, runs.
fn busy_ns(boxes: &[&LaneBox]) -> f64 {
    let (mut sum, mut until) = (0, 0);
    for item in boxes {
        let begin = item.start_ns.max(until);
        sum += item.end_ns.saturating_sub(begin);
        until = until.max(item.end_ns);
    }
    sum as f64
}

/// When the last box is done; at least 1.
fn last_ns(all: &Lanes) -> f64 {
    let boxes = all.lanes.iter().flat_map(|lane| &lane.boxes);
    let ends = boxes.map(|item| item.end_ns.max(item.start_ns));
    let marks = all.marks.iter().map(|mark| mark.at_ns);
    ends.chain(marks).max().unwrap_or(1).max(1) as f64
}

/// Whether a deadline can be drawn without making the rest small.
fn is_near(deadline_ns: u64, last_ns: f64) -> bool {
    deadline_ns as f64 <= last_ns * 1.6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(label: &str, start_ns: u64, end_ns: u64) -> LaneBox {
        LaneBox {
            label: label.into(),
            start_ns,
            end_ns,
            ..LaneBox::default()
        }
    }

    fn lane(boxes: Vec<LaneBox>) -> Lane {
        let name = "core 0".into();
        Lane { name, boxes }
    }

    #[test]
    fn every_task_and_mark_is_drawn_with_what_it_is() {
        let mut first = task("osc & <co>", 0, 4000);
        first.critical = true;
        let mut second = task("mix", 5000, 9000);
        second.copy = true;
        let all = Lanes {
            title: "etf".into(),
            lanes: vec![lane(vec![first]), lane(vec![second])],
            crossings: vec![Crossing {
                from: (0, 4000),
                to: (1, 5000),
            }],
            marks: vec![Mark {
                lane: Some(1),
                at_ns: 4800,
                what: MarkKind::Wake,
                label: "wakes".into(),
            }],
            deadline_ns: Some(10_000),
            ..Lanes::default()
        };
        let svg = schedule(&all).svg();
        for words in [
            "osc &amp; &lt;co&gt;",
            "critical path",
            "a copy",
            "wakes at 4.8 µs",
            "message",
        ] {
            assert!(svg.contains(words), "{words}");
        }
        assert!(svg.contains("deadline 10 µs") && svg.contains("44 % busy"));
        assert_eq!(svg, schedule(&all).svg());
    }

    #[test]
    fn a_hundred_thousand_tasks_make_no_larger_a_picture_than_the_sheet_has_room_for() {
        let boxes = (0..100_000)
            .map(|i| task("n", i * 10, i * 10 + 9))
            .collect();
        let lanes = vec![lane(boxes)];
        let picture = schedule(&Lanes {
            lanes,
            ..Lanes::default()
        });
        assert!(picture.items.len() < 20_000);
        assert!(picture.svg().contains("many short tasks"));
    }

    #[test]
    fn nonsense_is_drawn_without_nonsense() {
        let mut all = Lanes::default();
        assert!(schedule(&all).svg().ends_with("</svg>\n"));
        all.title = "\u{0}\u{202e}x".repeat(9000);
        all.lanes = vec![lane(vec![task("back", 900, 100), task("late", 0, u64::MAX)]); 1000];
        all.marks.push(Mark {
            lane: Some(5000),
            at_ns: u64::MAX,
            what: MarkKind::Miss,
            label: String::new(),
        });
        all.deadline_ns = Some(0);
        let svg = schedule(&all).svg();
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert!(svg.contains("744 more lanes"));
    }
}
