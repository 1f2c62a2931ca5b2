//! Pictures as files: golden files of small ones, and random and hostile input for every kind.

use divisi_draw::plot::{self, Axis, BarPlot, BarSeries, DataPoint, LinePlot, Scale, Series};
use divisi_draw::{
    GanttArrow, GanttBar, GanttChart, GanttMarker, GanttRow, MarkerKind, NodeClass, PartitionChart,
    PartitionLevel, PartitionRow, Picture,
};
use graph::{Catalogue, Graph, Node, Port, Signal};
use std::path::Path;
use units::{Channels, SplitMix64};

/// Texts that break code that trusts them.
const WORDS: [&str; 9] = [
    "",
    "osc <&> \"'",
    "\u{0}\u{1}\n\t\u{7f}\u{85}",
    "漢字 한국어 🎛️ e\u{301}\u{302}\u{303}",
    "\u{202e}turned\u{2066}\u{feff}",
    "]]> --> <!-- <?xml ?> &#0;",
    "\\) Tj ET (",
    "\u{fffe}\u{ffff}\u{10ffff}\u{e000}",
    "a very long name that goes on and on and on and on and on and on and on and on and on and on and on and on and on",
];

/// Numbers that break code that trusts them.
const NUMBERS: [f64; 12] = [
    0.0,
    -0.0,
    1.0,
    -3.5,
    1e-320,
    1e300,
    -1e300,
    f64::MAX,
    f64::MIN,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
];

/// Random items, the same for the same seed.
struct Seed(SplitMix64);

impl Seed {
    fn next(&mut self) -> u64 {
        self.0.bits()
    }

    fn of<T: Copy>(&mut self, many: &[T]) -> T {
        many[self.next() as usize % many.len()]
    }

    fn word(&mut self) -> String {
        self.of(&WORDS).into()
    }

    fn number(&mut self) -> f64 {
        match self.next() % 3 {
            0 => self.of(&NUMBERS),
            1 => (self.next() % 1000) as f64 / 7.0,
            _ => f64::from_bits(self.next()),
        }
    }

    fn ns(&mut self) -> u64 {
        let small = self.next() % 100_000;
        self.of(&[small, small, small, 0, u64::MAX])
    }

    fn many<T>(&mut self, most: u64, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.next() % (most + 1)).map(|_| one(self)).collect()
    }

    fn axis(&mut self) -> Axis {
        Axis {
            label: self.word(),
            unit: self.word(),
            scale: self.of(&[Scale::Linear, Scale::Log]),
            min_span: self.of(&[0.0, 6.0, f64::NAN, f64::INFINITY, -1.0]),
        }
    }

    fn point(&mut self) -> DataPoint {
        DataPoint {
            value: self.number(),
            max: self.next().is_multiple_of(2).then(|| self.number()),
        }
    }

    fn gantt(&mut self) -> GanttChart {
        let bar = |seed: &mut Self| GanttBar {
            label: seed.word(),
            start_ns: seed.ns(),
            end_ns: seed.ns(),
            critical: seed.next().is_multiple_of(2),
            copy: seed.next().is_multiple_of(2),
            class: seed.of(&[NodeClass::Source, NodeClass::Other]),
        };
        let kinds = [
            MarkerKind::Wake,
            MarkerKind::Sleep,
            MarkerKind::Miss,
            MarkerKind::Note,
        ];
        GanttChart {
            title: self.word(),
            note: self.word(),
            rows: self.many(4, |seed| GanttRow {
                name: seed.word(),
                bars: seed.many(9, bar),
            }),
            arrows: self.many(4, |seed| GanttArrow {
                from: (seed.of(&[0, 1, usize::MAX]), seed.ns()),
                to: (seed.of(&[0, 1, 2]), seed.ns()),
            }),
            markers: self.many(4, |seed| GanttMarker {
                row: seed.of(&[None, Some(0), Some(usize::MAX)]),
                time_ns: seed.ns(),
                kind: seed.of(&kinds),
                label: seed.word(),
            }),
            deadline_ns: self.of(&[None, Some(0), Some(50_000), Some(u64::MAX)]),
        }
    }

    fn partitions(&mut self) -> PartitionChart {
        let level = |seed: &mut Self| PartitionLevel {
            start: seed.ns(),
            size: seed.ns(),
            count: seed.ns(),
            in_callback: seed.next().is_multiple_of(2),
        };
        PartitionChart {
            title: self.word(),
            note: self.word(),
            length: self.ns(),
            block: self.ns(),
            rate_hz: self.of(&[0, 44_100]),
            rows: self.many(4, |seed| PartitionRow {
                name: seed.word(),
                note: seed.word(),
                levels: seed.many(5, level),
            }),
            deadlines_of: self.of(&[None, Some(0), Some(7)]),
        }
    }

    fn picture(&mut self) -> Picture {
        match self.next() % 4 {
            0 => divisi_draw::gantt(&self.gantt()),
            1 => divisi_draw::partitions(&self.partitions()),
            2 => plot::bars(&BarPlot {
                title: self.word(),
                groups: self.many(5, Self::word),
                y: self.axis(),
                series: self.many(5, |seed| BarSeries {
                    name: seed.word(),
                    values: seed.many(6, |seed| Some(seed.point())),
                }),
            }),
            _ => plot::lines(&LinePlot {
                title: self.word(),
                x: self.axis(),
                y: self.axis(),
                series: self.many(30, |seed| Series {
                    name: seed.word(),
                    points: seed.many(9, |seed| (seed.number(), seed.point())),
                }),
                labels: self.many(3, |seed| (seed.number(), seed.number(), seed.word())),
            }),
        }
    }
}

