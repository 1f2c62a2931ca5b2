//! A trace as a file for ui.perfetto.dev and chrome://tracing: JSON, in the Trace Event Format.
//!
//! | thread of the file | holds |
//! |---|---|
//! | `cycles` | a slice for each cycle; instant events for deadlines, missed and abandoned cycles |
//! | `worker 0`, `worker 1`, … | a slice for each step, wait and deferred piece; instant events `wake` and `sleep` |
//!
//! The file is written during playback, a part at a time. It is valid JSON up to the last part whatever happens: the last
//! bytes close the open brackets, and the next part overwrites them.
//!
//! Memory is bounded, and so is the file: when the [`SizeLimit`] for all cycles is reached, only missed and abandoned
//! cycles are written, up to a second limit.

use crate::{CycleTrace, Outcome, SliceKind, StepNames};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::Arc;
use units::Nanos;

/// Upper bounds on a file, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeLimit {
    /// For all cycles, from the first.
    pub all: u64,
    /// After that, for missed and abandoned cycles.
    pub missed: u64,
}

/// Cycles in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceFileStats {
    /// Number of cycles in the file.
    pub cycles: u64,
    /// Number of cycles beyond the limits.
    pub skipped: u64,
    /// Time since the begin of the trace from which only missed cycles are written; none if all are.
    pub full_at: Option<Nanos>,
}

/// A trace file that is written during playback.
pub struct TraceFile<W: Write + Seek> {
    out: W,
    /// Bytes that are not written yet.
    part: Vec<u8>,
    /// Position of the next part: over the closing bytes of the last.
    at: u64,
    room: SizeLimit,
    /// The steps that `heads` belong to.
    steps: Option<Arc<StepNames>>,
    /// For each step its name and kind, as JSON.
    heads: Vec<String>,
    workers: BTreeSet<u16>,
    stats: TraceFileStats,
    error: Option<io::Error>,
}

/// The closing bytes of a file.
const CLOSE: &[u8] = b"\n]}\n";
/// Size from which a part is written.
const PART_BYTES: usize = 256 << 10;
/// Thread id of the cycles; those of the workers follow.
const CYCLES_TID: u32 = 1;

