//! [`LiveOptions`]: a run in real time, through JACK, PipeWire, ALSA or a clock, for `play` and `cells`.
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
//!
//! The difference between one process and several is a [`PlayHost`].

mod device;
mod host;
mod part;
mod prepared;

pub(crate) use device::DeviceOptions;
pub(crate) use host::{OneProcess, PlayHost};

use crate::failure::Failure;
use crate::files::check_sound_name;
use crate::interrupt::Interrupt;
use crate::output::json::JsonOutput;
use crate::output::messages;
use crate::patch::PatchOptions;
use crate::playback::control::ControlOptions;
use crate::playback::file_input::InputFile;
use crate::playback::live_ports::{Learning, LivePorts};
use crate::playback::nsm::NsmSession;
use crate::playback::recorder::TakePlan;
use crate::playback::recording_player::RecordingPlayer;
use crate::playback::trace::TraceOptions;
use crate::session::file_problems::check_recordings;
use crate::session::load::{LoadedSession, output_channels};
use crate::session::options::PlayOptions;
use crate::watch::ViewTitles;
use clap::{Args, ValueEnum};
use divisi::control::server::Servers;
use divisi::control::{audio_output, controller_binding};
use divisi::driver::{DriverConfig, DriverInfo};
use divisi::engine::{ChooseOptions, TransportStart};
use divisi::graph::Graph;
use divisi::prelude::{Engine, EngineCallback, EngineOptions, Frames};
use divisi::workers::Priority;
use part::RunPart;
use prepared::PreparedRun;
use std::path::PathBuf;

/// Options of a live run.
#[derive(Args)]
pub(crate) struct LiveOptions {
    #[command(flatten)]
    pub(crate) options: PlayOptions,

    #[command(flatten)]
    pub(crate) device: DeviceOptions,

    /// Record the output to a sound file: WAV, 32-bit float
    #[arg(long, value_name = "OUT.wav")]
    pub(crate) record: Option<PathBuf>,

    /// Begin with the transport stopped: `divisi send start` lets it roll. Without --seconds it plays until Ctrl-C
    #[arg(long)]
    stopped: bool,

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
    pub(crate) render_ahead: Option<u32>,

    #[command(flatten)]
    pub(crate) tracing: TraceOptions,

    #[command(flatten)]
    pub(crate) control: ControlOptions,

    /// Keep the processor out of its deep sleep states while playing, where that is allowed: workers then wake up faster
    #[arg(long, value_enum, default_value_t = Switch::On)]
    latency_request: Switch,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// Ways in and out of a run that are opened before its engine is made.
struct Opened<'a> {
    info: &'a DriverInfo,
    config: &'a DriverConfig,
    servers: Servers,
    nsm: Option<NsmSession>,
}

impl LiveOptions {
    /// Reads the session, with the values of `--snapshot`.
    pub(crate) fn read(&self) -> Result<LoadedSession, Failure> {
        self.options.patch.allow(self.record.as_deref())?;
        let mut loaded = LoadedSession::read_valid_with(&self.options.file, &self.options.patch)?;
        self.options.recall(&mut loaded)?;
        Ok(loaded)
    }

    /// As [`Self::read`], from the text that another process has read.
    pub(crate) fn read_text(&self, text: &str) -> Result<LoadedSession, Failure> {
        self.options.patch.allow(self.record.as_deref())?;
        let mut loaded = LoadedSession::read_valid_text(&self.options.file, text)?;
        self.options.recall(&mut loaded)?;
        Ok(loaded)
    }

