//! Object boxes to classes, abstractions and clones.

use super::super::instance::ObjectBody;
use super::super::parsed::ParsedFile;
use super::super::ports::ports_of_canvas;
use super::super::scope::Scope;
use super::{Loader, MAX_INSTANCES, MAX_PATCH_BOXES};
use crate::class::{Ports, class_name, known_names, mistake, ports_of};
use crate::file::Atom;
use graph::{Diagnostic, SourceSpan, nearest};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Canvases inside one another beyond which no abstraction is opened: with the depth of one file this bounds every recursion over
/// a loaded patch.
const MAX_DEPTH: usize = 256;
/// Instances of one `clone`, at most.
const MAX_CLONES: usize = 4096;

impl Loader {
    /// An object box: a class, or an abstraction, or what stands in for neither.
    pub(super) fn of_class(
        &mut self,
        mut words: Vec<Atom>,
        span: SourceSpan,
        scope: &Scope,
    ) -> (ObjectBody, Vec<Atom>, Ports) {
        let Some(first) = words.first().cloned() else {
            return (ObjectBody::Comment, words, Ports::default());
        };
        // A number alone is a `float` that holds it.
        if matches!(first, Atom::Float(_)) {
            return (
                ObjectBody::Class("float".into()),
                words,
                Ports::of("mm", "m"),
            );
        }
        let arguments = words.split_off(1);
        let written = first.to_string();
        let name = class_name(&written);
        if let Some(why) = mistake(name, &arguments) {
            let diagnostic = Diagnostic::warning(span, why);
            self.report(diagnostic.help("it passes nothing; the rest plays"));
            return (
                ObjectBody::StandIn(name.into()),
                arguments,
                Ports::default(),
            );
        }
        if let Some(ports) = ports_of(name, &arguments) {
            return (ObjectBody::Class(name.into()), arguments, ports);
        }
        let body = match name {
            "clone" => self.clones(&arguments, span, scope),
            name => self.abstraction(name, arguments.clone(), span, scope),
        };
        let ports = match &body {
            ObjectBody::Abstraction(inner) => ports_of_canvas(inner),
            ObjectBody::Clones { instances, .. } => ports_of_canvas(&instances[0]),
            _ => Ports::default(),
        };
        (body, arguments, ports)
    }

    fn abstraction(
        &mut self,
        name: &str,
        arguments: Vec<Atom>,
        span: SourceSpan,
        scope: &Scope,
    ) -> ObjectBody {
        match self.open(name, span, scope) {
            Some((file, scope)) => {
                ObjectBody::Abstraction(Box::new(self.instance(&file, scope, arguments)))
            }
            None => ObjectBody::StandIn(name.into()),
        }
    }

    /// `clone [-x] [-s FIRST] NAME COUNT ARGUMENTS`: `$1` of each is its number, the arguments follow.
    fn clones(&mut self, words: &[Atom], span: SourceSpan, scope: &Scope) -> ObjectBody {
        let stand_in = || ObjectBody::StandIn("clone".into());
        let (mut rest, mut first, mut has_number) = (words, 0, true);
        loop {
            match rest {
                [flag, tail @ ..] if flag.as_symbol() == Some("-x") => {
                    (rest, has_number) = (tail, false);
                }
                [flag, Atom::Float(number), tail @ ..] if flag.as_symbol() == Some("-s") => {
                    (rest, first) = (tail, to_index(*number));
                }
                _ => break,
            }
        }
        let (name, count, arguments) = match rest {
            [Atom::Symbol(name), Atom::Float(count), arguments @ ..] => (name, *count, arguments),
            // The order of Pd 0.47.
            [Atom::Float(count), Atom::Symbol(name), arguments @ ..] => (name, *count, arguments),
            _ => {
                let message = "`clone` needs the name of an abstraction and a number";
                self.report(Diagnostic::warning(span, message));
                return stand_in();
            }
        };
        let asked = to_index(count).max(1);
        let count = usize::try_from(asked).unwrap_or(1);
        if count > MAX_CLONES {
            let message = format!("`clone` makes at most {MAX_CLONES} instances, not {asked}");
            self.report(Diagnostic::error(span, message));
            return stand_in();
        }
        let mut instances = Vec::with_capacity(count);
        for index in 0..asked {
            let Some((file, scope)) = self.open(name, span, scope) else {
                return stand_in();
            };
            let number = has_number.then(|| Atom::Float(to_float(first.saturating_add(index))));
            let arguments = number
                .into_iter()
                .chain(arguments.iter().cloned())
                .collect();
            instances.push(self.instance(&file, scope, arguments));
        }
        ObjectBody::Clones { first, instances }
    }

