//! How fast a mirrored ring is, beside a copying ring, another mirrored one, and bare memory; and what a firing of a
//! network of such rings costs. All in one run, medians of interleaved rounds with their quartiles. `--rounds N`, `--only
//! alone|trip|bulk|firing`.

mod alone;
mod bulk;
mod firing;
mod rounds;
mod trip;

fn main() {
    let rounds = after("--rounds").and_then(|n| n.parse().ok()).unwrap_or(61);
    let only = after("--only");
    let parts: [(&str, fn(usize)); 4] = [
        ("alone", alone::report),
        ("trip", trip::report),
        ("bulk", bulk::report),
        ("firing", firing::report),
    ];
    for (name, report) in parts {
        if only.as_deref().is_none_or(|only| only == name) {
            report(rounds);
        }
    }
}

fn after(option: &str) -> Option<String> {
    std::env::args().skip_while(|a| a != option).nth(1)
}