    /// Plays a session that was read.
    pub(crate) fn run(
        &self,
        loaded: &LoadedSession,
        nsm: Option<NsmSession>,
        host: &mut dyn PlayHost,
    ) -> Result<(), Failure> {
        self.options.check_input(loaded)?;
        let mut guard = self.options.guard(loaded)?;
        if let Some(path) = &self.record {
            guard.output(path)?;
            check_sound_name(path)?;
        }
        self.tracing.check(&mut guard)?;
        let json = JsonOutput::open(self.options.json.as_deref(), &mut guard)?;
        let interrupt = Interrupt::listen()?;
        let is_recorded = self.record.is_some();
        let mut config = self.device.config(loaded, &self.options, is_recorded)?;
        if let Some(nsm) = &nsm {
            config.name = nsm.client_id().to_owned();
        }
        host.configure(&mut config);
        // Before any process of a cell: a path that is taken starts none.
        let servers = self.control.listen()?;
        let (mut opened, mut message) = self.device.open(&config)?;
        if self.options.is_block_free(loaded)
            && let Some(block) = host.block(opened.info())
            && block != config.block
        {
            drop(opened);
            config.block = block;
            (opened, message) = self.device.open(&config)?;
        }
        let info = opened.info().clone();
        host.note_device(&info)?;
        (self.device).check_transport(loaded, &mut *opened, &info)?;
        let ways = Opened {
            info: &info,
            config: &config,
            servers,
            nsm,
        };
        let prepared = self.prepare(loaded, ways, host)?;
        messages::print_message(&message);
        let (report, played) = prepared.play(loaded, (opened, &info), host, &interrupt)?;
        let written = json.write_report_with(&report, host.report());
        let objects = self.options.check_objects(loaded);
        played
            .and(written)
            .and(objects)
            .and(PatchOptions::check_writes())
    }

    /// Returns true if the transport waits for a start.
    fn begins_stopped(&self) -> bool {
        self.stopped || self.device.follows_clock() || self.device.follows_transport()
    }

