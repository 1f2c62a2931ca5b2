//! Holds the sources to the project's vocabulary: no type or function has a retired name.

use std::fs;
use std::path::{Path, PathBuf};

/// Names of types that are retired, with the names or words that took their places.
const RETIRED_TYPES: &[(&str, &str)] = &[
    ("Away", "IdleSet"),
    ("Beat", "CallbackInfo"),
    ("Before", "PreviousDelays"),
    ("Board", "JobBoard"),
    ("Cast", "fixtures"),
    ("Contestant", "Engine"),
    ("Course", "CycleTrace, LineState"),
    ("Crew", "WorkerPool"),
    ("Debt", "PendingDecrements"),
    ("Deck", "RecordingPlayer"),
    ("Evenly", "TimeDistributed"),
    ("Facts", "what the facts are about"),
    ("Fate", "Outcome"),
    ("Floor", "SharedRuntime"),
    ("Giver", "SpectrumSender"),
    ("Glance", "LiveStats"),
    ("Glide", "Smoother"),
    ("Gone", "FadeState"),
    ("Hall", "TestBench, Workload"),
    ("Hand", "WorkerContext"),
    ("Hands", "LevelScheduler"),
    ("Head", "RecorderTap"),
    ("Heard", "TokenCount"),
    ("Hears", "EventInput"),
    ("Heirs", "main successors"),
    ("How", "PlayOptions"),
    ("Kept", "what is kept"),
    ("Knob", "ParamSpec"),
    ("Lanes", "StaticQueues"),
    ("Least", "QueueBounds"),
    ("Lent", "StepServices"),
    ("Letter", "SwapMessage"),
    ("Manner", "RunConfig"),
    ("Moment", "CycleInfo, ProcessInfo"),
    ("Names", "WakeMask"),
    ("Note", "CycleMessage"),
    ("Notice", "JobSlot"),
    ("Now", "CycleInfo"),
    ("Own", "StepState"),
    ("Posted", "JobHandle"),
    ("Posting", "EventMessage"),
    ("Ran", "CycleResult"),
    ("Rare", "StepCold"),
    ("Recipe", "FilterKernel"),
    ("Reel", "RecorderThread"),
    ("Resident", "ProcessorEntry"),
    ("Rest", "what it is in the literature"),
    ("Rig", "ProcessorBench"),
    ("Room", "WriteChunk"),
    ("Seat", "WorkerSlot"),
    ("Setting", "EngineResources"),
    ("Stage", "BoundPlan, ClientState"),
    ("Take", "TestInput"),
    ("Taker", "SpectrumReceiver"),
    ("Tape", "RecorderHandle"),
    ("Told", "what is told"),
    ("Took", "Steal"),
    ("Turn", "TaskStatus, or what it is"),
    ("Verdict", "CheckResult"),
    ("Voice", "SinkChannel"),
    ("Way", "what it is a way of"),
    ("Window", "ReadChunk"),
    ("Wish", "Config"),
];

/// Names of functions that are retired, likewise.
const RETIRED_FUNCTIONS: &[(&str, &str)] = &[
    ("bury", "quarantine"),
    ("disown", "quarantine_processor"),
    ("elders", "older_lines"),
    ("hear", "write_input, read"),
    ("hush", "write_silence"),
    ("look_who_died", "sync_quarantined"),
    ("owe", "defer"),
    ("said_wrong", "a name for the failure"),
    ("take_turn", "try_acquire"),
    ("take_up", "sync_state"),
    ("tend", "update"),
    ("unsettle", "mark_stale"),
];

/// Names that stay: (crate, name, reason).
const ALLOWED: &[(&str, &str, &str)] = &[
    ("dsp", "Stage", "a stage of an envelope"),
    ("dsp", "Voice", "a voice of a synthesizer"),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The keyword and the name that a line defines.
fn definition(line: &str) -> Option<(&str, &str)> {
    let words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let mut words = words.filter(|word| !word.is_empty());
    let keyword = words.find(|word| {
        ![
            "pub", "crate", "super", "in", "unsafe", "async", "const", "extern", "C",
        ]
        .contains(word)
    })?;
    let is_definition = ["struct", "enum", "trait", "type", "union", "fn"].contains(&keyword);
    is_definition.then(|| words.next().map(|name| (keyword, name)))?
}

fn successor(keyword: &str, name: &str) -> Option<&'static str> {
    let retired = match keyword {
        "fn" => RETIRED_FUNCTIONS,
        _ => RETIRED_TYPES,
    };
    let found = retired.iter().find(|(old, _)| *old == name)?;
    Some(found.1)
}

#[test]
fn no_type_or_function_has_a_retired_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let root = root.expect("the crate is in crates/check");
    let mut files = Vec::new();
    for entry in fs::read_dir(root.join("crates"))
        .expect("a folder")
        .flatten()
    {
        sources(&entry.path().join("src"), &mut files);
    }
    assert!(files.len() > 100, "the sources were not found");
    files.sort();
    let mut wrong = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a source is text");
        for (number, line) in (1..).zip(text.lines()) {
            let Some((keyword, name)) = definition(line.trim()) else {
                continue;
            };
            let file = file.strip_prefix(root).expect("it is inside");
            let is_allowed = |(home, allowed, _): &(&str, &str, &str)| {
                *allowed == name && file.starts_with(Path::new("crates").join(home))
            };
            if let Some(new) = successor(keyword, name).filter(|_| !ALLOWED.iter().any(is_allowed))
            {
                let file = file.display();
                wrong.push(format!(
                    "{file}:{number}: `{keyword} {name}` is retired: {new}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn definitions_are_found_behind_their_qualifiers() {
    assert_eq!(
        definition("pub(crate) struct Hand<'a> {"),
        Some(("struct", "Hand"))
    );
    assert_eq!(
        definition("pub unsafe fn hush(&mut self) {"),
        Some(("fn", "hush"))
    );
    assert_eq!(definition("const fn way() {}"), Some(("fn", "way")));
    assert_eq!(definition("let hand = 1;"), None);
}
