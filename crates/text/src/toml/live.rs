//! The sections of a session about live ports: `[connections]` and `[[controller]]`.

use crate::diagnostics::Diagnostics;
use crate::session::{Section, Session};
use ::toml::de::{DeTable, DeValue};
use ::toml::{Table, Value};
use graph::Diagnostic;

/// Section of connections.
const CONNECTIONS: &str = "connections";
/// Section of controllers.
const CONTROLLER: &str = "controller";

/// Live ports of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveSections {
    /// Each of its ports with the ports of other programs to which it is connected.
    pub connections: Vec<(String, Vec<String>)>,
    /// MIDI controllers that set parameters.
    pub controllers: Vec<ControllerEntry>,
}

/// One `[[controller]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerEntry {
    /// Live MIDI port; empty for any.
    pub port: String,
    /// MIDI channel from 1; 0 for any.
    pub channel: u8,
    /// Number of the controller; `None` for the pitch bend wheel.
    pub cc: Option<u8>,
    /// True for a controller of 14 bits, whose low bits are those of the controller 32 above it.
    pub is_14_bit: bool,
    /// `node.param`.
    pub target: String,
    /// Values at the controller's lowest and highest position.
    pub range: (f64, f64),
    /// True to go from one to the other in equal ratios.
    pub is_exponential: bool,
}

/// Reads both sections of `session`, with their mistakes. `source` is the text of the session, in which those of controllers
/// have their places.
pub fn read_live(session: &Session, source: &str) -> (LiveSections, Vec<Diagnostic>) {
    let (mut live, mut mistakes) = (LiveSections::default(), Vec::new());
    for section in &session.sections {
        let read = match section.name.as_str() {
            CONNECTIONS => read_connections(section).map(|all| live.connections = all),
            CONTROLLER => read_controllers(section).map(|(all, wrong)| {
                live.controllers = all;
                mistakes.extend(placed(wrong, source, section));
            }),
            _ => continue,
        };
        if let Err(message) = read {
            mistakes.push(Diagnostic::error(section.span, message));
        }
    }
    (live, mistakes)
}

/// Puts `connections` into `session`, in place of those that it had.
pub fn set_connections(session: &mut Session, connections: &[(String, Vec<String>)]) {
    let mut text = format!("[{CONNECTIONS}]\n");
    for (port, others) in connections {
        let others: Vec<Value> = others.iter().cloned().map(Value::String).collect();
        let port = Value::String(port.clone());
        text += &format!("{port} = {}\n", Value::Array(others));
    }
    let sections = &mut session.sections;
    let found = sections.iter().position(|it| it.name == CONNECTIONS);
    match found {
        Some(found) if connections.is_empty() => {
            sections.remove(found);
        }
        Some(found) => sections[found].text = text,
        None if connections.is_empty() => {}
        None => sections.push(Section {
            name: CONNECTIONS.to_owned(),
            span: graph::SourceSpan::default(),
            text,
            elsewhere: Vec::new(),
        }),
    }
}

/// The section of controllers, as it is written.
pub fn controllers_section(session: &Session) -> Option<&Section> {
    session.sections.iter().find(|it| it.name == CONTROLLER)
}

/// Puts a section of controllers into `session`, in place of its own; `None` takes that out.
pub fn set_controllers_section(session: &mut Session, section: Option<&Section>) {
    let sections = &mut session.sections;
    let found = sections.iter().position(|it| it.name == CONTROLLER);
    match (found, section) {
        (Some(found), Some(section)) => sections[found] = section.clone(),
        (Some(found), None) => drop(sections.remove(found)),
        (None, section) => sections.extend(section.cloned()),
    }
}

/// Adds a controller to `session`.
pub fn add_controller(session: &mut Session, entry: &ControllerEntry) {
    let text = controller_text(entry);
    let sections = &mut session.sections;
    match sections.iter_mut().find(|it| it.name == CONTROLLER) {
        Some(section) => section.text += &text,
        None => sections.push(Section {
            name: CONTROLLER.to_owned(),
            span: graph::SourceSpan::default(),
            text: text.trim_start().to_owned(),
            elsewhere: Vec::new(),
        }),
    }
}

/// The text of a `[[controller]]`, for the end of a session.
pub fn controller_text(entry: &ControllerEntry) -> String {
    let quoted = |text: &str| Value::String(text.to_owned()).to_string();
    let source = match (entry.cc, entry.is_14_bit) {
        (None, _) => "bend = true".to_owned(),
        (Some(cc), false) => format!("cc = {cc}"),
        (Some(cc), true) => format!("cc = {cc}\nbits = 14"),
    };
    let (low, high) = entry.range;
    let curve = match entry.is_exponential {
        true => "exponential",
        false => "linear",
    };
    format!(
        "\n[[{CONTROLLER}]]\nport = {}\nchannel = {}\n{source}\ntarget = {}\nrange = [{low:?}, {high:?}]\ncurve = \"{curve}\"\n",
        quoted(&entry.port),
        entry.channel,
        quoted(&entry.target),
    )
}

fn table(section: &Section) -> Result<Table, String> {
    let read = section.text.parse::<Table>();
    read.map_err(|error| error.message().to_owned())
}

