//! Kinds that change, leave out or join notes and MIDI messages: no note is left hanging.

use divisi_check::conformance::node;
use divisi_check::processor_bench::{BlockSplit, ProcessorBench, TestInput};
use graph::ParamValue;
use processor::{Event, EventBody, EventTarget, Registry};
use units::SampleRate;

fn word(text: &str) -> ParamValue {
    ParamValue::Text(text.into())
}

/// What a node of `kind` makes of these events, one a frame.
fn transformed(
    kind: &str,
    params: &[(&str, ParamValue)],
    events: &[(EventTarget, EventBody)],
) -> Vec<EventBody> {
    let mut registry = Registry::default();
    midi::register(&mut registry);
    let rate = SampleRate::new(48_000).unwrap();
    let mut bench = ProcessorBench::new(&registry, &node(kind, params), rate);
    let frames = events.len();
    let events = events.iter().zip(0..).map(|((target, body), frame)| Event {
        frame,
        target: *target,
        body: *body,
    });
    let input = TestInput {
        frames,
        events: events.collect(),
        ..TestInput::default()
    };
    let output = bench.process(&input, BlockSplit::Even(3));
    output.sent.iter().map(|(_, event)| event.body).collect()
}

fn messages(inputs: &[[u8; 3]]) -> Vec<(EventTarget, EventBody)> {
    inputs.iter().map(|message| from(0, *message)).collect()
}

fn from(input: u16, message: [u8; 3]) -> (EventTarget, EventBody) {
    (EventTarget::Input(input), EventBody::Midi(message))
}

fn midi(messages: &[[u8; 3]]) -> Vec<EventBody> {
    messages
        .iter()
        .map(|message| EventBody::Midi(*message))
        .collect()
}

fn on(id: u32, pitch: f32) -> EventBody {
    let velocity = 0.5;
    EventBody::NoteOn {
        id,
        pitch,
        velocity,
    }
}

fn off(id: u32) -> EventBody {
    let velocity = 0.0;
    EventBody::NoteOff { id, velocity }
}

#[test]
fn a_transposed_note_ends_at_the_key_at_which_it_began() {
    let change = (EventTarget::Param(0), EventBody::Value(5.0));
    let mut events = messages(&[[0x90, 60, 9]]);
    events.push(change);
    events.extend(messages(&[
        [0xa0, 60, 3],
        [0x80, 60, 9],
        [0x90, 60, 9],
        [0x90, 60, 0],
    ]));
    let sent = transformed(
        "transpose",
        &[("semitones", ParamValue::Number(12.0))],
        &events,
    );
    let expected = [
        [0x90, 72, 9],
        [0xa0, 72, 3],
        [0x80, 72, 9],
        [0x90, 65, 9],
        [0x90, 65, 0],
    ];
    assert_eq!(sent, midi(&expected));
}

#[test]
fn a_key_that_leaves_the_range_of_midi_is_left_out_as_a_whole() {
    let events = messages(&[
        [0x90, 120, 9],
        [0x90, 110, 9],
        [0x80, 120, 9],
        [0x80, 110, 9],
    ]);
    let sent = transformed(
        "transpose",
        &[("semitones", ParamValue::Number(10.0))],
        &events,
    );
    assert_eq!(sent, midi(&[[0x90, 120, 9], [0x80, 120, 9]]));
}

#[test]
fn a_note_moves_by_any_fraction() {
    let input = EventTarget::Input(0);
    let events = [(input, on(7, 60.0)), (input, off(7))];
    let sent = transformed(
        "transpose",
        &[("semitones", ParamValue::Number(0.5))],
        &events,
    );
    assert_eq!(sent, [on(7, 60.5), off(7)]);
}

#[test]
fn a_filter_passes_notes_as_a_whole_and_controllers_as_asked() {
    let params = [
        ("low", word("C4")),
        ("high", word("B4")),
        ("channel", ParamValue::Number(1.0)),
    ];
    let events = messages(&[
        [0x90, 59, 9],
        [0x90, 60, 9],
        [0x91, 60, 9],
        [0xb0, 7, 9],
        [0xb1, 7, 9],
        [0x80, 59, 0],
        [0x81, 60, 0],
        [0x80, 60, 0],
    ]);
    let sent = transformed("midi_filter", &params, &events);
    assert_eq!(sent, midi(&[[0x90, 60, 9], [0xb0, 7, 9], [0x80, 60, 0]]));
    let notes = [("messages", word("notes"))];
    assert_eq!(transformed("midi_filter", &notes, &events).len(), 6);
    let controllers = [("messages", word("controllers"))];
    assert_eq!(transformed("midi_filter", &controllers, &events).len(), 2);
}

#[test]
fn a_filter_leaves_out_all_that_is_about_a_note_that_it_left_out() {
    let input = EventTarget::Input(0);
    let bend = EventBody::NoteBend {
        id: 1,
        semitones: 1.0,
    };
    let events = [
        on(1, 50.0),
        on(2, 70.0),
        bend,
        off(1),
        off(2),
        on(1, 71.0),
        bend,
        off(1),
    ];
    let events = events.map(|body| (input, body));
    let sent = transformed("midi_filter", &[("low", word("60"))], &events);
    assert_eq!(sent, [on(2, 70.0), off(2), on(1, 71.0), bend, off(1)]);
}

