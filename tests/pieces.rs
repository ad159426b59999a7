//! Python is parsed by pieces: of every fixture, the pieces give the sites that the whole files give.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::path::Path;

use restartlint::base::facts::Language;
use restartlint::data::config::Config;
use restartlint::scan::{ScanRequest, Watch, scan};

/// Every site of a project, in order.
fn sites(root: &Path, whole: bool) -> Vec<String> {
    let config = Config::default();
    let request = ScanRequest {
        root: root.to_path_buf(),
        paths: vec![root.to_path_buf()],
        stdin: None,
        config: &config,
        watch: Watch::default(),
        languages: Some([Language::Python].into()),
        jobs: Some(2),
        reach: false,
        cache: None,
        whole,
        progress: None,
    };
    let scan = scan(&request).unwrap();
    let files = scan.tree.files.iter();
    files
        .flat_map(|file| {
            file.sites.iter().map(|s| format!("{}:{:?} {} {}", file.path, s.span, s.effect, s.primitive))
        })
        .collect()
}

#[test]
fn what_is_not_parsed_holds_no_site() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut found = 0;
    let mut differing = Vec::new();
    for tree in ["python", "callgraph", "reference", "sample", "policy"] {
        let root = fixtures.join(tree);
        let (pieces, whole) = (sites(&root, false), sites(&root, true));
        found += whole.len();
        differing.extend(whole.iter().filter(|s| !pieces.contains(s)).map(|s| format!("{tree}: lost {s}")));
        differing
            .extend(pieces.iter().filter(|s| !whole.contains(s)).map(|s| format!("{tree}: invented {s}")));
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert!(found > 200, "{found} sites");
}
