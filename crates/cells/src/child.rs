//! [`run_cell`]: the process of a cell. It opens its rings, makes its engine, gives up all else, and answers requests.
//!
//! ```text
//!   begin_process   death with the guardian, which is the parent; nothing is open that it was not given
//!   place           its cores
//!   engine, rings   files are opened and memory is taken here
//!   restrict        priority, limits, Landlock, seccomp: no way back
//!   hello           the supervisor takes the rings into its graph
//!   loop            request ─▶ one cycle ─▶ reply
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `seat` | its engine, for the thread that plays and the one of edits |
//! | `editor` | the thread of edits |
//! | `taps` | outputs that are tapped |
//! | `opened` | the memory that it is given |
//! | `made` | all of it, made for a job |

mod editor;
mod made;
mod opened;
mod seat;
mod taps;

use crate::border::BorderPort;
use crate::gauges::ShownGauges;
use crate::handed::HandedSession;
use crate::inner_events::{InnerText, copy_inner, read_inner};
use crate::isolation::{Isolation, is_parent};
use crate::keeper::{Keeper, LeavingCell};
use crate::message::{CellEnd, ReplyError, RequestInfo};
use crate::node::DrillKind;
use crate::policy::Windows;
use crate::raw::now;
use crate::slots::Slot;
use crate::split::{CellPart, MAX_INPUTS};
use crate::transport::{TRANSPORT_WORDS, read_transport};
use crate::work::{WorkOfCell, WorkServer};
use driver::{AudioCallback, CallbackInfo};
use editor::EditorThread;
use engine::{EngineCallback, EngineOptions};
use processor::Registry;
use seat::EngineSeat;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use units::Nanos;
use workers::AudioThread;

/// Longest wait for a request before the cell looks if its supervisor lives.
const IDLE: Nanos = Nanos(50_000_000);
/// Time between two writes of gauges.
const GAUGE_INTERVAL: Nanos = Nanos(5_000_000);
/// Wait between two looks for another supervisor: nobody wakes the cell where there is none.
const ABANDONED_WAIT: Duration = Duration::from_micros(500);
/// Blocks between two updates of the engine's figures.
const UPDATE_INTERVAL: u64 = 64;

/// Reads a part from a session that the supervisor has left.
pub type ReadPart = Box<dyn Fn(&HandedSession) -> Result<CellPart, String> + Send>;

/// Work of a cell's process.
pub struct CellJob {
    /// Its part of the session.
    pub part: CellPart,
    /// All kinds of nodes.
    pub registry: Registry,
    /// Options of its engine.
    pub options: EngineOptions,
    /// Its limits.
    pub isolation: Isolation,
    /// Paths of the rings of requests and of replies.
    pub rings: (PathBuf, PathBuf),
    /// Path of the memory for checkpoints.
    pub state: PathBuf,
    /// Path of the memory of the process whose place it takes.
    pub before: Option<PathBuf>,
    /// Number of the guardian's process.
    pub parent: i32,
    /// When it may begin a block; none, at any time.
    pub windows: Option<Windows>,
    /// Time that it has for each result, in blocks: its latency, or the block itself.
    pub blocks: u64,
    /// Reads the part of an edit; none, if the process takes no edits.
    pub read_part: Option<ReadPart>,
    /// Its work for nodes elsewhere.
    pub work: Option<WorkOfCell>,
}

/// Plays the part of a cell until the supervisor closes its rings or ends. `report` gets what the system refused.
///
/// # Errors
///
/// The rings do not fit the part, the engine cannot be made, or a request is none.
///
/// Real-time: waits, on the supervisor.
pub fn run_cell(job: CellJob, report: impl Fn(&str)) -> Result<(), String> {
    job.isolation.place().iter().for_each(|it| report(it));
    let cell = Cell::new(job)?;
    cell.restrict_and_play(report)
}

/// A cell that is made, but still free.
struct Cell {
    /// Dropped first: it uses the engine.
    _editor: Option<EditorThread>,
    seat: EngineSeat,
    callback: EngineCallback,
    end: CellEnd,
    inputs: Vec<Vec<f32>>,
    /// Channels of each port that enters; 0 for one of events.
    ports: Vec<usize>,
    /// Words of a port of events.
    event_words: usize,
    frames: usize,
    entered: Arc<[AtomicU32]>,
    /// Changes of the transport that came.
    transport: [u32; TRANSPORT_WORDS],
    /// Events for nodes inside, and their targets.
    inner: Vec<u32>,
    slots: Arc<[Slot]>,
    outputs: Vec<BorderPort>,
    collected: Arc<[AtomicU32]>,
    isolation: Isolation,
    budget: Option<Nanos>,
    parent: i32,
    keeper: Keeper,
    /// The process whose place this one takes.
    before: Option<LeavingCell>,
    gauges: ShownGauges,
    /// Blocks between two writes of the gauges.
    gauge_interval: u64,
    is_continued: bool,
    notes: Vec<String>,
    windows: Option<Windows>,
    work: Option<WorkServer>,
}

