//! [`Registry`]: from the name of a kind to the function that makes its processor.

use crate::modulated::Modulated;
use crate::work::{NodeWork, WorkHost, WorkSeat};
use crate::{
    Console, ExpandContext, ExpandFormat, ExpandedGroup, ExpandedNode, Expansion, Processor,
};
use graph::{Catalogue, Kind, Node, ParamRange, TempoMap, Widths};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use units::{Frames, SampleRate};

/// Argument of a maker: the node, its kind, the folder of its files, and the tempo.
pub struct MakeContext<'a> {
    /// The node, with its ports and parameters, but without inputs that drive parameters.
    pub node: &'a Node,
    /// Its kind.
    pub kind: &'a Kind,
    /// Folder to which file names are relative.
    pub folder: &'a Path,
    /// Indices of the parameters that are driven at audio rate.
    pub driven: &'a [u16],
    /// Tempo and metre of the graph.
    pub tempo: &'a TempoMap,
    /// Giver of the ways to processes that do the work of nodes.
    pub(crate) work_host: Option<&'a Arc<dyn WorkHost>>,
}

/// Argument of a maker of work.
pub struct WorkContext<'a> {
    /// That of the maker of the node whose work it is.
    pub make: MakeContext<'a>,
    /// Sample rate.
    pub rate: SampleRate,
    /// Largest number of frames in a block.
    pub block: Frames,
}

/// Error of a maker.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct MakeError {
    /// Error message: lower case, no full stop.
    pub message: String,
    /// The parameter that caused the error, if one did.
    pub key: Option<&'static str>,
}

impl MakeError {
    /// An error about the parameter `key`.
    pub fn param(key: &'static str, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            key: Some(key),
        }
    }
}

impl MakeContext<'_> {
    /// Returns true if parameter `index` is driven at audio rate:
    /// [`Block::param_signal`](crate::Block::param_signal) gives its values.
    pub fn is_driven(&self, index: u16) -> bool {
        self.driven.contains(&index)
    }

    /// The place of the node's work.
    pub fn work_seat(&self) -> WorkSeat {
        WorkSeat {
            host: self.work_host.cloned(),
            node: self.node.name.clone(),
        }
    }

    /// Value of the number parameter `key`, or the kind's default.
    ///
    /// # Errors
    ///
    /// The parameter is missing and has no default, or its value is outside the kind's range.
    pub fn number(&self, key: &'static str) -> Result<f64, MakeError> {
        let kind = self.kind.name;
        let Some((_, param)) = self.kind.param(key) else {
            return Err(MakeError::param(
                key,
                format!("`{kind}` has no number `{key}`"),
            ));
        };
        let ParamRange::Number { min, max, default } = param.range else {
            return Err(MakeError::param(
                key,
                format!("`{key}` of `{kind}` is not a number"),
            ));
        };
        let value = match self.node.number(key) {
            Some(value) => value,
            None if self.node.param(key).is_some() => {
                return Err(MakeError::param(key, format!("`{key}` is not a number")));
            }
            None if default.is_nan() => {
                return Err(MakeError::param(key, format!("`{kind}` needs `{key}`")));
            }
            None => default,
        };
        if (min..=max).contains(&value) {
            Ok(value)
        } else {
            let unit = if param.unit.is_empty() {
                String::new()
            } else {
                format!(" {}", param.unit)
            };
            Err(MakeError::param(
                key,
                format!("`{key}` is {value}{unit}; it must be from {min} to {max}{unit}"),
            ))
        }
    }

    /// Value of the choice parameter `key`, as an index into the kind's choices.
    ///
    /// # Errors
    ///
    /// The value is none of the choices.
    pub fn choice(&self, key: &'static str) -> Result<usize, MakeError> {
        let Some((_, param)) = self.kind.param(key) else {
            return Err(MakeError::param(
                key,
                format!("`{}` has no choice `{key}`", self.kind.name),
            ));
        };
        let ParamRange::Choice(choices) = param.range else {
            return Err(MakeError::param(key, format!("`{key}` is not a choice")));
        };
        let Some(word) = self.node.text(key) else {
            return Ok(0);
        };
        choices.iter().position(|c| *c == word).ok_or_else(|| {
            MakeError::param(
                key,
                format!(
                    "`{key}` is \"{word}\"; it must be one of {}",
                    choices.join(", ")
                ),
            )
        })
    }
}

