//! Files read back as JSON and compared with the trace.

use super::*;
use crate::Tracer;
use crate::fixtures::record;
use plan::TraceEvent;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;

const WHOLE: SizeLimit = SizeLimit {
    all: u64::MAX,
    missed: 0,
};

/// Two workers, 4 steps a cycle, a wait and a deferred piece; every tenth cycle step 2 takes 10 µs longer than it may.
fn play(cycles: u32, names: [&str; 4], tell: &mut dyn FnMut(&CycleTrace)) -> Tracer {
    let mut tracer = Tracer::new(StepNames::from_names(names), Some(Nanos(10_000)), Nanos);
    for cycle in 0..cycles {
        let begin = 5_000 + u64::from(cycle) * 20_000;
        let late = if cycle % 10 == 9 { 10_000 } else { 0 };
        let records = [
            (0, 0, TraceEvent::CycleBegin, 1),
            (0, 10, TraceEvent::Enter, 0),
            (0, 1010, TraceEvent::Step, 0),
            (0, 2010, TraceEvent::Step, 1),
            (0, 2020, TraceEvent::Wait, 0),
            (0, 3400 + late, TraceEvent::CycleEnd, 2),
            (1, 900, TraceEvent::Enter, 0),
            (1, 910, TraceEvent::Wait, 0),
            (1, 1100, TraceEvent::Resume, 0),
            (1, 1500, TraceEvent::DeferredPiece, 0),
            (1, 1500, TraceEvent::Wait, 0),
            (1, 1520, TraceEvent::Resume, 0),
            (1, 1580, TraceEvent::ForkLane, 1),
            (1, 1580, TraceEvent::Wait, 0),
            (1, 1600, TraceEvent::Resume, 0),
            (1, 2400 + late, TraceEvent::Step, 2),
            (1, 3300 + late, TraceEvent::Step, 3),
            (1, 3500 + late, TraceEvent::Leave, 0),
        ];
        for (worker, after, mark, index) in records {
            tracer.feed(record(cycle, (worker, begin + after, mark, index)));
        }
        tracer.end_pass_with(0, Some(tell));
    }
    tracer.end_pass_with(0, Some(tell));
    tracer
}

/// The file of so many cycles, and what it came to.
fn file(cycles: u32, names: [&str; 4], room: SizeLimit) -> (String, TraceFileStats) {
    let mut bytes = Cursor::new(Vec::new());
    let mut file = TraceFile::new(&mut bytes, "a \"session\"", room).unwrap();
    play(cycles, names, &mut |trace| file.write_cycle(trace));
    let written = file.finish().unwrap();
    (String::from_utf8(bytes.into_inner()).unwrap(), written)
}

fn events(text: &str) -> Vec<Value> {
    let whole: Value = serde_json::from_str(text).unwrap();
    whole["traceEvents"].as_array().unwrap().clone()
}

fn named<'a>(events: &'a [Value], name: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["name"] == name)
}

fn is(event: &Value, phase: &str) -> bool {
    event["ph"] == phase
}

/// Nanoseconds, exactly.
fn ns(time: &Value) -> u64 {
    (time.as_f64().unwrap() * 1000.0).round() as u64
}

#[test]
fn a_file_is_read_back_with_a_slice_for_each_step_and_no_two_of_a_lane_overlap() {
    let names = ["a", "b", "\"c\"\n\\\u{1b}[2J", "ß"];
    let (text, written) = file(100, names, WHOLE);
    assert_eq!((written.cycles, written.skipped), (100, 0));
    let events = events(&text);
    let mut lanes = BTreeMap::<u64, Vec<(u64, u64)>>::new();
    let mut called = BTreeMap::<String, u32>::new();
    for event in events.iter().filter(|event| is(event, "X")) {
        let from = ns(&event["ts"]);
        let lane = lanes.entry(event["tid"].as_u64().unwrap()).or_default();
        lane.push((from, from + ns(&event["dur"])));
        *called
            .entry(event["name"].as_str().unwrap().to_owned())
            .or_default() += 1;
    }
    for lane in lanes.values_mut() {
        lane.sort_unstable();
        assert!(
            lane.windows(2).all(|pair| pair[0].1 <= pair[1].0),
            "{lane:?}"
        );
    }
    assert_eq!(lanes.keys().copied().collect::<Vec<_>>(), [1, 2, 3]);
    for name in names.into_iter().chain(["cycle", "deferred piece"]) {
        assert_eq!(called[name], 100, "{name}");
    }
    // Worker 0 waits once a cycle, worker 1 before and after what it does for others.
    assert_eq!(called["wait"], 400);
    assert_eq!((called["start"], called["b, a part"]), (100, 100));
}

