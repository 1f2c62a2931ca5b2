//! Parameters that nodes of a cell have beside those of their kinds, such as what a patch receives by name: the process that has opened
//! the patch writes them into the last page of its memory, the supervisor reads them.
//!
//! | bytes | hold |
//! |---|---|
//! | 0 to 7 | length of the text |
//! | then | JSON: for each node its id, and for each parameter its name and the box that shows it |
//!
//! It is written once, before the process gives up its files. What is no such text counts as no parameters.

use crate::taps::TAP_BYTES;
use graph::NodeId;
use processor::{BoxFace, OwnParam, ShownBox};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Bytes of the page.
pub(crate) const OWN_BYTES: u64 = 65_536;
/// Numbers of own parameters of one node that events can name.
pub(crate) const OWN_SLOTS: u16 = 256;

/// Parameters by node.
pub(crate) type OwnParams = HashMap<NodeId, Vec<OwnParam>>;

/// First byte of the page.
pub(crate) fn begin(file: &File) -> io::Result<u64> {
    let len = file.metadata()?.len();
    len.checked_sub(OWN_BYTES)
        .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// Returns true if bytes up to `end` leave the page as it is, and the samples of taps before it.
pub(crate) fn ends_before(file: &File, end: u64) -> bool {
    begin(file).is_ok_and(|begin| end.saturating_add(TAP_BYTES) <= begin)
}

/// Leaves the parameters of all nodes. Gives the names of nodes whose parameters find no room.
///
/// Real-time: setup.
pub(crate) fn leave_own<'n>(
    file: &File,
    nodes: impl Iterator<Item = (NodeId, &'n str, &'n [OwnParam])>,
) -> io::Result<Vec<String>> {
    let (mut text, mut left_out) = (String::from("["), Vec::new());
    for (id, name, own) in nodes.filter(|it| !it.2.is_empty()) {
        let all: Vec<Value> = own.iter().map(param).collect();
        let one = json!([id.0, all]).to_string();
        let is_long = text.len() + one.len() + 16 > OWN_BYTES as usize;
        if is_long || own.len() > usize::from(OWN_SLOTS) {
            left_out.push(name.to_owned());
            continue;
        }
        if text.len() > 1 {
            text.push(',');
        }
        text += &one;
    }
    text.push(']');
    let at = begin(file)?;
    file.write_all_at(text.as_bytes(), at + 8)?;
    file.write_all_at(&(text.len() as u64).to_le_bytes(), at)?;
    Ok(left_out)
}

/// The parameters that a process has left.
///
/// Real-time: setup.
pub(crate) fn own_left(file: &File) -> OwnParams {
    read(file).unwrap_or_default()
}

fn read(file: &File) -> Option<OwnParams> {
    let at = begin(file).ok()?;
    let mut len = [0; 8];
    file.read_exact_at(&mut len, at).ok()?;
    let len = Some(u64::from_le_bytes(len)).filter(|it| *it <= OWN_BYTES - 8)?;
    let mut text = vec![0; len as usize];
    file.read_exact_at(&mut text, at + 8).ok()?;
    let all: Value = serde_json::from_slice(&text).ok()?;
    let nodes = all.as_array()?.iter().filter_map(|node| {
        let id = NodeId(node[0].as_u64()?.try_into().ok()?);
        let own = node[1].as_array()?.iter().map(read_param);
        // One that is none would move the numbers of the others.
        let own: Vec<OwnParam> = own.collect::<Option<_>>()?;
        (own.len() <= usize::from(OWN_SLOTS)).then_some((id, own))
    });
    Some(nodes.collect())
}

fn param(own: &OwnParam) -> Value {
    let face = own.face.as_ref().map(|face| {
        json!({
            "class": face.class,
            "label": face.label,
            "initial": face.initial.filter(|it| it.is_finite()),
            "read_only": face.is_read_only,
            "range": face.shown.range().filter(|it| it.iter().all(|end| end.is_finite())),
            "logarithmic": face.shown.is_logarithmic(),
            "value": Some(face.shown.value()).filter(|it| it.is_finite()),
        })
    });
    json!({ "name": own.name, "box": face })
}

