//! Reads the definitions of parts: `[part.NAME]`.
//!
//! ```toml
//! [part.voice]
//! inputs = ["gate"]                      # names of ports
//! outputs = ["out"]
//! params = { cutoff = 800 }              # parameters with their defaults
//! edges = ["osc -> low -> out"]          # nodes and edges, as those of a session
//! [part.voice.nodes]
//! osc = { kind = "osc", freq = 440 }
//! low = { kind = "onepole", freq = "cutoff" }
//! ```

use super::item::{Item, Key, ident, in_order};
use super::to_ast::{Converter, param_value};
use super::value::why_no_parameter;
use crate::ast::{AstEntry, AstPart, Ident};
use ::toml::de::{DeTable, DeValue};

impl<'t> Converter<'t, '_, '_> {
    /// The definitions of parts.
    pub(super) fn parts(&mut self, item: &Item<'t>) {
        let DeValue::Table(table) = item.get_ref() else {
            return self.error(item, "`part` is a table of parts: [part.NAME]");
        };
        for (key, value) in in_order(table) {
            let DeValue::Table(entries) = value.get_ref() else {
                let message = format!("`{}` is no part; write [part.NAME]", key.get_ref());
                self.error(value, message);
                continue;
            };
            let outer = std::mem::take(&mut self.ast);
            let part = self.part(ident(key), entries);
            self.ast = outer;
            self.ast.parts.push(part);
        }
    }

    /// The definition of one part. Its nodes and edges are collected in an empty tree.
    fn part(&mut self, name: Ident<'t>, table: &DeTable<'t>) -> AstPart<'t> {
        let (mut inputs, mut outputs, mut params) = (Vec::new(), Vec::new(), Vec::new());
        for (key, value) in in_order(table) {
            match key.get_ref().as_ref() {
                "inputs" => inputs = self.port_names(key, value),
                "outputs" => outputs = self.port_names(key, value),
                "params" => params = self.defaults(value),
                "edges" => self.edges(value),
                "nodes" => self.nodes(value),
                other => {
                    let known = ["inputs", "outputs", "params", "edges", "nodes"];
                    let meant = self.diagnostics.nearest(other, known.into_iter());
                    let message = format!("a part has no `{other}`");
                    let more = self.diagnostics.error(key.span(), message);
                    match meant {
                        Some(_) => more.did_you_mean(meant),
                        None => more.help(format!("it has {}", known.join(", "))),
                    };
                }
            }
        }
        AstPart {
            name,
            inputs,
            outputs,
            params,
            body: std::mem::take(&mut self.ast),
        }
    }

    /// The names of a part's inputs or outputs.
    fn port_names(&mut self, key: &Key<'t>, item: &Item<'t>) -> Vec<Ident<'t>> {
        let word = key.get_ref();
        let DeValue::Array(all) = item.get_ref() else {
            self.error(
                item,
                format!("`{word}` takes a list of names: {word} = [\"a\"]"),
            );
            return Vec::new();
        };
        let mut names: Vec<Ident<'t>> = Vec::new();
        for item in all.iter() {
            let DeValue::String(text) = item.get_ref() else {
                self.error(item, "a port's name is a text");
                continue;
            };
            if names.iter().any(|name| name.text == *text) {
                self.error(item, format!("there are two ports `{text}`"));
                continue;
            }
            names.push(Ident {
                text: text.clone(),
                at: item.span(),
            });
        }
        names
    }

    /// The parameters of a part, with their defaults.
    fn defaults(&mut self, item: &Item<'t>) -> Vec<AstEntry<'t>> {
        let DeValue::Table(table) = item.get_ref() else {
            self.error(item, "`params` takes names with defaults: { cutoff = 800 }");
            return Vec::new();
        };
        let mut all = Vec::new();
        for (key, item) in in_order(table) {
            match param_value(item.get_ref()) {
                Some(value) => all.push(AstEntry {
                    key: ident(key),
                    value,
                    value_at: item.span(),
                    is_own: false,
                }),
                None => self.error(item, why_no_parameter(item.get_ref())),
            }
        }
        all
    }
}
