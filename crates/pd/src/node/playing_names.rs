//! [`PlayingNames`]: names of the patches that play, so that a patch that comes later says which of them it does not share.
//!
//! Patches that are loaded together share their messages. One that a command adds has messages of its own.

use super::names::PatchNames;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Names that a line says, at most.
const MAX_SAID: usize = 12;

/// All that play, in whatever engine.
static PLAYING: Mutex<Vec<Weak<NodeNames>>> = Mutex::new(Vec::new());

/// Names of a patch.
struct NodeNames {
    /// The console of the program to which it prints: patches of another one are strangers.
    console: usize,
    node: String,
    /// None where it shares none by its own choice.
    names: Option<PatchNames>,
}

/// Names of a patch; it counts as playing from [`begin`](Self::begin) on, as long as this is there.
pub(super) struct PlayingNames(Arc<NodeNames>);

impl PlayingNames {
    /// Names of the patch of a node that does not play yet. `console` says which belong together.
    pub(super) fn new(console: usize, node: &str, names: Option<PatchNames>) -> Self {
        let node = node.to_owned();
        Self(Arc::new(NodeNames {
            console,
            node,
            names,
        }))
    }

    /// Its node.
    pub(super) fn node(&self) -> &str {
        &self.0.node
    }

    /// A line for each patch that plays, and with which it shares no names. Those of the nodes in `replaced` play no longer.
    ///
    /// Real-time: setup.
    pub(super) fn apart(&self, replaced: &[&str]) -> Vec<String> {
        let playing = PLAYING.lock().unwrap_or_else(PoisonError::into_inner);
        let others = playing.iter().filter_map(Weak::upgrade);
        let others =
            others.filter(|it| it.console == self.0.console && !replaced.contains(&&*it.node));
        others.filter_map(|it| self.apart_from(&it)).collect()
    }

    /// Counts as playing from now on.
    ///
    /// Real-time: setup.
    pub(super) fn begin(&self) {
        let mut playing = PLAYING.lock().unwrap_or_else(PoisonError::into_inner);
        playing.retain(|names| names.strong_count() > 0);
        playing.push(Arc::downgrade(&self.0));
    }

    fn apart_from(&self, other: &NodeNames) -> Option<String> {
        let (own, there) = (self.0.names.as_ref()?, other.names.as_ref()?);
        let common: BTreeSet<&str> = own.common(there).collect();
        let more = match common.len().saturating_sub(MAX_SAID) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let said = Vec::from_iter(common.into_iter().take(MAX_SAID)).join(", ");
        (!said.is_empty()).then(|| {
            let node = &other.node;
            format!(
                "not shared with `{node}`, which has played before: {said}{more}; patches of a session's file share their names"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::load_text;

    fn names(node: &str, console: usize, text: &str) -> PlayingNames {
        let patch = load_text("p.pd", format!("#N canvas 0 0 9 9 12;\n{text}"));
        PlayingNames::new(console, node, Some(PatchNames::of(&patch)))
    }

    #[test]
    fn a_patch_that_comes_later_says_which_names_it_does_not_share() {
        let console = 0x5ead;
        let first = names(
            "first",
            console,
            "#X obj 0 0 r freq;\n#X obj 0 0 table wave;\n",
        );
        assert!(first.apart(&[]).is_empty());
        first.begin();
        let second = "#X obj 0 0 s freq;\n#X obj 0 0 tabread~ wave;\n#X obj 0 0 r mine;\n";
        let said = names("second", console, second).apart(&["second"]);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].contains("`first`") && said[0].contains("freq, wave;"),
            "{said:?}"
        );
        // Another version of the same node, another program, and one that has gone.
        assert!(names("first", console, second).apart(&["first"]).is_empty());
        assert!(
            names("second", console + 1, second)
                .apart(&["second"])
                .is_empty()
        );
        drop(first);
        assert!(
            names("second", console, second)
                .apart(&["second"])
                .is_empty()
        );
    }
}
