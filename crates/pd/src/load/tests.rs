//! Tests of loading, with files in a folder of their own.

use super::*;
use crate::class::PortKind;
use std::path::Path;

fn folder(name: &str, files: &[(&str, &str)]) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("divisi-pd-{name}-{}", std::process::id()));
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    }
    folder
}

fn load(folder: &Path) -> LoadedPatch {
    let search = SearchPath::only([]);
    let loaded = load_patch(&folder.join("main.pd"), &search).expect("the file is there");
    std::fs::remove_dir_all(folder).expect("the folder is ours");
    loaded
}

const HEAD: &str = "#N canvas 0 0 450 300 12;\n";

#[test]
fn an_abstraction_has_its_arguments_and_a_number_of_its_own() {
    let main = format!(
        "{HEAD}#X obj 0 0 tone 440 a;\n#X obj 0 0 tone 220;\n#X obj 0 0 dac~;\n#X connect 0 0 2 0;\n"
    );
    let tone = format!(
        "{HEAD}#X obj 0 0 osc~ \\$1;\n#X obj 9 9 outlet~;\n#X connect 0 0 1 0;\n#X obj 0 0 r \\$0-\\$2;\n"
    );
    let loaded = load(&folder("args", &[("main.pd", &main), ("tone.pd", &tone)]));
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let ObjectBody::Abstraction(first) = &loaded.root.objects[0].body else {
        panic!("{:?}", loaded.root.objects[0]);
    };
    assert_eq!(first.number, 1004);
    assert_eq!(first.objects[0].arguments[0].as_float(), Some(440.0));
    assert_eq!(first.objects[2].arguments[0].to_string(), "1004-a");
    assert_eq!(*loaded.root.objects[0].ports.outlets, [PortKind::Signal]);
    assert_eq!(loaded.root.connections.len(), 1);
    assert_eq!(loaded.files.len(), 2);
}

#[test]
fn recursion_is_refused_with_its_chain() {
    let main = format!("{HEAD}#X obj 0 0 one;\n");
    let one = format!("{HEAD}#X obj 0 0 two;\n");
    let two = format!("{HEAD}#X obj 0 0 one;\n");
    let loaded = load(&folder(
        "chain",
        &[("main.pd", &main), ("one.pd", &one), ("two.pd", &two)],
    ));
    assert_eq!(loaded.diagnostics.len(), 1, "{:?}", loaded.diagnostics);
    assert!(loaded.diagnostics[0].is_error());
    assert_eq!(loaded.diagnostics[0].help, "one → two → one");
    assert_eq!(loaded.diagnostics[0].span.file, 2);
}

#[test]
fn what_is_missing_becomes_a_stand_in_and_is_told_once() {
    let main = format!(
        "{HEAD}#X obj 0 0 osk~ 440;\n#X obj 0 0 dac~;\n#X connect 0 0 1 0;\n#X connect 1 0 0 0;\n#X connect 0 0 7 0;\n"
    );
    let loaded = load(&folder("missing", &[("main.pd", &main)]));
    let messages: Vec<&str> = loaded.diagnostics.iter().map(|d| &*d.message).collect();
    assert_eq!(
        messages,
        [
            "there is no box 7: this canvas has 2",
            "there is no object `osk~`"
        ]
    );
    assert!(loaded.diagnostics[1].help.contains("`osc~`"));
    assert!(loaded.root.connections.is_empty());
    assert!(matches!(
        loaded.root.objects[0].body,
        ObjectBody::StandIn(_)
    ));
}

#[test]
fn declared_folders_are_searched() {
    let main = format!("{HEAD}#X declare -path lib;\n#X obj 0 0 x;\n#X obj 0 0 sub/y;\n");
    let x = format!("{HEAD}#X obj 0 0 z;\n#X obj 0 0 inlet;\n");
    let files = [
        ("main.pd", &*main),
        ("lib/x.pd", &x),
        ("lib/z.pd", HEAD),
        ("sub/y.pd", HEAD),
    ];
    let loaded = load(&folder("declared", &files));
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    assert_eq!(loaded.files.len(), 4);
}

#[test]
fn ports_of_a_canvas_go_from_left_to_right() {
    let main = format!(
        "{HEAD}#N canvas 0 0 9 9 s 0;\n#X obj 90 0 inlet;\n#X obj 10 0 inlet~;\n#X obj 5 9 outlet;\n#X restore 0 0 pd s;\n"
    );
    let loaded = load(&folder("ports", &[("main.pd", &main)]));
    let ports = &loaded.root.objects[0].ports;
    assert_eq!(*ports.inlets, [PortKind::Signal, PortKind::Message]);
    assert_eq!(*ports.outlets, [PortKind::Message]);
}

#[test]
fn clones_get_their_numbers() {
    let main = format!("{HEAD}#X obj 0 0 clone -s 1 v 3 7;\n");
    let v = format!("{HEAD}#X obj 0 0 + \\$1;\n#X obj 0 0 + \\$2;\n");
    let loaded = load(&folder("clones", &[("main.pd", &main), ("v.pd", &v)]));
    let ObjectBody::Clones { first, instances } = &loaded.root.objects[0].body else {
        panic!("{:?}", loaded.root.objects[0]);
    };
    assert_eq!((*first, instances.len()), (1, 3));
    assert_eq!(instances[2].objects[0].arguments[0].as_float(), Some(3.0));
    assert_eq!(instances[2].objects[1].arguments[0].as_float(), Some(7.0));
}

