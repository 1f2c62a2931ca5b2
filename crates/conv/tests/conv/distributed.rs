//! Work distributed over callbacks: the same bits, no allocation, and an exchange meanwhile.

use crate::kit::{Rng, same};
use crate::memory::calls;
use divisi_conv::{
    AddedLatency, Convolver, ConvolverOptions, Fdl, Inline, LevelScheduler, Partition, Path,
    TimeDistributed,
};
use rt::deferred::DeferredJob;

/// Counts the jobs that are not done when they are due.
struct Watched(TimeDistributed, usize);

impl LevelScheduler for Watched {
    fn job_started(&mut self, line: usize, work: &mut DeferredJob<Fdl>) {
        self.0.job_started(line, work);
    }

    fn finish(&mut self, line: usize, work: &mut DeferredJob<Fdl>) -> bool {
        self.1 += usize::from(!work.is_available());
        self.0.finish(line, work)
    }

    fn after_block(&mut self, lines: &mut dyn Iterator<Item = (usize, &mut DeferredJob<Fdl>)>) {
        self.0.after_block(lines);
    }
}

fn paths(rng: &mut Rng) -> Vec<Path> {
    let mut path = |c: usize| Path::new(c % 3, c / 2, rng.response(9000));
    (0..4).map(&mut path).collect()
}

#[test]
fn an_exchange_while_work_is_distributed_changes_no_bit_and_makes_no_job_late() {
    let partition = Partition::parse(64, AddedLatency::None, "7x64 6x256 2x1024 4x2048").unwrap();
    let mut rng = Rng::new(31);
    let (first, second) = (paths(&mut rng), paths(&mut rng));
    let options = TimeDistributed::adapt_options(&ConvolverOptions::new(partition), 3);
    let run = |is_even: bool| {
        let mut convolver = Convolver::new(3, 2, &first, &options).unwrap();
        let mut scheduler = Watched(TimeDistributed::new(&mut convolver), 0);
        let mut next = convolver.preparer().prepare(&second).ok();
        let mut rng = Rng::new(32);
        let mut output = vec![Vec::new(); 2];
        for callback in 0..400 {
            for channel in 0..3 {
                convolver.write_input(channel, &rng.noise(64));
            }
            match is_even {
                true => convolver.process_block(&mut scheduler),
                false => convolver.process_block(&mut Inline),
            }
            if callback == 120 {
                let refused = next.take().and_then(|next| convolver.exchange(next));
                assert!(refused.is_none());
            }
            drop(convolver.take_retired());
            for (channel, output) in output.iter_mut().enumerate() {
                output.extend_from_slice(convolver.output(channel));
            }
        }
        assert!(!convolver.is_exchanging());
        (output, scheduler.1)
    };
    let (even, undone) = run(true);
    same(&even, &run(false).0, "spread");
    assert_eq!(undone, 0);
}

#[test]
fn distributed_work_allocates_nothing_in_a_callback() {
    let mut rng = Rng::new(33);
    let partition = Partition::parse(64, AddedLatency::None, "7x64 6x256 2x1024 4x2048").unwrap();
    let options = TimeDistributed::adapt_options(&ConvolverOptions::new(partition), 3);
    let mut convolver = Convolver::new(3, 2, &paths(&mut rng), &options).unwrap();
    let mut scheduler = TimeDistributed::new(&mut convolver);
    let before = calls();
    for _ in 0..100 {
        convolver.process_block(&mut scheduler);
    }
    assert_eq!(calls(), before);
}
