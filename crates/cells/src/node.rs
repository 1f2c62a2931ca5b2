//! The cell as a node of the supervisor's graph: it sends, receives, and fades what is lost.
//!
//! ```text
//!   block     k          k+1        k+2        k+3
//!   cell      ▓▓▓▓▓▓▓    dies                  is back
//!   output    ▓▓▓▓▓▓▓    ╲______    _______    ╱▓▓▓▓▓▓
//!                        the last samples      from silence
//!                        fade within a block   within a block
//! ```
//!
//! Live it waits for a reply for half a block's period at most. With a latency of one block or more that time begins with the block
//! before the reply's deadline: so it does not wait, but where a device asks for several blocks at once. Offline it waits
//! until the reply comes or the monitor has ended the process, so that a healthy cell loses nothing.
//!
//! | file | holds |
//! |---|---|
//! | `link` | [`CellLink`]: the way to the monitor of its process |
//! | `drill` | [`Drill`]: a failure on purpose |
//! | `reply` | the reply to a block, or a fade |

mod drill;
mod link;
mod reply;

pub use drill::{Drill, DrillKind};
pub use link::{CellLink, CellLinks};

use crate::border::{CELL, hidden_kind, register_tap};
use crate::events;
use crate::inner_events::InnerEvents;
use crate::message::{HostEnd, ReplyError, RequestInfo};
use crate::node_events::{NodeEvents, count_lost};
use crate::raw;
use crate::transport::{TRANSPORT_WORDS, TransportFeed};
use graph::{Node, Signal};
use link::NodeLink;
use processor::{Block, MakeError, Mode, ProcessStatus, Processor, Registry, Setup, Tail};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use units::{Frames, Nanos};

/// Registers the nodes of cells: `links` has one for each that is made.
///
/// Real-time: setup.
pub fn register_cells(registry: &mut Registry, links: CellLinks) {
    let mut kind = hidden_kind(CELL, "Plays a part of the graph in a process of its own.");
    // Events for nodes inside come as those of its parameters.
    kind.has_own_params = true;
    registry.add(kind, move |context| {
        let name = &context.node.name;
        let mut links = links.lock().unwrap_or_else(PoisonError::into_inner);
        let link = links.remove(name).ok_or_else(|| MakeError {
            message: format!("`{name}` has no process, or was made twice"),
            key: None,
        })?;
        Ok(Box::new(CellNode::new(link, context.node)))
    });
    register_tap(registry);
}

/// The running half of a cell's node.
struct CellNode {
    link: NodeLink,
    end: Option<HostEnd>,
    block: usize,
    /// Longest wait for the reply to a block, from its request on.
    budget: Nanos,
    /// Time of the last request.
    asked: Nanos,
    is_offline: bool,
    /// Number of the next block.
    next: u64,
    /// First block that was sent to the present process.
    first: u64,
    /// First block whose reply it owes: the same, or the one after its budget was used up.
    owed: u64,
    /// It was stopped when the last block was played.
    was_stopped: bool,
    /// The user has started it: until its first reply is due nothing is lost.
    is_awaited: bool,
    /// By block, modulo their number: true if it was sent. As many as are on their way.
    sent: Vec<bool>,
    /// Channels x frames of the last reply.
    samples: Vec<f32>,
    /// Channels of each output; 0 for one of events.
    outputs: Vec<usize>,
    events: NodeEvents,
    inner: InnerEvents,
    transport: TransportFeed,
    /// Last sample of each channel, from which a fade begins.
    last: Vec<f32>,
    was_lost: bool,
}

impl CellNode {
    fn new(link: CellLink, node: &Node) -> Self {
        let (link, inner) = link.take();
        let outputs = node.outputs.iter().map(|port| match port.signal {
            Signal::Audio(channels) => channels.count(),
            Signal::Control | Signal::Event => 0,
        });
        let outputs: Vec<usize> = outputs.collect();
        let first = link.first_block;
        Self {
            link,
            end: None,
            block: 0,
            budget: Nanos(0),
            asked: Nanos(0),
            is_offline: false,
            next: first,
            first,
            owed: first,
            was_stopped: false,
            is_awaited: false,
            sent: Vec::new(),
            samples: Vec::new(),
            last: vec![0.0; outputs.iter().sum()],
            events: NodeEvents::new(&node.inputs, &node.outputs),
            inner,
            transport: TransportFeed::new(Arc::default()),
            outputs,
            was_lost: false,
        }
    }

