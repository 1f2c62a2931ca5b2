//! What makes up for latencies: for each output that somebody hears later a line, which outlives the plan.
//!
//! # Swaps
//!
//! A plan that delays the same output takes the line over, with what is in it. Where it needs a longer one, that begins
//! empty, and what was heard before its beginning is read from the older one, which nobody writes any more, or from the one
//! before that: lengths are powers of two and each is longer than the last, so there are at most 31 in a row. A tap that
//! changes goes over from the old time to the new one by a fade, as soon as the line knows enough for the new one: until
//! then it goes on as it was. Events have no fade: each is heard once, one that is overdue at once.
//!
//! # Who may touch what
//!
//! A line is written and read by one step of the executor that has the floor's turn (`crate::stage`, rules 1 and 2). One
//! executor after the other has such a step.

use crate::lines::{LineMemory, capacity, read, write};
use crate::stage::Own;
use crate::step::clear_flags;
use graph::{NodeId, Signal};
use plan::{Aligner, AlignerTap, DelayedEdge, FadeState, Plan};
use processor::{Block, Event, ProcessInfo, RawDelayLine};
use std::cell::UnsafeCell;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use units::Frames;

/// How long a fade from one time to another lasts, in seconds.
const FADE_S: f64 = 0.02;
/// Not yet.
const NEVER: u64 = u64::MAX;
/// So many frames are mixed at once in a fade.
const STRIP: usize = 64;

// The plan's bound counts on it.
const _: () = assert!(size_of::<(u64, Event)>() <= plan::SAMPLES_PER_EVENT * size_of::<f32>());

/// Which output of which node.
type Outlet = (NodeId, u16);

/// The lines of one engine, by output, and when their fades began.
#[derive(Default)]
pub(crate) struct Aligners {
    lines: HashMap<Outlet, Weak<Line>>,
    starts: HashMap<(Outlet, AlignerTap), Weak<AtomicU64>>,
}

/// What one line knows of its sound. Positions are absolute frames.
#[derive(Clone, Copy)]
struct Course {
    /// From here on all is known, be it in older lines.
    since: u64,
    /// From here on it is in this line.
    begun: u64,
    /// Where the next block begins.
    next: u64,
    /// From here on all has been silent.
    silent: u64,
}

/// One line.
pub(crate) struct Line {
    /// For sound.
    ring: LineMemory,
    /// The shorter one that it took over from. Lines double, so all of them together are no longer than twice this.
    older: Option<Arc<Line>>,
    course: UnsafeCell<Course>,
    /// For events: when each was heard.
    waiting: UnsafeCell<VecDeque<(u64, Event)>>,
}

// SAFETY: reached only by the step that has the line, one executor after the other (see the head of this file).
unsafe impl Sync for Line {}

impl Line {
    /// With room for so many `frames` of sound, or so many events.
    fn new((channels, frames): (u32, u32), events: usize, older: Option<Arc<Self>>) -> Self {
        let blank = Event {
            frame: 0,
            target: processor::EventTarget::Input(0),
            body: processor::EventBody::Value(0.0),
        };
        // Written once, so that its pages are there.
        let mut waiting: VecDeque<_> = std::iter::repeat_n((0, blank), events).collect();
        waiting.clear();
        Self {
            ring: LineMemory::new(channels, frames),
            older,
            course: UnsafeCell::new(Course {
                since: 0,
                begun: 0,
                next: NEVER,
                silent: 0,
            }),
            waiting: UnsafeCell::new(waiting),
        }
    }

    /// The older lines that have been written, the newest first: one that never was played knows nothing.
    ///
    /// # Safety
    ///
    /// The caller has this line; then the executors that had the older ones are at rest.
    unsafe fn elders(&self) -> impl Iterator<Item = (&Self, Course)> {
        let all = std::iter::successors(self.older.as_deref(), |line| line.older.as_deref());
        // SAFETY: nobody writes it any more, says the caller.
        let all = all.map(|line| (line, unsafe { *line.course.get() }));
        all.filter(|(_, course)| course.next != NEVER)
    }
}