/// Checks that `svg` is well-formed: elements nest, attributes are quoted and not repeated, and every character is allowed.
fn check_xml(svg: &str) {
    let mut open = Vec::new();
    let mut rest = svg;
    while let Some(at) = rest.find('<') {
        check_text(&rest[..at]);
        let end = at + rest[at..].find('>').expect("a tag ends");
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "elements nest");
            continue;
        }
        let is_empty = tag.ends_with('/');
        let tag = tag.trim_end_matches('/');
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(name.chars().all(char::is_alphanumeric), "{name}");
        let mut names = Vec::new();
        while !attributes.trim().is_empty() {
            let (key, after) = attributes.split_once("=\"").expect("a value is quoted");
            let (value, after) = after.split_once('"').expect("a quote is closed");
            check_text(value);
            assert!(!names.contains(&key.trim()), "{key} twice in {tag}");
            assert!(!value.contains("NaN") && !value.contains("inf"), "{tag}");
            names.push(key.trim());
            attributes = after;
        }
        if !is_empty {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty());
}

fn check_text(text: &str) {
    for (at, _) in text.match_indices('&') {
        let end = text[at..].find(';').expect("an entity ends");
        assert!(["&amp", "&lt", "&gt", "&quot"].contains(&&text[at..at + end]));
    }
    let is_allowed = |c: char| !matches!(c, '<' | '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    assert!(text.chars().all(is_allowed));
}

/// Checks that every object of a PDF is where its table says.
fn check_pdf(pdf: &[u8]) {
    let ascii: String = pdf
        .iter()
        .map(|byte| {
            if byte.is_ascii() {
                char::from(*byte)
            } else {
                '?'
            }
        })
        .collect();
    let (head, table) = ascii.split_at(ascii.rfind("\nxref\n0 ").unwrap() + 1);
    let mut lines = table.lines().skip(1);
    let count: usize = lines.next().unwrap()[2..].parse().unwrap();
    for (number, line) in lines.take(count).enumerate().skip(1) {
        let at: usize = line[..10].parse().unwrap();
        assert!(ascii[at..].starts_with(&format!("{number} 0 obj\n")));
    }
    let start = ascii
        .rsplit_once("startxref\n")
        .unwrap()
        .1
        .lines()
        .next()
        .unwrap();
    assert_eq!(start.parse(), Ok(head.len()));
    assert!(ascii.ends_with("%%EOF"));
}

#[test]
fn every_picture_is_valid_in_every_format() {
    for seed in 0..1500 {
        let picture = Seed(SplitMix64(seed)).picture();
        check_xml(&picture.svg());
        if seed % 10 == 0 {
            check_pdf(&picture.pdf());
            let png = picture.png(0.5).unwrap();
            assert_eq!(png, Seed(SplitMix64(seed)).picture().png(0.5).unwrap());
        }
    }
}

#[test]
fn nodes_with_any_name_are_drawn() {
    let mut patch = Graph::default();
    for (i, word) in WORDS.iter().enumerate() {
        let mut node = Node::new(format!("{word}{i}"), *word);
        let port = |i: usize| Port::new(format!("{word}{i} "), Signal::Audio(Channels(1)));
        node.inputs = (0..i * 3).map(port).collect();
        node.outputs = (0..9 - i).map(port).collect();
        node.stand_in = Some((*word).into());
        patch.add(node).unwrap();
    }
    let picture = divisi_draw::graph(&patch, &Catalogue::default()).unwrap();
    check_xml(&picture.svg());
    check_pdf(&picture.pdf());
    assert!(picture.png(1.0).is_ok());
}

/// The pictures of the golden files.
fn golden() -> Vec<(&'static str, Picture)> {
    let bar = |label: &str, start_ns, end_ns, critical| GanttBar {
        label: label.into(),
        start_ns,
        end_ns,
        critical,
        ..GanttBar::default()
    };
    let row = |name: &str, bars| GanttRow {
        name: name.into(),
        bars,
    };
    let gantt = GanttChart {
        title: "etf on two cores".into(),
        rows: vec![
            row(
                "core 0",
                vec![bar("osc", 0, 4000, true), bar("mix", 4000, 9500, true)],
            ),
            row("core 1", vec![bar("filter", 500, 3100, false)]),
        ],
        arrows: vec![GanttArrow {
            from: (1, 3100),
            to: (0, 4000),
        }],
        deadline_ns: Some(10_000),
        ..GanttChart::default()
    };
    let with_max = DataPoint {
        value: 1.3,
        max: Some(1.5),
    };
    let lines = LinePlot {
        title: "Speed-up".into(),
        x: Axis {
            label: "block".into(),
            unit: "frames".into(),
            scale: Scale::Log,
            min_span: 0.0,
        },
        y: Axis {
            label: "speed-up".into(),
            ..Axis::default()
        },
        series: vec![Series {
            name: "etf".into(),
            points: vec![(16.0, with_max), (64.0, 1.9.into())],
        }],
        ..LinePlot::default()
    };
    let rake = graph::shape::rake(8, None).unwrap();
    let rake = divisi_draw::graph(&rake, &Catalogue::default()).unwrap();
    vec![
        ("schedule", divisi_draw::gantt(&gantt)),
        ("lines", plot::lines(&lines)),
        ("rake", rake),
    ]
}

/// With `KEEP=1` in the environment the golden files are written anew: look at them before you commit them.
#[test]
fn pictures_equal_their_golden_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (name, picture) in golden() {
        let path = folder.join(name).with_extension("svg");
        if std::env::var_os("KEEP").is_some() {
            std::fs::write(&path, picture.svg()).unwrap();
        }
        let golden = std::fs::read_to_string(&path).unwrap();
        assert!(picture.svg() == golden, "{name} has changed");
        check_xml(&golden);
    }
}
