//! Valid and invalid `.ag` texts.

use super::*;
use crate::sample::catalogue;
use graph::{ParamValue, Severity};

fn read(text: impl AsRef<[u8]>) -> ParsedSession {
    super::read(text, &catalogue())
}

/// All diagnostics as "line:column: message".
fn messages(parsed: &ParsedSession) -> Vec<String> {
    let all = parsed.diagnostics.iter();
    all.map(|d| format!("{}:{}: {}", d.span.line, d.span.column, d.message))
        .collect()
}

const BEEP: &str = "o = { kind: \"osc\", freq: 440, volume: 0.5, in: 0, out: 1, };
m = { kind: \"mix\", in: 2, out: 1, wcet: 0.282, };
s = { kind: \"sink\", in: 1, out: 0, };
o.1 -> m.1;
o.1 -> m.2; m.1 -> s.1;
deadline = 50.0;
";

#[test]
fn a_clean_text_is_read_whole() {
    let parsed = read(BEEP);
    assert_eq!(messages(&parsed), [] as [&str; 0]);
    let session = parsed.session;
    assert_eq!(session.graph.len(), 3);
    assert_eq!(session.graph.edges().len(), 3);
    assert_eq!(session.settings.deadline, Some(units::Nanos(50_000)));
    let (_, mix) = session.graph.nodes().nth(1).unwrap();
    assert_eq!(mix.cost, Some(units::Nanos(282)));
    assert_eq!(mix.inputs[1].name, "in2");
    assert_eq!(mix.span, graph::SourceSpan::new(2, 1, 1));
    assert_eq!(
        session.graph.edges()[1].span,
        graph::SourceSpan::new(5, 1, 10)
    );
}

#[test]
fn a_bad_line_costs_only_itself() {
    let text = "o = { kind: \"osc\", freq: , in: 0, out: 1, };
x = { kind: \"mix\", in: 1, out: 1,
s = { kind: \"sink\", in: 1, out: 0, };
?? what is this;
o.1 -> x.1
x.1 -> s.1;
o.1 -> nowhere.1 -> s.1;
o.1 -> x.7;
s = { kind: \"sink\", in: 1, };
y = { kind: \"osc\", freq: \"never closed, in: 0, };
z = { kind: \"gain\", in: 1, out: 1, };
";
    let parsed = read(text);
    assert_eq!(
        messages(&parsed),
        [
            "1:26: expected a number or a string, found `,`",
            "2:1: the `{` of `x` is never closed",
            "4:1: unexpected `?`",
            "4:2: unexpected `?`",
            "5:11: a `;` is missing here",
            "7:8: there is no node `nowhere`",
            "8:8: `x` has one input; there is no input 7",
            "9:1: there are two nodes `s`",
            "10:1: the `{` of `y` is never closed",
            "10:26: this string is never closed",
        ]
    );
    assert_eq!(parsed.session.graph.len(), 5);
    assert_eq!(parsed.session.graph.edges().len(), 2);
}

#[test]
fn an_unknown_kind_is_replaced_by_a_stand_in() {
    let text = "a = { kind: \"guitar\", in: 0, out: 1, };
b = { kind: \"zita_reverb\", in: 1, out: 1, mode: \"x\", };
c = { kind: \"minx\", in: 4, out: 2, };
d = { in: 1, };
a.1 -> b.1 -> c.1; c.2 -> d.1;";
    let parsed = read(text);
    let found: Vec<_> = parsed.diagnostics.iter().map(|d| d.severity).collect();
    assert_eq!(found, [Severity::Warning; 4]);
    assert_eq!(parsed.diagnostics[2].help, "did you mean `mix`?");
    let nodes: Vec<_> = parsed.session.graph.nodes().map(|(_, n)| n).collect();
    let kinds: Vec<&str> = nodes.iter().map(|n| n.effective_kind()).collect();
    assert_eq!(kinds, ["osc", "mod", "mix", "sink"]);
    assert_eq!(nodes[1].kind, "zita_reverb");
    assert_eq!(nodes[1].number("freq"), Some(110.0));
    assert_eq!(nodes[1].text("mode"), Some("x"));
    assert_eq!(nodes[2].inputs.len(), 4);
    assert_eq!(parsed.session.graph.edges().len(), 3);
}

#[test]
fn counts_are_checked_against_the_kind() {
    let text = "o = { kind: \"osc\", freq: \"440\", in: 3, out: 1, };
m = { kind: \"mix\", in: 1000000000, out: 1e30, };
w = { kind: \"mix\", in: 1.5, out: -1, };
o.1 -> m.5000;";
    let parsed = read(text);
    let errors: Vec<_> = messages(&parsed);
    assert_eq!(errors.len(), 8, "{errors:#?}");
    assert_eq!(errors[0], "1:37: `osc` has 0 inputs, not 3");
    assert!(errors[7].contains("`m` has 4096 inputs; there is no input 5000"));
    let (_, o) = parsed.session.graph.nodes().next().unwrap();
    assert_eq!(o.param("freq"), Some(&ParamValue::Number(440.0)));
}

#[test]
fn empty_truncated_and_invalid_text_is_reported_with_its_place() {
    assert_eq!(messages(&read("")), ["1:1: the file is empty"]);
    assert_eq!(messages(&read("deadline = 1;")), ["1:1: there is no node"]);
    let cut = &BEEP[..BEEP.len() - 7];
    assert_eq!(
        messages(&read(cut)),
        ["6:11: the file ends, but expected `{` or a number"]
    );
    let parsed = read(b"o = { kind: \"osc\", freq: 440, note: \"\xff\xff\", };\n\xfe;");
    assert_eq!(
        messages(&parsed),
        ["1:38: this is not UTF-8", "2:1: this is not UTF-8"]
    );
    assert_eq!(parsed.session.graph.len(), 1);
}

#[test]
fn comments_are_read_and_a_byte_order_mark_is_skipped() {
    let text = "\u{feff}// a tone\no = { /* { */ kind: \"osc\", freq: 1, };/* open";
    let parsed = read(text);
    assert_eq!(messages(&parsed), ["2:39: this comment never ends"]);
}

#[test]
fn names_are_kept_and_arrows_need_no_space() {
    let text = "a-b_c = { kind: \"osc\", freq: 1, };z = {kind:\"sink\",};a-b_c.1->z.1;";
    let parsed = read(text);
    assert_eq!(messages(&parsed), [] as [&str; 0]);
    assert_eq!(parsed.session.graph.edges().len(), 1);
}

#[test]
fn a_negative_number_is_written_in_quotes_and_read_again() {
    let text = "g = { kind: \"gain\", gain_db: \"-6.5\", in: 1, out: 1, };\n";
    let parsed = read(text);
    assert_eq!(messages(&parsed), [] as [&str; 0]);
    assert_eq!(write(&parsed.session, &catalogue()).unwrap(), text);
    let bare = read("g = { kind: \"gain\", gain_db: -6.5, in: 1, out: 1, };");
    assert_eq!(bare.diagnostics.len(), 1);
    assert_eq!(bare.session, parsed.session);
}

#[test]
fn unsupported_parts_are_named() {
    let mut session = read(BEEP).session;
    session.settings.block = Some(units::Frames(64));
    let id = session.graph.find("m").unwrap();
    let node = session.graph.node_mut(id).unwrap();
    node.every = 2;
    node.enabled = false;
    node.set("channels", ParamValue::Number(2.0));
    node.set("an odd key", ParamValue::Text("x".into()));
    node.set("mine", ParamValue::Number(-1.0));
    session.graph.add(graph::Node::new("ö", "osc")).unwrap();
    let messages: Vec<String> = write(&session, &catalogue())
        .unwrap_err()
        .iter()
        .map(Unsupported::to_string)
        .collect();
    assert_eq!(
        messages,
        [
            ".ag has no syntax for the setting `block`",
            ".ag has no syntax for `every` of the node `m`",
            ".ag has no syntax for `enabled` of the node `m`",
            ".ag has no syntax for `channels` of the node `m`",
            ".ag has no syntax for `an odd key` of the node `m`",
            ".ag has no syntax for `mine` of the node `m`",
            ".ag has no syntax for a node called `ö`",
        ]
    );
}

#[test]
fn a_huge_count_is_reported_as_it_is_written() {
    let parsed = read("m = { kind: \"mix\", in: 5000000000, out: 1, };\n");
    let message = "1:24: `in` is 5000000000; `mix` takes a whole number from 0 to 4096";
    assert_eq!(messages(&parsed), [message]);
}