impl Aligners {
    /// What the step of `aligner` has, in `plan`.
    pub(crate) fn aligning(&mut self, plan: &Plan, aligner: &Aligner) -> Aligning {
        let outlet = (aligner.node, aligner.output);
        let taps = aligner.taps.of(&plan.taps);
        let most = taps.iter().map(|tap| tap.max_frames()).max();
        let channels = match aligner.signal {
            Signal::Audio(channels) => u32::from(channels.0),
            Signal::Control | Signal::Event => 0,
        };
        let most = most.unwrap_or_default();
        let line = self.line(outlet, (channels, capacity(most, plan.block)), plan.block);
        Aligning {
            ring: line.ring.ring(),
            line,
            taps: taps.iter().map(|tap| self.tapped(outlet, *tap)).collect(),
            most: u64::from(most.0),
            fade: fade(plan),
        }
    }

    /// The line of an output: the one that is there if it is long enough, else a new one that takes over from it.
    fn line(&mut self, outlet: Outlet, (channels, frames): (u32, u32), block: Frames) -> Arc<Line> {
        let there = self.lines.get(&outlet).and_then(Weak::upgrade);
        let there = there.filter(|line| line.ring.ring().channels == channels);
        match there {
            Some(line) if line.ring.ring().capacity >= frames => line,
            older => {
                let events = match channels {
                    0 => plan::event_capacity(frames, block),
                    _ => 0,
                };
                let line = Arc::new(Line::new((channels, frames), events, older));
                self.lines.insert(outlet, Arc::downgrade(&line));
                line
            }
        }
    }

    fn tapped(&mut self, outlet: Outlet, tap: AlignerTap) -> Tapped {
        let start = tap.is_changing().then(|| {
            let there = self.starts.get(&(outlet, tap)).and_then(Weak::upgrade);
            there.unwrap_or_else(|| {
                let start = Arc::new(AtomicU64::new(NEVER));
                self.starts.insert((outlet, tap), Arc::downgrade(&start));
                start
            })
        });
        Tapped {
            frames: tap.frames.0.into(),
            was: tap.previous.0.into(),
            start,
        }
    }

    /// How far an edge that `plan` delays has gone over at `position`.
    pub(crate) fn gone(&self, plan: &Plan, it: &DelayedEdge, position: u64) -> FadeState {
        let (outlet, tap) = ((it.from.node, it.from.port), it.tap);
        if !tap.is_changing() {
            return FadeState::Done;
        }
        let start = self.starts.get(&(outlet, tap)).and_then(Weak::upgrade);
        // Relaxed: a number of its own. It is not read before the step has begun, or a little later than it could be.
        let start = start.map_or(NEVER, |start| start.load(Ordering::Relaxed));
        let fade = fade(plan);
        // Events that were due before have been heard by then too.
        let over = start.saturating_add(u64::from(tap.max_frames().0) + fade);
        let aligners = &plan.aligners;
        let aligner = aligners.binary_search_by_key(&outlet, |a| (a.node, a.output));
        let is_sound = aligner.is_ok_and(|at| matches!(aligners[at].signal, Signal::Audio(_)));
        if over <= position {
            FadeState::Done
        } else if is_sound && position < start.saturating_add(fade / 2) {
            FadeState::Fading(tap.previous)
        } else {
            FadeState::Fading(tap.frames)
        }
    }

    /// Forgets what no executor has any more.
    pub(crate) fn tidy(&mut self) {
        self.lines.retain(|_, line| line.strong_count() > 0);
        self.starts.retain(|_, start| start.strong_count() > 0);
    }
}

/// The frames of a fade.
fn fade(plan: &Plan) -> u64 {
    u64::from(Frames::from_seconds_ceil(FADE_S, plan.rate).0.max(1))
}

/// One tap: by how much it is later, and was before it began to change.
struct Tapped {
    frames: u64,
    was: u64,
    /// Where it began to change, if it does: of sound the fade, of events the first block.
    start: Option<Arc<AtomicU64>>,
}

