//! All that the system grants and refuses, for whoever asks what is wrong with this machine.

use crate::system::{highest_priority, may_hold_dma_latency, may_lock, rt_runtime_us};
use crate::{CoreId, Priority, Refusal, cores, set_priority};

/// What this process may have. Found out without changing anything that lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Grants {
    /// The highest real-time priority.
    pub real_time: Result<u8, Refusal>,
    /// Whether all memory may be locked.
    pub memory_lock: Result<(), Refusal>,
    /// Whether the processor may be kept from deep sleep.
    pub dma_latency: Result<(), Refusal>,
    /// The cores to run on.
    pub cores: Vec<CoreId>,
    /// How much of each second real-time threads may run, in microseconds; negative for all of it, `None` if unknown.
    pub rt_runtime_us: Option<i64>,
}

/// One fact, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is about, in two or three words.
    pub topic: &'static str,
    /// Whether it is as it should be.
    pub is_good: bool,
    /// What was found, in one line.
    pub finding: String,
    /// What to do, where something can be done.
    pub fix: Option<&'static str>,
}

impl Grants {
    /// Asks the system. Takes some milliseconds at most.
    ///
    /// Real-time: setup.
    pub fn probe() -> Self {
        Self {
            real_time: try_real_time(),
            memory_lock: may_lock(),
            dma_latency: may_hold_dma_latency(),
            cores: cores().to_vec(),
            rt_runtime_us: rt_runtime_us(),
        }
    }

    /// The same in words, one line a fact.
    pub fn findings(&self) -> Vec<Finding> {
        let real_time = self
            .real_time
            .as_ref()
            .map(|level| format!("up to {level}"));
        let locked = self.memory_lock.as_ref().map(|()| "granted".into());
        let wakes = self.dma_latency.as_ref().map(|()| "granted".into());
        vec![
            self.of_cores(),
            Finding::of("real-time priority", real_time),
            Finding::of("locked memory", locked),
            Finding::of("short wake-ups", wakes),
            self.of_runtime(),
        ]
    }

    fn of_cores(&self) -> Finding {
        let count = self.cores.len();
        Finding {
            topic: "cores",
            is_good: count > 1,
            finding: format!("{count} to run on"),
            fix: (count < 2).then_some(
                "nothing can run in parallel on one core; if the machine has more, look at `taskset -p $$`",
            ),
        }
    }

    fn of_runtime(&self) -> Finding {
        let (is_good, finding) = match self.rt_runtime_us {
            Some(0) => (false, "none of each second".into()),
            Some(us) if us > 0 => (true, format!("{us} µs of each second")),
            Some(_) => (true, "all of each second".into()),
            None => (true, "unknown".into()),
        };
        Finding {
            topic: "real-time share",
            is_good,
            finding,
            fix: (!is_good).then_some("`sudo sysctl kernel.sched_rt_runtime_us=950000`"),
        }
    }
}

impl Finding {
    fn of(topic: &'static str, answer: Result<String, &Refusal>) -> Self {
        match answer {
            Ok(finding) => Self {
                topic,
                is_good: true,
                finding,
                fix: None,
            },
            Err(refusal) => Self {
                topic,
                is_good: false,
                finding: refusal.to_string(),
                fix: Some(refusal.fix()),
            },
        }
    }
}

/// Tries it, on a thread that ends at once: no table of limits tells what a sandbox forbids.
fn try_real_time() -> Result<u8, Refusal> {
    let level = highest_priority().max(1);
    let trial = std::thread::Builder::new().spawn(move || set_priority(Priority::RealTime(level)));
    let unknown = Refusal::System {
        what: "thread to try real-time priority on",
        errno: 0,
    };
    let trial = trial.map_err(|_| unknown.clone())?;
    trial.join().unwrap_or(Err(unknown)).map(|()| level)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Grants;
    use crate::{Priority, Refusal, current_priority};

    #[test]
    fn asking_changes_nothing() {
        let grants = Grants::probe();
        assert_eq!(current_priority(), Priority::Ordinary);
        assert_eq!(grants, Grants::probe());
    }

    #[test]
    fn every_refusal_comes_with_a_fix() {
        let mut grants = Grants::probe();
        grants.real_time = Err(Refusal::RealTime {
            wanted: 70,
            allowed: 0,
        });
        grants.memory_lock = Err(Refusal::MemoryLock { limit: 65_536 });
        grants.dma_latency = Err(Refusal::NoDmaLatency);
        grants.rt_runtime_us = Some(0);
        grants.cores.clear();
        let findings = grants.findings();
        assert!(findings.iter().all(|f| !f.is_good && f.fix.is_some()));
        assert!(findings[1].fix.unwrap().contains("rtprio 95"));
    }
}