#[test]
fn a_channel_map_moves_and_leaves_out() {
    let events = messages(&[[0x90, 60, 9], [0x91, 61, 9], [0x92, 62, 9], [0xc9, 5, 0]]);
    let sent = transformed("channel_map", &[("map", word("1 10, 2 off"))], &events);
    assert_eq!(sent, midi(&[[0x99, 60, 9], [0x92, 62, 9], [0xc9, 5, 0]]));
}

#[test]
fn in_a_merge_no_input_ends_the_note_of_another() {
    let keys = [
        from(0, [0x90, 60, 9]),
        from(1, [0x90, 60, 8]),
        from(0, [0x80, 60, 0]),
        from(1, [0x80, 60, 1]),
    ];
    let sent = transformed("merge", &[], &keys);
    assert_eq!(sent, midi(&[[0x90, 60, 9], [0x90, 60, 8], [0x80, 60, 1]]));
    let (a, b) = (EventTarget::Input(0), EventTarget::Input(1));
    let notes = [(a, on(5, 60.0)), (b, on(5, 62.0)), (a, off(5)), (b, off(5))];
    let sent = transformed("merge", &[], &notes);
    let EventBody::NoteOn { id: other, .. } = sent[1] else {
        panic!("{sent:?}");
    };
    assert_ne!(other, 5);
    assert_eq!(sent, [on(5, 60.0), on(other, 62.0), off(5), off(other)]);
}

/// What an arpeggiator makes of held notes in `frames` frames, each with its frame.
fn arpeggio(
    params: &[(&str, ParamValue)],
    events: &[(u32, [u8; 3])],
    block: usize,
) -> Vec<(u32, EventBody)> {
    let mut registry = Registry::default();
    midi::register(&mut registry);
    let rate = SampleRate::new(48_000).unwrap();
    let mut bench = ProcessorBench::new(&registry, &node("arpeggiator", params), rate);
    let events = events.iter().map(|(frame, message)| Event {
        frame: *frame,
        target: EventTarget::Input(0),
        body: EventBody::Midi(*message),
    });
    let input = TestInput {
        frames: 30_000,
        events: events.collect(),
        ..TestInput::default()
    };
    let output = bench.process(&input, BlockSplit::Even(block));
    let sent = output.sent.iter();
    sent.map(|(_, event)| (event.frame, event.body)).collect()
}

#[test]
fn an_arpeggiator_plays_held_keys_on_the_steps_of_the_beat() {
    let keys = [
        (0, [0x92, 64, 10]),
        (0, [0x92, 60, 20]),
        (7000, [0x92, 67, 30]),
        (13_000, [0x82, 64, 0]),
        (13_000, [0x82, 60, 0]),
        (13_000, [0x82, 67, 0]),
    ];
    // At 120 beats a minute a sixteenth has 6000 frames, and half of it sounds.
    let expected = [
        (0, [0x92, 60, 20]),
        (3000, [0x82, 60, 64]),
        (6000, [0x92, 64, 10]),
        (9000, [0x82, 64, 64]),
        (12_000, [0x92, 67, 30]),
        (15_000, [0x82, 67, 64]),
    ]
    .map(|(frame, message)| (frame, EventBody::Midi(message)));
    for block in [1, 100, 4096] {
        assert_eq!(arpeggio(&[], &keys, block), expected, "blocks of {block}");
    }
}

#[test]
fn the_orders_of_an_arpeggiator_are_what_they_say() {
    let keys = [
        (0, [0x90, 64, 10]),
        (0, [0x90, 60, 10]),
        (0, [0x90, 67, 10]),
    ];
    let pitches = |order: &str, octaves: f64| -> Vec<u8> {
        let params = [
            ("order", word(order)),
            ("octaves", ParamValue::Number(octaves)),
            ("rate", ParamValue::Number(8.0)),
        ];
        let sent = arpeggio(&params, &keys, 512);
        let begun = sent.iter().filter_map(|(_, body)| match body {
            EventBody::Midi([0x90, key, _]) => Some(*key),
            _ => None,
        });
        begun.take(7).collect()
    };
    assert_eq!(pitches("up", 1.0), [60, 64, 67, 60, 64, 67, 60]);
    assert_eq!(pitches("up", 2.0), [60, 64, 67, 72, 76, 79, 60]);
    assert_eq!(pitches("down", 1.0), [67, 64, 60, 67, 64, 60, 67]);
    assert_eq!(pitches("updown", 1.0), [60, 64, 67, 64, 60, 64, 67]);
    assert_eq!(pitches("played", 1.0), [64, 60, 67, 64, 60, 67, 64]);
    assert_eq!(pitches("random", 1.0), pitches("random", 1.0));
}
