//! Results that are kept between runs: the same bytes as without them, whatever happens to the files
//! and to the cache.

#![allow(clippy::disallowed_methods)]

mod tree;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, SystemTime};

/// A project with a daemon that reaches one site through a helper, among many files.
fn project(folder: &Path) {
    let mut files: BTreeMap<String, String> = (0..80)
        .map(|at| (format!("lib/m{at}.py"), format!("import os\n\ndef f{at}(pid):\n    return pid + {at}\n")))
        .collect();
    let daemon = "from mcp.server.fastmcp import FastMCP\nfrom lib.helper import bounce\n\nmcp = FastMCP('d')\n\n\
                  @mcp.tool()\ndef again():\n    bounce()\n";
    files.insert("lib/__init__.py".to_owned(), String::new());
    files.insert(
        "lib/helper.py".to_owned(),
        "import os\n\ndef bounce():\n    os.execv('d', ['d'])\n".to_owned(),
    );
    files.insert("d.py".to_owned(), daemon.to_owned());
    tree::write(folder, &files);
}

struct Case {
    project: tempfile::TempDir,
    cache: tempfile::TempDir,
}

impl Case {
    fn new() -> Case {
        let case = Case { project: tempfile::tempdir().unwrap(), cache: tempfile::tempdir().unwrap() };
        project(case.project.path());
        // What was just written may be written to again without its times telling.
        std::thread::sleep(Duration::from_millis(80));
        case
    }

    fn check(&self, more: &[&str]) -> Output {
        let cache = self.cache.path().to_string_lossy().into_owned();
        let args = [&["check", "--format", "concise", "--cache-dir", &cache], more].concat();
        tree::run(self.project.path(), &args)
    }

    fn folder(&self, kind: &str) -> PathBuf {
        self.cache.path().join("restartlint-results").join(kind)
    }

    fn entries(&self, kind: &str) -> Vec<PathBuf> {
        let Ok(found) = std::fs::read_dir(self.folder(kind)) else { return Vec::new() };
        found.filter_map(Result::ok).map(|entry| entry.path()).collect()
    }
}

#[track_caller]
fn same(a: &Output, b: &Output) {
    assert_eq!(String::from_utf8_lossy(&a.stdout), String::from_utf8_lossy(&b.stdout));
    assert_eq!(String::from_utf8_lossy(&a.stderr), String::from_utf8_lossy(&b.stderr));
    assert_eq!(a.status.code(), b.status.code());
}

#[test]
fn a_second_run_says_what_the_first_one_said() {
    let case = Case::new();
    let fresh = case.check(&["--no-cache"]);
    assert!(String::from_utf8_lossy(&fresh.stdout).contains("lib/helper.py:4:5"), "{fresh:?}");
    assert!(case.entries("trees").is_empty());
    let cold = case.check(&[]);
    same(&fresh, &cold);
    assert_eq!((case.entries("trees").len(), case.entries("projects").len()), (1, 1));
    for jobs in ["1", "8"] {
        same(&fresh, &case.check(&["--jobs", jobs]));
    }
    for format in ["text", "json", "sarif"] {
        let strip = |output: &Output| {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.lines().filter(|line| !line.contains("duration_ms")).collect::<Vec<_>>().join("\n")
        };
        let format = ["--format", format];
        let args = ["check", "--cache-dir", "unused"];
        let bare = tree::run(case.project.path(), &[&args[..], &["--no-cache"], &format].concat());
        let folder = case.cache.path().to_string_lossy().into_owned();
        let warm =
            tree::run(case.project.path(), &[&["check", "--cache-dir", &folder], &format[..]].concat());
        assert_eq!(strip(&bare), strip(&warm));
    }
}

#[test]
fn what_was_kept_is_what_is_shown() {
    let case = Case::new();
    case.check(&[]);
    // Other places for the same contents: an entry that is used shows in what is said.
    let [tree] = case.entries("trees").try_into().unwrap();
    let bytes = std::fs::read(&tree).unwrap();
    std::fs::remove_file(&tree).unwrap();
    let folder = case.folder("trees");
    case.check(&[]);
    let [again] = case.entries("trees").try_into().unwrap();
    assert_eq!(std::fs::read(&again).unwrap(), bytes, "the same contents have the same entry in {folder:?}");
    assert_eq!(again, tree);
}

#[test]
fn a_change_is_seen_also_one_that_keeps_size_and_time() {
    let case = Case::new();
    let before = case.check(&[]);
    let helper = case.project.path().join("lib/helper.py");
    let written = std::fs::metadata(&helper).unwrap().modified().unwrap();
    let text =
        std::fs::read_to_string(&helper).unwrap().replace("os.execv('d', ['d'])", "print('d', ['d'])   ");
    std::fs::write(&helper, &text).unwrap();
    let file = std::fs::File::options().write(true).open(&helper).unwrap();
    file.set_modified(written).unwrap();
    drop(file);
    let after = case.check(&[]);
    assert!(String::from_utf8_lossy(&before.stdout).contains("helper.py"));
    assert!(!String::from_utf8_lossy(&after.stdout).contains("helper.py"), "{after:?}");
    // A new file, and one that is gone.
    std::fs::write(case.project.path().join("new.py"), "import os\nos.abort()\n").unwrap();
    assert!(String::from_utf8_lossy(&case.check(&[]).stdout).contains("new.py:2:1"));
    std::fs::remove_file(case.project.path().join("new.py")).unwrap();
    same(&after, &case.check(&[]));
}