#[test]
fn a_patch_that_multiplies_is_bounded() {
    let mut files = Vec::new();
    for level in 0..12 {
        let inside = format!("#X obj 0 0 l{};\n", level + 1).repeat(8);
        files.push((format!("l{level}.pd"), format!("{HEAD}{inside}")));
    }
    files.push(("l12.pd".into(), HEAD.into()));
    files.push(("main.pd".into(), format!("{HEAD}#X obj 0 0 l0;\n")));
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (&**a, &**b)).collect();
    let loaded = load(&folder("bomb", &files));
    assert!(loaded.diagnostics[0].message.contains("too large"));
}

#[test]
fn abstractions_in_deep_subpatches_end_at_a_depth() {
    let open = "#N canvas 0 0 9 9 s 0;\n".repeat(200);
    let close = "#X restore 0 0 pd s;\n".repeat(200);
    let mut files = Vec::new();
    for level in 0..60 {
        let text = format!("{HEAD}{open}#X obj 0 0 d{};\n{close}", level + 1);
        files.push((format!("d{level}.pd"), text));
    }
    files.push(("d60.pd".into(), HEAD.into()));
    files.push(("main.pd".into(), format!("{HEAD}#X obj 0 0 d0;\n")));
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (&**a, &**b)).collect();
    let loaded = load(&folder("deep", &files));
    assert!(loaded.diagnostics[0].message.contains("nested deeper"));
    let (mut player, _) = crate::PatchPlayer::new(&loaded, 44_100.0, 0, 2);
    player.play(&[]);
}

#[test]
fn a_table_is_read_at_no_number() {
    let main = format!(
        "{HEAD}#X obj 0 0 table t 8;\n#X obj 0 0 loadbang;\n#X msg 0 0 1e38;\n#X obj 0 0 * 1e38;\n#X obj 0 0 * 0;\n\
         #X obj 0 0 tabread4 t;\n#X obj 0 0 tabread t;\n#X obj 0 0 tabwrite t;\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n\
         #X connect 3 0 4 0;\n#X connect 4 0 5 0;\n#X connect 4 0 6 0;\n#X connect 4 0 7 1;\n#X connect 4 0 7 0;\n"
    );
    let loaded = load(&folder("nan", &[("main.pd", &main)]));
    let (mut player, not_yet) = crate::PatchPlayer::new(&loaded, 44_100.0, 0, 2);
    assert!(not_yet.is_empty());
    player.play(&[]);
}

#[test]
fn a_loop_of_signals_is_reported_with_its_boxes() {
    let main = format!(
        "{HEAD}#X obj 0 0 osc~ 440;\n#X obj 0 0 +~;\n#X obj 0 0 *~ 0.5;\n#X obj 0 0 lop~ 100;\n#X obj 0 0 dac~;\n\
         #X obj 0 0 osc~ 1;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n#X connect 3 0 1 1;\n\
         #X connect 2 0 4 0;\n#X connect 5 0 4 1;\n"
    );
    let loaded = load(&folder("loop", &[("main.pd", &main)]));
    let [found] = &loaded.diagnostics[..] else {
        panic!("{:?}", loaded.diagnostics);
    };
    assert_eq!(found.message, "DSP loop detected: +~, *~, lop~, +~");
    assert!(found.help.starts_with("4 boxes"));
    assert_eq!(found.span.line, 3);
    let broken = main.replace("#X connect 3 0 1 1;\n", "");
    let loaded = load(&folder("loop", &[("main.pd", &broken)]));
    assert!(loaded.diagnostics.is_empty());
}

#[test]
fn a_connection_that_is_there_already_is_left_out() {
    let main = format!(
        "{HEAD}#X obj 0 0 osc~ 440;\n#X obj 0 0 dac~;\n#X connect 0 0 1 0;\n#X connect 0 0 1 1;\n#X connect 0 0 1 0;\n"
    );
    let loaded = load(&folder("twice", &[("main.pd", &main)]));
    assert_eq!(loaded.root.connections.len(), 2);
    let [found] = &loaded.diagnostics[..] else {
        panic!("{:?}", loaded.diagnostics);
    };
    assert_eq!(
        found.message,
        "outlet 0 of `osc~` is connected to inlet 0 of `dac~` already"
    );
    assert_eq!(found.span.line, 6);
}

#[test]
fn a_box_with_words_of_another_kind_passes_nothing() {
    let main =
        format!("{HEAD}#X obj 0 0 osc~ freq;\n#X obj 0 0 send \\$1;\n#X obj 0 0 text foo;\n");
    let loaded = load(&folder("kinds", &[("main.pd", &main)]));
    let messages = Vec::from_iter(loaded.diagnostics.iter().map(|it| it.message.as_str()));
    assert_eq!(
        messages,
        [
            "`osc~` takes a number as argument 1, not `freq`",
            "`text` has no function `foo`"
        ]
    );
    assert!(matches!(
        loaded.root.objects[0].body,
        ObjectBody::StandIn(_)
    ));
}