#[test]
fn marks_tell_of_waking_sleeping_deadlines_and_the_node_that_was_late() {
    let (text, _) = file(100, ["a", "b", "slow \"one\"", "d"], WHOLE);
    let events = events(&text);
    let mut marks = BTreeMap::<&str, u32>::new();
    for event in events.iter().filter(|event| is(event, "i")) {
        *marks.entry(event["name"].as_str().unwrap()).or_default() += 1;
    }
    let counts = [("wake", 100), ("sleep", 100), ("deadline", 100)];
    for (name, count) in counts {
        assert_eq!(marks[name], count, "{name}");
    }
    assert_eq!(marks["missed: slow \"one\""], 10, "{marks:?}");
    let names = named(&events, "thread_name").map(|event| &event["args"]["name"]);
    let names: Vec<_> = names.collect();
    assert_eq!(names, ["cycles", "worker 0 (callback)", "worker 1"]);
    let slices = events.iter().filter(|event| is(event, "X"));
    let late = slices.filter(|event| event["args"].get("late").is_some());
    assert_eq!(late.count(), 10);
}

/// Checks an event against the Trace Event Format. Returns its thread, if it has one.
fn lane_of(event: &Value) -> Option<u64> {
    let name = event["name"].as_str().expect("an event has a name");
    assert_eq!(event["pid"].as_u64(), Some(1), "{event}");
    let time = |key: &str| {
        let time = event[key]
            .as_f64()
            .expect("times are numbers, in microseconds");
        assert!(time.is_finite() && time >= 0.0, "{event}");
    };
    match event["ph"].as_str().expect("an event has a phase") {
        "M" => {
            let args = &event["args"];
            match name {
                "process_name" => assert!(args["name"].is_string()),
                "thread_name" => assert!(event["tid"].is_u64() && args["name"].is_string()),
                "thread_sort_index" => {
                    assert!(event["tid"].is_u64() && args["sort_index"].is_u64())
                }
                other => panic!("no metadata: {other}"),
            }
            return None;
        }
        "X" => {
            time("dur");
            assert!(event["cat"].is_string(), "{event}");
        }
        "i" => assert!(["t", "p", "g"].iter().any(|scope| event["s"] == *scope)),
        "C" => {
            let series = event["args"].as_object().expect("a counter has its values");
            assert!(!series.is_empty() && series.values().all(Value::is_number));
        }
        other => panic!("no phase: {other}"),
    }
    time("ts");
    Some(event["tid"].as_u64().expect("an event has a lane"))
}

#[test]
fn every_field_is_as_the_trace_event_format_has_it_and_slices_nest() {
    let names = ["a", "b", "\"c\"\n\\\u{1b}[2J", "ß"];
    let (text, _) = file(100, names, WHOLE);
    let whole: Value = serde_json::from_str(&text).unwrap();
    assert!(whole["displayTimeUnit"] == "ns" && whole["otherData"].is_object());
    let (mut named, mut used) = (BTreeSet::new(), BTreeSet::new());
    let mut open = BTreeMap::<u64, Vec<u64>>::new();
    let mut begun = BTreeMap::<u64, u64>::new();
    for event in whole["traceEvents"].as_array().unwrap() {
        if event["name"] == "thread_name" {
            assert!(named.insert(event["tid"].as_u64().unwrap()), "named once");
        }
        let Some(lane) = lane_of(event) else { continue };
        used.insert(lane);
        if !is(event, "X") {
            continue;
        }
        let (from, to) = (ns(&event["ts"]), ns(&event["ts"]) + ns(&event["dur"]));
        let last = begun.insert(lane, from).unwrap_or(0);
        assert!(last <= from, "a lane goes forward: {event}");
        let around = open.entry(lane).or_default();
        while around.last().is_some_and(|end| *end <= from) {
            around.pop();
        }
        assert!(around.last().is_none_or(|end| to <= *end), "{event}");
        around.push(to);
    }
    assert_eq!(used, named, "every lane has its name");
}

