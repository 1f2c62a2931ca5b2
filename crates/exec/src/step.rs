//! One step's turn: sums, events, sleep, and the processor.

use crate::lines;
use crate::passages::PassageMemory;
use crate::stage::{Act, Bound, Hears, Own, Rare, Stage};
use crate::sum::set_flag;
use processor::{Block, Event, EventTarget, InputBuffer, ProcessInfo, ProcessStatus, Processor};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

impl Stage {
    /// Runs the step `index`.
    ///
    /// # Safety
    ///
    /// Rules 1 to 3 of `crate::stage`: the caller has the step for this cycle, and all it waits for has run.
    ///
    /// Real-time: hot, as far as its processor is.
    #[inline(always)]
    pub(crate) unsafe fn run(&self, index: u32, moment: &ProcessInfo<'_>) {
        let step = &self.steps[index as usize];
        if let (Act::Process(processor), false) = (&step.act, step.special) {
            // SAFETY: rule 2: the step's own part is ours for this cycle.
            let own = unsafe { &mut *step.own.get() };
            if !(own.asleep | own.dead | own.has_post) {
                // The short way: what nearly every step of nearly every cycle takes.
                // SAFETY: the caller's promise.
                return unsafe { play(*processor, step.flag, own, moment) };
            }
        }
        // SAFETY: the caller's promise.
        unsafe { self.run_with_care(step, moment) };
    }

