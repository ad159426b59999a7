//! The report's page in a real browser, where one is installed: what it shows, whether it fits,
//! and that nothing of the snapshot became markup.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;

use super::cli::Place;

const BROWSERS: [&str; 5] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/// Runs the first browser that is installed, with a profile of its own.
fn browsed(folder: &Path, arguments: &[&str]) -> Option<Output> {
    for browser in BROWSERS {
        let mut command = Command::new(browser);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]);
        command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
        match command.args(arguments).arg(format!("file://{}", folder.join("page.html").display())).output() {
            Ok(output) => return Some(output),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => panic!("{browser}: {error}"),
        }
    }
    eprintln!("SKIPPED, nothing is proved: no Chromium is installed");
    None
}

#[test]
fn a_browser_shows_the_page() {
    let place = Place::new();
    let evil = "<img src=x onerror=document.title='taken'>";
    place.state(json!({
        "sessions": [{"session_id": "s-me", "role": "controller"}, {"session_id": evil}],
        "leases": [{"phase": "pushing"}], "approvals": [{}],
    }));
    let mut page = place.run("impact S R NOW --format html").out;
    // What the browser itself makes of the page is written into it after it was laid out. The page's own
    // policy allows no script, so this copy goes without it.
    let policy = page.find("<meta http-equiv").unwrap();
    let end = policy + page[policy..].find('\n').unwrap();
    page.replace_range(policy..end, "");
    let measure = "<script>addEventListener('load', () => { const r = document.documentElement; const shown = \
        [...document.querySelectorAll('h1, .tile, h2, td')].filter(e => e.getClientRects().length && \
        e.getBoundingClientRect().height > 8); r.dataset.fits = r.scrollWidth <= r.clientWidth; \
        r.dataset.shown = shown.length; r.dataset.all = document.querySelectorAll('h1, .tile, h2, td').length; \
        r.dataset.images = document.images.length; })</script>";
    std::fs::write(place.path("page.html"), page.replace("</body>", &format!("{measure}</body>"))).unwrap();
    for size in ["--window-size=1280,900", "--window-size=500,900"] {
        let Some(output) = browsed(&place.path(""), &[size, "--dump-dom"]) else { return };
        let dom = String::from_utf8_lossy(&output.stdout).into_owned();
        let measured = |name: &str| {
            let (_, rest) =
                dom.split_once(&format!("data-{name}=\"")).unwrap_or_else(|| panic!("{output:?}"));
            rest.split('"').next().unwrap_or_default().to_owned()
        };
        assert_eq!(measured("fits"), "true", "{size}: it is as wide as the window");
        assert_eq!(measured("images"), "0");
        assert_eq!(measured("shown"), measured("all"), "{size}");
        assert!(measured("all").parse::<u32>().unwrap() > 25);
        assert!(dom.contains("<title>DENIED: full_mcp_restart (dry run)</title>"), "{dom}");
        assert!(dom.contains("&lt;img src=x"));
    }
}
