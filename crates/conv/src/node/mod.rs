//! `convolver`: a node that plays its input through impulse responses from a file.
//!
//! As many channels out as in. A response of one channel is for every channel; one of as many channels as the node has is
//! for each its own; one of four for two is true stereo (LL LR RL RR). A file of another rate is converted. With a
//! second file, `which` fades from one to the other while it plays.
//!
//! The first level plays in the step; long ones are done by whom the node says (`ways.rs`), with the same bits. Where the
//! graph's block is a whole number of internal blocks no latency is added, else one internal block. A block shorter than
//! was promised (in a loop that is played in parts) costs one internal block from then on, and one gap.
//!
//! After a reset it is as new at once, and hears the response again that it began with.
//!
//! It is not copied, and so has no state to save: a copy would need all spectra once more, and do the long levels' work
//! twice, and what it has heard lies in the hands of whoever works on a level, from where nothing could be read in time.
//! An edit of the graph needs neither: the processor itself goes on. Since its state is what it has heard within the
//! response's length, a session that is opened again has it back after that time.
//!
//! | gauge | shows |
//! |---|---|
//! | `refused` | 1: the response cannot be played at this rate, and the node is silent |
//! | `tuned` | what the partition is by: 1 what was measured on this machine, 0 the built-in table, -1 the node's own word |
//! | `levels` | how many levels it has |
//! | `threads` | how many threads of its own |
//! | `late` | how many results were not there when they were due, and silence in their place |
//!
//! | file | holds |
//! |---|---|
//! | `kind.rs` | what a user can say |
//! | `wish.rs` | what one node says, and what is built by it |
//! | `ways.rs` | who does the long levels |
//! | `change.rs` | which of two responses is heard |

mod config;
mod ir_switch;
mod kind;
mod scheduler;

use crate::tuning::PartitionOrigin;
use crate::{ConvolverAdapter, CostTable};
use config::{Built, ConvolverConfig};
use ir_switch::Change;
use processor::{
    Block, Gauge, MakeContext, MakeError, ProcessStatus, Processor, Registry, Setup, SetupServices,
    Tail,
};
use scheduler::Crew;
use std::sync::{Arc, LazyLock};
use units::Frames;

/// Adds the kind to `registry`, for a machine of which nothing is known: partitions are by the built-in table.
///
/// Real-time: setup.
pub fn register(registry: &mut Registry) {
    register_with(registry, || None);
}

/// Adds the kind to `registry`; nodes choose their partitions by the costs that `divisi tune` measured on this machine, and
/// by the built-in table where it has not been run.
///
/// Real-time: setup.
pub fn register_tuned(registry: &mut Registry) {
    register_with(registry, crate::read_tuned_costs);
}

/// Adds the kind to `registry`; nodes choose their partitions by what `measured` gives. It is asked once, when the first
/// node wants to know: all nodes of a registry go by the same.
///
/// Real-time: setup.
pub fn register_with(
    registry: &mut Registry,
    measured: impl Fn() -> Option<CostTable> + Send + Sync + 'static,
) {
    let measured = LazyLock::new(move || measured().map(Arc::new));
    registry.add(kind::kind(), move |creation| {
        make(creation, || measured.clone())
    });
}

fn make(
    creation: &MakeContext<'_>,
    measured: impl FnOnce() -> Option<Arc<CostTable>>,
) -> Result<Box<dyn Processor>, MakeError> {
    let wish = ConvolverConfig::of(creation, measured)?;
    let (which, _) = creation.kind.param("which").expect("the kind has it");
    let is_other = creation.number("which")? >= 0.5;
    Ok(Box::new(Unit {
        change: Change::new(which, wish.files.len() > 1, is_other),
        wish,
        adapter: None,
        crew: Crew::Callback,
        silent: u64::MAX,
        late: Gauge::default(),
    }))
}

struct Unit {
    wish: ConvolverConfig,
    adapter: Option<ConvolverAdapter>,
    crew: Crew,
    change: Change,
    /// For how many frames the inputs have been silent.
    silent: u64,
    late: Gauge,
}

impl Unit {
    /// Shows what was built, and keeps it.
    fn take(&mut self, built: Built, setup: &mut Setup<'_>) {
        let Built {
            mut adapter,
            spare,
            origin,
            notes,
        } = built;
        notes
            .into_iter()
            .for_each(|note| setup.services.notify_user(note));
        let levels = adapter.convolver().partition().levels().len();
        self.crew = self.wish.way.engage(adapter.convolver_mut(), setup);
        let tuned = match origin {
            PartitionOrigin::Measured => 1.0,
            PartitionOrigin::BuiltIn => 0.0,
            PartitionOrigin::Given => -1.0,
        };
        show(setup.services, "tuned", tuned);
        show(setup.services, "levels", levels as f32);
        show(setup.services, "threads", self.crew.threads() as f32);
        self.adapter = Some(adapter);
        self.change.set_spare(spare);
    }

    /// Whether it gives silence until something is heard or asked for.
    ///
    /// Real-time: hot.
    fn is_at_rest(&mut self, block: &Block<'_>) -> bool {
        let frames = block.frames() as u64;
        self.silent = match block.is_silent() {
            true => self.silent.saturating_add(frames),
            false => 0,
        };
        self.adapter.as_ref().is_none_or(|adapter| {
            self.silent > adapter.tail() + frames
                && self.change.is_over(adapter.convolver())
                && block.events().is_empty()
        })
    }
}

/// Shows a number that does not change.
fn show(services: &mut dyn SetupServices, name: &str, value: f32) {
    services.gauge(name).set(value);
}

impl Processor for Unit {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.silent = u64::MAX;
        self.late = setup.services.gauge("late");
        // What was engaged for another rate goes before the next comes.
        self.crew = Crew::Callback;
        let refused = setup.services.gauge("refused");
        match self.wish.build(setup, self.change.first()) {
            Ok(built) => {
                self.take(built, setup);
                refused.set(0.0);
            }
            Err(why) => {
                // The file was there when the node was made: it has gone, or its rate is too far off.
                setup.services.notify_user(format!("{why}: it is silent"));
                self.adapter = None;
                refused.set(1.0);
            }
        }
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let is_at_rest = self.is_at_rest(block);
        let Some(adapter) = self.adapter.as_mut().filter(|_| !is_at_rest) else {
            block.silence_outputs();
            return ProcessStatus::Sleep;
        };
        if adapter.position() != block.position() {
            adapter.seek(block.position());
        }
        let mut at = 0;
        while at < block.frames() {
            let end = at + adapter.begin_chunk(block.frames() - at);
            self.change.listen(block, at..end);
            self.change.go_on(adapter.convolver_mut());
            for channel in 0..self.wish.channels {
                adapter.write_input(channel, &block.input(0).channel(channel)[at..end]);
            }
            self.crew.advance(adapter, block);
            let mut output = block.output(0);
            for channel in 0..self.wish.channels {
                let to = &mut output.channel(channel)[at..end];
                for (to, x) in to.iter_mut().zip(adapter.output(channel)) {
                    *to = if x.is_finite() { *x } else { 0.0 };
                }
            }
            at = end;
        }
        self.late.set(adapter.convolver().late_count() as f32);
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        let back = self.change.reset();
        if let Some(adapter) = &mut self.adapter {
            adapter.restart(back);
        }
        self.silent = u64::MAX;
    }

    fn latency(&self) -> Frames {
        Frames(self.adapter.as_ref().map_or(0, |a| a.latency() as u32))
    }

    fn tail(&self) -> Tail {
        Tail::Frames(self.adapter.as_ref().map_or(0, ConvolverAdapter::tail))
    }
}
