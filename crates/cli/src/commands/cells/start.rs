//! [`CellOptions`]: from a session to cells that have come up, and the engine that asks them for blocks.

use super::admission::{AdmissionOptions, capacity, check_admission, costs_of, worst_costs};
use super::drill::DrillOption;
use super::kept::KeptChanges;
use super::supervisor::Supervisor;
use super::{split_cells, valid_cells};
use crate::failure::Failure;
use crate::output::messages;
use crate::session::load::LoadedSession;
use divisi::cells::{
    CellLinks, CellPart, CellService, CellSpec, Drill, DrillKind, HandedSession, KeptCell, Launch,
    LaunchRequest, MachineFiles, Monitor, MonitorOptions, PlannedCell, SUPERVISOR_DRILLS,
    ServiceOptions, Split, Start, Succession, SystemSpec, read_system, register_cells,
};
use divisi::prelude::{Engine, EngineCallback, EngineOptions, Frames, SampleRate};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// Options of a call that concern cells.
pub(super) struct CellOptions<'a> {
    /// The session.
    pub(super) file: &'a Path,
    /// With a deadline.
    pub(super) is_live: bool,
    pub(super) drills: &'a [DrillOption],
    pub(super) admission: &'a AdmissionOptions,
}

/// Cells that have come up, and the engine with a node for each.
pub(super) struct StartedCells {
    pub(super) engine: Engine,
    pub(super) callback: EngineCallback,
    pub(super) supervisor: Supervisor,
}

/// Failures of each cell, and of the supervisor.
type Drills = (Vec<Vec<Drill>>, Vec<Drill>);

/// Name of the supervisor in `--drill`, if no cell has it.
const SUPERVISOR: &str = "supervisor";

impl CellOptions<'_> {
    /// Starts the cells of a session, or takes over those that a supervisor before has left, and makes the engine. Mistakes
    /// are printed.
    pub(super) fn start(
        &self,
        loaded: &LoadedSession,
        mut options: EngineOptions,
        (succession, kept): (Succession, Rc<RefCell<KeptChanges>>),
    ) -> Result<StartedCells, Failure> {
        let (rate, block, lost) = (options.rate, options.block, succession.lost());
        options.folder.clone_from(&loaded.folder);
        let Planned {
            cells,
            mut split,
            session,
        } = plan(loaded, &kept.borrow())?;
        let lost_edits = kept.borrow_mut().take_edits();
        if let Some(what) = &lost_edits {
            messages::print_message(&format!(
                "lost with the supervisor, since changes of nodes and edges are not kept: {what}"
            ));
        }
        let (drills, own_drills) = self.drills(&split.cells, rate, lost > 0)?;
        let system = read_valid_system(loaded)?;
        let reserve = self.admission.reserve(system.reserve_percent);
        // A render has no deadline. Cells that are taken over were admitted.
        if self.is_live && lost == 0 && self.admission.is_on() {
            let cells: Vec<&CellSpec> = split.cells.iter().map(|cell| &cell.spec).collect();
            check_admission((loaded, self.file), &cells, (rate, block), reserve)?;
        }
        let machine = MachineFiles::default();
        if self.is_live && lost == 0 {
            check_cores(loaded, &split)?;
        }
        if self.is_live {
            check_siblings(loaded, &machine, &split)?;
            messages::print_notes(&machine.clean());
        }
        let planned = cells.iter().zip(&split.cells).zip(drills);
        let planned = planned.map(|((cell, part), drills)| PlannedCell {
            index: cell.index,
            part,
            drills,
            is_stopped: cell.stopped.is_some(),
        });
        let monitor = MonitorOptions {
            block,
            rate,
            is_live: self.is_live,
            launch: self.launch((rate, block)),
            succession,
            session,
            is_edited: lost_edits.is_some(),
        };
        let started = Monitor::start(planned.collect(), monitor);
        let Start {
            monitor,
            links,
            texts,
        } = started.map_err(Failure::failed)?;
        let links = CellLinks::new(links.into_iter().collect::<HashMap<_, _>>().into());
        let mut registry = divisi::registry();
        register_cells(&mut registry, links.clone());
        let registry = Arc::new(registry);
        let is_checked = self.is_live && self.admission.is_on();
        let service = ServiceOptions {
            filed: loaded.session.graph.clone(),
            graph: kept.borrow().apply_params(&loaded.session.graph, &[]),
            session: loaded.session.clone(),
            registry: registry.clone(),
            links,
            costs: worst_costs(loaded, self.file, block),
            costs_of: costs_of(self.file.to_path_buf(), registry.clone(), block),
            period: block.duration(rate),
            capacity: is_checked.then(|| capacity((rate, block), reserve)),
            goal: self.is_live.then_some(system.goal),
            machine,
        };
        split.outer = kept.borrow().apply_params(&split.outer, &split.cells);
        let service = CellService::new(service, (&split, cells), (monitor, texts));
        let mut supervisor = Supervisor {
            service: Rc::new(RefCell::new(service)),
            kept,
            registry: registry.clone(),
            drills: own_drills,
            planned_drills: self.drills.to_vec(),
            period: block.duration(rate),
            // A render has begun anew: nothing is lost.
            lost: if self.is_live { lost } else { 0 },
            has_told: false,
        };
        let made = Engine::new(split.outer, registry, options);
        let (engine, callback) = made.map_err(|error| loaded.engine_failure(error))?;
        supervisor.print_news();
        Ok(StartedCells {
            engine,
            callback,
            supervisor,
        })
    }

    /// The failures to cause in each cell, and in the supervisor.
    fn drills(
        &self,
        cells: &[CellPart],
        rate: SampleRate,
        is_successor: bool,
    ) -> Result<Drills, Failure> {
        let (mut all, mut own) = (vec![Vec::new(); cells.len()], Vec::new());
        for option in self.drills {
            let drill = Drill {
                kind: option.kind,
                frame: (option.seconds * f64::from(rate.hz())).round() as u64,
            };
            let found = cells.iter().position(|cell| cell.spec.name == option.cell);
            match found {
                Some(found) => all[found].push(drill),
                None if option.cell == SUPERVISOR => {
                    check_supervisor_drill(option.kind)?;
                    own.push(drill);
                }
                // A command has removed it.
                None if is_successor => {}
                None => {
                    let message = format!("--drill: the session has no cell `{}`", option.cell);
                    return Err(Failure::bad_input(message));
                }
            }
        }
        own.sort_by_key(|drill| drill.frame);
        Ok((all, own))
    }

    /// The arguments of this program as a cell.
    fn launch(&self, (rate, block): (SampleRate, Frames)) -> Launch {
        let (file, is_live) = (self.file.to_owned(), self.is_live);
        Box::new(move |request: &LaunchRequest<'_>| {
            let mut arguments: Vec<OsString> = vec!["cell-process".into(), file.clone().into()];
            let mut add = |argument: String| arguments.push(argument.into());
            add(format!("--name={}", request.spec.name));
            if let Some(before) = request.before {
                add(format!("--before={before}"));
            }
            let cores: Vec<String> = request.spec.cores.iter().map(usize::to_string).collect();
            add(format!("--cores={}", cores.join(",")));
            add(format!("--rate={}", rate.hz()));
            add(format!("--block={}", block.0));
            if is_live {
                add("--live".to_owned());
            }
            if request.is_first {
                add("--notes".to_owned());
            }
            arguments
        })
    }
}

