//! Tests of the static checks.

use super::balance::repetition_vector;
use super::biconnected::parts;
use super::error::CheckError;
use super::even_schedule::even_sizes;
use super::sizes::{check, sufficient_sizes, verify_sizes};
use crate::topology::{InputPort, NodePorts, NodeSpec, OutputPort, QueueId, QueueSpec, Topology};
use graph::{NodeId, PortRef};
use proptest::prelude::*;

/// A queue: writer, reader, (write window, produce), (read window, consume), initial frames.
type QueueNumbers = (usize, usize, (usize, usize), (usize, usize), usize);

/// The last of `count` ports of a node.
fn port(node: usize, count: usize) -> PortRef {
    PortRef {
        node: NodeId(node as u32),
        port: count as u16 - 1,
    }
}

fn topology(nodes: usize, queues: &[QueueNumbers]) -> Topology {
    let node = |i: usize| NodeSpec {
        name: format!("n{i}"),
        ports: NodePorts::default(),
    };
    let mut topology = Topology {
        nodes: (0..nodes).map(node).collect(),
        queues: Vec::new(),
    };
    for &(from, to, (window_out, produce), (window, consume), initial) in queues {
        let outs = &mut topology.nodes[from].ports.outputs;
        outs.push(OutputPort::new(
            format!("out{}", outs.len()),
            window_out,
            produce,
        ));
        let from = port(from, outs.len());
        let ins = &mut topology.nodes[to].ports.inputs;
        ins.push(InputPort::new(format!("in{}", ins.len()), window, consume));
        let to = port(to, ins.len());
        let queue = QueueSpec {
            from,
            to,
            initial,
            size: None,
        };
        topology.connect(queue).unwrap();
    }
    topology
}

fn plain(from: usize, to: usize, produce: usize, consume: usize, initial: usize) -> QueueNumbers {
    (from, to, (produce, produce), (consume, consume), initial)
}

#[test]
fn the_repetition_vector_has_the_smallest_numbers() {
    let chain = topology(3, &[plain(0, 1, 2, 3, 0), plain(1, 2, 4, 6, 0)]);
    assert_eq!(repetition_vector(&chain), Ok(vec![9, 6, 4]));
    let apart = topology(4, &[plain(0, 1, 4, 2, 0), plain(2, 3, 1, 5, 0)]);
    assert_eq!(repetition_vector(&apart), Ok(vec![1, 2, 5, 1]));
}

#[test]
fn rates_that_contradict_each_other_name_their_queue() {
    let diamond = topology(
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
    // The search goes from node 0 both ways, and finds the contradiction where they meet.
    assert_eq!((queue, written, read), (QueueId(1), 2, 3));
    let message = "the rates contradict each other at `n1.out0 -> n2.in0`: \
                2 frames are written for each 3 that are read";
    assert_eq!(wrong.to_string(), message);
}

#[test]
fn numbers_that_are_too_large_are_refused() {
    let queues: Vec<QueueNumbers> = (0..40)
        .map(|i| plain(i, i + 1, 997 + i, 1 + i, 0))
        .collect();
    let wrong = check(&topology(41, &queues)).unwrap_err();
    assert!(
        matches!(wrong, CheckError::TooManyFirings { .. }),
        "{wrong}"
    );
}

#[test]
fn an_open_port_is_named() {
    let mut open = topology(2, &[plain(0, 1, 1, 1, 0)]);
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
fn a_cycle_needs_initial_frames() {
    let cycle = |initial| {
        let queues = [
            plain(0, 1, 2, 1, 0),
            plain(1, 0, 1, 2, initial),
            plain(1, 2, 1, 1, 0),
        ];
        topology(3, &queues)
    };
    for initial in [0, 1] {
        let wrong = sufficient_sizes(&cycle(initial)).unwrap_err();
        let CheckError::Deadlock { names, cycle } = &wrong else {
            panic!("{wrong}");
        };
        assert_eq!((names.len(), cycle.len()), (2, 2), "{wrong}");
        assert!(
            wrong.to_string().contains("`n0` at `n1.out0 -> n0.in0`"),
            "{wrong}"
        );
    }
    assert!(sufficient_sizes(&cycle(2)).is_ok());
}

#[test]
fn an_overlap_delays_the_first_firing_and_is_no_deadlock() {
    // It reads 100 frames and consumes 1, without a history.
    let filter = topology(3, &[(0, 1, (7, 7), (100, 1), 0), plain(1, 2, 1, 14, 0)]);
    let result = check(&filter).unwrap();
    assert_eq!(result.repetitions, [2, 14, 1]);
    assert!(verify_sizes(&filter, &result.sizes).is_ok());
    assert_eq!(result.sizes[0], 99 + 7);
    // In a cycle with fewer initial frames than the overlap, it is one.
    let cycle = |initial| topology(2, &[(0, 1, (1, 1), (10, 1), 0), plain(1, 0, 1, 1, initial)]);
    assert!(sufficient_sizes(&cycle(9)).is_err());
    assert!(sufficient_sizes(&cycle(10)).is_ok());
}

#[test]
fn the_error_of_a_small_size_has_the_size_that_is_needed() {
    let mut chain = topology(2, &[plain(0, 1, 4, 6, 0)]);
    assert_eq!(sufficient_sizes(&chain), Ok(vec![8]));
    chain.queues[0].size = Some(7);
    let wrong = check(&chain).unwrap_err().to_string();
    assert_eq!(
        wrong,
        "`n0.out0 -> n1.in0` has 7 frames and would have to grow to 8"
    );
    chain.queues[0].size = Some(8);
    assert_eq!(check(&chain).map(|result| result.sizes), Ok(vec![8]));
}

/// Up to three nodes with consistent rates, and up to three queues between them, with cycles.
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
        let queues = queues
            .into_iter()
            .map(|(from, to, factor, more_room, more, initial)| {
                // Consistent: each produces as often as the other consumes.
                let common = (1..=3)
                    .rev()
                    .find(|d| counts[from] % d == 0 && counts[to] % d == 0);
                let common = common.unwrap_or(1);
                let produce = counts[to] / common * factor.min(2);
                let consume = counts[from] / common * factor.min(2);
                let window_out = (produce + more_room.min(1), produce);
                (
                    from,
                    to,
                    window_out,
                    (consume + more.min(2), consume),
                    initial,
                )
            });
        topology(3, &queues.collect::<Vec<_>>())
    })
}

