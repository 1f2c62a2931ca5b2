//! Scalars as they stand in patches and in files of data (`g_readwrite.c`).

use super::super::symbol::{Symbol, Symbols, words};
use super::super::text::TextWord;
use super::super::value::Value;
use super::Data;
use super::parts::{Beside, Datum, Field, FieldKind, Place};
use super::templates::{fields_of, matches};

/// Words that are read line by line.
struct Lines<'w> {
    rest: &'w [TextWord],
}

impl<'w> Lines<'w> {
    /// The words before the next semicolon.
    fn next(&mut self) -> &'w [TextWord] {
        let end = self
            .rest
            .iter()
            .position(|word| *word == TextWord::Semicolon);
        let line = &self.rest[..end.unwrap_or(self.rest.len())];
        self.rest = end.map_or(&[], |end| &self.rest[end + 1..]);
        line
    }
}

/// The value of a word.
fn value(word: TextWord, symbols: &mut Symbols) -> Value {
    match word {
        TextWord::Value(value) => value,
        other => other.to_value(symbols),
    }
}

impl Data {
    /// Adds the scalar that `words` state to a list: its template, numbers and symbols up to a semicolon, then arrays and texts. Gives the number
    /// of lines with too many words. A mistake is a sentence.
    ///
    /// Real-time: takes memory.
    pub(crate) fn restore(
        &mut self,
        list: u32,
        words: &[TextWord],
        symbols: &mut Symbols,
        beside: &mut Beside<'_>,
    ) -> Result<usize, String> {
        self.restore_next(list, &mut Lines { rest: words }, symbols, beside)
    }

    fn restore_next(
        &mut self,
        list: u32,
        lines: &mut Lines<'_>,
        symbols: &mut Symbols,
        beside: &mut Beside<'_>,
    ) -> Result<usize, String> {
        let [name, rest @ ..] = lines.rest else {
            return Err("a scalar without a template".into());
        };
        lines.rest = rest;
        let Value::Symbol(template) = value(*name, symbols) else {
            return Err("a scalar without a template".into());
        };
        let scalar = self.insert(self.last(list), template, beside);
        let scalar = scalar.map_err(|why| format!("scalar {}: {why}", symbols.text(template)))?;
        let line = lines.next();
        Ok(self.restore_words(
            Place::Scalar(scalar),
            template,
            line,
            lines,
            symbols,
            beside,
        ))
    }

    /// Fills the fields of a place: numbers and symbols from `line`, the others from the lines behind it.
    fn restore_words(
        &mut self,
        place: Place,
        template: Symbol,
        line: &[TextWord],
        lines: &mut Lines<'_>,
        symbols: &mut Symbols,
        beside: &mut Beside<'_>,
    ) -> usize {
        let fields: Vec<Field> = self.fields(template).unwrap_or_default().to_vec();
        let mut values = line.iter();
        for (at, field) in fields.iter().enumerate() {
            let is_number = match field.kind {
                FieldKind::Float => true,
                FieldKind::Symbol => false,
                _ => continue,
            };
            let found = values.next().map(|word| value(*word, symbols));
            let found = match found {
                Some(Value::Symbol(symbol)) if !is_number => Value::Symbol(symbol),
                // A number is no symbol, and none is empty.
                Some(_) if !is_number => Value::Symbol(words::FLOAT),
                None if !is_number => Value::Symbol(words::EMPTY),
                found => Value::Float(found.map_or(0.0, Value::number)),
            };
            self.set(place, at, found, beside);
        }
        let mut surplus = usize::from(values.next().is_some());
        for (at, _) in fields.iter().enumerate() {
            match self.get(place, at, beside) {
                Some(Datum::Array(array)) => {
                    surplus += self.restore_array(array, lines, symbols, beside)
                }
                Some(Datum::Text(text)) => {
                    let line = lines.next();
                    let words = line.iter().map(|word| match *word {
                        // What was escaped once more is a separator now.
                        TextWord::Value(value) => TextWord::of_value(value, symbols),
                        other => other,
                    });
                    let words: Vec<TextWord> = words.collect();
                    beside.texts.words(text as usize).extend(words);
                }
                _ => {}
            }
        }
        surplus
    }

    /// Elements up to an empty line.
    fn restore_array(
        &mut self,
        array: u32,
        lines: &mut Lines<'_>,
        symbols: &mut Symbols,
        beside: &mut Beside<'_>,
    ) -> usize {
        let template = self.array_template(array);
        let (mut count, mut surplus) = (0, 0);
        loop {
            let line = lines.next();
            if line.is_empty() {
                return surplus;
            }
            if count > 0 && !self.resize(array, count + 1, beside) {
                continue;
            }
            let at = u32::try_from(count).unwrap_or(u32::MAX);
            surplus += self.restore_words(
                Place::Element(array, at),
                template,
                line,
                lines,
                symbols,
                beside,
            );
            count += 1;
        }
    }

