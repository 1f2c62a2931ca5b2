//! Kinds of the first arguments of classes: Pd makes no box whose arguments are of other kinds.
//!
//! Found by asking the real program. A test asks it again (`tests/real_pd.rs`).

use crate::file::Atom;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Kinds of arguments, `f` a number and `s` a name, and the classes that take them. What stands behind them may be anything.
const KINDS: &[(&str, &str)] = &[
    (
        "f",
        "!= % & && * + - / < << <= == > >= >> bendin bendout change choice cos~ div float hip~ int log log~ lop~ lrshift~ max \
         midiin midirealtimein min mod moses noise~ notein noteout openpanel osc~ pgmin pgmout phasor~ pique polytouchin \
         polytouchout pow pow~ random rpole~ rzero_rev~ rzero~ sig~ spigot swap sysexin touchin touchout vcf~ | ||",
    ),
    (
        "ff",
        "bp~ clip clip~ cpole~ ctlout czero_rev~ czero~ env~ line makenote midiout poly readsf~ writesf~",
    ),
    ("fff", "block~ switch~"),
    ("ffff", "fiddle~ threshold~"),
    ("ffs", "delay metro"),
    ("fs", "timer"),
    (
        "s",
        "catch~ delread4~ fudiformat inlet makefilename namecanvas outlet outlet~ print~ receive receive~ send send~ tabosc4~ \
         tabplay~ tabread tabread4 tabread4~ tabread~ tabreceive~ tabsend~ tabwrite tabwrite~ throw~ trace value",
    ),
    ("sf", "delread~ delwrite~ table"),
    ("ss", "element getsize"),
    ("ssf", "setsize"),
];

/// Classes that are several, and the names of these.
const FUNCTIONS: &[(&str, &str)] = &[
    ("array", "d define get max min quantile random set size sum"),
    (
        "file",
        "copy define delete glob handle isdirectory isfile mkdir move size split splitext splitname stat join which",
    ),
    (
        "list",
        "append fromsymbol length prepend split store tosymbol trim",
    ),
    ("scalar", "define"),
    (
        "text",
        "define delete d fromlist get insert search sequence set size tolist",
    ),
];

static KINDS_OF: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let rows = KINDS.iter();
    rows.flat_map(|(kinds, names)| names.split(' ').map(|name| (name, *kinds)))
        .collect()
});

/// An argument that has another kind than its class takes, or a function that its class lacks.
pub(super) fn mistake(name: &str, arguments: &[Atom]) -> Option<String> {
    if let Some(kinds) = KINDS_OF.get(name) {
        return wrong_kind(name, kinds, arguments);
    }
    let (_, functions) = FUNCTIONS.iter().find(|(class, _)| *class == name)?;
    let function = arguments.first()?.as_symbol()?;
    let is_known = functions.split(' ').any(|known| known == function);
    (!is_known).then(|| format!("`{name}` has no function `{function}`"))
}

fn wrong_kind(name: &str, kinds: &str, arguments: &[Atom]) -> Option<String> {
    let fits = |kind: char, argument: &Atom| match (kind, argument) {
        ('f', Atom::Symbol(_)) => false,
        // A name that an abstraction was not given is 0.
        ('s', Atom::Float(number)) => *number == 0.0,
        _ => true,
    };
    let mut pairs = kinds.chars().zip(arguments).zip(1..);
    let ((kind, argument), at) = pairs.find(|((kind, argument), _)| !fits(*kind, argument))?;
    let kind = match kind {
        'f' => "number",
        _ => "name",
    };
    Some(format!(
        "`{name}` takes a {kind} as argument {at}, not `{argument}`"
    ))
}
