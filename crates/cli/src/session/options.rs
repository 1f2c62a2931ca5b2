//! Options that `play` and `render` share.

use crate::failure::Failure;
use crate::guard::FileGuard;
use crate::interrupt::Interrupt;
use crate::output::messages;
use crate::patch::PatchOptions;
use crate::playback::file_input::InputFile;
use crate::session::costs_store::{CostsStore, graph_key};
use crate::session::load::LoadedSession;
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use divisi::engine::{ChooseOptions, TransportStart, choose_scheduler, forget_choice};
use divisi::graph::{PiecePosition, PositionError, error_chain};
use divisi::prelude::{EngineError, EngineOptions, Frames, SampleRate, Scheduler};
use divisi::text::Settings;
use divisi::units::Nanos;
use divisi::workers::WaitPolicy;
use std::path::PathBuf;
use std::time::Duration;

/// Default sample rate, in Hz.
const DEFAULT_RATE_HZ: u32 = 48_000;
/// Default block size, in frames.
pub(crate) const DEFAULT_BLOCK: Frames = Frames(64);

/// Value of `--scheduler`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchedulerArg {
    /// Try several and take the best.
    Auto,
    /// The named one.
    Named(Scheduler),
}

/// Options of a run.
#[derive(Args)]
pub(crate) struct PlayOptions {
    /// The session: a .toml or .ag file, or a Pure Data patch (.pd)
    // Empty under a session manager, which names none.
    #[arg(value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) file: PathBuf,

    /// Duration in seconds; without it, until every node has ended
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = parse_seconds)]
    pub(crate) seconds: Option<f64>,

    /// Begin with the values of this snapshot of the session
    #[arg(long, value_name = "NAME")]
    snapshot: Option<String>,

    /// Where the transport begins: seconds as 12.5s, bar.beat as 17.1, or frames as 48000
    #[arg(long, value_name = "POSITION", value_parser = parse_position)]
    from: Option<PiecePosition>,

    /// Read the input from a sound file, not from the device
    #[arg(long, value_name = "IN.wav")]
    pub(crate) input: Option<PathBuf>,

    /// Scheduler: auto tries several on the session and takes the best; or one of sequential, random, hlfet, etf, cpfd, global,
    /// weighted, stealing, deadline, pipelined, and mutex (for comparison only)
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = parse_scheduler)]
    pub(crate) scheduler: SchedulerArg,

    /// Time limit of --scheduler auto, in seconds
    #[arg(long, value_name = "S", default_value = "0.5", allow_negative_numbers = true, value_parser = parse_seconds)]
    choose: f64,

    /// With --scheduler auto: ignore the stored choice and try again
    #[arg(long)]
    rechoose: bool,

    /// Maximum number of worker threads; without it, one for each core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    workers: Option<u32>,

    /// Frames in a block; without it, the session's, or 64
    #[arg(long, value_name = "FRAMES", value_parser = parse_block)]
    block: Option<Frames>,

    /// Frames a second; without it, the session's, or 48000
    #[arg(long, value_name = "HZ", value_parser = parse_rate)]
    rate: Option<SampleRate>,

    /// How workers wait between cycles: hybrid (spin, then sleep), sleep or spin
    #[arg(long, value_name = "POLICY", default_value = "hybrid", value_parser = parse_wait_policy)]
    wait: WaitPolicy,

    /// Fuse cheap nodes into one task: on or off
    #[arg(long, value_name = "on|off", default_value = "on", value_parser = parse_switch, action = clap::ArgAction::Set)]
    fuse: bool,

    /// Use all workers even where fewer would be faster; with --fuse off: the scheduler alone, without fusion
    #[arg(long)]
    force_workers: bool,

    /// Cost of communication between two cores, in nanoseconds; without it, the measured cost
    #[arg(long, value_name = "NS")]
    comm: Option<u64>,

    /// With --scheduler pipelined: maximum latency of the last stage, in blocks; default for `play`: 1
    #[arg(long, value_name = "BLOCKS", value_parser = clap::value_parser!(u32).range(0..=64))]
    ahead: Option<u32>,

    /// Latency compensation where paths of different latencies meet: on or off
    #[arg(long, value_name = "on|off", default_value = "on", value_parser = parse_switch, action = clap::ArgAction::Set)]
    pub(crate) compensate: bool,

    /// End with exit code 1 if a sound file is damaged or cut off, or an object of a patch is missing; without it, that is a note
    #[arg(long)]
    pub(crate) strict: bool,

    #[command(flatten)]
    pub(crate) patch: PatchOptions,

    /// Write the report as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

impl PlayOptions {
    /// Value of `--workers`.
    pub(crate) fn workers(&self) -> Option<usize> {
        self.workers.map(|workers| workers as usize)
    }