    /// Adds the scalars of a file of data to a list. Its templates must be those of the patch. A mistake is a sentence.
    ///
    /// Real-time: takes memory.
    pub(crate) fn read_file(
        &mut self,
        list: u32,
        file: &[TextWord],
        symbols: &mut Symbols,
        beside: &mut Beside<'_>,
    ) -> Result<usize, String> {
        let mut lines = Lines { rest: file };
        let data = TextWord::Value(Value::Symbol(symbols.intern("data")));
        if lines.next() != [data] {
            return Err("file apparently of wrong type".into());
        }
        loop {
            let header = lines.next();
            let [_, TextWord::Value(Value::Symbol(name))] = header else {
                if header.len() < 2 {
                    break;
                }
                continue;
            };
            let mut words = Vec::new();
            loop {
                let line = lines.next();
                if !(2..=3).contains(&line.len()) {
                    break;
                }
                words.extend(line.iter().map(|word| value(*word, symbols)));
            }
            let fields = fields_of(&words, symbols, |_| {});
            let own = self.fields(*name).ok_or_else(|| {
                let name = symbols.text(*name);
                format!("pd-{name}: template not found in current patch")
            })?;
            if !matches(own, &fields) {
                let name = symbols.text(*name);
                return Err(format!("pd-{name}: template doesn't match current one"));
            }
        }
        let mut surplus = 0;
        while !lines.rest.is_empty() {
            surplus += self.restore_next(list, &mut lines, symbols, beside)?;
        }
        Ok(surplus)
    }

    /// The scalars of a list as a file of data.
    ///
    /// Real-time: takes memory.
    pub(crate) fn file_of(
        &self,
        list: u32,
        symbols: &mut Symbols,
        beside: &Beside<'_>,
    ) -> Vec<TextWord> {
        let word = |text: &str, symbols: &mut Symbols| {
            TextWord::Value(Value::Symbol(symbols.intern(text)))
        };
        let mut file = vec![word("data", symbols), TextWord::Semicolon];
        let mut templates = Vec::new();
        for scalar in self.scalars_of(list) {
            self.add_template(self.scalars[scalar as usize].template, &mut templates);
        }
        for template in &templates {
            file.extend([
                word("template", symbols),
                TextWord::Value(Value::Symbol(*template)),
            ]);
            file.push(TextWord::Semicolon);
            for field in self.fields(*template).unwrap_or_default() {
                let (kind, inner) = match field.kind {
                    FieldKind::Float => ("float", None),
                    FieldKind::Symbol => ("symbol", None),
                    FieldKind::Text => ("list", None),
                    FieldKind::Array(inner) => ("array", Some(inner)),
                };
                file.push(word(kind, symbols));
                let names = [Some(field.name), inner].into_iter().flatten();
                file.extend(names.map(|name| TextWord::Value(Value::Symbol(name))));
                file.push(TextWord::Semicolon);
            }
            file.push(TextWord::Semicolon);
        }
        file.push(TextWord::Semicolon);
        for scalar in self.scalars_of(list) {
            let template = self.scalars[scalar as usize].template;
            file.push(TextWord::Value(Value::Symbol(template)));
            self.write_words(Place::Scalar(scalar), template, &mut file, symbols, beside);
        }
        file
    }

    /// A template and those of its arrays, in the order in which Pd writes them.
    fn add_template(&self, template: Symbol, to: &mut Vec<Symbol>) {
        if to.contains(&template) {
            return;
        }
        to.push(template);
        for field in self.fields(template).unwrap_or_default() {
            if let FieldKind::Array(inner) = field.kind {
                self.add_template(inner, to);
            }
        }
    }

    fn write_words(
        &self,
        place: Place,
        template: Symbol,
        file: &mut Vec<TextWord>,
        symbols: &mut Symbols,
        beside: &Beside<'_>,
    ) {
        let fields = self.fields(template).unwrap_or_default();
        let data = (0..fields.len()).filter_map(|at| self.get(place, at, beside));
        let data: Vec<Datum> = data.collect();
        let begin = file.len();
        file.extend(data.iter().filter_map(|datum| match datum {
            Datum::Float(number) => Some(TextWord::Value(Value::Float(*number))),
            Datum::Symbol(symbol) => Some(TextWord::Value(Value::Symbol(*symbol))),
            _ => None,
        }));
        if file.len() == begin && matches!(place, Place::Element(..)) {
            // An element has at least something.
            file.push(TextWord::Value(Value::Symbol(words::BANG)));
        }
        file.push(TextWord::Semicolon);
        for datum in data {
            match datum {
                Datum::Array(array) => {
                    for at in 0..self.array_len(array, beside.arrays) {
                        let at = u32::try_from(at).unwrap_or(u32::MAX);
                        let template = self.array_template(array);
                        self.write_words(
                            Place::Element(array, at),
                            template,
                            file,
                            symbols,
                            beside,
                        );
                    }
                    file.push(TextWord::Semicolon);
                }
                Datum::Text(text) => {
                    for word in beside.texts.get(text as usize) {
                        let saved = match word {
                            TextWord::Value(Value::Float(_)) => *word,
                            other => TextWord::Value(other.to_value(symbols)),
                        };
                        file.push(saved);
                    }
                    file.push(TextWord::Semicolon);
                }
                _ => {}
            }
        }
    }
}
