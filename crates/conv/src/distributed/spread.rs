//! Which piece in which callback: work that comes back at different periods, spread so that no callback has much more of
//! it than another. A pure function of what the pieces cost.
//!
//! All work arrives at the beginning of its period and is due at the end. The callbacks are played through, the earliest
//! deadline first, with a ceiling on what one callback may do; the lowest ceiling under which nothing is late is found by
//! halving. The ceiling is common to all levels and channels, so that where one has much to do the others wait.

/// Work that comes back every `period` callbacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeriodicJob {
    /// How many callbacks it has; a power of two.
    pub period: usize,
    /// What each piece costs, in the order in which they must run; in whatever unit, the same for all jobs.
    pub piece_costs: Vec<u64>,
    /// The job of a shorter period whose pieces all come first, of those that arrive at the same time.
    pub after: Option<usize>,
}

/// So many pieces of one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceRun {
    /// Which job, by number.
    pub job: u32,
    /// How many of its next pieces.
    pub count: u32,
}

/// What is done in each callback.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallbackSchedule {
    /// Turns of all callbacks, one behind the other.
    runs: Vec<PieceRun>,
    /// Where each callback's turns end.
    ends: Vec<u32>,
    max_load: u64,
    mean_load: f64,
}

/// After how many halvings the ceiling is good enough.
const HALVINGS: usize = 24;

impl CallbackSchedule {
    /// Spreads `jobs`, where each callback already has to do `always`. A period of 0 counts as 1, one that is no power of
    /// two as the next smaller: that is early and never late.
    ///
    /// Real-time: setup.
    pub fn new(jobs: &[PeriodicJob], always: u64) -> Self {
        let periods: Vec<usize> = jobs.iter().map(|job| tame(job.period)).collect();
        let callbacks = periods.iter().copied().max().unwrap_or(1);
        let sum = |job: &PeriodicJob| job.piece_costs.iter().sum::<u64>();
        let rounds = jobs.iter().zip(&periods);
        let work: u64 = rounds
            .map(|(job, period)| sum(job) * (callbacks / period) as u64)
            .sum();
        let mean = always as f64 + work as f64 / callbacks as f64;
        let whole: u64 = always + jobs.iter().map(sum).sum::<u64>();
        let play = |ceiling| play(jobs, &periods, callbacks, always, ceiling);
        let (mut low, mut high) = (mean as u64, whole.max(mean as u64 + 1));
        let mut best = play(high);
        for _ in 0..HALVINGS {
            if high - low <= (mean / 200.0) as u64 + 1 {
                break;
            }
            let middle = low + (high - low) / 2;
            let found = play(middle);
            match found.max_load <= middle {
                true => high = middle,
                false => low = middle,
            }
            if found.max_load < best.max_load {
                best = found;
            }
        }
        best.mean_load = mean;
        best
    }

    /// After how many callbacks it begins again.
    ///
    /// Real-time: hot.
    pub fn callbacks(&self) -> usize {
        self.ends.len().max(1)
    }

    /// What is done in a callback, counted from any at which all jobs arrive.
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

    /// What the fullest callback has to do.
    pub fn max_load(&self) -> u64 {
        self.max_load
    }

    /// What a callback has to do on average.
    pub fn mean_load(&self) -> f64 {
        self.mean_load
    }
}

fn tame(period: usize) -> usize {
    match period.max(1) {
        period if period.is_power_of_two() => period,
        period => period.next_power_of_two() / 2,
    }
}

/// One job while the callbacks are played through.
struct Run {
    next: usize,
    due: usize,
}

/// Plays all callbacks through under a ceiling. What is due is done, ceiling or not: then `worst` is above it.
fn play(
    jobs: &[PeriodicJob],
    periods: &[usize],
    callbacks: usize,
    always: u64,
    ceiling: u64,
) -> CallbackSchedule {
    let mut spread = CallbackSchedule::default();
    let mut runs: Vec<Run> = jobs.iter().map(|_| Run { next: 0, due: 0 }).collect();
    // Sorted by period once: the order of deadlines changes only among jobs of different periods.
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    for callback in 0..callbacks {
        for (run, period) in runs.iter_mut().zip(periods) {
            if callback % period == 0 {
                *run = Run {
                    next: 0,
                    due: callback + period,
                };
            }
        }
        order.sort_by_key(|i| (runs[*i].due, *i));
        let mut load = always;
        // What must be done now comes first, or a ceiling that is reached by other work would be broken for it.
        for &i in &order {
            let waits = waits_for(jobs, periods, &runs, i, callback);
            let (run, job) = (&mut runs[i], &jobs[i]);
            let must = run.due == callback + 1;
            let begin = run.next;
            if waits && !must {
                continue;
            }
            while let Some(cost) = job.piece_costs.get(run.next) {
                if !must && load + cost > ceiling {
                    break;
                }
                load += cost;
                run.next += 1;
            }
            if run.next > begin {
                let pieces = (run.next - begin) as u32;
                let job = i as u32;
                spread.runs.push(PieceRun { job, count: pieces });
            }
        }
        spread.ends.push(spread.runs.len() as u32);
        spread.max_load = spread.max_load.max(load);
    }
    spread
}

