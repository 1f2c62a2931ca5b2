//! [`LoadedState`]: what a session that is loaded changes beside the graph and the snapshots.

use crate::live_controllers::check;
use engine::{ControllerBinding, Engine, EngineError};
use graph::{Catalogue, TempoMap};
use text::toml::{controllers_section, set_controllers_section};
use text::{Section, Session};

/// Tempo and controllers, so that `undo` can take a reloaded session back as a whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoadedState {
    tempo: TempoMap,
    /// Factor by which commands have made it faster or slower than the map of the start.
    speed: f64,
    controllers: Vec<ControllerBinding>,
    /// As they are written in the session.
    section: Option<Section>,
}

impl LoadedState {
    /// Session that plays now.
    pub(crate) fn new(engine: &Engine, session: &Session) -> Self {
        Self {
            tempo: session.graph.tempo().clone(),
            speed: engine.tempo_scale(),
            controllers: engine.controllers().to_vec(),
            section: controllers_section(session).cloned(),
        }
    }

    /// Returns true if the tempo or the controllers of a session differ from those of `other`.
    pub(crate) fn differs(&self, other: &Self) -> bool {
        self.tempo != other.tempo || self.controllers != other.controllers
    }

    /// Refuses what the engine cannot take now.
    pub(crate) fn check_room(&self, now: &Self, engine: &Engine) -> Result<(), EngineError> {
        match self.tempo != now.tempo && engine.transport_room() == 0 {
            true => Err(EngineError::Busy),
            false => Ok(()),
        }
    }

    /// Goes back to this state. Controllers whose nodes are not there stay in the session alone.
    pub(crate) fn restore(
        &self,
        now: &Self,
        (engine, session): (&mut Engine, &mut Session),
        catalogue: &Catalogue,
    ) -> Result<(), EngineError> {
        if self.tempo != now.tempo {
            engine.set_tempo_scale(self.speed, 0)?;
            session.graph.set_tempo(self.tempo.clone());
        }
        if self.controllers != now.controllers {
            let there = self.controllers.iter();
            let there = there
                .filter(|it| check(std::slice::from_ref(*it), engine.graph(), catalogue).is_ok());
            let there = there.cloned().collect();
            engine.set_controllers(there)?;
            set_controllers_section(session, self.section.as_ref());
        }
        Ok(())
    }
}
