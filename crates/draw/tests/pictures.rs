//! Pictures as files: small ones that are kept, and whatever bytes and words are thrown at every kind.

use divisi_draw::plot::{self, Axis, DataPoint, Guide, GuideAt};
use divisi_draw::{
    GanttArrow, GanttBar, GanttChart, GanttMarker, GanttRow, MarkerKind, NodeClass, Picture,
};
use graph::{Catalogue, Graph, Node, Port, Signal};
use std::path::Path;
use units::Channels;

/// Words that break what trusts them.
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

/// Numbers that break what trusts them.
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

/// A seeded generator: splitmix64.
struct Seed(u64);

impl Seed {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
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
        let mut axis = if self.next().is_multiple_of(2) {
            Axis::log(self.word(), self.word())
        } else {
            Axis::linear(self.word(), self.word())
        };
        if self.next().is_multiple_of(3) {
            (axis.from, axis.to) = (Some(self.number()), Some(self.number()));
            axis.ticks = self.many(3, |seed| (seed.number(), seed.word()));
        }
        axis
    }

    fn value(&mut self) -> DataPoint {
        let some = |seed: &mut Self| seed.next().is_multiple_of(2).then(|| seed.number());
        DataPoint {
            at: self.number(),
            low: some(self),
            high: some(self),
            worst: some(self),
        }
    }

    fn guide(&mut self) -> Guide {
        let at = self.number();
        Guide {
            at: self.of(&[GuideAt::X(at), GuideAt::Y(at)]),
            label: self.word(),
        }
    }

    fn lanes(&mut self) -> GanttChart {
        let one = |seed: &mut Self| GanttBar {
            label: seed.word(),
            start_ns: seed.ns(),
            end_ns: seed.ns(),
            critical: seed.next().is_multiple_of(2),
            copy: seed.next().is_multiple_of(2),
            class: seed.of(&[NodeClass::Source, NodeClass::Other]),
        };
        GanttChart {
            title: self.word(),
            note: self.word(),
            rows: self.many(4, |seed| GanttRow {
                name: seed.word(),
                bars: seed.many(9, one),
            }),
            arrows: self.many(4, |seed| GanttArrow {
                from: (seed.of(&[0, 1, usize::MAX]), seed.ns()),
                to: (seed.of(&[0, 1, 2]), seed.ns()),
            }),
            markers: self.many(4, |seed| GanttMarker {
                row: seed.of(&[None, Some(0), Some(usize::MAX)]),
                time_ns: seed.ns(),
                kind: seed.of(&[
                    MarkerKind::Wake,
                    MarkerKind::Sleep,
                    MarkerKind::Miss,
                    MarkerKind::Note,
                ]),
                label: seed.word(),
            }),
            deadline_ns: self.of(&[None, Some(0), Some(50_000), Some(u64::MAX)]),
        }
    }

    fn picture(&mut self) -> Picture {
        let title = self.word();
        let note = self.word();
        match self.next() % 6 {
            0 => divisi_draw::gantt(&self.lanes()),
            1 => plot::histogram(&plot::Histogram {
                title,
                note,
                x: self.axis(),
                y: self.axis(),
                series: self.many(3, |seed| plot::HistogramSeries {
                    name: seed.word(),
                    bins: seed.many(9, |seed| plot::Bin {
                        from: seed.number(),
                        to: seed.number(),
                        count: seed.ns(),
                    }),
                }),
                guides: self.many(3, Self::guide),
                late_from: Some(self.number()),
            }),
            2 => plot::bars(&plot::BarPlot {
                title,
                note,
                label: self.word(),
                groups: self.many(5, Self::word),
                y: self.axis(),
                series: self.many(5, |seed| plot::BarSeries {
                    name: seed.word(),
                    values: seed.many(6, |seed| Some(seed.value())),
                }),
                guides: self.many(3, Self::guide),
            }),
            3 => plot::heat(&plot::Heat {
                title,
                note,
                x: self.word(),
                y: self.word(),
                columns: self.many(5, Self::word),
                rows: self.many(5, Self::word),
                value: self.axis(),
                values: self.many(5, |seed| seed.many(6, Self::number)),
            }),
            kind => {
                let lines = plot::LinePlot {
                    title,
                    note,
                    x: self.axis(),
                    y: self.axis(),
                    series: self.many(30, |seed| plot::Series {
                        name: seed.word(),
                        points: seed.many(9, |seed| (seed.number(), seed.value())),
                    }),
                    guides: self.many(3, Self::guide),
                    labels: self.many(3, |seed| (seed.number(), seed.number(), seed.word())),
                };
                if kind == 4 {
                    plot::lines(&lines)
                } else {
                    plot::scatter(&lines)
                }
            }
        }
    }
}