    /// The file of an abstraction and the scope inside it; `None` where there is none, which is reported.
    fn open(
        &mut self,
        name: &str,
        span: SourceSpan,
        scope: &Scope,
    ) -> Option<(Arc<ParsedFile>, Scope)> {
        if self.instances >= MAX_INSTANCES || self.boxes >= MAX_PATCH_BOXES {
            let message = format!(
                "the patch is too large: at most {MAX_INSTANCES} canvases and {MAX_PATCH_BOXES} boxes"
            );
            self.report(Diagnostic::error(
                SourceSpan {
                    line: 1,
                    column: 1,
                    len: 1,
                    file: 0,
                },
                message,
            ));
            return None;
        }
        let Some(path) = self.find(name, scope) else {
            self.report(unknown(name, span));
            return None;
        };
        let file = match self.read(&path) {
            Ok(file) => file,
            Err(why) => {
                let message = format!("`{}` cannot be read: {why}", path.display());
                self.report(Diagnostic::warning(span, message));
                return None;
            }
        };
        if scope.chain.contains(&file.number) {
            self.report(self.recursion(&file, span, scope));
            return None;
        }
        if self.depth >= MAX_DEPTH {
            let message = format!("`{name}` is nested deeper than {MAX_DEPTH} canvases");
            self.report(Diagnostic::error(span, message));
            return None;
        }
        let mut inner = scope.clone();
        inner.chain.push(file.number);
        inner.folders.splice(..0, file.folders.iter().cloned());
        let mut seen = HashSet::new();
        inner.folders.retain(|folder| seen.insert(folder.clone()));
        Some((file, inner))
    }

    fn find(&mut self, name: &str, scope: &Scope) -> Option<PathBuf> {
        let key = (scope.folders.clone(), name.to_owned());
        if let Some(found) = self.parsed.found.get(&key) {
            return found.clone();
        }
        let found = self.search.find(&scope.folders, name);
        self.parsed.found.insert(key, found.clone());
        found
    }

    /// An abstraction inside itself would never end.
    fn recursion(&self, file: &ParsedFile, span: SourceSpan, scope: &Scope) -> Diagnostic {
        let from = scope
            .chain
            .iter()
            .position(|n| *n == file.number)
            .unwrap_or(0);
        let chain = scope.chain[from..].iter().chain([&file.number]);
        let names: Vec<String> = chain
            .map(|number| {
                let path = &self.files[usize::from(*number)].path;
                path.file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        let message = format!("the abstraction `{}` contains itself", file.name);
        Diagnostic::error(span, message).help(names.join(" → "))
    }
}

fn unknown(name: &str, span: SourceSpan) -> Diagnostic {
    let diagnostic = Diagnostic::warning(span, format!("there is no object `{name}`"));
    match nearest(name, known_names()) {
        Some(near) => diagnostic.help(format!(
            "did you mean `{near}`? Here it passes nothing; the rest plays"
        )),
        None => diagnostic.help("it passes nothing; the rest plays"),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a float as large as this saturates"
)]
fn to_index(number: f32) -> i32 {
    number as i32
}

#[expect(clippy::cast_precision_loss, reason = "numbers of clones are small")]
fn to_float(number: i32) -> f32 {
    number as f32
}
