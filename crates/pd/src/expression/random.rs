//! The random numbers of the GNU C library, which `random()` in an expression gives in Pd.

/// `rand()` after a start without a seed.
#[derive(Clone, Debug)]
pub(crate) struct LibraryRandom {
    state: [i32; 31],
    at: usize,
}

impl Default for LibraryRandom {
    fn default() -> Self {
        let mut state = [1_i32; 31];
        for at in 1..state.len() {
            let next = i64::from(state[at - 1]) * 16807 % 2_147_483_647;
            state[at] = i32::try_from(next).expect("it is below the modulus");
        }
        let mut random = Self { state, at: 0 };
        for _ in 0..310 {
            random.next();
        }
        random
    }
}

impl crate::state::Held for LibraryRandom {
    crate::state::held!(state, at; check |it| it.at < it.state.len());
}

impl LibraryRandom {
    /// The next number, below 2^31.
    pub(crate) fn next(&mut self) -> i32 {
        let front = (self.at + 3) % 31;
        let sum = self.state[front].wrapping_add(self.state[self.at]);
        self.state[front] = sum;
        self.at = (self.at + 1) % 31;
        (sum.cast_unsigned() >> 1).cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_library() {
        let mut random = LibraryRandom::default();
        let first = [(); 4].map(|()| random.next());
        assert_eq!(
            first,
            [1_804_289_383, 846_930_886, 1_681_692_777, 1_714_636_915]
        );
    }
}