impl Tapped {
    /// Where it began to change; `or` if it has not yet.
    fn start(&self, or: u64) -> Option<u64> {
        let start = self.start.as_ref()?;
        // Relaxed: written and read by the step that has the line, in one cycle after the other.
        let mut begun = start.load(Ordering::Relaxed);
        if begun == NEVER {
            begun = or;
            start.store(begun, Ordering::Relaxed);
        }
        Some(begun)
    }
}

/// What a step that makes up for latency has.
pub(crate) struct Aligning {
    line: Arc<Line>,
    ring: RawDelayLine,
    taps: Box<[Tapped]>,
    most: u64,
    fade: u64,
}

impl Aligning {
    /// Takes up a block of its input and gives what its taps are to be heard; how many events found no room.
    ///
    /// # Safety
    ///
    /// As `Stage::run`, for a step outside of loops.
    ///
    /// Real-time: hot.
    pub(crate) unsafe fn run(&self, own: &mut Own, moment: &ProcessInfo<'_>) -> u64 {
        // SAFETY: the caller's promise, for each.
        unsafe {
            if self.ring.channels == 0 {
                return self.pass_events(own, moment);
            }
            clear_flags(own);
            let mut block = Block::new(&own.io, moment);
            let course = &mut *self.line.course.get();
            self.begin(course, moment.position, block.frames() as u64);
            self.take(course, &block);
            for (port, tap) in self.taps.iter().enumerate() {
                self.give(course, tap, (&mut block, port));
            }
        }
        0
    }

    /// Goes on where the last block ended, or begins anew.
    ///
    /// # Safety
    ///
    /// As `run`.
    unsafe fn begin(&self, course: &mut Course, from: u64, frames: u64) {
        // A cycle that was given up is played again.
        let goes_on = |next: u64| next == from || next == from + frames;
        if goes_on(course.next) {
            return;
        }
        let mut since = from;
        // SAFETY: the line is this step's.
        let before = unsafe { self.line.elders() }.next();
        if let Some((older, before)) = before.filter(|(_, before)| goes_on(before.next)) {
            let capacity = u64::from(older.ring.ring().capacity);
            let held = before.next.saturating_sub(capacity);
            since = before.since.max(held).min(from);
        }
        *course = Course {
            since,
            begun: from,
            next: from,
            silent: from,
        };
    }

    /// Writes the input down.
    ///
    /// # Safety
    ///
    /// As `run`.
    unsafe fn take(&self, course: &mut Course, block: &Block<'_>) {
        let (from, frames) = (block.position(), block.frames() as u64);
        let input = block.input(0);
        let is_silent = input.is_silent();
        course.next = from + frames;
        if !is_silent {
            course.silent = course.next;
        } else if course.silent + u64::from(self.ring.capacity) <= from {
            // The ring is silent all round.
            return;
        }
        for c in 0..input.channels().count() {
            // SAFETY: the line is this step's.
            unsafe { write(&self.ring, c, from, input.channel(c)) };
        }
    }

