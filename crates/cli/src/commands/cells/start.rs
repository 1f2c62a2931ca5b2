//! [`CellOptions`]: from a session to cells that have come up, and the engine that asks them for blocks.

use super::admission::{AdmissionOptions, capacity, check_admission, costs_of, worst_costs};
use super::drill::DrillOption;
use super::kept::KeptChanges;
use super::marks::FileMarks;
use super::service::MeasuredOutputs;
use super::supervisor::Supervisor;
use super::{split_cells, valid_cells};
use crate::failure::Failure;
use crate::output::messages;
use crate::session::load::LoadedSession;
use divisi::cells::{
    CellLink, CellLinks, CellPart, CellService, CellSpec, Drill, DrillKind, HandedSession,
    KeptCell, Launch, LaunchRequest, MachineFiles, Monitor, MonitorOptions, PlannedCell,
    SUPERVISOR_DRILLS, ServiceOptions, Split, Succession, SystemSpec, WorkLinks, read_system,
    register_cells,
};
use divisi::prelude::{Engine, EngineCallback, EngineOptions, Frames, Registry, SampleRate};
use divisi::processor::WorkHost;
use divisi::rt::stamp::TickScale;
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
        options.folder.clone_from(&loaded.folder);
        let start = CellStart {
            cells: self,
            loaded,
            kept,
            format: (options.rate, options.block),
            lost: succession.lost(),
            system: read_valid_system(loaded)?,
        };
        start.run(options, succession)
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
    fn launch(&self, (rate, block): (SampleRate, Frames), work: HashMap<String, String>) -> Launch {
        let (file, is_live) = (self.file.to_owned(), self.is_live);
        Box::new(move |request: &LaunchRequest<'_>| {
            let mut arguments: Vec<OsString> = vec!["cell-process".into(), file.clone().into()];
            let mut add = |argument: String| arguments.push(argument.into());
            add(format!("--name={}", request.spec.name));
            if let Some(work) = work.get(&request.spec.name) {
                add(format!("--work={work}"));
            }
            if let Some(before) = request.before {
                add(format!("--before={before}"));
            }
            let cores: Vec<String> = request.spec.cores.iter().map(usize::to_string).collect();
            add(format!("--cores={}", cores.join(",")));
            add(format!("--rate={}", rate.hz()));
            add(format!("--block={}", block.0));
            // Comparing ticks with the clock takes 20 ms, in which a cell that comes back would be silent.
            add(format!(
                "--ticks={}",
                TickScale::calibrated().ticks_per_second()
            ));
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

/// One start of the cells of a session, or of those that a supervisor before has left.
struct CellStart<'a> {
    cells: &'a CellOptions<'a>,
    loaded: &'a LoadedSession,
    kept: Rc<RefCell<KeptChanges>>,
    format: (SampleRate, Frames),
    /// Supervisors that were lost before.
    lost: u64,
    system: SystemSpec,
}

impl CellStart<'_> {
    fn run(self, options: EngineOptions, succession: Succession) -> Result<StartedCells, Failure> {
        let mut planned = plan(self.loaded, &self.kept.borrow())?;
        let marks = (self.kept.borrow_mut()).marks(|| FileMarks::of(self.loaded).to_text());
        planned.session.marks.clone_from(&marks);
        let is_edited = self.drop_lost_edits();
        let parts = &planned.split.cells;
        let (drills, own_drills) = self.cells.drills(parts, self.format.0, self.lost > 0)?;
        let machine = MachineFiles::default();
        self.check_machine(&planned.split, &machine)?;
        let work = self.work(&planned.split)?;
        let session = (succession, planned.session);
        let monitor = self.monitor_options(session, is_edited, work.paths());
        let started = Monitor::start(planned_cells(&planned.cells, parts, drills), monitor);
        let started = started.map_err(Failure::failed)?;
        let host = work.host(started.monitor.statuses());
        let (registry, links) = registry_with_cells(started.links, host);
        let service = self.service_options((registry.clone(), links), machine, marks);
        let kept = self.kept.borrow();
        planned.split.outer = kept.apply_params(&planned.split.outer, parts);
        drop(kept);
        let running = (started.monitor, started.cells);
        let mut service = CellService::new(service, (&planned.split, planned.cells), running);
        self.restore(&mut service);
        let made = Engine::new(planned.split.outer, registry.clone(), options);
        let (engine, callback) = made.map_err(|error| self.loaded.engine_failure(error))?;
        let mut supervisor = self.supervisor((service, work), registry, own_drills);
        supervisor.print_news();
        Ok(StartedCells {
            engine,
            callback,
            supervisor,
        })
    }

    /// Gives the service what its predecessor knew, and keeps what its successor has to know.
    fn restore(&self, service: &mut CellService) {
        service.set_words(self.kept.borrow().words());
        service.set_left(self.kept.borrow().left());
        if self.lost == 0 && self.loaded.includes() {
            // The next supervisor reads no included file again either.
            service.note_filed(&self.loaded.session);
            self.kept.borrow_mut().note_service(service);
        }
    }

    /// Names the changes of nodes and edges that the supervisor before has made: they are lost. Returns true if there are any.
    fn drop_lost_edits(&self) -> bool {
        let lost = self.kept.borrow_mut().take_edits();
        if let Some(what) = &lost {
            messages::print_message(&format!(
                "lost with the supervisor, since changes of nodes and edges are not kept: {what}"
            ));
        }
        lost.is_some()
    }

    /// Returns true if only what fits is played: a render has no deadline.
    fn is_admitting(&self) -> bool {
        self.cells.is_live && self.cells.admission.is_on()
    }

    fn reserve_percent(&self) -> u8 {
        self.cells.admission.reserve(self.system.reserve_percent)
    }

    /// Refuses cells that do not fit this machine, and cleans up what earlier ones have left. Cells that are taken over were
    /// admitted.
    fn check_machine(&self, split: &Split, machine: &MachineFiles) -> Result<(), Failure> {
        let cells: Vec<&CellSpec> = split.cells.iter().map(|cell| &cell.spec).collect();
        if self.is_admitting() && self.lost == 0 {
            let session = (self.loaded, self.cells.file);
            check_admission(session, &cells, self.format, self.reserve_percent())?;
        }
        if !self.cells.is_live {
            return Ok(());
        }
        if self.lost == 0 {
            let missing = divisi::cells::check_cores_of_machine(cells.iter().copied());
            self.loaded.refuse(&missing)?;
        }
        self.loaded.refuse(&machine.split_siblings(&cells))?;
        messages::print_notes(&machine.clean());
        Ok(())
    }

    /// Memory for the work that cells do for nodes elsewhere.
    fn work(&self, split: &Split) -> Result<WorkLinks, Failure> {
        let session = (&self.loaded.session.graph, self.loaded.folder.as_path());
        let cells = split.cells.iter().map(|cell| &cell.spec);
        let made = WorkLinks::new(session, cells, &self.loaded.registry, self.format);
        made.map_err(Failure::failed)
    }

    fn monitor_options(
        &self,
        (succession, session): (Succession, HandedSession),
        is_edited: bool,
        work: HashMap<String, String>,
    ) -> MonitorOptions {
        let (rate, block) = self.format;
        MonitorOptions {
            block,
            rate,
            is_live: self.cells.is_live,
            launch: self.cells.launch(self.format, work),
            succession,
            session,
            is_edited,
        }
    }

    fn service_options(
        &self,
        (registry, links): (Arc<Registry>, CellLinks),
        machine: MachineFiles,
        marks: String,
    ) -> ServiceOptions {
        let (rate, block) = self.format;
        let (session, file) = (&self.loaded.session, self.cells.file);
        let capacity = || capacity(self.format, self.reserve_percent());
        ServiceOptions {
            filed: session.graph.clone(),
            graph: self.kept.borrow().apply_params(&session.graph, &[]),
            session: session.clone(),
            registry: registry.clone(),
            links,
            costs: worst_costs(self.loaded, file, block),
            costs_of: costs_of(file.to_path_buf(), registry, block),
            period: block.duration(rate),
            capacity: self.is_admitting().then(capacity),
            goal: self.cells.is_live.then_some(self.system.goal),
            machine,
            has_new_graph: self.kept.borrow().edited().is_some(),
            marks,
        }
    }

    fn supervisor(
        self,
        (service, work): (CellService, WorkLinks),
        registry: Arc<Registry>,
        drills: Vec<Drill>,
    ) -> Supervisor {
        let (rate, block) = self.format;
        let service = Rc::new(RefCell::new(service));
        Supervisor {
            taps: MeasuredOutputs(service.clone()),
            service,
            file: self.cells.file.to_path_buf(),
            kept: self.kept,
            registry,
            drills,
            planned_drills: self.cells.drills.to_vec(),
            _work: work,
            period: block.duration(rate),
            // A render has begun anew: nothing is lost.
            lost: if self.cells.is_live { self.lost } else { 0 },
            has_told: false,
        }
    }
}

