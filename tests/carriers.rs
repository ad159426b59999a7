//! Values in whatever carries them: each carrier with each use, in one file and over files, is one program
//! whose site is found, and the pieces of it say what the whole says. The tables stand in `fixtures/carriers`.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use restartlint::base::facts::Language;
use restartlint::data::config::Config;
use restartlint::scan::{ScanRequest, Watch, scan};
use serde::Deserialize;

/// The programs that end themselves.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Values {
    source: Vec<Source>,
    carrier: Vec<Carrier>,
    r#use: Vec<Use>,
    import: Vec<Import>,
}

/// Where a value comes from.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    name: String,
    imports: String,
    value: String,
}

/// What keeps a value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Carrier {
    name: String,
    code: String,
    r#use: String,
}

/// How a value is called.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Use {
    name: String,
    code: String,
}

/// How a carrier comes into another file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Import {
    name: String,
    code: String,
    r#use: String,
    /// The package's own file, where the carrier lies in a package.
    package: Option<String>,
    /// A file between the two.
    between: Option<String>,
}

/// The programs that kill.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Commands {
    value: Vec<Command>,
    runner: Vec<Runner>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Command {
    name: String,
    kind: String,
    code: String,
    value: String,
    /// The runner that does not follow it.
    without: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Runner {
    name: String,
    code: String,
    list: Option<String>,
    text: Option<String>,
}

fn table<T: for<'d> Deserialize<'d>>(name: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/carriers").join(name);
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The sites of a tree by the first part of their file's path.
fn sites(root: &Path, whole: bool) -> BTreeMap<String, BTreeSet<String>> {
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
    let mut sites: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in scan(&request).unwrap().tree.files {
        let program = file.path.split('/').next().unwrap().trim_end_matches(".py").to_owned();
        let said =
            file.sites.iter().map(|s| format!("{}:{:?} {} {}", file.path, s.span, s.effect, s.primitive));
        sites.entry(program).or_default().extend(said);
    }
    sites
}

/// Every program has a site, and by pieces the same ones.
fn assert_found(programs: &[String], files: &BTreeMap<String, String>) {
    let folder = tempfile::tempdir().unwrap();
    tree::write(folder.path(), files);
    let (pieces, whole) = (sites(folder.path(), false), sites(folder.path(), true));
    let none = BTreeSet::new();
    let of = |sites: &BTreeMap<String, BTreeSet<String>>, program: &str| {
        sites.get(program).unwrap_or(&none).clone()
    };
    let faults: Vec<String> = programs
        .iter()
        .filter_map(|program| match (of(&pieces, program), of(&whole, program)) {
            (_, whole) if whole.is_empty() => Some(format!("{program}: nothing found")),
            (pieces, whole) if pieces != whole => Some(format!("{program}: {pieces:?} by pieces, {whole:?}")),
            _ => None,
        })
        .collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), programs.len(), faults.join("\n"));
    assert!(programs.len() > 500, "{} programs", programs.len());
}

#[test]
fn a_value_is_found_in_all_that_carries_it_however_it_is_called() {
    let Values { source, carrier, r#use, .. } = table("values.toml");
    let (mut programs, mut files) = (Vec::new(), BTreeMap::new());
    for (nth, source) in source.iter().enumerate() {
        for (at, carrier) in carrier.iter().enumerate() {
            // The first source with every use, each other one with every third.
            for (_, way) in r#use.iter().enumerate().filter(|(way, _)| nth == 0 || (way + at + nth) % 3 == 0)
            {
                let program = format!("{}_{}_{}", source.name, carrier.name, way.name);
                let code = carrier.code.replace("<V>", &source.value);
                let text = [&source.imports, &code, &way.code.replace("<U>", &carrier.r#use)];
                files.insert(format!("{program}.py"), text.map(String::as_str).concat());
                programs.push(program);
            }
        }
    }
    assert_found(&programs, &files);
}

#[test]
fn a_value_is_found_through_every_way_of_importing_what_carries_it() {
    let Values { source, carrier, r#use, import } = table("values.toml");
    let (mut programs, mut files) = (Vec::new(), BTreeMap::new());
    for (nth, carrier) in carrier.iter().enumerate() {
        // `next(g())`: the name stands in the middle.
        let Some(end) =
            carrier.r#use.find(|c: char| !c.is_alphanumeric() && c != '_').or(Some(carrier.r#use.len()))
        else {
            continue;
        };
        let (name, rest) = carrier.r#use.split_at(end);
        if matches!(name, "next" | "sys") {
            continue;
        }
        for (at, import) in import.iter().enumerate() {
            let way = &r#use[(nth + at) % r#use.len()];
            let source = &source[(nth * 7 + at) % source.len()];
            let fill =
                |text: &str| text.replace("<U>", &carrier.r#use).replace("<N>", name).replace("<R>", rest);
            let program = format!("{}_{}_{}_{}", source.name, carrier.name, import.name, way.name);
            let used = way.code.replace("<U>", &fill(&import.r#use));
            let mut put = |name: &str, text: String| files.insert(format!("{program}/{name}"), text);
            put("main.py", format!("{}{used}", fill(&import.code)));
            let carried = format!("{}{}", source.imports, carrier.code.replace("<V>", &source.value));
            match &import.package {
                Some(own) => {
                    put("pk/__init__.py", fill(own));
                    put("pk/lib.py", carried);
                }
                None => {
                    put("lib.py", carried);
                }
            }
            if let Some(between) = &import.between {
                put("mid.py", fill(between));
            }
            programs.push(program);
        }
    }
    assert_found(&programs, &files);
}

#[test]
fn a_command_is_found_in_all_that_carries_it_whatever_runs_it() {
    let Commands { value, runner } = table("commands.toml");
    let (mut programs, mut files) = (Vec::new(), BTreeMap::new());
    for value in &value {
        for runner in &runner {
            let run = if value.kind == "list" { &runner.list } else { &runner.text };
            let Some(run) = run.as_ref().filter(|_| value.without.as_ref() != Some(&runner.name)) else {
                continue;
            };
            let program = format!("{}_{}", value.name, runner.name);
            let text = format!("{}{}{}\n", runner.code, value.code, run.replace("<V>", &value.value));
            files.insert(format!("{program}.py"), text);
            programs.push(program);
        }
    }
    assert_found(&programs, &files);
}
