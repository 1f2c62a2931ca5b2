//! The conformance test of every unit: the promises of a processor, whatever it computes.
//!
//! A unit is given as a node: its kind and parameters. Inputs, events and cuts are random but the same in every run.

use crate::alloc;
use crate::processor_bench::{BlockSplit, ProcessorBench, TestInput, TestOutput};
use crate::rng::Rng;
use graph::{Law, Modulation, Node, ParamRange, ParamValue, Signal};
use processor::{Event, EventBody, EventTarget, Registry, Tail};
use rt::ftz::FlushToZero;
use units::SampleRate;

/// One node that is held to every promise.
pub struct Unit<'a> {
    registry: &'a Registry,
    node: Node,
    rate: SampleRate,
}

/// A node of `kind` with these parameters.
pub fn node(kind: &str, params: &[(&str, ParamValue)]) -> Node {
    let mut node = Node::new(format!("a {kind}"), kind);
    for (key, value) in params {
        node.set(*key, value.clone());
    }
    node
}

/// The node with every live number driven: by sound, by events, or by both, under different laws. An amount of work is not
/// driven: some values would take seconds a block, and prove nothing more.
///
/// # Panics
///
/// Its kind is unknown.
pub fn driven(registry: &Registry, node: &Node, signals: &[Signal]) -> Node {
    let mut node = node.clone();
    let kind = registry
        .catalogue()
        .get(node.effective_kind())
        .expect("the kind is known");
    let laws = [Law::Octaves, Law::Add, Law::Times, Law::Decibels, Law::Set];
    let mut laws = laws.into_iter().cycle();
    let params = (0..).zip(&kind.params);
    let params = params.filter(|(_, param)| param.can_be_driven() && param.unit != WORK);
    for (param, there) in params.take(MAX_DRIVEN) {
        for signal in signals {
            let law = laws.next().expect("it has no end");
            let amount = match law {
                Law::Add | Law::Set => 10.0,
                Law::Decibels => -6.0,
                Law::Octaves | Law::Times => 1.5,
            };
            let modulation = Modulation { param, law, amount };
            let added = node.add_modulation(there.name, *signal, modulation);
            added.expect("no kind has very many parameters");
        }
        // The laws of the next parameter begin with another one.
        laws.next();
    }
    node
}

/// Unit of an amount of work.
const WORK: &str = "ns";

/// Number of parameters that are driven at once: a mixer has very many that are alike.
const MAX_DRIVEN: usize = 4;

const FRAMES: usize = 3000;

/// Bytes from which a state is long: it is cut off at [`LENGTHS`] lengths, a shorter one at each.
const LONG_STATE: usize = 2000;
const LENGTHS: usize = 16;

/// Frames that a test waits for a tail to end; a longer tail is not tested.
const PATIENCE: u64 = 1 << 20;

/// Runs `node` in blocks of all sizes, and checks every promise of a processor.
///
/// # Panics
///
/// A promise is broken; or the test binary has not installed [`alloc::Counting`].
pub fn check(registry: &Registry, node: &Node) {
    assert!(
        alloc::is_installed(),
        "the test installs the counting allocator"
    );
    let _flush = FlushToZero::enable();
    for rate in [44_100, 96_000] {
        let unit = Unit {
            registry,
            node: node.clone(),
            rate: SampleRate::new(rate).expect("a rate above 0"),
        };
        unit.blocks_of_any_cut_give_the_same_bits();
        unit.reset_equals_new();
        unit.silence_follows_the_tail();
        unit.nothing_is_denormal();
        unit.finite_gives_finite();
        unit.not_a_number_is_forgotten();
        unit.a_saved_state_goes_on();
        unit.a_bad_state_is_refused_or_survived();
    }
}

