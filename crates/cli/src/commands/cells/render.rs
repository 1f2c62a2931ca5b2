//! `cells --render`: plays a session with cells into a file, faster than real time.

use super::kept::KeptChanges;
use super::start::{CellOptions, StartedCells};
use crate::failure::Failure;
use crate::files::check_sound_name;
use crate::interrupt::Interrupt;
use crate::output::messages;
use crate::playback::file_input::InputFile;
use crate::session::file_problems::check_damage;
use crate::session::load::{LoadedSession, output_channels};
use crate::session::options::PlayOptions;
use divisi::cells::Succession;
use divisi::driver::DriverConfig;
use divisi::driver::offline;
use divisi::graph::error_chain;
use divisi::media::{SampleFormat, Writer};
use divisi::prelude::{Mode, Scheduler};
use divisi::units::Channels;
use divisi::workers::AudioThread;
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

/// Renders into `output`.
pub(super) fn render(
    play: &PlayOptions,
    loaded: &LoadedSession,
    (cells, succession): (CellOptions<'_>, (Succession, KeptChanges)),
    output: &Path,
) -> Result<(), Failure> {
    play.check_input(loaded)?;
    let mut guard = play.guard(loaded)?;
    guard.output(output)?;
    check_sound_name(output)?;
    let interrupt = Interrupt::listen()?;
    let rate = play.rate(loaded);
    let mut options = play.engine_options(loaded, rate);
    options.scheduler = Scheduler::Sequential;
    options.workers = 1;
    options.mode = Mode::Offline;
    let (block, inputs) = (options.block, options.input_channels);
    let mut source = play.open_input(rate)?;
    let (succession, kept) = succession;
    let succession = (succession, Rc::new(RefCell::new(kept)));
    let StartedCells {
        mut engine,
        callback,
        mut supervisor,
    } = cells.start(loaded, options, succession)?;
    messages::print_notes(&engine.notes());
    let mut request = DriverConfig::new("divisi", block);
    (request.inputs, request.outputs) = (inputs, output_channels(engine.plan()));
    if request.outputs == 0 {
        let message = "the session has no `sink`, so there is nothing to render";
        return Err(Failure::bad_input(message));
    }
    let mut callback = supervisor.begin(&mut engine, callback)?;
    let channels = Channels(request.outputs);
    let mut writer =
        Writer::create(output, rate, channels, SampleFormat::F32).map_err(Failure::from_error)?;
    let frames = play.frames(rate).unwrap_or(0);
    let latency = u64::from(engine.plan().latency.0);
    let rendered = {
        let _audio_thread = AudioThread::enter();
        offline::render(
            &request,
            (latency, frames),
            &mut callback,
            &mut |into: &mut [&mut [f32]]| read_input(source.as_mut(), into),
            &mut |block: &[&[f32]]| writer.write(block).map_err(Into::into),
            &mut |_| {
                engine.update();
                supervisor.print_news();
                interrupt.control_flow()
            },
        )
    };
    let written = rendered.map_err(|error| Failure::failed(error_chain(&error)))?;
    let kept = writer.finish().map_err(Failure::from_error)?;
    messages::print_message(&format!("{}: {written} frames", output.display()));
    messages::print_kept(output, kept.as_deref());
    if latency > 0 {
        messages::print_message(&format!("latency: {latency} frames, left out of the file"));
    }
    if written < frames {
        let message = "interrupted: the file holds the first frames";
        return Err(Failure::failed(message));
    }
    let damage = source.as_ref().and_then(InputFile::damage);
    damage
        .iter()
        .for_each(|damage| messages::print_note(damage));
    let whole = check_damage(damage.iter().count(), play.strict);
    supervisor.end().and(whole)
}

/// The next block of the input file.
fn read_input(
    source: Option<&mut InputFile>,
    into: &mut [&mut [f32]],
) -> Result<usize, Box<dyn std::error::Error + Send + Sync>> {
    let Some(source) = source else {
        return Ok(0);
    };
    let got = source.read(into);
    source.read_error().map_or(Ok(got), |what| Err(what.into()))
}
