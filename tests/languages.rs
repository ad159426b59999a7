//! The fixtures of the languages that have a program: each folder below
//! `fixtures/<language>/` is a tree, in which a comment `site: EFFECT PRIMITIVE` stands on
//! the line of every site, one for each. Every other line is silent.

#![allow(clippy::disallowed_methods)]

mod tree;

use std::path::Path;

/// The folders below `fixtures/`, with what begins a comment there.
const LANGUAGES: [(&str, &str); 3] =
    [("go", "// site: "), ("javascript", "// site: "), ("python", "# site: ")];

#[test]
fn every_site_of_the_fixtures_is_found_and_nothing_else() {
    let mut faults = Vec::new();
    let mut count = 0;
    for (language, mark) in LANGUAGES {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(language);
        let mut folders: Vec<_> =
            std::fs::read_dir(&root).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
        folders.sort();
        for folder in folders {
            let wanted = wanted(&folder, mark);
            let found = found(&folder);
            count += wanted.len();
            faults
                .extend(wanted.iter().filter(|w| !found.contains(w)).map(|w| missing(language, &folder, w)));
            faults.extend(found.iter().filter(|f| !wanted.contains(f)).map(|f| extra(language, &folder, f)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 80, "{count} sites");
}

fn missing(language: &str, folder: &Path, site: &str) -> String {
    format!("missing in {language}/{}: {site}", folder.file_name().unwrap().to_string_lossy())
}

fn extra(language: &str, folder: &Path, site: &str) -> String {
    format!("not wanted in {language}/{}: {site}", folder.file_name().unwrap().to_string_lossy())
}

/// `PATH:LINE EFFECT PRIMITIVE` of every mark in a folder's files.
fn wanted(folder: &Path, mark: &str) -> Vec<String> {
    let mut wanted = Vec::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.unwrap();
        if !entry.file_type().is_file() {
            continue;
        }
        let name = entry.path().strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
        let text = std::fs::read_to_string(entry.path()).unwrap();
        for (at, line) in text.lines().enumerate() {
            for site in line.split(mark).skip(1) {
                wanted.push(format!("{name}:{} {}", at + 1, site.trim()));
            }
        }
    }
    wanted
}

/// What `sites` lists in a copy of a folder, one line an effect and primitive.
fn found(folder: &Path) -> Vec<String> {
    let copy = tempfile::tempdir().unwrap();
    let root = copy.path().canonicalize().unwrap();
    for entry in walkdir::WalkDir::new(folder) {
        let entry = entry.unwrap();
        let to = root.join(entry.path().strip_prefix(folder).unwrap());
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(&to).unwrap();
        } else {
            std::fs::copy(entry.path(), &to).unwrap();
        }
    }
    let output = tree::run(&root, &["sites", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a JSON report");
    document["sites"]
        .as_array()
        .expect("sites")
        .iter()
        .map(|s| {
            let text = |key: &str| s[key].as_str().unwrap_or("").to_owned();
            format!("{}:{} {} {}", text("path"), s["line"], text("effect"), text("primitive"))
        })
        .collect()
}