impl<W: Write + Seek> TraceFile<W> {
    /// Creates a file; `about` describes the session.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn new(out: W, about: &str, room: SizeLimit) -> io::Result<Self> {
        let mut file = Self {
            out,
            part: Vec::with_capacity(PART_BYTES + PART_BYTES / 4),
            at: 0,
            room,
            steps: None,
            heads: Vec::new(),
            workers: BTreeSet::new(),
            stats: TraceFileStats::default(),
            error: None,
        };
        let about = json(about);
        file.part.extend_from_slice(b"{\"displayTimeUnit\":\"ns\",");
        file.raw(format!("\"otherData\":{{\"about\":{about}}},"));
        file.raw("\"traceEvents\":[\n");
        // Without a comma: the first event.
        let name = format!(
            "{{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{{\"name\":{about}}}}}"
        );
        file.raw(&name);
        file.write_thread(CYCLES_TID, "cycles");
        file.flush()?;
        Ok(file)
    }

    /// Writes a cycle, within the limits. An error is returned by [`finish`](Self::finish).
    pub fn write_cycle(&mut self, trace: &CycleTrace) {
        let length = self.at + self.part.len() as u64;
        let is_bad = trace.outcome != Outcome::InTime;
        let room = match self.stats.full_at {
            None => self.room.all,
            Some(_) if is_bad => self.room.all.saturating_add(self.room.missed),
            Some(_) => 0,
        };
        if self.error.is_some() || length + estimated_bytes(trace) > room {
            return self.skip(trace);
        }
        self.update_names(trace);
        self.write_events(trace);
        self.stats.cycles += 1;
        if self.part.len() >= PART_BYTES {
            self.error = self.flush().err();
        }
    }

    /// Cycles written so far.
    pub fn stats(&self) -> TraceFileStats {
        self.stats
    }

    /// Returns true if writing failed; then nothing more is written.
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Writes the last part.
    ///
    /// # Errors
    ///
    /// The file could not be written, now or before; it is valid up to there.
    pub fn finish(mut self) -> io::Result<TraceFileStats> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.flush()?;
        Ok(self.stats)
    }

    /// Counts a cycle beyond the limit for all cycles, or switches to missed cycles only.
    fn skip(&mut self, trace: &CycleTrace) {
        self.stats.skipped += 1;
        if self.stats.full_at.is_none() && self.error.is_none() {
            self.stats.full_at = Some(trace.begin);
            let text = "\"from here on: only missed cycles\"";
            self.write_instant(CYCLES_TID, trace.begin, text, 'g');
            if trace.outcome != Outcome::InTime {
                self.stats.skipped -= 1;
                self.write_cycle(trace);
            }
        }
    }

    /// Caches the names of a new plan's steps, and names the threads of new workers.
    fn update_names(&mut self, trace: &CycleTrace) {
        let is_known = |steps: &Arc<StepNames>| Arc::ptr_eq(steps, &trace.steps);
        if !self.steps.as_ref().is_some_and(is_known) {
            let steps = &trace.steps;
            let known = (0..steps.len()).filter_map(|i| Some((steps.name(i)?, steps.kind(i)?)));
            let heads = known.map(|(name, kind)| format!("{},\"cat\":{}", json(name), json(kind)));
            self.heads = heads.collect();
            self.steps = Some(trace.steps.clone());
        }
        let slices = trace.slices.iter().map(|slice| slice.worker);
        let worker_events = trace.worker_events.iter().map(|event| event.worker);
        for worker in slices.chain(worker_events) {
            if self.workers.insert(worker) {
                let more = if worker == 0 { " (callback)" } else { "" };
                self.write_thread(worker_tid(worker), &format!("worker {worker}{more}"));
            }
        }
    }

    /// Writes every event of a cycle.
    fn write_events(&mut self, trace: &CycleTrace) {
        self.write_cycle_slice(trace);
        for slice in &trace.slices {
            self.write_slice(slice.worker, (slice.from, slice.to), slice.kind);
        }
        // The callback thread is there in any case.
        for event in trace.worker_events.iter().filter(|event| event.worker > 0) {
            let name = if event.entered {
                "\"wake\""
            } else {
                "\"sleep\""
            };
            self.write_instant(worker_tid(event.worker), event.at, name, 't');
        }
        if let Some(deadline) = trace.deadline {
            self.write_instant(CYCLES_TID, deadline, "\"deadline\"", 't');
        }
        let what = match (trace.outcome, trace.is_incomplete) {
            (Outcome::InTime, false) => return,
            (Outcome::InTime, true) => "records dropped",
            (Outcome::Missed, _) => "missed",
            (Outcome::Abandoned, _) => "abandoned",
        };
        let text = match trace.blamed_name() {
            Some(name) => json(&format!("{what}: {name}")),
            None => json(what),
        };
        self.write_instant(CYCLES_TID, trace.end, &text, 'g');
    }

    /// Writes the cycle itself, and its duration as a curve.
    fn write_cycle_slice(&mut self, trace: &CycleTrace) {
        let CycleTrace {
            number,
            wakes: woken,
            takes,
            ..
        } = trace;
        let late = match trace.blamed_name() {
            Some(name) => format!(",\"late\":{}", json(name)),
            None => String::new(),
        };
        self.open_event('X', CYCLES_TID, trace.begin);
        self.raw(",\"dur\":");
        self.time(trace.duration());
        self.raw(format_args!(
            ",\"name\":\"cycle\",\"cat\":\"cycle\",\"args\":{{\"number\":{number},\"woken\":{woken},\"takes\":{takes}{late}}}}}"
        ));
        self.open_event('C', CYCLES_TID, trace.begin);
        self.raw(",\"name\":\"cycle time\",\"args\":{\"µs\":");
        self.time(trace.duration());
        self.raw("}}");
    }

    /// Writes a worker's slice.
    fn write_slice(&mut self, worker: u16, (from, to): (Nanos, Nanos), did: SliceKind) {
        self.open_event('X', worker_tid(worker), from);
        self.raw(",\"dur\":");
        self.time(Nanos(to.0.saturating_sub(from.0)));
        self.raw(",\"name\":");
        match did {
            SliceKind::Step(step) => match self.heads.get(step) {
                Some(head) => self.part.extend_from_slice(head.as_bytes()),
                None => self.raw("\"unknown\",\"cat\":\"\""),
            },
            SliceKind::ForkLane(step) => {
                let name = self.steps.as_ref().and_then(|steps| steps.name(step));
                let name = json(&format!("{}, a part", name.unwrap_or("unknown")));
                self.raw(format_args!("{name},\"cat\":\"part\""));
            }
            SliceKind::Start => self.raw("\"start\",\"cat\":\"start\""),
            SliceKind::DeferredPiece => self.raw("\"deferred piece\",\"cat\":\"deferred\""),
            SliceKind::Wait => self.raw("\"wait\",\"cat\":\"wait\""),
        }
        self.raw("}");
    }

    /// Writes an instant event; `name` is JSON. Scope `t`: its thread, `g`: all threads.
    fn write_instant(&mut self, tid: u32, at: Nanos, name: &str, scope: char) {
        self.open_event('i', tid, at);
        self.raw(format_args!(",\"s\":\"{scope}\",\"name\":{name}}}"));
    }

    /// Names a thread, and sets its position among them.
    fn write_thread(&mut self, tid: u32, name: &str) {
        let head = format!(",\n{{\"ph\":\"M\",\"pid\":1,\"tid\":{tid},\"name\":");
        let name = json(name);
        self.raw(format_args!(
            "{head}\"thread_name\",\"args\":{{\"name\":{name}}}}}"
        ));
        self.raw(format_args!(
            "{head}\"thread_sort_index\",\"args\":{{\"sort_index\":{tid}}}}}"
        ));
    }

    /// Writes the fields that all events have.
    fn open_event(&mut self, phase: char, tid: u32, at: Nanos) {
        self.raw(format_args!(
            ",\n{{\"ph\":\"{phase}\",\"pid\":1,\"tid\":{tid},\"ts\":"
        ));
        self.time(at);
    }

    /// Writes a time in microseconds, exact to the nanosecond.
    fn time(&mut self, time: Nanos) {
        let (us, ns) = (time.0 / 1000, time.0 % 1000);
        self.raw(format_args!("{us}.{ns:03}"));
    }

    fn raw(&mut self, text: impl Display) {
        let written = write!(self.part, "{text}");
        written.expect("memory takes every byte");
    }

    /// Writes the part over the closing bytes, and closes the file again.
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

/// Thread id of a worker.
fn worker_tid(worker: u16) -> u32 {
    CYCLES_TID + 1 + u32::from(worker)
}

/// Estimated bytes of a cycle.
fn estimated_bytes(trace: &CycleTrace) -> u64 {
    (trace.slices.len() + trace.worker_events.len() + 8) as u64 * 100
}

/// Upper bound on characters of a name: a hostile session must not fill the memory.
const MAX_NAME: usize = 80;

/// Text as JSON.
fn json(text: &str) -> String {
    let text: String = match text.chars().nth(MAX_NAME) {
        Some(_) => text.chars().take(MAX_NAME - 1).chain(['…']).collect(),
        None => text.to_owned(),
    };
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
