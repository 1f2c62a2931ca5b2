//! A trace as a file that ui.perfetto.dev and chrome://tracing open: JSON trace events.
//!
//! A lane (a thread, as they call it) for the cycles with their deadlines, and one for each worker; a slice for each step,
//! wait and deferred piece; marks where workers wake and sleep, and where a cycle was missed or given up.
//!
//! The file is written while it plays, a part at a time, and whatever happens it is whole up to the last part: its last
//! bytes close what is open, and the next part is written over them. Memory does not grow, and the file has a bound:
//! when the [`SizeLimit`] for all cycles is used up, only those go in that were missed or given up, into a room of their own.

use crate::{CycleTrace, Outcome, SliceKind, StepNames};
use std::collections::BTreeSet;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::Arc;
use units::Nanos;

/// How much a file may hold, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeLimit {
    /// Of all cycles, from the first.
    pub all: u64,
    /// And after that, of those that were missed or given up.
    pub missed: u64,
}

/// What a file has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceFileStats {
    /// Cycles that are in it.
    pub cycles: u64,
    /// Cycles that found no room.
    pub skipped: u64,
    /// When it began to keep only missed cycles, since the trace began; none if it has all.
    pub full_at: Option<Nanos>,
}

/// A trace that is written while it plays.
pub struct TraceFile<W: Write + Seek> {
    out: W,
    /// What is not written yet.
    part: Vec<u8>,
    /// Where the next part goes: over the closing bytes of the last.
    at: u64,
    room: SizeLimit,
    /// The steps that `heads` are of.
    steps: Option<Arc<StepNames>>,
    /// For each step its name and kind, as JSON.
    heads: Vec<String>,
    workers: BTreeSet<u16>,
    stats: TraceFileStats,
    broke: Option<io::Error>,
}

/// What stands at the end of a whole file.
const CLOSE: &[u8] = b"\n]}\n";
/// How large a part grows before it is written.
const PART: usize = 256 << 10;
/// The lane of cycles. The first worker's comes next.
const CYCLES: u32 = 1;

