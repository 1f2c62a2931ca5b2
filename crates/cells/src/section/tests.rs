//! Tests of the tables of cells.

use super::*;
use crate::policy::Server;
use graph::Catalogue;
use units::Nanos;

fn cells(text: &str) -> (Vec<CellSpec>, Vec<String>) {
    let session = text::toml::read(text, &Catalogue::default()).session;
    let (cells, mistakes) = read_cells(&session);
    (cells, mistakes.into_iter().map(|it| it.message).collect())
}

#[test]
fn a_cell_is_read_with_its_defaults() {
    let text = "[cell.a]\nnodes = [\"x\"]\n\n[cell.b]\nnodes = [\"y\", \"z\"]\ncores = [1]\nlatency = 1\npolicy = \"none\"\nmemory_mib = 9\nprecedence = 3\n";
    let (cells, mistakes) = cells(text);
    assert_eq!((cells.len(), mistakes), (2, vec![]));
    assert_eq!(
        (cells[0].memory_mib, cells[0].latency),
        (256, CellLatency::default())
    );
    let b = &cells[1];
    assert_eq!(
        (b.cores.as_slice(), b.memory_mib, b.precedence),
        (&[1][..], 9, 3)
    );
    assert_eq!((&b.policy, b.latency.blocks()), (&Policy::Exclusive, 1));
}

#[test]
fn windows_and_servers_are_read_with_their_policies() {
    let time = "nodes = [\"x\"]\npolicy = \"time-triggered\"\ncores = [0]\nwindows = [{ period_us = 9, length_us = 3 }, { period_us = 9, offset_us = 5, length_us = 1 }]";
    let Policy::TimeTriggered(windows) = CellSpec::from_text("a", time).unwrap().policy else {
        panic!("another policy");
    };
    assert_eq!(windows.table().len(), 2);
    assert_eq!(windows.max_supply(Nanos(9000)), Nanos(4000));
    let event = "nodes = [\"x\"]\npolicy = \"event-triggered\"\ncores = [0, 1]\nbudget_us = 100\nperiod_us = 400";
    let event = CellSpec::from_text("a", event).unwrap();
    let server = Server::new(Nanos(100_000), Nanos(400_000)).unwrap();
    assert_eq!(
        (event.workers(), event.policy),
        (1, Policy::EventTriggered(server))
    );
}

#[test]
fn each_mistake_of_a_cell_is_named_and_costs_only_that_cell() {
    let wrong = [
        ("", "needs `nodes`"),
        ("nodes = []", "needs `nodes`"),
        ("nodes = [1]", "needs `nodes`"),
        ("nodes = [\"x\"]\ncores = \"all\"", "is a list"),
        ("nodes = [\"x\"]\ncores = [-1]", "list of numbers"),
        ("nodes = [\"x\"]\ncores = [1, 0, 1]", "core 1 twice"),
        ("nodes = [\"x\"]\nlatency = 257", "0 to 256"),
        ("nodes = []\nwork = [\"x\"]", "needs `nodes`"),
        ("work = [1]", "`work` is a list of names"),
        ("work = []", "needs `nodes`"),
        ("nodes = [\"x\"]\nmemory_mib = -2", "1 to"),
        ("nodes = [\"x\"]\nprecedence = 10", "0 to 9"),
        ("nodes = [\"x\"]\npolicy = \"none\"", "needs `cores`"),
        (
            "nodes = [\"x\"]\npolicy = \"event-triggered\"",
            "needs `budget_us`",
        ),
        (
            "nodes = [\"x\"]\npolicy = \"event-triggered\"\nbudget_us = 300\nperiod_us = 200",
            "a budget lasts 20 us at least",
        ),
        (
            "nodes = [\"x\"]\npolicy = \"time-triggered\"\ncores = [0]",
            "there are 1 to",
        ),
        (
            "nodes = [\"x\"]\npolicy = \"time-triggered\"\nwindows = [{ period_us = 9, length_us = 3 }]",
            "needs `cores`",
        ),
        (
            "nodes = [\"x\"]\npolicy = \"time-triggered\"\ncores = [0]\nwindows = [{ period_us = 9, length = 3 }]",
            "is a list of { period_us",
        ),
        (
            "nodes = [\"x\"]\nbudget_us = 300",
            "is no key under the policy \"best-effort\"",
        ),
        ("nodes = [\"x\"]\npolicy = 3", "is \"none\", "),
        (
            "nodes = [\"x\"]\nrooms = 3",
            "is no key; keys are nodes, work",
        ),
        ("nodes = [\"x\"]\nmax_mzh = 3", "did you mean `max_mhz`?"),
        (
            "nodes = [\"x\"]\nwatts = 3",
            "`max_mhz` caps the clock rate",
        ),
    ];
    for (line, part) in wrong {
        let text = format!("[cell.good]\nnodes = [\"x\"]\n[cell.bad]\n{line}\n");
        let (cells, mistakes) = cells(&text);
        assert_eq!(cells.len(), 1, "{line}");
        let is_named = mistakes.len() == 1 && mistakes[0].contains(part);
        assert!(
            is_named && mistakes[0].contains("`bad`"),
            "{line}: {mistakes:?}"
        );
    }
}

