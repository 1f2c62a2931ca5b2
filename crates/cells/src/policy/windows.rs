//! [`Windows`]: when a time-triggered cell may run, on the machine's monotonic clock.
//!
//! ```text
//!   0        offset     offset + length          period
//!   ├──────────▓▓▓▓▓▓▓▓▓▓▓▓──────────────────────┼──────────▓▓▓▓▓▓▓▓▓▓▓▓───
//! ```
//!
//! Blocks begin at any phase of the table. So a cell can count on what the table gives in the worst stretch of time, and
//! takes from others what it has in the best one.

use units::Nanos;

/// Windows that repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeWindow {
    /// Time between the beginnings of two of them.
    pub period: Nanos,
    /// Beginning of the first one.
    pub offset: Nanos,
    /// Length of each.
    pub length: Nanos,
}

/// A table of windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    table: Vec<TimeWindow>,
    /// Begin and end of each stretch within one cycle, in order, which do not touch.
    stretches: Vec<(u64, u64)>,
    /// Length of a cycle: the table repeats after it.
    cycle: u64,
}

/// Largest number of stretches of a cycle.
const MAX_STRETCHES: u64 = 4096;
/// Longest cycle.
const MAX_CYCLE: u64 = 10_000_000_000;

impl Windows {
    /// The windows of `table`.
    ///
    /// # Errors
    ///
    /// It is empty, a window does not fit its period, or the table repeats after too long a time.
    pub fn new(table: Vec<TimeWindow>) -> Result<Self, String> {
        let mut cycle = 1;
        for window in &table {
            let (period, length) = (window.period.0, window.length.0);
            if length == 0 || period > MAX_CYCLE || window.offset.0.saturating_add(length) > period
            {
                return Err(
                    "a window has a length above 0, and ends within its period, of 10 s at most"
                        .to_owned(),
                );
            }
            cycle = lcm(cycle, period).filter(|it| *it <= MAX_CYCLE).ok_or(
                "the windows together repeat after more than 10 s: take periods that divide each other",
            )?;
        }
        let count = table.iter().map(|it| cycle / it.period.0).sum::<u64>();
        if !(1..=MAX_STRETCHES).contains(&count) {
            return Err(format!(
                "there are 1 to {MAX_STRETCHES} windows until all repeat"
            ));
        }
        let stretches = stretches(&table, cycle);
        Ok(Self {
            table,
            stretches,
            cycle,
        })
    }

    /// The table.
    pub fn table(&self) -> &[TimeWindow] {
        &self.table
    }

    /// Returns true if a window is open at `now`, and the time of the next change; none, if it never closes.
    ///
    /// Real-time: hot.
    pub fn state(&self, now: Nanos) -> (bool, Option<Nanos>) {
        if self.stretches == [(0, self.cycle)] {
            return (true, None);
        }
        let (begin, phase) = (now.0 - now.0 % self.cycle, now.0 % self.cycle);
        let at = self.stretches.partition_point(|(_, end)| *end <= phase);
        let next_begin = self.cycle + self.stretches[0].0;
        let (is_open, change) = match self.stretches.get(at) {
            Some((open, _)) if *open > phase => (false, *open),
            // One that goes on over the end of the cycle.
            Some((_, end)) if *end == self.cycle && self.stretches[0].0 == 0 => {
                (true, self.cycle + self.stretches[0].1)
            }
            Some((_, end)) => (true, *end),
            None => (false, next_begin),
        };
        (is_open, Some(Nanos(begin + change)))
    }

    /// Time for which a window has been open at `now`; 0 if none is.
    ///
    /// Real-time: hot.
    pub fn open_for(&self, now: Nanos) -> Nanos {
        let phase = now.0 % self.cycle;
        let at = self.stretches.partition_point(|(_, end)| *end <= phase);
        let begin = self.stretches.get(at).map(|(begin, _)| *begin);
        let since = begin.map_or(0, |begin| phase.saturating_sub(begin));
        // One that began at the end of the cycle before.
        let before = match (begin, self.stretches.last()) {
            (Some(0), Some((last, end))) if *end == self.cycle => self.cycle - last,
            _ => 0,
        };
        Nanos(since + before)
    }

    /// Time that the windows give in any stretch of `length` at least.
    ///
    /// Real-time: setup.
    pub fn min_supply(&self, length: Nanos) -> Nanos {
        // The minimum is behind the end of a window.
        let ends = self.stretches.iter().map(|(_, end)| *end);
        let min = ends.map(|end| self.supply(end, length.0)).min();
        Nanos(min.unwrap_or(0))
    }

    /// Time that the windows give in any stretch of `length` at most.
    ///
    /// Real-time: setup.
    pub fn max_supply(&self, length: Nanos) -> Nanos {
        let begins = self.stretches.iter().map(|(begin, _)| *begin);
        let max = begins.map(|begin| self.supply(begin, length.0)).max();
        Nanos(max.unwrap_or(0))
    }

    /// Length of the longest stretch of time that is in a window of both tables; 0 if they never meet.
    ///
    /// Real-time: setup.
    pub fn overlap(&self, other: &Self) -> Nanos {
        let pairs = self
            .table
            .iter()
            .flat_map(|a| other.table.iter().map(move |b| (a, b)));
        Nanos(pairs.map(|(a, b)| overlap(a, b)).max().unwrap_or(0))
    }

    /// Time in windows from `from` on, within `length`.
    fn supply(&self, from: u64, length: u64) -> u64 {
        self.supply_until(from + length) - self.supply_until(from)
    }

