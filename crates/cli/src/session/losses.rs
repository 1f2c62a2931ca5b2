//! Losses of a run: what the sound lacks is a failure, whatever else was done.

use crate::failure::Failure;
use divisi::report::Report;

/// Refuses to call a render whole that lacks what a node should have played.
pub(crate) fn check_whole(report: &Report) -> Result<(), Failure> {
    let faults = (report.faults, "faults of nodes");
    let [events, midi] = lost_events(report);
    check(&[faults, events, midi])
}

/// Refuses to call a live run whole in which events were lost. It goes on without a faulty node, and says so at once.
pub(crate) fn check_events(report: &Report) -> Result<(), Failure> {
    check(&lost_events(report))
}

fn lost_events(report: &Report) -> [(u64, &'static str); 2] {
    [
        (report.events_lost, "events that found no room"),
        (report.midi_lost, "MIDI messages that were left out"),
    ]
}

fn check(lost: &[(u64, &str)]) -> Result<(), Failure> {
    let lost = lost.iter().filter(|(count, _)| *count > 0);
    let lost: Vec<String> = lost.map(|(n, what)| format!("{n} {what}")).collect();
    match lost.is_empty() {
        true => Ok(()),
        false => Err(Failure::failed(format!(
            "the sound is not whole: {}",
            lost.join(", ")
        ))),
    }
}