    /// Takes the rings of a new process, if there is one.
    fn take_fresh(&mut self) {
        if let Ok(fresh) = self.link.fresh.pop() {
            self.retire();
            let from = fresh.continues_from();
            self.end = Some(fresh);
            (self.first, self.owed) = (self.next, self.next);
            // Relaxed: the monitor takes it back when the process has come, the node sees it one block before.
            self.is_awaited = self.was_stopped || self.link.status.stopped.load(Ordering::Relaxed);
            self.set_behind(from);
        }
    }

    /// Gives the present rings back. There is room for all that can be on their way.
    fn retire(&mut self) {
        if let Some(end) = self.end.take()
            && let Err(rtrb::PushError::Full(end)) = self.link.retired.push(end)
        {
            // A leak is better than a free on this thread.
            std::mem::forget(end);
        }
    }

    /// Waits for a process, offline.
    fn await_process(&mut self) {
        let status = self.link.status.clone();
        while self.end.is_none() && !status.is_gone() {
            std::thread::sleep(Duration::from_millis(1));
            self.take_fresh();
        }
    }

    /// Sends the inputs of this block.
    fn send(&mut self, block: &Block<'_>) {
        // The wake is what a cell without budget is not given.
        if self.link.status.throttled.load(Ordering::Relaxed) {
            self.set_sent(false);
            self.follow(block);
            self.set_behind(None);
            self.owed = self.next + 1;
            return;
        }
        // Relaxed: stored before the first block.
        let position = block.position() + self.link.offset.load(Ordering::Relaxed);
        let drill = self.drill(position);
        let info = RequestInfo {
            block: self.next,
            position,
            drill,
        };
        let (events, event_words) = (&mut self.events, events::words(self.block));
        let (inner, transport) = (&mut self.inner, &mut self.transport);
        let range = (block.position(), block.position() + self.block as u64);
        let mut lost = 0;
        let sent = self.end.as_mut().map(|end| {
            end.send(info, |mut words| {
                for port in 0..block.input_count() {
                    let input = block.input(port);
                    let channels = input.channels().count();
                    for channel in 0..channels {
                        let samples = input.channel(channel);
                        let here = words.split_off_mut(..samples.len()).unwrap_or_default();
                        let samples = here.iter_mut().zip(samples);
                        samples.for_each(|(word, sample)| *word = sample.to_bits());
                    }
                    if channels == 0 {
                        let here = words.split_off_mut(..event_words).unwrap_or_default();
                        lost += events.write(block, port, here);
                    }
                }
                let changes = words.split_off_mut(..TRANSPORT_WORDS).unwrap_or_default();
                transport.write(range, changes);
                lost += inner.write(block, words);
            })
        });
        count_lost(&self.link.status, lost);
        self.follow(block);
        self.set_sent(sent == Some(Ok(())));
        match sent {
            Some(Ok(())) => {
                self.events.set_sent();
                self.inner.set_sent();
                self.transport.set_sent();
                if drill != 0 {
                    self.link.status.drill.store(drill, Ordering::Relaxed);
                }
            }
            // No room: the cell is behind by a ring's length, and this block is lost.
            Some(Err(ReplyError::Late)) | None => self.set_behind(None),
            Some(Err(error)) => self.give_up(error),
        }
    }

    /// Notes that the present block was sent or not: nobody waits for the reply to one that was not.
    fn set_sent(&mut self, is_sent: bool) {
        let at = self.next as usize % self.sent.len().max(1);
        if let Some(sent) = self.sent.get_mut(at) {
            *sent = is_sent;
        }
    }

    fn was_sent(&self, block: u64) -> bool {
        let at = block as usize % self.sent.len().max(1);
        self.sent.get(at).copied().unwrap_or(false)
    }

    /// A process has come, or has missed a block. `from`: the frame from which it continues.
    fn set_behind(&mut self, from: Option<u64>) {
        self.events.set_behind(from);
        self.inner.set_behind(from);
        self.transport.set_behind();
    }

