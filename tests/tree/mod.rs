//! Small multi-file trees written in Markdown: each fence with `title="NAME"` is a file,
//! and a closing fence says what `check` finds in the tree. Documentation pages and the
//! policy fixtures are written this way, and both are executed.
//!
//! Closing fences: `findings` (a line `CODE PATH:LINE` each, or `none`) and `stderr` (exit
//! status 2, and each line stands on standard error). A `run` fence before it holds lines
//! `STATUS ARGS…` that are run first. `findings` may say `args="…"` and `exit=N`.

#![allow(dead_code, clippy::disallowed_methods)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// One example of a Markdown file.
#[derive(Debug, Clone, Default)]
pub struct Example {
    /// Where it ends, for messages.
    pub line: usize,
    /// Its files by name.
    pub files: BTreeMap<String, String>,
    /// What is run first: expected status and arguments.
    pub before: Vec<(i32, Vec<String>)>,
    /// Further arguments of `check`.
    pub args: Vec<String>,
    /// The findings, sorted; `None` where the run must fail.
    pub findings: Option<Vec<String>>,
    /// What stands on standard error.
    pub stderr: Vec<String>,
    /// The exit status, if it is not the one that the findings imply.
    pub exit: Option<i32>,
}

/// The examples of a Markdown text, in order.
pub fn examples(text: &str) -> Vec<Example> {
    let (mut found, mut now) = (Vec::new(), Example::default());
    let mut lines = text.lines().enumerate();
    while let Some((_, line)) = lines.next() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        if ticks < 3 {
            continue;
        }
        let (close, info) = line.split_at(ticks);
        let mut body = String::new();
        let mut end = 0;
        for (number, line) in lines.by_ref() {
            end = number + 1;
            if line == close {
                break;
            }
            body += line;
            body.push('\n');
        }
        let kind = info.split_whitespace().next().unwrap_or("");
        if let Some(name) = attribute(info, "title") {
            now.files.insert(name, body);
        } else if kind == "run" {
            now.before = body
                .lines()
                .map(|l| {
                    let (status, args) = l.split_once(' ').expect("STATUS ARGS");
                    (status.parse().expect("a status"), args.split(' ').map(str::to_owned).collect())
                })
                .collect();
        } else if kind == "findings" || kind == "stderr" {
            let wanted: Vec<String> =
                body.lines().filter(|l| !l.is_empty() && *l != "none").map(str::to_owned).collect();
            if kind == "findings" {
                let mut sorted = wanted;
                sorted.sort();
                now.findings = Some(sorted);
            } else {
                now.stderr = wanted;
            }
            now.line = end;
            now.args = attribute(info, "args")
                .map(|a| a.split(' ').map(str::to_owned).collect())
                .unwrap_or_default();
            now.exit = attribute(info, "exit").and_then(|e| e.parse().ok());
            found.push(std::mem::take(&mut now));
        }
    }
    assert!(now.files.is_empty(), "files without a closing `findings` or `stderr` fence");
    found
}

/// The value of `name="…"` or `name=…`.
fn attribute(info: &str, name: &str) -> Option<String> {
    let (_, rest) = info.split_once(&format!("{name}="))?;
    match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().map(str::to_owned),
        None => rest.split_whitespace().next().map(str::to_owned),
    }
}

/// Runs the binary in a folder, with an environment that holds nothing of the caller's project.
pub fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_restartlint"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().to_ascii_uppercase().starts_with("RESTARTLINT") {
            command.env_remove(name);
        }
    }
    command
        .env("NO_COLOR", "1")
        .env("RESTARTLINT_CACHE_DIR", env!("CARGO_TARGET_TMPDIR"))
        .current_dir(folder)
        .args(args)
        .output()
        .expect("the binary runs")
}

/// Writes files below a folder.
pub fn write(folder: &Path, files: &BTreeMap<String, String>) {
    for (name, text) in files {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, text).expect("a file");
    }
}

/// `CODE PATH:LINE` of every finding of a JSON report, sorted.
pub fn found(json: &str) -> Vec<String> {
    let document: serde_json::Value = serde_json::from_str(json).expect("a JSON report");
    let mut found: Vec<String> = document["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .map(|f| format!("{} {}:{}", text(&f["code"]), text(&f["path"]), f["start"]["line"]))
        .collect();
    found.sort();
    found
}

fn text(value: &serde_json::Value) -> &str {
    value.as_str().expect("a string")
}

/// Executes an example and gives what is wrong with it.
pub fn faults(example: &Example) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("a path");
    write(&root, &example.files);
    let mut faults = Vec::new();
    for (status, args) in &example.before {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = run(&root, &args);
        if output.status.code() != Some(*status) {
            faults.push(format!(
                "{args:?} ended with {:?}: {}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            ));
        }
    }
    let mut args = vec!["check", "--format", "json"];
    args.extend(example.args.iter().map(String::as_str));
    args.push(".");
    let output = run(&root, &args);
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr));
    let status = match &example.findings {
        Some(wanted) => {
            let have = if stdout.is_empty() { Vec::new() } else { found(&stdout) };
            if *wanted != have {
                faults.push(format!("wanted {wanted:#?}\nfound {have:#?}\n{stderr}"));
            }
            i32::from(stdout.contains("\"severity\": \"error\""))
        }
        None => 2,
    };
    let status = example.exit.unwrap_or(status);
    if output.status.code() != Some(status) {
        faults.push(format!("status {:?}, not {status}: {stderr}", output.status.code()));
    }
    for part in &example.stderr {
        if !stderr.contains(part.as_str()) {
            faults.push(format!("standard error does not hold {part:?}: {stderr}"));
        }
    }
    faults
}

/// Every file of that extension below a folder of the project, sorted.
pub fn project_files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<PathBuf> = walkdir::WalkDir::new(root)
        .into_iter()
        .filter_map(Result::ok)
        .map(|e| e.path().to_path_buf())
        .filter(|p| p.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    files
}

/// Executes every example of the files and fails with all faults at once.
pub fn execute(files: &[PathBuf]) -> usize {
    use rayon::prelude::*;
    let all: Vec<(String, Example)> = files
        .iter()
        .flat_map(|file| {
            let text = std::fs::read_to_string(file).expect("a page");
            let name = file.file_name().expect("a name").to_string_lossy().into_owned();
            examples(&text).into_iter().map(move |e| (name.clone(), e))
        })
        .collect();
    let faults: Vec<String> = all
        .par_iter()
        .flat_map_iter(|(name, example)| {
            faults(example).into_iter().map(move |f| format!("{name}:{}: {f}", example.line))
        })
        .collect();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n\n"));
    all.len()
}
