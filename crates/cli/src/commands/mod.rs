//! The commands, one file each.

#[cfg(target_os = "linux")]
mod cells;
mod check;
mod convolve;
mod devices;
mod doctor;
mod draw;
mod experiment;
#[cfg(target_os = "linux")]
mod isolation_peer;
mod kinds;
mod learn;
mod measure;
mod plan;
mod play;
mod queue_peer;
mod render;
mod schema;
mod send;
mod shape;
mod tune;

#[cfg(target_os = "linux")]
pub(crate) use cells::cell_mistakes;

use crate::failure::Failure;
use clap::Subcommand;

/// The subcommands.
#[derive(Subcommand)]
pub(crate) enum CliCommand {
    /// Plays a session in real time
    Play(play::Play),
    /// Renders a session into a file, faster than real time
    Render(render::Render),
    /// Plays a session whose cells are processes of their own
    #[cfg(target_os = "linux")]
    Cells(cells::CellsCall),
    /// Checks a session and shows every mistake; changes nothing
    Check(check::Check),
    /// Makes a test graph
    Shape(shape::Shape),
    /// Draws a session's graph, or its process network
    Draw(draw::Draw),
    /// Shows the plan of a session: levels, critical path, lower bound, schedule
    Plan(plan::Plan),
    /// Measures the cost of each node and of this machine, and stores both
    Measure(measure::Measure),
    /// Measures the best partitions of convolutions on this machine, and stores the result
    Tune(tune::Tune),
    /// Repeats an experiment of a source paper: a table of all runs, plots, a page
    Experiment(experiment::Experiment),
    /// Convolves a sound with an impulse response or a configuration of several
    Convolve(convolve::Convolve),
    /// Lists drivers and devices
    Devices(devices::Devices),
    /// Shows which real-time privileges this machine grants, and how to get the others
    Doctor(doctor::Doctor),
    /// Sends commands to a session that plays with --socket
    Send(send::Send),
    /// Binds the next MIDI controller that moves to a parameter of a session that plays with --socket
    Learn(learn::Learn),
    /// Lists the kinds of nodes, or shows the page of one
    Kinds(kinds::Kinds),
    /// Prints the JSON Schema of .toml sessions
    Schema(schema::Schema),
    /// The second process of the experiment `queues`
    #[command(hide = true)]
    QueuePeer(queue_peer::QueuePeer),
    /// A process of the experiment `isolation`
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    IsolationPeer(isolation_peer::IsolationPeer),
    /// The process of a cell
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    CellProcess(cells::CellProcess),
}

impl CliCommand {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Play(play) => play.run(),
            Self::Render(render) => render.run(),
            #[cfg(target_os = "linux")]
            Self::Cells(cells) => cells.run(),
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
            Self::Send(send) => send.run(),
            Self::Learn(learn) => learn.run(),
            Self::Kinds(kinds) => kinds.run(),
            Self::Schema(schema) => schema.run(),
            Self::QueuePeer(peer) => peer.run(),
            #[cfg(target_os = "linux")]
            Self::IsolationPeer(peer) => peer.run(),
            #[cfg(target_os = "linux")]
            Self::CellProcess(process) => process.run(),
        }
    }
}