fn read_connections(section: &Section) -> Result<Vec<(String, Vec<String>)>, String> {
    let all = table(section)?;
    let Some(Value::Table(ports)) = all.get(CONNECTIONS) else {
        return Err("`connections` is a table: [connections]".to_owned());
    };
    let mut connections = Vec::new();
    for (port, others) in ports {
        let wrong = || format!("`{port}` takes a list of ports: [\"system:midi_capture_1\"]");
        let others = others.as_array().ok_or_else(wrong)?;
        let others = others.iter().map(|other| other.as_str().map(str::to_owned));
        let others: Option<Vec<String>> = others.collect();
        connections.push((port.clone(), others.ok_or_else(wrong)?));
    }
    Ok(connections)
}

/// Mistakes of controllers: the index of the entry, and what is wrong.
type WrongEntries = Vec<(usize, String)>;

/// Reads all entries. A wrong one costs only itself.
fn read_controllers(section: &Section) -> Result<(Vec<ControllerEntry>, WrongEntries), String> {
    let all = table(section)?;
    let Some(Value::Array(entries)) = all.get(CONTROLLER) else {
        return Err("a controller is written as [[controller]]".to_owned());
    };
    let (mut controllers, mut wrong) = (Vec::new(), Vec::new());
    for (index, entry) in entries.iter().enumerate() {
        match read_controller(entry) {
            Ok(entry) => controllers.push(entry),
            Err(why) => wrong.push((index, why)),
        }
    }
    Ok((controllers, wrong))
}

/// Mistakes at their places: that of the key that a message names first, else that of the entry.
fn placed(wrong: WrongEntries, source: &str, section: &Section) -> Vec<Diagnostic> {
    if wrong.is_empty() {
        return Vec::new();
    }
    let (table, _) = DeTable::parse_recoverable(source);
    let entries = table.get_ref().get(CONTROLLER).map(|it| it.get_ref());
    let mut diagnostics = Diagnostics::new(source, &[]);
    let mut unplaced = Vec::new();
    for (index, why) in wrong {
        let message = format!("controller {}: {why}", index + 1);
        let entry = match entries {
            Some(DeValue::Array(all)) => all.get(index),
            _ => None,
        };
        let Some(entry) = entry else {
            unplaced.push(Diagnostic::error(section.span, message));
            continue;
        };
        let value = match (entry.get_ref(), why.split('`').nth(1)) {
            (DeValue::Table(keys), Some(key)) => keys.get(key),
            _ => None,
        };
        diagnostics.error(value.unwrap_or(entry).span(), message);
    }
    unplaced.extend(diagnostics.sorted());
    unplaced
}

fn read_controller(entry: &Value) -> Result<ControllerEntry, String> {
    let table = ControllerTable(entry.as_table().ok_or("it is a table")?);
    table.check_keys()?;
    let is_14_bit = table.is_14_bit()?;
    let cc = table.cc(is_14_bit)?;
    let target = table.target()?;
    let range = table.range()?;
    let is_exponential = table.is_exponential(range)?;
    Ok(ControllerEntry {
        port: table.text("port")?.to_owned(),
        channel: table.whole("channel", 16, 0)? as u8,
        cc,
        is_14_bit,
        target,
        range,
        is_exponential,
    })
}

/// A `[[controller]]` as it is written. What is wrong with a key is said in words that name it.
struct ControllerTable<'a>(&'a Table);