/// The cells to start, and the session that their processes read.
struct Planned {
    cells: Vec<KeptCell>,
    split: Split,
    session: HandedSession,
}

/// Cuts the session at the borders of its cells, or of those that a supervisor before has left.
fn plan(loaded: &LoadedSession, kept: &KeptChanges) -> Result<Planned, Failure> {
    let (filed, catalogue) = (valid_cells(loaded)?, loaded.registry.catalogue());
    let graph = &loaded.session.graph;
    if let Some((cells, specs)) = kept.cells(&filed, graph)
        && let Ok(split) = divisi::cells::split(graph, &specs, catalogue)
    {
        let session = HandedSession::with_cells(&loaded.session, (graph, &specs), catalogue);
        return Ok(Planned {
            cells,
            split,
            session,
        });
    }
    Ok(Planned {
        cells: KeptCell::filed(&filed),
        split: split_cells(loaded, &filed)?,
        session: HandedSession::new(loaded.source()),
    })
}

fn read_valid_system(loaded: &LoadedSession) -> Result<SystemSpec, Failure> {
    let (system, mistakes) = read_system(&loaded.session);
    if mistakes.is_empty() {
        return Ok(system);
    }
    loaded.print_diagnostics(&mistakes);
    Err(Failure::bad_input_reported())
}

fn check_supervisor_drill(kind: DrillKind) -> Result<(), Failure> {
    if SUPERVISOR_DRILLS.contains(&kind) {
        return Ok(());
    }
    let names = DrillKind::NAMES.iter();
    let names = names.filter(|(_, kind)| SUPERVISOR_DRILLS.contains(kind));
    let names: Vec<&str> = names.map(|(name, _)| *name).collect();
    Err(Failure::bad_input(format!(
        "--drill: the supervisor can fail by {}",
        names.join(", ")
    )))
}

/// Refuses cores that are not there.
fn check_cores(loaded: &LoadedSession, split: &Split) -> Result<(), Failure> {
    let cells = split.cells.iter().map(|cell| &cell.spec);
    let mistakes = divisi::cells::check_cores_of_machine(cells);
    match mistakes.is_empty() {
        true => Ok(()),
        false => {
            loaded.print_diagnostics(&mistakes);
            Err(Failure::bad_input_reported())
        }
    }
}

/// Refuses cells that split a physical core between them.
fn check_siblings(
    loaded: &LoadedSession,
    machine: &MachineFiles,
    split: &Split,
) -> Result<(), Failure> {
    let cells: Vec<&CellSpec> = split.cells.iter().map(|cell| &cell.spec).collect();
    let mistakes = machine.split_siblings(&cells);
    if mistakes.is_empty() {
        return Ok(());
    }
    loaded.print_diagnostics(&mistakes);
    Err(Failure::bad_input_reported())
}
