//! [`CallbackSchedule`]: the pieces to run in each callback, such that all callbacks have nearly the same load. It is a pure
//! function of the pieces' costs.
//!
//! All jobs arrive at the beginning of their periods and are due at the end. The callbacks are simulated with earliest
//! deadline first and a ceiling on the load of one callback; the lowest ceiling under which no job is late is found by
//! bisection. The ceiling is common to all levels and channels, so that where one has much to do the others wait.
//! (`README.md` has a drawing.)

/// Work that comes back every `period` callbacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeriodicJob {
    /// Number of callbacks from one job to the next: a power of two.
    pub period: usize,
    /// Cost of each piece, in the order in which they must run; in any unit, the same for all jobs.
    pub piece_costs: Vec<u64>,
}

/// Some pieces of one job, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceRun {
    /// Number of the job.
    pub job: u32,
    /// Number of its next pieces to do.
    pub count: u32,
}

/// Pieces to do in each callback.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallbackSchedule {
    /// Runs of all callbacks, one behind the other.
    runs: Vec<PieceRun>,
    /// End of each callback's runs.
    ends: Vec<u32>,
    max_load: u64,
    mean_load: f64,
}

/// Most steps of the bisection.
const MAX_STEPS: usize = 24;

impl CallbackSchedule {
    /// Finds a schedule for `jobs`, where each callback already has the load `base_load`. A period of 0 counts as 1, another
    /// one that is no power of two as the next smaller: that is early and never late.
    ///
    /// Real-time: setup.
    pub fn new(jobs: &[PeriodicJob], base_load: u64) -> Self {
        let periods: Vec<usize> = jobs.iter().map(|job| power_of_two(job.period)).collect();
        let callbacks = periods.iter().copied().max().unwrap_or(1);
        let cost = |job: &PeriodicJob| job.piece_costs.iter().sum::<u64>();
        let costs = jobs.iter().zip(&periods);
        let total: u64 = costs
            .map(|(job, period)| cost(job) * (callbacks / period) as u64)
            .sum();
        let mean_load = base_load as f64 + total as f64 / callbacks as f64;
        let largest: u64 = base_load + jobs.iter().map(cost).sum::<u64>();
        let simulate = |ceiling| simulate(jobs, &periods, callbacks, base_load, ceiling);
        let (mut low, mut high) = (mean_load as u64, largest.max(mean_load as u64 + 1));
        let mut best = simulate(high);
        for _ in 0..MAX_STEPS {
            if high - low <= (mean_load / 200.0) as u64 + 1 {
                break;
            }
            let middle = low + (high - low) / 2;
            let found = simulate(middle);
            match found.max_load <= middle {
                true => high = middle,
                false => low = middle,
            }
            if found.max_load < best.max_load {
                best = found;
            }
        }
        best.mean_load = mean_load;
        best
    }

    /// Number of callbacks after which the schedule repeats.
    ///
    /// Real-time: hot.
    pub fn callbacks(&self) -> usize {
        self.ends.len().max(1)
    }

    /// Pieces to do in a callback, counted from one at which all jobs arrive.
    ///
    /// Real-time: hot.
    pub fn runs(&self, callback: usize) -> &[PieceRun] {
        let i = callback % self.callbacks();
        let begin = match i {
            0 => 0,
            _ => self.ends[i - 1] as usize,
        };
        let end = self.ends.get(i).map_or(0, |end| *end as usize);
        &self.runs[begin..end]
    }

    /// Load of the busiest callback.
    pub fn max_load(&self) -> u64 {
        self.max_load
    }

    /// Mean load of a callback.
    pub fn mean_load(&self) -> f64 {
        self.mean_load
    }
}

/// The largest power of two that is at most `period`.
fn power_of_two(period: usize) -> usize {
    1 << period.max(1).ilog2()
}

/// A job while the callbacks are simulated.
struct JobState {
    next_piece: usize,
    deadline: usize,
}

