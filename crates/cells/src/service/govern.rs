//! [`Governor`]: how many cores each cell has, by what it was measured to need. It decides; the service carries out.
//!
//! ```text
//!            above its target for GROW_AFTER                       below it on one core less for SHRINK_AFTER
//!   n cores ────────────────────────────────▶ n + 1       n cores ──────────────────────────────────────────▶ n - 1
//! ```
//!
//! A core is given back late and only if there is room to spare, so that no load makes it go to and fro. A cell without
//! a free core takes one from a cell of lower precedence that has more than its fewest.

use crate::target::{Goal, Target};
use std::sync::mpsc::Receiver;
use std::time::Instant;
use units::Nanos;

/// A cell that has other cores now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellMoved {
    /// Its name.
    pub cell: String,
    /// Cores that it had.
    pub from: Vec<usize>,
    /// Cores that it has.
    pub to: Vec<usize>,
    /// The reason, or what the system refused.
    pub why: String,
    /// False if the system refused it.
    pub is_made: bool,
}

/// Memory of the service's moves.
#[derive(Default)]
pub(super) struct Mover {
    pub(super) governor: Governor,
    pub(super) began: Option<Instant>,
    pub(super) last: Option<Instant>,
    /// A move under way: the cell's number, its new cores, the reason.
    pub(super) under_way: Option<(CoreMove, Receiver<Result<(), String>>)>,
}

/// Time above the target before a cell gets a core.
const GROW_AFTER: Nanos = Nanos(500_000_000);
/// Time with room to spare before it gives one back.
const SHRINK_AFTER: Nanos = Nanos(5_000_000_000);
/// Part of the target below which there is room to spare.
const SPARE: f64 = 0.8;

/// Measurements of a cell, and its cores.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// Number with the monitor, which stays.
    pub(crate) index: usize,
    pub(crate) cores: Vec<usize>,
    /// Cores that it may get, and that the machine has.
    pub(crate) pool: Vec<usize>,
    pub(crate) target: Target,
    pub(crate) precedence: u8,
    /// Cores used, as time over time.
    pub(crate) load: f64,
    /// p99 of its response as a share of a block, if it is known.
    pub(crate) response: Option<f64>,
    /// No other cell may have its cores.
    pub(crate) is_alone: bool,
}

impl Measured {
    fn is_above(&self) -> bool {
        let is_loaded = self.load > self.target.load_or_default() * self.cores.len() as f64;
        is_loaded || (self.response.zip(self.target.response)).is_some_and(|(is, may)| is > may)
    }

    fn is_spare(&self) -> bool {
        let fewer = self.cores.len().saturating_sub(1) as f64;
        let is_light = self.load < SPARE * self.target.load_or_default() * fewer;
        is_light
            && (self.response.zip(self.target.response)).is_none_or(|(is, may)| is < SPARE * may)
    }

    fn bounds(&self) -> (usize, usize) {
        let (min, max) = self
            .target
            .cores
            .unwrap_or((self.cores.len(), self.cores.len()));
        (min, max.min(self.pool.len()))
    }
}

/// A cell that is to have other cores.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CoreMove {
    pub(crate) index: usize,
    pub(crate) cores: Vec<usize>,
    pub(crate) why: String,
}

/// Since when a cell is above its target, and since when it has room to spare.
#[derive(Clone, Copy, Debug, Default)]
struct Since {
    above: Option<Nanos>,
    spare: Option<Nanos>,
}

/// The past of the cells, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Governor {
    since: std::collections::HashMap<usize, Since>,
}