impl ControllerTable<'_> {
    const KEYS: [&'static str; 8] = [
        "port", "channel", "cc", "bits", "bend", "target", "range", "curve",
    ];

    fn check_keys(&self) -> Result<(), String> {
        let unknown = |key: &&String| !Self::KEYS.contains(&key.as_str());
        match self.0.keys().find(unknown) {
            None => Ok(()),
            Some(unknown) => Err(format!(
                "`{unknown}` is no key; keys are {}",
                Self::KEYS.join(", ")
            )),
        }
    }

    /// A whole number from 0 to `max`.
    fn whole(&self, key: &str, max: i64, default: i64) -> Result<i64, String> {
        let Some(value) = self.0.get(key) else {
            return Ok(default);
        };
        let whole = value.as_integer().filter(|it| (0..=max).contains(it));
        whole.ok_or_else(|| format!("`{key}` is a whole number from 0 to {max}"))
    }

    /// A text; empty without the key.
    fn text(&self, key: &str) -> Result<&str, String> {
        let Some(value) = self.0.get(key) else {
            return Ok("");
        };
        value.as_str().ok_or_else(|| format!("`{key}` is a text"))
    }

    fn is_bend(&self) -> Result<bool, String> {
        let Some(value) = self.0.get("bend") else {
            return Ok(false);
        };
        Ok(value.as_bool().ok_or("`bend` is true or false")?)
    }

    fn is_14_bit(&self) -> Result<bool, String> {
        match self.whole("bits", 14, 7)? {
            7 => Ok(false),
            14 => Ok(true),
            _ => Err("`bits` is 7 or 14".to_owned()),
        }
    }

    /// Number of the controller; `None` for the wheel.
    fn cc(&self, is_14_bit: bool) -> Result<Option<u8>, String> {
        let max = if is_14_bit { 31 } else { 127 };
        match (self.0.contains_key("cc"), self.is_bend()?) {
            (true, false) => Ok(Some(self.whole("cc", max, 0)? as u8)),
            (false, true) => Ok(None),
            _ => Err("it needs either `cc` or `bend = true`".to_owned()),
        }
    }

    fn target(&self) -> Result<String, String> {
        let target = self.text("target")?;
        match target.contains('.') {
            true => Ok(target.to_owned()),
            false => Err("`target` is a node and its parameter: \"tone.freq\"".to_owned()),
        }
    }

    fn range(&self) -> Result<(f64, f64), String> {
        let number = |value: &Value| {
            let number = value.as_float();
            number.or_else(|| value.as_integer().map(|whole| whole as f64))
        };
        let range = self.0.get("range").and_then(Value::as_array);
        let range: Vec<f64> = range.into_iter().flatten().filter_map(number).collect();
        match range[..] {
            [low, high] if low.is_finite() && high.is_finite() => Ok((low, high)),
            [_, _] => Err("`range` is two finite numbers".to_owned()),
            _ => Err("`range` is two numbers: [100, 8000]".to_owned()),
        }
    }

    fn is_exponential(&self, (low, high): (f64, f64)) -> Result<bool, String> {
        match self.text("curve")? {
            "" | "linear" => Ok(false),
            "exponential" if low > 0.0 && high > 0.0 => Ok(true),
            "exponential" => Err("an exponential curve needs a range above 0".to_owned()),
            _ => Err("`curve` is \"linear\" or \"exponential\"".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toml::read;
    use graph::Catalogue;

    fn live(text: &str) -> (LiveSections, Vec<String>) {
        let session = read(text, &Catalogue::default()).session;
        let (live, mistakes) = read_live(&session, text);
        (live, mistakes.into_iter().map(|it| it.message).collect())
    }

    #[test]
    fn what_is_written_is_read() {
        let entry = |cc, is_14_bit, is_exponential| ControllerEntry {
            port: "my \"keys\"".into(),
            channel: 3,
            cc,
            is_14_bit,
            target: "tone.freq".into(),
            range: (100.0, 8000.5),
            is_exponential,
        };
        let entries = [
            entry(Some(74), false, true),
            entry(Some(1), true, false),
            entry(None, false, false),
        ];
        let text: String = entries.iter().map(controller_text).collect();
        let (read, mistakes) = live(&text);
        assert_eq!((read.controllers, mistakes), (entries.to_vec(), vec![]));
        let mut session = Session::default();
        let connections = vec![(
            "my \"keys\"".to_owned(),
            vec!["a:b".to_owned(), "c:d e".to_owned()],
        )];
        set_connections(&mut session, &[]);
        set_connections(&mut session, &connections);
        assert_eq!(read_live(&session, "").0.connections, connections);
        set_connections(&mut session, &[]);
        assert!(session.sections.is_empty());
    }

    #[test]
    fn a_mistake_of_a_controller_has_its_line_and_costs_only_itself() {
        let good = "[[controller]]\ncc = 1\ntarget = \"a.b\"\nrange = [1, 2]\n";
        let bad = good.replace("cc = 1", "channel = 99\ncc = 1");
        let unknown = good.replace("cc = 1", "cc = 1\nknob = 3");
        let none = good.replace("cc = 1\n", "");
        let text = format!("# top\n{good}[nodes]\n{bad}{good}{unknown}{none}");
        let session = read(&text, &Catalogue::default()).session;
        let (live, mistakes) = read_live(&session, &text);
        assert_eq!(live.controllers.len(), 2);
        let shown: Vec<_> = mistakes
            .iter()
            .map(|it| (it.span.line, it.span.column, &it.message[..12]))
            .collect();
        let expected = [
            (8, 11, "controller 2"),
            (18, 8, "controller 4"),
            (21, 1, "controller 5"),
        ];
        assert_eq!(shown, expected, "{mistakes:?}");
    }

    #[test]
    fn each_mistake_is_named() {
        let wrong = [
            ("cc = 1", "either `cc` or `bend"),
            ("bits = 9", "7 or 14"),
            ("channel = 17", "0 to 16"),
            ("target = \"tone\"", "a node and its parameter"),
            ("range = [1]", "two numbers"),
            ("range = [0, 1]\ncurve = \"exponential\"", "above 0"),
            ("knob = 1", "is no key"),
        ];
        for (line, part) in wrong {
            let key = line.split(' ').next().unwrap();
            let all = ["bend = true", "target = \"a.b\"", "range = [1, 2]"];
            let others = all.into_iter().filter(|it| !it.starts_with(key));
            let others: Vec<&str> = others.collect();
            let text = format!("[[controller]]\n{line}\n{}\n", others.join("\n"));
            let (_, mistakes) = live(&text);
            assert!(
                mistakes.len() == 1 && mistakes[0].contains(part),
                "{line}: {mistakes:?}"
            );
        }
        assert_eq!(live("[connections]\nkeys = \"a:b\"\n").1.len(), 1);
    }
}
