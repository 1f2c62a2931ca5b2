//! `measure` stores costs, and `plan` uses them.

mod common;

use common::{BEEP, Folder};
use serde_json::Value;

const DIAMOND: &str = "shape diamond --nodes 16 -o graph.toml";

#[test]
fn plan_uses_stored_costs() {
    let here = Folder::new();
    here.well(DIAMOND);
    let before = here.well("plan graph.toml").out;
    assert!(before.contains("0 with measured costs"), "{before}");
    let gave = here.well("measure graph.toml --repeats 1 --json measured.json");
    assert!(gave.err.contains("costs.json"), "{}", gave.err);
    let found = here.json("measured.json");
    assert_eq!(found["nodes"].as_array().unwrap().len(), 16);
    assert!(found["machine"]["mark_ns"].as_f64().unwrap() > 0.0);
    let after = here.well("plan graph.toml").out;
    assert!(after.contains("16 with measured costs"), "{after}");
    let other = here.well("plan graph.toml --block 128").out;
    assert!(other.contains("0 with measured costs"), "{other}");
    here.well("plan graph.toml --costs .cache/divisi/costs.json --scheduler hlfet");
}

#[test]
fn a_plan_has_levels_bound_and_schedule_as_json_and_picture() {
    let here = Folder::new();
    here.well(DIAMOND);
    here.well("plan graph.toml --costs kind --cores 2 --comm 0 --svg out.svg --json plan.json");
    assert!(here.read("out.svg").starts_with(b"<svg "));
    let plan = here.json("plan.json");
    let number = |name: &str| plan[name].as_u64().unwrap();
    let nodes = plan["nodes"].as_array().unwrap();
    let costs = nodes.iter().map(|n| n["cost_ns"].as_u64().unwrap());
    assert_eq!((nodes.len(), costs.sum()), (16, number("total_ns")));
    assert!(number("critical_path_ns") <= number("bound_ns"));
    assert!(number("bound_ns") <= number("makespan_ns"));
    assert!(number("makespan_ns") <= number("total_ns"));
    let lanes = plan["lanes"].as_array().unwrap();
    let runs = lanes.iter().map(|lane| lane.as_array().unwrap().len());
    assert_eq!((lanes.len(), runs.sum::<usize>()), (2, 16));
    let on_path = |n: &&Value| n["critical"].as_bool().unwrap();
    let path = nodes.iter().filter(on_path).count();
    assert_eq!(path, plan["critical_path"].as_array().unwrap().len());
}

#[test]
fn expensive_communication_keeps_a_schedule_on_one_core() {
    let here = Folder::new();
    here.well(DIAMOND);
    here.well("plan graph.toml --costs kind --cores 3 --comm 1000000 --json plan.json");
    let plan = here.json("plan.json");
    assert_eq!(plan["makespan_ns"], plan["total_ns"]);
}

#[test]
fn a_wrong_call_of_plan_or_measure_is_refused() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    for line in [
        "plan beep.ag --svg out.gif",
        "plan beep.ag --costs nowhere.json",
        "plan beep.ag --cores 0",
        "plan beep.ag --scheduler stealing",
        "plan nowhere.ag",
        "measure nowhere.ag",
        "measure beep.ag --repeats 0",
    ] {
        assert_eq!(here.call(line).code, Some(2), "divisi {line}");
    }
    assert!(!here.has("out.gif") && !here.has(".cache"));
}

/// Returns true if the choice that was made `before` was reused. It may have been made again, if the machine has changed
/// since: a busy one does, or one that was busy then and is not now.
fn is_reused(before: &str, err: &str) -> bool {
    let is_reused = err.contains("as chosen before");
    let was_busy = before.contains("on a busy machine");
    assert!(
        is_reused || was_busy || err.contains("since the machine has changed"),
        "{err}"
    );
    is_reused
}

fn costs_of(plan: &Value, kind: &str) -> Vec<u64> {
    let nodes = plan["nodes"].as_array().unwrap().iter();
    let of_kind = nodes.filter(|node| node["kind"] == kind);
    of_kind
        .map(|node| node["cost_ns"].as_u64().unwrap())
        .collect()
}

#[test]
fn a_cost_is_not_used_for_a_node_of_another_shape() {
    let here = Folder::new();
    here.well("shape rake --nodes 500 -o rake.toml");
    here.well(DIAMOND);
    here.well("measure rake.toml --repeats 1");
    here.well("plan graph.toml --json measured.json");
    here.well("plan graph.toml --costs kind --json typical.json");
    let (measured, typical) = (here.json("measured.json"), here.json("typical.json"));
    let mixes = costs_of(&typical, "mix");
    assert!(!mixes.is_empty());
    assert_eq!(
        costs_of(&measured, "mix"),
        mixes,
        "a mixer of 499 inputs says nothing about one of two"
    );
}

#[test]
fn a_stated_cost_is_part_of_the_shape() {
    let here = Folder::new();
    here.well("shape rake --nodes 20 --work 10 -o light.toml");
    here.well("shape rake --nodes 20 --work 7000 -o heavy.toml");
    here.well("measure light.toml --repeats 1");
    here.well("plan heavy.toml --json plan.json");
    let plan = here.json("plan.json");
    assert_eq!(
        plan["measured_at_s"].as_u64().is_some(),
        plan["measured"] != 0
    );
    let costs = costs_of(&plan, "work");
    assert!(
        !costs.is_empty() && costs.iter().all(|ns| *ns == 7000),
        "{costs:?}"
    );
}

#[test]
fn a_plan_says_how_old_its_costs_are() {
    let here = Folder::new();
    here.well(DIAMOND);
    here.well("measure graph.toml --repeats 1");
    let text = here.well("plan graph.toml").out;
    assert!(
        text.contains("16 with measured costs, the oldest ") && text.contains(" old"),
        "{text}"
    );
}

#[test]
fn auto_reuses_its_choice_until_rechoose() {
    let here = Folder::new();
    here.well("shape random --nodes 40 --work 5000 -o graph.toml");
    let play = "play graph.toml --driver clock --seconds 0.2 --choose 0.05 --workers 2";
    let first = here.well(&format!("{play} --json first.json")).err;
    assert!(
        first.contains("auto: ") && first.contains("measured in"),
        "{first}"
    );
    let again = here.well(&format!("{play} --json again.json")).err;
    let is_reused = is_reused(&first, &again);
    let (first, again) = (here.json("first.json"), here.json("again.json"));
    assert!(!is_reused || first["scheduler"] == again["scheduler"]);
    assert_eq!(first["chosen_by"], "auto");
    let anew = here.well(&format!("{play} --rechoose")).err;
    assert!(anew.contains("measured in"), "{anew}");
    here.well(&format!("{play} --scheduler etf --json named.json"));
    let named = here.json("named.json");
    assert_eq!(
        (&named["scheduler"], &named["chosen_by"]),
        (&"etf".into(), &"call".into())
    );
}

#[test]
fn the_choice_of_auto_holds_for_a_renamed_session() {
    let here = Folder::new();
    here.well("shape random --nodes 40 --work 5000 -o graph.toml");
    let text = String::from_utf8(here.read("graph.toml")).unwrap();
    here.write("other.toml", text);
    let play = "--driver clock --seconds 0.2 --choose 0.05 --workers 2";
    let before = here.well(&format!("play graph.toml {play}")).err;
    is_reused(&before, &here.well(&format!("play other.toml {play}")).err);
}
