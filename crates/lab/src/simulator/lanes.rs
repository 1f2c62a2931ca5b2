//! Static schedules: each worker runs its lane in order and waits for what comes from others.

use super::costs::{At, MoveCosts, Prediction};
use super::world::{Time, time};
use divisi::plan::{Dag, Schedule, TaskId};

/// Where one copy of a task stands.
#[derive(Clone, Copy)]
struct Copy {
    lane: usize,
    at: usize,
}

/// Plays a schedule; tasks may have copies on several lanes.
pub(super) fn play(dag: &Dag, moves: &MoveCosts, schedule: &Schedule) -> Prediction {
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
            .map(|lane| starts(moves, lanes.len(), lane))
            .collect(),
        copies,
    };
    let mut moved = true;
    while moved {
        moved = false;
        for (lane, tasks) in lanes.iter().enumerate() {
            while let Some(task) = tasks.get(replay.over[lane].len()) {
                if !replay.run(lane, *task) {
                    break;
                }
                moved = true;
            }
        }
    }
    replay.predicted()
}

struct Replay<'a> {
    dag: &'a Dag,
    moves: &'a MoveCosts,
    /// By lane: when each of its tasks so far was over, and when it is free.
    over: Vec<Vec<Time>>,
    free: Vec<Time>,
    copies: Vec<Vec<Copy>>,
}

impl Replay<'_> {
    /// Runs the next task of a lane if all that it waits for is known.
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

    fn predicted(&self) -> Prediction {
        let seen = time(self.moves.link.transfer_time(0).0 as f64);
        let ends = self.over.iter().enumerate().filter_map(|(lane, over)| {
            let seen = if lane == 0 { 0 } else { seen };
            Some(over.last()? + seen)
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

/// When the worker of a lane begins: the first wakes the others, one after another.
fn starts(moves: &MoveCosts, lanes: usize, lane: usize) -> Time {
    let (wake, woken) = moves.wake;
    match lane {
        0 => time(wake) * (lanes as u64 - 1),
        _ if woken > 0.0 => time(wake) * lane as u64 + time(woken),
        _ => time(moves.link.transfer_time(0).0 as f64),
    }
}
