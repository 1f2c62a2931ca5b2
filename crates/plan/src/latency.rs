//! By how much the outputs lag behind the inputs.

use crate::Options;
use crate::arrows::Arrows;
use crate::wiring::{Part, Wiring};
use units::Frames;

/// The longest sum of latencies over the ways to a sink. A way does not go round a cycle: it ends where a delay feeds
/// back.
pub(crate) fn latency(wiring: &Wiring<'_>, options: &Options) -> Frames {
    if options.latencies.is_empty() {
        return Frames(0);
    }
    let count = wiring.members.len();
    let pairs = wiring.wires.iter().map(|w| (w.from, w.to));
    let component = Arrows::new(count, pairs.clone().collect()).components();
    let feeds_back = |from: u32, to: u32| {
        component[from as usize] == component[to as usize]
            && matches!(wiring.members[to as usize].part, Part::Delay(line) if line.least > Frames(0))
    };
    let forward = Arrows::new(count, pairs.filter(|(a, b)| !feeds_back(*a, *b)).collect());
    let mut heard = vec![0u32; count];
    let mut longest = 0;
    for at in forward.topological() {
        let member = &wiring.members[at as usize];
        let own = options.latencies.get(&member.id).map_or(0, |l| l.0);
        let own = if member.part == Part::Mute { 0 } else { own };
        let given = heard[at as usize].saturating_add(own);
        for to in forward.after(at) {
            heard[*to as usize] = heard[*to as usize].max(given);
        }
        if matches!(member.part, Part::Sink { .. }) {
            longest = longest.max(given);
        }
    }
    Frames(longest)
}
