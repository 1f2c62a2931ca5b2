//! Refuses parts that use themselves, and parts that are nested too deeply.

use super::template::{Content, Template};
use crate::diagnostics::Diagnostics;

/// Deepest nesting of parts.
const MAX_DEPTH: usize = 32;

/// Depth-first search over the uses of parts.
struct RecursionSearch<'f, 'a, 't, 's> {
    templates: &'f mut [Template<'a, 't>],
    diagnostics: &'f mut Diagnostics<'s>,
    /// Levels of parts inside each template; 0 until it is known.
    heights: Vec<usize>,
    /// The templates that lead to the one that is looked at.
    chain: Vec<usize>,
}

/// Empties each use of a part that would make the session endless or too deep, and reports it.
pub(super) fn refuse_recursion(
    templates: &mut [Template<'_, '_>],
    diagnostics: &mut Diagnostics<'_>,
) {
    let count = templates.len();
    let mut search = RecursionSearch {
        heights: vec![0; count],
        chain: Vec::new(),
        templates,
        diagnostics,
    };
    for template in 0..count {
        search.visit(template);
    }
}

impl RecursionSearch<'_, '_, '_, '_> {
    fn visit(&mut self, template: usize) -> usize {
        if self.heights[template] > 0 {
            return self.heights[template];
        }
        self.chain.push(template);
        let mut height = 1;
        for node in 0..self.templates[template].nodes.len() {
            let Content::Part(part) = self.templates[template].nodes[node].content else {
                continue;
            };
            let below = match self.chain.iter().position(|link| *link == part) {
                Some(first) => Err(self.circle(first)),
                None if self.chain.len() > MAX_DEPTH => Err(String::new()),
                None => Ok(self.visit(part)),
            };
            match below {
                Ok(below) if below < MAX_DEPTH => height = height.max(below + 1),
                Ok(_) => self.refuse(template, node, ""),
                Err(circle) => self.refuse(template, node, &circle),
            }
        }
        self.chain.pop();
        self.heights[template] = height;
        height
    }

    /// The names of the chain from `first` and back to it.
    fn circle(&self, first: usize) -> String {
        let links = self.chain[first..].iter().chain([&self.chain[first]]);
        let names = links.filter_map(|link| self.templates[*link].part);
        let names: Vec<&str> = names.map(|part| part.name.text.as_ref()).collect();
        names.join(" -> ")
    }

    fn refuse(&mut self, template: usize, node: usize, circle: &str) {
        let node = &mut self.templates[template].nodes[node];
        node.content = Content::Nothing;
        let word = node.written.kind.as_ref().unwrap_or(&node.written.name);
        let at = word.at.clone();
        match circle {
            "" => {
                let message = format!("parts are nested deeper than {MAX_DEPTH} levels here");
                self.diagnostics.error(at, message);
            }
            circle => {
                let message = format!("the part `{}` uses itself: {circle}", word.text);
                let more = self.diagnostics.error(at, message);
                more.help("a part cannot be inside itself: use `count` to repeat something");
            }
        }
    }
}