#[test]
fn a_full_file_keeps_what_was_missed_and_then_nothing() {
    let names = ["a", "b", "c", "d"];
    let (whole, _) = file(20, names, WHOLE);
    let all = whole.len() as u64;
    let missed = all / 4;
    let (text, written) = file(400, names, SizeLimit { all, missed });
    let full = written.full_at.expect("it is full");
    let len = text.len() as u64;
    assert!(len <= all + missed + 200, "{len} of {all}");
    assert_eq!(written.cycles + written.skipped, 400);
    let events = events(&text);
    let after = named(&events, "cycle").filter(|event| is(event, "X"));
    let after: Vec<_> = after.filter(|event| ns(&event["ts"]) >= full.0).collect();
    assert!(!after.is_empty() && after.iter().all(|cycle| cycle["args"]["late"] == "c"));
    let said = named(&events, "from here on: only missed cycles");
    assert_eq!(said.count(), 1);
}

#[test]
fn whatever_happens_the_file_is_whole_up_to_its_last_part() {
    let mut bytes = Cursor::new(Vec::new());
    let mut file = TraceFile::new(&mut bytes, "", WHOLE).unwrap();
    play(3000, ["a", "b", "c", "d"], &mut |trace| {
        file.write_cycle(trace)
    });
    // Nobody ends it.
    drop(file);
    let text = String::from_utf8(bytes.into_inner()).unwrap();
    let cycles = named(&events(&text), "cycle").count();
    assert!((2000..3000).contains(&cycles), "{cycles}");
}

#[test]
fn a_cycle_with_dropped_records_has_no_slices_rather_than_wrong_ones() {
    let mut bytes = Cursor::new(Vec::new());
    let mut file = TraceFile::new(&mut bytes, "", WHOLE).unwrap();
    let mut tracer = Tracer::new(StepNames::from_names(["a", "b"]), None, Nanos);
    for (at, mark, index) in [
        (0, TraceEvent::CycleBegin, 0),
        (90, TraceEvent::Step, 1),
        (99, TraceEvent::CycleEnd, 0),
    ] {
        tracer.feed(record(0, (0, at, mark, index)));
    }
    tracer.end_pass(1);
    tracer.end_pass_with(1, Some(&mut |trace| file.write_cycle(trace)));
    file.finish().unwrap();
    let events = events(std::str::from_utf8(bytes.get_ref()).unwrap());
    let slices = events.iter().filter(|event| is(event, "X"));
    let names: Vec<_> = slices.map(|event| &event["name"]).collect();
    assert_eq!(names, ["cycle"]);
    assert_eq!(named(&events, "records dropped").count(), 1);
}

/// A disk that is full after so many bytes.
struct Disk(u64, Cursor<Vec<u8>>);

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.1.position() + bytes.len() as u64 > self.0 {
            true => Err(io::Error::other("no space left")),
            false => self.1.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Disk {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.1.seek(to)
    }
}

#[test]
fn a_full_disk_is_told_at_the_end_and_nothing_more_is_written() {
    let mut file = TraceFile::new(Disk(1000, Cursor::default()), "", WHOLE).unwrap();
    play(3000, ["a", "b", "c", "d"], &mut |trace| {
        file.write_cycle(trace)
    });
    assert!(file.has_failed() && file.stats().skipped > 0);
    assert_eq!(file.finish().unwrap_err().to_string(), "no space left");
}
