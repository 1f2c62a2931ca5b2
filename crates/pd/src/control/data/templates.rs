//! [`Template`]: the fields of scalars of one name (`g_template.c`).

use super::super::symbol::{Symbol, Symbols, words};
use super::super::value::Value;
use super::super::wire::ObjectId;
use super::Data;
use super::parts::{Beside, Datum, Field, FieldKind, MAX_DEPTH, OVERHEAD, Place, Template};
use std::collections::{HashMap, HashSet};

/// Definitions of templates, at most.
const MAX_DEFINITIONS: usize = 4096;
/// Fields of a template, at most.
const MAX_FIELDS: usize = 1024;
/// A template that is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TemplateMistake {
    /// Another box defines it already. Only Pd's first one counts.
    Exists,
    Other(&'static str),
}

/// The fields that words name, and a line for each mistake.
pub(crate) fn fields_of(
    values: &[Value],
    symbols: &Symbols,
    mut complain: impl FnMut(&str),
) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut rest = values;
    while let [kind, after @ ..] = rest {
        let [name, after @ ..] = after else { break };
        rest = after;
        let (Value::Symbol(kind), Value::Symbol(name)) = (kind, name) else {
            continue;
        };
        let kind = match symbols.text(*kind) {
            "float" => FieldKind::Float,
            "symbol" => FieldKind::Symbol,
            "text" | "list" => FieldKind::Text,
            "array" => match rest {
                [Value::Symbol(template), after @ ..] => {
                    rest = after;
                    FieldKind::Array(*template)
                }
                _ => {
                    complain("array lacks element template or name");
                    continue;
                }
            },
            other => {
                complain(&format!("{other}: no such type"));
                continue;
            }
        };
        fields.push(Field { name: *name, kind });
    }
    fields.truncate(MAX_FIELDS);
    fields
}

impl Data {
    /// Adds Pd's own templates: `float`, `float-array` and `text`.
    ///
    /// Real-time: setup.
    pub(crate) fn add_own_templates(&mut self, symbols: &mut Symbols) {
        let float = |name| (name, FieldKind::Float);
        let own = [
            ("float", vec![float("y")]),
            (
                "float-array",
                vec![
                    ("z", FieldKind::Array(words::FLOAT)),
                    float("style"),
                    float("linewidth"),
                    float("color"),
                    float("v"),
                    float("e"),
                ],
            ),
            ("text", vec![float("x"), float("y"), ("t", FieldKind::Text)]),
        ];
        for (name, fields) in own {
            let fields = fields.into_iter().map(|(name, kind)| Field {
                name: symbols.intern(name),
                kind,
            });
            let template = Template {
                fields: fields.collect(),
                boxes: Vec::new(),
                weight: None,
                is_fixed: true,
                is_left: false,
            };
            self.templates.insert(symbols.intern(name), template);
        }
        self.weigh();
    }

    /// Defines a template, from a file's begin (`#N struct`) or by a box. Scalars of this name change with it. A mistake is a line.
    ///
    /// Real-time: setup.
    pub(crate) fn define(
        &mut self,
        name: Symbol,
        fields: Vec<Field>,
        by: Option<ObjectId>,
        beside: &mut Beside<'_>,
    ) -> Result<(), TemplateMistake> {
        if self.definitions() >= MAX_DEFINITIONS {
            self.forget_left();
        }
        if self.definitions() >= MAX_DEFINITIONS {
            return Err(TemplateMistake::Other("too many templates"));
        }
        let Some(template) = self.templates.get_mut(&name) else {
            let boxes = by.map(|by| (by, fields.clone())).into_iter().collect();
            let template = Template {
                fields,
                boxes,
                weight: None,
                is_fixed: false,
                is_left: false,
            };
            self.templates.insert(name, template);
            self.weigh();
            return Ok(());
        };
        if template.is_fixed {
            return Err(TemplateMistake::Other("this template is Pd's own"));
        }
        let is_held = !template.boxes.is_empty();
        template.boxes.extend(by.map(|by| (by, fields.clone())));
        template.is_left &= by.is_none();
        if is_held {
            return match by {
                Some(_) => Err(TemplateMistake::Exists),
                None if matches(&template.fields, &fields) => Ok(()),
                None => Err(TemplateMistake::Other("template mismatch")),
            };
        }
        match matches(&template.fields, &fields) || self.conform(name, fields, beside) {
            true => Ok(()),
            false => Err(TemplateMistake::Other("no memory for more data")),
        }
    }

    /// Templates, and boxes that define one already defined.
    fn definitions(&self) -> usize {
        let boxes = self.templates.values().map(|it| it.boxes.len().max(1));
        boxes.sum()
    }

