//! What the checks find in networks, and what sizes they give.

use super::*;
use crate::shape::{InputPort, NodeId, NodeSpec, OutputPort, Ports, QueueId, QueueSpec};
use proptest::prelude::*;

/// A network by its queues: from, to, (room, produce), (window, consume), initial.
type Line = (usize, usize, (usize, usize), (usize, usize), usize);

fn shape(nodes: usize, lines: &[Line]) -> Topology {
    let node = |i: usize| NodeSpec {
        name: format!("n{i}"),
        ports: Ports::default(),
    };
    let mut shape = Topology {
        nodes: (0..nodes).map(node).collect(),
        queues: Vec::new(),
    };
    for &(from, to, (room, produce), (window, consume), initial) in lines {
        let outs = &mut shape.nodes[from].ports.outputs;
        outs.push(OutputPort::new(format!("out{}", outs.len()), room, produce));
        let from = (NodeId(from), outs.len() - 1);
        let ins = &mut shape.nodes[to].ports.inputs;
        ins.push(InputPort::new(format!("in{}", ins.len()), window, consume));
        let to = (NodeId(to), ins.len() - 1);
        let queue = QueueSpec {
            from,
            to,
            initial,
            size: None,
        };
        shape.connect(queue).unwrap();
    }
    shape
}

fn plain(from: usize, to: usize, produce: usize, consume: usize, initial: usize) -> Line {
    (from, to, (produce, produce), (consume, consume), initial)
}

#[test]
fn the_balance_equations_are_solved_in_least_numbers() {
    let chain = shape(3, &[plain(0, 1, 2, 3, 0), plain(1, 2, 4, 6, 0)]);
    assert_eq!(repetition_vector(&chain), Ok(vec![9, 6, 4]));
    let apart = shape(4, &[plain(0, 1, 4, 2, 0), plain(2, 3, 1, 5, 0)]);
    assert_eq!(repetition_vector(&apart), Ok(vec![1, 2, 5, 1]));
}

#[test]
fn rates_that_contradict_each_other_name_their_queue() {
    let diamond = shape(
        3,
        &[
            plain(0, 1, 1, 1, 0),
            plain(1, 2, 1, 1, 0),
            plain(0, 2, 3, 2, 0),
        ],
    );
    let wrong = repetition_vector(&diamond).unwrap_err();
    let CheckError::InconsistentRates {
        written,
        read,
        queue,
        ..
    } = wrong
    else {
        panic!("{wrong}");
    };
    // Whoever goes from node 0 both ways finds the contradiction where they meet.
    assert_eq!((queue, written, read), (QueueId(1), 2, 3));
    let told = "the rates contradict each other at `n1.out0 -> n2.in0`: \
                2 frames are written for each 3 that are read";
    assert_eq!(wrong.to_string(), told);
}

#[test]
fn numbers_that_are_too_large_are_refused() {
    let lines: Vec<Line> = (0..40)
        .map(|i| plain(i, i + 1, 997 + i, 1 + i, 0))
        .collect();
    let wrong = check(&shape(41, &lines)).unwrap_err();
    assert!(
        matches!(wrong, CheckError::TooManyFirings { .. }),
        "{wrong}"
    );
}

#[test]
fn an_open_port_is_named() {
    let mut open = shape(2, &[plain(0, 1, 1, 1, 0)]);
    open.nodes[1]
        .ports
        .outputs
        .push(OutputPort::new("out", 1, 1));
    assert_eq!(
        check(&open).unwrap_err().to_string(),
        "`n1.out` has no queue"
    );
}

#[test]
fn a_cycle_needs_something_to_begin_with() {
    let ring = |initial| {
        let lines = [
            plain(0, 1, 2, 1, 0),
            plain(1, 0, 1, 2, initial),
            plain(1, 2, 1, 1, 0),
        ];
        shape(3, &lines)
    };
    for initial in [0, 1] {
        let wrong = sufficient_sizes(&ring(initial)).unwrap_err();
        let CheckError::Deadlock { names, cycle } = &wrong else {
            panic!("{wrong}");
        };
        assert_eq!((names.len(), cycle.len()), (2, 2), "{wrong}");
        assert!(
            wrong.to_string().contains("`n0` at `n1.out0 -> n0.in0`"),
            "{wrong}"
        );
        assert!(least_sizes(&ring(initial)).is_err());
    }
    assert!(sufficient_sizes(&ring(2)).is_ok());
}