impl<W: Write + Seek> TraceFile<W> {
    /// Begins a file; `about` says what plays, for people.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn new(out: W, about: &str, room: SizeLimit) -> io::Result<Self> {
        let mut file = Self {
            out,
            part: Vec::with_capacity(PART + PART / 4),
            at: 0,
            room,
            steps: None,
            heads: Vec::new(),
            workers: BTreeSet::new(),
            stats: TraceFileStats::default(),
            broke: None,
        };
        let about = json(about);
        file.part.extend_from_slice(b"{\"displayTimeUnit\":\"ns\",");
        file.raw(&format!("\"otherData\":{{\"about\":{about}}},"));
        file.raw("\"traceEvents\":[\n");
        // Without a comma: the first event.
        let name = format!(
            "{{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{{\"name\":{about}}}}}"
        );
        file.raw(&name);
        file.lane(CYCLES, "cycles");
        file.flush()?;
        Ok(file)
    }

    /// Puts a cycle in, if there is room. Whether anything went wrong is said at the [`end`](Self::end).
    pub fn write_cycle(&mut self, course: &CycleTrace) {
        let length = self.at + self.part.len() as u64;
        let is_bad = course.outcome != Outcome::InTime;
        let room = match self.stats.full_at {
            None => self.room.all,
            Some(_) if is_bad => self.room.all.saturating_add(self.room.missed),
            Some(_) => 0,
        };
        if self.broke.is_some() || length + bytes(course) > room {
            return self.leave_out(course);
        }
        self.learn(course);
        self.events(course);
        self.stats.cycles += 1;
        if self.part.len() >= PART {
            self.broke = self.flush().err();
        }
    }

    /// What has been written so far.
    pub fn stats(&self) -> TraceFileStats {
        self.stats
    }

    /// Whether it takes no more because writing failed.
    pub fn has_failed(&self) -> bool {
        self.broke.is_some()
    }

    /// Writes the last part.
    ///
    /// # Errors
    ///
    /// The file could not be written, now or before; it is whole up to there.
    pub fn finish(mut self) -> io::Result<TraceFileStats> {
        if let Some(error) = self.broke.take() {
            return Err(error);
        }
        self.flush()?;
        Ok(self.stats)
    }

    fn leave_out(&mut self, course: &CycleTrace) {
        self.stats.skipped += 1;
        if self.stats.full_at.is_none() && self.broke.is_none() {
            self.stats.full_at = Some(course.begin);
            let said = "\"from here on: only missed cycles\"";
            self.mark(CYCLES, course.begin, said, 'g');
            if course.outcome != Outcome::InTime {
                self.stats.skipped -= 1;
                self.write_cycle(course);
            }
        }
    }

    /// Learns the names of a plan's steps and gives new workers their lanes.
    fn learn(&mut self, course: &CycleTrace) {
        let is_known = |steps: &Arc<StepNames>| Arc::ptr_eq(steps, &course.steps);
        if !self.steps.as_ref().is_some_and(is_known) {
            let steps = &course.steps;
            let known = (0..steps.len()).filter_map(|i| Some((steps.name(i)?, steps.kind(i)?)));
            let heads = known.map(|(name, kind)| format!("{},\"cat\":{}", json(name), json(kind)));
            self.heads = heads.collect();
            self.steps = Some(course.steps.clone());
        }
        let slices = course.slices.iter().map(|slice| slice.worker);
        let visits = course.visits.iter().map(|visit| visit.worker);
        for worker in slices.chain(visits) {
            if self.workers.insert(worker) {
                let more = if worker == 0 { " (callback)" } else { "" };
                self.lane(lane(worker), &format!("worker {worker}{more}"));
            }
        }
    }

    fn events(&mut self, course: &CycleTrace) {
        self.whole(course);
        for slice in &course.slices {
            self.slice(slice.worker, (slice.from, slice.to), slice.kind);
        }
        // The callback thread is there in any case.
        for visit in course.visits.iter().filter(|visit| visit.worker > 0) {
            let name = if visit.entered {
                "\"wake\""
            } else {
                "\"sleep\""
            };
            self.mark(lane(visit.worker), visit.at, name, 't');
        }
        if let Some(deadline) = course.deadline {
            self.mark(CYCLES, deadline, "\"deadline\"", 't');
        }
        let what = match (course.outcome, course.is_incomplete) {
            (Outcome::InTime, false) => return,
            (Outcome::InTime, true) => "records dropped",
            (Outcome::Missed, _) => "missed",
            (Outcome::Abandoned, _) => "abandoned",
        };
        let said = match course.blamed_name() {
            Some(name) => json(&format!("{what}: {name}")),
            None => json(what),
        };
        self.mark(CYCLES, course.end, &said, 'g');
    }

    /// The cycle itself, and its time as a curve.
    fn whole(&mut self, course: &CycleTrace) {
        let CycleTrace {
            number,
            wakes: woken,
            takes,
            ..
        } = course;
        let late = match course.blamed_name() {
            Some(name) => format!(",\"late\":{}", json(name)),
            None => String::new(),
        };
        self.open('X', CYCLES, course.begin);
        self.raw(",\"dur\":");
        self.time(course.duration());
        self.raw(&format!(
            ",\"name\":\"cycle\",\"cat\":\"cycle\",\"args\":{{\"number\":{number},\"woken\":{woken},\"takes\":{takes}{late}}}}}"
        ));
        self.open('C', CYCLES, course.begin);
        self.raw(",\"name\":\"cycle time\",\"args\":{\"µs\":");
        self.time(course.duration());
        self.raw("}}");
    }

    fn slice(&mut self, worker: u16, (from, to): (Nanos, Nanos), did: SliceKind) {
        self.open('X', lane(worker), from);
        self.raw(",\"dur\":");
        self.time(Nanos(to.0.saturating_sub(from.0)));
        self.raw(",\"name\":");
        match did {
            SliceKind::Step(step) => match self.heads.get(step) {
                Some(head) => self.part.extend_from_slice(head.as_bytes()),
                None => self.raw("\"unknown\",\"cat\":\"\""),
            },
            SliceKind::Lane(step) => {
                let name = self.steps.as_ref().and_then(|steps| steps.name(step));
                let name = json(&format!("{}, a part", name.unwrap_or("unknown")));
                self.raw(&format!("{name},\"cat\":\"part\""));
            }
            SliceKind::Start => self.raw("\"start\",\"cat\":\"start\""),
            SliceKind::Piece => self.raw("\"deferred piece\",\"cat\":\"deferred\""),
            SliceKind::Wait => self.raw("\"wait\",\"cat\":\"wait\""),
        }
        self.raw("}");
    }

    /// A mark in a lane; `name` is JSON. Its scope `t` is the lane, `g` all of them.
    fn mark(&mut self, lane: u32, at: Nanos, name: &str, scope: char) {
        self.open('i', lane, at);
        self.raw(&format!(",\"s\":\"{scope}\",\"name\":{name}}}"));
    }

    /// Names a lane, and keeps lanes in their order.
    fn lane(&mut self, lane: u32, name: &str) {
        let head = format!(",\n{{\"ph\":\"M\",\"pid\":1,\"tid\":{lane},\"name\":");
        let name = json(name);
        self.raw(&format!(
            "{head}\"thread_name\",\"args\":{{\"name\":{name}}}}}"
        ));
        self.raw(&format!(
            "{head}\"thread_sort_index\",\"args\":{{\"sort_index\":{lane}}}}}"
        ));
    }

    /// The part that all events have.
    fn open(&mut self, phase: char, lane: u32, at: Nanos) {
        self.raw(",\n{\"ph\":\"");
        self.part.push(phase as u8);
        self.raw("\",\"pid\":1,\"tid\":");
        self.number(lane.into());
        self.raw(",\"ts\":");
        self.time(at);
    }

    /// Microseconds, exact to the nanosecond.
    fn time(&mut self, time: Nanos) {
        self.number(time.0 / 1000);
        let rest = time.0 % 1000;
        let digits = [rest / 100, rest / 10 % 10, rest % 10].map(|digit| b'0' + digit as u8);
        self.part.push(b'.');
        self.part.extend_from_slice(&digits);
    }

    fn number(&mut self, mut number: u64) {
        let mut digits = [0; 20];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.part.extend_from_slice(&digits[first..]);
    }

    fn raw(&mut self, text: &str) {
        self.part.extend_from_slice(text.as_bytes());
    }

    /// Writes what there is, over what closed the file, and closes it again.
    fn flush(&mut self) -> io::Result<()> {
        let length = self.part.len() as u64;
        self.part.extend_from_slice(CLOSE);
        self.out.seek(SeekFrom::Start(self.at))?;
        self.out.write_all(&self.part)?;
        self.out.flush()?;
        self.at += length;
        self.part.clear();
        Ok(())
    }
}

/// The lane of a worker.
fn lane(worker: u16) -> u32 {
    CYCLES + 1 + u32::from(worker)
}

/// What a cycle takes, about.
fn bytes(course: &CycleTrace) -> u64 {
    (course.slices.len() + course.visits.len() + 8) as u64 * 100
}

/// Names longer than this are cut: what a hostile file calls its nodes must not fill the memory.
const LONGEST: usize = 80;

/// Text as JSON.
fn json(text: &str) -> String {
    let text: String = match text.chars().nth(LONGEST) {
        Some(_) => text.chars().take(LONGEST - 1).chain(['…']).collect(),
        None => text.to_owned(),
    };
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
