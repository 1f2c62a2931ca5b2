//! The commands, one a file.

mod check;
mod convolve;
mod devices;
mod doctor;
mod draw;
mod experiment;
mod measure;
mod plan;
mod play;
mod queue_peer;
mod render;
mod schema;
mod shape;
mod tune;

use crate::failure::Failure;
use clap::Subcommand;

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Plays a session in real time
    Play(play::Play),
    /// Plays a session into a file, as fast as it goes
    Render(render::Render),
    /// Reads a session and says what is wrong with it; changes nothing
    Check(check::Check),
    /// Makes a test graph
    Shape(shape::Shape),
    /// Draws a session's graph
    Draw(draw::Draw),
    /// Shows what takes how long in which order: levels, critical path, bound, schedule
    Plan(plan::Plan),
    /// Measures what each node costs, and this machine, and keeps it
    Measure(measure::Measure),
    /// Measures how impulse responses are best cut on this machine, and keeps it
    Tune(tune::Tune),
    /// Does a source document's experiment again: a table of every run, plots, one page
    Experiment(experiment::Experiment),
    /// Convolves a sound with an impulse response, or with a configuration of them
    Convolve(convolve::Convolve),
    /// Lists what there is to play through
    Devices(devices::Devices),
    /// Says what this machine grants and refuses, and what to do about it
    Doctor(doctor::Doctor),
    /// Prints the JSON Schema of .toml sessions
    Schema(schema::Schema),
    /// What an experiment starts as its other process
    #[command(hide = true)]
    QueuePeer(queue_peer::QueuePeer),
}

impl Command {
    /// Does it.
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Play(play) => play.run(),
            Self::Render(render) => render.run(),
            Self::Check(check) => check.run(),
            Self::Shape(shape) => shape.run(),
            Self::Draw(draw) => draw.run(),
            Self::Plan(plan) => plan.run(),
            Self::Measure(measure) => measure.run(),
            Self::Tune(tune) => tune.run(),
            Self::Experiment(experiment) => experiment.run(),
            Self::Convolve(convolve) => convolve.run(),
            Self::Devices(devices) => devices.run(),
            Self::Doctor(doctor) => doctor.run(),
            Self::Schema(schema) => schema.run(),
            Self::QueuePeer(peer) => peer.run(),
        }
    }
}