/// Whether `svg` is well-formed: elements nest, attributes are quoted and not repeated, and nothing stands bare that may
/// not.
fn check_xml(svg: &str) {
    let mut open = Vec::new();
    let mut rest = svg;
    while let Some(at) = rest.find('<') {
        check_words(&rest[..at]);
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
            check_words(value);
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

fn check_words(words: &str) {
    for (at, _) in words.match_indices('&') {
        let end = words[at..].find(';').expect("an entity ends");
        assert!(["&amp", "&lt", "&gt", "&quot"].contains(&&words[at..at + end]));
    }
    let is_told = |c: char| !matches!(c, '<' | '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    assert!(words.chars().all(is_told));
}

/// Whether every object of a PDF is where its table says.
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
    assert!(ascii.ends_with("%%EOF\n"));
}

#[test]
fn whatever_is_thrown_at_it_every_format_is_whole() {
    for seed in 0..1500 {
        let picture = Seed(seed).picture();
        check_xml(&picture.svg());
        if seed % 10 == 0 {
            check_pdf(&picture.pdf());
            let png = picture.png(0.5).unwrap();
            assert_eq!(png, Seed(seed).picture().png(0.5).unwrap());
        }
    }
}

#[test]
fn nodes_with_any_name_are_drawn() {
    let mut patch = Graph::default();
    for (i, word) in WORDS.iter().enumerate() {
        let mut node = Node::new(format!("{word}{i}"), *word);
        let port = |i: usize| Port {
            name: format!("{word}{i} "),
            signal: Signal::Audio(Channels(1)),
        };
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

fn kept() -> Vec<(&'static str, Picture)> {
    let task = |label: &str, start_ns, end_ns, critical| GanttBar {
        label: label.into(),
        start_ns,
        end_ns,
        critical,
        ..GanttBar::default()
    };
    let lane = |name: &str, boxes| GanttRow {
        name: name.into(),
        bars: boxes,
    };
    let lanes = GanttChart {
        title: "etf on two cores".into(),
        rows: vec![
            lane(
                "core 0",
                vec![task("osc", 0, 4000, true), task("mix", 4000, 9500, true)],
            ),
            lane("core 1", vec![task("filter", 500, 3100, false)]),
        ],
        arrows: vec![GanttArrow {
            from: (1, 3100),
            to: (0, 4000),
        }],
        deadline_ns: Some(10_000),
        ..GanttChart::default()
    };
    let lines = plot::LinePlot {
        title: "Speed-up".into(),
        x: Axis::log("block", "frames").naming([16.0, 64.0]),
        y: Axis::linear("speed-up", ""),
        series: vec![plot::Series {
            name: "etf".into(),
            points: vec![
                (16.0, DataPoint::between(1.2, 1.3, 1.5)),
                (64.0, 1.9.into()),
            ],
        }],
        guides: vec![Guide {
            at: GuideAt::Y(2.0),
            label: "bound".into(),
        }],
        ..plot::LinePlot::default()
    };
    let rake = graph::shape::rake(8, None).unwrap();
    vec![
        ("schedule", divisi_draw::gantt(&lanes)),
        ("lines", plot::lines(&lines)),
        (
            "rake",
            divisi_draw::graph(&rake, &Catalogue::default()).unwrap(),
        ),
    ]
}

/// With `KEEP=1` in the environment the files are written anew: look at them before they are committed.
#[test]
fn kept_pictures_are_drawn_as_they_were() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (name, picture) in kept() {
        let path = folder.join(name).with_extension("svg");
        if std::env::var_os("KEEP").is_some() {
            std::fs::write(&path, picture.svg()).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap();
        assert!(picture.svg() == kept, "{name} is not as it was");
        check_xml(&kept);
    }
}
