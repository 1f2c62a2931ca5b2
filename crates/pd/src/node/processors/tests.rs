//! Tests of messages that come back from a change of their patch.

use super::*;
use crate::child::allow_children;
use crate::load::{SearchPath, load_patch};
use crate::signal::PatchSteps;
use std::fs;

#[test]
fn late_messages_to_a_sub_patch_belong_to_the_block_in_which_they_run() {
    let folder = std::env::temp_dir().join(format!("divisi-late-child-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder can be made");
    let path = folder.join("p.pd");
    let patch = "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X obj 0 0 delay 1;\n#X msg 0 0 pd~ start child.pd;\n#X obj 0 0 pd~;\n\
                 #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n";
    fs::write(&path, patch).expect("writable");
    fs::write(folder.join("child.pd"), "#N canvas 0 0 9 9 12;\n").expect("writable");
    let loaded = load_patch(&path, &SearchPath::only([])).expect("it is there");
    let mut step = PatchSteps::new(&loaded, 44_100.0, (0, 1)).0.messages;
    allow_children([&loaded], step.machine());
    step.load();
    let mut messages = Messages::new(step, Vec::new(), Vec::new());
    let mut step = messages.step.take().expect("no other thread has it");
    step.machine()
        .globals()
        .children
        .borders(&mut messages.borders);
    messages.begin_children(1);
    messages.missed = 1;
    messages.late = Some(Edited {
        messages: step,
        row: None,
        whole: None,
    });
    let border = messages.borders[0].clone();
    {
        // The sub-patch computes its part of the second block, on another worker: it reads what was said in the first one.
        let _read = border.claim_mail(1);
        messages.take_edited(2);
    }
    assert!(messages.step.is_some());
    assert_eq!(border.changes(), 1, "it was started");
    fs::remove_dir_all(&folder).expect("ours");
}
