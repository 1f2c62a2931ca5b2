//! [`PreparedRun`]: everything that is made before the first callback, and what it plays.

use super::device::to_failure;
use super::host::PlayHost;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::messages;
use crate::playback::control::ControlWays;
use crate::playback::live::{FileHandles, LiveSession};
use crate::playback::live_ports::{self, LivePorts};
use crate::playback::recording_player::RecordingPlayer;
use crate::playback::trace::TraceOutput;
use crate::session::file_problems::end_files;
use crate::session::load::LoadedSession;
use crate::session::losses::check_events;
use crate::session::options::PlayOptions;
use crate::watch::ViewTitles;
use divisi::driver::{DriverInfo, OpenDriver};
use divisi::engine::ChooseOptions;
use divisi::prelude::{Engine, Frames};
use divisi::report::Report;

/// A live run that can begin.
pub(crate) struct PreparedRun {
    pub(crate) engine: Engine,
    pub(crate) player: RecordingPlayer,
    pub(crate) files: FileHandles,
    pub(crate) tracer: TraceOutput,
    pub(crate) watched: Option<ViewTitles>,
    pub(crate) control: Option<ControlWays>,
    pub(crate) ports: LivePorts,
    /// Options of the choice, if `auto` chose the scheduler.
    pub(crate) chosen_with: Option<ChooseOptions>,
    pub(crate) block: Frames,
    /// Length of the run.
    pub(crate) frames: Option<u64>,
    pub(crate) is_strict: bool,
}

impl PreparedRun {
    /// Plays to the end. Returns the report, and an error if playing ended early.
    pub(crate) fn play(
        mut self,
        loaded: &LoadedSession,
        (opened, info): (Box<dyn OpenDriver>, &DriverInfo),
        host: &mut dyn PlayHost,
        interrupt: &Interrupt,
    ) -> Result<(Report, Result<(), Failure>), Failure> {
        for what in refused_grants(info, &self.engine) {
            messages::print_message(&format!("refused: {what}"));
        }
        messages::print_notes(&self.engine.notes());
        let (played, peak) = (self.player.block_count(), self.player.peak());
        let started = opened.start(Box::new(self.player));
        let running = started.map_err(to_failure)?;
        if let Some(control) = &mut self.control {
            control.follow_transport(&*running);
        }
        let live = LiveSession {
            engine: &mut self.engine,
            tracer: &mut self.tracer,
            running: &*running,
            host,
            block_count: played,
            block: self.block.0.into(),
            rate_hz: info.rate.hz(),
            frames: self.frames,
            watched: self.watched,
            control: self.control,
            ports: self.ports,
        };
        let ended = live.run(&self.files, interrupt);
        let (adapter_latency, midi_losses) = (running.adapter_latency(), running.midi_losses());
        drop(running.stop());
        let traced = self.tracer.finish(&mut self.engine);
        if let (Some(chosen_with), Some(note)) = (&self.chosen_with, self.engine.fallback_note()) {
            PlayOptions::drop_choice(loaded, chosen_with, note);
        }
        let files = end_files(&mut self.engine, self.is_strict);
        let mut report = self.engine.report();
        let clipped = messages::print_peak("the output", peak.get(), ": the device clips it");
        report.notes.extend(clipped);
        let lost_midi = live_ports::lost_midi(&self.engine, midi_losses);
        report.midi_lost = lost_midi.0;
        report.notes.extend(lost_midi.1);
        report.driver = info.name.to_owned();
        report.latency_frames.driver = adapter_latency.0.saturating_add(info.device_latency.0);
        report.refused = refused_grants(info, &self.engine);
        let ended = ended.and(self.files.end(self.is_strict));
        let whole = check_events(&report).and(host.end());
        Ok((report, ended.and(files).and(traced).and(whole)))
    }
}

/// Privileges that were refused to driver and engine, each once.
fn refused_grants(info: &DriverInfo, engine: &Engine) -> Vec<String> {
    let mut all = info.refused.clone();
    for what in engine.refused() {
        if !all.contains(what) {
            all.push(what.clone());
        }
    }
    all
}
