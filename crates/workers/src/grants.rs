//! [`Grants`]: real-time privileges that the system grants and refuses, for the diagnosis of a machine (`divisi doctor`).

use crate::system::{highest_priority, may_hold_dma_latency, may_lock, rt_runtime_us};
use crate::{CoreId, Priority, Refusal, cores, set_priority};

/// Rights of this process. [`Grants::probe`] has no lasting effect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Grants {
    /// Highest real-time priority.
    pub real_time: Result<u8, Refusal>,
    /// Right to lock all memory.
    pub memory_lock: Result<(), Refusal>,
    /// Right to keep the CPU from deep sleep.
    pub dma_latency: Result<(), Refusal>,
    /// Cores that it may run on.
    pub cores: Vec<CoreId>,
    /// Time in each second that real-time threads may run, in microseconds; negative for all of it, `None` if unknown.
    pub rt_runtime_us: Option<i64>,
}

/// One result of the diagnosis, as text for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Topic, in two or three words.
    pub topic: &'static str,
    /// Result, in one line.
    pub finding: String,
    /// Remedy, if something needs to be changed.
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

    /// The grants as text, one line per topic.
    pub fn findings(&self) -> Vec<Finding> {
        let real_time = self
            .real_time
            .as_ref()
            .map(|level| format!("up to {level}"));
        let locked = self.memory_lock.as_ref().map(|()| "granted".into());
        let dma_latency = self.dma_latency.as_ref().map(|()| "granted".into());
        vec![
            self.cores_finding(),
            Finding::from_result("real-time priority", real_time),
            Finding::from_result("locked memory", locked),
            Finding::from_result("wake-up latency", dma_latency),
            self.runtime_finding(),
        ]
    }

    fn cores_finding(&self) -> Finding {
        let count = self.cores.len();
        Finding {
            topic: "cores",
            finding: format!("{count} available"),
            fix: (count < 2).then_some(
                "nothing can run in parallel on one core; if the machine has more, check the CPU set with `taskset -p $$`",
            ),
        }
    }

    fn runtime_finding(&self) -> Finding {
        let finding = match self.rt_runtime_us {
            Some(0) => "none of each second".into(),
            Some(us) if us > 0 => format!("{us} µs of each second"),
            Some(_) => "all of each second".into(),
            None => "unknown".into(),
        };
        let is_none = self.rt_runtime_us == Some(0);
        Finding {
            topic: "real-time share",
            finding,
            fix: is_none.then_some("`sudo sysctl kernel.sched_rt_runtime_us=950000`"),
        }
    }
}

impl Finding {
    /// Returns true if nothing needs to be changed.
    pub fn is_good(&self) -> bool {
        self.fix.is_none()
    }

    fn from_result(topic: &'static str, result: Result<String, &Refusal>) -> Self {
        match result {
            Ok(finding) => Self {
                topic,
                finding,
                fix: None,
            },
            Err(refusal) => Self {
                topic,
                finding: refusal.to_string(),
                fix: Some(refusal.fix()),
            },
        }
    }
}

/// Tries the highest priority on a thread of its own, which then ends. The limits alone do not show what a sandbox
/// forbids.
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
    fn probing_has_no_lasting_effect() {
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
        assert!(findings.iter().all(|f| !f.is_good()));
        assert!(findings[1].fix.unwrap().contains("rtprio 95"));
    }
}