    /// # Safety
    ///
    /// As `run`.
    #[inline(never)]
    unsafe fn run_with_care(&self, step: &Bound, moment: &ProcessInfo<'_>) {
        if step.special
            && let Some(lagged) = &step.rare.lagged
        {
            let earlier = self.earlier(lagged, moment);
            // SAFETY: the caller's promise, and rule 2.
            unsafe {
                self.take_posts(step, earlier.position);
                self.run_now(step, &earlier);
            }
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.run_now(step, moment) };
        }
    }

    /// # Safety
    ///
    /// As `run`.
    unsafe fn run_now(&self, step: &Bound, moment: &ProcessInfo<'_>) {
        // SAFETY: rule 2: the step's own part is ours for this cycle.
        let own = unsafe { &mut *step.own.get() };
        if step.special {
            // SAFETY: as the caller promises.
            if unsafe { !self.prepare(step, own, moment) } {
                return;
            }
        } else if own.has_post {
            take_post(own);
        }
        match step.act {
            // SAFETY: as the caller promises.
            Act::Process(processor) => unsafe { process(processor, own, moment) },
            // SAFETY: as above.
            _ => unsafe { self.other(step, own, moment) },
        }
        if own.io.has_events {
            if own.has_post {
                own.inbox.clear();
                own.has_post = false;
            }
            forget_events(own);
        }
    }

    /// The rarer acts.
    ///
    /// # Safety
    ///
    /// As `run`.
    unsafe fn other(&self, step: &Bound, own: &mut Own, moment: &ProcessInfo<'_>) {
        // SAFETY: the caller's promise is ours, for each.
        unsafe {
            match &step.act {
                Act::Process(processor) => process(*processor, own, moment),
                Act::Write(line) => {
                    let block = Block::new(&own.io, moment);
                    for c in 0..line.channels as usize {
                        lines::write(line, c, moment.position, channel_or_silence(&block, c));
                    }
                }
                Act::Keep => self.keep(own, moment),
                Act::Send(passage) => {
                    let input = Block::new(&own.io, moment).input(0);
                    let silent = input.is_silent();
                    for c in 0..input.channels().count() {
                        passage.send(moment.position, c, input.channel(c), silent);
                    }
                }
                Act::Receive(passage) => receive(passage, own, moment),
                Act::Align(aligning) => self.count_lost(aligning.run(own, moment)),
                Act::Mute => silence(own, moment),
                Act::Loop { from, to, part } => self.rounds((*from, *to), *part, moment),
            }
        }
    }

    /// Sums and events; whether the step runs in this cycle at all.
    ///
    /// # Safety
    ///
    /// As `run`.
    unsafe fn prepare(&self, step: &Bound, own: &mut Own, moment: &ProcessInfo<'_>) -> bool {
        if moment.offset == 0 {
            for send in own.io.cold.event_outputs.iter().filter(|s| !s.is_null()) {
                // SAFETY: rule 2: what the step sends is its own while it runs.
                let room = unsafe { &mut **send };
                room.events.clear();
                self.count_lost(std::mem::take(&mut room.dropped));
            }
        }
        let rare = &step.rare;
        if rare.shared && rare.resident.as_ref().is_some_and(|r| r.is_dead()) {
            // One of its copies died.
            own.dead = true;
        }
        if rare.every != 1 && moment.cycle % u64::from(rare.every) != u64::from(rare.phase) {
            // SAFETY: rule 3.
            self.count_lost(unsafe { keep_for_later(rare, own) });
            return false;
        }
        for sum in &rare.sums {
            // SAFETY: rules 2 and 3.
            unsafe {
                sum.run(
                    moment.offset as usize,
                    moment.frames as usize,
                    moment.is_whole_block,
                )
            };
        }
        // Inside a loop members send in every round, so each round gathers anew, and sees its own part of it all.
        // SAFETY: rule 3.
        self.count_lost(unsafe { gather(rare, own) });
        true
    }

    pub(crate) fn count_lost(&self, events: u64) {
        if events > 0 {
            // Relaxed: only a count.
            self.troubles
                .events_lost
                .fetch_add(events, Ordering::Relaxed);
        }
    }

    /// Copies a sink's input to where it stays until the cycle ends.
    ///
    /// # Safety
    ///
    /// As `run`.
    unsafe fn keep(&self, own: &mut Own, moment: &ProcessInfo<'_>) {
        clear_flags(own);
        // SAFETY: as the caller promises.
        let mut block = unsafe { Block::new(&own.io, moment) };
        let input = block.input(0);
        if input.is_silent() {
            return block.silence_outputs();
        }
        let mut out = block.output(0);
        for c in 0..out.channels().count() {
            let (from, to) = (input.channel(c), out.channel(c));
            to.copy_from_slice(from);
            // Adding up 0 * x finds what is not finite without a branch a sample.
            if to.iter().map(|x| x * 0.0).sum::<f32>() != 0.0 {
                let mut bad = 0;
                for x in to.iter_mut().filter(|x| !x.is_finite()) {
                    *x = 0.0;
                    bad += 1;
                }
                // Relaxed: only a count.
                self.troubles.not_finite.fetch_add(bad, Ordering::Relaxed);
            }
        }
    }

    /// Runs the inner steps of a loop again and again on parts of the block. One that panics is dead from then on.
    ///
    /// # Safety
    ///
    /// As `run`, for each of them.
    unsafe fn rounds(&self, (from, to): (u32, u32), part: u32, moment: &ProcessInfo<'_>) {
        let steps = &self.inner[from as usize..to as usize];
        let mut offset = 0;
        while offset < moment.frames {
            let frames = part.min(moment.frames - offset);
            let round = ProcessInfo {
                frames,
                offset,
                position: moment.position + u64::from(offset),
                is_whole_block: frames == moment.frames,
                ..*moment
            };
            for step in steps {
                // SAFETY: as the caller promises.
                let run = AssertUnwindSafe(|| unsafe { self.run_inner(step, &round) });
                if let Err(payload) = catch_unwind(run) {
                    std::mem::forget(payload);
                    self.bury(step);
                    // SAFETY: as above; dead now, it gives silence.
                    unsafe { self.run_inner(step, &round) };
                }
            }
            offset += frames;
        }
        for step in steps {
            // SAFETY: rule 2.
            let own = unsafe { &mut *step.own.get() };
            own.inbox.clear();
            own.has_post = false;
            forget_events(own);
        }
    }

    /// # Safety
    ///
    /// As `run`.
    unsafe fn run_inner(&self, step: &Bound, moment: &ProcessInfo<'_>) {
        // SAFETY: rule 2: the loop is one step, and its members are its own.
        let own = unsafe { &mut *step.own.get() };
        // SAFETY: as the caller promises.
        if unsafe { !self.prepare(step, own, moment) } {
            return;
        }
        // SAFETY: as above.
        unsafe { self.other(step, own, moment) };
    }

    /// Marks the processor of `step` as one that nobody runs again, and counts it. Of a loop, all its members'.
    pub(crate) fn bury(&self, step: &Bound) {
        for member in self.members(step) {
            // SAFETY: rule 2: whoever buries a step has it, or nobody has.
            unsafe { (*member.own.get()).dead = true };
            if member.rare.resident.as_ref().is_some_and(|r| r.kill()) {
                // Relaxed: only a count.
                self.troubles.faults.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// The steps of a loop, or the step itself.
    pub(crate) fn members<'a>(&'a self, step: &'a Bound) -> &'a [Bound] {
        match step.act {
            Act::Loop { from, to, .. } => &self.inner[from as usize..to as usize],
            _ => std::slice::from_ref(step),
        }
    }

    /// Gives silence in the stead of a step that broke off.
    ///
    /// # Safety
    ///
    /// As `run`.
    pub(crate) unsafe fn hush(&self, index: u32, moment: &ProcessInfo<'_>) {
        // SAFETY: rule 2.
        let own = unsafe { &mut *self.steps[index as usize].own.get() };
        forget_events(own);
        // SAFETY: as the caller promises.
        unsafe { silence(own, moment) };
    }
}

/// # Safety
///
/// As `Stage::run`.
unsafe fn process(processor: *mut dyn Processor, own: &mut Own, moment: &ProcessInfo<'_>) {
    if own.dead {
        // SAFETY: as the caller promises.
        return unsafe { silence(own, moment) };
    }
    // SAFETY: as the caller promises.
    let block = unsafe { Block::new(&own.io, moment) };
    if own.asleep && !own.io.has_events && block.is_silent() {
        clear_flags(own);
        // SAFETY: as above.
        return unsafe { Block::new(&own.io, moment) }.silence_outputs();
    }
    // SAFETY: as above.
    unsafe { play(processor, std::ptr::null_mut(), own, moment) };
}

/// Has the processor play. Where the step has just one output channel, `flag` is that one's; else it is null.
///
/// # Safety
///
/// As `Stage::run`.
#[inline(always)]
unsafe fn play(
    processor: *mut dyn Processor,
    flag: *mut u8,
    own: &mut Own,
    moment: &ProcessInfo<'_>,
) {
    if flag.is_null() {
        clear_flags(own);
    } else {
        // SAFETY: the flags of a step's outputs are its own while it runs (rule 2).
        unsafe { set_flag(flag, false) };
    }
    // SAFETY: as the caller promises.
    let mut block = unsafe { Block::new(&own.io, moment) };
    // SAFETY: rule 2: the processor is ours for this cycle.
    let activity = unsafe { (*processor).process(&mut block) };
    // Written only where it changes: whoever releases this step next cycle need not fetch the line then.
    let asleep = activity == ProcessStatus::Sleep;
    if own.asleep != asleep {
        own.asleep = asleep;
    }
}

/// An output is taken as heard until somebody says that it is silent.
#[inline]
pub(crate) fn clear_flags(own: &Own) {
    let ports = own.io.outputs;
    for p in 0..ports.count as usize {
        // SAFETY: there are so many ports, with so many channels each, and the outputs' flags are the running step's
        // (rule 2).
        unsafe {
            let port = &*ports.first.add(p);
            if port.channels > 0 {
                set_flag(port.first.silent, false);
            }
            for c in 1..port.channels as usize {
                set_flag((*port.all.add(c)).silent, false);
            }
        }
    }
}

/// # Safety
///
/// As `Stage::run`.
unsafe fn silence(own: &Own, moment: &ProcessInfo<'_>) {
    clear_flags(own);
    // SAFETY: as the caller promises.
    unsafe { Block::new(&own.io, moment) }.silence_outputs();
}

/// # Safety
///
/// As `Stage::run`.
unsafe fn receive(passage: &PassageMemory, own: &Own, moment: &ProcessInfo<'_>) {
    clear_flags(own);
    // SAFETY: as the caller promises.
    let mut block = unsafe { Block::new(&own.io, moment) };
    // SAFETY: this step is the passage's receiver.
    let handed_on = |c| unsafe { passage.receive(moment.position, c) };
    let channels = block.output(0).channels().count();
    if (0..channels).all(|c| handed_on(c).is_none()) {
        return block.silence_outputs();
    }
    let mut out = block.output(0);
    for c in 0..channels {
        let to = out.channel(c);
        match handed_on(c) {
            Some(from) => to.copy_from_slice(&from[..to.len()]),
            None => to.fill(0.0),
        }
    }
}

fn channel_or_silence<'a>(block: &Block<'a>, channel: usize) -> &'a [f32] {
    let input: InputBuffer<'a> = block.input(0);
    input.channel(channel.min(input.channels().count().saturating_sub(1)))
}