    /// Follows the events of this block, whether they were sent or not.
    fn follow(&mut self, block: &Block<'_>) {
        // Relaxed: stored before the first block.
        let position = block.position() + self.link.offset.load(Ordering::Relaxed);
        let at = (position, self.was_lost);
        (0..block.input_count()).for_each(|port| self.events.follow(block, port, at));
        self.inner.follow(block, at);
    }

    /// The drill of the block at `position`, or 0.
    fn drill(&mut self, position: u64) -> u32 {
        let end = position + self.block as u64;
        let is_due = |drill: &Drill| (position..end).contains(&drill.frame);
        let found = self.link.drills.iter().find(|drill| is_due(drill));
        found.map_or(0, |drill| drill.kind as u32)
    }

    /// Uses the present rings no more.
    fn give_up(&mut self, error: ReplyError) {
        if let (ReplyError::Corrupt, Some(end)) = (error, &self.end) {
            let process = end.process();
            self.link.status.corrupt.store(process, Ordering::Relaxed);
        }
        self.retire();
    }

    /// Counts a block. One of latency N answers the block N before, so a process that has come owes no reply in its first N.
    fn count(&mut self, has_reply: bool, is_due: bool) {
        let owes = self.end.is_some() && self.next >= self.owed + self.link.latency.blocks();
        self.is_awaited &= !owes && !has_reply;
        let status = &self.link.status;
        self.was_stopped = status.stopped.load(Ordering::Relaxed);
        let is_overdue = owes && !has_reply && !self.was_stopped;
        // A cell that was not asked does not hang.
        let is_throttled = status.throttled.load(Ordering::Relaxed);
        match is_overdue {
            true => status
                .overdue
                .fetch_add(u32::from(!is_throttled), Ordering::Relaxed),
            false => status.overdue.swap(0, Ordering::Relaxed),
        };
        status.blocks.fetch_add(1, Ordering::Relaxed);
        if has_reply || !is_due || self.was_stopped || self.is_awaited {
            let missed = status.missed.swap(0, Ordering::Relaxed);
            if missed > 0 {
                status.outage.store(missed, Ordering::Relaxed);
            }
            return;
        }
        status.lost.fetch_add(1, Ordering::Relaxed);
        let asked = u32::from(!is_throttled);
        status.missed.fetch_add(asked, Ordering::Relaxed);
    }
}

impl Processor for CellNode {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.block = setup.block.count();
        self.transport = TransportFeed::new(setup.services.transport());
        self.is_offline = setup.mode != Mode::Live;
        let period = setup.block.duration(setup.rate);
        self.budget = Nanos(period.0 / 2);
        self.sent = vec![false; self.link.latency.blocks() as usize + 1];
        self.samples = vec![0.0; self.last.len() * self.block];
        self.events.setup(self.block);
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        if block.frames() != self.block {
            // A cell in a loop of parts of a block; the splitter refuses such sessions.
            block.silence_outputs();
            return ProcessStatus::Continue;
        }
        self.take_fresh();
        if self.is_offline {
            self.await_process();
        }
        let began = raw::now();
        self.send(block);
        let latency = self.link.latency.blocks();
        let is_due = self.next >= latency;
        let asked = std::mem::replace(&mut self.asked, began);
        let limit = match latency {
            0 => self.budget,
            // Of a device that asks for one block in each period, that time has passed.
            _ => Nanos((asked.0 + self.budget.0).saturating_sub(began.0)),
        };
        let has_reply = is_due && self.receive(self.next - latency, limit);
        if latency == 0 && !self.is_offline {
            let response = match has_reply {
                true => Nanos(raw::now().0.saturating_sub(began.0)),
                false => Nanos(u64::MAX),
            };
            // The graph waits for half a block at most.
            let period = Nanos(2 * self.budget.0);
            self.link.status.count_response(response, period);
        }
        self.count(has_reply, is_due);
        self.next += 1;
        self.write(block, has_reply);
        // Before the first block that is due there is nothing to fade in from.
        self.was_lost &= is_due;
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.last.fill(0.0);
        self.was_lost = false;
    }

    fn latency(&self) -> Frames {
        let blocks = self.link.latency.blocks() as u32;
        Frames(self.link.graph_latency.0 + blocks * self.block as u32)
    }

    fn tail(&self) -> Tail {
        Tail::Infinite
    }
}