    /// Frames in a block. A patch plays in blocks of 64 frames, whatever the device has, or of a multiple that the call states.
    pub(crate) fn block(&self, loaded: &LoadedSession) -> Frames {
        match loaded.has_patch() {
            true => {
                let stated = self.block.filter(|it| it.0 % DEFAULT_BLOCK.0 == 0);
                stated.unwrap_or(DEFAULT_BLOCK)
            }
            false => loaded.block_or_default(self.block),
        }
    }

    /// Frames in a block of a render. A small patch plays in longer blocks than Pd's, unless the call states others or asks for
    /// several workers.
    pub(crate) fn render_block(&self, loaded: &LoadedSession) -> Frames {
        let serial = [
            SchedulerArg::Auto,
            SchedulerArg::Named(Scheduler::Sequential),
        ];
        let is_free = self.block.is_none() && self.fuse && serial.contains(&self.scheduler);
        let longer = loaded.render_block.filter(|_| is_free);
        longer.unwrap_or_else(|| self.block(loaded))
    }

    /// Returns true if neither the call nor the session says how many frames a block has, and no patch needs its own.
    pub(crate) fn is_block_free(&self, loaded: &LoadedSession) -> bool {
        let said = self.block.or(loaded.session.settings.block);
        said.is_none() && !loaded.has_patch()
    }

    /// With `--strict`: fails where objects of a patch are missing.
    pub(crate) fn check_objects(&self, loaded: &LoadedSession) -> Result<(), Failure> {
        match self.strict && loaded.lacks_objects {
            true => Err(Failure::failed("objects of the patch are missing")),
            false => Ok(()),
        }
    }

    /// Sample rate, if the call or the session has one.
    pub(crate) fn requested_rate(&self, loaded: &LoadedSession) -> Option<SampleRate> {
        self.rate.or(loaded.session.settings.rate)
    }

    /// Frames a second.
    pub(crate) fn rate(&self, loaded: &LoadedSession) -> SampleRate {
        loaded.rate_or_default(self.rate)
    }

    /// Duration in frames, if the call has one.
    pub(crate) fn frames(&self, rate: SampleRate) -> Option<u64> {
        self.seconds
            .map(|seconds| (seconds * f64::from(rate.hz())).round() as u64)
    }

    /// Gives the session the values of `--snapshot`.
    pub(crate) fn recall(&self, loaded: &mut LoadedSession) -> Result<(), Failure> {
        let name = self.snapshot.as_deref();
        name.map_or(Ok(()), |name| loaded.recall(name))
    }

    /// Refuses an `--input` that nothing reads.
    pub(crate) fn check_input(&self, loaded: &LoadedSession) -> Result<(), Failure> {
        if self.input.is_none() || loaded.input_channels() > 0 {
            return Ok(());
        }
        let message = "--input is not used: the session has no node of kind `input`";
        Err(Failure::bad_input(message))
    }

    /// Opens the file of `--input`, resampled to `rate`.
    pub(crate) fn open_input(&self, rate: SampleRate) -> Result<Option<InputFile>, Failure> {
        let opened = self.input.as_ref().map(|path| InputFile::open(path, rate));
        let source = opened.transpose();
        source.map_err(Failure::from_input_error)
    }

    /// A guard of all files that the call and the session name. Refuses a recorder in the session that would overwrite one.
    pub(crate) fn guard(&self, loaded: &LoadedSession) -> Result<FileGuard, Failure> {
        loaded.guard(
            [Some(&self.file), self.input.as_ref()]
                .into_iter()
                .flatten(),
        )
    }

    /// Options for an engine at `rate`.
    pub(crate) fn engine_options(&self, loaded: &LoadedSession, rate: SampleRate) -> EngineOptions {
        let mut options = EngineOptions::new(self.block(loaded), rate);
        if let SchedulerArg::Named(scheduler) = self.scheduler {
            options.scheduler = scheduler;
        }
        options.wait = self.wait;
        options.input_channels = loaded.input_channels();
        options.fuse = self.fuse;
        options.use_all_workers = self.force_workers;
        options.compensate_latency = self.compensate;
        options.transfer_time = self.comm.map(Nanos);
        options.latency_blocks = self.ahead;
        options.transport = self.from.map(|from| TransportStart {
            position: from.frame(loaded.session.graph.tempo(), rate),
            is_rolling: true,
        });
        if let Some(workers) = self.workers {
            options.workers = workers as usize;
        }
        options
    }

