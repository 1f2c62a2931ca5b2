//! Runs an aligner: writes its input to the line and reads it again for each tap, delayed.

use super::claim::StepClaim;
use crate::bound::ring::{read, write};
use crate::bound::{AlignerOp, DelayTap, LineState, NEVER};
use processor::Block;

/// Frames that are mixed at once in a fade.
const STRIP: usize = 64;

/// Runs the claimed step, whose operation is `op`. Returns the number of events dropped for lack of room.
///
/// Real-time: hot.
pub(super) fn run(claim: &mut StepClaim<'_>, op: &AlignerOp) -> u64 {
    if op.ring.channels == 0 {
        return delay_events(claim, op);
    }
    claim.forget_outputs();
    // SAFETY: the line belongs to the aligner's step, and `claim` proves that this step is ours.
    let state = unsafe { &mut *op.line.state.get() };
    let mut line = ClaimedLine { op, state };
    let mut block = claim.block();
    line.begin_block(block.position(), block.frames() as u64);
    line.write_input(&block);
    for (port, tap) in op.taps.iter().enumerate() {
        line.read_tap(tap, (&mut block, port));
    }
    0
}

/// The line of a claimed step. It exists only while the claim does, so no other thread reads or writes the line's
/// memory, and no thread writes that of the older lines.
struct ClaimedLine<'a> {
    op: &'a AlignerOp,
    state: &'a mut LineState,
}

impl ClaimedLine<'_> {
    /// Continues where the last block ended, or begins anew at `from`.
    fn begin_block(&mut self, from: u64, frames: u64) {
        // The block of an abandoned cycle is processed again.
        let is_continued = |next: u64| next == from || next == from + frames;
        if is_continued(self.state.next) {
            return;
        }
        let mut known_from = from;
        // SAFETY: the step is claimed (`ClaimedLine`).
        let older = unsafe { self.op.line.older_lines() }.next();
        if let Some((older, state)) = older.filter(|(_, state)| is_continued(state.next)) {
            let capacity = u64::from(older.ring.raw().capacity);
            let oldest = state.next.saturating_sub(capacity);
            known_from = state.known_from.max(oldest).min(from);
        }
        *self.state = LineState {
            known_from,
            begins_at: from,
            next: from,
            silent_from: from,
        };
    }

    /// Writes the input to the line.
    fn write_input(&mut self, block: &Block<'_>) {
        let (from, frames) = (block.position(), block.frames() as u64);
        let input = block.input(0);
        let is_silent = input.is_silent();
        self.state.next = from + frames;
        if !is_silent {
            self.state.silent_from = self.state.next;
        } else if self.state.silent_from + u64::from(self.op.ring.capacity) <= from {
            // The whole ring is silent already.
            return;
        }
        for c in 0..input.channels().count() {
            // SAFETY: the step is claimed (`ClaimedLine`).
            unsafe { write(&self.op.ring, c, from, input.channel(c)) };
        }
    }

    /// Writes output `port`, delayed by `tap`.
    fn read_tap(&self, tap: &DelayTap, (block, port): (&mut Block<'_>, usize)) {
        let (from, frames) = (block.position(), block.frames());
        let start = tap.change_start(from.max(self.state.known_from + tap.delay));
        let fades = |start: u64| from < start + self.op.fade && start < from + frames as u64;
        let delay = match start {
            Some(start) if from < start => tap.old_delay,
            _ => tap.delay,
        };
        let mut out = block.output(port);
        let is_fading = start.is_some_and(fades);
        if !is_fading && self.state.silent_from + delay <= from {
            return out.silence();
        }
        for c in 0..out.channels().count() {
            let to = out.channel(c);
            self.read(c, (from, delay), to);
            if let Some(start) = start.filter(|_| is_fading) {
                self.crossfade(tap, (c, from, start), to);
            }
        }
    }

    /// Reads the frames `delay` before `from`. Frames that are not known are silent.
    fn read(&self, channel: usize, (from, delay): (u64, u64), to: &mut [f32]) {
        let count = to.len() as u64;
        // Number of frames of `to` that lie before `position`.
        let before = |position: u64| (position + delay).saturating_sub(from).min(count) as usize;
        let position = |frame: usize| (from + frame as u64).wrapping_sub(delay);
        let unknown = before(self.state.known_from);
        let mut older = before(self.state.begins_at);
        to[..unknown].fill(0.0);
        // SAFETY: the step is claimed (`ClaimedLine`). The frames are in the line: it holds the longest delay and a
        // block.
        unsafe { read(&self.op.ring, channel, position(older), &mut to[older..]) };
        if unknown == older {
            return;
        }
        // SAFETY: the step is claimed (`ClaimedLine`).
        for (line, state) in unsafe { self.op.line.older_lines() } {
            let begin = before(state.begins_at).clamp(unknown, older);
            let part = &mut to[begin..older];
            // SAFETY: the step is claimed (`ClaimedLine`). The frames are in the older line: `known_from` says so.
            unsafe { read(&line.ring.raw(), channel, position(begin), part) };
            older = begin;
        }
    }

    /// Fades from the old delay of `tap` to the new one, from position `start` on.
    fn crossfade(&self, tap: &DelayTap, (channel, from, start): (usize, u64, u64), to: &mut [f32]) {
        let (mut old, mut new) = ([0.0; STRIP], [0.0; STRIP]);
        for (strip, from) in to.chunks_mut(STRIP).zip((from..).step_by(STRIP)) {
            let (old, new) = (&mut old[..strip.len()], &mut new[..strip.len()]);
            self.read(channel, (from, tap.old_delay), old);
            self.read(channel, (from, tap.delay), new);
            for (at, (y, (old, new))) in (from..).zip(strip.iter_mut().zip(old.iter().zip(new))) {
                let faded = at.saturating_sub(start).min(self.op.fade);
                let weight = faded as f32 / self.op.fade as f32;
                *y = old * (1.0 - weight) + *new * weight;
            }
        }
    }
}

