//! A histogram as text: a bar a line, at most sixteen lines.

use crate::Bucket;
use std::fmt;
use units::Nanos;

/// Length of the longest bar, in characters.
const MAX_BAR: f64 = 40.0;
/// Upper bound on lines, gaps included.
const MAX_LINES: usize = 16;

/// Writes bars that grow with the logarithm of the count, so that one late cycle among thousands is seen. Where there are
/// too many, neighbours are joined.
pub(crate) fn bars(f: &mut fmt::Formatter<'_>, buckets: &[Bucket]) -> fmt::Result {
    let lines = lines(buckets);
    let max = lines.iter().flatten().map(|bucket| bucket.count).max();
    let scale = MAX_BAR / ((max.unwrap_or(0) + 1) as f64).log2().max(1.0);
    for line in &lines {
        let Some(bucket) = line else {
            writeln!(f, "{:>10} ┊", "")?;
            continue;
        };
        let eighths = (((bucket.count + 1) as f64).log2() * scale * 8.0) as usize;
        let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
        let (from, bar) = (Nanos(bucket.from_ns), "█".repeat(eighths / 8));
        writeln!(f, "{from:>10} ┤{bar}{part} {}", bucket.count)?;
    }
    Ok(())
}

/// The buckets that are not empty, with `None` for a gap, after as few neighbours as possible are joined.
fn lines(buckets: &[Bucket]) -> Vec<Option<Bucket>> {
    let mut joined = 1;
    loop {
        let lines = without_gaps(buckets.chunks(joined).map(join));
        if lines.len() <= MAX_LINES {
            return lines;
        }
        joined += 1;
    }
}

/// One bucket in place of neighbours.
fn join(neighbours: &[Bucket]) -> Bucket {
    let (first, last) = (neighbours[0], neighbours[neighbours.len() - 1]);
    Bucket {
        from_ns: first.from_ns,
        to_ns: last.to_ns,
        count: neighbours.iter().map(|bucket| bucket.count).sum(),
    }
}

/// The buckets with a count, and `None` in place of empty ones between them.
fn without_gaps(buckets: impl Iterator<Item = Bucket>) -> Vec<Option<Bucket>> {
    let mut lines = Vec::new();
    for bucket in buckets {
        match (bucket.count, lines.last()) {
            (0, None | Some(None)) => {}
            (0, Some(_)) => lines.push(None),
            _ => lines.push(Some(bucket)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Histogram;

    #[test]
    fn a_histogram_has_at_most_sixteen_lines_and_loses_no_cycle() {
        // From 280 ns to 40 s, with gaps: some 200 buckets of an eighth of an octave.
        for step in [1.01, 1.3, 3.0, 900.0] {
            let mut times = Histogram::new();
            let mut ns = 280.0;
            while ns < 4e10 {
                times.record(Nanos(ns as u64));
                ns *= step;
            }
            let lines = lines(&times.buckets(8));
            assert!(lines.len() <= MAX_LINES, "{step}: {}", lines.len());
            let counts = lines.iter().flatten().map(|bucket| bucket.count);
            assert_eq!(counts.sum::<u64>(), times.count());
            let bars: Vec<&Bucket> = lines.iter().flatten().collect();
            assert!(bars.windows(2).all(|pair| pair[0].to_ns <= pair[1].from_ns));
        }
        assert!(lines(&[]).is_empty());
    }

    #[test]
    fn few_buckets_stay_as_they_are() {
        let mut times = Histogram::new();
        for ns in [1000, 1000, 5000] {
            times.record(Nanos(ns));
        }
        let lines = lines(&times.buckets(8));
        assert_eq!(lines.len(), 3, "two bars and the gap between them");
        assert_eq!(lines[0].map(|bucket| bucket.count), Some(2));
        assert_eq!(lines[1], None);
    }
}