    /// Options of the engine, but for the scheduler.
    fn engine_options(&self, loaded: &LoadedSession, opened: &Opened<'_>) -> EngineOptions {
        let Opened { info, config, .. } = opened;
        let mut options = self.options.engine_options(loaded, info.rate);
        options.block = config.block;
        options.trace = self.tracing.is_on() || self.is_watched();
        options.ahead_blocks = self.render_ahead.unwrap_or(0);
        options.midi = loaded.midi_ports();
        let last = |ports: &[String]| (ports.len() as u16).checked_sub(1);
        if self.device.follows_clock() {
            options.clock_input = last(&config.midi_inputs);
        }
        if self.device.gives_clock() {
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
        options
    }

    /// The engine, the callback with its file input and recorder, and the handles of both.
    fn prepare(
        &self,
        loaded: &LoadedSession,
        opened: Opened<'_>,
        host: &mut dyn PlayHost,
    ) -> Result<PreparedRun, Failure> {
        // Before a scheduler is chosen, which takes its time.
        self.seen_ports(&loaded.session.graph)?;
        let options = self.engine_options(loaded, &opened);
        let Opened {
            info, servers, nsm, ..
        } = opened;
        let (inputs, block) = (options.input_channels, options.block);
        let MadeEngine {
            mut engine,
            callback,
            scheduler,
            chosen_with,
        } = self.make_engine(loaded, options, host)?;
        let source = self.options.open_input(info.rate)?;
        let is_endless = self.begins_stopped() || nsm.is_some();
        let frames = self.frames((info, &engine), source.as_ref(), is_endless, host)?;
        let timing = (scheduler.as_str(), block, info.rate);
        let tracer = self.tracing.open(&self.options, timing)?;
        let watched = match self.is_watched() {
            true => Some(self.view_titles(&scheduler, info, (&engine, host))?),
            false => None,
        };
        let control = self.control.open(
            &self.options.file,
            (loaded, info.rate.hz()),
            (servers, nsm),
            host,
        )?;
        let ports = self.live_ports(loaded)?;
        let mut player = RecordingPlayer::new(host.begin(&mut engine, callback)?);
        let part = RunPart {
            begin: host.first_frame(),
            frames,
            block,
            rate: info.rate,
        };
        let take = self.record.as_ref().map(|path| TakePlan {
            path: path.clone(),
            rate: info.rate,
            channels: output_channels(engine.plan()),
            is_kept: host.may_be_lost(),
        });
        let input = source.map(|source| (source, inputs));
        let files = part.open_files(&mut player, input, take)?;
        Ok(PreparedRun {
            engine,
            player,
            files,
            tracer,
            watched,
            control,
            ports,
            chosen_with,
            block,
            frames,
            is_strict: self.options.strict,
        })
    }

    /// Makes the engine under the scheduler that the call names, or that is chosen.
    fn make_engine(
        &self,
        loaded: &LoadedSession,
        mut options: EngineOptions,
        host: &mut dyn PlayHost,
    ) -> Result<MadeEngine, Failure> {
        let chosen_with = host.choose_scheduler(&self.options, loaded, &mut options);
        Interrupt::check_process("nothing was played")?;
        let scheduler = self.options.scheduler_name(&options);
        let (mut engine, callback) = host.make_engine(loaded, options)?;
        let controllers = loaded.live.controllers.iter().map(controller_binding);
        host.bind_controllers(&mut engine, controllers.collect())
            .map_err(Failure::from_input_error)?;
        check_recordings(&engine)?;
        Ok(MadeEngine {
            engine,
            callback,
            scheduler,
            chosen_with,
        })
    }

    /// Length of the run, if it has one: that of the call, else that of the input and its tail, else that of the session.
    fn frames(
        &self,
        (info, engine): (&DriverInfo, &Engine),
        source: Option<&InputFile>,
        is_endless: bool,
        host: &dyn PlayHost,
    ) -> Result<Option<u64>, Failure> {
        if let Some(frames) = self.options.frames(info.rate) {
            return Ok(Some(frames));
        }
        // A session manager, or who starts the transport, says when it ends.
        if source.is_none() && is_endless {
            return Ok(None);
        }
        let (length, tail) = host.ending(engine)?;
        let input = source.map(|it| it.frames().saturating_add(tail));
        Ok(input.or(length))
    }

    /// The controller that is learned, and the file that gets it.
    fn live_ports(&self, loaded: &LoadedSession) -> Result<LivePorts, Failure> {
        let file = &self.options.file;
        let learn = self.learn.as_deref();
        let learning = learn.map(|text| Learning::parse(text, file, loaded));
        Ok(LivePorts {
            learning: learning.transpose()?,
            file: file.clone(),
        })
    }

    fn is_watched(&self) -> bool {
        self.watch || !self.see.is_empty()
    }

    /// Title and description of the live view.
    fn view_titles(
        &self,
        scheduler: &str,
        info: &DriverInfo,
        (engine, host): (&Engine, &mut dyn PlayHost),
    ) -> Result<ViewTitles, Failure> {
        let seen = self.seen_ports(&host.graph(engine))?;
        if let Some(cells) = host.taps() {
            let ports: Vec<&str> = seen.iter().map(String::as_str).collect();
            cells.hold_taps(&ports).map_err(Failure::bad_input)?;
        }
        let session = self.options.file.file_name().unwrap_or_default();
        let workers = engine.workers();
        let s = if workers == 1 { "" } else { "s" };
        let (block, rate, driver): (Frames, _, _) = (engine.plan().block, info.rate, info.name);
        let description = format!("{scheduler}, {workers} worker{s}, {block} at {rate}, {driver}");
        Ok(ViewTitles {
            title: format!("divisi  {}", session.to_string_lossy()),
            description,
            seen,
        })
    }

    /// The ports that `--see` names, each as `node.port`.
    fn seen_ports(&self, graph: &Graph) -> Result<Vec<String>, Failure> {
        let ports = self.see.iter().map(|name| audio_output(graph, name));
        let ports: Result<_, _> = ports.collect();
        ports.map_err(Failure::from_input_error)
    }
}

/// An engine, and how its scheduler was found.
struct MadeEngine {
    engine: Engine,
    callback: EngineCallback,
    scheduler: String,
    /// Options of the choice, if `auto` chose.
    chosen_with: Option<ChooseOptions>,
}