/// Sizes of the even schedule, for all parts.
fn even_sizes_of(topology: &Topology) -> Option<Vec<usize>> {
    let counts = repetition_vector(topology).unwrap();
    let mut sizes = vec![0; topology.queues.len()];
    for part in parts(topology, &counts) {
        for (queue, size) in part.queues.iter().zip(even_sizes(topology, &part)?) {
            sizes[queue.0] = size as usize;
        }
    }
    Some(sizes)
}

/// A node that splits, branches of some nodes each, and a node where they join. Each branch node is a piece and an overlap. `tail`
/// adds a queue before and behind.
fn diamond(ends: (usize, usize), branches: &[Vec<(usize, usize)>], tail: bool) -> Topology {
    let (mut queues, mut nodes): (Vec<QueueNumbers>, usize) = (Vec::new(), 2);
    for branch in branches {
        let mut before = (0, ends.0);
        for &(piece, more) in branch {
            let input = (piece + more, piece);
            queues.push((before.0, nodes, (before.1, before.1), input, 0));
            before = (nodes, piece);
            nodes += 1;
        }
        queues.push((before.0, 1, (before.1, before.1), (ends.1, ends.1), 0));
    }
    if tail {
        queues.push(plain(nodes, 0, 3, ends.0, 0));
        queues.push(plain(1, nodes + 1, ends.1, 2, 0));
        nodes += 2;
    }
    topology(nodes, &queues)
}

#[test]
fn each_branch_of_a_diamond_holds_what_the_slowest_needs() {
    // The filter reads 40 frames and consumes 10: the direct path must hold the frames that the filter keeps back.
    let wide = diamond((10, 10), &[vec![(10, 30)], vec![]], false);
    assert_eq!(sufficient_sizes(&wide), Ok(vec![40, 10, 40]));
}

#[test]
fn a_chain_may_have_iterations_of_millions_of_firings() {
    // From 44.1 to 48 kHz, three times over.
    let queues: Vec<QueueNumbers> = (0..3)
        .map(|i| plain(i, i + 1, if i == 0 { 256 } else { 160 }, 147, 0))
        .chain([plain(3, 4, 160, 256, 0)])
        .collect();
    let chain = topology(5, &queues);
    let result = check(&chain).unwrap();
    assert!(
        result.repetitions.iter().sum::<u64>() > 4_000_000,
        "{result:?}"
    );
    assert_eq!(result.sizes, [256 + 146, 160 + 146, 160 + 146, 160 + 224]);
}

#[test]
fn parallel_paths_with_too_many_firings_get_sizes_of_the_even_schedule() {
    let path = |via: usize| {
        let steps = [
            (0, via, 991, 991),
            (via, via + 1, 997, 991),
            (via + 1, via + 2, 997, 991),
            (via + 2, 1, 997, 1),
        ];
        steps.map(|(from, to, produce, consume)| plain(from, to, produce, consume, 0))
    };
    let mut both = topology(8, &[path(2), path(5)].concat());
    let result = check(&both).unwrap();
    assert!(result.repetitions.iter().sum::<u64>() > 100_000_000);
    assert!(
        result.sizes.iter().all(|size| *size < 6000),
        "{:?}",
        result.sizes
    );
    // A size that is set may be too small for that.
    both.queues[1].size = Some(997 + 990);
    let wrong = check(&both).unwrap_err().to_string();
    assert!(wrong.ends_with("firings, too many to simulate"), "{wrong}");
    both.queues[1].size = Some(1 << 14);
    assert!(check(&both).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sizes_of_the_even_schedule_are_sufficient(
        ends in (1..40usize, 1..40usize),
        branches in proptest::collection::vec(
            proptest::collection::vec((1..40usize, 0..60usize), 0..3), 2..4),
    ) {
        let topology = diamond(ends, &branches, true);
        let even = even_sizes_of(&topology).expect("there is no cycle");
        prop_assert!(verify_sizes(&topology, &even).is_ok(), "{:?}", even);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn both_kinds_of_sizes_are_sufficient(topology in tiny()) {
        let Ok(sizes) = sufficient_sizes(&topology) else {
            return Ok(());
        };
        prop_assert!(verify_sizes(&topology, &sizes).is_ok());
        if let Some(even) = even_sizes_of(&topology) {
            prop_assert!(verify_sizes(&topology, &even).is_ok(), "{:?}", even);
        }
    }
}
