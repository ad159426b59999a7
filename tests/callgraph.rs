//! Small programs with their true call graphs: what `check` says of the daemon's reach in each of
//! them is held against `reach.toml` beside it, and the recall and precision of each kind against
//! the table of `docs/callgraph.md`. `CALLGRAPH_WRITE=1 cargo test --test callgraph` writes the table.
//!
//! `reach.toml` names the daemon module, and every site by `FILE:LINE`: `reached` by the daemon's
//! code or not, as Python would run it.

#![allow(clippy::disallowed_methods)]

mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Truth {
    daemon: String,
    #[serde(default)]
    source_roots: Vec<String>,
    reached: BTreeSet<String>,
    unreached: BTreeSet<String>,
}

/// What came out for one kind.
#[derive(Default)]
struct Tally {
    programs: usize,
    found: usize,
    missed: Vec<String>,
    invented: Vec<String>,
}

const BEGIN: &str = "<!-- table: begin -->\n";
const END: &str = "<!-- table: end -->\n";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folders below a folder, sorted.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    walkdir::WalkDir::new(folder)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|e| e.path().extension().is_some_and(|x| x == "py"))
        .map(|e| {
            let name = e.path().strip_prefix(folder).expect("below").to_string_lossy().replace('\\', "/");
            (name, std::fs::read_to_string(e.path()).expect("a program"))
        })
        .collect()
}

/// Runs one program and adds what came out.
fn hold(program: &Path, tally: &mut Tally) {
    let name = program.strip_prefix(root().join("fixtures/callgraph")).expect("below").display().to_string();
    let text = std::fs::read_to_string(program.join("reach.toml")).expect("its truth");
    let truth: Truth = toml::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = files(program);
    files.insert(
        "restartlint.toml".to_owned(),
        format!("daemon = [{:?}]\nsource-roots = {:?}\n", truth.daemon, truth.source_roots),
    );
    tree::write(folder.path(), &files);
    let output = tree::run(folder.path(), &["check", "--no-cache", "--format", "json"]);
    let findings = tree::found(&String::from_utf8_lossy(&output.stdout));
    let sites = |daemon: bool| -> BTreeSet<String> {
        findings
            .iter()
            .filter_map(|finding| finding.split_once(' '))
            .filter(|(code, _)| code.starts_with("RL1") == daemon && !code.starts_with("RL4"))
            .map(|(_, place)| place.to_owned())
            .collect()
    };
    let (reached, unreached) = (sites(true), sites(false));
    // The truth names every site, and no place that is none.
    let named: BTreeSet<String> = truth.reached.union(&truth.unreached).cloned().collect();
    let seen: BTreeSet<String> = reached.union(&unreached).cloned().collect();
    assert_eq!(named, seen, "{name}: the sites");
    tally.programs += 1;
    tally.found += truth.reached.intersection(&reached).count();
    tally.missed.extend(truth.reached.difference(&reached).map(|site| format!("{name} {site}")));
    tally.invented.extend(reached.difference(&truth.reached).map(|site| format!("{name} {site}")));
}

fn percent(part: usize, whole: usize) -> String {
    if whole == 0 { "–".to_owned() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
}

fn row(kind: &str, tally: &Tally) -> String {
    let (missed, invented) = (tally.missed.len(), tally.invented.len());
    format!(
        "| {kind} | {} | {} | {} | {} | {} | {} |\n",
        tally.programs,
        tally.found + missed,
        missed,
        invented,
        percent(tally.found, tally.found + missed),
        percent(tally.found, tally.found + invented),
    )
}

/// The table with a list of what came out otherwise than Python has it.
fn table(kinds: &BTreeMap<String, Tally>) -> String {
    let mut text = String::from(
        "| kind | programs | reached sites | missed | invented | recall | precision |\n|---|---|---|---|---|---|---|\n",
    );
    let mut all = Tally::default();
    for (kind, tally) in kinds {
        text += &row(kind, tally);
        all.programs += tally.programs;
        all.found += tally.found;
        all.missed.extend(tally.missed.iter().cloned());
        all.invented.extend(tally.invented.iter().cloned());
    }
    text += &row("**all**", &all);
    for (what, places) in [("Missed", &all.missed), ("Invented", &all.invented)] {
        let _ = write!(text, "\n{what}:");
        if places.is_empty() {
            text += " nothing.\n";
            continue;
        }
        text += "\n\n";
        for place in places {
            let _ = writeln!(text, "- `{place}`");
        }
    }
    text
}

#[test]
fn reach_follows_each_kind_of_call() {
    let mut kinds: BTreeMap<String, Tally> = BTreeMap::new();
    for kind in folders(&root().join("fixtures/callgraph")) {
        let name = kind.file_name().expect("a name").to_string_lossy().into_owned();
        let tally = kinds.entry(name).or_default();
        for program in folders(&kind) {
            hold(&program, tally);
        }
    }
    let page = root().join("docs/callgraph.md");
    let text = std::fs::read_to_string(&page).expect("the page");
    let (before, rest) = text.split_once(BEGIN).expect("the table's begin");
    let (_, after) = rest.split_once(END).expect("the table's end");
    let new = format!("{before}{BEGIN}{}{END}{after}", table(&kinds));
    if std::env::var_os("CALLGRAPH_WRITE").is_some() {
        std::fs::write(&page, &new).expect("the page is written");
    }
    let text = std::fs::read_to_string(&page).expect("the page");
    assert!(text == new, "docs/callgraph.md is out of date; the table is now\n{}", table(&kinds));
    let missed: usize = kinds.values().map(|t| t.missed.len()).sum();
    let invented: usize = kinds.values().map(|t| t.invented.len()).sum();
    let found: usize = kinds.values().map(|t| t.found).sum();
    assert!(missed * 100 <= 3 * (found + missed), "recall is below 0.97");
    assert!(invented * 100 <= 3 * (found + invented), "precision is below 0.97");
}
