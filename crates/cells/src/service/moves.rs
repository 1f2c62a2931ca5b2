//! Moves of cores by measured need, while the cells play.

use super::CellService;
use super::govern::{CellMoved, CoreMove, Measured};
use super::served::{CellState, ServedCell};
use crate::monitor::Order;
use crate::policy::Policy;
use crate::section::CellSpec;
use std::sync::mpsc::TryRecvError;
use std::time::{Duration, Instant};
use units::Nanos;

/// Time between two looks: the monitor measures the load as often.
const INTERVAL: Duration = Duration::from_millis(100);

impl CellService {
    /// Moves cores between cells by what they were measured to need. Gives the move that has been made, if there is one. To be
    /// called often; it looks every tenth of a second.
    ///
    /// Real-time: setup.
    pub fn govern(&mut self) -> Option<CellMoved> {
        let goal = self.options.goal?;
        if let Some(moved) = self.finish_move() {
            return Some(moved);
        }
        let began = *self.mover.began.get_or_insert_with(Instant::now);
        let is_due = self.mover.last.is_none_or(|it| it.elapsed() >= INTERVAL);
        if self.mover.under_way.is_some() || self.pending.is_some() || !is_due {
            return None;
        }
        self.mover.last = Some(Instant::now());
        let now = Nanos(began.elapsed().as_nanos() as u64);
        let measured: Vec<Measured> = self.cells.iter_mut().filter_map(measure).collect();
        let moves = self.mover.governor.look(&measured, goal, now);
        for next in moves {
            if self.try_move(&next) {
                break;
            }
        }
        None
    }

    /// Orders a move, if it is admitted.
    fn try_move(&mut self, next: &CoreMove) -> bool {
        let found = self.cells.iter().position(|it| it.index == next.index);
        let Some(at) = found else {
            return false;
        };
        let spec = CellSpec {
            cores: next.cores.clone(),
            ..self.cells[at].spec.clone()
        };
        // Nobody is stopped for it.
        if !self
            .admit(&spec, Some(at))
            .is_ok_and(|yields| yields.is_empty())
        {
            return false;
        }
        let (sender, done) = std::sync::mpsc::channel();
        self.monitor
            .order(Order::Resize(next.index, next.cores.clone(), sender));
        self.mover.under_way = Some((next.clone(), done));
        true
    }

    fn finish_move(&mut self) -> Option<CellMoved> {
        let (next, done) = self.mover.under_way.take()?;
        let result = match done.try_recv() {
            Err(TryRecvError::Empty) => {
                self.mover.under_way = Some((next, done));
                return None;
            }
            result => result.unwrap_or_else(|_| Err("the cells have ended".to_owned())),
        };
        // Also a move that was refused is not tried again at once.
        self.mover.governor.made(next.index);
        let cell = self.cells.iter_mut().find(|it| it.index == next.index)?;
        let from = cell.spec.cores.clone();
        let is_made = result.is_ok();
        if is_made {
            cell.spec.cores.clone_from(&next.cores);
            cell.moves += 1;
        }
        Some(CellMoved {
            cell: cell.spec.name.clone(),
            from,
            to: next.cores,
            why: result.err().unwrap_or(next.why),
            is_made,
        })
    }
}

/// Measurements of a cell that plays.
fn measure(cell: &mut ServedCell) -> Option<Measured> {
    if cell.state() != CellState::Playing {
        return None;
    }
    let taken = cell.status.take_response();
    cell.response = taken.or(cell.response);
    let machine = workers::cores();
    let is_there = |core: &&usize| machine.iter().any(|it| it.0 == **core);
    Some(Measured {
        index: cell.index,
        cores: cell.spec.cores.clone(),
        pool: cell.spec.pool.iter().filter(is_there).copied().collect(),
        target: cell.spec.target,
        precedence: cell.spec.precedence,
        load: cell.status.load(),
        response: cell.response,
        is_alone: cell.spec.policy == Policy::Exclusive,
    })
}
