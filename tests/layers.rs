//! The layers: what each module imports, held against the table in `src/lib.rs`.

#![allow(clippy::disallowed_methods)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regex::Regex;

/// Module → (floor, what it may import; `None` is everything).
type Table = BTreeMap<String, (u32, Option<BTreeSet<String>>)>;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn table() -> Table {
    let text = std::fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let row = Regex::new(r"^//! \| (\d) \| `(\w+)` \| (.*) \|$").unwrap();
    let name = Regex::new(r"`(\w+)`").unwrap();
    text.lines()
        .filter_map(|line| row.captures(line))
        .map(|c| {
            let may =
                (&c[3] != "everything").then(|| name.captures_iter(&c[3]).map(|n| n[1].to_owned()).collect());
            (c[2].to_owned(), (c[1].parse().unwrap(), may))
        })
        .collect()
}

/// Every source file with its text up to its tests, comments taken out.
fn sources() -> Vec<(String, String)> {
    let comment = Regex::new(r"(?m)//.*$").unwrap();
    walkdir::WalkDir::new(root().join("src"))
        .sort_by_file_name()
        .into_iter()
        .filter_map(Result::ok)
        .filter(|e| e.path().extension().is_some_and(|x| x == "rs"))
        .map(|e| {
            let text = std::fs::read_to_string(e.path()).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or("");
            let name = e.path().strip_prefix(root().join("src")).unwrap().to_string_lossy().into_owned();
            (name, comment.replace_all(code, "").into_owned())
        })
        .collect()
}

/// The top-level module that a file belongs to.
fn module(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap_or("")
}

/// What a text imports from this crate: the first names after `crate::`, lists among them.
fn imports(text: &str) -> BTreeSet<String> {
    let one = Regex::new(r"\bcrate::(\w+)").unwrap();
    let many = Regex::new(r"(?s)\bcrate::\{(.*?)\};").unwrap();
    let part = Regex::new(r"(?:^|,)\s*(\w+)").unwrap();
    let mut found: BTreeSet<String> = one.captures_iter(text).map(|c| c[1].to_owned()).collect();
    for list in many.captures_iter(text) {
        found.extend(part.captures_iter(&list[1]).map(|c| c[1].to_owned()));
    }
    found
}

#[test]
fn every_module_stands_in_the_table() {
    let table = table();
    let have: BTreeSet<String> =
        sources().iter().map(|(f, _)| module(f).to_owned()).filter(|m| m != "lib" && m != "main").collect();
    assert_eq!(have, table.keys().cloned().collect());
}

#[test]
fn the_table_points_down() {
    let table = table();
    for (name, (floor, may)) in &table {
        for other in may.iter().flatten() {
            let (below, _) = table.get(other).unwrap_or_else(|| panic!("`{other}` is no module"));
            assert!(below <= floor, "{name} may import {other}, which stands above it");
            let back = table[other].1.as_ref().is_some_and(|m| m.contains(name));
            assert!(!back, "{name} and {other} may import each other");
        }
    }
}

#[test]
fn nothing_imports_what_its_layer_may_not() {
    let table = table();
    let mut faults = Vec::new();
    for (file, text) in sources() {
        let own = module(&file);
        let Some((_, Some(may))) = table.get(own) else { continue };
        for import in imports(&text) {
            if import != own && table.contains_key(&import) && !may.contains(&import) {
                faults.push(format!("src/{file} imports {import}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_language_imports_another() {
    let languages: Vec<String> = std::fs::read_dir(root().join("src/lang"))
        .unwrap()
        .filter_map(Result::ok)
        .filter(|e| e.path().is_dir())
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    let mut faults = Vec::new();
    for (file, text) in sources() {
        let Some(rest) = file.strip_prefix("lang/") else { continue };
        let own = rest.split(['/', '.']).next().unwrap_or("");
        if !languages.iter().any(|l| l == own) {
            continue;
        }
        for other in languages.iter().filter(|l| *l != own) {
            if text.contains(&format!("lang::{other}")) {
                faults.push(format!("src/{file} imports lang::{other}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_module_is_a_drawer_and_every_module_says_what_it_is() {
    let mut faults = Vec::new();
    for (file, _) in sources() {
        let stem = Path::new(&file).file_stem().unwrap().to_string_lossy().into_owned();
        if ["utils", "util", "helpers", "helper", "common", "misc"].contains(&stem.as_str()) {
            faults.push(format!("src/{file} is a drawer"));
        }
        let text = std::fs::read_to_string(root().join("src").join(&file)).unwrap();
        if !text.starts_with("//!") {
            faults.push(format!("src/{file} does not say what it is"));
        }
        let lines = text.split("#[cfg(test)]").next().unwrap_or("").lines().count();
        if lines > 600 {
            faults.push(format!("src/{file} is {lines} lines long without its tests"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
