//! One cycle, put together from what several workers recorded.

use plan::{Mark, TraceRecord};
use std::collections::BTreeMap;

/// What is known of a cycle so far.
#[derive(Debug, Default)]
pub(crate) struct Cycle {
    /// When it began and ended, in ticks.
    pub(crate) begin: Option<u64>,
    pub(crate) end: Option<u64>,
    pub(crate) is_abandoned: bool,
    /// Somebody who knows says that it ended too late.
    pub(crate) is_told_missed: bool,
    /// Takes from shared queues, and workers woken.
    pub(crate) takes: u32,
    pub(crate) wakes: u32,
    /// Each step that was seen to end, with its ticks; `None` where its begin is not known.
    pub(crate) steps: Vec<(u32, Option<u64>)>,
    /// In which pass over the rings its end was seen.
    pub(crate) ended_in: Option<u64>,
    /// For each worker, when its last record here ends, if what follows begins there.
    last: BTreeMap<u16, Option<u64>>,
}

impl Cycle {
    pub(crate) fn add(&mut self, record: TraceRecord, pass: u64) {
        let at = record.stamp;
        let begin = self.last.get(&record.worker).copied().flatten();
        let next = match record.mark {
            Mark::Step => {
                let ticks = begin.map(|begin| at.saturating_sub(begin));
                self.steps.push((record.index, ticks));
                Some(at)
            }
            Mark::Begin => {
                self.begin = Some(at);
                self.wakes = record.index;
                Some(at)
            }
            Mark::End | Mark::Abandon => {
                self.end = Some(at);
                self.is_abandoned |= record.mark == Mark::Abandon;
                if record.mark == Mark::End {
                    self.takes = record.index;
                }
                self.ended_in.get_or_insert(pass);
                None
            }
            Mark::Enter | Mark::Resume | Mark::Piece => Some(at),
            Mark::Wait | Mark::Leave => None,
        };
        self.last.insert(record.worker, next);
    }

    /// From its begin to its end, in ticks.
    pub(crate) fn ticks(&self) -> Option<u64> {
        Some(self.end?.saturating_sub(self.begin?))
    }

    /// Whether every step of `due` ended here, and it is known when it began.
    pub(crate) fn has_all(&self, due: impl Iterator<Item = usize>, steps: usize) -> bool {
        let mut seen = vec![false; steps];
        for (step, ticks) in &self.steps {
            if let Some(seen) = seen.get_mut(*step as usize) {
                *seen = ticks.is_some();
            }
        }
        self.ticks().is_some() && due.into_iter().all(|step| seen[step])
    }
}
