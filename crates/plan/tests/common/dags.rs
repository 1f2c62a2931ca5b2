//! Random dags and machines.

use divisi_plan::{Dag, Link, MachineModel, TaskId};
use proptest::collection::vec;
use proptest::prelude::*;
use units::Nanos;

/// A dag of one to `most` tasks, none of which costs nothing; with `dense` edges in a hundred.
pub(crate) fn dags(most: usize, dense: std::ops::Range<u32>) -> impl Strategy<Value = Dag> {
    (1..=most, dense).prop_flat_map(|(count, dense)| {
        let costs = vec(1..100u64, count);
        let edges = vec((0..100u32, 0..2048u32), count * (count - 1) / 2);
        (costs, edges).prop_map(move |(costs, edges)| {
            let pairs = (0..costs.len() as u32).flat_map(|to| (0..to).map(move |from| (from, to)));
            let edges = pairs.zip(edges);
            let edges = edges.filter(|(_, (dice, _))| *dice < dense);
            let edges = edges.map(|((a, b), (_, bytes))| (TaskId(a), TaskId(b), bytes));
            let costs = costs.into_iter().map(Nanos).collect();
            Dag::new(costs, edges).expect("all lead forward")
        })
    })
}

/// A machine of one to `most` workers; half have links of their own each.
pub(crate) fn machines(most: usize) -> impl Strategy<Value = MachineModel> {
    let link = (0..100u64, 0..50u64).prop_map(|(base, per_kib)| Link {
        base: Nanos(base),
        per_kib: Nanos(per_kib),
    });
    (1..=most, any::<bool>()).prop_flat_map(move |(workers, own)| {
        vec(link.clone(), workers * workers).prop_map(move |links| match own {
            true => MachineModel::new(workers, links).expect("they are as many as it takes"),
            false => MachineModel::uniform(workers, links[0]),
        })
    })
}
