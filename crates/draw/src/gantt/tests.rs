//! Gantt charts of ordinary schedules and of extreme ones.

use super::*;

fn bar(label: &str, start_ns: u64, end_ns: u64) -> GanttBar {
    GanttBar {
        label: label.into(),
        start_ns,
        end_ns,
        ..GanttBar::default()
    }
}

fn row(bars: Vec<GanttBar>) -> GanttRow {
    let name = "core 0".into();
    GanttRow { name, bars }
}

#[test]
fn every_bar_and_marker_is_drawn_with_its_tooltip() {
    let mut first = bar("osc & <co>", 0, 4000);
    first.critical = true;
    let mut second = bar("mix", 5000, 9000);
    second.copy = true;
    let all = GanttChart {
        title: "etf".into(),
        rows: vec![row(vec![first]), row(vec![second])],
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
fn a_hundred_thousand_bars_are_merged() {
    let bars = (0..100_000).map(|i| bar("n", i * 10, i * 10 + 9)).collect();
    let rows = vec![row(bars)];
    let picture = gantt(&GanttChart {
        rows,
        ..GanttChart::default()
    });
    assert!(picture.items.len() < 20_000);
    assert!(picture.svg().contains("many short tasks"));
}

#[test]
fn rows_beyond_the_limit_are_counted() {
    let rows = vec![row(Vec::new()); 1000];
    let chart = GanttChart {
        rows,
        ..GanttChart::default()
    };
    assert!(gantt(&chart).svg().contains("744 more rows"));
}