#[test]
fn a_copy_of_the_project_has_the_same_entry() {
    let case = Case::new();
    case.check(&[]);
    let copy = tempfile::tempdir().unwrap();
    project(copy.path());
    let cache = case.cache.path().to_string_lossy().into_owned();
    let there = tree::run(copy.path(), &["check", "--format", "concise", "--cache-dir", &cache]);
    assert_eq!(there.stdout, case.check(&[]).stdout);
    assert_eq!(case.entries("trees").len(), 1);
}

#[test]
fn the_configuration_is_part_of_the_question() {
    let case = Case::new();
    case.check(&[]);
    std::fs::write(case.project.path().join("restartlint.toml"), "daemon = [\"lib/m1.py\"]\n").unwrap();
    let other = case.check(&[]);
    same(&case.check(&["--no-cache"]), &other);
}

#[test]
fn entries_that_are_not_what_was_written_are_none() {
    let case = Case::new();
    let fresh = case.check(&["--no-cache"]);
    case.check(&[]);
    for kind in ["trees", "projects"] {
        let [entry] = case.entries(kind).try_into().unwrap();
        let bytes = std::fs::read(&entry).unwrap();
        let mut flipped = bytes.clone();
        let last = flipped.len() - 1;
        flipped[last] ^= 1;
        for broken in [Vec::new(), b"no entry".to_vec(), bytes[..bytes.len() / 2].to_vec(), flipped] {
            std::fs::write(&entry, broken).unwrap();
            same(&fresh, &case.check(&[]));
        }
        std::fs::remove_file(&entry).unwrap();
        std::fs::create_dir(&entry).unwrap();
        same(&fresh, &case.check(&[]));
        std::fs::remove_dir(&entry).unwrap();
        case.check(&[]);
    }
}

#[test]
fn a_folder_that_cannot_be_had_is_no_fault() {
    let case = Case::new();
    let fresh = case.check(&["--no-cache"]);
    let file = case.project.path().join("d.py");
    let inside = file.join("cache").to_string_lossy().into_owned();
    same(&fresh, &tree::run(case.project.path(), &["check", "--format", "concise", "--cache-dir", &inside]));
}

#[test]
fn runs_at_the_same_time_do_no_harm() {
    let case = Case::new();
    let fresh = case.check(&["--no-cache"]);
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..6).map(|_| scope.spawn(|| case.check(&[]))).collect();
        for run in runs {
            same(&fresh, &run.join().unwrap());
        }
    });
    same(&fresh, &case.check(&[]));
    assert_eq!((case.entries("trees").len(), case.entries("projects").len()), (1, 1));
}

#[test]
fn nothing_of_the_users_own_is_removed_or_taken_for_an_entry() {
    let case = Case::new();
    let notes = case.cache.path().join("projects/notes.txt");
    std::fs::create_dir_all(notes.parent().unwrap()).unwrap();
    let file = std::fs::File::create(&notes).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(90 * 24 * 60 * 60)).unwrap();
    // The cache may lie in the checkout: it is no part of what is checked.
    let args = ["check", "--format", "concise", "--cache-dir", "."];
    let first = tree::run(case.project.path(), &args);
    same(&first, &tree::run(case.project.path(), &args));
    let trees = std::fs::read_dir(case.project.path().join("restartlint-results/trees")).unwrap();
    assert_eq!(trees.count(), 1);
    case.check(&[]);
    assert!(notes.exists());
    assert_eq!(std::fs::read_dir(case.project.path().join("lib")).unwrap().count(), 82);
}

#[cfg(unix)]
#[test]
fn an_entry_that_is_no_file_is_none() {
    let case = Case::new();
    let fresh = case.check(&["--no-cache"]);
    case.check(&[]);
    for kind in ["trees", "projects"] {
        let [entry] = case.entries(kind).try_into().unwrap();
        std::fs::remove_file(&entry).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &entry).unwrap();
        same(&fresh, &case.check(&[]));
    }
}

#[test]
fn manifests_count_that_are_read_without_being_listed() {
    let case = Case::new();
    let at = |name: &str| case.project.path().join(name);
    std::fs::create_dir_all(at("docs")).unwrap();
    std::fs::write(at("docs/use.md"), "```console\n$ uvicorn app:app --reload\n```\n").unwrap();
    std::fs::write(at(".gitignore"), "package.json\n").unwrap();
    let site = || String::from_utf8_lossy(&case.check(&[]).stdout).contains("docs/use.md");
    assert!(site());
    std::fs::write(at("package.json"), r#"{"name": "uvicorn", "bin": {"uvicorn": "x.js"}}"#).unwrap();
    assert!(!site());
    std::fs::remove_file(at("package.json")).unwrap();
    assert!(site());
}

#[test]
fn the_size_of_a_file_that_is_too_large_is_part_of_the_answer() {
    let case = Case::new();
    std::fs::write(case.project.path().join("restartlint.toml"), "max-file-size = 300\n").unwrap();
    for size in [400, 500] {
        std::fs::write(case.project.path().join("big.py"), "#".repeat(size)).unwrap();
        let shown = case.check(&[]);
        assert!(
            String::from_utf8_lossy(&shown.stdout).contains(&format!("is {size} bytes long")),
            "{shown:?}"
        );
    }
}

#[test]
fn entries_are_removed_when_they_are_old() {
    let case = Case::new();
    let folder = case.folder("trees");
    std::fs::create_dir_all(&folder).unwrap();
    let old = folder.join("old");
    let file = std::fs::File::create(&old).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(40 * 24 * 60 * 60)).unwrap();
    case.check(&[]);
    assert!(!old.exists());
    assert_eq!(case.entries("trees").len(), 1);
}
