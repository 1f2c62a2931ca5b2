//! `delay`: what goes in comes out later.
//!
//! One input, one output, as wide as `channels` says. The line itself is the executor's (DESIGN: a delay is two steps
//! on one line); this is the half that reads it, at whole frames. A change of `time` crossfades for 20 ms from the old
//! tap to the new; one that comes in between waits for the fade's end. `least` and `most` bound what `time` may become
//! while it plays: the line is as long as `most`, and a cycle through the delay is computed in parts no longer than
//! `least`.

use crate::knob::{Knob, channels, fixed};
use crate::sample::{bounded, channels_of};
use crate::state;
use crate::steps::{Step, steps};
use graph::{DelayParams, Kind, PortSpec};
use processor::{
    Block, DelayLineView, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError, Tail,
};
use std::ops::Range;
use units::{Frames, SampleRate};

const LONGEST_S: f64 = 1200.0;
const FADE_S: f64 = 0.02;

const TIME: Knob = Knob {
    index: 0,
    name: "time",
    unit: "s",
    least: 0.0,
    most: LONGEST_S,
    default: f64::NAN,
    doc: "How much later, to the nearest frame.",
};

pub(crate) fn kind() -> Kind {
    let bound = |name, doc| fixed(name, "s", (0.0, LONGEST_S), 0.0, doc);
    Kind {
        inputs: vec![PortSpec::audio("in")],
        outputs: vec![PortSpec::audio("out")],
        params: vec![
            TIME.param(),
            bound(
                "least",
                "The least that `time` may become; where absent, `time`.",
            ),
            bound(
                "most",
                "The most that `time` may become; where absent, `time`.",
            ),
            channels(),
        ],
        delay: Some(DelayParams {
            time: "time",
            min: "least",
            max: "most",
        }),
        typical_ns: 200,
        ..Kind::new("delay", "What goes in comes out later.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let time = TIME.of(creation)?;
    let bound = |key| match creation.node.param(key) {
        Some(_) => creation.number(key),
        None => Ok(time),
    };
    Ok(Box::new(Delay {
        made: time,
        range: (bound("least")?.min(time), bound("most")?.max(time)),
        rate: None,
        fade: Fade::default(),
        channels: channels_of(creation.node),
    }))
}

#[derive(Clone)]
struct Delay {
    made: f64,
    range: (f64, f64),
    rate: Option<SampleRate>,
    fade: Fade,
    channels: usize,
}

/// From which tap to which, in frames.
#[derive(Clone, Copy, Default)]
struct Fade {
    from: u32,
    to: u32,
    /// Where to go after that.
    next: u32,
    left: u32,
    length: u32,
}

impl Fade {
    fn stand(&mut self, tap: u32) {
        (self.from, self.to, self.next, self.left) = (tap, tap, tap, 0);
    }

    /// Goes on to the next tap, if there is one and this fade is over.
    fn turn(&mut self) {
        if self.left == 0 && self.next != self.to {
            (self.from, self.to, self.left) = (self.to, self.next, self.length);
        }
    }

    fn read(
        mut self,
        line: DelayLineView<'_>,
        channel: usize,
        range: Range<usize>,
        to: &mut [f32],
    ) -> Self {
        for (frame, y) in range.zip(to) {
            self.turn();
            let new = line.read(channel, frame, self.to);
            *y = new;
            if self.left > 0 {
                let old = line.read(channel, frame, self.from);
                let weight = self.left as f32 / self.length as f32;
                *y = bounded(old * weight + new * (1.0 - weight));
                self.left -= 1;
            }
        }
        self
    }
}

impl Delay {
    /// The frames nearest to `time`, within the range.
    fn tap(&self, time: f64) -> u32 {
        let rate = self.rate.map_or(0.0, |r| f64::from(r.hz()));
        let (least, most) = self.range;
        // The plan has rounded `least` down and `most` up.
        (time.clamp(least, most) * rate + 0.5) as u32
    }

    fn play(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let Some(line) = block.delay_line() else {
            block.silence_outputs();
            return;
        };
        let mut after = self.fade;
        let mut output = block.output(0);
        for c in 0..self.channels {
            let to = &mut output.channel(c)[range.clone()];
            after = self.fade.read(line, c, range.clone(), to);
        }
        self.fade = after;
    }
}

impl Processor for Delay {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.rate = Some(setup.rate);
        self.fade.length = Frames::from_seconds_ceil(FADE_S, setup.rate).0.max(1);
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        for step in steps(block) {
            match step {
                Step::Event(event) => {
                    if let Some(time) = TIME.turned(&event) {
                        self.fade.next = self.tap(time);
                    }
                }
                Step::Play(range) => self.play(block, range),
                Step::Tidy => {}
            }
        }
        let mut output = block.output(0);
        let is_zero = |x: &f32| x.to_bits() == 0;
        if (0..self.channels).all(|c| output.channel(c).iter().all(is_zero)) {
            output.silence();
        }
        // What is still in the line is not known here.
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.fade.stand(self.tap(self.made));
    }

    fn tail(&self) -> Tail {
        let fade = 2 * u64::from(self.fade.length);
        Tail::Frames(u64::from(self.tap(self.range.1)) + fade)
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let Fade {
            from,
            to,
            next,
            left,
            ..
        } = self.fade;
        state::put(bytes, [self.made.to_bits()]);
        state::put(bytes, [from, to, next, left].map(u64::from));
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 5)?;
        let made = words.number(0)?;
        let (least, most) = (self.tap(self.range.0), self.tap(self.range.1));
        let tap = |word: u64| word.clamp(u64::from(least), u64::from(most)) as u32;
        self.fade.from = tap(words.at(1));
        self.fade.to = tap(words.at(2));
        self.fade.next = tap(words.at(3));
        self.fade.left = words.at(4).min(u64::from(self.fade.length)) as u32;
        if made != self.made {
            self.fade.next = self.tap(self.made);
        }
        Ok(())
    }
}