#[test]
fn a_mistake_in_a_key_has_its_line_and_other_cores_are_written() {
    let read = |cells: &str| {
        let text = format!("edges = []\n\n{cells}");
        read_cells(&text::toml::read(&text, &Catalogue::default()).session)
    };
    for (cell, place) in [
        ("[cell.a]\nnodes = [\"x\"]\n  memory_mib = 0\n", (5, 3)),
        ("[cell.b]\nnodes = [\"y\"]\nlatencies = 1\n", (5, 1)),
        ("[cell.c]\nlatency = 1\n", (3, 1)),
        (
            "[cell.a]\nnodes = [\"x\"]\n[cell.b]\nnodes = [\"y\"]\nlatencies = 1\n",
            (7, 1),
        ),
        // Tables that do not follow each other, with lines above them.
        (
            "[cell.a]\nnodes = [\"x\"]\n\n[nodes.x]\nkind = \"k\"\n# Mine.\n[cell.b]\nnodes = [\"y\"]\n  latencies = 1\n",
            (11, 3),
        ),
        (
            "[cell.a]\nnodes = [\"x\"]\n\n[nodes.x]\nkind = \"k\"\n# Mine.\n[cell.b]\nlatency = 1\n",
            (9, 1),
        ),
        (
            "[cell]\na = { nodes = [\"x\"] }\n  b = { nodes = [\"y\"], cores = 1 }\n",
            (5, 24),
        ),
    ] {
        let (_, mistakes) = read(cell);
        let places: Vec<_> = mistakes
            .iter()
            .map(|it| (it.span.line, it.span.column))
            .collect();
        assert_eq!(places, [place], "{cell}");
    }
    let (cells, _) = read("[cell.d]\nnodes = [\"z\"]\n");
    let mut cell = cells.into_iter().next().unwrap();
    cell.set_cores(vec![0]);
    let section = cell.section();
    let again = CellSpec::from_text("d", &cell.keys.to_string()).unwrap();
    assert!(
        section.text.contains("cores = [0]") && again.cores == [0],
        "{section:?}"
    );
}

#[test]
fn a_core_of_one_cell_alone_is_refused_to_another() {
    let cell = |name: &str, policy: &str| {
        format!("[cell.{name}]\nnodes = [\"x\"]\ncores = [0, 1]\npolicy = \"{policy}\"\n")
    };
    let both = |a, b| cells(&(cell("a", a) + &cell("b", b))).1;
    assert!(both("best-effort", "best-effort").is_empty());
    let refused = both("none", "best-effort");
    assert!(
        refused.len() == 1 && refused[0].contains("both name core 0"),
        "{refused:?}"
    );
}