/// The parts of the cells that the monitor is to start.
fn planned_cells<'a>(
    cells: &[KeptCell],
    parts: &'a [CellPart],
    drills: Vec<Vec<Drill>>,
) -> Vec<PlannedCell<'a>> {
    let planned = cells.iter().zip(parts).zip(drills);
    let planned = planned.map(|((cell, part), drills)| PlannedCell {
        index: cell.index,
        part,
        drills,
        is_stopped: cell.stopped.is_some(),
        parts: cell.parts.clone(),
    });
    planned.collect()
}

/// All kinds, and those of the nodes that stand for cells; `host` gives nodes the ways to processes that do their work.
fn registry_with_cells(
    links: Vec<(String, CellLink)>,
    host: Option<Arc<dyn WorkHost>>,
) -> (Arc<Registry>, CellLinks) {
    let links = CellLinks::new(links.into_iter().collect::<HashMap<_, _>>().into());
    let mut registry = divisi::registry();
    register_cells(&mut registry, links.clone());
    if let Some(host) = host {
        registry.set_work_host(host);
    }
    (Arc::new(registry), links)
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
        && let Ok(mut split) = divisi::cells::split(graph, &specs, catalogue)
    {
        let parts = cells.iter().zip(&mut split.cells);
        parts.for_each(|(cell, part)| cell.number_targets(part));
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
        session: match loaded.includes() {
            // As it was read: each process would read the included files again.
            true => HandedSession::with_cells(&loaded.session, (graph, &filed), catalogue),
            false => HandedSession::new(loaded.source()),
        },
    })
}

/// The section of all cells together.
fn read_valid_system(loaded: &LoadedSession) -> Result<SystemSpec, Failure> {
    let (system, mistakes) = read_system(&loaded.session);
    loaded.refuse(&mistakes)?;
    Ok(system)
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
