//! The regular call: reads the audio thread's messages and traces, frees what it retired, finds stuck steps.

use super::Engine;
use crate::messages::CycleOutcome;
use crate::resources::fade_frames;
use crate::watchdog;
use plan::Plan;
use processor::Mode;
use report::CycleTrace;
use std::time::Duration;
use workers::Priority;

/// Frames until all edges of `plan` whose delay changes have their new one: a line must hold it first, and a fade of 20 ms
/// follows. A swap in the middle of that fade would jump to one of its ends.
fn delay_change(plan: &Plan) -> u64 {
    let edges = plan.delayed_edges.iter().map(|edge| edge.tap);
    let longest = edges
        .filter(|tap| tap.is_changing())
        .map(|tap| tap.max_frames());
    let fade = u64::from(plan.rate.hz()) / 50;
    longest.max().map_or(0, |frames| u64::from(frames.0) + fade)
}

/// Message where the callback is a real-time thread and its workers are not.
const UNEQUAL_PRIORITIES: &str = "the callback is a real-time thread and its workers are not, so other programs can \
    hold the sound up: allow real-time priority, or play by `--scheduler sequential`";

impl Engine {
    /// Reads the messages of the audio threads, frees what they retired, and looks for a step that is stuck.
    ///
    /// Real-time: setup.
    pub fn update(&mut self) {
        self.update_with(None);
    }

    /// As [`update`](Self::update). With a trace, each complete cycle is passed to `on_cycle`, in order. A cycle is
    /// assembled when all that belongs to it has come: after the last one, call this twice.
    ///
    /// Real-time: setup.
    pub fn update_with(&mut self, on_cycle: Option<&mut dyn FnMut(&CycleTrace)>) {
        self.collect();
        self.end_transition();
        self.update_controllers();
        let mut dropped = 0;
        for reader in &mut self.resources.readers {
            match &mut self.tracer {
                Some(tracer) => reader.drain(|record| tracer.feed(record)),
                None => reader.drain(drop),
            };
            dropped += reader.dropped();
        }
        if let Some(tracer) = &mut self.tracer {
            tracer.end_pass_with(dropped, on_cycle);
        }
        if self.resources.options.mode == Mode::Live {
            self.quarantine_stuck();
            self.compare_priorities();
            self.adapt();
        }
        self.name_faulty();
    }

    /// Reads the cycle messages and frees the retired executor.
    pub(super) fn collect(&mut self) {
        while let Ok(message) = self.rings.cycles.pop() {
            if message.is_swapped {
                self.finish_swap(message.cycle);
            }
            self.note_events_taken(message.events_taken);
            if message.outcome == CycleOutcome::Missed
                && let Some(tracer) = &mut self.tracer
            {
                tracer.mark_missed(message.cycle);
            }
            self.summary.add(&message);
            // Of the plan that plays alone, and of whole graphs: while an edit fades two of them play.
            let is_steady = self.next.is_none() && self.transition.is_none();
            if let Some(adaptation) = &mut self.adaptation {
                match message.outcome {
                    _ if !is_steady => adaptation.restart_window(),
                    CycleOutcome::InTime | CycleOutcome::Missed => {
                        adaptation.add(message.duration_ns, &self.plan);
                    }
                    _ => {}
                }
            }
            if matches!(message.outcome, CycleOutcome::InTime | CycleOutcome::Missed) {
                self.position += u64::from(self.resources.options.block.0);
            }
        }
        // Behind the messages: errors are counted before the message of their cycle.
        self.summary.set_errors(self.rings.errors.get());
        if let Ok(retired) = self.rings.retired.pop() {
            drop(retired);
            self.has_retiring = false;
        }
        // A worker may have been in it then.
        self.resources.pool.free_unused();
        if self.has_unused && !self.is_swapping() {
            // Not before: nodes that left the graph have played until now, and their background work with them.
            self.has_unused = false;
            let transition = self.transition.as_ref();
            let playing = transition.map_or(&self.graph, |it| &it.graph);
            self.resources.remove_unused(playing);
        }
    }

    /// The next executor runs, from `cycle` on.
    fn finish_swap(&mut self, cycle: u32) {
        if let Some((watchdog, names)) = self.next.take() {
            if !std::mem::take(&mut self.is_later_swap) {
                self.swap_frame = self.position;
            }
            self.watchdog = watchdog;
            self.has_unused = true;
            if let Some(transition) = &mut self.transition {
                let block = u64::from(self.resources.options.block.0);
                let fade = u64::from(fade_frames(&self.resources.options));
                let fade = fade + delay_change(&self.plan);
                // In a pipeline too: each stage swaps at the same block, however late it plays that.
                transition
                    .ends_at
                    .get_or_insert(self.position + fade + block);
            }
            if let Some(tracer) = &mut self.tracer {
                tracer.swap(cycle, names);
            }
        }
    }

    /// Tells the user, once, if the callback is a real-time thread and its workers are not: any program may then take a
    /// worker's core in the middle of a step, and the callback waits.
    fn compare_priorities(&mut self) {
        let is_known = self.has_compared_priorities || self.workers() == 1;
        let Some(host) = self.watchdog.host_thread().filter(|_| !is_known) else {
            return;
        };
        self.has_compared_priorities = true;
        let is_real_time = |p| matches!(p, Priority::RealTime(_));
        let workers = self.resources.pool.status().granted;
        if host.priority().is_some_and(is_real_time) && !is_real_time(workers) {
            self.refused.push(UNEQUAL_PRIORITIES.to_owned());
        }
    }

    /// Looks for steps that have not returned for too long, and prepares a plan without their nodes.
    fn quarantine_stuck(&mut self) {
        let limit = watchdog::limit(self.resources.options.period());
        for stuck in self.watchdog.find_stuck(Duration::from_nanos(limit.0)) {
            let Some(id) = stuck.node else {
                continue;
            };
            let id = self.resources.head_of(id);
            // It may be stuck for longer than the plan without it takes.
            let is_known = self.graph.node(id).map(|node| !node.enabled);
            if is_known.unwrap_or(self.faulty.contains(&id)) {
                continue;
            }
            let node = self.playing_graph().node(id);
            let name = node.map_or_else(String::new, |node| node.name.clone());
            if self.faulty.insert(id) {
                let worker = stuck.worker;
                self.quarantined.push(format!(
                    "`{name}` did not return on worker {worker}: it is silent now"
                ));
            }
            if let Some(node) = self.graph.node_mut(id) {
                node.enabled = false;
            }
            // If a change is on its way already, its executor finds the stuck processor by itself.
            let _ = self.swap_at_once();
        }
    }

    /// Names the nodes that have failed since the last call, but those that the watchdog has named.
    fn name_faulty(&mut self) {
        let faults = self.summary.faults();
        if std::mem::replace(&mut self.seen_faults, faults) == faults {
            return;
        }
        let transition = self.transition.as_ref();
        let playing = transition.map_or(&self.graph, |transition| &transition.graph);
        for (id, node) in self.resources.faulty(&self.resources.expanded(playing)) {
            if self.faulty.insert(id) {
                let message = format!(
                    "`{}` panicked, or did not return: it is silent now",
                    node.name
                );
                self.quarantined.push(message);
            }
        }
    }
}
