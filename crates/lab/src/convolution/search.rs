//! The most channels that are held: where it begins to fail, found by trying.

use super::beat::Seen;

/// What was found.
#[derive(Clone, Debug)]
pub(super) struct Most {
    /// None if not even one is held.
    pub(super) channels: usize,
    /// How that went.
    pub(super) seen: Seen,
}

/// Looks for it, beginning at `guess`, with at most `limit` channels: until what holds and what does not are a
/// sixteenth apart. Then `last` tries what held for longer, with fewer channels until it holds again.
pub(super) fn most<E>(
    guess: usize,
    limit: usize,
    mut short: impl FnMut(usize) -> Result<Seen, E>,
    mut last: impl FnMut(usize) -> Result<Seen, E>,
) -> Result<Most, E> {
    let (mut holds, mut fails) = (0, limit + 1);
    let mut next = guess.clamp(1, limit);
    while fails - holds > 1.max(holds / 16) {
        // More than once: a machine has bad moments that a probe does not see whole.
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
            let seen = last(holds)?;
            if seen.holds() {
                return Ok(Most {
                    channels: holds,
                    seen,
                });
            }
        }
        holds -= holds.div_ceil(12);
    }
    Ok(Most {
        channels: 0,
        seen: Seen::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(truth: usize, guess: usize, limit: usize, longer: usize) -> (usize, usize) {
        let mut tried = 0;
        let seen = |holds: bool| Seen {
            unexplained: usize::from(!holds),
            ..Seen::default()
        };
        let short = |n: usize| {
            assert!((1..=limit).contains(&n));
            tried += 1;
            Ok::<_, ()>(seen(n <= truth))
        };
        let most = most(guess, limit, short, |n| Ok(seen(n <= longer))).unwrap();
        (most.channels, tried)
    }

    #[test]
    fn it_comes_near_to_the_truth_from_wherever_it_begins() {
        for truth in [1, 2, 7, 40, 200] {
            for guess in [1, 10, 60, 500] {
                let (most, tried) = found(truth, guess, 400, 400);
                assert!(
                    most <= truth && most * 17 >= truth * 15,
                    "{truth} {guess}: {most}"
                );
                assert!(tried < 120);
            }
        }
    }

    #[test]
    fn it_stops_at_the_limit_gives_way_where_it_fails_later_and_may_find_nothing() {
        assert!(found(1000, 5, 64, 1000).0 >= 60);
        assert!(found(100, 90, 400, 80).0 <= 80);
        assert_eq!(found(0, 10, 400, 400).0, 0);
        assert_eq!(found(1, 1, 1, 1).0, 1);
    }
}