impl Unit<'_> {
    fn rig(&self) -> ProcessorBench {
        ProcessorBench::new(self.registry, &self.node, self.rate)
    }

    /// Noise with gaps, and changes of every live parameter.
    fn take(&self, seed: u64) -> TestInput {
        let mut rng = Rng(seed);
        let channels = self.rig().input_channels();
        TestInput {
            inputs: (0..channels).map(|_| gappy(&mut rng, FRAMES)).collect(),
            events: self.events(&mut rng),
            frames: FRAMES,
        }
    }

    fn events(&self, rng: &mut Rng) -> Vec<Event> {
        let kind = self.registry.catalogue().get(self.node.effective_kind());
        let kind = kind.expect("the kind is known");
        let params = kind.params.iter().enumerate();
        let mut all = Vec::new();
        let frame = |rng: &mut Rng| rng.below(FRAMES) as u32;
        for (index, param) in params.filter(|(_, p)| p.live) {
            let ParamRange::Number { min, max, .. } = param.range else {
                continue;
            };
            let max = if param.unit == WORK { 1000.0 } else { max };
            for _ in 0..3 {
                // Small numbers are as likely as large ones; now and then it is one from outside.
                let share = rng.unit().powi(4) * 1.05;
                all.push(Event {
                    frame: frame(rng),
                    target: EventTarget::Param(index as u16),
                    body: EventBody::Value((min + (max - min) * share) as f32),
                });
            }
        }
        let rig = self.rig();
        // A delay has what enters its line elsewhere: its processor counts the other inputs.
        let first = match kind.delay {
            Some(_) => rig.node().kind_inputs().len(),
            None => 0,
        };
        let ports = rig.node().inputs[first..].iter().enumerate();
        for (index, _) in ports.filter(|(_, p)| !matches!(p.signal, Signal::Audio(_))) {
            all.extend((0..6).map(|i| Event {
                frame: frame(rng),
                target: EventTarget::Input(index as u16),
                body: EventBody::Value((i % 2) as f32),
            }));
            all.extend((0..24).map(|_| Event {
                frame: frame(rng),
                target: EventTarget::Input(index as u16),
                body: note_event(rng),
            }));
        }
        all.sort_by_key(|e| e.frame);
        all
    }

    fn blocks_of_any_cut_give_the_same_bits(&self) {
        let take = self.take(1);
        let whole = self.rig().process(&take, BlockSplit::Even(FRAMES));
        assert_eq!(whole.allocations, 0, "process does not allocate");
        let mut cuts = [1, 64, 100].map(BlockSplit::Even).to_vec();
        for seed in 0..6 {
            cuts.extend([BlockSplit::Random(Rng(seed)), BlockSplit::Parts(Rng(seed))]);
        }
        for cut in cuts {
            let name = format!("{} cut {cut:?}", self.node.kind);
            same(&self.rig().process(&take, cut), &whole, &name);
        }
    }

    fn reset_equals_new(&self) {
        let take = self.take(2);
        let mut rig = self.rig();
        let new = rig.process(&take, BlockSplit::Even(64));
        rig.process(&self.take(3), BlockSplit::Even(77));
        rig.reset();
        let again = rig.process(&take, BlockSplit::Even(64));
        same(&again, &new, "after reset");
        rig.process(&self.take(3), BlockSplit::Even(77));
        rig.reset();
        rig.set_up(SampleRate::new(22_050).expect("a rate above 0"));
        rig.set_up(self.rate);
        let again = rig.process(&take, BlockSplit::Even(64));
        same(&again, &new, "set up again");
    }

    fn silence_follows_the_tail(&self) {
        let mut rig = self.rig();
        let mut take = self.take(4);
        if self.is_gated() {
            take.events.clear();
        }
        rig.process(&take, BlockSplit::Even(64));
        let Tail::Frames(tail) = rig.processor.tail() else {
            return;
        };
        if tail > PATIENCE {
            return;
        }
        rig.process(&self.silence(tail as usize), BlockSplit::Even(64));
        let after = rig.process(&self.silence(FRAMES), BlockSplit::Even(64));
        let silent = after.bits.iter().flatten().all(|b| *b == 0);
        assert!(silent, "{} is silent {tail} frames on", self.node.kind);
    }

    /// Returns true if events can keep it sounding, as a held note does.
    fn is_gated(&self) -> bool {
        let rig = self.rig();
        let inputs = &rig.node().inputs;
        inputs.iter().any(|p| !matches!(p.signal, Signal::Audio(_)))
    }

    fn silence(&self, frames: usize) -> TestInput {
        TestInput {
            inputs: vec![vec![0.0; frames]; self.rig().input_channels()],
            events: Vec::new(),
            frames,
        }
    }

    fn nothing_is_denormal(&self) {
        if !FlushToZero::is_enabled() {
            return;
        }
        let mut rig = self.rig();
        let mut take = self.take(5);
        for (i, x) in take.inputs.iter_mut().flatten().enumerate() {
            *x *= 0.5f32.powi((i % FRAMES / 20) as i32);
            // What comes in is as an executor has it: flushed already.
            *x = if x.is_normal() { *x } else { 0.0 };
        }
        let played = rig.process(&take, BlockSplit::Even(64));
        let after = rig.process(&self.silence(20_000), BlockSplit::Even(64));
        let mut samples = played.samples().chain(after.samples());
        assert!(!samples.any(f32::is_subnormal), "denormals are flushed");
    }

    fn finite_gives_finite(&self) {
        let mut rig = self.rig();
        let mut take = self.take(6);
        let mut rng = Rng(7);
        let hard = [
            f32::MAX,
            -f32::MAX,
            f32::MIN_POSITIVE,
            1e-40,
            -f32::from_bits(1),
            0.0,
            -0.0,
        ];
        for input in &mut take.inputs {
            input.fill_with(|| hard[rng.below(hard.len())]);
            input[..500].fill(f32::MAX);
        }
        let played = rig.process(&take, BlockSplit::Even(64));
        assert!(played.samples().all(f32::is_finite), "finite gives finite");
    }

    fn not_a_number_is_forgotten(&self) {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut rig = self.rig();
            let mut take = self.take(8);
            for input in &mut take.inputs {
                input[100..110].fill(bad);
            }
            rig.process(&take, BlockSplit::Even(64));
            let wait = match rig.processor.tail() {
                Tail::Frames(tail) => tail.min(PATIENCE) as usize,
                Tail::Infinite => 0,
            };
            rig.process(&self.silence(wait + 128), BlockSplit::Even(64));
            let after = rig.process(&self.take(9), BlockSplit::Even(64));
            assert!(after.samples().all(f32::is_finite), "{bad} is forgotten");
        }
    }

    /// A bench that has run for a while, and its state.
    fn played(&self) -> (ProcessorBench, Vec<u8>) {
        let mut rig = self.rig();
        let mut take = self.take(10);
        let mut rng = Rng(15);
        for input in &mut take.inputs {
            // It ends in the middle of a sound, not in a gap.
            input[FRAMES - 100..].fill_with(|| rng.sample());
        }
        rig.process(&take, BlockSplit::Even(50));
        let mut state = Vec::new();
        rig.processor.save(&mut state);
        (rig, state)
    }

    /// In a new processor, and in one that has been elsewhere: a copy that follows the original from time to time. On an
    /// audio thread, if it must be.
    fn a_saved_state_goes_on(&self) {
        let (mut rig, state) = self.played();
        let mut new = Vec::new();
        self.rig().processor.save(&mut new);
        assert_eq!(new.len(), state.len(), "a state is always as long");
        let mut again = Vec::with_capacity(state.len());
        let before = alloc::calls();
        rig.processor.save(&mut again);
        assert_eq!(alloc::calls(), before, "where there is room, save takes it");
        let take = self.take(11);
        let elsewhere = [None, Some(16), Some(17)].map(|seed| {
            let mut other = self.rig();
            if let Some(seed) = seed {
                other.process(&self.take(seed), BlockSplit::Even(77));
            }
            let before = alloc::calls();
            other.processor.load(&again).expect("its own state");
            assert_eq!(alloc::calls(), before, "load does not allocate");
            let mut other = rig.continue_with(other.processor);
            other.process(&take, BlockSplit::Even(64))
        });
        let goes_on = rig.process(&take, BlockSplit::Even(64));
        for other in elsewhere {
            same(&other, &goes_on, "after load");
        }
    }

    fn a_bad_state_is_refused_or_survived(&self) {
        let (_, state) = self.played();
        let take = self.take(13);
        let new = self.rig().process(&take, BlockSplit::Even(64));
        // Of a long state, as of a delay line, some lengths stand for all.
        let step = match state.len() {
            0..LONG_STATE => 1,
            long => long / LENGTHS,
        };
        for length in (0..state.len()).step_by(step) {
            let mut rig = self.rig();
            assert!(rig.processor.load(&state[..length]).is_err(), "too short");
            let refused = rig.process(&take, BlockSplit::Even(64));
            same(&refused, &new, "a refused state");
        }
        let mut rng = Rng(14);
        for _ in 0..100 {
            let mut bad = state.clone();
            for _ in 0..1 + rng.below(8) {
                if !bad.is_empty() {
                    let at = rng.below(bad.len());
                    bad[at] = rng.bits() as u8;
                }
            }
            let mut rig = self.rig();
            let _may_be_refused = rig.processor.load(&bad);
            let played = rig.process(&take, BlockSplit::Even(64));
            assert_eq!(played.allocations, 0, "after a bad state");
        }
    }
}

