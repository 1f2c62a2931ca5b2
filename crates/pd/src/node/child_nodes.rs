//! Sub-patches of `pd~` as nodes: each computes beside the nodes of its patch, for which it waits only with `-fifo 1`.

use super::expansion::{Nodes, STEP_KIND, clamp};
use crate::child::{ChildRunner, block_number};
use graph::{Node, Port};
use processor::{Block, InnerPort, ORDER, ProcessStatus, Processor, Setup, Tail};
use units::Nanos;

/// Cost of a block of a sub-patch. Which one will play is not known to the plan.
const COST: Nanos = Nanos(20_000);

/// A sub-patch, or none.
struct ChildNode(ChildRunner);

impl Processor for ChildNode {
    fn setup(&mut self, _: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        self.0.run_in(block_number(block));
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Infinite
    }
}

impl Nodes {
    /// Adds a node for each sub-patch, behind the `groups` first nodes if it waits for them.
    ///
    /// The last node before them, with channels of `dac~`, waits for those that wait for nothing: so a pipeline keeps them in the
    /// stage of their patch, and all play in the same blocks.
    pub(super) fn add_children(&mut self, runners: Vec<(ChildRunner, String)>, groups: usize) {
        let last = self.made.len() - 1;
        for (runner, name) in runners {
            let mut node = Node::new(name, STEP_KIND);
            node.cost = Some(COST);
            node.outputs.push(Port::new("order", ORDER));
            let this = self.number(self.made.len());
            let is_direct = runner.is_direct();
            if is_direct {
                node.inputs.push(Port::new("order", ORDER));
            }
            self.made.push((node, Box::new(ChildNode(runner))));
            let port = |node, port| InnerPort { node, port };
            if !is_direct {
                self.edges.push((port(this, 0), self.order_input(last)));
                continue;
            }
            self.edges.push((port(self.messages, 0), port(this, 0)));
            for group in 0..groups {
                let order = clamp(self.made[group].0.outputs.len() - 1);
                let from = port(self.number(group), order);
                self.edges.push((from, port(this, 0)));
            }
        }
    }
}
