//! What plans look like.

mod common;
use common::Patch;
use divisi_plan::{Work, compile};

#[test]
fn a_line_runs_in_order_through_two_slots() {
    let mut patch = Patch::default();
    let mut last = patch.add("osc");
    for _ in 0..3 {
        let next = patch.add("mod");
        patch.wire(last, next);
        last = next;
    }
    let sink = patch.add("sink");
    patch.wire(last, sink);
    let plan = compile(&patch.graph, &patch.catalogue, &patch.options).unwrap();
    assert_eq!(plan.steps.len(), 5);
    assert_eq!(plan.slots, 3, "two, and the sink's own");
    assert_eq!(plan.sinks.len(), 1);
    assert!(matches!(plan.steps[4].work, Work::Keep { node } if node == sink));
    assert_eq!(plan.steps.iter().map(|s| s.activation).sum::<u32>(), 4);
    plan.validate().unwrap();
}