    /// Forgets templates whose boxes are removed, and of which nothing is made.
    fn forget_left(&mut self) {
        let mut used = HashSet::new();
        let scalars = self.scalars.iter().filter(|it| it.is_used);
        used.extend(scalars.map(|it| it.template));
        let arrays = self.arrays.iter().filter(|it| it.is_used);
        used.extend(arrays.map(|it| it.template));
        for template in self.templates.values().filter(|it| !it.is_left) {
            let inner = template.fields.iter().filter_map(|it| match it.kind {
                FieldKind::Array(inner) => Some(inner),
                _ => None,
            });
            used.extend(inner);
        }
        self.templates
            .retain(|name, template| !template.is_left || used.contains(name));
        self.weigh();
    }

    /// Forgets `struct` boxes that are removed: what the next one of the same name says counts. Returns the templates that stay as they
    /// are, because there is no memory for that.
    ///
    /// Real-time: setup.
    pub(crate) fn forget_boxes(
        &mut self,
        is_removed: impl Fn(ObjectId) -> bool,
        beside: &mut Beside<'_>,
    ) -> Vec<Symbol> {
        let mut changed = Vec::new();
        for (name, template) in &mut self.templates {
            let first = template.boxes.first().map(|first| first.0);
            template.boxes.retain(|(id, _)| !is_removed(*id));
            match template.boxes.first() {
                None => template.is_left |= first.is_some(),
                Some((id, fields)) if first != Some(*id) => changed.push((*name, fields.clone())),
                _ => {}
            }
        }
        let mut refused = Vec::new();
        for (name, fields) in changed {
            if !self.conform(name, fields, beside) {
                refused.push(name);
            }
        }
        refused
    }

    /// Fields of a template.
    pub(crate) fn fields(&self, template: Symbol) -> Option<&[Field]> {
        self.templates
            .get(&template)
            .map(|template| &template.fields[..])
    }

    /// A field of a template, with its place.
    ///
    /// Real-time: hot.
    pub(crate) fn field(&self, template: Symbol, name: Symbol) -> Option<(usize, FieldKind)> {
        let fields = self.fields(template)?;
        let at = fields.iter().position(|field| field.name == name)?;
        Some((at, fields[at].kind))
    }

    /// Words that a scalar of this template takes.
    pub(super) fn weight(&self, template: Symbol) -> Option<usize> {
        self.templates.get(&template)?.weight
    }

    /// Counts the words of all templates anew: first of those without arrays, then of those whose arrays hold these, and so on. What is
    /// left lacks a template, holds itself, or is too deep. The order of names decides nothing.
    fn weigh(&mut self) {
        let mut known = HashMap::new();
        for _ in 0..=MAX_DEPTH {
            let others = self.templates.iter();
            let others = others.filter(|(name, _)| !known.contains_key(*name));
            let found = others
                .filter_map(|(name, template)| Some((*name, sum_of(&template.fields, &known)?)));
            let found: Vec<(Symbol, usize)> = found.collect();
            if found.is_empty() {
                break;
            }
            known.extend(found);
        }
        for (name, template) in &mut self.templates {
            template.weight = known.get(name).copied();
        }
    }

    /// Replaces a template, and changes all scalars and elements of it: fields of the same name and kind stay, and then those of the
    /// same kind. False if there is no memory for it: then nothing has changed.
    fn conform(&mut self, name: Symbol, fields: Vec<Field>, beside: &mut Beside<'_>) -> bool {
        let Some(template) = self.templates.get_mut(&name) else {
            return true;
        };
        let old = std::mem::replace(&mut template.fields, fields);
        let sources = sources(&old, &template.fields);
        self.weigh();
        if self.growth(name, &sources, beside) > self.left {
            if let Some(template) = self.templates.get_mut(&name) {
                template.fields = old;
            }
            self.weigh();
            return false;
        }
        for at in 1..self.scalars.len() {
            if self.scalars[at].is_used && self.scalars[at].template == name {
                let words = std::mem::take(&mut self.scalars[at].words);
                let words = self.conformed(name, &sources, words, beside);
                self.own(&words, Place::Scalar(index(at)));
                self.scalars[at].words = words;
            }
        }
        for at in 0..self.arrays.len() {
            if self.arrays[at].is_used && self.arrays[at].template == name {
                self.conform_array(at, name, (&sources, old.len()), beside);
            }
        }
        true
    }

