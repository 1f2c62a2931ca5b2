//! Results of other convolvers, which `benches/convolution` measured on this machine: `peers.csv` in the folder of results.

use crate::machine::now;
use crate::record::Record;
use crate::{LabError, Table};
use std::io::Read;
use std::path::Path;

/// Upper bound on the bytes that are read.
const MAX_BYTES: u64 = 1 << 20;
/// Head of the file; later versions of the bench may call the first column otherwise.
const HEAD: [&str; 2] = [
    "contestant,length,channels,seconds,missed,unexplained,worst_us,percent,gaps,gap_us",
    "engine,length,channels,seconds,missed,unexplained,worst_us,percent,gaps,gap_us",
];

/// Adds the results that the table lacks. The file may be absent; a line that cannot be read costs only itself.
pub(super) fn import(folder: &Path, table: &mut Table) -> Result<(), LabError> {
    let mut text = String::new();
    let Ok(file) = divisi::files::open(folder.join("peers.csv")) else {
        return Ok(());
    };
    if file.take(MAX_BYTES).read_to_string(&mut text).is_err()
        || !HEAD.contains(&text.lines().next().unwrap_or_default())
    {
        return Ok(());
    }
    for (key, record) in text.lines().skip(1).filter_map(run) {
        if !table.has(&key) {
            table.add(&key, &record)?;
        }
    }
    Ok(())
}

/// A line as a run: its key, and its other columns.
fn run(line: &str) -> Option<(String, Record)> {
    let cells: Vec<&str> = line.split(',').collect();
    let &[
        name,
        length,
        channels,
        seconds,
        missed,
        unexplained,
        worst_us,
        percent,
        _,
        gaps_us,
    ] = &cells[..]
    else {
        return None;
    };
    let ms = seconds.parse::<u64>().ok()?.checked_mul(1000)?;
    let is_held = unexplained == "0" && percent.parse::<f64>().ok()? < 93.0;
    let mut record = Record::default();
    for (column, value) in [
        ("held", if is_held { channels } else { "0" }),
        ("worst_us", worst_us),
        ("missed", missed),
        ("unexplained", unexplained),
        ("percent", percent),
        ("gaps_us", gaps_us),
    ] {
        record.set(column, value);
    }
    record.set("ms", ms);
    record.set("date", now());
    Some((format!("peer,{name},{length},{channels},1,,{ms}"), record))
}

#[cfg(test)]
mod tests {
    use super::super::DEFINITION;
    use super::*;
    use std::fs;

    #[test]
    fn results_are_imported_once_and_a_bad_line_costs_only_itself() {
        let folder = std::env::temp_dir().join(format!("divisi-lab-peers-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("t.csv");
        let open = || Table::open(&path, "m", DEFINITION.columns, DEFINITION.keys).unwrap();
        import(&folder, &mut open()).unwrap();
        let lines = format!(
            "{}\nzita,524288,110,60,2,0,1400.0,80.2,3,900\nzita,x\n,,,,,,,,,\nours,524288,200,60,1,1,1,80,0,0\n",
            HEAD[0]
        );
        fs::write(folder.join("peers.csv"), lines).unwrap();
        let mut table = open();
        import(&folder, &mut table).unwrap();
        import(&folder, &mut table).unwrap();
        assert_eq!(table.rows().count(), 2);
        let zita = table.find("peer,zita,524288,110,1,").unwrap();
        assert!(zita.matches(&[("held", "110"), ("asked_ms", "60000")]));
        let ours = table.find("peer,ours,524288,200,1,").unwrap();
        assert_eq!(ours.number("held"), Some(0.0));
        fs::write(folder.join("peers.csv"), "hello").unwrap();
        import(&folder, &mut table).unwrap();
        assert_eq!(table.rows().count(), 2);
        fs::remove_dir_all(&folder).unwrap();
    }
}