impl Cell {
    /// Gives up what the cell does not need, and answers requests.
    fn restrict_and_play(mut self, report: impl Fn(&str)) -> Result<(), String> {
        let notes = self.seat.shared.lock().notes();
        notes.iter().for_each(|it| report(it));
        self.notes.iter().for_each(|it| report(it));
        let _audio_thread = AudioThread::enter();
        // The allocator and the standard streams are set up before the limits hold.
        self.isolation.restrict().iter().for_each(|it| report(it));
        let latency = u64::from(self.seat.shared.lock().plan().latency.0);
        let mut is_first = true;
        let next = self.end.send_hello(latency, self.is_continued);
        let mut next = next.and_then(|()| self.receive());
        loop {
            match next {
                Ok(info) => {
                    if std::mem::take(&mut is_first) && !self.is_continued {
                        self.begin_at(info.position);
                    }
                    if let Err(error) = self.answer(info) {
                        next = Err(error);
                        continue;
                    }
                    if info.block % UPDATE_INTERVAL == 0 {
                        self.seat.update();
                        self.check_work()?;
                    }
                }
                Err(ReplyError::Late) if is_parent(self.parent) => {
                    self.seat.update();
                    self.check_work()?;
                }
                Err(ReplyError::Abandoned) if is_parent(self.parent) => {
                    std::thread::sleep(ABANDONED_WAIT);
                    self.seat.update();
                }
                Err(ReplyError::Late | ReplyError::Abandoned | ReplyError::Dead) => return Ok(()),
                Err(ReplyError::Corrupt) => return Err("a request was none".to_owned()),
            }
            next = self.receive();
        }
    }

    /// Ends with the reason if its work for nodes elsewhere goes on no more.
    fn check_work(&self) -> Result<(), String> {
        let work = self.work.as_ref();
        let mistake = work.and_then(|work| work.mistake(self.budget.is_some()));
        mistake.map_or(Ok(()), |why| Err(why.to_owned()))
    }

    /// Begins at this frame of the supervisor: from what the process before holds, or anew.
    fn begin_at(&mut self, position: u64) {
        let cycle = position / self.frames as u64;
        let callback = &mut self.callback;
        let before = self.before.take();
        let is_taken =
            before.is_some_and(|before| self.keeper.take_over(&before, callback, position));
        if !is_taken {
            callback.begin_at((position, cycle));
        }
    }

    /// Waits for a request, and takes its samples.
    fn receive(&mut self) -> Result<RequestInfo, ReplyError> {
        let (mut inputs, mut entered) = (self.inputs.iter_mut(), &self.entered[..]);
        let (ports, event_words) = (&self.ports, self.event_words);
        let (inner, transport) = (&mut self.inner, &mut self.transport);
        self.end.receive(IDLE, |mut words| {
            for channels in ports {
                for input in inputs.by_ref().take(*channels) {
                    let (here, rest) = words.split_at(input.len());
                    let samples = input.iter_mut().zip(here);
                    samples.for_each(|(sample, word)| *sample = f32::from_bits(*word));
                    words = rest;
                }
                if *channels == 0 {
                    // Relaxed: the cycle that reads them is begun by this thread.
                    let (here, rest) = words.split_at(event_words);
                    let stored = here.iter().zip(entered);
                    stored.for_each(|(word, to)| to.store(*word, Ordering::Relaxed));
                    (words, entered) = (rest, &entered[event_words..]);
                }
            }
            if let Some((changes, words)) = words.split_first_chunk() {
                *transport = *changes;
                copy_inner(words, inner);
            }
        })
    }