/// Simulates all callbacks under a ceiling. A job that is due is finished, ceiling or not: then `max_load` is above it.
fn simulate(
    jobs: &[PeriodicJob],
    periods: &[usize],
    callbacks: usize,
    base_load: u64,
    ceiling: u64,
) -> CallbackSchedule {
    let mut schedule = CallbackSchedule::default();
    let mut states: Vec<JobState> = jobs
        .iter()
        .map(|_| JobState {
            next_piece: 0,
            deadline: 0,
        })
        .collect();
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    for callback in 0..callbacks {
        for (state, period) in states.iter_mut().zip(periods) {
            if callback % period == 0 {
                *state = JobState {
                    next_piece: 0,
                    deadline: callback + period,
                };
            }
        }
        // Jobs that must be finished now come first; else others would have used up the load below the ceiling.
        order.sort_by_key(|i| (states[*i].deadline, *i));
        let mut load = base_load;
        for &i in &order {
            let (state, job) = (&mut states[i], &jobs[i]);
            let is_due = state.deadline == callback + 1;
            let begin = state.next_piece;
            while let Some(cost) = job.piece_costs.get(state.next_piece) {
                if !is_due && load + cost > ceiling {
                    break;
                }
                load += cost;
                state.next_piece += 1;
            }
            if state.next_piece > begin {
                let count = (state.next_piece - begin) as u32;
                let job = i as u32;
                schedule.runs.push(PieceRun { job, count });
            }
        }
        schedule.ends.push(schedule.runs.len() as u32);
        schedule.max_load = schedule.max_load.max(load);
    }
    schedule
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(period: usize, pieces: usize, cost: u64) -> PeriodicJob {
        PeriodicJob {
            period,
            piece_costs: vec![cost; pieces],
        }
    }

    /// Largest and mean load of a schedule. Every job's pieces must be done within each of its periods.
    fn follow(jobs: &[PeriodicJob], schedule: &CallbackSchedule, base_load: u64) -> (u64, u64) {
        let mut done = vec![0; jobs.len()];
        let (mut max, mut sum) = (0, 0);
        for callback in 0..2 * schedule.callbacks() {
            for (i, job) in jobs.iter().enumerate() {
                if callback % job.period == 0 {
                    assert!(callback == 0 || done[i] == job.piece_costs.len(), "late");
                    done[i] = 0;
                }
            }
            let mut load = base_load;
            for run in schedule.runs(callback) {
                let i = run.job as usize;
                for _ in 0..run.count {
                    load += jobs[i].piece_costs[done[i]];
                    done[i] += 1;
                }
            }
            max = max.max(load);
            sum += load;
        }
        (max, sum / (2 * schedule.callbacks() as u64))
    }

    #[test]
    fn no_job_is_late_and_the_loads_are_as_stated() {
        let jobs = [job(8, 14, 900), job(16, 40, 1000), job(1024, 9000, 1100)];
        let schedule = CallbackSchedule::new(&jobs, 2000);
        let (max, mean) = follow(&jobs, &schedule, 2000);
        assert_eq!(max, schedule.max_load());
        assert!((mean as f64 - schedule.mean_load()).abs() < 2.0);
        assert!(max as f64 <= 1.1 * schedule.mean_load(), "{max} of {mean}");
    }

    #[test]
    fn pieces_larger_than_what_the_mean_leaves_are_interleaved_over_levels() {
        // Six levels of an impulse response of 524288 frames in blocks of 64: transforms in pieces, then multiply-adds.
        let levels = [(512, 2), (1024, 6), (4096, 6), (16384, 6), (65536, 7)];
        let jobs: Vec<PeriodicJob> = levels
            .iter()
            .map(|&(size, count)| {
                let fft = 5 * 2 * size as u64 * (2 * size as u64).ilog2() as u64 / 8;
                let pieces = (size / 512).max(2);
                let mut costs = vec![fft / 2 / pieces as u64; pieces];
                costs.extend(vec![size as u64; count]);
                costs.extend(vec![fft / 2 / pieces as u64; pieces]);
                PeriodicJob {
                    period: size / 64,
                    piece_costs: costs,
                }
            })
            .collect();
        let schedule = CallbackSchedule::new(&jobs, 15 * 64 + 1000);
        let (max, _) = follow(&jobs, &schedule, 15 * 64 + 1000);
        let largest = jobs[4].piece_costs.iter().max().unwrap();
        assert!(
            *largest > 10_000,
            "a multiply-add over a whole level is large"
        );
        assert!(max as f64 <= schedule.mean_load() + *largest as f64);
    }

    #[test]
    fn channels_of_one_level_work_in_different_callbacks() {
        let jobs = vec![job(4, 1, 1000); 32];
        let schedule = CallbackSchedule::new(&jobs, 0);
        assert_eq!((schedule.max_load(), schedule.mean_load()), (8000, 8000.0));
        assert_eq!(follow(&jobs, &schedule, 0).0, 8000);
        for callback in 0..4 {
            assert_eq!(schedule.runs(callback).len(), 8);
        }
    }

    #[test]
    fn no_jobs_and_odd_periods_have_a_schedule() {
        let none = CallbackSchedule::new(&[], 7);
        assert_eq!((none.callbacks(), none.max_load()), (1, 7));
        assert!(none.runs(99).is_empty());
        let schedule = CallbackSchedule::new(&[job(0, 3, 5), job(6, 4, 5), job(4, 0, 0)], 0);
        assert_eq!(schedule.callbacks(), 4);
        assert_eq!(schedule.max_load(), 20);
    }
}