fn read_param(value: &Value) -> Option<OwnParam> {
    let text = |value: &Value| {
        let text = value.as_str()?;
        let is_plain = !text.chars().any(char::is_control);
        is_plain.then(|| text.to_owned())
    };
    let mut own = OwnParam::named(text(&value["name"])?);
    let face = &value["box"];
    if face.is_object() {
        let number = |value: &Value| Some(value.as_f64()? as f32).filter(|it| it.is_finite());
        let shown = ShownBox::default();
        if let (Some(low), Some(high)) = (number(&face["range"][0]), number(&face["range"][1])) {
            shown.set_range([low, high], face["logarithmic"] == true);
        }
        shown.set_value(number(&face["value"]).unwrap_or(0.0));
        own.face = Some(BoxFace {
            class: class(face["class"].as_str()?),
            label: text(&face["label"]).unwrap_or_default(),
            initial: number(&face["initial"]),
            is_read_only: face["read_only"] == true,
            shown: Arc::new(shown),
        });
    }
    Some(own)
}

/// The class of a box of this name.
fn class(name: &str) -> &'static str {
    const CLASSES: [&str; 11] = [
        "bng",
        "tgl",
        "nbx",
        "hsl",
        "vsl",
        "hradio",
        "vradio",
        "vu",
        "floatatom",
        "symbolatom",
        "listbox",
    ];
    CLASSES.into_iter().find(|it| *it == name).unwrap_or("box")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::CheckpointMemory;

    fn own() -> Vec<OwnParam> {
        let shown = ShownBox::default();
        shown.set_range([20.0, 2000.0], true);
        shown.set_value(440.0);
        let mut boxed = OwnParam::named("cutoff");
        boxed.face = Some(BoxFace {
            class: "hsl",
            label: "Cutoff".to_owned(),
            initial: Some(440.0),
            is_read_only: false,
            shown: Arc::new(shown),
        });
        vec![OwnParam::named("freq"), boxed]
    }

    #[test]
    fn what_a_patch_receives_is_left_for_the_supervisor() {
        let memory = CheckpointMemory::with(b"a session", 7).unwrap();
        assert!(own_left(memory.file()).is_empty(), "nothing yet");
        let (own, many) = (own(), vec![OwnParam::named("x"); 300]);
        let nodes = [
            (NodeId(3), "a", &own[..]),
            (NodeId(4), "b", &many[..]),
            (NodeId(5), "c", &[]),
        ];
        let left_out = leave_own(memory.file(), nodes.into_iter()).unwrap();
        assert_eq!(left_out, ["b"]);
        let found = own_left(memory.file());
        assert_eq!(found.len(), 1);
        let names: Vec<&str> = found[&NodeId(3)]
            .iter()
            .map(|it| it.name.as_str())
            .collect();
        assert_eq!(names, ["freq", "cutoff"]);
        let face = found[&NodeId(3)][1].face.as_ref().unwrap();
        assert_eq!((face.class, face.initial), ("hsl", Some(440.0)));
        assert_eq!(face.shown.range(), Some([20.0, 2000.0]));
        // The session stays below it.
        let long = vec![b'x'; 3 << 20];
        assert!(crate::handed::leave(memory.file(), &long, 1).is_err());
        assert_eq!(own_left(memory.file()).len(), 1);
    }

    #[test]
    fn nonsense_is_no_harm() {
        let memory = CheckpointMemory::with(b"a session", 7).unwrap();
        let own = own();
        let mut state = 1u32;
        for _ in 0..2000 {
            leave_own(memory.file(), [(NodeId(3), "a", &own[..])].into_iter()).unwrap();
            for _ in 0..3 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let at = begin(memory.file()).unwrap() + u64::from(state >> 8) % 200;
                memory
                    .file()
                    .write_all_at(&[(state >> 3) as u8], at)
                    .unwrap();
            }
            for own in own_left(memory.file()).into_values().flatten() {
                assert!(!own.name.chars().any(char::is_control));
                assert!(own.value().is_none_or(f32::is_finite));
            }
        }
    }
}
