//! The conformance test itself: units that break one promise each fail it.

use divisi_check::alloc::Counting;
use divisi_check::conformance::{check, node};
use graph::{Kind, PortSpec};
use processor::{Block, ProcessStatus, Processor, Registry, Setup, StateError};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    SeesTheBlock,
    ForgetsToReset,
    RingsOn,
    Allocates,
    SkipsAFrame,
    SleepsTooSoon,
    KeepsNotANumber,
    Overflows,
    LosesState,
    TakesAnyState,
    MakesDenormals,
}

/// A leaky sum, but for its fault.
struct Broken {
    fault: Fault,
    sum: f32,
}

impl Processor for Broken {
    fn setup(&mut self, _setup: &mut Setup<'_>) {
        self.sum = 0.0;
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        if self.fault == Fault::Allocates {
            drop(std::hint::black_box(vec![0u8; block.frames()]));
        }
        let skipped = usize::from(self.fault == Fault::SkipsAFrame);
        let silent = block.is_silent();
        let input = block.input(0).channel(0);
        let mut output = block.output(0);
        for (y, x) in output.channel(0).iter_mut().zip(input).skip(skipped) {
            let next = self.sum * 0.5 + x;
            self.sum = match self.fault {
                Fault::Overflows => next,
                Fault::KeepsNotANumber => next.clamp(-1e30, 1e30),
                _ if next.abs() < 1e-9 || !next.is_finite() => 0.0,
                _ => next.clamp(-1e30, 1e30),
            };
            *y = self.sum;
            if self.fault == Fault::MakesDenormals && self.sum != 0.0 {
                *y = f32::from_bits(7);
            }
            if self.fault == Fault::RingsOn {
                *y += 1e-3;
            }
        }
        if self.fault == Fault::SeesTheBlock {
            self.sum *= 0.5;
        }
        if silent && self.fault == Fault::SleepsTooSoon {
            return ProcessStatus::Sleep;
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        if self.fault != Fault::ForgetsToReset {
            self.sum = 0.0;
        }
    }

    fn tail(&self) -> processor::Tail {
        processor::Tail::Frames(200)
    }

    fn save(&self, state: &mut Vec<u8>) {
        if self.fault != Fault::LosesState {
            state.extend(self.sum.to_le_bytes());
        }
    }

    fn load(&mut self, state: &[u8]) -> Result<(), StateError> {
        match (self.fault, state.try_into()) {
            (Fault::LosesState, _) => {}
            (_, Ok(bytes)) => self.sum = f32::from_le_bytes(bytes),
            (Fault::TakesAnyState, _) => self.sum = 1.0,
            _ => return Err(StateError("4 bytes are needed".into())),
        }
        Ok(())
    }
}

fn try_out(fault: Fault) {
    let mut registry = Registry::default();
    let kind = Kind {
        inputs: vec![PortSpec::mono("in")],
        outputs: vec![PortSpec::mono("out")],
        ..Kind::new("broken", "breaks one promise")
    };
    registry.add(kind, move |_| Ok(Box::new(Broken { fault, sum: 0.0 })));
    check(&registry, &node("broken", &[]));
}

#[test]
fn without_a_fault_it_passes() {
    try_out(Fault::None);
}

macro_rules! found_out {
    ($($test:ident: $fault:ident, $says:literal;)+) => {
        $(
            #[test]
            #[should_panic(expected = $says)]
            fn $test() {
                try_out(Fault::$fault);
            }
        )+
    };
}

found_out! {
    one_that_sees_the_block: SeesTheBlock, "cut Even(1)";
    one_that_forgets_to_reset: ForgetsToReset, "after reset";
    one_that_rings_on: RingsOn, "frames on";
    one_that_allocates: Allocates, "does not allocate";
    one_that_skips_a_frame: SkipsAFrame, "every frame of every output is written";
    one_that_sleeps_too_soon: SleepsTooSoon, "silence is +0.0";
    one_that_keeps_not_a_number: KeepsNotANumber, "is forgotten";
    one_that_overflows: Overflows, "finite gives finite";
    one_that_loses_its_state: LosesState, "after load";
    one_that_takes_any_state: TakesAnyState, "too short";
    one_that_makes_denormals: MakesDenormals, "denormals are flushed";
}
