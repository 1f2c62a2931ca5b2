//! `play`: plays a session in real time, through JACK, PipeWire, ALSA or a clock.
//!
//! ```text
//!   read ─▶ guard ─▶ open driver ─▶ prepare: choose, engine, files ─▶ start ─▶ live ─▶ stop ─▶ report
//!     │        │          │                  │                          │        │
//!     └────────┴──────────┴──────────────────┘                          │        └ display, commands, learning, edits
//!       a mistake ends here: no recording has begun                     └ from here on the driver calls back
//! ```
//!
//! The order matters. The driver is opened before the engine is made, because it says at which rate it plays. Recordings are planned
//! before the first callback and begin with it, so that a session which is refused leaves an older take as it was. At the
//! end the driver stops first; then no thread writes to the rings of the recorders, and their files can be completed.

use crate::failure::Failure;
use crate::files::check_sound_name;
use crate::interrupt::Interrupt;
use crate::output::json::JsonOutput;
use crate::output::messages;
use crate::patch::PatchOptions;
use crate::playback::control::{ControlOptions, ControlWays};
use crate::playback::live::{FileHandles, LiveSession};
use crate::playback::live_ports::{self, Learning, LivePorts};
use crate::playback::nsm::NsmSession;
use crate::playback::recorder::TakePlan;
use crate::playback::recording_player::RecordingPlayer;
use crate::playback::trace::{TraceOptions, TraceOutput};
use crate::session::file_problems::{check_recordings, end_files};
use crate::session::load::{LoadedSession, output_channels};
use crate::session::losses::check_events;
use crate::session::options::PlayOptions;
use crate::watch::ViewTitles;
use clap::{Args, ValueEnum};
use divisi::control::{audio_output, controller_binding};
use divisi::driver::{self, BarPosition, DriverConfig, DriverError, DriverInfo, OpenDriver};
use divisi::engine::{ChooseOptions, TransportStart};
use divisi::graph::{Graph, TempoMap, error_chain};
use divisi::plan::PlanOptions;
use divisi::prelude::{Engine, Frames, SampleRate};
use divisi::report::Report;
use divisi::workers::Priority;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  divisi play examples/01-beep.ag --seconds 3
  divisi play session.toml --seconds 30 --record session.wav
  divisi play session.toml --driver clock --workers 2 --times --json report.json
  divisi play session.toml --driver alsa --device plughw:0
  divisi play session.toml --watch
  divisi play session.toml --seconds 10 --trace trace.json
  divisi play session.toml --reload --socket
  divisi play session.toml --from 17.1

Without --seconds it plays until every node has ended, or until Ctrl-C. Then it prints a report, whose histogram has bars
of logarithmic length. A cycle that ends after its deadline is `missed`: the sound may have clicked, but the file of
--record is complete.";

