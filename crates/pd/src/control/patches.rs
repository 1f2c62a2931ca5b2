//! [`Patches`]: which of several patches that share their names an object belongs to.

use super::placed_box::PlacedBox;
use super::receivers::Receivers;
use super::symbol::Symbol;
use super::wire::ObjectId;

/// Objects that receive, by their names.
type Named = Vec<(Symbol, ObjectId)>;

/// The patches of a machine, in the order in which they were opened.
#[derive(Debug, Default)]
pub(super) struct Patches {
    /// First object of each run of objects of one patch, and the patch.
    runs: Vec<(ObjectId, u16)>,
    /// By patch: names that its objects receive, sorted.
    received: Vec<Vec<String>>,
    /// By patch: boxes that faces can show.
    boxes: Vec<Vec<PlacedBox>>,
    /// Patches that are not open yet: the number of the first loadbang of each, and what receives in it. The last one comes first.
    waiting: Vec<(usize, Named)>,
    /// By patch: true if it was removed.
    closed: Vec<bool>,
}

impl Patches {
    /// Adds a patch whose objects begin at `first`.
    ///
    /// Real-time: setup.
    pub(super) fn add(&mut self, first: ObjectId, received: Vec<String>, boxes: Vec<PlacedBox>) {
        self.runs.push((first, self.count()));
        self.received.push(received);
        self.boxes.push(boxes);
        self.closed.push(false);
    }

    /// Lets what receives in the patch that was added last wait until those before it have sent their loadbangs, as in Pd.
    ///
    /// Real-time: setup.
    pub(super) fn wait(&mut self, first_loadbang: usize, receivers: Named) {
        self.waiting.insert(0, (first_loadbang, receivers));
    }

    /// Opens the patches whose loadbangs begin at `loadbang` or before.
    pub(super) fn open(&mut self, loadbang: usize, receivers: &mut Receivers) {
        while self.waiting.last().is_some_and(|(at, _)| *at <= loadbang) {
            for (name, object) in self.waiting.pop().into_iter().flat_map(|patch| patch.1) {
                receivers.add(name, object);
            }
        }
    }

    /// Objects from `first` on belong to `patch`.
    ///
    /// Real-time: setup.
    pub(super) fn continue_with(&mut self, first: ObjectId, patch: u16) {
        if self.runs.last().is_some_and(|run| run.1 != patch) {
            self.runs.push((first, patch));
        }
    }

    fn count(&self) -> u16 {
        u16::try_from(self.received.len()).expect("a session has few patches")
    }

    /// Returns true if there are more than one.
    pub(super) fn are_several(&self) -> bool {
        self.received.len() > 1
    }

    /// The patch of an object, from 0.
    pub(super) fn of(&self, id: ObjectId) -> u16 {
        let after = self.runs.partition_point(|(first, _)| *first <= id);
        after.checked_sub(1).map_or(0, |at| self.runs[at].1)
    }

    /// Names that a patch receives.
    pub(super) fn received(&self, patch: u16) -> &[String] {
        &self.received[usize::from(patch)]
    }

    /// Boxes of a patch that faces can show.
    pub(super) fn boxes(&self, patch: u16) -> &[PlacedBox] {
        &self.boxes[usize::from(patch)]
    }

    /// The box of a name.
    ///
    /// Real-time: hot, by the number of boxes.
    pub(super) fn box_named(&self, patch: u16, name: &str) -> Option<ObjectId> {
        let mut boxes = self.boxes(patch).iter();
        boxes.find(|it| it.name == name).map(|it| it.id)
    }

    /// Lets nothing reach the objects of a patch, or again.
    ///
    /// Real-time: hot.
    pub(super) fn close(&mut self, patch: u16, is_closed: bool) {
        self.closed[usize::from(patch)] = is_closed;
    }

    pub(super) fn is_closed(&self, patch: u16) -> bool {
        self.closed[usize::from(patch)]
    }
}