impl Governor {
    /// Looks at all cells that play. Gives moves in the order in which they are to be tried; the first that is admitted is
    /// made, and told by [`Self::made`].
    pub(crate) fn look(&mut self, cells: &[Measured], goal: Goal, now: Nanos) -> Vec<CoreMove> {
        for cell in cells {
            let since = self.since.entry(cell.index).or_default();
            since.above = cell.is_above().then(|| since.above.unwrap_or(now));
            since.spare = cell.is_spare().then(|| since.spare.unwrap_or(now));
        }
        self.since
            .retain(|index, _| cells.iter().any(|it| it.index == *index));
        let lasts = |since: Option<Nanos>, limit: Nanos| {
            since.is_some_and(|it| now.0.saturating_sub(it.0) >= limit.0)
        };
        let mut order: Vec<&Measured> = cells.iter().collect();
        order.sort_by_key(|it| std::cmp::Reverse(it.precedence));
        let mut moves = Vec::new();
        for cell in &order {
            let needs = lasts(self.since[&cell.index].above, GROW_AFTER);
            if cell.cores.len() < cell.bounds().1 && (needs || goal == Goal::Headroom) {
                moves.extend(grow(cell, cells, needs, goal));
            }
        }
        for cell in order.iter().rev() {
            let can = goal == Goal::FewestCores && cell.cores.len() > cell.bounds().0;
            if can && lasts(self.since[&cell.index].spare, SHRINK_AFTER) {
                let load = cell.load;
                moves.push(shrink(cell, None, format!("it uses {load:.2} cores")));
            }
        }
        moves
    }

    /// A move was made: what is measured of the cell begins anew.
    pub(crate) fn made(&mut self, index: usize) {
        self.since.remove(&index);
    }
}

/// Moves that give `cell` one core more: to a free one, or first one that another cell gives.
fn grow(cell: &Measured, cells: &[Measured], needs: bool, goal: Goal) -> Vec<CoreMove> {
    let others = || cells.iter().filter(|it| it.index != cell.index);
    let has = |core: &usize| others().filter(|it| it.cores.contains(core)).count();
    let is_free = |core: &&usize| {
        let is_taken = others().any(|it| it.cores.contains(core) && (it.is_alone || cell.is_alone));
        !cell.cores.contains(core) && !is_taken
    };
    let mut free: Vec<usize> = cell.pool.iter().filter(is_free).copied().collect();
    match goal {
        // A core that is awake anyway, if there is room; admission says so.
        Goal::FewestCores => free.sort_by_key(|core| std::cmp::Reverse(has(core).min(1))),
        Goal::Headroom => free.sort_by_key(has),
    }
    // Room for nothing in particular is taken on cores that nobody has.
    free.retain(|core| needs || has(core) == 0);
    let why = match cell.response.zip(cell.target.response) {
        _ if !needs => "the core is idle".to_owned(),
        Some((is, may)) if is > may => {
            format!("p99 of its response is {is:.2} of a block, the target {may}")
        }
        _ => format!(
            "it uses {:.2} of {} cores, the target is {}",
            cell.load,
            cell.cores.len(),
            cell.target.load_or_default()
        ),
    };
    let with = |core: usize| CoreMove {
        index: cell.index,
        cores: cell.cores.iter().copied().chain([core]).collect(),
        why: why.clone(),
    };
    let mut moves: Vec<CoreMove> = free.into_iter().map(with).collect();
    if needs {
        let is_lower =
            |it: &&Measured| it.precedence < cell.precedence && it.cores.len() > it.bounds().0;
        let gives = others().filter(is_lower).filter_map(|it| {
            let core = it
                .cores
                .iter()
                .rev()
                .find(|core| cell.pool.contains(core) && !cell.cores.contains(core))?;
            Some(shrink(
                it,
                Some(*core),
                format!("a cell of higher precedence needs core {core}"),
            ))
        });
        moves.extend(gives);
    }
    moves
}