    /// Time in windows from 0 to `end`.
    fn supply_until(&self, end: u64) -> u64 {
        let (cycles, phase) = (end / self.cycle, end % self.cycle);
        let whole: u64 = self.stretches.iter().map(|(begin, end)| end - begin).sum();
        let part = self.stretches.iter();
        let part: u64 = part
            .map(|(begin, end)| phase.min(*end).saturating_sub(*begin))
            .sum();
        cycles * whole + part
    }
}

/// Windows of one cycle, those that touch as one.
fn stretches(table: &[TimeWindow], cycle: u64) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    for window in table {
        let begins = (0..cycle / window.period.0).map(|at| at * window.period.0 + window.offset.0);
        all.extend(begins.map(|begin| (begin, begin + window.length.0)));
    }
    all.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (begin, end) in all {
        match merged.last_mut() {
            Some(last) if begin <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((begin, end)),
        }
    }
    merged
}

/// Longest time that some repetition of `a` and some of `b` share. The distances of their beginnings are those of the
/// offsets and all that differ from it by multiples of the greatest common divisor of the periods.
fn overlap(a: &TimeWindow, b: &TimeWindow) -> u64 {
    let step = gcd(a.period.0, b.period.0) as i128;
    let (long, short) = (i128::from(a.length.0), i128::from(b.length.0));
    let distance = i128::from(b.offset.0) - i128::from(a.offset.0);
    let shared = |shift: i128| (long.min(shift + short) - shift.max(0)).max(0);
    // Between these shifts one lies within the other.
    let (low, high) = ((long - short).min(0), (long - short).max(0));
    let above_low = low + (distance - low).rem_euclid(step);
    let candidates = match above_low <= high {
        true => [above_low, above_low],
        false => [above_low, above_low - step],
    };
    candidates.map(shared).into_iter().max().unwrap_or(0) as u64
}

fn gcd(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        b => gcd(b, a % b),
    }
}

fn lcm(a: u64, b: u64) -> Option<u64> {
    (a / gcd(a, b)).checked_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(period: u64, offset: u64, length: u64) -> TimeWindow {
        TimeWindow {
            period: Nanos(period),
            offset: Nanos(offset),
            length: Nanos(length),
        }
    }

    /// A small generator, so that a failure can be repeated.
    fn random_windows(state: &mut u64) -> Windows {
        let mut below = |bound: u64| {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (*state >> 33) % bound
        };
        let count = 1 + below(3);
        let table = (0..count).map(|_| {
            let period = 2 + below(9);
            let length = 1 + below(period);
            window(period, below(period - length + 1), length)
        });
        Windows::new(table.collect()).unwrap()
    }

    fn is_open(windows: &Windows, at: u64) -> bool {
        windows.table.iter().any(|it| {
            let phase = at % it.period.0;
            (it.offset.0..it.offset.0 + it.length.0).contains(&phase)
        })
    }

    #[test]
    fn supply_and_state_are_those_of_every_moment() {
        let mut state = 3;
        for _ in 0..300 {
            let windows = random_windows(&mut state);
            let open: Vec<bool> = (0..4 * windows.cycle)
                .map(|at| is_open(&windows, at))
                .collect();
            for at in 0..2 * windows.cycle {
                let (now, change) = windows.state(Nanos(at));
                assert_eq!(now, open[at as usize], "{windows:?} {at}");
                let rest = open[at as usize..].iter();
                let expected = rest.take_while(|it| **it == now).count() as u64 + at;
                match change {
                    Some(change) => assert_eq!(change.0, expected, "{windows:?} {at}"),
                    None => assert!(open.iter().all(|it| *it)),
                }
            }
            for length in [1, 2, 3, 7, windows.cycle, 2 * windows.cycle - 1] {
                let given = (0..windows.cycle).map(|from| {
                    let stretch = &open[from as usize..(from + length) as usize];
                    stretch.iter().filter(|it| **it).count() as u64
                });
                let given: Vec<u64> = given.collect();
                let (min, max) = (given.iter().min().unwrap(), given.iter().max().unwrap());
                assert_eq!(
                    windows.min_supply(Nanos(length)).0,
                    *min,
                    "{windows:?} {length}"
                );
                assert_eq!(
                    windows.max_supply(Nanos(length)).0,
                    *max,
                    "{windows:?} {length}"
                );
            }
        }
    }

    #[test]
    fn windows_meet_as_long_as_at_their_worst_moment() {
        let mut state = 9;
        for _ in 0..2000 {
            let one = |state: &mut u64| random_windows(state).table[0];
            let (a, b) = (one(&mut state), one(&mut state));
            let within = |at: u64, it: &TimeWindow| {
                (it.offset.0..it.offset.0 + it.length.0).contains(&(at % it.period.0))
            };
            // Windows that touch are still two.
            let (mut longest, mut now) = (0, 0);
            for at in 0..2 * a.period.0 * b.period.0 {
                let begins = |it: &TimeWindow| at % it.period.0 == it.offset.0;
                now = match within(at, &a) && within(at, &b) {
                    true if begins(&a) || begins(&b) => 1,
                    true => now + 1,
                    false => 0,
                };
                longest = longest.max(now);
            }
            assert_eq!(overlap(&a, &b), longest, "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_table_that_makes_no_sense_is_refused() {
        let wrong = [
            vec![],
            vec![window(10, 0, 0)],
            vec![window(10, 5, 6)],
            vec![window(0, 0, 0)],
            vec![window(MAX_CYCLE + 1, 0, 1)],
            vec![window(9_999_999_967, 0, 1), window(9_999_999_943, 0, 1)],
            vec![window(10, 0, 1), window(MAX_CYCLE, 0, 1)],
            vec![window(u64::MAX, u64::MAX, u64::MAX)],
        ];
        for table in wrong {
            assert!(Windows::new(table.clone()).is_err(), "{table:?}");
        }
    }
}