/// Delays events. Returns the number of those that found no room.
fn delay_events(claim: &mut StepClaim<'_>, op: &AlignerOp) -> u64 {
    // SAFETY: the line belongs to the aligner's step, and `claim` proves that this step is ours.
    let (waiting, state) = unsafe { (&mut *op.line.events.get(), &mut *op.line.state.get()) };
    let is_new = std::mem::replace(&mut state.next, 0) == NEVER;
    let mut block = claim.block();
    // SAFETY: the step is claimed, as above.
    let older = unsafe { op.line.older_lines() }.next();
    if let Some((older, _)) = older.filter(|_| is_new) {
        // SAFETY: no thread writes an older line while this step is claimed.
        let older = unsafe { &*older.events.get() };
        waiting.extend(older.iter().take(waiting.capacity()));
    }
    let (from, end) = (block.position(), block.position() + block.frames() as u64);
    // The block of an abandoned cycle is processed again.
    while waiting.pop_back_if(|(at, _)| *at >= from).is_some() {}
    let is_past = |at: u64| at + op.max_delay < from;
    while waiting.pop_front_if(|(at, _)| is_past(*at)).is_some() {}
    let mut lost = 0;
    for event in block.events().iter() {
        if waiting.len() == waiting.capacity() {
            lost += 1;
        } else {
            waiting.push_back((from + u64::from(event.frame), event));
        }
    }
    for (port, tap) in op.taps.iter().enumerate() {
        let start = tap.change_start(from).unwrap_or(0);
        let due = |at: u64| (at + tap.delay).max(start);
        let is_over = |at: u64| due(at) < from || at + tap.old_delay < start;
        let first = waiting.partition_point(|(at, _)| is_over(*at));
        for (at, event) in waiting.range(first..).take_while(|(at, _)| due(*at) < end) {
            block.send_event(port, (due(*at) - from) as u32, event.body);
        }
    }
    lost
}