/// A random event of one of a few notes.
fn note_event(rng: &mut Rng) -> EventBody {
    let id = rng.below(3) as u32;
    let (value, velocity) = (rng.unit() as f32, rng.unit() as f32);
    match rng.below(9) {
        0 | 1 => EventBody::NoteOn {
            id,
            pitch: 127.0 * value,
            velocity,
        },
        2 => EventBody::NoteOff { id, velocity },
        3 => EventBody::NotePressure { id, value },
        4 => EventBody::NoteBend {
            id,
            semitones: value,
        },
        5 => EventBody::NoteTimbre { id, value },
        6 => EventBody::NotePan { id, value },
        7 => EventBody::NoteChoke { id },
        _ => EventBody::Midi([0x80 | (rng.below(2) as u8 * 16), 60 + id as u8, 100]),
    }
}

/// Noise with gaps of exact silence and of one value, some of them long, some from one frame to the next.
fn gappy(rng: &mut Rng, frames: usize) -> Vec<f32> {
    let mut samples = Vec::with_capacity(frames);
    while samples.len() < frames {
        let length = 1 + rng.below(400);
        let held = match rng.below(5) {
            0 => Some(0.0),
            1 => Some(rng.sample()),
            _ => None,
        };
        for _ in 0..length.min(frames - samples.len()) {
            samples.push(held.unwrap_or_else(|| rng.sample()));
        }
    }
    samples
}

/// Asserts that `played` has the bits and the events of `truth`.
fn same(played: &TestOutput, truth: &TestOutput, how: &str) {
    for (c, (a, b)) in played.bits.iter().zip(&truth.bits).enumerate() {
        if let Some(frame) = a.iter().zip(b).position(|(a, b)| a != b) {
            let (a, b) = (f32::from_bits(a[frame]), f32::from_bits(b[frame]));
            panic!("{how}: channel {c}, frame {frame}: {a:e} instead of {b:e}");
        }
    }
    // The order of events at different ports does not matter.
    let by_port = |output: &TestOutput| {
        let mut sent = output.sent.clone();
        sent.sort_by_key(|(port, _)| *port);
        sent
    };
    assert_eq!(by_port(played), by_port(truth), "{how}: the same events");
    assert_eq!(played.allocations, 0, "{how}: process does not allocate");
}
