//! A check for tests: well-formed tags, and nothing to fetch.

/// Faults of a page: a tag that is not closed in its order, something that must be fetched, a placeholder left.
pub(crate) fn page_faults(page: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let body = page.strip_prefix("<!DOCTYPE html>\n").unwrap_or(page);
    for piece in body.split('<').skip(1) {
        let Some((tag, _)) = piece.split_once('>') else {
            faults.push(format!("<{piece} does not end"));
            continue;
        };
        let name = tag.trim_start_matches('/');
        let name = name.split([' ', '/', '\n']).next().unwrap_or_default();
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) if open.pop() != Some(name) => {
                faults.push(format!("</{name}> closes another tag"))
            }
            (false, false) => open.push(name),
            _ => {}
        }
        for attribute in ["src=", "href=", "url("] {
            let target = tag.split(attribute).nth(1);
            if target.is_some_and(|to| !to.trim_start_matches(['"', '\'']).starts_with('#')) {
                faults.push(format!("<{tag}> fetches something"));
            }
        }
    }
    faults.extend(open.iter().map(|name| format!("<{name}> is not closed")));
    if page.contains("@import") || page.contains("<script") {
        faults.push("it has an import or a script".into());
    }
    faults
}

#[test]
fn faults_are_found() {
    for bad in [
        "<p>",
        "<p></b>",
        "<img src=\"http://x/y.png\"/>",
        "<a href=\"x\"></a>",
    ] {
        assert!(!page_faults(bad).is_empty(), "{bad}");
    }
    assert!(page_faults("<p>a</p><br/><a href=\"#x\"></a>").is_empty());
}
