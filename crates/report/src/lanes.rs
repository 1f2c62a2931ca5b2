//! A cycle as a picture: a lane for each worker.

use crate::show::span;
use crate::{Course, Did, Fate, Slice};
use draw::{Hue, Lane, LaneBox, Lanes, Mark, MarkKind};

impl Course {
    /// The cycle as lanes, for [`draw::schedule`]: time counts from its begin. `about` says what played.
    pub fn lanes(&self, about: &str) -> Lanes {
        let took = span(self.took().0 as f64);
        let mut title = format!("Cycle {}: {took}", self.number);
        let deadline_ns = self.deadline.map(|at| at.0.saturating_sub(self.begin.0));
        if let Some(deadline) = deadline_ns {
            title += &format!(" of {}", span(deadline as f64));
        }
        if self.fate == Fate::Missed {
            title += match self.blamed {
                Some(_) => ", missed",
                None => ", missed by no one node",
            };
        }
        let slices = self.slices.iter().map(|slice| slice.worker);
        let visits = self.visits.iter().map(|visit| visit.worker);
        let last = slices.chain(visits).max().unwrap_or(0);
        Lanes {
            title,
            note: self.note(about),
            lanes: (0..=last).map(|worker| self.lane(worker)).collect(),
            crossings: Vec::new(),
            marks: self.marks(),
            deadline_ns,
        }
    }

    fn note(&self, about: &str) -> String {
        let mut notes = vec![about.to_owned()];
        if let Some(name) = self.blamed_name() {
            notes.push(format!("`{name}` took much longer than usual"));
        }
        let (woken, takes) = (self.woken, self.takes);
        notes.push(format!("{woken} woken, {takes} takes from shared queues"));
        notes.retain(|note| !note.is_empty());
        notes.join(" · ")
    }

    /// What one worker did. Waits stay empty.
    fn lane(&self, worker: u16) -> Lane {
        let own = self.slices.iter().filter(|slice| slice.worker == worker);
        let did = own.filter(|slice| slice.did != Did::Wait);
        let name = match worker {
            0 => "worker 0 (callback)".to_owned(),
            _ => format!("worker {worker}"),
        };
        Lane {
            name,
            boxes: did.map(|slice| self.boxed(slice)).collect(),
        }
    }

    fn boxed(&self, slice: &Slice) -> LaneBox {
        let (critical, hue) = match slice.did {
            Did::Step(step) | Did::Lane(step) => (self.blamed == Some(step), self.steps.hue(step)),
            _ => (false, Hue::Aside),
        };
        LaneBox {
            label: self.name(slice).to_owned(),
            start_ns: slice.from.0.saturating_sub(self.begin.0),
            end_ns: slice.to.0.saturating_sub(self.begin.0),
            critical,
            copy: false,
            hue,
        }
    }

    fn marks(&self) -> Vec<Mark> {
        let visits = self.visits.iter().filter(|visit| visit.worker > 0);
        let mut marks: Vec<Mark> = visits
            .map(|visit| {
                let (what, label) = match visit.came {
                    true => (MarkKind::Wake, "came into the cycle"),
                    false => (MarkKind::Sleep, "left the cycle"),
                };
                Mark {
                    lane: Some(visit.worker.into()),
                    at_ns: visit.at.0.saturating_sub(self.begin.0),
                    what,
                    label: label.to_owned(),
                }
            })
            .collect();
        if self.fate == Fate::Missed {
            marks.push(Mark {
                lane: None,
                at_ns: self.took().0,
                what: MarkKind::Miss,
                label: "the cycle ended here".to_owned(),
            });
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Steps, Visit};
    use std::sync::Arc;
    use units::Nanos;

    fn slice(worker: u16, did: Did, from: u64, to: u64) -> Slice {
        Slice {
            worker,
            did,
            from: Nanos(from),
            to: Nanos(to),
        }
    }

    #[test]
    fn a_cycle_has_a_lane_a_worker_a_box_a_step_and_its_time_from_its_begin() {
        let visit = Visit {
            worker: 1,
            at: Nanos(5400),
            came: true,
        };
        let course = Course {
            number: 7,
            begin: Nanos(5000),
            end: Nanos(7500),
            deadline: Some(Nanos(7000)),
            fate: Fate::Missed,
            blamed: Some(1),
            woken: 1,
            takes: 2,
            is_holed: false,
            slices: vec![
                slice(0, Did::Step(0), 5000, 5300),
                slice(0, Did::Wait, 5300, 7400),
                slice(1, Did::Step(1), 5400, 7400),
                slice(1, Did::Piece, 7400, 7500),
            ],
            visits: vec![visit],
            steps: Arc::new(Steps::named(["osc <1>", "reverb"])),
        };
        let lanes = course.lanes("session.toml");
        assert_eq!(lanes.title, "Cycle 7: 2.5 µs of 2.0 µs, missed");
        assert_eq!(
            lanes.note,
            "session.toml · `reverb` took much longer than usual · 1 woken, 2 takes from shared queues"
        );
        assert_eq!(lanes.deadline_ns, Some(2000));
        let boxes: Vec<_> = lanes.lanes.iter().map(|lane| lane.boxes.len()).collect();
        assert_eq!(boxes, [1, 2]);
        let late = &lanes.lanes[1].boxes[0];
        assert_eq!(
            (late.start_ns, late.end_ns, late.critical),
            (400, 2400, true)
        );
        assert_eq!(lanes.marks.len(), 2);
        let picture = draw::schedule(&lanes).svg();
        assert!(picture.contains("reverb") && picture.contains("osc &lt;1&gt;"));
    }
}
