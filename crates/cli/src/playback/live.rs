//! The control loop of a live run: updates the engine, shows progress, finds the end.

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::messages;
use crate::output::progress::ProgressLine;
use crate::playback::control::ControlWays;
use crate::playback::file_input::FileInputHandle;
use crate::playback::live_ports::LivePorts;
use crate::playback::recorder::RecorderHandle;
use crate::playback::recording_player::BlockCount;
use crate::playback::run::PlayHost;
use crate::playback::trace::TraceOutput;
use crate::session::file_problems::check_damage;
use crate::watch::{LiveView, ViewTitles};
use divisi::control::TapHost;
use divisi::driver::{DriverState, RunningDriver};
use divisi::prelude::Engine;
use std::time::Duration;

/// Interval of `Engine::update`.
const UPDATE_INTERVAL: Duration = Duration::from_millis(5);

/// Number of intervals in which the releases of keys have to be sent at the end.
const MAX_RELEASE_WAITS: u32 = 60;

/// Handles of the recorder and the file input of a live run.
#[derive(Default)]
pub(crate) struct FileHandles {
    pub(crate) recorder: Option<RecorderHandle>,
    pub(crate) file_input: Option<FileInputHandle>,
}

/// One live run.
pub(crate) struct LiveSession<'a> {
    pub(crate) engine: &'a mut Engine,
    pub(crate) tracer: &'a mut TraceOutput,
    pub(crate) running: &'a dyn RunningDriver,
    pub(crate) host: &'a mut dyn PlayHost,
    pub(crate) block_count: BlockCount,
    /// Frames in a block.
    pub(crate) block: u64,
    pub(crate) rate_hz: u32,
    /// Frames after which the run ends by itself.
    pub(crate) frames: Option<u64>,
    /// What the live view is of, with `--watch`.
    pub(crate) watched: Option<ViewTitles>,
    /// The ways in from outside, if there are any.
    pub(crate) control: Option<ControlWays>,
    pub(crate) ports: LivePorts,
}

/// Display while it plays.
enum ProgressView {
    Line(ProgressLine),
    View(LiveView),
}

impl ProgressView {
    /// Prints a note beside the display.
    fn note(&mut self, text: &str) {
        match self {
            Self::Line(progress) => {
                progress.clear();
                messages::print_message(text);
            }
            Self::View(watch) => watch.note(text),
        }
    }

    fn show(&mut self, engine: &mut Engine, cells: TapHost<'_>, frames: u64) {
        match self {
            Self::Line(progress) => progress.show(frames),
            Self::View(watch) => watch.show(engine, cells, frames),
        }
    }
}

impl LiveSession<'_> {
    /// Runs until the end, an interrupt or the end of the driver, which is an error with its reason.
    pub(crate) fn run(mut self, files: &FileHandles, interrupt: &Interrupt) -> Result<(), Failure> {
        let mut view = self.make_view();
        let mut reported = Reported {
            quarantined: 0,
            refused: self.engine.refused().len(),
        };
        let mut is_recording = files.recorder.is_some();
        let begin = self.host.first_frame();
        while !interrupt.is_requested() {
            let frames = begin + self.block_count.get() * self.block;
            if self.frames.is_some_and(|all| frames >= all) {
                break;
            }
            if let DriverState::Ended { reason } = self.running.state() {
                self.host.end_play();
                return Err(Failure::failed(reason));
            }
            if let Some(message) = self.tracer.update(self.engine) {
                view.note(&message);
            }
            if is_recording
                && files
                    .recorder
                    .as_ref()
                    .is_some_and(RecorderHandle::is_finished)
            {
                is_recording = false;
                view.note("the recording has ended early; playing continues");
            }
            self.report_new(&mut reported, &mut view);
            let told = self.host.update(self.engine);
            told.iter().for_each(|message| view.note(message));
            view.show(self.engine, self.host.taps(), frames);
            let control = self.control.as_mut();
            let host: &mut dyn PlayHost = &mut *self.host;
            let message = (self.ports).update(self.engine, (self.running, host), control);
            message.iter().for_each(|message| view.note(message));
            match &mut self.control {
                Some(control) => {
                    let told = control.serve(self.engine, UPDATE_INTERVAL);
                    told.iter().for_each(|message| view.note(message));
                }
                None => std::thread::sleep(UPDATE_INTERVAL),
            }
        }
        self.host.end_play();
        self.release_keys();
        Ok(())
    }

    /// Releases the keys that sound at MIDI outputs: other programs would play them for ever. Waits for a driver that passes
    /// nothing on for [`MAX_RELEASE_WAITS`] intervals.
    fn release_keys(&self) {
        self.engine.end_midi();
        let mut waits = 0;
        while !self.engine.has_ended_midi() && waits < MAX_RELEASE_WAITS {
            std::thread::sleep(UPDATE_INTERVAL);
            waits += 1;
        }
    }

    fn make_view(&mut self) -> ProgressView {
        match self.watched.take() {
            Some(titles) => {
                let workers = self.engine.workers();
                ProgressView::View(LiveView::new(titles, workers, self.rate_hz))
            }
            None => ProgressView::Line(ProgressLine::new(self.rate_hz, self.frames)),
        }
    }

    /// Prints each newly quarantined node, and each guarantee that turns out to be missing, once.
    fn report_new(&mut self, reported: &mut Reported, view: &mut ProgressView) {
        for what in self.engine.quarantined().iter().skip(reported.quarantined) {
            view.note(what);
            reported.quarantined += 1;
        }
        for what in self.engine.refused().iter().skip(reported.refused) {
            view.note(&format!("refused: {what}"));
            reported.refused += 1;
        }
    }
}

/// Numbers of messages of the engine that were printed.
struct Reported {
    quarantined: usize,
    refused: usize,
}

impl FileHandles {
    /// Finishes both files and prints what went wrong. The callback must be dropped before.
    pub(crate) fn end(self, is_strict: bool) -> Result<(), Failure> {
        let mut damaged = 0;
        if let Some(file_input) = self.file_input {
            let (missing, damage) = file_input.finish();
            if missing > 0 {
                messages::print_message(&format!(
                    "the input was too late for {missing} blocks: the disk is slow"
                ));
            }
            if let Some(damage) = damage {
                messages::print_note(&format!("{damage}; the input is silent from there on"));
                damaged = 1;
            }
        }
        let Some(recorder) = self.recorder else {
            return check_damage(damaged, is_strict);
        };
        match recorder.finish().map_err(Failure::from_error)? {
            0 => check_damage(damaged, is_strict),
            lost => Err(Failure::failed(format!(
                "{lost} blocks are silent in the recording: the disk was too slow"
            ))),
        }
    }
}
