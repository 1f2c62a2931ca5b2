//! `include = ["synth.toml"]`: the parts of other sessions.
//!
//! All files are loaded first, so that the tree can borrow from their texts. Then each is converted, and its places are moved
//! behind those of the files before it: one number is a place in all of them.

use super::{recover, to_ast};
use crate::ast::{Ast, AstEnd, AstEntry, AstNode, AstPart, Ident};
use crate::context::ReadContext;
use crate::diagnostics::Diagnostics;
use crate::session::IncludedFile;
use crate::source::{ByteRange, decode};
use ::toml::de::{DeTable, DeValue};
use graph::Diagnostic;

/// Largest number of files that a session includes.
const MAX_FILES: usize = 100;
/// Largest number of bytes of all of them.
const MAX_BYTES: usize = 64 << 20;

/// A file that is included.
pub(super) struct Loaded {
    name: String,
    text: String,
    /// The text, with wrong statements blanked.
    repaired: String,
    /// Mistakes, with places in this file.
    found: Vec<Diagnostic>,
}

/// Loads all files that the session `table` includes, and those that they include. Mistakes of the session itself go to
/// `diagnostics`.
pub(super) fn load(
    table: &DeTable<'_>,
    context: &ReadContext<'_>,
    diagnostics: &mut Diagnostics<'_>,
) -> Vec<Loaded> {
    let mut loader = Loader {
        context,
        files: Vec::new(),
        bytes: 0,
    };
    loader.includes(table, &[], diagnostics);
    loader.files
}

struct Loader<'c> {
    context: &'c ReadContext<'c>,
    files: Vec<Loaded>,
    bytes: usize,
}

impl Loader<'_> {
    /// Loads the files of the key `include` of a file; `chain` leads to that file.
    fn includes(
        &mut self,
        table: &DeTable<'_>,
        chain: &[String],
        diagnostics: &mut Diagnostics<'_>,
    ) {
        let Some(value) = table.get("include") else {
            return;
        };
        let DeValue::Array(all) = value.get_ref() else {
            let message = "`include` takes a list of files: include = [\"synth.toml\"]";
            diagnostics.error(value.span(), message);
            return;
        };
        for item in all.iter() {
            let DeValue::String(path) = item.get_ref() else {
                diagnostics.error(item.span(), "a file's name is a text");
                continue;
            };
            if let Err(message) = self.file(path, chain) {
                let message = format!("cannot include `{path}`: {message}");
                diagnostics.error(item.span(), message);
            }
        }
    }

    fn file(&mut self, path: &str, chain: &[String]) -> Result<(), String> {
        if self.files.len() == MAX_FILES {
            return Err(format!("a session includes at most {MAX_FILES} files"));
        }
        let including = chain.last().map_or("", String::as_str);
        let (name, bytes) = (self.context.include)(including, path)?;
        if let Some(first) = chain.iter().position(|link| *link == name) {
            let links: Vec<&str> = chain[first..].iter().map(String::as_str).collect();
            return Err(format!(
                "it includes itself: {} -> {name}",
                links.join(" -> ")
            ));
        }
        if self.files.iter().any(|file| file.name == name) {
            return Ok(());
        }
        self.bytes += bytes.len();
        if self.bytes > MAX_BYTES {
            return Err(format!("included files have at most {MAX_BYTES} bytes"));
        }
        let (text, not_utf8) = decode(&bytes);
        let mut diagnostics = Diagnostics::new(&text, &not_utf8);
        let repaired = match DeTable::parse_recoverable(&text).1.is_empty() {
            true => text.clone().into_owned(),
            false => recover::repair(&text, &mut diagnostics),
        };
        let mut found = diagnostics.sorted();
        let index = self.files.len();
        self.files.push(Loaded {
            text: text.into_owned(),
            repaired: String::new(),
            found: Vec::new(),
            name: name.clone(),
        });
        let chain: Vec<String> = chain.iter().cloned().chain([name]).collect();
        let mut of_file = Diagnostics::new(&repaired, &[]);
        let (table, _) = DeTable::parse_recoverable(&repaired);
        self.includes(table.get_ref(), &chain, &mut of_file);
        found.extend(of_file.sorted());
        self.files[index].found = found;
        self.files[index].repaired = repaired;
        Ok(())
    }
}

/// Adds the parts of `files` to `ast`, and their mistakes to `diagnostics`.
pub(super) fn add_parts<'t>(
    files: &'t [Loaded],
    ast: &mut Ast<'t>,
    diagnostics: &mut Diagnostics<'t>,
) {
    for (index, file) in files.iter().enumerate() {
        let mut of_file = Diagnostics::new(&file.text, &[]);
        let (table, errors) = DeTable::parse_recoverable(&file.repaired);
        let (inner, _) = to_ast::convert(&file.repaired, table.get_ref(), &errors, &mut of_file);
        let base = diagnostics.add_file(&file.text);
        for mut part in inner.parts {
            move_part(&mut part, base);
            ast.parts.push(part);
        }
        for mut found in file.found.iter().cloned().chain(of_file.sorted()) {
            let file = index as u16 + 1;
            found.span.file = file;
            found
                .related
                .iter_mut()
                .for_each(|(span, _)| span.file = file);
            diagnostics.list.push(found);
        }
    }
}

/// The names and texts of `files`, to show their mistakes.
pub(super) fn texts(files: Vec<Loaded>) -> Vec<IncludedFile> {
    let files = files.into_iter().map(|file| IncludedFile {
        name: file.name,
        text: file.text,
    });
    files.collect()
}

fn move_range(at: &mut ByteRange, base: usize) {
    *at = at.start + base..at.end + base;
}

fn move_ident(ident: &mut Ident<'_>, base: usize) {
    move_range(&mut ident.at, base);
}

fn move_entry(entry: &mut AstEntry<'_>, base: usize) {
    move_ident(&mut entry.key, base);
    move_range(&mut entry.value_at, base);
}

fn move_end(end: &mut AstEnd<'_>, base: usize) {
    move_ident(&mut end.node, base);
    end.path.iter_mut().for_each(|word| move_ident(word, base));
    move_range(&mut end.port_at, base);
}

fn move_node(node: &mut AstNode<'_>, base: usize) {
    move_ident(&mut node.name, base);
    let words = [&mut node.kind, &mut node.stand_in].into_iter().flatten();
    words.for_each(|word| move_ident(word, base));
    node.entries
        .iter_mut()
        .for_each(|entry| move_entry(entry, base));
    for list in &mut node.lists {
        move_ident(&mut list.key, base);
        move_range(&mut list.at, base);
        list.items
            .iter_mut()
            .for_each(|(_, at)| move_range(at, base));
    }
}

/// Moves all places of a part by `base` bytes.
fn move_part(part: &mut AstPart<'_>, base: usize) {
    move_ident(&mut part.name, base);
    let ports = part.inputs.iter_mut().chain(&mut part.outputs);
    ports.for_each(|port| move_ident(port, base));
    part.params
        .iter_mut()
        .for_each(|param| move_entry(param, base));
    part.body
        .nodes
        .iter_mut()
        .for_each(|node| move_node(node, base));
    for (from, to) in &mut part.body.edges {
        move_end(from, base);
        move_end(to, base);
    }
}