#[test]
fn what_a_filter_remembers_is_a_debt_and_no_deadlock() {
    // It sees 100 frames and takes 1, and nothing came before.
    let filter = shape(3, &[(0, 1, (7, 7), (100, 1), 0), plain(1, 2, 1, 14, 0)]);
    let verdict = check(&filter).unwrap();
    assert_eq!(verdict.repetitions, [2, 14, 1]);
    assert!(verify_sizes(&filter, &verdict.sizes).is_ok());
    let Least::Found(least) = least_sizes(&filter).unwrap() else {
        panic!("a chain has a formula");
    };
    assert_eq!(least[0], 99 + 7);
    // In a cycle that owes more than it began with, it is one.
    let owes = |initial| shape(2, &[(0, 1, (1, 1), (10, 1), 0), plain(1, 0, 1, 1, initial)]);
    assert!(sufficient_sizes(&owes(9)).is_err());
    assert!(sufficient_sizes(&owes(10)).is_ok());
}

#[test]
fn a_size_that_is_too_small_says_what_it_would_need() {
    let mut chain = shape(2, &[plain(0, 1, 4, 6, 0)]);
    assert_eq!(least_sizes(&chain), Ok(Least::Found(vec![8])));
    chain.queues[0].size = Some(7);
    let wrong = check(&chain).unwrap_err().to_string();
    assert_eq!(
        wrong,
        "`n0.out0 -> n1.in0` has 7 frames and would have to grow to 8"
    );
    chain.queues[0].size = Some(8);
    assert_eq!(fixed_sizes(&chain), Ok(vec![8]));
}

/// The fewest samples by trying every size up to `most`.
fn by_force(shape: &Topology, most: usize) -> Option<usize> {
    let mut sizes = vec![1; shape.queues.len()];
    let mut least: Option<usize> = None;
    loop {
        if verify_sizes(shape, &sizes).is_ok() {
            let sum = sizes.iter().sum();
            least = Some(least.map_or(sum, |least| least.min(sum)));
        }
        let Some(place) = sizes.iter().position(|size| *size < most) else {
            return least;
        };
        sizes[..place].fill(1);
        sizes[place] += 1;
    }
}

/// Two or three nodes with rates that fit, and up to three queues between them, cycles included.
fn tiny() -> impl Strategy<Value = Topology> {
    let queue = (
        0..3usize,
        0..3usize,
        1..3usize,
        0..3usize,
        0..3usize,
        0..4usize,
    );
    let queues = proptest::collection::vec(queue, 1..4);
    (prop::array::uniform3(1..4usize), queues).prop_map(|(counts, queues)| {
        let lines = queues
            .into_iter()
            .map(|(from, to, factor, more_room, more, initial)| {
                // What fits: as often as the one fires, the other takes.
                let common = (1..=3)
                    .rev()
                    .find(|d| counts[from] % d == 0 && counts[to] % d == 0);
                let common = common.unwrap_or(1);
                let produce = counts[to] / common * factor.min(2);
                let consume = counts[from] / common * factor.min(2);
                let room = (produce + more_room.min(1), produce);
                (from, to, room, (consume + more.min(2), consume), initial)
            });
        shape(3, &lines.collect::<Vec<_>>())
    })
}

/// The least sizes, where the search comes to an end.
fn found_of(shape: &Topology) -> Vec<usize> {
    match least_sizes(shape).unwrap() {
        Least::Found(sizes) => sizes,
        other => panic!("{other:?}"),
    }
}

/// The sizes of nodes that fire evenly, in all parts.
fn steady(shape: &Topology) -> Option<Vec<usize>> {
    let counts = repetition_vector(shape).unwrap();
    let mut sizes = vec![0; shape.queues.len()];
    for part in parts(shape, &counts) {
        for (queue, size) in part.queues.iter().zip(steady_sizes(shape, &part)?) {
            sizes[queue.0] = size as usize;
        }
    }
    Some(sizes)
}

fn samples(shape: &Topology, sizes: &[usize]) -> usize {
    let each = shape.queue_ids().zip(sizes);
    each.map(|(queue, size)| size * shape.input(queue).channels)
        .sum()
}

/// The fewest samples by trying all sizes in the order of their samples, each one frame of one queue above another one
/// that stopped: slow, and obviously right.
fn by_steps(shape: &Topology) -> usize {
    use std::cmp::Reverse;
    use std::collections::{BinaryHeap, HashSet};
    let first: Vec<usize> = shape
        .queue_ids()
        .map(|queue| shape.min_size(queue))
        .collect();
    let mut seen = HashSet::from([first.clone()]);
    let mut next = BinaryHeap::from([Reverse((samples(shape, &first), first))]);
    while let Some(Reverse((sum, sizes))) = next.pop() {
        if verify_sizes(shape, &sizes).is_ok() {
            return sum;
        }
        for queue in 0..sizes.len() {
            let mut larger = sizes.clone();
            larger[queue] += 1;
            if seen.insert(larger.clone()) {
                next.push(Reverse((samples(shape, &larger), larger)));
            }
        }
    }
    unreachable!("in the end they are large enough")
}