/// The move by which `cell` gives `core`, or its last one.
fn shrink(cell: &Measured, core: Option<usize>, why: String) -> CoreMove {
    let core = core.or(cell.cores.last().copied());
    let cores = cell.cores.iter().copied().filter(|it| Some(*it) != core);
    CoreMove {
        index: cell.index,
        cores: cores.collect(),
        why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(index: usize, cores: &[usize], load: f64) -> Measured {
        Measured {
            index,
            cores: cores.to_vec(),
            pool: vec![0, 1, 2],
            target: Target {
                load: Some(0.5),
                response: None,
                cores: Some((1, 3)),
            },
            precedence: 0,
            load,
            response: None,
            is_alone: false,
        }
    }

    fn ms(ms: u64) -> Nanos {
        Nanos(ms * 1_000_000)
    }

    #[test]
    fn a_cell_above_its_target_gets_a_core_and_gives_it_back_late() {
        let mut governor = Governor::default();
        let goal = Goal::FewestCores;
        assert!(governor.look(&[cell(0, &[0], 0.6)], goal, ms(0)).is_empty());
        assert!(
            governor
                .look(&[cell(0, &[0], 0.6)], goal, ms(400))
                .is_empty()
        );
        // It dips: the time begins anew.
        assert!(
            governor
                .look(&[cell(0, &[0], 0.4)], goal, ms(450))
                .is_empty()
        );
        assert!(
            governor
                .look(&[cell(0, &[0], 0.6)], goal, ms(600))
                .is_empty()
        );
        let moves = governor.look(&[cell(0, &[0], 0.6)], goal, ms(1100));
        assert_eq!(moves[0].cores, [0, 1]);
        governor.made(0);
        // Between both bounds nothing moves, for as long as it lasts.
        for at in 0..100 {
            assert!(
                governor
                    .look(&[cell(0, &[0, 1], 0.45)], goal, ms(1200 + 1000 * at))
                    .is_empty()
            );
        }
        assert!(
            governor
                .look(&[cell(0, &[0, 1], 0.3)], goal, ms(200_000))
                .is_empty()
        );
        let moves = governor.look(&[cell(0, &[0, 1], 0.3)], goal, ms(205_000));
        assert_eq!((moves.len(), &*moves[0].cores), (1, &[0][..]));
    }

    #[test]
    fn no_number_of_cores_leaves_its_bounds() {
        let mut governor = Governor::default();
        for (cores, load) in [(&[0, 1, 2][..], 9.0), (&[0], 0.0)] {
            for at in 0..30 {
                let moves =
                    governor.look(&[cell(0, cores, load)], Goal::FewestCores, ms(1000 * at));
                assert!(moves.is_empty(), "{moves:?}");
            }
        }
        let mut fixed = cell(0, &[0], 9.0);
        fixed.target.cores = None;
        governor.look(std::slice::from_ref(&fixed), Goal::Headroom, ms(0));
        assert!(
            governor
                .look(&[fixed], Goal::Headroom, ms(90_000))
                .is_empty()
        );
    }

    #[test]
    fn precedence_decides_who_gives_a_core() {
        let mut governor = Governor::default();
        let (mut high, mut low) = (cell(0, &[0], 0.9), cell(1, &[1, 2], 1.9));
        (high.is_alone, high.precedence) = (true, 3);
        let cells = [high.clone(), low.clone()];
        governor.look(&cells, Goal::FewestCores, ms(0));
        let moves = governor.look(&cells, Goal::FewestCores, ms(600));
        assert_eq!((moves[0].index, &*moves[0].cores), (1, &[1][..]));
        low.precedence = 3;
        let moves = governor.look(&[high, low], Goal::FewestCores, ms(700));
        assert!(
            moves.iter().all(|it| it.index != 1 || it.cores.len() > 2),
            "{moves:?}"
        );
    }

    #[test]
    fn a_slow_response_counts_where_the_load_does_not() {
        let mut governor = Governor::default();
        let mut slow = cell(0, &[0], 0.1);
        (slow.target.response, slow.response) = (Some(0.2), Some(0.3));
        governor.look(std::slice::from_ref(&slow), Goal::FewestCores, ms(0));
        let moves = governor.look(&[slow], Goal::FewestCores, ms(600));
        assert!(moves[0].why.contains("p99"), "{moves:?}");
    }

    #[test]
    fn the_goal_decides_if_idle_cores_are_taken() {
        let mut governor = Governor::default();
        let cells = [cell(0, &[0], 0.01), cell(1, &[1], 0.01)];
        assert!(governor.look(&cells, Goal::FewestCores, ms(0)).is_empty());
        let moves = governor.look(&cells, Goal::Headroom, ms(100));
        assert_eq!(moves[0].cores, [0, 2], "the core that nobody has");
    }
}
