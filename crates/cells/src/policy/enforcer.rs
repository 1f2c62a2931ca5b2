//! [`Enforcer`]: holds the process of a cell to its policy, from outside.
//!
//! | policy | the cell itself | the monitor |
//! |---|---|---|
//! | time-triggered | begins a block only in a window | puts all its threads behind every other one while no window is open |
//! | event-triggered, SCHED_DEADLINE | – | asks the kernel for the server once |
//! | event-triggered, without it | gets no blocks while it is throttled | keeps the account; throttled, its threads are behind every other one |
//!
//! Threads that edit, measure and read files count too, and are behind every other one with the rest; at other times they are as those of an
//! ordinary program, so they never hold a block up. With SCHED_DEADLINE they always have what nobody else wants.
//!
//! So a cell that keeps to its rule is not disturbed, and one that does not takes only what nobody else wants.

use super::server::Account;
use super::threads::{Class, background_threads, set_class, set_thread_class};
use super::{Policy, Windows};
use crate::raw;
use crate::status::CellStatus;
use std::sync::atomic::Ordering;
use units::Nanos;

/// The part of a policy that is held while a cell plays.
#[derive(Debug)]
enum Rule {
    /// Nothing to do while it plays.
    None,
    Windows(Windows),
    Account(Account),
}

/// Holds one process to the policy of its cell.
#[derive(Debug)]
pub(crate) struct Enforcer {
    process: i32,
    rule: Rule,
    /// Threads that no block waits for.
    ordinary: Vec<i32>,
    /// Class while it may run.
    class: Class,
    may_run: bool,
    /// Processor time at the last change.
    used: Nanos,
    /// A mistake was told.
    has_told: bool,
}

impl Enforcer {
    /// Begins to hold `process` to `policy`, if it plays with a deadline. Gives what the system refused, with its fix.
    pub(crate) fn begin(
        process: u32,
        (policy, precedence): (&Policy, u8),
        is_live: bool,
    ) -> (Self, Option<String>) {
        let process = process as i32;
        let class = Class::At(policy.priority(precedence));
        let used = raw::process_time(process).unwrap_or_default();
        let ordinary = background_threads(process);
        let mut refused = None;
        let rule = match policy {
            Policy::TimeTriggered(windows) if is_live => Rule::Windows(windows.clone()),
            Policy::EventTriggered(server) if is_live => {
                match raw::set_deadline(process, server.budget, server.period) {
                    Ok(()) => {
                        // The kernel keeps no account of them: they have what nobody else wants. A refusal leaves them ordinary.
                        ordinary
                            .iter()
                            .for_each(|it| drop(set_thread_class(*it, Class::Idle)));
                        Rule::None
                    }
                    Err(error) => {
                        refused = Some(format!(
                            "no SCHED_DEADLINE: {error}: the kernel grants it with CAP_SYS_NICE to cells without `cores`; \
                             the monitor keeps the account instead"
                        ));
                        Rule::Account(Account::new(*server, raw::now(), used))
                    }
                }
            }
            _ => Rule::None,
        };
        let enforcer = Self {
            process,
            rule,
            ordinary,
            class,
            may_run: true,
            used,
            has_told: false,
        };
        (enforcer, refused)
    }

    /// One look. Gives the time of the next one, if it is known, and what the system refuses for the first time.
    pub(crate) fn look(&mut self, status: &CellStatus) -> (Option<Nanos>, Option<String>) {
        let now = raw::now();
        let (may_run, next) = match &mut self.rule {
            Rule::None => return (None, None),
            Rule::Windows(windows) => windows.state(now),
            Rule::Account(account) => {
                let used = raw::process_time(self.process).unwrap_or_default();
                let may_run = account.update(now, used);
                status.throttled.store(!may_run, Ordering::Relaxed);
                (may_run, Some(account.next_look(now)))
            }
        };
        if may_run == self.may_run {
            return (next, None);
        }
        let late = match &self.rule {
            Rule::Windows(windows) if may_run => windows.open_for(now),
            _ => Nanos(0),
        };
        self.count(status, late);
        self.may_run = may_run;
        let class = match may_run {
            true => self.class,
            false => Class::Idle,
        };
        let set = set_class(self.process, class, &self.ordinary);
        let refused = set
            .err()
            .filter(|_| !std::mem::replace(&mut self.has_told, true));
        let refused = refused.map(|error| {
            format!("its threads are not switched: {error}: let divisi use real-time priorities (`divisi doctor`)")
        });
        (next, refused)
    }

