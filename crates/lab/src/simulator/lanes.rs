//! Static schedules: each worker runs its list (lane) in order and waits for inputs from other lanes.
//!
//! No clock is needed: a task's start follows from the end of the task before it in its lane and from those of its inputs.
//! So lanes are replayed in turn, each as far as its inputs are known, until none gets further. A task that has a copy on
//! its own lane (CPFD) waits for that one, else for the copy that ends first.

use super::costs::{At, MoveCosts, Prediction, Time, time};
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
        ends: vec![Vec::new(); lanes.len()],
        free: (0..lanes.len())
            .map(|lane| moves.start_time(lanes.len(), lane))
            .collect(),
        copies,
    };
    let mut has_progress = true;
    while has_progress {
        has_progress = false;
        for (lane, tasks) in lanes.iter().enumerate() {
            while let Some(task) = tasks.get(replay.ends[lane].len()) {
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
    ends: Vec<Vec<Time>>,
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
                .find(|copy| copy.lane == lane && copy.at < self.ends[lane].len());
            if own.is_some() {
                continue;
            }
            let known = copies
                .iter()
                .filter_map(|copy| self.ends[copy.lane].get(copy.at));
            let Some(end) = known.min() else {
                return false;
            };
            start = start.max(*end);
            bytes = Some(bytes.unwrap_or(0_u32).saturating_add(arc.bytes));
        }
        let fetched = bytes.map_or(0, |bytes| self.moves.transfer_time(bytes));
        let cost = time(self.moves.dispatch) + time(self.dag.cost(task).0 as f64);
        let end = start + fetched + cost;
        self.ends[lane].push(end);
        self.free[lane] = end;
        true
    }

    /// The result, once every task is done.
    fn prediction(&self) -> Prediction {
        let ends = self.ends.iter().enumerate();
        let ends =
            ends.filter_map(|(lane, ends)| Some(ends.last()? + self.moves.time_to_first(lane)));
        let end = ends.max().unwrap_or(0);
        self.moves.prediction(self.dag, self.ends.len(), end, 0)
    }
}
