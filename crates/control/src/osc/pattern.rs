//! OSC's address patterns, one part of an address at a time.
//!
//! | in a pattern | stands for |
//! |---|---|
//! | `?` | one character |
//! | `*` | any number of them |
//! | `[a-cx]`, `[!a-c]` | one of a set, or none of it |
//! | `{one,two}` | one of these words |

/// Returns true if `name` fits `pattern`. The time is at most the product of both lengths, for each word in braces once
/// more.
///
/// Real-time: setup.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    // Ends of all beginnings of `name` that what was read of the pattern fits.
    let mut ends = vec![false; name.len() + 1];
    ends[0] = true;
    let mut rest = pattern.as_slice();
    while let Some((first, behind)) = rest.split_first() {
        (ends, rest) = match first {
            '*' => (after_any(&ends), behind),
            '?' => (after_one(&ends, &name, |_| true), behind),
            '[' => match behind.iter().position(|c| *c == ']') {
                Some(end) => (
                    after_one(&ends, &name, |c| is_in(&behind[..end], c)),
                    &behind[end + 1..],
                ),
                None => return false,
            },
            '{' => match behind.iter().position(|c| *c == '}') {
                Some(end) => (
                    after_words(&ends, &name, &behind[..end]),
                    &behind[end + 1..],
                ),
                None => return false,
            },
            first => (after_one(&ends, &name, |c| c == *first), behind),
        };
    }
    ends[name.len()]
}

fn after_any(ends: &[bool]) -> Vec<bool> {
    let first = ends.iter().position(|end| *end).unwrap_or(ends.len());
    (0..ends.len()).map(|at| at >= first).collect()
}

fn after_one(ends: &[bool], name: &[char], fits: impl Fn(char) -> bool) -> Vec<bool> {
    let after = name.iter().zip(ends).map(|(c, is_end)| *is_end && fits(*c));
    std::iter::once(false).chain(after).collect()
}

fn after_words(ends: &[bool], name: &[char], words: &[char]) -> Vec<bool> {
    let mut after = vec![false; ends.len()];
    for word in words.split(|c| *c == ',') {
        for at in (0..ends.len()).filter(|at| ends[*at]) {
            if name[at..].starts_with(word) {
                after[at + word.len()] = true;
            }
        }
    }
    after
}

/// Returns true if `c` is in a set such as `a-cx` or `!a-c`.
fn is_in(set: &[char], c: char) -> bool {
    let (is_negative, set) = match set.split_first() {
        Some(('!', set)) => (true, set),
        _ => (false, set),
    };
    let mut is_in = false;
    let mut rest = set;
    while let Some(first) = rest.first() {
        if let [from, '-', to, ..] = rest {
            is_in |= (*from..=*to).contains(&c);
            rest = &rest[3..];
        } else {
            is_in |= *first == c;
            rest = &rest[1..];
        }
    }
    is_in != is_negative
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn each_wildcard_stands_for_what_the_table_says() {
        for (pattern, fits, fails) in [
            ("tone", "tone", "tones"),
            ("t?ne", "tune", "tne"),
            ("t*e", "tone.e", "tones"),
            ("*", "", "-"),
            ("[a-cx]1", "x1", "d1"),
            ("[!a-c]", "d", "b"),
            ("{one,two}.*", "two.5", "three.5"),
            ("*a*a*a*b", "aaaab", "aaaaaaaaaaaaaaaaaaaaaaaaa"),
        ] {
            assert!(matches(pattern, fits), "{pattern} {fits}");
            assert!(
                !matches(pattern, fails) || fails == "-",
                "{pattern} {fails}"
            );
        }
        assert!(!matches("[a", "a") && !matches("{a", "a"));
    }
}