/// Makes what the user posted this cycle's events.
#[cold]
fn take_post(own: &mut Own) {
    let (events, inbox) = (&mut own.io.cold.events, &mut own.inbox);
    events.append(inbox);
    own.has_post = false;
    own.io.has_events = !events.is_empty();
}

#[cold]
fn forget_events(own: &mut Own) {
    own.io.cold.events.clear();
    own.io.has_events = false;
}

/// Merges what the user posted and what other steps have sent so far in this cycle, by frame. What was posted stays in the
/// inbox until the step's turn is over: a loop asks again in each round. How many found no room.
///
/// # Safety
///
/// As `Stage::run`.
unsafe fn gather(rare: &Rare, own: &mut Own) -> u64 {
    let events = &mut own.io.cold.events;
    let mut lost = 0;
    events.clear();
    for event in &own.inbox {
        lost += insert(events, *event);
    }
    for Hears { port, rooms } in &rare.hears {
        for room in rooms {
            // SAFETY: rule 3: sent by a step that we wait for.
            for event in unsafe { &(**room).events } {
                let target = EventTarget::Input(*port);
                lost += insert(events, Event { target, ..*event });
            }
        }
    }
    own.io.has_events = !events.is_empty();
    lost
}

/// In a cycle that a step sits out: what was sent to it waits in its inbox for the cycle in which it runs, and counts as
/// come at that one's start. How many found no room.
///
/// # Safety
///
/// As `Stage::run`.
unsafe fn keep_for_later(rare: &Rare, own: &mut Own) -> u64 {
    let mut lost = 0;
    for Hears { port, rooms } in &rare.hears {
        for room in rooms {
            // SAFETY: rule 3: sent by a step that we wait for.
            for event in unsafe { &(**room).events } {
                let target = EventTarget::Input(*port);
                lost += insert(&mut own.inbox, Event { target, ..*event });
            }
        }
    }
    own.inbox.iter_mut().for_each(|event| event.frame = 0);
    own.has_post = !own.inbox.is_empty();
    lost
}

/// Puts `event` behind all that are not later; how many found no room, 0 or 1.
fn insert(events: &mut Vec<Event>, event: Event) -> u64 {
    if events.len() == events.capacity() {
        return 1;
    }
    let at = events.partition_point(|e| e.frame <= event.frame);
    events.insert(at, event);
    0
}