/// Whether another job must end before job `i` goes on.
fn waits_for(
    jobs: &[PeriodicJob],
    periods: &[usize],
    runs: &[Run],
    i: usize,
    callback: usize,
) -> bool {
    let Some(before) = jobs[i].after.filter(|&before| before < jobs.len()) else {
        return false;
    };
    let is_done = runs[before].next == jobs[before].piece_costs.len();
    callback % periods[i] < periods[before] && !is_done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(period: usize, pieces: usize, cost: u64) -> PeriodicJob {
        PeriodicJob {
            period,
            piece_costs: vec![cost; pieces],
            after: None,
        }
    }

    /// Follows the turns as an executor would: every job's pieces are all done within each of its periods.
    fn follow(jobs: &[PeriodicJob], spread: &CallbackSchedule, always: u64) -> (u64, u64) {
        let mut done = vec![0; jobs.len()];
        let (mut worst, mut sum) = (0, 0);
        for callback in 0..2 * spread.callbacks() {
            for (i, job) in jobs.iter().enumerate() {
                if callback % job.period == 0 {
                    assert!(callback == 0 || done[i] == job.piece_costs.len(), "late");
                    done[i] = 0;
                }
            }
            let mut load = always;
            for turn in spread.runs(callback) {
                let i = turn.job as usize;
                for _ in 0..turn.count {
                    load += jobs[i].piece_costs[done[i]];
                    done[i] += 1;
                }
            }
            worst = worst.max(load);
            sum += load;
        }
        (worst, sum / (2 * spread.callbacks() as u64))
    }

    #[test]
    fn nothing_is_late_and_the_load_is_as_it_says() {
        let jobs = [job(8, 14, 900), job(16, 40, 1000), job(1024, 9000, 1100)];
        let spread = CallbackSchedule::new(&jobs, 2000);
        let (worst, mean) = follow(&jobs, &spread, 2000);
        assert_eq!(worst, spread.max_load());
        assert!((mean as f64 - spread.mean_load()).abs() < 2.0);
        assert!(
            worst as f64 <= 1.1 * spread.mean_load(),
            "{worst} of {mean}"
        );
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
                    after: None,
                }
            })
            .collect();
        let spread = CallbackSchedule::new(&jobs, 15 * 64 + 1000);
        let (worst, _) = follow(&jobs, &spread, 15 * 64 + 1000);
        let most = jobs[4].piece_costs.iter().max().unwrap();
        assert!(*most > 10_000, "a multiply-add over a whole level is large");
        assert!(worst as f64 <= spread.mean_load() + *most as f64);
    }

    #[test]
    fn channels_of_one_level_take_turns() {
        let jobs = vec![job(4, 1, 1000); 32];
        let spread = CallbackSchedule::new(&jobs, 0);
        assert_eq!((spread.max_load(), spread.mean_load()), (8000, 8000.0));
        assert_eq!(follow(&jobs, &spread, 0).0, 8000);
        for callback in 0..4 {
            assert_eq!(spread.runs(callback).len(), 8);
        }
    }

    #[test]
    fn a_job_that_comes_after_another_waits_for_it() {
        // Small pieces would fit in where the first job's large ones do not.
        let mut jobs = [job(4, 3, 1000), job(16, 90, 10)];
        let plain = CallbackSchedule::new(&jobs, 0);
        jobs[1].after = Some(0);
        let spread = CallbackSchedule::new(&jobs, 0);
        follow(&jobs, &spread, 0);
        assert!(spread.max_load() <= 2 * plain.max_load());
        let mut done = 0;
        for callback in 0..4 {
            for turn in spread.runs(callback) {
                done += if turn.job == 0 { turn.count } else { 0 };
                assert!(turn.job == 0 || done == 3, "{callback}");
            }
        }
    }

    #[test]
    fn nothing_to_do_and_odd_periods_are_no_trouble() {
        let none = CallbackSchedule::new(&[], 7);
        assert_eq!((none.callbacks(), none.max_load()), (1, 7));
        assert!(none.runs(99).is_empty());
        let spread = CallbackSchedule::new(&[job(0, 3, 5), job(6, 4, 5), job(4, 0, 0)], 0);
        assert_eq!(spread.callbacks(), 4);
        assert_eq!(spread.max_load(), 20);
    }
}
