//! Ladders side by side, each in a lane of vectors.

use super::state::{LadderState, LoopWeights, clip};
use super::{Ladder, OutputWeights};
use crate::filters::lanes::{Eight, LANES, Number};
use crate::kernel::{FRAMES, LaneFrames, LaneSignals, LaneUnits, apart, side_by_side};
use crate::sample::to_sample;

/// The numbers of all lanes.
struct LadderLanes {
    state: LadderState<Eight>,
    weights: LoopWeights<Eight>,
    output: OutputWeights<Eight>,
    /// Of the input: drive and scale of the loop.
    scale: Eight,
}

impl LadderLanes {
    #[inline(always)]
    fn of(lanes: &LaneUnits<'_, Ladder>) -> Self {
        let zero = Eight::of(0.0);
        let mut all = Self {
            state: LadderState {
                poles: [zero; 4],
                bent: zero,
                bound: Eight::of(3.0),
                gain: zero,
            },
            weights: LoopWeights {
                keep: [zero; 4],
                twice: [zero; 4],
                poles: [zero; 4],
                line: zero,
                bend: zero,
            },
            output: OutputWeights {
                gains: [zero; 4],
                own: zero,
                weights: [zero; 5],
            },
            scale: zero,
        };
        for (lane, unit) in lanes.iter().flatten().enumerate() {
            let values = unit.values;
            let state = LadderState::of(unit.memory);
            let weights = LoopWeights::new(values, values.gains[0]);
            let row = |to: &mut [Eight], from: &[f64]| {
                to.iter_mut().zip(from).for_each(|(to, x)| to.0[lane] = *x);
            };
            row(&mut all.state.poles, &state.poles);
            all.state.bent.0[lane] = state.bent;
            all.state.bound.0[lane] = state.bound;
            all.state.gain.0[lane] = state.gain;
            row(&mut all.weights.keep, &weights.keep);
            row(&mut all.weights.twice, &weights.twice);
            row(&mut all.weights.poles, &weights.poles);
            all.weights.line.0[lane] = weights.line;
            all.weights.bend.0[lane] = weights.bend;
            row(&mut all.output.gains, &values.gains);
            all.output.own.0[lane] = values.own;
            row(&mut all.output.weights, &unit.kernel.weights);
            all.scale.0[lane] = values.drive * values.loop_scale;
        }
        all
    }

    /// The state of a lane.
    #[inline(always)]
    fn state_of(&self, lane: usize) -> LadderState {
        let LadderState {
            poles: [a, b, c, d],
            bent,
            bound,
            gain,
        } = &self.state;
        LadderState {
            poles: [a.0[lane], b.0[lane], c.0[lane], d.0[lane]],
            bent: bent.0[lane],
            bound: bound.0[lane],
            gain: gain.0[lane],
        }
    }
}

/// Processes frames of all lanes.
///
/// Real-time: hot.
#[inline(always)]
pub(super) fn process(lanes: &mut LaneUnits<'_, Ladder>, signals: LaneSignals<'_>) {
    let count = signals.count;
    let mut frames: LaneFrames = [[0.0; LANES]; FRAMES];
    side_by_side(signals.inputs, &mut frames, count);
    let mut all = LadderLanes::of(lanes);
    // What the clip gives in a frame is known in the next one: so is the output.
    let mut late = [[0f32; LANES]; FRAMES + 1];
    let mut state = all.state;
    for (late, frame) in late.iter_mut().zip(frames.iter()).take(count) {
        let poles = state.poles;
        let u = state.advance(&all.weights, Eight::of_samples(frame) * all.scale);
        store(late, all.output.of(poles, u));
    }
    store(
        &mut late[count],
        all.output.of(state.poles, clip(state.bent)),
    );
    frames[..count].copy_from_slice(&late[1..=count]);
    apart(&frames, signals.outputs, count);
    all.state = state;
    for (lane, unit) in lanes.iter_mut().flatten().enumerate() {
        all.state_of(lane).store(unit.memory);
    }
}

#[inline(always)]
fn store(to: &mut [f32; LANES], from: Eight) {
    for (y, x) in to.iter_mut().zip(from.0) {
        *y = to_sample(x);
    }
}
