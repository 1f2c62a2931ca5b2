//! The live view, on a terminal and without one.
#![cfg(target_os = "linux")]

mod common;

use common::{BEEP, Folder};
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};

const COLUMNS: usize = 60;
const ROWS: usize = 14;

/// Calls it on a terminal of its own; what was written there. `until` has seen enough: then Ctrl-C is sent.
fn on_a_terminal(mut command: Command, until: impl Fn(&str) -> bool) -> (String, ExitStatus) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let size = Winsize {
        ws_row: ROWS as u16,
        ws_col: COLUMNS as u16,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&ours, size).unwrap();
    let theirs = open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    command.env("TERM", "xterm").env_remove("NO_COLOR");
    command.stdout(Stdio::null()).stderr(File::from(theirs));
    let mut child = command.spawn().unwrap();
    // Else we would hold their end open, and never see it close.
    drop(command);
    let (mut ours, mut all, mut is_told) = (File::from(ours), Vec::new(), false);
    let mut part = [0; 4096];
    // A terminal that nobody holds any more is an error to read.
    while let Ok(got @ 1..) = ours.read(&mut part) {
        all.extend_from_slice(&part[..got]);
        if !is_told && until(&String::from_utf8_lossy(&all)) {
            is_told = true;
            let kill = format!("kill -INT {}", child.id());
            assert!(
                Command::new("sh")
                    .args(["-c", &kill])
                    .status()
                    .unwrap()
                    .success()
            );
        }
    }
    (String::from_utf8(all).unwrap(), child.wait().unwrap())
}

/// Screen of a terminal after `text`: as much of its language as the view speaks.
fn screen(text: &str) -> Vec<String> {
    let mut rows = vec![vec![' '; COLUMNS]; ROWS];
    let (mut row, mut column) = (0, 0);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\x1b' => {
                assert_eq!(rest.next(), Some('['));
                let mut code = String::new();
                let last = loop {
                    match rest.next().unwrap() {
                        c @ ('0'..='9' | '?' | ';') => code.push(c),
                        c => break c,
                    }
                };
                match last {
                    'H' => (row, column) = (0, 0),
                    'K' => rows[row][column.min(COLUMNS)..].fill(' '),
                    'J' => rows[row + 1..].iter_mut().for_each(|row| row.fill(' ')),
                    'm' | 'h' | 'l' => {}
                    other => panic!("the view does not say {code}{other}"),
                }
            }
            '\r' => column = 0,
            '\n' => row += 1,
            c => {
                assert!(column < COLUMNS && row < ROWS, "{c} is off the screen");
                rows[row][column] = c;
                column += 1;
            }
        }
    }
    let text = rows.iter().map(|row| row.iter().collect::<String>());
    text.map(|row| row.trim_end().to_owned()).collect()
}

#[test]
fn on_a_terminal_it_shows_how_it_goes_and_gives_the_screen_back() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    let call = here.command(
        "play beep.ag --driver clock --scheduler stealing --workers 2 --watch --trace t.json",
    );
    let frames = |text: &str| text.matches("\x1b[H").count();
    let (text, status) = on_a_terminal(call, |text| frames(text) > 2 && text.ends_with("\x1b[J"));
    assert_eq!(status.code(), Some(0), "{text}");
    let (before, view) = text.split_once("\x1b[?1049h").expect("a screen of its own");
    assert!(before.contains("playing by the clock"));
    let (view, after) = view.split_once("\x1b[?1049l").expect("it is given back");
    assert!(
        view.ends_with("\x1b[?7h\x1b[?25h") && !after.contains('\x1b'),
        "{after}"
    );
    let shown = screen(view);
    assert!(
        shown[0].starts_with("divisi  beep.ag") && shown[0].ends_with(" s"),
        "{shown:#?}"
    );
    assert_eq!(
        shown[1],
        "stealing, 2 workers, 64 frames at 48000 Hz, clock"
    );
    for word in [
        "cycle ",
        "worker 0",
        "worker 1",
        "missed ",
        "acquisitions and ",
    ] {
        assert!(
            shown.iter().any(|row| row.contains(word)),
            "{word}: {shown:#?}"
        );
    }
    assert!(shown[5].ends_with(" %"), "{shown:#?}");
    assert!(here.json("t.json")["traceEvents"].is_array());
}

#[test]
fn its_head_names_what_auto_chose() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    let call = here.command("play beep.ag --driver clock --watch --json report.json");
    let (text, status) = on_a_terminal(call, |text| {
        text.matches("\x1b[H").count() > 2 && text.ends_with("\x1b[J")
    });
    assert_eq!(status.code(), Some(0), "{text}");
    let (_, view) = text.split_once("\x1b[?1049h").expect("a screen of its own");
    let (view, _) = view.split_once("\x1b[?1049l").expect("it is given back");
    let report = here.json("report.json");
    let chosen = format!("{} (auto), ", report["scheduler"].as_str().unwrap());
    assert!(screen(view)[1].starts_with(&chosen), "{chosen}: {view}");
}

#[test]
fn without_a_terminal_it_says_a_line_a_second() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    let gave =
        here.well("play beep.ag --driver clock --scheduler sequential --watch --seconds 1.5");
    let line = gave.err.lines().find(|line| line.contains("cycle p50"));
    let line = line.unwrap_or_else(|| panic!("{}", gave.err));
    assert!(
        line.contains("missed ") && line.ends_with("wakes a cycle"),
        "{line}"
    );
    assert!(!gave.err.contains('\x1b'), "{}", gave.err);
}

#[test]
fn a_port_that_is_looked_at_has_its_waveform_and_its_spectrum() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    let call = "play beep.ag --driver clock --scheduler sequential --see o";
    let (text, status) = on_a_terminal(here.command(call), |text| {
        text.matches("\x1b[H").count() > 3 && text.ends_with("\x1b[J")
    });
    assert_eq!(status.code(), Some(0), "{text}");
    let (_, view) = text.split_once("\x1b[?1049h").expect("a screen of its own");
    let (view, _) = view.split_once("\x1b[?1049l").expect("it is given back");
    let shown = screen(view);
    let row = |begin: &str| shown.iter().find(|row| row.starts_with(begin)).unwrap();
    let is_braille = |c: char| ('\u{2801}'..='\u{28ff}').contains(&c);
    assert!(row("o.out").contains(is_braille), "{shown:#?}");
    assert!(row("25 Hz-20k").contains('▇'), "{shown:#?}");
    // Elsewhere it is a line; a port that is not there is an error.
    let gave = here.well(&format!("{call} --seconds 1.5"));
    assert!(gave.err.contains("o.out "), "{}", gave.err);
    for (name, expected) in [
        ("s", "into it goes `o."),
        ("s.x", "has no output of audio"),
        ("o.left", "it has "),
    ] {
        let gave = here.call(&format!("play beep.ag --driver clock --see {name}"));
        assert_eq!(gave.code, Some(2), "{}", gave.err);
        assert!(gave.err.contains(expected), "{}", gave.err);
    }
}
