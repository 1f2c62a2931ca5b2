//! The node `convolver`: convolves its input with impulse responses from a file; and the node `jconvolver`, which takes any responses
//! between its inputs and outputs from a configuration of jconvolver (its PARTITION is not used).
//!
//! A `convolver` has as many outputs as inputs. A response of one channel is used for every channel; one of as many channels as the node has
//! gives each its own; one of four channels for two is true stereo (LL LR RL RR). Without `channels` the node is as wide as the
//! response or as the sound that enters, whichever is wider; four channels count as true stereo then. A file of another rate is resampled. With a
//! second file, the parameter `which` cross-fades from one to the other while the node runs.
//!
//! Levels without slack run in the node's step; `work` says who does the others (`scheduler.rs`), with the same bits. If the
//! graph's block is a whole number of internal blocks, no latency is added, else one internal block. A block shorter than was
//! promised (in a loop that runs in parts) adds one internal block from then on, with one gap.
//!
//! A reset takes effect at once, and returns to the response that the node began with.
//!
//! The node cannot be duplicated, and saves no state: a copy would need all spectra once more and do the long levels' work
//! twice; and its spectra belong to the workers, from which nothing could be read in time. An edit of the graph needs
//! neither: the processor goes on. Its state is the input within the response's length. In a cell it keeps that beside
//! (`heard.rs`), and a process that comes after another computes the spectra anew, with the same bits.
//!
//! | gauge | shows |
//! |---|---|
//! | `refused` | 1: the response cannot be played at this rate, and the node is silent |
//! | `tuned` | origin of the partition: 1 measured costs, 0 the built-in table, -1 the node's own parameter |
//! | `levels` | number of levels |
//! | `threads` | number of its own threads |
//! | `late` | number of results that were late, and were replaced by silence |
//!
//! | file | holds |
//! |---|---|
//! | `kind.rs` | the kind and its parameters |
//! | `responses.rs` | the responses, and the widths that they give a node |
//! | `config.rs` | the parameters of one node, and the convolver made from them |
//! | `scheduler.rs` | who does the levels that have slack |
//! | `away.rs`, `work.rs` | long levels in another process: how they leave a node, and the other end |
//! | `ir_switch.rs` | the switch between two responses |
//! | `heard.rs` | the input that a node in another process needs to go on |

mod away;
mod config;
mod heard;
mod ir_switch;
mod kind;
mod responses;
mod scheduler;
mod work;

use crate::tuning::PartitionOrigin;
use crate::{ConvolverAdapter, CostTable};
use config::{Built, ConvolverConfig};
use heard::{HeardInput, Replay};
use ir_switch::IrSwitch;
use processor::{
    Block, Gauge, MakeContext, MakeError, Past, ProcessStatus, Processor, Registry, Setup,
    SetupServices, Tail,
};
use scheduler::NodeScheduler;
use std::sync::{Arc, LazyLock};
use units::Frames;

/// Adds the kind to `registry`. Partitions are chosen by the built-in costs.
///
/// Real-time: setup.
pub fn register(registry: &mut Registry) {
    register_with(registry, || None);
}

/// Adds the kind to `registry`. Partitions are chosen by the costs that `divisi tune` measured on this machine, else by the
/// built-in ones.
///
/// Real-time: setup.
pub fn register_tuned(registry: &mut Registry) {
    register_with(registry, crate::read_tuned_costs);
}

/// Adds the kind to `registry`. Partitions are chosen by the costs that `measured` gives, which is called once, for the first node:
/// all nodes of a registry have the same costs.
///
/// Real-time: setup.
pub fn register_with(
    registry: &mut Registry,
    measured: impl Fn() -> Option<CostTable> + Send + Sync + 'static,
) {
    let measured = LazyLock::new(move || measured().map(Arc::new));
    let measured = Arc::new(measured);
    let [shared, of_work, of_configured] = [(); 3].map(|()| measured.clone());
    registry.add_work("convolver", move |context| {
        let config = ConvolverConfig::new(&context.make, || (**of_work).clone())?;
        work::works(&config, context)
    });
    registry.add_work("jconvolver", move |context| {
        let measured = || (**of_configured).clone();
        let config = ConvolverConfig::of_configuration(&context.make, measured)?;
        work::works(&config, context)
    });
    registry.add(kind::kind(), move |creation| {
        make(creation, || (**shared).clone())
    });
    registry.add_probe("convolver", responses::file_widths);
    registry.add(kind::jconvolver(), move |creation| {
        make_configured(creation, || (**measured).clone())
    });
    registry.add_probe("jconvolver", responses::configuration_widths);
}