    /// Counts what was used since the last change. A cell begins its block as its window opens, and this thread sees that
    /// `late`: what it may have used since then was used inside.
    fn count(&mut self, status: &CellStatus, late: Nanos) {
        let used = raw::process_time(self.process).unwrap_or(self.used);
        let since = used.0.saturating_sub(self.used.0);
        self.used = used;
        if !self.may_run {
            let outside = since.saturating_sub(late.0);
            status.outside_ns.fetch_add(outside, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    //! Each policy against a neighbour on the same core that takes all it can get. Processor time is compared with
    //! processor time, or with an upper bound, so other programs on the machine change no result.

    use super::*;
    use crate::policy::{Server, TimeWindow, place_threads};
    use std::process::{Child, Command, Stdio};
    use std::time::Duration;

    /// A process that computes for ever.
    struct Spinner(Child);

    impl Spinner {
        fn start() -> Self {
            let mut command = Command::new("sh");
            command.args(["-c", "while :; do :; done"]);
            Self(command.stdin(Stdio::null()).spawn().unwrap())
        }

        fn on_core(core: usize) -> Self {
            let spinner = Self::start();
            place_threads(spinner.0.id() as i32, &[core]).unwrap();
            spinner
        }

        fn used(&self) -> u64 {
            raw::process_time(self.0.id() as i32).unwrap().0
        }
    }

    impl Drop for Spinner {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// Processor time that a cell and its neighbour have used, and the time in which they did.
    #[derive(Debug)]
    struct Used {
        cell: u64,
        neighbour: u64,
        elapsed: u64,
        outside: u64,
    }

    /// Holds a spinner to `policy` for a second. `None`, with a word, where the system switches no threads.
    fn held(name: &str, policy: &Policy, (cell, neighbour): (Spinner, Spinner)) -> Option<Used> {
        let status = CellStatus::default();
        let process = cell.0.id();
        if let Err(error) = set_class(process as i32, Class::At(policy.priority(0)), &[]) {
            println!("SKIPPED {name}: no real-time priority: {error}");
            return None;
        }
        let (mut enforcer, _) = Enforcer::begin(process, (policy, 0), true);
        let (begin, cell_before, neighbour_before) = (raw::now().0, cell.used(), neighbour.used());
        while raw::now().0 - begin < 1_000_000_000 {
            let (next, refused) = enforcer.look(&status);
            assert_eq!(refused, None);
            let wait = next.map_or(2_000_000, |at| at.0.saturating_sub(raw::now().0));
            std::thread::sleep(Duration::from_nanos(wait.clamp(50_000, 2_000_000)));
        }
        let neighbour = neighbour.used() - neighbour_before;
        Some(Used {
            cell: cell.used() - cell_before,
            neighbour,
            elapsed: raw::now().0 - begin,
            outside: status.used_outside().0,
        })
    }

    fn core() -> usize {
        workers::cores()[0].0
    }

    #[test]
    #[ignore = "the long tier: it measures shares of a second, which other load of the machine takes"]
    fn a_cell_with_cores_of_its_own_is_not_hurt_by_a_greedy_neighbour() {
        let name = "a_cell_with_cores_of_its_own_is_not_hurt_by_a_greedy_neighbour";
        let pair = (Spinner::on_core(core()), Spinner::on_core(core()));
        let Some(used) = held(name, &Policy::Exclusive, pair) else {
            return;
        };
        // The kernel leaves 5 % to others than real-time threads.
        assert!(used.cell > 4 * used.neighbour, "{used:?}");
    }

    #[test]
    #[ignore = "the long tier: it measures shares of a second, which other load of the machine takes"]
    fn a_greedy_time_triggered_cell_has_its_windows_and_little_else() {
        let name = "a_greedy_time_triggered_cell_has_its_windows_and_little_else";
        let window = TimeWindow {
            period: Nanos(20_000_000),
            offset: Nanos(3_000_000),
            length: Nanos(4_000_000),
        };
        let windows = Windows::new(vec![window]).unwrap();
        let pair = (Spinner::on_core(core()), Spinner::on_core(core()));
        let Some(used) = held(name, &Policy::TimeTriggered(windows), pair) else {
            return;
        };
        // A fifth is in windows; a late look adds to it. Without switching it would have more than nine tenths.
        assert!(used.cell * 2 < used.elapsed, "{used:?}");
        assert!(used.outside < used.cell, "{used:?}");
        assert!(used.neighbour > 0, "{used:?}");
    }

    #[test]
    fn work_at_the_beginning_of_a_window_that_is_seen_late_is_none_outside() {
        let name = "work_at_the_beginning_of_a_window_that_is_seen_late_is_none_outside";
        let window = TimeWindow {
            period: Nanos(40_000_000),
            offset: Nanos(0),
            length: Nanos(20_000_000),
        };
        let policy = Policy::TimeTriggered(Windows::new(vec![window]).unwrap());
        let (cell, status) = (Spinner::start(), CellStatus::default());
        let signal = |name: &str| {
            let process = cell.0.id().to_string();
            let sent = Command::new("kill").args([name, &process]).status();
            assert!(sent.unwrap().success());
        };
        signal("-STOP");
        let (mut enforcer, _) = Enforcer::begin(cell.0.id(), (&policy, 0), true);
        if set_class(cell.0.id() as i32, enforcer.class, &[]).is_err() {
            println!("SKIPPED {name}: no real-time priority");
            return;
        }
        let await_phase = |from: u64, to: u64| {
            while !(from..to).contains(&(raw::now().0 % 40_000_000)) {
                std::thread::sleep(Duration::from_micros(100));
            }
        };
        let mut before = 0;
        for _ in 0..3 {
            await_phase(21_000_000, 38_000_000);
            enforcer.look(&status);
            let outside = status.used_outside().0;
            assert_eq!(outside, before, "it is stopped outside");
            // It computes in its window alone, and the monitor comes late.
            await_phase(0, 5_000_000);
            let (used, began) = (cell.used(), raw::now().0);
            signal("-CONT");
            std::thread::sleep(Duration::from_millis(4));
            signal("-STOP");
            let (used, took) = (cell.used() - used, raw::now().0 - began);
            enforcer.look(&status);
            before = status.used_outside().0;
            if took > 14_000_000 {
                println!("SKIPPED {name}: other programs took the window");
                return;
            }
            assert_eq!(before, outside, "of {used} in {took}");
        }
    }

    #[test]
    #[ignore = "the long tier: it measures shares of a second, which other load of the machine takes"]
    fn two_greedy_time_triggered_cells_have_their_windows_beside_each_other() {
        let name = "two_greedy_time_triggered_cells_have_their_windows_beside_each_other";
        let windows = |offset_ms: u64| {
            let window = TimeWindow {
                period: Nanos(20_000_000),
                offset: Nanos(offset_ms * 1_000_000),
                length: Nanos(8_000_000),
            };
            Policy::TimeTriggered(Windows::new(vec![window]).unwrap())
        };
        let cells = [
            (Spinner::on_core(core()), windows(0)),
            (Spinner::on_core(core()), windows(10)),
        ];
        let mut held = Vec::new();
        for (cell, policy) in &cells {
            if let Err(error) = set_class(cell.0.id() as i32, Class::At(policy.priority(0)), &[]) {
                println!("SKIPPED {name}: no real-time priority: {error}");
                return;
            }
            let (enforcer, _) = Enforcer::begin(cell.0.id(), (policy, 0), true);
            held.push((enforcer, CellStatus::default()));
        }
        let before = cells.each_ref().map(|(cell, _)| cell.used());
        let begin = raw::now().0;
        while raw::now().0 - begin < 1_000_000_000 {
            for (enforcer, status) in &mut held {
                assert_eq!(enforcer.look(status).1, None);
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        let used = [0, 1].map(|at: usize| cells[at].0.used() - before[at]);
        // The same windows, so the same time; what is outside is what nobody's window takes.
        let (less, more) = (used[0].min(used[1]), used[0].max(used[1]));
        assert!(less * 2 > more, "{used:?}");
        for ((_, status), used) in held.iter().zip(used) {
            assert!(status.used_outside().0 * 3 < used, "{used}: {status:?}");
        }
    }

    fn server() -> Policy {
        let server = Server::new(Nanos(4_000_000), Nanos(20_000_000));
        Policy::EventTriggered(server.unwrap())
    }

    #[test]
    #[ignore = "the long tier: it measures shares of a second, which other load of the machine takes"]
    fn a_greedy_event_triggered_cell_has_its_share_by_the_account() {
        let name = "a_greedy_event_triggered_cell_has_its_share_by_the_account";
        // On one of several cores the kernel grants no SCHED_DEADLINE.
        if workers::cores().len() < 2 {
            println!("SKIPPED {name}: one core");
            return;
        }
        let pair = (Spinner::on_core(core()), Spinner::on_core(core()));
        let Some(used) = held(name, &server(), pair) else {
            return;
        };
        // What it takes before it is throttled is a debt, so a late look costs it later.
        assert!(used.cell * 2 < used.elapsed, "{used:?}");
        assert!(used.neighbour > 0, "{used:?}");
    }

    #[test]
    #[ignore = "the long tier: it measures shares of a second, which other load of the machine takes"]
    fn a_greedy_event_triggered_cell_has_its_share_by_the_kernel() {
        let name = "a_greedy_event_triggered_cell_has_its_share_by_the_kernel";
        let (cell, neighbours) = (Spinner::start(), [Spinner::start(), Spinner::start()]);
        let (_, refused) = Enforcer::begin(cell.0.id(), (&server(), 0), true);
        if let Some(refused) = refused {
            println!("SKIPPED {name}: {refused}");
            return;
        }
        let (begin, before) = (raw::now().0, cell.used());
        std::thread::sleep(Duration::from_secs(1));
        let (used, elapsed) = (cell.used() - before, raw::now().0 - begin);
        // Two budgets can meet at the ends; the clock of the scheduler ticks.
        assert!(used <= elapsed / 5 + 12_000_000, "{used} of {elapsed}");
        assert!(neighbours.iter().all(|it| it.used() > 0));
    }
}