    /// Applies the stored measurements, and chooses a scheduler if the call names none. Returns the options of that
    /// choice.
    pub(crate) fn choose_scheduler(
        &self,
        loaded: &LoadedSession,
        options: &mut EngineOptions,
    ) -> Option<ChooseOptions> {
        let (mut store, key) = (CostsStore::load(), graph_key(&self.file));
        let graph = &loaded.session.graph;
        options.folder = loaded.folder.clone();
        let mut chosen_with = None;
        if self.scheduler == SchedulerArg::Auto {
            let mut choice_options = ChooseOptions::new(options.clone(), key.as_str());
            choice_options.time_limit = Duration::from_secs_f64(self.choose);
            choice_options.ignore_cached = self.rechoose;
            choice_options.stop = Interrupt::process_flag();
            let frames = self.frames(options.rate);
            choice_options.blocks = frames.map(|frames| frames / u64::from(options.block.0.max(1)));
            let choice_options = &*chosen_with.insert(choice_options);
            match choose_scheduler(
                graph,
                &loaded.registry,
                choice_options,
                store.machine_costs(),
            ) {
                Ok(choice) => {
                    messages::print_message(&format!("auto: {choice}"));
                    choice.apply(options);
                    if choice.is_to_keep()
                        && let Err(why) = store.save()
                    {
                        messages::print_message(&format!("the choice is not saved: {why}"));
                    }
                }
                // `Engine::new` reports the mistakes of the graph.
                Err(EngineError::Graph(_)) => {}
                Err(error) => {
                    if !self.force_workers {
                        options.scheduler = Scheduler::Sequential;
                    }
                    let scheduler = options.scheduler;
                    messages::print_message(&format!(
                        "auto: {scheduler}, because {}",
                        error_chain(&error)
                    ));
                }
            }
        }
        let catalogue = loaded.registry.catalogue();
        options.apply_measurements(store.machine_costs(), &key, graph, catalogue);
        chosen_with
    }

    /// Prints that the chosen scheduler turned out slower than the sequential one, and drops the stored choice.
    pub(crate) fn drop_choice(loaded: &LoadedSession, chosen_with: &ChooseOptions, note: &str) {
        messages::print_message(&format!("auto: {note}"));
        let mut store = CostsStore::load();
        if forget_choice(&loaded.session.graph, chosen_with, store.machine_costs())
            && let Err(why) = store.save()
        {
            messages::print_message(&format!("the choice cannot be dropped: {why}"));
        }
    }

    /// Name of the scheduler, and whether `auto` chose it.
    pub(crate) fn scheduler_name(&self, options: &EngineOptions) -> String {
        match self.scheduler {
            SchedulerArg::Auto => format!("{} (auto)", options.scheduler),
            SchedulerArg::Named(scheduler) => scheduler.to_string(),
        }
    }
}

/// Default sample rate.
pub(crate) fn default_rate() -> SampleRate {
    SampleRate::new(DEFAULT_RATE_HZ).expect("48000 is not zero")
}

/// Parses a position of the transport.
fn parse_position(text: &str) -> Result<PiecePosition, String> {
    text.parse()
        .map_err(|error: PositionError| error.to_string())
}

/// Parses a number of seconds.
pub(crate) fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=1e9).contains(&seconds) => Ok(seconds),
        _ => Err("a number of seconds, for example 2.5".into()),
    }
}

fn parse_scheduler(name: &str) -> Result<SchedulerArg, String> {
    match name {
        "auto" => Ok(SchedulerArg::Auto),
        _ => match name.parse() {
            Ok(scheduler) => Ok(SchedulerArg::Named(scheduler)),
            Err(known) => Err(format!("{known}, or auto")),
        },
    }
}

/// Parses `on` or `off`.
pub(crate) fn parse_switch(name: &str) -> Result<bool, String> {
    match name {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected on or off".into()),
    }
}

fn parse_wait_policy(name: &str) -> Result<WaitPolicy, String> {
    match name {
        "hybrid" => Ok(WaitPolicy::Hybrid),
        "sleep" => Ok(WaitPolicy::Sleep),
        "spin" => Ok(WaitPolicy::Spin),
        _ => Err("expected hybrid, sleep or spin".into()),
    }
}

/// Frames in a block.
pub(crate) fn parse_block(text: &str) -> Result<Frames, String> {
    let frames = text.parse().ok().filter(|n| Settings::BLOCKS.contains(n));
    let (min, max) = (Settings::BLOCKS.start(), Settings::BLOCKS.end());
    frames
        .map(Frames)
        .ok_or_else(|| format!("a block has {min} to {max} frames"))
}

/// Frames a second.
pub(crate) fn parse_rate(text: &str) -> Result<SampleRate, String> {
    let hz = text.parse().ok().filter(|hz| Settings::RATES.contains(hz));
    let (min, max) = (Settings::RATES.start(), Settings::RATES.end());
    hz.and_then(SampleRate::new)
        .ok_or_else(|| format!("a rate is {min} to {max} Hz"))
}
