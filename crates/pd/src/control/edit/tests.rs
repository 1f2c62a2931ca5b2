//! Tests of messages that change canvases.

use crate::control::Machine;
use crate::load::{MAX_PATCH_BOXES, SearchPath, load_patch};

/// Lines that a patch prints. Live, its changes are made as by another thread.
fn printed(name: &str, lines: &str, is_live: bool) -> Vec<String> {
    let name = format!("divisi-edit-{name}-{}.pd", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, format!("#N canvas 0 0 9 9 12;\n{lines}")).expect("writable");
    let loaded = load_patch(&path, &SearchPath::only([])).expect("it is there");
    let (mut machine, _) = Machine::build(&loaded, 44_100.0);
    if is_live {
        machine.globals().jobs.is_deferred = true;
        machine.reserve_edits();
    }
    machine.load();
    for block in 0..10 {
        while machine.waits_for_edits() {
            machine.make_edits();
            machine.go_on_after_edits(block);
        }
        machine.tick();
    }
    std::fs::remove_file(&path).expect("it is ours");
    let mut lines = machine.take_console();
    lines.retain(|line| !line.starts_with("canvas: "));
    lines
}

/// Lines that a patch prints, which are the same when it plays live.
pub(in crate::control) fn printed_both(name: &str, lines: &str) -> Vec<String> {
    let found = printed(name, lines, false);
    assert_eq!(printed(name, lines, true), found);
    found
}

/// The machine of a patch that plays live.
pub(in crate::control) fn live(name: &str, patch: &str) -> Machine {
    let file = format!("divisi-edit-{name}-{}.pd", std::process::id());
    let path = std::env::temp_dir().join(file);
    std::fs::write(&path, patch).expect("writable");
    let loaded = load_patch(&path, &SearchPath::only([])).expect("it is there");
    std::fs::remove_file(&path).expect("it is ours");
    let (mut machine, _) = Machine::build(&loaded, 44_100.0);
    machine.load();
    machine.globals().jobs.is_deferred = true;
    machine.reserve_edits();
    machine
}

#[test]
fn messages_behind_a_change_wait_for_it_and_others_do_not() {
    let patch = "#N canvas 0 0 9 9 12;\n#X obj 0 0 r go;\n#X msg 0 0 \\; pd-s obj 0 0 r x \\, obj 0 0 abs \\, obj 0 0 print made \\, connect 0 0 1 0 \\, connect 1 0 2 0 \\, vis 1 \\; x 7;\n\
                 #X connect 0 0 1 0;\n#N canvas 0 0 9 9 s 0;\n#X restore 0 0 pd s;\n#X obj 0 0 r other;\n#X obj 0 0 print other;\n#X connect 3 0 4 0;\n";
    let mut machine = live("wait", patch);
    machine.send_text(0, "go");
    machine.send_text(0, "other 1");
    assert_eq!(machine.take_console(), ["other: 1"]);
    assert!(machine.waits_for_edits());
    machine.make_edits();
    assert!(machine.take_console().is_empty());
    machine.go_on_after_edits(5);
    let said = ["canvas: 5 changes took effect in block 5", "made: 7"];
    assert_eq!(machine.take_console(), said);
    // As many as wait at once find room; a further one is refused, and nothing is lost for later.
    assert!((0..17).all(|_| machine.send_text(0, "go")));
    let said = machine.take_console();
    let error = "error: canvas: too many changes at once";
    assert_eq!(said, [error, error, error, error, error, "made: 7"]);
    machine.make_edits();
    machine.go_on_after_edits(6);
    machine.take_console();
    machine.send_text(0, "go");
    assert!(machine.waits_for_edits());
}

