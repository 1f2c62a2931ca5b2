//! What the checks find in networks, and what sizes they give.

use super::*;
use crate::shape::{Input, NodeId, NodeShape, Output, Ports, QueueId, QueueShape};
use proptest::prelude::*;

/// A network by its queues: from, to, (room, produce), (window, consume), initial.
type Line = (usize, usize, (usize, usize), (usize, usize), usize);

fn shape(nodes: usize, lines: &[Line]) -> Shape {
    let node = |i: usize| NodeShape {
        name: format!("n{i}"),
        ports: Ports::default(),
    };
    let mut shape = Shape {
        nodes: (0..nodes).map(node).collect(),
        queues: Vec::new(),
    };
    for &(from, to, (room, produce), (window, consume), initial) in lines {
        let outs = &mut shape.nodes[from].ports.outputs;
        outs.push(Output::new(format!("out{}", outs.len()), room, produce));
        let from = (NodeId(from), outs.len() - 1);
        let ins = &mut shape.nodes[to].ports.inputs;
        ins.push(Input::new(format!("in{}", ins.len()), window, consume));
        let to = (NodeId(to), ins.len() - 1);
        let queue = QueueShape {
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
    assert_eq!(balance(&chain), Ok(vec![9, 6, 4]));
    let apart = shape(4, &[plain(0, 1, 4, 2, 0), plain(2, 3, 1, 5, 0)]);
    assert_eq!(balance(&apart), Ok(vec![1, 2, 5, 1]));
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
    let wrong = balance(&diamond).unwrap_err();
    let CheckError::Rates {
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
    assert!(matches!(wrong, CheckError::TooLong { .. }), "{wrong}");
}

#[test]
fn an_open_port_is_named() {
    let mut open = shape(2, &[plain(0, 1, 1, 1, 0)]);
    open.nodes[1].ports.outputs.push(Output::new("out", 1, 1));
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
    assert!(holds_with(&filter, &verdict.sizes).is_ok());
    let least = verdict.least.unwrap();
    assert_eq!(least[0], 99 + 7);
    // In a cycle that owes more than it began with, it is one.
    let owes = |initial| shape(2, &[(0, 1, (1, 1), (10, 1), 0), plain(1, 0, 1, 1, initial)]);
    assert!(sufficient_sizes(&owes(9)).is_err());
    assert!(sufficient_sizes(&owes(10)).is_ok());
}

#[test]
fn a_size_that_is_too_small_says_what_it_would_need() {
    let mut chain = shape(2, &[plain(0, 1, 4, 6, 0)]);
    assert_eq!(least_sizes(&chain), Ok(Some(vec![8])));
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
fn by_force(shape: &Shape, most: usize) -> Option<usize> {
    let mut sizes = vec![1; shape.queues.len()];
    let mut least: Option<usize> = None;
    loop {
        if holds_with(shape, &sizes).is_ok() {
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
fn tiny() -> impl Strategy<Value = Shape> {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_least_sizes_are_those_found_by_trying_all(shape in tiny()) {
        let found = least_sizes(&shape);
        let Ok(sizes) = sufficient_sizes(&shape) else {
            prop_assert!(found.is_err());
            return Ok(());
        };
        prop_assert!(holds_with(&shape, &sizes).is_ok());
        let found = found.unwrap().expect("there are few");
        prop_assert!(holds_with(&shape, &found).is_ok());
        let sum: usize = found.iter().sum();
        prop_assert!(sum <= sizes.iter().sum());
        let most = *found.iter().max().unwrap();
        if most <= 12 {
            prop_assert_eq!(by_force(&shape, most.max(8)), Some(sum));
        }
    }
}