    /// Plays one block and sends what it gives.
    fn answer(&mut self, info: RequestInfo) -> Result<(), ReplyError> {
        if info.drill != 0 {
            return self.fail_on_purpose(info.drill);
        }
        if let Some(windows) = &self.windows {
            await_window(windows);
        }
        // Relaxed: a number for the frame of an edit.
        let offset = info.position.wrapping_sub(self.callback.time().0);
        self.seat.shared.offset.store(offset, Ordering::Relaxed);
        self.give_inner();
        self.follow_transport();
        let call = CallbackInfo {
            budget: self.budget,
            ..CallbackInfo::default()
        };
        let inputs: [&[f32]; MAX_INPUTS] =
            std::array::from_fn(|at| self.inputs.get(at).map_or(&[][..], Vec::as_slice));
        let count = self.inputs.len().min(inputs.len());
        self.callback.process(call, &inputs[..count], &mut []);
        let collected = &self.collected;
        let sent = self.end.send(info.block, |words| {
            // Relaxed: the cycle that stored them has ended on this thread.
            let samples = collected.iter().map(|it| it.load(Ordering::Relaxed));
            words
                .iter_mut()
                .zip(samples)
                .for_each(|(word, sample)| *word = sample);
        });
        if info.block.is_multiple_of(self.gauge_interval) {
            self.gauges.write(self.keeper.head());
        }
        // After the reply, for which the supervisor may wait.
        self.seat.tell_fates(self.keeper.head());
        self.renew();
        if self.seat.is_changing() {
            return sent;
        }
        let (outputs, frames, collected) = (&self.outputs, self.frames, &self.collected);
        let outside = info.position + frames as u64;
        self.keeper.end_block(&mut self.callback, outside, || {
            // Relaxed: as above.
            let word = |it: &AtomicU32| f32::from_bits(it.load(Ordering::Relaxed));
            let mut from = 0;
            outputs.iter().all(|port| {
                let samples = &collected[from..from + port.words(frames)];
                from += samples.len();
                port.channels() == 0 || samples.iter().all(|it| word(it).is_finite())
            })
        });
        sent
    }

    /// Takes what an edit has changed, once the edited graph plays alone.
    fn renew(&mut self) {
        let seat = &mut self.seat;
        let next = seat.next.take().or_else(|| seat.renewals.pop().ok());
        let Some(mut next) = next else {
            return;
        };
        if !self.keeper.renew(&mut self.callback, &mut next.layout) {
            seat.next = Some(next);
            return;
        }
        if let Some((slots, gauges)) = &mut next.targets {
            std::mem::swap(&mut self.slots, slots);
            std::mem::swap(&mut self.gauges, gauges);
        }
        // pairs with the load in `EngineSeat::is_changing`, on this thread too.
        seat.shared.is_changing.store(false, Ordering::Release);
        if let Err(rtrb::PushError::Full(next)) = seat.retired.push(next) {
            // A leak is better than a free on this thread.
            std::mem::forget(next);
        }
    }

    /// Moves the transport as the supervisor's has moved.
    fn follow_transport(&mut self) {
        let (position, _) = self.callback.time();
        let last = self.callback.last_transport();
        let callback = &mut self.callback;
        read_transport(&self.transport, (position, self.frames), last, |change| {
            callback.change_transport(change);
        });
    }

    /// Gives what came for nodes inside to the coming block.
    fn give_inner(&mut self) {
        let (callback, mut said) = (&mut self.callback, None);
        read_inner(
            (&self.inner, self.frames),
            &self.slots,
            |node, event| {
                callback.give_event(node, event);
            },
            |node, number, text| said = InnerText::new(node, number, text),
        );
        self.seat.send_words(said);
    }

    /// Does what a drill asks for.
    fn fail_on_purpose(&mut self, drill: u32) -> Result<(), ReplyError> {
        match drill {
            kind if kind == DrillKind::Loop as u32 => loop {
                std::hint::spin_loop();
            },
            kind if kind == DrillKind::Hog as u32 => {
                let mut all = Vec::new();
                loop {
                    all.push(vec![1u8; 1 << 20]);
                }
            }
            kind if kind == DrillKind::Garbage as u32 => self.write_garbage(),
            // The supervisor sends the signal.
            _ => loop {
                std::thread::sleep(Duration::from_millis(1));
            },
        }
    }

    /// Writes nonsense into all memory that the supervisor reads.
    fn write_garbage(&mut self) -> Result<(), ReplyError> {
        if let Some(work) = &self.work {
            work.write_nonsense();
        }
        self.end.send_raw(|words| {
            let mut state = 0x1234_5678u32;
            words.iter_mut().for_each(|word| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *word = state;
            });
        })
    }
}

/// Waits until a window is open.
fn await_window(windows: &Windows) {
    let now = now();
    if let (false, Some(Nanos(opens))) = windows.state(now) {
        std::thread::sleep(Duration::from_nanos(opens - now.0));
    }
}
