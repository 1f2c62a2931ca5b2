//! Search for the maximum of channels that a method plays without a miss.

use super::callback::CallbackStats;

/// Result of the search.
#[derive(Clone, Debug)]
pub(super) struct MaxChannels {
    /// 0 if not even one is held.
    pub(super) channels: usize,
    /// The last try with them.
    pub(super) stats: CallbackStats,
}

/// ```text
/// guess holds     x6/5  x6/5  x6/5 ... until one fails, then halve the distance
/// guess fails     x3/4  x3/4  x3/4 ... until one holds, then halve the distance
/// ```
///
/// A plain bisection from `limit` would begin with tries of hundreds of channels, each of which takes seconds to set up.
///
/// Searches from `guess` up to `limit`, by `short` tries of a number of channels, until the number that holds and the one
/// that fails are a sixteenth apart. Then makes `long` tries, with fewer channels until one holds.
pub(super) fn find_max_channels<E>(
    guess: usize,
    limit: usize,
    mut short: impl FnMut(usize) -> Result<CallbackStats, E>,
    mut long: impl FnMut(usize) -> Result<CallbackStats, E>,
) -> Result<MaxChannels, E> {
    let (mut holds, mut fails) = (0, limit + 1);
    let mut next = guess.clamp(1, limit);
    while fails - holds > 1.max(holds / 16) {
        // Up to three tries: a machine has bad moments that the probe does not see whole.
        let is_held = short(next)?.holds() || short(next)?.holds() || short(next)?.holds();
        if is_held {
            holds = next;
        } else {
            fails = next;
        }
        next = match (holds, fails) {
            (0, fails) => (fails * 3 / 4).max(1).min(fails.saturating_sub(1)),
            (holds, fails) if fails > limit => (holds + holds.div_ceil(6)).min(limit),
            (holds, fails) => holds.midpoint(fails),
        };
        if next == 0 || next == holds {
            break;
        }
    }
    while holds > 0 {
        for _ in 0..2 {
            let stats = long(holds)?;
            if stats.holds() {
                return Ok(MaxChannels {
                    channels: holds,
                    stats,
                });
            }
        }
        holds -= holds.div_ceil(12);
    }
    Ok(MaxChannels {
        channels: 0,
        stats: CallbackStats::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(truth: usize, guess: usize, limit: usize, longer: usize) -> (usize, usize) {
        let mut tried = 0;
        let stats = |holds: bool| CallbackStats {
            unexplained: usize::from(!holds),
            ..CallbackStats::default()
        };
        let short = |n: usize| {
            assert!((1..=limit).contains(&n));
            tried += 1;
            Ok::<_, ()>(stats(n <= truth))
        };
        let found = find_max_channels(guess, limit, short, |n| Ok(stats(n <= longer))).unwrap();
        (found.channels, tried)
    }

    #[test]
    fn it_comes_near_to_the_maximum_from_every_guess() {
        for truth in [1, 2, 7, 40, 200] {
            for guess in [1, 10, 60, 500] {
                let (found, tried) = found(truth, guess, 400, 400);
                assert!(
                    found <= truth && found * 17 >= truth * 15,
                    "{truth} {guess}: {found}"
                );
                assert!(tried < 120);
            }
        }
    }

    #[test]
    fn it_stops_at_the_limit_takes_fewer_where_long_tries_fail_and_may_find_none() {
        assert!(found(1000, 5, 64, 1000).0 >= 60);
        assert!(found(100, 90, 400, 80).0 <= 80);
        assert_eq!(found(0, 10, 400, 400).0, 0);
        assert_eq!(found(1, 1, 1, 1).0, 1);
    }
}
