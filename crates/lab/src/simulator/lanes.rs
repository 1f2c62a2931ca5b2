//! Static schedules: each worker runs its list (lane) in order and waits for inputs from other lanes.

use super::costs::{At, MoveCosts, Prediction};
use super::event_loop::{Time, time};
use divisi::plan::{Dag, Schedule, TaskId};

/// Position of a copy of a task.
#[derive(Clone, Copy)]
struct Copy {
    lane: usize,
    at: usize,
}

/// Simulates a schedule; tasks may have copies on several lanes.
pub(super) fn simulate(dag: &Dag, moves: &MoveCosts, schedule: &Schedule) -> Prediction {
    let lanes: Vec<Vec<TaskId>> = schedule.task_order();
    let lanes: Vec<Vec<TaskId>> = lanes.into_iter().filter(|lane| !lane.is_empty()).collect();
    let mut copies: Vec<Vec<Copy>> = vec![Vec::new(); dag.len()];
    for (lane, tasks) in lanes.iter().enumerate() {
        for (at, task) in tasks.iter().enumerate() {
            copies[task.at()].push(Copy { lane, at });
        }
    }
    let mut replay = Replay {
        dag,
        moves,
        over: lanes
            .iter()
            .map(|lane| Vec::with_capacity(lane.len()))
            .collect(),
        free: (0..lanes.len())
            .map(|lane| start_time(moves, lanes.len(), lane))
            .collect(),
        copies,
    };
    let mut has_progress = true;
    while has_progress {
        has_progress = false;
        for (lane, tasks) in lanes.iter().enumerate() {
            while let Some(task) = tasks.get(replay.over[lane].len()) {
                if !replay.run(lane, *task) {
                    break;
                }
                has_progress = true;
            }
        }
    }
    replay.prediction()
}

struct Replay<'a> {
    dag: &'a Dag,
    moves: &'a MoveCosts,
    /// By lane: end of each task so far, and the time from which the lane is free.
    over: Vec<Vec<Time>>,
    free: Vec<Time>,
    copies: Vec<Vec<Copy>>,
}

impl Replay<'_> {
    /// Runs the next task of a lane if its inputs are done. Returns false if not.
    fn run(&mut self, lane: usize, task: TaskId) -> bool {
        let mut start = self.free[lane];
        let mut bytes = None;
        for arc in self.dag.predecessors(task) {
            let copies = &self.copies[arc.task.at()];
            let own = copies
                .iter()
                .find(|copy| copy.lane == lane && copy.at < self.over[lane].len());
            if own.is_some() {
                continue;
            }
            let known = copies
                .iter()
                .filter_map(|copy| self.over[copy.lane].get(copy.at));
            let Some(over) = known.min() else {
                return false;
            };
            start = start.max(*over);
            bytes = Some(bytes.unwrap_or(0_u32).saturating_add(arc.bytes));
        }
        let fetched = bytes.map_or(0, |bytes| {
            time(self.moves.link.transfer_time(bytes).0 as f64)
        });
        let cost = time(self.moves.dispatch) + time(self.dag.cost(task).0 as f64);
        let over = start + fetched + cost;
        self.over[lane].push(over);
        self.free[lane] = over;
        true
    }

    /// The result, once every task is done.
    fn prediction(&self) -> Prediction {
        let visible = time(self.moves.link.transfer_time(0).0 as f64);
        let ends = self.over.iter().enumerate().filter_map(|(lane, over)| {
            let visible = if lane == 0 { 0 } else { visible };
            Some(over.last()? + visible)
        });
        let all = ends.max().unwrap_or(0) as f64 / 1000.0;
        let busy = self.dag.total_cost().0 as f64;
        Prediction {
            cycle_ns: all + self.moves.cycle,
            takes: 0,
            busy: busy / (all * self.over.len() as f64).max(1.0),
        }
    }
}

/// Start of a lane's worker: the first wakes the others, one after another.
fn start_time(moves: &MoveCosts, lanes: usize, lane: usize) -> Time {
    let (wake, woken) = moves.wake;
    match lane {
        0 => time(wake) * (lanes as u64 - 1),
        _ if woken > 0.0 => time(wake) * lane as u64 + time(woken),
        _ => time(moves.link.transfer_time(0).0 as f64),
    }
}
