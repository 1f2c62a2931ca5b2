//! A cycle as a Gantt chart: a row for each worker.

use crate::{CycleTrace, Outcome, Slice, SliceKind};
use draw::{GanttBar, GanttChart, GanttMarker, GanttRow, MarkerKind, NodeClass};
use units::Nanos;

impl CycleTrace {
    /// The cycle as lanes, for [`draw::gantt`]: time counts from its begin. `about` says what played.
    pub fn gantt(&self, about: &str) -> GanttChart {
        let took = self.duration();
        let mut title = format!("Cycle {}: {took}", self.number);
        let deadline_ns = self.deadline.map(|at| at.0.saturating_sub(self.begin.0));
        if let Some(deadline) = deadline_ns {
            title += &format!(" of {}", Nanos(deadline));
        }
        if self.outcome == Outcome::Missed {
            title += match self.blamed {
                Some(_) => ", missed",
                None => ", missed by no one node",
            };
        }
        if self.outcome == Outcome::Abandoned {
            title += ", abandoned";
        }
        let slices = self.slices.iter().map(|slice| slice.worker);
        let worker_events = self.worker_events.iter().map(|event| event.worker);
        let last = slices.chain(worker_events).max().unwrap_or(0);
        GanttChart {
            title,
            note: self.note(about),
            rows: (0..=last).map(|worker| self.lane(worker)).collect(),
            arrows: Vec::new(),
            markers: self.marks(),
            deadline_ns,
        }
    }

    fn note(&self, about: &str) -> String {
        let mut notes = vec![about.to_owned()];
        if let Some(name) = self.blamed_name() {
            notes.push(match self.outcome {
                Outcome::Abandoned => format!("`{name}` did not return"),
                _ => format!("`{name}` took much longer than usual"),
            });
        }
        let (woken, takes) = (self.wakes, self.takes);
        notes.push(format!("{woken} woken, {takes} takes from shared queues"));
        notes.retain(|note| !note.is_empty());
        notes.join(" · ")
    }

    /// The work of one worker. Waits stay empty.
    fn lane(&self, worker: u16) -> GanttRow {
        let own = self.slices.iter().filter(|slice| slice.worker == worker);
        let did = own.filter(|slice| slice.kind != SliceKind::Wait);
        let name = match worker {
            0 => "worker 0 (callback)".to_owned(),
            _ => format!("worker {worker}"),
        };
        GanttRow {
            name,
            bars: did.map(|slice| self.boxed(slice)).collect(),
        }
    }

    fn boxed(&self, slice: &Slice) -> GanttBar {
        let (critical, hue) = match slice.kind {
            SliceKind::Step(step) | SliceKind::ForkLane(step) => {
                (self.blamed == Some(step), self.steps.hue(step))
            }
            _ => (false, NodeClass::Other),
        };
        GanttBar {
            label: self.slice_name(slice).to_owned(),
            start_ns: slice.from.0.saturating_sub(self.begin.0),
            end_ns: slice.to.0.saturating_sub(self.begin.0),
            critical,
            copy: false,
            class: hue,
        }
    }

    fn marks(&self) -> Vec<GanttMarker> {
        let worker_events = self.worker_events.iter().filter(|event| event.worker > 0);
        let mut marks: Vec<GanttMarker> = worker_events
            .map(|event| {
                let (what, label) = match event.entered {
                    true => (MarkerKind::Wake, "came into the cycle"),
                    false => (MarkerKind::Sleep, "left the cycle"),
                };
                GanttMarker {
                    row: Some(event.worker.into()),
                    time_ns: event.at.0.saturating_sub(self.begin.0),
                    kind: what,
                    label: label.to_owned(),
                }
            })
            .collect();
        if self.outcome != Outcome::InTime {
            marks.push(GanttMarker {
                row: None,
                time_ns: self.duration().0,
                kind: MarkerKind::Miss,
                label: "the cycle ended here".to_owned(),
            });
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{StepNames, WorkerEvent};
    use std::sync::Arc;

    fn slice(worker: u16, did: SliceKind, from: u64, to: u64) -> Slice {
        Slice {
            worker,
            kind: did,
            from: Nanos(from),
            to: Nanos(to),
        }
    }

    #[test]
    fn a_cycle_has_a_lane_a_worker_a_box_a_step_and_its_time_from_its_begin() {
        let event = WorkerEvent {
            worker: 1,
            at: Nanos(5400),
            entered: true,
        };
        let trace = CycleTrace {
            number: 7,
            begin: Nanos(5000),
            end: Nanos(7500),
            deadline: Some(Nanos(7000)),
            outcome: Outcome::Missed,
            blamed: Some(1),
            wakes: 1,
            takes: 2,
            is_incomplete: false,
            slices: vec![
                slice(0, SliceKind::Step(0), 5000, 5300),
                slice(0, SliceKind::Wait, 5300, 7400),
                slice(1, SliceKind::Step(1), 5400, 7400),
                slice(1, SliceKind::DeferredPiece, 7400, 7500),
            ],
            worker_events: vec![event],
            steps: Arc::new(StepNames::from_names(["osc <1>", "reverb"])),
        };
        let lanes = trace.gantt("session.toml");
        assert_eq!(lanes.title, "Cycle 7: 2.5 µs of 2 µs, missed");
        assert_eq!(
            lanes.note,
            "session.toml · `reverb` took much longer than usual · 1 woken, 2 takes from shared queues"
        );
        assert_eq!(lanes.deadline_ns, Some(2000));
        let boxes: Vec<_> = lanes.rows.iter().map(|lane| lane.bars.len()).collect();
        assert_eq!(boxes, [1, 2]);
        let late = &lanes.rows[1].bars[0];
        assert_eq!(
            (late.start_ns, late.end_ns, late.critical),
            (400, 2400, true)
        );
        assert_eq!(lanes.markers.len(), 2);
        let picture = draw::gantt(&lanes).svg();
        assert!(picture.contains("reverb") && picture.contains("osc &lt;1&gt;"));
    }
}
