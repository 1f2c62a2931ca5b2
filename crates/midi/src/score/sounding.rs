//! [`SoundingNotes`]: the notes that sound at a time.

/// Notes by their begin, each with the last end of all up to it. So a search goes back no further than notes reach.
#[derive(Debug, Default)]
pub(super) struct SoundingNotes(Box<[NoteSpan]>);

#[derive(Clone, Copy, Debug)]
struct NoteSpan {
    begin: f64,
    end: f64,
    reach: f64,
    id: u32,
}

impl SoundingNotes {
    /// The notes of these begins, ends and ids, in any order.
    ///
    /// Real-time: setup.
    pub(super) fn new(mut notes: Vec<(f64, f64, u32)>) -> Self {
        notes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut reach = f64::NEG_INFINITY;
        let span = |(begin, end, id)| {
            reach = f64::max(reach, end);
            NoteSpan {
                begin,
                end,
                reach,
                id,
            }
        };
        Self(notes.into_iter().map(span).collect())
    }

    /// Ids of the notes that begin before `time` and do not end before it, each time taken `tolerance` wider.
    ///
    /// Real-time: hot; bounded by the notes that begin after the first of them.
    pub(super) fn at(&self, time: f64, tolerance: f64) -> impl Iterator<Item = u32> + '_ {
        let last = self.0.partition_point(|note| note.begin < time + tolerance);
        let reached = self.0[..last].iter().rev();
        let reached = reached.take_while(move |note| note.reach >= time - tolerance);
        reached
            .filter(move |note| note.end >= time - tolerance)
            .map(|note| note.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notes_that_sound_are_those_that_began_and_did_not_end() {
        let notes = (0..100).map(|n| {
            let begin = f64::from(n * 37 % 100);
            (begin, begin + f64::from(n % 9), n as u32)
        });
        let all: Vec<_> = notes.collect();
        let sounding = SoundingNotes::new(all.clone());
        for time in 0..120 {
            let time = f64::from(time) / 1.1;
            let mut found: Vec<u32> = sounding.at(time, 0.0).collect();
            found.sort_unstable();
            let sounds = |note: &&(f64, f64, u32)| note.0 < time && note.1 >= time;
            let mut expected: Vec<u32> = all.iter().filter(sounds).map(|note| note.2).collect();
            expected.sort_unstable();
            assert_eq!(found, expected, "{time}");
        }
    }
}
