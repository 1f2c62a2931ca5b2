//! Signals that messages have changed: put in order anew.

use super::bind::Declared;
use super::message_step::{MessageStep, Swapped};
use super::moves::Moves;
use super::order::order;
use super::planned_row::ChangedRow;
use super::row::Row;
use super::touched::bind_steps;

impl MessageStep {
    /// Returns true if messages may change signals: then one node has them all.
    pub(crate) fn may_change_signals(&self) -> bool {
        self.machine.may_change_signals()
    }

    /// The row of all signals, put in order anew, if messages have changed them.
    ///
    /// Real-time: setup, where they have changed.
    pub(crate) fn take_changed_row(&mut self) -> Option<Row> {
        let layout = self.machine.take_changed_layout()?;
        // Their points lie in the machine while it is found out which are touched.
        self.swap_arrays();
        let order = order(&[(&layout.root, &layout.built)]);
        let parts = (self.format, &self.time);
        let declared = (Declared::of(&self.machine, &order, &self.format), None);
        let (machine, things) = (&mut self.machine, &mut self.things);
        let (bound, touched) = bind_steps(machine, order, parts, things, declared);
        self.touched = touched;
        self.swap_arrays();
        self.machine.keep_layout(layout);
        Some(self.row(bound, (&[], &[])).0)
    }

    /// Makes the changes that messages wait for, while the signals compute. Gives the row of all signals if they have changed.
    ///
    /// Real-time: waits, on the disk.
    pub(crate) fn make_edits(&mut self) -> Option<ChangedRow> {
        self.machine.make_edits();
        let layout = self.machine.take_changed_layout()?;
        let order = order(&[(&layout.root, &layout.built)]);
        let parts = (self.format, &self.time);
        let declared = std::mem::take(&mut self.touched.declared);
        let declared = declared.with_new(&self.machine, &order, &self.format);
        let mut moves = Moves::new(declared.traits.clone());
        let (machine, things) = (&mut self.machine, &mut self.things);
        let declared = (declared, Some(&mut moves));
        let (bound, touched) = bind_steps(machine, order, parts, things, declared);
        self.machine.keep_layout(layout);
        let parts = (&self.format, self.time.clone());
        let (row, _) = Row::planned(&self.machine, bound, (&[], &[]), parts, &mut moves);
        Some(ChangedRow {
            row: Some(row),
            moves,
            touched,
        })
    }

    /// As [`make_edits`](Self::make_edits), where no signals compute. Gives the row of all, put in order anew.
    ///
    /// Real-time: waits, on the disk.
    pub(crate) fn make_edits_alone(&mut self) -> Option<Row> {
        self.machine.have_signals(true);
        self.machine.make_edits();
        self.machine.have_signals(false);
        self.take_changed_row()
    }

    /// Goes on with the messages that waited for changes.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(crate) fn go_on_after_edits(&mut self) {
        let block = self.time.tick() + 1;
        let swapped = Swapped::new(self);
        swapped.0.machine.go_on_after_edits(block);
    }

    /// Lets the objects move into a changed row, whose signals compute from now on.
    ///
    /// Real-time: hot.
    pub(crate) fn take_row(&mut self, changed: &mut ChangedRow) {
        changed.moves.carry_out(&mut self.machine);
        self.swap_arrays();
        std::mem::swap(&mut self.touched, &mut changed.touched);
        self.swap_arrays();
    }
}