#[test]
fn arrays_and_sub_patches_that_clear_removes_leave_nothing_behind() {
    let patch = "#N canvas 0 0 9 9 12;\n#X obj 0 0 r go;\n#X msg 0 0 \\; pd-s obj 0 0 pd~ \\, obj 0 0 table big 1000000 \\, clear;\n\
                 #X connect 0 0 1 0;\n#N canvas 0 0 9 9 s 0;\n#X obj 0 0 table first 1000;\n#X restore 0 0 pd s;\n#X obj 0 0 s~ x;\n";
    let mut machine = live("leak", patch);
    let all = crate::control::MAX_SAMPLES;
    for block in 0..80 {
        machine.send_text(0, "go");
        machine.make_edits();
        machine.go_on_after_edits(block);
        let budget = machine.globals().arrays.budget.clone();
        assert!(budget.claim(all), "block {block}: samples are lost");
        budget.give_back(all);
        let mut borders = Vec::new();
        machine.globals().children.borders(&mut borders);
        assert!(borders.is_empty(), "block {block}: {}", borders.len());
    }
    assert!(machine.globals().arrays.names().next().is_none());
}

#[test]
fn a_canvas_that_removes_itself_and_absurd_numbers_do_no_harm() {
    let patch = "#N canvas 0 0 9 9 s 0;\n#X obj 0 0 r go;\n#X obj 0 0 t b b b;\n#X obj 0 0 print still;\n#X msg 0 0 \\; pd-s clear;\n\
                 #X obj 0 0 metro 1;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 1 1 3 0;\n#X connect 1 2 4 0;\n#X restore 0 0 pd s;\n\
                 #X obj 0 0 loadbang;\n#X msg 0 0 \\; go 1 \\; pd-s connect -1 1e30 7 x \\, connect \\, disconnect 0 0 0 0 \\, obj \\, obj 1 \\, obj a b c \\, \
                 loadbang \\, msg 0 0 \\, text \\, array \\, array a -5 \\, floatatom 1 1 \\, obj 1 1 clone s 3 \\, obj 1 1 pd s \\, rename \\; go 2;\n#X connect 1 0 2 0;\n";
    let found = printed_both("absurd", patch);
    assert!(
        !found.iter().any(|line| line.starts_with("still")),
        "{found:?}"
    );
    assert!(found.len() >= 5, "{found:?}");
}

#[test]
fn no_more_boxes_are_made_than_a_patch_may_have() {
    let patch = "#N canvas 0 0 9 9 12;\n#X obj 0 0 r go;\n#X msg 0 0 \\; pd-s obj 0 0 r x;\n#X connect 0 0 1 0;\n\
                 #N canvas 0 0 9 9 s 0;\n#X restore 0 0 pd s;\n";
    let mut machine = live("limit", patch);
    machine.canvases.boxes = MAX_PATCH_BOXES - 1;
    for block in 1..=2 {
        machine.send_text(0, "go");
        machine.make_edits();
        machine.go_on_after_edits(block);
    }
    let mut said = machine.take_console();
    said.retain(|line| !line.starts_with("canvas: "));
    assert_eq!(said, ["error: pd-s: obj: at most 2097152 boxes are made"]);
    assert_eq!(machine.canvases.counts().0, MAX_PATCH_BOXES);
}

#[test]
fn a_patch_that_makes_itself_comes_to_an_end() {
    let own = format!("divisi-edit-own-{}", std::process::id());
    let patch = format!(
        "#X obj 0 0 loadbang;\n#X msg 0 0 \\; pd-{own}.pd obj 0 0 {own} \\, obj 0 0 pd deep \\; made;\n#X obj 0 0 r made;\n\
         #X obj 0 0 print made;\n#X connect 0 0 1 0;\n#X connect 2 0 3 0;\n"
    );
    // The new one receives under the same names, and nothing is sent to it by the message that makes it.
    assert_eq!(printed_both("own", &patch), ["made: bang", "made: bang"]);
}

#[test]
fn canvases_in_canvases_are_bounded() {
    let patch = "#X obj 0 0 loadbang;\n#X obj 0 0 2000;\n#X obj 0 0 until;\n#X msg 0 0 \\; pd-s obj 0 0 pd t \\, rename u \\; pd-t rename s;\n\
                 #X obj 0 0 loadbang;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n\
                 #N canvas 0 0 9 9 s 0;\n#X restore 0 0 pd s;\n#X msg 0 0 \\; pd-bounded loadbang;\n";
    let found = printed_both("deep", patch);
    assert!(found.iter().any(|line| line.contains("at most 256 deep")));
}
