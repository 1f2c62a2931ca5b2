//! What fewer operations bring: larger transforms from smaller ones, and nested convolution.

use super::*;

impl View<'_> {
    /// Load, worst callback and most channels, with and without.
    pub(super) fn fewer(&self, page: &mut Page) {
        page.section(
            "Fewer operations: larger transforms from smaller ones, and nested convolution",
        );
        page.text(
            "Gardner: a level of two or four times the size of the one before takes the bins that this one's transforms have \
             already. Nested: Hurchalla's convolution of each bin over the partitions, three partitions and three periods at a \
             time, two thirds of the products; of levels whose spectra stay in the caches, for larger ones sum up for several \
             periods at once. The paper found nested convolution to take fewer operations, more in the worst callback, and to \
             hold fewer channels.",
        );
        let mut rows = Vec::new();
        for (way, plain) in Way::FEWER {
            for length in self.all("load", "length") {
                rows.extend(self.pair(way, plain, length));
            }
        }
        let head = [
            "Way, frames",
            "Processor, %",
            "without",
            "gain, %",
            "Worst callback, µs",
            "without",
            "Most channels",
            "without",
        ];
        let caption = format!(
            "{CHANNELS} channels on one core, and the most that are held; each way beside itself without"
        );
        page.table(&caption, &head, &rows);
    }

    /// A row, where that way has been measured.
    fn pair(&self, way: Way, plain: Way, length: &str) -> Option<Vec<String>> {
        let load = |way: Way| self.find("load", way.name(), length, "one-core");
        let (with, without) = (load(way)?, load(plain)?);
        let gain = with.number("percent").zip(without.number("percent"));
        let gain = gain.map_or(String::new(), |(with, without)| {
            format!("{:.1}", 100.0 * (1.0 - with / without))
        });
        let most = |way: Way| {
            let row = self.find("most", way.name(), length, "one-core");
            row.map_or(String::new(), |row| row.text("held").into())
        };
        // Without one there is nothing to hold the other against.
        let held = [way, plain].map(most);
        let held = match held.iter().any(String::is_empty) {
            true => [String::new(), String::new()],
            false => held,
        };
        let mut row = vec![
            format!("{}, {length}", way.name()),
            with.text("percent").into(),
            without.text("percent").into(),
            gain,
            with.text("worst_us").into(),
            without.text("worst_us").into(),
        ];
        row.extend(held);
        Some(row)
    }
}