    /// Words that are taken, at most, where all that has this template gets the fields without a source.
    fn growth(&self, name: Symbol, sources: &[Option<usize>], beside: &Beside<'_>) -> usize {
        let weight = |field: &Field| match field.kind {
            FieldKind::Array(inner) => self.weight(inner).unwrap_or(0).saturating_add(OVERHEAD),
            FieldKind::Text => OVERHEAD,
            FieldKind::Float | FieldKind::Symbol => 1,
        };
        let fields = self.fields(name).unwrap_or_default();
        let all = fields.iter().map(weight).fold(0, usize::saturating_add);
        let new = fields
            .iter()
            .zip(sources)
            .filter(|(_, source)| source.is_none());
        let new = new
            .map(|(field, _)| weight(field))
            .fold(0, usize::saturating_add);
        let scalars = self
            .scalars
            .iter()
            .filter(|it| it.is_used && it.template == name);
        let arrays = self
            .arrays
            .iter()
            .filter(|it| it.is_used && it.template == name);
        let elements: usize = arrays.map(|it| it.len(beside.arrays)).sum();
        // Each is made as a whole before what it does not need is given back.
        new.saturating_mul(scalars.count() + elements)
            .saturating_add(all)
    }

    fn conform_array(
        &mut self,
        at: usize,
        name: Symbol,
        (sources, width): (&[Option<usize>], usize),
        beside: &mut Beside<'_>,
    ) {
        let Some(words) = self.arrays[at].take_words() else {
            return;
        };
        // Templates that grow again and again would put arrays inside arrays without end.
        if self.nesting(Place::Element(index(at), 0)) > MAX_DEPTH {
            words
                .into_iter()
                .for_each(|datum| self.free_datum(datum, beside));
            return self.arrays[at].put_words(Vec::new(), sources.len());
        }
        let mut all = Vec::new();
        for (number, element) in words.chunks(width.max(1)).enumerate() {
            let words = self.conformed(name, sources, element.to_vec(), beside);
            self.own(&words, Place::Element(index(at), index(number)));
            all.extend(words);
        }
        self.arrays[at].put_words(all, sources.len());
    }

    /// The words of a scalar as the new template wants them.
    fn conformed(
        &mut self,
        name: Symbol,
        sources: &[Option<usize>],
        old: Vec<Datum>,
        beside: &mut Beside<'_>,
    ) -> Vec<Datum> {
        // Where memory is lacking, or a template, arrays have no elements.
        let mut new = self.fresh(name, Vec::new(), beside);
        let mut is_kept = vec![false; old.len()];
        for (to, from) in new.iter_mut().zip(sources) {
            if let Some(from) = from.filter(|from| *from < old.len()) {
                is_kept[from] = true;
                let unused = std::mem::replace(to, old[from]);
                self.free_datum(unused, beside);
            }
        }
        for (datum, _) in old.iter().zip(is_kept).filter(|(_, is_kept)| !is_kept) {
            self.free_datum(*datum, beside);
        }
        new
    }
}

/// Words that a scalar of these fields takes; `None` where the template of an array is not known.
fn sum_of(fields: &[Field], known: &HashMap<Symbol, usize>) -> Option<usize> {
    let words = fields.iter().map(|field| match field.kind {
        FieldKind::Array(inner) => Some(known.get(&inner)?.saturating_add(OVERHEAD)),
        FieldKind::Text => Some(OVERHEAD),
        FieldKind::Float | FieldKind::Symbol => Some(1),
    });
    let mut sum = OVERHEAD;
    for words in words {
        sum = sum.saturating_add(words?);
    }
    Some(sum)
}

fn index(at: usize) -> u32 {
    u32::try_from(at).expect("data is bounded")
}

/// Returns true if what was made with `new` fits into `old`, which may have more fields but arrays.
pub(super) fn matches(old: &[Field], new: &[Field]) -> bool {
    let Some((first, more)) = old.split_at_checked(new.len()) else {
        return false;
    };
    let is_array = |field: &Field| matches!(field.kind, FieldKind::Array(_));
    first == new && !more.iter().any(is_array)
}

/// For each new field the old one from which it comes.
fn sources(old: &[Field], new: &[Field]) -> Vec<Option<usize>> {
    let mut used = vec![false; old.len()];
    let mut sources = vec![None; new.len()];
    for by_name in [true, false] {
        for (source, field) in sources.iter_mut().zip(new) {
            let fits = |at: &usize| {
                old[*at].kind == field.kind
                    && !used[*at]
                    && (!by_name || old[*at].name == field.name)
            };
            if source.is_none()
                && let Some(at) = (0..old.len()).find(fits)
            {
                used[at] = true;
                *source = Some(at);
            }
        }
    }
    sources
}