/// Plays a session in real time
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Play {
    #[command(flatten)]
    options: PlayOptions,

    /// The driver; auto is JACK or PipeWire if one of them runs, else ALSA if there is a sound card, else the clock
    #[arg(long, value_enum, default_value_t = Driver::Auto)]
    driver: Driver,

    /// The device: an ALSA PCM (`hw:0`, `plughw:1,0`, `default`, `null`), or the name of a JACK server
    #[arg(long, value_name = "NAME")]
    device: Option<String>,

    /// Record the output to a sound file: WAV, 32-bit float
    #[arg(long, value_name = "OUT.wav")]
    record: Option<PathBuf>,

    /// Begin with the transport stopped: `divisi send start` lets it roll. Without --seconds it plays until Ctrl-C
    #[arg(long)]
    stopped: bool,

    /// The transport: own; jack follows the server's; jack-master follows it too and gives it bars and beats
    #[arg(long, value_enum, default_value_t = TransportSource::Own)]
    transport: TransportSource,

    /// MIDI clock: follow the one that comes in at the port clock_in, give one at clock_out, or both
    #[arg(long, value_enum)]
    midi_clock: Option<MidiClock>,

    /// Show a live view: load of each worker, cycles against the deadline, late nodes, meters
    #[arg(long)]
    watch: bool,

    /// Show the waveform and the spectrum of an output in the live view: `out`, or `tone.out`. It implies --watch
    #[arg(long, value_name = "NODE.PORT")]
    see: Vec<String>,

    /// Bind the next MIDI controller that moves to this parameter, and write that into the session:
    /// tone.freq, or tone.freq=100..8000
    #[arg(long, value_name = "NODE.PARAM")]
    learn: Option<String>,

    /// Render what no live input reaches (scores, generators, envelopes, most effects) up to this many blocks early, on a
    /// thread of its own
    #[arg(long, value_name = "BLOCKS", value_parser = clap::value_parser!(u32).range(1..=64))]
    render_ahead: Option<u32>,

    #[command(flatten)]
    tracing: TraceOptions,

    #[command(flatten)]
    control: ControlOptions,

    /// Keep the processor out of its deep sleep states while playing, where that is allowed: workers then wake up faster
    #[arg(long, value_enum, default_value_t = Switch::On)]
    latency_request: Switch,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TransportSource {
    Own,
    Jack,
    JackMaster,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MidiClock {
    Follow,
    Give,
    Both,
}

impl MidiClock {
    fn follows(self) -> bool {
        self != Self::Give
    }

    fn gives(self) -> bool {
        self != Self::Follow
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum Driver {
    Auto,
    Jack,
    Alsa,
    Clock,
}

impl Play {
    /// Runs the command.
    pub(crate) fn run(mut self) -> Result<(), Failure> {
        let nsm = NsmSession::join(&self.options.file)?;
        if let Some(nsm) = &nsm {
            self.options.file = nsm.file().to_owned();
        }
        let recorded = self.record.as_deref();
        self.options.patch.allow(recorded)?;
        let mut loaded = LoadedSession::read_valid_with(&self.options.file, &self.options.patch)?;
        self.options.recall(&mut loaded)?;
        self.options.check_input(&loaded)?;
        let mut guard = self.options.guard(&loaded)?;
        if let Some(path) = &self.record {
            guard.output(path)?;
            check_sound_name(path)?;
        }
        self.tracing.check(&mut guard)?;
        let json = JsonOutput::open(self.options.json.as_deref(), &mut guard)?;
        let interrupt = Interrupt::listen()?;
        let mut config = self.driver_config(&loaded)?;
        if let Some(nsm) = &nsm {
            config.name = nsm.client_id().to_owned();
        }
        let (mut opened, message) = self.open_driver(&config)?;
        let info = opened.info().clone();
        self.check_transport(&loaded, &mut *opened, &info)?;
        let prepared = self.prepare(&loaded, &info, &config, nsm)?;
        messages::print_message(&message);
        let (report, played) = prepared.play(&loaded, opened, &info, &interrupt)?;
        let written = json.write_report(&report);
        let objects = self.options.check_objects(&loaded);
        played
            .and(written)
            .and(objects)
            .and(PatchOptions::check_writes())
    }

    /// Configuration of the driver. A graph that cannot play is refused before anything is opened.
    fn driver_config(&self, loaded: &LoadedSession) -> Result<DriverConfig, Failure> {
        let mut config = DriverConfig::new(&loaded.client_name(), self.options.block(loaded));
        let ports = loaded.midi_ports();
        (config.midi_inputs, config.midi_outputs) = (ports.inputs, ports.outputs);
        config.connections = live_ports::connections(&loaded.live.connections);
        let options = PlanOptions::new(config.block, self.options.rate(loaded));
        let plan = loaded
            .plan(&options)
            .map_err(|wrong| loaded.graph_failure(&wrong))?;
        config.rate = self.options.requested_rate(loaded);
        config.server = self.named_device()?;
        config.follow_transport = self.transport != TransportSource::Own;
        config.outputs = output_channels(&plan);
        config.inputs = match self.options.input {
            None => loaded.input_channels(),
            Some(_) => 0,
        };
        // After the ports of nodes.
        if self.midi_clock.is_some_and(MidiClock::follows) {
            config.midi_inputs.push("clock_in".into());
        }
        if self.midi_clock.is_some_and(MidiClock::gives) {
            config.midi_outputs.push("clock_out".into());
        }
        if config.outputs == 0 && self.record.is_some() {
            return Err(Failure::bad_input(
                "there is nothing to record: the session has no `sink`",
            ));
        }
        Ok(config)
    }

    /// Device that was named. The clock has none, and for `auto` it would depend on the driver what a name means.
    fn named_device(&self) -> Result<Option<String>, Failure> {
        match self.driver {
            Driver::Auto | Driver::Clock if self.device.is_some() => {
                let message = "--device needs --driver alsa or --driver jack";
                Err(Failure::bad_input(message))
            }
            _ => Ok(self.device.clone()),
        }
    }

    /// Returns true if the transport waits for a start.
    fn begins_stopped(&self) -> bool {
        let follows = self.midi_clock.is_some_and(MidiClock::follows);
        self.stopped || follows || self.transport != TransportSource::Own
    }

    /// Refuses to follow a transport where there is none, and gives bars and beats to that of the server.
    fn check_transport(
        &self,
        loaded: &LoadedSession,
        opened: &mut dyn OpenDriver,
        info: &DriverInfo,
    ) -> Result<(), Failure> {
        if self.transport == TransportSource::Own && self.midi_clock.is_none() {
            return Ok(());
        }
        if self.transport != TransportSource::Own && info.name != "jack" {
            let message = format!(
                "the {} has no transport: this needs --driver jack",
                info.name
            );
            return Err(Failure::failed(message));
        }
        if self.midi_clock.is_some() && !info.has_midi {
            let refused = info.refused.iter().find(|what| what.starts_with("MIDI"));
            let reason = refused.map_or("there are none", String::as_str);
            let message = format!("--midi-clock needs MIDI ports: {reason}");
            return Err(Failure::failed(message));
        }
        if self.transport == TransportSource::JackMaster {
            let (map, rate) = (loaded.session.graph.tempo().clone(), info.rate);
            opened
                .give_timebase(Box::new(move |frame| bar_position(&map, rate, frame)))
                .map_err(to_failure)?;
        }
        Ok(())
    }

    /// Opens the driver. Returns a message that names it.
    fn open_driver(&self, config: &DriverConfig) -> Result<(Box<dyn OpenDriver>, String), Failure> {
        let opened = match self.driver {
            Driver::Auto => {
                return match driver::open_auto(config) {
                    Ok(chosen) => Ok((chosen.driver, chosen.message)),
                    Err(error) => Err(to_failure(error)),
                };
            }
            Driver::Jack => driver::jack::open(config),
            Driver::Alsa => driver::alsa::open(config),
            Driver::Clock => driver::clock::open(config),
        };
        let opened = opened.map_err(to_failure)?;
        let info = opened.info();
        let message = match info.server.as_str() {
            "" => format!("playing by the {}, without a device", info.name),
            server => format!("playing through {server}, {}", info.rate),
        };
        Ok((opened, message))
    }

    /// The engine, the callback with its file input and recorder, and the handles of both.
    fn prepare(
        &self,
        loaded: &LoadedSession,
        info: &DriverInfo,
        config: &DriverConfig,
        nsm: Option<NsmSession>,
    ) -> Result<PreparedPlay, Failure> {
        // Before a scheduler is chosen, which takes its time.
        self.seen_ports(&loaded.session.graph)?;
        let mut options = self.options.engine_options(loaded, info.rate);
        options.trace = self.tracing.is_on() || self.is_watched();
        options.ahead_blocks = self.render_ahead.unwrap_or(0);
        options.midi = loaded.midi_ports();
        let last = |ports: &[String]| (ports.len() as u16).checked_sub(1);
        if self.midi_clock.is_some_and(MidiClock::follows) {
            options.clock_input = last(&config.midi_inputs);
        }
        if self.midi_clock.is_some_and(MidiClock::gives) {
            options.clock_output = last(&config.midi_outputs);
        }
        if self.begins_stopped() {
            let position = options.transport.map_or(0, |start| start.position);
            options.transport = Some(TransportStart {
                position,
                is_rolling: false,
            });
        }
        options.prevent_cpu_sleep = self.latency_request == Switch::On;
        if let Some(level) = info.priority.and_then(|level| u8::try_from(level).ok()) {
            options.priority = Priority::RealTime(level);
        }
        let inputs = options.input_channels;
        let format = (options.block, info.rate.hz());
        let chosen_with = self.options.choose_scheduler(loaded, &mut options);
        Interrupt::check_process("nothing was played")?;
        let scheduler = self.options.scheduler_name(&options);
        let (mut engine, player) = loaded.make_engine(options)?;
        engine
            .set_controllers(
                loaded
                    .live
                    .controllers
                    .iter()
                    .map(controller_binding)
                    .collect(),
            )
            .map_err(Failure::from_input_error)?;
        check_recordings(&engine)?;
        let source = self.options.open_input(info.rate)?;
        let length = match &source {
            Some(source) => Some(source.frames().saturating_add(engine.tail())),
            // A session manager says when it ends.
            None if self.begins_stopped() || nsm.is_some() => None,
            None => engine.length(),
        };
        let frames = self.options.frames(info.rate).or(length);
        let played = (scheduler.as_str(), format.0, info.rate);
        let tracer = self.tracing.open(&self.options, played)?;
        let mut player = RecordingPlayer::new(player);
        if let Some(frames) = frames {
            player.end_after(frames, format.0);
        }
        let mut files = FileHandles::default();
        if let Some(source) = source {
            files.file_input = Some(player.set_input(source, inputs, format)?);
        }
        if let Some(path) = &self.record {
            let plan = TakePlan {
                path: path.clone(),
                rate: info.rate,
                channels: output_channels(engine.plan()),
            };
            files.recorder = Some(player.start_recording(plan, format.0, frames)?);
        }
        let control = self
            .control
            .open(&self.options.file, loaded, info.rate.hz(), nsm)?;
        let file = &self.options.file;
        let learn = self.learn.as_deref();
        let learning = learn.map(|text| Learning::parse(text, file, loaded));
        let ports = LivePorts {
            learning: learning.transpose()?,
            file: file.clone(),
        };
        let watched = match self.is_watched() {
            true => Some(self.view_titles(&scheduler, info, &engine)?),
            false => None,
        };
        Ok(PreparedPlay {
            engine,
            player,
            files,
            tracer,
            watched,
            control,
            ports,
            chosen_with,
            block: format.0,
            frames,
            is_strict: self.options.strict,
        })
    }

    /// Title and description of the live view.
    fn is_watched(&self) -> bool {
        self.watch || !self.see.is_empty()
    }

    fn view_titles(
        &self,
        scheduler: &str,
        info: &DriverInfo,
        engine: &Engine,
    ) -> Result<ViewTitles, Failure> {
        let session = self.options.file.file_name().unwrap_or_default();
        let workers = engine.workers();
        let s = if workers == 1 { "" } else { "s" };
        let (block, rate, driver) = (engine.plan().block, info.rate, info.name);
        let description = format!("{scheduler}, {workers} worker{s}, {block} at {rate}, {driver}");
        Ok(ViewTitles {
            title: format!("divisi  {}", session.to_string_lossy()),
            description,
            seen: self.seen_ports(engine.graph())?,
        })
    }

    /// The ports that `--see` names, each as `node.port`.
    fn seen_ports(&self, graph: &Graph) -> Result<Vec<String>, Failure> {
        let ports = self.see.iter().map(|name| audio_output(graph, name));
        let ports: Result<_, _> = ports.collect();
        ports.map_err(Failure::from_input_error)
    }
}

/// Bar and beat of a frame.
fn bar_position(map: &TempoMap, rate: SampleRate, frame: u64) -> BarPosition {
    let beat = map.beat_at(frame, rate);
    let (bar, since) = map.bar(beat);
    let (begin, metre) = map.bar_begin(bar);
    let unit = 4.0 / f64::from(metre.denominator);
    BarPosition {
        bar,
        beat: since / unit,
        bar_begin: begin / unit,
        beats: metre.numerator,
        unit: metre.denominator,
        bpm: map.bpm(beat) / unit,
    }
}

/// Everything that is made before the first callback.
struct PreparedPlay {
    engine: Engine,
    player: RecordingPlayer,
    files: FileHandles,
    tracer: TraceOutput,
    watched: Option<ViewTitles>,
    control: Option<ControlWays>,
    ports: LivePorts,
    /// Options of the choice, if `auto` chose the scheduler.
    chosen_with: Option<ChooseOptions>,
    block: Frames,
    frames: Option<u64>,
    is_strict: bool,
}

impl PreparedPlay {
    /// Plays to the end. Returns the report, and an error if playing ended early.
    fn play(
        mut self,
        loaded: &LoadedSession,
        opened: Box<dyn OpenDriver>,
        info: &DriverInfo,
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
        let whole = check_events(&report);
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

/// Converts a driver's error. A block size or channel count that no driver plays is bad input (exit code 2).
fn to_failure(error: DriverError) -> Failure {
    match error {
        DriverError::Block(_)
        | DriverError::Channels(_)
        | DriverError::MidiPorts(_)
        | DriverError::AlsaRate { .. } => Failure::from_input_error(error),
        DriverError::NoLibrary | DriverError::NoServer | DriverError::NoAlsaLibrary => {
            let message = format!("{}, or play with --driver clock", error_chain(&error));
            Failure::failed(message)
        }
        _ => Failure::failed(error_chain(&error)),
    }
}
