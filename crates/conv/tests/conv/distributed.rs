//! Work spread over callbacks: the same bits, no memory, and an exchange on the way.

use crate::kit::{Rng, same};
use crate::memory::calls;
use divisi_conv::distributed::{Evenly, Ratio, TwoLevels};
use divisi_conv::{Convolver, Fdl, Hands, Inline, Latency, Options, Partition, Path};
use fft::Kernels;
use rt::deferred::Owner;

/// Counts what was left to do when it was due.
struct Watched(Evenly, usize);

impl Hands for Watched {
    fn started(&mut self, line: usize, work: &mut Owner<Fdl>) {
        self.0.started(line, work);
    }

    fn finish(&mut self, line: usize, work: &mut Owner<Fdl>) -> bool {
        self.1 += usize::from(!work.is_here());
        self.0.finish(line, work)
    }

    fn tend(&mut self, lines: &mut dyn Iterator<Item = (usize, &mut Owner<Fdl>)>) {
        self.0.tend(lines);
    }
}

fn paths(rng: &mut Rng) -> Vec<Path> {
    let mut path = |c: usize| Path::new(c % 3, c / 2, rng.response(9000));
    (0..4).map(&mut path).collect()
}

#[test]
fn an_exchange_while_work_is_spread_changes_no_bit_and_leaves_nothing_undone() {
    let partition = Partition::parse(64, Latency::None, "7x64 6x256 2x1024 4x2048").unwrap();
    let mut rng = Rng(31);
    let (first, second) = (paths(&mut rng), paths(&mut rng));
    let options = Evenly::prepare(&Options::new(partition), 3);
    let run = |is_even: bool| {
        let mut convolver = Convolver::new(3, 2, &first, &options).unwrap();
        let mut hands = Watched(Evenly::new(&mut convolver), 0);
        let mut next = convolver.preparer().prepare(&second).ok();
        let mut rng = Rng(32);
        let mut played = vec![Vec::new(); 2];
        for turn in 0..400 {
            for channel in 0..3 {
                convolver.hear(channel, &rng.noise(64));
            }
            match is_even {
                true => convolver.turn(&mut hands),
                false => convolver.turn(&mut Inline),
            }
            if turn == 120 {
                let refused = next.take().and_then(|next| convolver.exchange(next));
                assert!(refused.is_none());
            }
            drop(convolver.take_retired());
            for (channel, played) in played.iter_mut().enumerate() {
                played.extend_from_slice(convolver.played(channel));
            }
        }
        assert!(!convolver.is_exchanging());
        (played, hands.1)
    };
    let (even, undone) = run(true);
    same(&even, &run(false).0, "spread");
    assert_eq!(undone, 0);
}

#[test]
fn spreading_takes_no_memory_in_a_callback() {
    let mut rng = Rng(33);
    let partition = Partition::parse(64, Latency::None, "7x64 6x256 2x1024 4x2048").unwrap();
    let options = Evenly::prepare(&Options::new(partition), 3);
    let mut convolver = Convolver::new(3, 2, &paths(&mut rng), &options).unwrap();
    let mut hands = Evenly::new(&mut convolver);
    let response = rng.response(9000);
    let kernels = Kernels::best();
    let mut two = TwoLevels::new(&[&response], 64, Ratio::Sixteen, kernels).unwrap();
    let heard = [0.5; 64];
    let mut played = [0.0; 64];
    let before = calls();
    for _ in 0..100 {
        convolver.turn(&mut hands);
        two.process(&[&heard], &mut [&mut played]);
    }
    assert_eq!(calls(), before);
    assert!(played.iter().any(|x| *x != 0.0));
}