fn make(
    creation: &MakeContext<'_>,
    measured: impl FnOnce() -> Option<Arc<CostTable>>,
) -> Result<Box<dyn Processor>, MakeError> {
    let config = ConvolverConfig::new(creation, measured)?;
    let (which, _) = creation.kind.param("which").expect("the kind has it");
    let is_other = creation.number("which")? >= 0.5;
    let ir_switch = IrSwitch::new(which, config.responses.count() > 1, is_other);
    Ok(Box::new(ConvolverNode::new(config, ir_switch)))
}

fn make_configured(
    creation: &MakeContext<'_>,
    measured: impl FnOnce() -> Option<Arc<CostTable>>,
) -> Result<Box<dyn Processor>, MakeError> {
    let config = ConvolverConfig::of_configuration(creation, measured)?;
    // It has one set of responses, and no parameter that switches.
    let ir_switch = IrSwitch::new(u16::MAX, false, false);
    Ok(Box::new(ConvolverNode::new(config, ir_switch)))
}

/// The processor of the node.
struct ConvolverNode {
    config: ConvolverConfig,
    adapter: Option<ConvolverAdapter>,
    scheduler: NodeScheduler,
    ir_switch: IrSwitch,
    /// Frames for which the inputs have been silent.
    silent_frames: u64,
    /// Absolute frame after the last block, and the largest block.
    next_frame: u64,
    max_block: u64,
    late: Gauge,
    /// The input that it has heard, once somebody has asked.
    heard: Option<HeardInput>,
}

impl ConvolverNode {
    fn new(config: ConvolverConfig, ir_switch: IrSwitch) -> Self {
        Self {
            ir_switch,
            config,
            adapter: None,
            scheduler: NodeScheduler::Callback,
            silent_frames: u64::MAX,
            next_frame: 0,
            max_block: 0,
            late: Gauge::default(),
            heard: None,
        }
    }

    /// Keeps a convolver, and sets the gauges.
    fn install(&mut self, built: Built, setup: &mut Setup<'_>) {
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
        let seat = (&self.config.seat, self.ir_switch.number());
        self.scheduler = self
            .config
            .work
            .start((adapter.convolver_mut(), seat), setup);
        let convolver = adapter.convolver();
        let (kernels, partition) = (convolver.kernels(), convolver.partition());
        setup
            .services
            .publish_setting("kernels", kernels.name().to_owned());
        setup
            .services
            .publish_setting("partition", partition.to_string());
        let tuned = match origin {
            PartitionOrigin::Measured => 1.0,
            PartitionOrigin::BuiltIn => 0.0,
            PartitionOrigin::Given => -1.0,
        };
        set_gauge(setup.services, "tuned", tuned);
        set_gauge(setup.services, "levels", levels as f32);
        set_gauge(setup.services, "threads", self.scheduler.threads() as f32);
        self.adapter = Some(adapter);
        self.ir_switch.set_spare(spare);
    }

    /// Forgets all sound where the block does not follow the one before: the node has slept.
    ///
    /// An abandoned cycle is no such gap. Its block comes again with new input, which this node takes as the next one, so
    /// that its tail goes on. Only the count of frames, which deadlines refer to, goes back.
    ///
    /// Real-time: hot.
    fn follow(&mut self, block: &Block<'_>) {
        let position = block.position();
        let ahead = self.next_frame.wrapping_sub(position);
        if let Some(adapter) = &mut self.adapter {
            match ahead {
                0 => {}
                _ if ahead <= self.max_block => adapter.rewind(ahead),
                _ => {
                    adapter.seek(position);
                    self.heard.iter_mut().for_each(HeardInput::clear);
                }
            }
        }
        self.next_frame = position + block.frames() as u64;
    }