    /// Gives one tap.
    ///
    /// # Safety
    ///
    /// As `run`.
    unsafe fn give(&self, course: &Course, tap: &Tapped, (block, port): (&mut Block<'_>, usize)) {
        let (from, frames) = (block.position(), block.frames());
        let start = tap.start(from.max(course.since + tap.frames));
        let fades = |start: u64| from < start + self.fade && start < from + frames as u64;
        let late = match start {
            Some(start) if from < start => tap.was,
            _ => tap.frames,
        };
        let mut out = block.output(port);
        let is_fading = start.is_some_and(fades);
        if !is_fading && course.silent + late <= from {
            return out.silence();
        }
        for c in 0..out.channels().count() {
            let to = out.channel(c);
            // SAFETY: the line is this step's.
            unsafe {
                self.read(course, c, (from, late), to);
                if let Some(start) = start.filter(|_| is_fading) {
                    self.mix(course, tap, (c, from, start), to);
                }
            }
        }
    }

    /// Reads what came `late` frames before `from`: silence where that is not known.
    ///
    /// # Safety
    ///
    /// As `run`.
    unsafe fn read(
        &self,
        course: &Course,
        channel: usize,
        (from, late): (u64, u64),
        to: &mut [f32],
    ) {
        // How much of `to` comes before a position.
        let count = to.len() as u64;
        let before = |position: u64| (position + late).saturating_sub(from).min(count) as usize;
        let (unknown, mut old) = (before(course.since), before(course.begun));
        let at = |frame: usize| (from + frame as u64).wrapping_sub(late);
        to[..unknown].fill(0.0);
        // SAFETY: the line is this step's, and nobody writes the older ones any more. What is read is in them: `since` says
        // so of the older ones, and this one holds the longest tap beside a block.
        unsafe {
            read(&self.ring, channel, at(old), &mut to[old..]);
            if unknown == old {
                return;
            }
            for (line, course) in self.line.elders() {
                let begun = before(course.begun).clamp(unknown, old);
                read(&line.ring.ring(), channel, at(begun), &mut to[begun..old]);
                old = begun;
            }
        }
    }

    /// Mixes the old time into the new one, or the other way: whichever `to` has.
    ///
    /// # Safety
    ///
    /// As `run`.
    unsafe fn mix(
        &self,
        course: &Course,
        tap: &Tapped,
        (channel, from, start): (usize, u64, u64),
        to: &mut [f32],
    ) {
        let (mut old, mut new) = ([0.0; STRIP], [0.0; STRIP]);
        for (strip, from) in to.chunks_mut(STRIP).zip((from..).step_by(STRIP)) {
            let (old, new) = (&mut old[..strip.len()], &mut new[..strip.len()]);
            // SAFETY: the caller's promise.
            unsafe {
                self.read(course, channel, (from, tap.was), old);
                self.read(course, channel, (from, tap.frames), new);
            }
            for (at, (y, (old, new))) in (from..).zip(strip.iter_mut().zip(old.iter().zip(new))) {
                let gone = at.saturating_sub(start).min(self.fade);
                let weight = gone as f32 / self.fade as f32;
                *y = old * (1.0 - weight) + *new * weight;
            }
        }
    }

    /// The same for events.
    ///
    /// # Safety
    ///
    /// As `run`.
    unsafe fn pass_events(&self, own: &mut Own, moment: &ProcessInfo<'_>) -> u64 {
        // SAFETY: the caller's promise; the line is this step's, and so are the older ones: who had them is at rest.
        let (mut block, waiting, is_new) = unsafe {
            let waiting = &mut *self.line.waiting.get();
            let next = &mut (*self.line.course.get()).next;
            let is_new = std::mem::replace(next, 0) == NEVER;
            (Block::new(&own.io, moment), waiting, is_new)
        };
        // SAFETY: as above.
        let older = unsafe { self.line.elders() }.next();
        if let Some((older, _)) = older.filter(|_| is_new) {
            // SAFETY: as above.
            let older = unsafe { &*older.waiting.get() };
            waiting.extend(older.iter().take(waiting.capacity()));
        }
        let (from, end) = (moment.position, moment.position + u64::from(moment.frames));
        // A cycle that was given up is played again.
        while waiting.pop_back_if(|(at, _)| *at >= from).is_some() {}
        while waiting
            .pop_front_if(|(at, _)| *at + self.most < from)
            .is_some()
        {}
        let mut lost = 0;
        for event in block.events().iter() {
            if waiting.len() == waiting.capacity() {
                lost += 1;
            } else {
                waiting.push_back((from + u64::from(event.frame), event));
            }
        }
        for (port, tap) in self.taps.iter().enumerate() {
            let start = tap.start(from).unwrap_or(0);
            let due = |at: u64| (at + tap.frames).max(start);
            let is_over = |at: u64| due(at) < from || at + tap.was < start;
            let first = waiting.partition_point(|(at, _)| is_over(*at));
            for (at, event) in waiting.range(first..).take_while(|(at, _)| due(*at) < end) {
                block.send_event(port, (due(*at) - from) as u32, event.body);
            }
        }
        lost
    }
}