/// A splitting node, branches of some nodes each, and one where they meet; all move as many frames, in pieces of their
/// own, and some see more than they take. `tail` puts a queue before and behind.
fn diamond(ends: (usize, usize), branches: &[Vec<(usize, usize)>], tail: bool) -> Topology {
    let (mut lines, mut nodes): (Vec<Line>, usize) = (Vec::new(), 2);
    for branch in branches {
        let mut before = (0, ends.0);
        for &(piece, more) in branch {
            let input = (piece + more, piece);
            lines.push((before.0, nodes, (before.1, before.1), input, 0));
            before = (nodes, piece);
            nodes += 1;
        }
        lines.push((before.0, 1, (before.1, before.1), (ends.1, ends.1), 0));
    }
    if tail {
        lines.push(plain(nodes, 0, 3, ends.0, 0));
        lines.push(plain(1, nodes + 1, ends.1, 2, 0));
        nodes += 2;
    }
    shape(nodes, &lines)
}

/// What nodes move: pieces of which many go into each other, and what some see besides.
fn piece() -> impl Strategy<Value = (usize, usize)> {
    let pieces = prop::sample::select(vec![2_usize, 4, 4, 6, 8, 8, 8, 12, 16, 24]);
    (pieces, prop_oneof![2 => Just(0usize), 1 => 0..50usize])
}

#[test]
fn each_branch_of_a_diamond_waits_for_the_slowest() {
    // The filter sees 40 frames and takes 10: the direct way must keep what it has not let through.
    let wide = diamond((10, 10), &[vec![(10, 30)], vec![]], false);
    assert_eq!(found_of(&wide), [40, 10, 40]);
    // With a node in the middle it does not matter where, and ten queues are no more than two.
    let four = vec![vec![(10, 30)], vec![(10, 0)], vec![(10, 0)], vec![(10, 0)]];
    let found = found_of(&diamond((10, 10), &four, true));
    assert_eq!(found.len(), 10);
    let sum: usize = found[..8].iter().sum();
    assert_eq!(sum, 40 + 10 + 3 * 40);
}

#[test]
fn rates_that_meet_after_millions_of_firings_are_no_hindrance_in_a_chain() {
    // From 44.1 to 48 kHz, three times over.
    let lines: Vec<Line> = (0..3)
        .map(|i| plain(i, i + 1, if i == 0 { 256 } else { 160 }, 147, 0))
        .chain([plain(3, 4, 160, 256, 0)])
        .collect();
    let chain = shape(5, &lines);
    let verdict = check(&chain).unwrap();
    assert!(
        verdict.repetitions.iter().sum::<u64>() > 4_000_000,
        "{verdict:?}"
    );
    assert_eq!(verdict.sizes, [256 + 146, 160 + 146, 160 + 146, 160 + 224]);
    assert_eq!(found_of(&chain), verdict.sizes);
}

