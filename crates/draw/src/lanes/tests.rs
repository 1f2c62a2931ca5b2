//! What is drawn of schedules, sound ones and odd ones.

use super::*;

fn task(label: &str, start_ns: u64, end_ns: u64) -> GanttBar {
    GanttBar {
        label: label.into(),
        start_ns,
        end_ns,
        ..GanttBar::default()
    }
}

fn lane(boxes: Vec<GanttBar>) -> GanttRow {
    let name = "core 0".into();
    GanttRow { name, bars: boxes }
}

#[test]
fn every_task_and_mark_is_drawn_with_what_it_is() {
    let mut first = task("osc & <co>", 0, 4000);
    first.critical = true;
    let mut second = task("mix", 5000, 9000);
    second.copy = true;
    let all = GanttChart {
        title: "etf".into(),
        rows: vec![lane(vec![first]), lane(vec![second])],
        arrows: vec![GanttArrow {
            from: (0, 4000),
            to: (1, 5000),
        }],
        markers: vec![GanttMarker {
            row: Some(1),
            time_ns: 4800,
            kind: MarkerKind::Wake,
            label: "wakes".into(),
        }],
        deadline_ns: Some(10_000),
        ..GanttChart::default()
    };
    let svg = gantt(&all).svg();
    for words in [
        "osc &amp; &lt;co&gt;",
        "critical path",
        "a copy",
        "wakes at 4.8 µs",
        "message",
    ] {
        assert!(svg.contains(words), "{words}");
    }
    assert!(svg.contains("deadline 10 µs") && svg.contains("44 % busy"));
    assert_eq!(svg, gantt(&all).svg());
}

#[test]
fn a_hundred_thousand_tasks_make_no_larger_a_picture_than_the_sheet_has_room_for() {
    let boxes = (0..100_000)
        .map(|i| task("n", i * 10, i * 10 + 9))
        .collect();
    let lanes = vec![lane(boxes)];
    let picture = gantt(&GanttChart {
        rows: lanes,
        ..GanttChart::default()
    });
    assert!(picture.items.len() < 20_000);
    assert!(picture.svg().contains("many short tasks"));
}

#[test]
fn nonsense_is_drawn_without_nonsense() {
    let mut all = GanttChart::default();
    assert!(gantt(&all).svg().ends_with("</svg>\n"));
    all.title = "\u{0}\u{202e}x".repeat(9000);
    all.rows = vec![lane(vec![task("back", 900, 100), task("late", 0, u64::MAX)]); 1000];
    all.markers.push(GanttMarker {
        row: Some(5000),
        time_ns: u64::MAX,
        kind: MarkerKind::Miss,
        label: String::new(),
    });
    all.deadline_ns = Some(0);
    let svg = gantt(&all).svg();
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    assert!(svg.contains("744 more lanes"));
}
