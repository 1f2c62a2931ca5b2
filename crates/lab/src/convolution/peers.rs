//! Others' figures, measured here by the bench that links them: `peers.csv` in the folder of the results, with the columns
//! `contestant,length,channels,seconds,missed,unexplained,worst_us,percent,gaps,gap_us`.

use super::COLUMNS;
use crate::machine::now;
use crate::{LabError, Table};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The largest file that is read.
const LARGEST: u64 = 1 << 20;
const HEAD: &str =
    "contestant,length,channels,seconds,missed,unexplained,worst_us,percent,gaps,gap_us";

/// Takes what the table has not yet. No file is no mistake; a line that is none costs only itself.
pub(crate) fn take(folder: &Path, table: &mut Table) -> Result<(), LabError> {
    let mut text = String::new();
    let Ok(file) = File::open(folder.join("peers.csv")) else {
        return Ok(());
    };
    if file.take(LARGEST).read_to_string(&mut text).is_err() || text.lines().next() != Some(HEAD) {
        return Ok(());
    }
    for row in text.lines().skip(1).filter_map(row) {
        if !table.has(&row[..super::KEYS]) {
            table.add(row)?;
        }
    }
    Ok(())
}

/// A line as a row of the table.
fn row(line: &str) -> Option<Vec<String>> {
    let cells: Vec<&str> = line.split(',').collect();
    let [
        name,
        length,
        channels,
        seconds,
        missed,
        unexplained,
        worst,
        percent,
        _,
        gaps,
    ] = cells[..]
    else {
        return None;
    };
    let ms = seconds.parse::<u64>().ok()?.checked_mul(1000)?;
    let is_held = unexplained == "0" && percent.parse::<f64>().ok()? < 93.0;
    let held = if is_held { channels } else { "0" };
    let value = |column: &&str| {
        match *column {
            "what" => "peer",
            "way" => name,
            "length" => length,
            "channels" => channels,
            "cores" => "1",
            "held" => held,
            "worst_us" => worst,
            "missed" => missed,
            "unexplained" => unexplained,
            "percent" => percent,
            "gaps_us" => gaps,
            "asked_ms" | "ms" => return ms.to_string(),
            "date" => return now(),
            _ => "",
        }
        .to_owned()
    };
    Some(COLUMNS.iter().map(value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn peers_are_taken_once_and_nonsense_costs_only_itself() {
        let folder = std::env::temp_dir().join(format!("divisi-lab-peers-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let open = || Table::open(&folder.join("t.csv"), "m", COLUMNS, super::super::KEYS).unwrap();
        take(&folder, &mut open()).unwrap();
        let lines = format!(
            "{HEAD}\nzita,524288,110,60,2,0,1400.0,80.2,3,900\nzita,x\n,,,,,,,,,\nours,524288,200,60,1,1,1,80,0,0\n"
        );
        fs::write(folder.join("peers.csv"), lines).unwrap();
        let mut table = open();
        take(&folder, &mut table).unwrap();
        take(&folder, &mut table).unwrap();
        assert_eq!(table.rows().count(), 2);
        let zita = table.find(&[("what", "peer"), ("way", "zita")]).unwrap();
        assert_eq!(
            (zita.number("held"), zita.number("asked_ms")),
            (Some(110.0), Some(60_000.0))
        );
        assert_eq!(
            table.find(&[("way", "ours")]).unwrap().number("held"),
            Some(0.0)
        );
        fs::write(folder.join("peers.csv"), "hello").unwrap();
        take(&folder, &mut table).unwrap();
        assert_eq!(table.rows().count(), 2);
        fs::remove_dir_all(&folder).unwrap();
    }
}