#[test]
fn ways_that_meet_too_late_get_sizes_that_are_larger_than_the_least() {
    let way = |via: usize| {
        let steps = [
            (0, via, 991, 991),
            (via, via + 1, 997, 991),
            (via + 1, via + 2, 997, 991),
            (via + 2, 1, 997, 1),
        ];
        steps.map(|(from, to, produce, consume)| plain(from, to, produce, consume, 0))
    };
    let mut both = shape(8, &[way(2), way(5)].concat());
    let verdict = check(&both).unwrap();
    assert!(verdict.repetitions.iter().sum::<u64>() > 100_000_000);
    assert!(
        verdict.sizes.iter().all(|size| *size < 6000),
        "{:?}",
        verdict.sizes
    );
    assert_eq!(least_sizes(&both), Ok(Least::GaveUp));
    // What is asked for may be too little for that.
    both.queues[1].size = Some(997 + 990);
    let wrong = check(&both).unwrap_err().to_string();
    assert!(
        wrong.ends_with("firings, which is too long to look at"),
        "{wrong}"
    );
    both.queues[1].size = Some(1 << 14);
    assert!(check(&both).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_least_sizes_of_diamonds_are_those_of_the_slow_way(
        ends in (1..7usize, 1..7usize),
        long in proptest::collection::vec((1..4usize, 0..3usize), 0..3),
        short in proptest::collection::vec((1..5usize, 0..5usize), 0..2),
        channels in proptest::collection::vec(1..3usize, 5),
    ) {
        let mut shape = diamond(ends, &[long, short], false);
        for (queue, channels) in (0..shape.queues.len()).zip(channels) {
            let QueueSpec { from, to, .. } = shape.queues[queue];
            shape.nodes[from.0.0].ports.outputs[from.1].channels = channels;
            shape.nodes[to.0.0].ports.inputs[to.1].channels = channels;
        }
        let found = found_of(&shape);
        prop_assert!(verify_sizes(&shape, &found).is_ok());
        prop_assert_eq!(samples(&shape, &found), by_steps(&shape));
    }

    #[test]
    fn sizes_for_nodes_that_fire_evenly_are_sufficient(
        ends in (1..40usize, 1..40usize),
        branches in proptest::collection::vec(
            proptest::collection::vec((1..40usize, 0..60usize), 0..3), 2..4),
    ) {
        let shape = diamond(ends, &branches, true);
        let steady = steady(&shape).expect("there is no circle");
        prop_assert!(verify_sizes(&shape, &steady).is_ok(), "{:?}", steady);
    }

    #[test]
    fn sizes_that_are_found_for_ten_queues_could_not_be_less(
        ends in piece(),
        branches in prop_oneof![
            proptest::collection::vec(proptest::collection::vec(piece(), 1), 5),
            proptest::collection::vec(proptest::collection::vec(piece(), 2), 3)
                .prop_map(|rows| [rows, vec![vec![]]].concat()),
        ],
    ) {
        let shape = diamond((ends.0, 8), &branches, false);
        prop_assert_eq!(shape.queues.len(), 10);
        let found = match least_sizes(&shape).unwrap() {
            Least::Found(found) => found,
            // Which it may; the named ones below it may not.
            Least::GaveUp => return Ok(()),
            other => panic!("{other:?}"),
        };
        prop_assert!(verify_sizes(&shape, &found).is_ok());
        for queue in 0..10 {
            let mut less = found.clone();
            less[queue] -= 1;
            prop_assert!(verify_sizes(&shape, &less).is_err(), "{:?} at {}", found, queue);
        }
    }

    #[test]
    fn ten_queues_of_nodes_that_move_the_same_are_not_too_many(
        piece in 1..600usize,
        more in proptest::collection::vec(0..5000usize, 8),
        is_wide in any::<bool>(),
    ) {
        let nodes: Vec<(usize, usize)> = more.into_iter().map(|more| (piece, more)).collect();
        let branches = match is_wide {
            true => nodes[..5].iter().map(|node| vec![*node]).collect(),
            false => vec![nodes[..4].to_vec(), nodes[4..].to_vec()],
        };
        let shape = diamond((piece, piece), &branches, false);
        prop_assert_eq!(shape.queues.len(), 10);
        let found = found_of(&shape);
        prop_assert!(verify_sizes(&shape, &found).is_ok());
    }
}

#[test]
fn ten_queues_of_usual_nodes_are_not_too_many() {
    // Filters by transforms between nodes that move 256 frames, or others.
    let filter = |size: usize, hop: usize| (hop, size - hop);
    let usual = [
        vec![
            vec![filter(1024, 768)],
            vec![filter(2048, 1024)],
            vec![filter(4096, 3072)],
            vec![(256, 0)],
            vec![(256, 20)],
        ],
        vec![
            vec![(256, 100), (512, 0)],
            vec![filter(1024, 512), (256, 0)],
            vec![(256, 0), (256, 700)],
            vec![],
        ],
        vec![
            vec![filter(1024, 960)],
            vec![(160, 0)],
            vec![(128, 0)],
            vec![(64, 0)],
            vec![filter(512, 480)],
        ],
    ];
    for branches in usual {
        let shape = diamond((256, 256), &branches, false);
        assert_eq!(shape.queues.len(), 10);
        let found = found_of(&shape);
        assert!(verify_sizes(&shape, &found).is_ok(), "{found:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_least_sizes_are_those_found_by_trying_all(shape in tiny()) {
        let Ok(sizes) = sufficient_sizes(&shape) else {
            prop_assert!(least_sizes(&shape).is_err());
            return Ok(());
        };
        prop_assert!(verify_sizes(&shape, &sizes).is_ok());
        if let Some(steady) = steady(&shape) {
            prop_assert!(verify_sizes(&shape, &steady).is_ok(), "{:?}", steady);
        }
        let found = found_of(&shape);
        prop_assert!(verify_sizes(&shape, &found).is_ok());
        let sum: usize = found.iter().sum();
        prop_assert!(sum <= sizes.iter().sum());
        let most = *found.iter().max().unwrap();
        if most <= 12 {
            prop_assert_eq!(by_force(&shape, most.max(8)), Some(sum));
        }
    }
}