    /// Hears the past again, from `replay.from` up to `position`. The levels' work is done here.
    fn hear_again(&mut self, replay: &Replay, position: u64) {
        let (Some(adapter), Some(heard)) = (&mut self.adapter, &self.heard) else {
            return;
        };
        adapter.seek(replay.from);
        if replay.is_delayed {
            adapter.add_latency();
        }
        let mut frames = vec![0.0; adapter.convolver().block()];
        let mut at = replay.from;
        while at < position {
            // No more than a block at a time, so this fits in a `usize`.
            let left = (position - at).min(u64::from(u32::MAX)) as usize;
            let count = adapter.begin_chunk(left);
            self.ir_switch.advance(adapter.convolver_mut());
            for channel in 0..self.config.inputs {
                heard.read(channel, at, &mut frames[..count]);
                adapter.write_input(channel, &frames[..count]);
            }
            self.scheduler.process_now(adapter);
            at += count as u64;
        }
        (self.silent_frames, self.next_frame) = (0, position);
    }

    /// Returns true if the output is silence until there is input or an event.
    ///
    /// Real-time: hot.
    fn is_at_rest(&mut self, block: &Block<'_>) -> bool {
        let frames = block.frames() as u64;
        self.silent_frames = match block.is_silent() {
            true => self.silent_frames.saturating_add(frames),
            false => 0,
        };
        self.adapter.as_ref().is_none_or(|adapter| {
            self.silent_frames > adapter.tail() + frames
                && self.ir_switch.is_idle(adapter.convolver())
                && block.events().is_empty()
        })
    }
}

/// Sets a gauge that does not change.
fn set_gauge(services: &mut dyn SetupServices, name: &str, value: f32) {
    services.gauge(name).set(value);
}

impl Processor for ConvolverNode {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.silent_frames = u64::MAX;
        (self.next_frame, self.max_block) = (0, u64::from(setup.block.0));
        self.late = setup.services.gauge("late");
        self.heard = None;
        // Threads for another rate end before the next ones start.
        self.scheduler = NodeScheduler::Callback;
        let refused = setup.services.gauge("refused");
        match self.config.build(
            (setup.rate, setup.block.count()),
            self.ir_switch.first_file(),
        ) {
            Ok(built) => {
                self.install(built, setup);
                refused.set(0.0);
            }
            Err(why) => {
                // The file was there when the node was made: it is gone, or its rate is too far off.
                setup.services.notify_user(format!("{why}: it is silent"));
                self.adapter = None;
                refused.set(1.0);
            }
        }
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        if self.is_at_rest(block) {
            block.silence_outputs();
            return ProcessStatus::Sleep;
        }
        self.follow(block);
        let Some(adapter) = &mut self.adapter else {
            return ProcessStatus::Sleep;
        };
        let mut at = 0;
        while at < block.frames() {
            let end = at + adapter.begin_chunk(block.frames() - at);
            self.ir_switch.read_events(block, at..end);
            self.ir_switch.advance(adapter.convolver_mut());
            for channel in 0..self.config.inputs {
                let input = &block.input(0).channel(channel)[at..end];
                adapter.write_input(channel, input);
                if let Some(heard) = &mut self.heard {
                    heard.write(channel, block.position() + at as u64, input);
                }
            }
            self.scheduler.process(adapter, block);
            let mut output = block.output(0);
            for channel in 0..self.config.outputs {
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
        let spare = self.ir_switch.reset();
        if let Some(adapter) = &mut self.adapter {
            adapter.restart(spare);
        }
        self.heard.iter_mut().for_each(HeardInput::clear);
        self.silent_frames = u64::MAX;
        self.next_frame = 0;
    }

    fn latency(&self) -> Frames {
        Frames(self.adapter.as_ref().map_or(0, |a| a.latency() as u32))
    }

    fn tail(&self) -> Tail {
        Tail::Frames(self.adapter.as_ref().map_or(0, ConvolverAdapter::tail))
    }

    fn keep_past(&mut self) {
        if let (Some(adapter), None) = (&self.adapter, &self.heard) {
            self.heard = HeardInput::new(adapter, self.config.inputs);
        }
    }

    fn past(&mut self) -> Option<Past<'_>> {
        let adapter = self.adapter.as_ref()?;
        let (wants_other, is_delayed) = (self.ir_switch.wants_other(), adapter.is_delayed());
        Some(self.heard.as_mut()?.past(wants_other, is_delayed))
    }

    fn load_past(&mut self, bounds: [u64; 4], position: u64) {
        let heard = self.heard.as_mut();
        let Some(replay) = heard.and_then(|heard| heard.replay(bounds, position)) else {
            return;
        };
        self.ir_switch.ask(replay.wants_other);
        if replay.is_needed {
            self.hear_again(&replay, position);
        }
    }
}