/// The same expansion, in which inputs drive the own parameters of its nodes.
fn drive_heads<'n>(
    mut made: Expansion,
    kind: &Kind,
    nodes: impl Iterator<Item = &'n Node>,
) -> Expansion {
    let driven = |head: ExpandedNode, node: &Node| match node.modulations().next() {
        None => head,
        Some(_) => ExpandedNode {
            processor: Modulated::of_own(
                head.processor,
                (node, kind),
                &head.own_params,
                head.outputs.len(),
            ),
            ..head
        },
    };
    let heads = made.heads.into_iter().zip(nodes);
    made.heads = heads.map(|(head, node)| driven(head, node)).collect();
    made
}

type Probe = Box<dyn Fn(&Node, &Path) -> Option<Widths> + Send + Sync>;
type Maker = Box<dyn Fn(&MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> + Send + Sync>;
type Expander = Box<dyn Fn(&[ExpandContext<'_>]) -> Vec<ExpandedGroup> + Send + Sync>;

/// Makes the parts of the work of a node, as its processor numbers them.
type WorkMaker =
    Box<dyn Fn(&WorkContext<'_>) -> Result<Vec<Box<dyn NodeWork>>, MakeError> + Send + Sync>;

/// All kinds that have a processor, each with its maker.
#[derive(Default)]
pub struct Registry {
    catalogue: Catalogue,
    makers: HashMap<&'static str, Maker>,
    probes: HashMap<&'static str, Probe>,
    expanders: HashMap<&'static str, Expander>,
    inner_kinds: Vec<Kind>,
    console: Option<Console>,
    works: HashMap<&'static str, WorkMaker>,
    work_host: Option<Arc<dyn WorkHost>>,
}

impl Registry {
    /// Adds a kind and its maker. A kind of the same name is replaced.
    pub fn add(
        &mut self,
        kind: Kind,
        make: impl Fn(&MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> + Send + Sync + 'static,
    ) {
        self.makers.insert(kind.name, Box::new(make));
        self.catalogue.insert(kind);
    }

    /// Adds the function that makes the work of nodes of `kind`, for a process that does it for another one.
    pub fn add_work(
        &mut self,
        kind: &'static str,
        make: impl Fn(&WorkContext<'_>) -> Result<Vec<Box<dyn NodeWork>>, MakeError>
        + Send
        + Sync
        + 'static,
    ) {
        self.works.insert(kind, Box::new(make));
    }

    /// Sets who gives nodes the ways to processes that do their work.
    pub fn set_work_host(&mut self, host: Arc<dyn WorkHost>) {
        self.work_host = Some(host);
    }

    /// Returns true if the work of `node` can be done in another process.
    pub fn has_work(&self, node: &Node) -> bool {
        self.works.contains_key(node.effective_kind())
    }

    /// Makes the parts of the work of a node, for a process that does it for another one.
    ///
    /// # Errors
    ///
    /// Its kind has none, or the maker refuses its parameters.
    ///
    /// Real-time: setup.
    pub fn make_work(
        &self,
        (node, folder): (&Node, &Path),
        (rate, block): (SampleRate, Frames),
    ) -> Result<Vec<Box<dyn NodeWork>>, MakeError> {
        let name = node.effective_kind();
        let (Some(kind), Some(make)) = (self.catalogue.get(name), self.works.get(name)) else {
            return Err(MakeError {
                message: format!("the work of `{name}` cannot be done in another process"),
                key: None,
            });
        };
        let make_context = MakeContext {
            node,
            kind,
            folder,
            driven: &[],
            tempo: &TempoMap::default(),
            work_host: None,
        };
        make(&WorkContext {
            make: make_context,
            rate,
            block,
        })
    }

    /// Adds the function that gives the widths of the file which a node of `kind` names.
    pub fn add_probe(
        &mut self,
        kind: &'static str,
        probe: impl Fn(&Node, &Path) -> Option<Widths> + Send + Sync + 'static,
    ) {
        self.probes.insert(kind, Box::new(probe));
    }

    /// Adds the function that gives the nodes which play in place of nodes of `kind`.
    pub fn add_expander(
        &mut self,
        kind: &'static str,
        expand: impl Fn(&[ExpandContext<'_>]) -> Vec<ExpandedGroup> + Send + Sync + 'static,
    ) {
        self.expanders.insert(kind, Box::new(expand));
    }

    /// Adds a kind of inner nodes, which no session can name.
    pub fn add_inner_kind(&mut self, kind: Kind) {
        self.inner_kinds.push(kind);
    }

    /// The kinds for plans: those of sessions and those of inner nodes.
    pub fn plan_catalogue(&self) -> Catalogue {
        let mut all = self.catalogue.clone();
        for kind in &self.inner_kinds {
            all.insert(kind.clone());
        }
        all
    }

    /// Sets what takes the lines that nodes print.
    pub fn set_console(&mut self, console: Console) {
        self.console = Some(console);
    }

    /// Returns true if several nodes play in place of `node`.
    pub fn is_expanded(&self, node: &Node) -> bool {
        self.expanders.contains_key(node.effective_kind())
    }

    /// What plays in place of `nodes`, each with the indices of those to which it leads, in a graph with this tempo. Those that play
    /// themselves are left out.
    ///
    /// Real-time: setup.
    pub fn expand(
        &self,
        nodes: &[(&Node, Vec<usize>)],
        (folder, tempo): (&Path, &TempoMap),
        format: ExpandFormat,
    ) -> Vec<ExpandedGroup> {
        let mut all = Vec::new();
        for (name, expand) in &self.expanders {
            let Some(kind) = self.catalogue.get(name) else {
                continue;
            };
            let is_of_kind = |at: &usize| nodes[*at].0.effective_kind() == *name;
            let indices = Vec::from_iter((0..nodes.len()).filter(is_of_kind));
            let within = |to: &usize| indices.iter().position(|index| index == to);
            let context = |at: &usize| ExpandContext {
                make: MakeContext {
                    node: nodes[*at].0,
                    kind,
                    folder,
                    driven: &[],
                    tempo,
                    work_host: None,
                },
                format,
                console: self.console.clone(),
                leads_to: nodes[*at].1.iter().filter_map(within).collect(),
            };
            let contexts = Vec::from_iter(indices.iter().map(context));
            all.extend(expand(&contexts).into_iter().map(|group| {
                let members = Vec::from_iter(group.members.iter().map(|at| indices[*at]));
                let drive = |made| drive_heads(made, kind, members.iter().map(|at| nodes[*at].0));
                ExpandedGroup {
                    made: group
                        .made
                        .map(drive)
                        .map_err(|(at, error)| (indices[at], error)),
                    members,
                }
            }));
        }
        all.sort_unstable_by_key(|group| group.members.first().copied());
        all
    }

    /// Widths of the file that `node` names, relative to `folder`; `None` if it names none, or one that cannot be read.
    ///
    /// Real-time: setup.
    pub fn probe(&self, node: &Node, folder: &Path) -> Option<Widths> {
        self.probes.get(node.effective_kind())?(node, folder)
    }

    /// The kinds alone, for readers of sessions.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Makes the processor of `node`, at the default tempo.
    ///
    /// # Errors
    ///
    /// As [`make_with_tempo`](Self::make_with_tempo).
    ///
    /// Real-time: setup.
    pub fn make(&self, node: &Node, folder: &Path) -> Result<Box<dyn Processor>, MakeError> {
        self.make_with_tempo(node, folder, &TempoMap::default())
    }

    /// Makes the processor of `node`, a node of a graph with this tempo.
    ///
    /// # Errors
    ///
    /// Its kind is not known, or the maker refuses its parameters.
    ///
    /// Real-time: setup.
    pub fn make_with_tempo(
        &self,
        node: &Node,
        folder: &Path,
        tempo: &TempoMap,
    ) -> Result<Box<dyn Processor>, MakeError> {
        let name = node.effective_kind();
        let (Some(kind), Some(maker)) = (self.catalogue.get(name), self.makers.get(name)) else {
            return Err(MakeError {
                message: format!("there is no kind `{name}`"),
                key: None,
            });
        };
        let make = |node: &Node, driven: &[u16]| {
            maker(&MakeContext {
                node,
                kind,
                folder,
                driven,
                tempo,
                work_host: self.work_host.as_ref(),
            })
        };
        match node.modulations().next() {
            None => make(node, &[]),
            Some(_) => Modulated::make(node, kind, make),
        }
    }
}
