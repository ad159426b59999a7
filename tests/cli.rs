//! The command line as people meet it: exit statuses, standard streams, bad input.

#![allow(clippy::disallowed_methods)]

mod tree;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let files: BTreeMap<String, String> =
            files.iter().map(|(n, t)| (n.to_string(), t.to_string())).collect();
        tree::write(folder.path(), &files);
        Place { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let output = tree::run(self.path(), args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    }

    fn found(&self, args: &[&str]) -> Vec<String> {
        let mut all = vec!["check", "--format", "json"];
        all.extend(args);
        tree::found(&self.run(&all).1)
    }
}

const ABORT: &str = "import os\n\nos.abort()\n";

#[test]
fn check_is_the_default_and_the_result_alone_is_on_standard_output() {
    let place = Place::new(&[("src/a.py", ABORT)]);
    let (status, stdout, stderr) = place.run(&["src/"]);
    assert_eq!(status, 1);
    assert!(stdout.contains("RL301") && stdout.contains("a.py:3:1"), "{stdout}");
    assert!(stderr.contains("restartlint init"), "{stderr}");
    let (status, stdout, stderr) = place.run(&["-q", "--format", "json", "src"]);
    assert_eq!((status, stderr.as_str()), (1, ""));
    assert!(stdout.starts_with('{') && stdout.ends_with("}\n"));
}

#[test]
fn usage_and_missing_paths_are_status_two() {
    let place = Place::new(&[("a.py", "x = 1\n")]);
    for args in [
        &["check", "nowhere.py"][..],
        &["check", "--format", "yaml"],
        &["check", "--select", "RL30l"],
        &["check", "--language", "pyton"],
        &["--config", "none.toml"],
        &["check", "--baseline", "none.json"],
        &["check", "-", "a.py"],
        &["explain", "nothing"],
        &["inventory", "check"],
        &["chekc"],
    ] {
        let (status, stdout, stderr) = place.run(args);
        assert_eq!(status, 2, "{args:?} {stdout}");
        assert!(!stderr.is_empty(), "{args:?}");
    }
    assert!(place.run(&["check", "--select", "RL30l"]).2.contains("RL301"));
    assert!(place.run(&["check", "--language", "pyton"]).2.contains("python"));
    assert!(place.run(&["chekc"]).2.contains("`check`"));
    std::fs::write(place.path().join("data.csv"), "1,2\n").unwrap();
    assert!(place.run(&["check", "data.csv"]).2.contains("data.csv is of no kind that is read"));
    let (status, _, stderr) = place.run(&["check", "--ignore", "RL3O1"]);
    assert_eq!(status, 0);
    assert!(stderr.contains("warning") && stderr.contains("RL301"), "{stderr}");
}

#[test]
fn one_file_on_standard_input() {
    let place = Place::new(&[
        ("restartlint.toml", "daemon = [\"srv/a.py\"]\n"),
        ("srv/a.py", "x = 1\n"),
        ("b.py", ABORT),
    ]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_restartlint"))
        .args(["check", "-", "--stdin-filename", "srv/a.py", "--format", "json"])
        .current_dir(place.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(ABORT.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(tree::found(&String::from_utf8_lossy(&output.stdout)), ["RL102 srv/a.py:3"]);
    let sites = |name: &[&str], text: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_restartlint"))
            .args([&["sites", "-"], name].concat())
            .current_dir(place.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    };
    let (status, stdout, stderr) = sites(&["--stdin-filename", "srv/new.sh"], "pkill -f a.py\n");
    assert_eq!((status, stderr.as_str()), (0, ""));
    assert!(stdout.starts_with("srv/new.sh:1:1: kill pkill"), "{stdout}");
    assert!(sites(&[], ABORT).1.starts_with("stdin.py:3:1: terminate os.abort"));
    // A fault of the daemon's own text leaves the answer open, as it does where the file is read.
    let (status, _, stderr) = sites(&["--stdin-filename", "srv/a.py"], "import os\ndef f(:\nos.abort()\n");
    assert!(status == 2 && stderr.contains("srv/a.py:2:"), "{status} {stderr}");
    assert!(sites(&["--stdin-filename", "x.csv"], "1,2\n").2.contains("nothing was looked at"));
    assert_eq!(place.run(&["sites", "-", "b.py"]).0, 2);
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let text = "import os\n".to_owned() + &"os.abort()\n".repeat(4000);
    let place = Place::new(&[("a.py", text.as_str())]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_restartlint"))
        .args(["-q", "check", "--format", "json", "."])
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_same_bytes_whatever_the_number_of_workers() {
    let files: Vec<(String, String)> = (0..40)
        .map(|n| (format!("d{}/f{n}.py", n % 7), format!("import os\n\nos.abort()  # {n}\n")))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    let place = Place::new(&files);
    let one = place.run(&["sites", "--format", "json", "--jobs", "1", "."]).1;
    assert_eq!(one.matches("os.abort").count(), 40);
    for jobs in ["2", "8"] {
        assert_eq!(place.run(&["sites", "--format", "json", "--jobs", jobs, "."]).1, one);
    }
    let concise = place.run(&["check", "--format", "concise", "--jobs", "1", "."]).1;
    assert_eq!(place.run(&["check", "--format", "concise", "--jobs", "8", "."]).1, concise);
}

#[test]
fn output_goes_to_the_named_file_and_statistics_count() {
    let place = Place::new(&[("a.py", ABORT)]);
    let (status, stdout, _) = place.run(&["check", "--format", "sarif", "--output", "out.sarif", "."]);
    assert_eq!((status, stdout.as_str()), (1, ""));
    let text = std::fs::read_to_string(place.path().join("out.sarif")).unwrap();
    assert!(text.contains("\"RL301\"") && !text.contains('\u{1b}'));
    for (command, said) in [("sites", "os.abort"), ("reach", "0 sites")] {
        let (status, stdout, _) = place.run(&[command, "--output", "out.txt", "."]);
        assert_eq!((status, stdout.as_str()), (0, ""));
        assert!(std::fs::read_to_string(place.path().join("out.txt")).unwrap().contains(said));
    }
    let (_, stdout, _) = place.run(&["check", "--statistics", "--format", "concise", "."]);
    assert!(stdout.contains("1  RL301 unregistered-restart-path"), "{stdout}");
}

#[test]
fn the_baseline_hides_follows_moved_lines_and_tells_stale_entries() {
    let place = Place::new(&[("a.py", ABORT), ("b.py", ABORT)]);
    assert_eq!(place.run(&["check", "--write-baseline", "base.json", "."]).0, 0);
    std::fs::write(place.path().join("a.py"), "import os\n\n# moved\n\nos.abort()\n").unwrap();
    let (status, stdout, _) = place.run(&["check", "--baseline", "base.json", "--format", "json", "."]);
    assert_eq!(status, 0, "{stdout}");
    assert!(stdout.contains("\"baselined\": 2"));
    std::fs::write(place.path().join("b.py"), "x = 1\n").unwrap();
    let (status, _, stderr) = place.run(&["check", "--baseline", "base.json", "."]);
    assert_eq!(status, 1);
    assert!(stderr.contains("b.py") && stderr.contains("no longer occurs"), "{stderr}");
    // A run over another file, or in another language, could not have met the entry.
    let other = ["check", "--baseline", "base.json", "--language", "shell", "."];
    assert_eq!(place.run(&other).0, 0);
    assert_eq!(place.run(&["check", "--baseline", "base.json", "a.py"]).0, 0);
    std::fs::write(place.path().join("base.json"), "{\n  \"schema\": 1,\n").unwrap();
    let (status, _, stderr) = place.run(&["check", "--baseline", "base.json", "."]);
    assert_eq!(status, 2);
    assert!(stderr.contains("line 3") || stderr.contains("line 2"), "{stderr}");
}

#[test]
fn init_drafts_once_and_every_draft_is_undecided() {
    let server = "from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP(\"x\")\n";
    let place = Place::new(&[
        ("server.py", server),
        ("a.py", ABORT),
        ("b.py", "import os\n\nos.execv(\"/x\", [\"x\"])\n"),
    ]);
    let (status, stdout, stderr) = place.run(&["init"]);
    assert_eq!(status, 0, "{stderr}");
    assert!(stdout.contains("2 paths drafted"), "{stdout}");
    let config = std::fs::read_to_string(place.path().join("restartlint.toml")).unwrap();
    assert!(config.contains("\"server.py\""), "{config}");
    let found = place.found(&["."]);
    assert_eq!(found.iter().filter(|f| f.starts_with("RL308")).count(), 2, "{found:?}");
    assert_eq!(place.run(&["inventory", "check"]).0, 1);
    let (status, _, stderr) = place.run(&["init"]);
    assert!(status == 2 && stderr.contains("`restartlint init --missing`"), "{stderr}");
}

#[test]
fn drafts_of_what_an_inventory_lacks_are_printed_and_accepted() {
    let server = "from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP(\"x\")\n";
    let place = Place::new(&[("server.py", server), ("a.py", ABORT), ("k.sh", "pkill -f server.py\n")]);
    assert_eq!(place.run(&["init", "--missing"]).0, 2);
    assert_eq!(place.run(&["init"]).0, 0);
    let file = place.path().join("restart-paths.toml");
    let first = std::fs::read_to_string(&file).unwrap();
    // A file without modules has no symbol to name.
    assert!(!first.contains("<module>") && first.contains("one site of pkill (kill)\""), "{first}");
    let (status, stdout, stderr) = place.run(&["init", "--missing"]);
    assert_eq!((status, stdout.as_str()), (0, ""));
    assert!(stderr.contains("lacks no site"), "{stderr}");
    // A site outside the daemon, one in it, one that a drafted path means already, and an id that is taken.
    std::fs::write(
        place.path().join("server.py"),
        format!("{server}\n\ndef tool():\n    os._exit(1)\n\n\nimport os\n\ntool()\n"),
    )
    .unwrap();
    std::fs::write(place.path().join("a.py"), format!("{ABORT}os.abort()\n")).unwrap();
    std::fs::create_dir(place.path().join("a")).unwrap();
    std::fs::write(place.path().join("a/py"), "#!/usr/bin/env python3\nimport os\nos.abort()\n").unwrap();
    let (status, stdout, stderr) = place.run(&["init", "--missing"]);
    assert_eq!(status, 0, "{stderr}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), first);
    let ids: Vec<&str> = stdout.lines().filter(|line| line.starts_with("id = ")).collect();
    assert_eq!(ids, ["id = \"a_py_os_abort_2\"", "id = \"server_py_os_exit\""]);
    assert!(stderr.contains("2 paths drafted, and nothing written"), "{stderr}");
    std::fs::write(&file, first + &stdout).unwrap();
    let found = place.found(&["."]);
    assert_eq!(found.iter().filter(|f| f.starts_with("RL308")).count(), 4, "{found:?}");
    assert_eq!(place.run(&["init", "--missing"]).1, "");
    // What an annotation has decided is not missing.
    std::fs::write(place.path().join("other.sh"), "pkill web # restartlint: ignore[RL301] not ours\n")
        .unwrap();
    assert_eq!(place.run(&["init", "--missing"]).1, "");
    std::fs::write(place.path().join("other.sh"), "pkill web\n").unwrap();
    assert!(place.run(&["init", "--missing"]).1.contains("other.sh"));
}

#[test]
fn explain_rules_completions_and_man_answer() {
    let place = Place::new(&[]);
    for (args, text) in [
        (&["explain", "RL303"][..], "forbidden-path"),
        (&["explain", "daemon-exit"], "RL108"),
        (&["explain", "replace"], "RL101"),
        (&["explain", "os.execv"], "replace"),
        (&["explain", "pkill"], "kill"),
        (&["explain", "systemctl", "restart"], "supervise"),
        (&["rules"], "RL405"),
        (&["rules", "--format", "json"], "\"silenceable\": false"),
        (&["completions", "bash"], "-W \"RL101 RL102"),
        (&["completions", "fish"], "RL301\\t'unregistered-restart-path'"),
        (&["man"], ".TH"),
        (&["--version"], "restartlint"),
        (&["--help"], "Exit status"),
    ] {
        let (status, stdout, stderr) = place.run(args);
        assert_eq!(status, 0, "{args:?} {stderr}");
        assert!(stdout.contains(text), "{args:?} {stdout}");
    }
}

#[test]
fn bad_input_is_a_finding_or_a_message_and_never_a_panic() {
    let deep = format!("x = {}{}\nimport os\nos.abort()\n", "[".repeat(20_000), "]".repeat(20_000));
    let place = Place::new(&[
        ("deep.py", deep.as_str()),
        ("empty.py", ""),
        ("bom.py", "\u{feff}import os\nos.abort()\n"),
        ("crlf.py", "import os\r\n\r\nos.abort()\r\n"),
        ("nul.py", "import os\n\0\nos.abort()\n"),
    ]);
    std::fs::write(place.path().join("latin.py"), b"import os\n# caf\xe9\nos.abort()\n").unwrap();
    let (status, stdout, stderr) = place.run(&["check", "--format", "json", "."]);
    assert_eq!(status, 1, "{stderr}");
    let found = tree::found(&stdout);
    for wanted in ["RL301 bom.py:2", "RL301 crlf.py:3", "RL301 latin.py:3", "RL401 latin.py:1"] {
        assert!(found.iter().any(|f| f == wanted), "{wanted}: {found:?}");
    }
    for wanted in ["deep.py", "RL401 nul.py:2"] {
        assert!(found.iter().any(|f| f.contains(wanted)), "{wanted}: {found:?}");
    }
}

#[test]
fn a_file_over_the_limit_is_reported_and_not_read() {
    let long = "x = 1\n".repeat(200);
    let config = "daemon = [\"d.py\"]\nmax-file-size = 1000\n";
    let place =
        Place::new(&[("restartlint.toml", config), ("d.py", &long), ("a.py", &long), ("data.csv", &long)]);
    let (status, stdout, _) = place.run(&["check", "--format", "json", "."]);
    assert_eq!(status, 1);
    assert_eq!(tree::found(&stdout), ["RL401 a.py:1", "RL401 d.py:1"]);
    assert!(stdout.contains("\"warnings\": 1") && stdout.contains("\"errors\": 1"), "{stdout}");
}

#[cfg(unix)]
#[test]
fn links_are_walked_once_and_never_out() {
    use std::os::unix::fs::symlink;
    let outside = Place::new(&[("o.py", ABORT)]);
    let place = Place::new(&[("p/a.py", ABORT), ("node_modules/m/b.py", ABORT), (".data/c.py", ABORT)]);
    let root = place.path();
    symlink(root.join("node_modules/m"), root.join("m")).unwrap();
    symlink(root.join(".data/c.py"), root.join("c.py")).unwrap();
    symlink(root, root.join("p/loop")).unwrap();
    symlink(root.join("p"), root.join("again")).unwrap();
    symlink(outside.path(), root.join("out")).unwrap();
    symlink(outside.path().join("o.py"), root.join("out.py")).unwrap();
    symlink(root.join("nowhere"), root.join("dangling.py")).unwrap();
    let (status, stdout, stderr) = place.run(&["check", "--format", "json", "."]);
    assert_eq!(status, 1);
    assert_eq!(tree::found(&stdout), ["RL301 c.py:3", "RL301 p/a.py:3"]);
    assert!(stderr.contains("out is a symbolic link that leaves"), "{stderr}");
    assert!(stderr.contains("out.py is a symbolic link that leaves"), "{stderr}");
    assert!(stderr.contains("dangling.py is a symbolic link that leads nowhere"), "{stderr}");
}

#[test]
fn ignored_hidden_and_installed_folders_are_not_read() {
    let place = Place::new(&[
        (".gitignore", "gen/\n*.tmp.py\n!keep.tmp.py\n"),
        ("gen/a.py", ABORT),
        ("x.tmp.py", ABORT),
        ("keep.tmp.py", ABORT),
        ("sub/.gitignore", "b.py\n"),
        ("sub/b.py", ABORT),
        ("node_modules/m/a.py", ABORT),
        ("sub/.venv/a.py", ABORT),
        ("env/pyvenv.cfg", "home = /usr\n"),
        ("env/lib/a.py", ABORT),
        (".cache/a.py", ABORT),
        (".github/scripts/a.py", ABORT),
    ]);
    assert_eq!(place.found(&["."]), ["RL301 .github/scripts/a.py:3", "RL301 keep.tmp.py:3"]);
    // A folder that is named is read, by the ignore files above it.
    std::fs::write(place.path().join("restartlint.toml"), "").unwrap();
    assert_eq!(place.found(&["gen"]), ["RL301 gen/a.py:3"]);
    std::fs::write(place.path().join("gen/y.tmp.py"), ABORT).unwrap();
    assert_eq!(place.found(&["gen"]), ["RL301 gen/a.py:3"]);
    std::fs::remove_file(place.path().join("restartlint.toml")).unwrap();
    assert_eq!(place.found(&["node_modules"]), ["RL301 m/a.py:3"]);
    assert_eq!(place.found(&["sub/b.py"]), ["RL301 sub/b.py:3"]);
}

#[test]
fn installed_packages_are_not_read_though_nothing_ignores_them() {
    let names: Vec<String> = (0..400)
        .flat_map(|n| {
            [format!("node_modules/p{n}/index.js"), format!("web/node_modules/@s/p{n}/node_modules/q/i.mjs")]
        })
        .collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), "process.abort();\n")).collect();
    files.push(("web/own.js", "process.abort();\n"));
    let place = Place::new(&files);
    assert_eq!(place.found(&["."]), ["RL301 web/own.js:1"]);
    assert_eq!(place.found(&["web"]), ["RL301 own.js:1"]);
}

#[test]
fn a_part_of_the_project_says_nothing_about_the_rest() {
    let inventory = "schema = 1\n[[path]]\nid = \"b\"\ntitle = \"b\"\nclassification = \"sanctioned_narrow_recovery\"\n\
                     mechanism = \"m\"\nguard = \"g\"\nlocations = [\"b.py\"]\nprimitives = [\"os.abort\"]\nreferences = [\"#1\"]\n";
    let place = Place::new(&[
        ("restartlint.toml", "daemon = [\"d.py\"]\n"),
        ("restart-paths.toml", inventory),
        ("d.py", "x = 1\n"),
        ("a.py", "x = 1\n"),
        ("b.py", ABORT),
    ]);
    assert_eq!(place.found(&["a.py"]), Vec::<String>::new());
    assert_eq!(place.found(&["b.py"]), Vec::<String>::new());
    assert_eq!(place.found(&["."]), Vec::<String>::new());
}

#[test]
fn a_declared_daemon_is_read_wherever_it_lies() {
    let place = Place::new(&[
        (".gitignore", "gen/\n"),
        ("restartlint.toml", "daemon = [\"gen/server.py\", \"build/srv/*.py\"]\n"),
        ("gen/server.py", ABORT),
        ("gen/other.py", ABORT),
        ("build/srv/a.py", ABORT),
    ]);
    assert_eq!(place.found(&["."]), ["RL102 build/srv/a.py:3", "RL102 gen/server.py:3"]);
}

#[test]
fn a_broken_pyproject_is_a_fault_only_if_it_configures_this_tool() {
    let broken = "[project\nname = 1\n";
    let other = Place::new(&[("pyproject.toml", broken), ("a.py", "x = 1\n")]);
    assert_eq!(other.run(&["check", "."]).0, 0);
    let ours = format!("{broken}[tool.restartlint]\ndaemon = [\"a.py\"]\n");
    let own = Place::new(&[("pyproject.toml", ours.as_str()), ("a.py", "x = 1\n")]);
    let (status, _, stderr) = own.run(&["check", "."]);
    assert_eq!(status, 2);
    assert!(stderr.contains("pyproject.toml:1"), "{stderr}");
}

#[test]
fn faults_of_the_users_files_name_file_and_line() {
    let place = Place::new(&[
        ("restartlint.toml", "\ndeamon = [\"a.py\"]\nexclude = [\"/etc/x\"]\n"),
        ("a.py", ABORT),
    ]);
    let (status, stdout, stderr) = place.run(&["check", "."]);
    assert_eq!((status, stdout.as_str()), (2, ""));
    assert!(stderr.contains("restartlint.toml:2:1") && stderr.contains("restartlint.toml:3:12"), "{stderr}");
    assert!(!stderr.contains('\u{1b}'), "{stderr}");
}

#[test]
fn a_daemon_over_the_limit_is_not_read_by_another_way() {
    let long = format!("import os\n{}os.abort()\n", "x = 1\n".repeat(200));
    let config = "daemon = [\"sub/../d.py\"]\nmax-file-size = 1000\n";
    let place = Place::new(&[
        ("restartlint.toml", config),
        ("d.py", &long),
        ("a.py", "import d\nd.f()\n"),
        ("sub/x.py", "x = 1\n"),
    ]);
    assert_eq!(place.found(&["."]), ["RL401 d.py:1"]);
}

#[test]
fn standard_input_is_held_to_the_size_limit() {
    let place = Place::new(&[("restartlint.toml", "max-file-size = 1000\n")]);
    let long = format!("import os\nos.abort()\n{}", "x = 1\n".repeat(200));
    let check = |text: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_restartlint"))
            .args(["check", "-", "--stdin-filename", "a.py", "--format", "json"])
            .current_dir(place.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        tree::found(&String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout))
    };
    assert_eq!(check(&long), ["RL401 a.py:1"]);
    assert_eq!(check(ABORT), ["RL301 a.py:3"]);
}

#[test]
fn an_exclude_that_leaves_nothing_is_told() {
    let place = Place::new(&[("restartlint.toml", "exclude = [\"**\"]\n"), ("a.py", ABORT)]);
    let (_, _, stderr) = place.run(&["-q", "check", "."]);
    assert!(stderr.contains("nothing was looked at") && stderr.contains("`exclude`"), "{stderr}");
}

#[test]
fn a_run_that_had_nothing_to_look_at_says_so() {
    let place = Place::new(&[("data/x.csv", "1,2\n"), ("a.py", ABORT)]);
    std::fs::create_dir(place.path().join("void")).unwrap();
    for command in ["check", "sites", "reach"] {
        for (args, why) in [
            (&["void"][..], "hold no file that is not ignored"),
            (&["data"], "is of a kind that is read"),
            (&["--language", "go", "."], "is of a language that is asked for"),
        ] {
            let (status, _, stderr) = place.run(&[&["-q", command], args].concat());
            assert_eq!(status, 0, "{command} {args:?}");
            assert!(stderr.contains("warning: nothing was looked at") && stderr.contains(why), "{stderr}");
        }
        assert!(!place.run(&[command, "."]).2.contains("nothing was looked at"));
    }
}

#[test]
fn an_excluded_folder_that_is_given_is_told_and_not_read() {
    let place = Place::new(&[
        ("restartlint.toml", "exclude = [\"vendored/\", \"gen_*.py\"]\n"),
        ("vendored/deep/v.py", ABORT),
        ("src/gen_a.py", ABORT),
        ("src/b.py", ABORT),
    ]);
    for given in ["vendored", "./vendored/", "vendored/deep"] {
        assert_eq!(place.found(&[given]), Vec::<String>::new(), "{given}");
        let (status, _, stderr) = place.run(&["check", given]);
        let note = format!("{given} is excluded by the configuration; nothing in it is read");
        assert!(
            status == 0 && stderr.contains(&note) && stderr.contains("nothing was looked at"),
            "{stderr}"
        );
    }
    // Of a folder that is not excluded itself, the excludes leave the rest.
    assert_eq!(place.found(&["src", "vendored"]), ["RL301 src/b.py:3"]);
    assert_eq!(place.found(&["."]), ["RL301 src/b.py:3"]);
}

#[test]
fn the_verdict_says_what_was_judged_and_stays_away_where_that_is_not_known() {
    let place = Place::new(&[
        ("restartlint.toml", "daemon = [\"d.py\"]\n"),
        ("d.py", "import a\n"),
        ("a.py", ABORT),
        ("b.py", "x = 1\n"),
    ]);
    let closing = |args: &[&str]| place.run(args).1.lines().last().unwrap_or("").to_owned();
    for format in ["text", "concise"] {
        let whole = closing(&["check", "--format", format]);
        assert_eq!(whole, "1 error, 0 warnings, 0 notes; 1 site in 1 of 3 files");
        let part = closing(&["check", "--format", format, "d.py"]);
        let said = "what the daemon reaches through other files is not judged";
        assert!(
            part.starts_with("no findings in this part of the project;") && part.ends_with(said),
            "{part}"
        );
        // Quiet: the findings alone.
        assert!(!place.run(&["-q", "check", "--format", format]).1.contains("1 error,"));
        assert_eq!(place.run(&["-q", "check", "--format", format, "b.py"]).1, "");
        // What could not be looked at has no verdict.
        let (status, stdout, _) = place.run(&["check", "--format", format, "nowhere.py"]);
        assert_eq!((status, stdout.as_str()), (2, ""));
        let (status, stdout, _) = place.run(&["check", "--format", format, "nowhere.py", "a.py"]);
        assert!(status == 2 && stdout.contains("RL301") && !stdout.contains("1 error,"), "{stdout}");
    }
    // A format for machines has no such line: standard error says it.
    let (_, _, stderr) = place.run(&["check", "--format", "jsonl", "d.py"]);
    assert!(stderr.contains("only a part of the project was looked at"), "{stderr}");
    let (_, _, stderr) = place.run(&["reach", "a.py"]);
    assert!(
        stderr.contains("only a part of the project") && !stderr.contains("no daemon module"),
        "{stderr}"
    );
    assert_eq!(place.run(&["reach", "nowhere.py"]).1, "");
}

#[test]
fn a_long_help_is_told_once() {
    let entry = |id: &str| {
        format!(
            "[[path]]\nid = \"{id}\"\ntitle = \"t\"\nclassification = \"unclassified\"\nmechanism = \"m\"\nguard = \"g\"\n\
             locations = [\"b.py\"]\nprimitives = [\"os.abort\"]\nreferences = [\"#1\"]\n"
        )
    };
    let inventory = format!("schema = 1\n{}{}", entry("one"), entry("two"));
    let place = Place::new(&[("restart-paths.toml", &inventory), ("b.py", "x = 1\n")]);
    let (_, text, _) = place.run(&["check"]);
    assert_eq!(text.matches("decide: `sanctioned_narrow_recovery`").count(), 1, "{text}");
    assert_eq!(text.matches("help: as for the RL308 above").count(), 1, "{text}");
    let (_, json, _) = place.run(&["check", "--format", "json"]);
    assert_eq!(json.matches("decide: `sanctioned_narrow_recovery`").count(), 2);
    let (_, lines, _) = place.run(&["inventory", "check"]);
    assert_eq!(lines.matches("decide: `sanctioned_narrow_recovery`").count(), 1, "{lines}");
}

#[test]
fn a_baseline_of_the_whole_holds_for_a_part() {
    let place = Place::new(&[
        ("restartlint.toml", "daemon = [\"d.py\"]\n"),
        ("d.py", "import ops\nops.stop()\n"),
        ("ops.py", "import os\n\ndef stop():\n    os.abort()\n"),
        ("b.py", ABORT),
    ]);
    let (_, _, stderr) = place.run(&["check", "--write-baseline", "base.json", "."]);
    assert!(stderr.contains("2 findings written"), "{stderr}");
    let baselined = |path: &str| place.run(&["check", "--baseline", "base.json", path]);
    for path in [".", "ops.py", "b.py", "d.py"] {
        let (status, stdout, stderr) = baselined(path);
        assert_eq!(status, 0, "{path}: {stdout}{stderr}");
    }
    // What is gone from a file of the run is told, what lies elsewhere is not.
    std::fs::write(place.path().join("b.py"), "x = 1\n").unwrap();
    assert_eq!(baselined("ops.py").0, 0);
    assert_eq!(baselined("b.py").0, 1);
    std::fs::remove_file(place.path().join("b.py")).unwrap();
    assert_eq!(baselined("ops.py").0, 0);
    assert_eq!(baselined(".").0, 1);
}

#[test]
fn an_entry_of_the_inventory_is_printed_as_json_too() {
    let inventory = "schema = 1\n[[path]]\nid = \"boot\"\ntitle = \"b\"\nclassification = \"forbidden\"\n\
                     mechanism = \"m\"\nguard = \"g\"\nlocations = [\"b.py\"]\nprimitives = [\"os.abort\"]\nreferences = [\"#1\"]\n";
    let place = Place::new(&[("restart-paths.toml", inventory)]);
    let json = |args: &[&str]| {
        let (status, stdout, _) = place.run(&[&["inventory"], args, &["--format", "json"]].concat());
        (status, serde_json::from_str::<serde_json::Value>(&stdout).unwrap())
    };
    let (status, entry) = json(&["show", "boot"]);
    assert_eq!((status, entry["classification"].as_str()), (0, Some("forbidden")));
    let (status, attempt) = json(&["assert", "boot"]);
    assert_eq!(
        (status, attempt["registered"].as_bool(), attempt["permitted"].as_bool()),
        (0, Some(true), Some(false))
    );
    assert_eq!(json(&["assert", "boot", "--permitted"]).0, 1);
    let (status, attempt) = json(&["assert", "bot"]);
    assert_eq!((status, attempt["nearest"][0].as_str()), (1, Some("boot")));
}

#[test]
fn sites_and_reach_say_what_they_could_not_read() {
    let place = Place::new(&[
        ("restartlint.toml", "daemon = [\"d.py\", \"gone.py\"]\n"),
        ("d.py", "import a\n"),
        ("a.py", ABORT),
        ("broken.py", "import os\ndef f(:\nos.abort()\n"),
    ]);
    for command in ["sites", "reach"] {
        let (status, stdout, stderr) = place.run(&[command, "--format", "json"]);
        assert_eq!(status, 2, "{command} {stderr}");
        assert!(stdout.contains("a.py"), "{stdout}");
        for text in [
            "restartlint.toml:1:",
            "`gone.py` is declared, and there is no such file",
            "warning: the file `broken.py` has a syntax error",
            "2 places could not be read in full",
        ] {
            assert!(stderr.contains(text), "{command}: {text} in {stderr}");
        }
    }
    // A fault outside the daemon is told, as `check` warns of it; the answer stands.
    std::fs::write(place.path().join("restartlint.toml"), "daemon = [\"d.py\"]\n").unwrap();
    let (status, _, stderr) = place.run(&["reach"]);
    assert_eq!(status, 0, "{stderr}");
    assert!(stderr.contains("broken.py:2:") && stderr.contains("1 place could not"), "{stderr}");
    std::fs::remove_file(place.path().join("broken.py")).unwrap();
    assert_eq!(place.run(&["reach"]).2, "");
}

#[test]
fn a_path_is_told_as_it_was_given() {
    let place = Place::new(&[("a.py", ABORT)]);
    let far = place.path().join("no/such.py");
    let far = far.to_string_lossy();
    let (status, _, stderr) = place.run(&["check", &far, "./nor/this.py", "a.py"]);
    assert_eq!(status, 2);
    assert!(stderr.contains(&format!("restartlint: {far} does not exist")), "{stderr}");
    assert!(stderr.contains("restartlint: ./nor/this.py does not exist"), "{stderr}");
    // A word that was meant to be a command asks for nothing else: there is no result.
    let (status, stdout, stderr) = place.run(&["chekc"]);
    assert_eq!((status, stdout.as_str()), (2, ""), "{stderr}");
    assert!(stderr.contains("did you mean the command `check`?"), "{stderr}");
    let (status, stdout, stderr) = place.run(&["inventroy", "show"]);
    assert_eq!((status, stdout.as_str()), (2, ""), "{stderr}");
    assert!(stderr.contains("did you mean the command `inventory`?"), "{stderr}");
}

#[test]
fn a_primitive_that_is_misspelled_is_told() {
    let (status, _, stderr) = Place::new(&[]).run(&["explain", "os.killl"]);
    assert_eq!(status, 2);
    assert!(stderr.contains("did you mean `os.kill`?"), "{stderr}");
}

#[test]
fn a_part_of_the_project_says_that_the_reach_is_not_whole() {
    let files = [("restartlint.toml", "daemon = [\"d.py\"]\n"), ("d.py", "import a\n"), ("a.py", ABORT)];
    let place = Place::new(&files);
    let note = "the daemon's reach is not known in full";
    assert_eq!(place.found(&["."]), ["RL102 a.py:3"]);
    assert!(!place.run(&["check"]).2.contains(note));
    assert_eq!(place.found(&["a.py"]), ["RL301 a.py:3"]);
    assert!(place.run(&["check", "a.py"]).2.contains(note));
    assert!(!place.run(&["-q", "check", "a.py"]).2.contains(note));
    // Without a declaration a run over the whole may still find the daemon.
    let place = Place::new(&[("d.py", "import a\n"), ("a.py", ABORT), ("b.py", "x = 1\n")]);
    assert!(place.run(&["check", "a.py"]).2.contains(note));
    assert!(!place.run(&["check", "b.py"]).2.contains(note));
}

#[test]
fn the_inventory_lists_its_ids_and_its_faults_have_places() {
    let inventory = "schema = 1\n[[path]]\nid = \"boot\"\ntitle = \"At boot\"\nclassification = \"unclassified\"\n\
                     mechanism = \"m\"\nguard = \"g\"\nlocations = [\"b.py\"]\nprimitives = [\"os.abort\"]\nreferences = [\"#1\"]\n";
    let place = Place::new(&[
        ("restart-paths.toml", inventory),
        ("restartlint.toml", "inventory-doc = \"paths.md\"\n"),
        ("b.py", ABORT),
    ]);
    let (status, stdout, _) = place.run(&["inventory", "show"]);
    assert_eq!((status, stdout.as_str()), (0, "boot  unclassified: At boot\n"));
    let (status, stdout, _) = place.run(&["inventory", "check"]);
    assert_eq!(status, 1);
    assert!(stdout.contains("restart-paths.toml:5:18: RL308 the path `boot`"), "{stdout}");
    assert!(
        stdout.contains("restartlint.toml:1:17: RL307 the inventory's document `paths.md` does not exist"),
        "{stdout}"
    );
    std::fs::write(place.path().join("paths.md"), "# Paths\n\nboot\n<!-- x -->\n").unwrap();
    let (_, stdout, _) = place.run(&["inventory", "check"]);
    assert!(!stdout.contains("RL307"), "{stdout}");
}

#[test]
fn the_inventorys_check_tells_what_the_sources_say_of_it() {
    let entry = |id: &str, location: &str, more: &str| {
        format!(
            "[[path]]\nid = \"{id}\"\ntitle = \"t\"\nclassification = \"sanctioned_narrow_recovery\"\nmechanism = \"m\"\n\
             guard = \"g\"\nlocations = [\"{location}\"]\nprimitives = [\"os.abort\"]\nreferences = [\"#1\"]\n{more}"
        )
    };
    let inventory = format!(
        "schema = 1\n{}{}{}",
        entry("gone", "gone.py", ""),
        entry("idle", "sub/idle.py", ""),
        entry("wide", "d.py", "daemon_exception = true\n")
    );
    let place = Place::new(&[
        ("restart-paths.toml", &inventory),
        ("restartlint.toml", "daemon = [\"d.py\"]\n"),
        ("sub/idle.py", "x = 1\n"),
        ("d.py", ABORT),
    ]);
    // From wherever in the project it is asked, and the same as `check` finds.
    for args in [&["inventory", "check"][..], &["inventory", "check", "sub"]] {
        let (status, stdout, _) = place.run(args);
        assert_eq!(status, 1, "{stdout}");
        let lines: Vec<&str> = stdout.lines().collect();
        assert!(
            lines[0].starts_with("restart-paths.toml:8:14: RL305 the path `gone` lies at `gone.py`"),
            "{stdout}"
        );
        assert!(lines[1].starts_with("restart-paths.toml:17:14: RL305 the path `idle`"), "{stdout}");
        assert!(lines[2].starts_with("restart-paths.toml:26:14: RL306 the path `wide`"), "{stdout}");
        assert_eq!(lines.len(), 3);
    }
    let found = place.found(&["."]);
    assert_eq!(found.iter().filter(|f| f.contains(" restart-paths.toml:")).count(), 3, "{found:?}");
    std::fs::write(place.path().join("restartlint.toml"), "daemon = [\"d.py\"]\n[rules]\nRL305 = \"off\"\n")
        .unwrap();
    assert_eq!(place.run(&["inventory", "check"]).1.lines().count(), 1);
}

#[test]
fn init_makes_the_inventorys_folder() {
    let config = "inventory = \"ops/paths/restart.toml\"\n";
    let place = Place::new(&[("restartlint.toml", config), ("a.py", ABORT)]);
    let (status, _, stderr) = place.run(&["init"]);
    assert_eq!(status, 0, "{stderr}");
    assert!(place.path().join("ops/paths/restart.toml").is_file());
}

#[test]
fn a_plain_word_is_led_to_the_rules_that_speak_of_it() {
    let place = Place::new(&[]);
    for (word, text) in [
        ("daemon", "RL102 (daemon-self-termination)"),
        ("nothing", "`restartlint rules`"),
        ("unclasified", "did you mean `unclassified`?"),
    ] {
        let (status, stdout, stderr) = place.run(&["explain", word]);
        assert_eq!((status, stdout.as_str()), (2, ""), "{word}");
        assert!(stderr.contains(text), "{word}: {stderr}");
    }
}

#[test]
fn a_status_is_explained() {
    let place = Place::new(&[]);
    for (word, text) in [
        ("unclassified", "Nobody has decided on the path yet"),
        ("forbidden", "RL303 (forbidden-path)"),
        ("sanctioned_narrow_recovery", "`restartlint explain RL308`"),
        ("contaminating", "verdict of the guard"),
        ("Certain", "resolved by binding"),
        ("broken", "`doctor` reports"),
    ] {
        let (status, stdout, stderr) = place.run(&["explain", word]);
        assert_eq!(status, 0, "{word}: {stderr}");
        assert!(stdout.starts_with("# ") && stdout.contains(text), "{word}: {stdout}");
    }
}

#[test]
fn several_names_are_explained_each_and_all_or_none() {
    let place = Place::new(&[]);
    let heads = |args: &[&str]| -> Vec<String> {
        let (status, stdout, stderr) = place.run(&[&["explain"], args].concat());
        assert_eq!(status, 0, "{args:?} {stderr}");
        let head = |line: &&str| line.starts_with("# ");
        stdout.lines().filter(head).map(|line| line.trim_start_matches("# ").to_owned()).collect()
    };
    assert_eq!(heads(&["RL303", "RL108"]), ["RL303 forbidden-path", "RL108 daemon-exit"]);
    assert_eq!(heads(&["kill", "os.execv", "forbidden"]), ["kill", "os.execv", "forbidden"]);
    // The words of one name stay together; what a command is given does in quotes.
    assert_eq!(heads(&["systemctl", "restart"]), ["systemctl restart"]);
    assert_eq!(heads(&["systemctl", "kill", "RL107"])[0], "systemctl kill");
    assert_eq!(
        heads(&["os.execv", "pkill", "systemctl", "restart"]),
        ["os.execv", "pkill", "systemctl restart"]
    );
    assert_eq!(heads(&["pkill -f web", "killall"]), ["pkill -f web", "killall"]);
    let (status, stdout, stderr) = place.run(&["explain", "pkill", "nope"]);
    assert!(status == 2 && stdout.is_empty() && stderr.contains("`nope` is no rule"), "{stderr}");
    let (status, stdout, stderr) = place.run(&["explain", "RL303", "os.killl", "RL30l"]);
    assert_eq!((status, stdout.as_str()), (2, ""));
    for text in ["`os.killl` is no rule", "did you mean `os.kill`?", "did you mean `RL301`?"] {
        assert!(stderr.contains(text), "{stderr}");
    }
}

#[test]
fn a_path_that_is_not_there_is_never_another() {
    let place = Place::new(&[("a.py", ABORT), ("k.sh", "pkill web\n"), ("sub/b.py", ABORT)]);
    assert_eq!(place.run(&["init", "nope"]).0, 2);
    let (status, stdout, stderr) = place.run(&["init", "a.py"]);
    assert_eq!((status, stdout.as_str()), (2, ""));
    assert!(stderr.contains("a.py is a file"), "{stderr}");
    assert!(!place.path().join("restart-paths.toml").exists());
    std::fs::write(place.path().join("restart-paths.toml"), "schema = 1\n").unwrap();
    for args in [
        &["init", "nope"][..],
        &["init", "--missing", "nope"],
        &["inventory", "check", "nope"],
        &["inventory", "render", "nope"],
    ] {
        let (status, stdout, stderr) = place.run(args);
        assert_eq!((status, stdout.as_str()), (2, ""), "{args:?}");
        assert!(stderr.contains("nope does not exist; give a folder of the project"), "{args:?}: {stderr}");
    }
    let (status, _, stderr) = place.run(&["inventory", "check", "a.py"]);
    assert!(status == 2 && stderr.contains("a.py is a file"), "{stderr}");
    assert_eq!(place.run(&["inventory", "check", "restart-paths.toml"]).0, 0);
    // What is drafted lies in the path that is given.
    let ids = |args: &[&str]| -> Vec<String> {
        let (status, stdout, stderr) = place.run(&[&["init", "--missing"], args].concat());
        assert_eq!(status, 0, "{stderr}");
        stdout.lines().filter_map(|line| line.strip_prefix("id = ")).map(str::to_owned).collect()
    };
    assert_eq!(ids(&["a.py"]), ["\"a_py_os_abort\""]);
    assert_eq!(ids(&["sub"]), ["\"sub_b_py_os_abort\""]);
    assert_eq!(ids(&[]).len(), 3);
    assert_eq!(ids(&["."]).len(), 3);
}

#[test]
fn a_run_without_an_answer_writes_no_file() {
    let place = Place::new(&[("a.py", ABORT), ("old.txt", "an earlier run\n")]);
    for command in ["check", "sites", "reach"] {
        for format in ["text", "json"] {
            for file in ["new.txt", "old.txt"] {
                let (status, stdout, stderr) =
                    place.run(&[command, "nope", "--format", format, "--output", file]);
                assert_eq!((status, stdout.as_str()), (2, ""), "{command}");
                assert!(stderr.contains(&format!("{file} is not written")), "{command}: {stderr}");
            }
        }
    }
    assert!(!place.path().join("new.txt").exists());
    assert_eq!(std::fs::read_to_string(place.path().join("old.txt")).unwrap(), "an earlier run\n");
    // A baseline of a part would take the place of a whole one.
    let (status, _, stderr) = place.run(&["check", "a.py", "nope", "--write-baseline", "new.txt"]);
    assert!(status == 2 && stderr.contains("new.txt is not written"), "{stderr}");
    assert!(!place.path().join("new.txt").exists());
}

#[test]
fn a_dash_is_standard_output() {
    let place = Place::new(&[("a.py", ABORT)]);
    for command in ["check", "sites", "reach"] {
        let plain = place.run(&[command, "--format", "text", "."]);
        assert_eq!(place.run(&[command, "--format", "text", "--output", "-", "."]), plain);
        assert!(!plain.1.is_empty() && !place.path().join("-").exists());
    }
    let (status, stdout, stderr) = place.run(&["check", "--write-baseline", "-", "."]);
    assert_eq!((status, stdout.as_str()), (2, ""));
    assert!(stderr.contains("name a file for the baseline"), "{stderr}");
}

#[test]
fn quiet_leaves_notes_out_and_errors_not() {
    let place = Place::new(&[("a.py", ABORT), ("data.csv", "1,2\n")]);
    for (args, noted) in [
        (&["check", "."][..], "there is no inventory"),
        (&["check", "data.csv", "a.py"], "data.csv is of no kind that is read"),
        (&["sites", "data.csv", "a.py"], "data.csv is of no kind that is read"),
        (&["reach", "."], "no daemon module"),
        (&["check", "--write-baseline", "b.json", "."], "1 findings written"),
    ] {
        assert!(place.run(args).2.contains(noted), "{args:?}");
        assert_eq!(place.run(&[&["-q"], args].concat()).2, "", "{args:?}");
    }
    assert_eq!(place.run(&["init"]).0, 0);
    assert!(place.run(&["init", "--missing"]).2.contains("lacks no site"));
    for args in [&["-q", "init", "--missing"][..], &["-q", "inventory", "render"]] {
        let (status, _, stderr) = place.run(args);
        assert_eq!((status, stderr.as_str()), (0, ""), "{args:?}");
    }
    for args in
        [&["-q", "check", "nope"][..], &["-q", "explain", "nope"], &["-q", "inventory", "check", "nope"]]
    {
        let (status, _, stderr) = place.run(args);
        assert!(status == 2 && stderr.contains("nope"), "{args:?}: {stderr}");
    }
}

/// An entry of an inventory.
fn entry(id: &str, classification: &str, location: &str, primitive: &str) -> String {
    format!(
        "[[path]]\nid = \"{id}\"\ntitle = \"t\"\nclassification = \"{classification}\"\nmechanism = \"m\"\nguard = \"g\"\n\
         locations = [\"{location}\"]\nprimitives = [\"{primitive}\"]\nreferences = [\"#1\"]\n"
    )
}

#[test]
fn a_misspelt_primitive_of_an_entry_is_told_with_the_nearest() {
    let inventory = format!(
        "schema = 1\n{}{}{}",
        entry("stale", "sanctioned_narrow_recovery", "a.py", "os.abrot"),
        entry("never", "forbidden", "k.sh", "systemctl restrat"),
        // The project's own, and one that nothing is near to, are nobody's mistake.
        entry("own", "forbidden", "a.py", "ops.exec")
            + &entry("far", "forbidden", "a.py", "house.blow_up_wholly"),
    );
    let own = "[[primitive]]\nlanguage = \"python\"\nname = \"ops.exec\"\neffect = \"replace\"\n";
    let place = Place::new(&[
        ("restartlint.toml", own),
        ("restart-paths.toml", &inventory),
        ("a.py", ABORT),
        ("k.sh", "ls\n"),
    ]);
    for args in [&["check", "."][..], &["inventory", "check"]] {
        let (status, stdout, stderr) = place.run(args);
        assert_eq!(status, 1, "{stderr}");
        let help = "`os.abrot` is no known primitive; did you mean `os.abort`? Otherwise remove the location";
        assert!(stdout.contains(help), "{stdout}");
        let warning = "warning: restart-paths.toml:18:15: the path `never` matches nothing by this: `systemctl restrat` is \
                       no known primitive; did you mean `systemctl restart`?";
        assert!(stderr.contains(warning), "{stderr}");
        // Each is told once.
        assert_eq!(stderr.matches("is no known primitive").count(), 1, "{stderr}");
    }
}

#[test]
fn a_class_that_does_not_fit_the_site_is_what_is_told() {
    let inventory =
        format!("schema = 1\n{}", entry("ops", "guarded_fail_closed", "ops.sh", "systemctl restart"));
    let place = Place::new(&[
        ("restart-paths.toml", &inventory),
        ("ops.sh", "systemctl restart web\n"),
        ("a.py", "x = 1\n"),
    ]);
    assert_eq!(place.found(&["."]), ["RL301 ops.sh:1", "RL305 restart-paths.toml:8"]);
    let stdout = place.run(&["check", "."]).1;
    for text in [
        "is listed by the path `ops`, whose class `guarded_fail_closed` covers exits alone",
        "classify the path by what the site does: `sanctioned_narrow_recovery`",
        "`systemctl restart` stands there",
    ] {
        assert!(stdout.contains(text), "{stdout}");
    }
    assert!(!stdout.contains("--missing") && !stdout.contains("help: remove the location"), "{stdout}");
    // It is registered, if wrongly: a second entry would not help.
    assert_eq!(place.run(&["init", "--missing"]).1, "");
    for class in ["sanctioned_narrow_recovery", "forbidden"] {
        let decided = inventory.replace("guarded_fail_closed", class);
        std::fs::write(place.path().join("restart-paths.toml"), decided).unwrap();
        let found = place.found(&["."]);
        let left: &[&str] = if class == "forbidden" { &["RL303 ops.sh:1"] } else { &[] };
        assert_eq!(found, left);
    }
}

#[test]
fn the_help_of_a_drafted_site_holds_for_every_class() {
    let inventory = format!("schema = 1\n{}", entry("a", "unclassified", "a.py", "os.abort"));
    let place = Place::new(&[("restart-paths.toml", &inventory), ("a.py", ABORT)]);
    let (_, stdout, _) = place.run(&["check", "."]);
    assert!(
        stdout.contains("`forbidden` and `removed` cover nothing, so the site must go as well"),
        "{stdout}"
    );
    assert!(!stdout.contains("go away together"), "{stdout}");
    for (class, left) in [("forbidden", "RL303 a.py:3"), ("removed", "RL201 a.py:3")] {
        std::fs::write(place.path().join("restart-paths.toml"), inventory.replace("unclassified", class))
            .unwrap();
        assert_eq!(place.found(&["."]), [left]);
    }
}

#[test]
fn init_drafts_what_check_reports_and_shows_the_exception_in_the_daemon() {
    let server = "import os\nimport sys\n\nfrom mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP(\"x\")\n\n\n\
                  @mcp.tool()\ndef reload():\n    os.execv(sys.executable, [sys.executable])\n\n\n\
                  @mcp.tool()\ndef stop():\n    sys.exit(3)  # restartlint: ignore[RL108] asked for\n\n\n\
                  def main():\n    mcp.run()\n\n\nif __name__ == \"__main__\":\n    sys.exit(main())\n";
    let place = Place::new(&[("server.py", server)]);
    assert_eq!(place.found(&["."]), ["RL101 server.py:11"]);
    assert_eq!(place.run(&["init"]).0, 0);
    let file = place.path().join("restart-paths.toml");
    let draft = std::fs::read_to_string(&file).unwrap();
    let ids: Vec<&str> = draft.lines().filter(|line| line.starts_with("id = ")).collect();
    assert_eq!(ids, ["id = \"server_py_os_execv\""]);
    // What the configuration switched off is not drafted either.
    std::fs::remove_file(&file).unwrap();
    let config = "daemon = [\"server.py\"]\n[rules]\nRL101 = \"off\"\n";
    std::fs::write(place.path().join("restartlint.toml"), config).unwrap();
    assert_eq!(place.found(&["."]), [""; 0]);
    assert!(place.run(&["init"]).1.contains("none is drafted"));
    std::fs::write(place.path().join("restartlint.toml"), "daemon = [\"server.py\"]\n").unwrap();
    // With what the comment shows taken up, and decided on, nothing is left.
    let decided = draft
        .replace("locations = [\"server.py\"]\n", "")
        .replace("# locations", "locations")
        .replace("# daemon_exception", "daemon_exception")
        .replace("unclassified", "sanctioned_narrow_recovery")
        .replace("Not decided yet.", "By hand alone.")
        .replace("restartlint init\"]", "#1\"]");
    std::fs::write(&file, decided).unwrap();
    assert_eq!(place.found(&["."]), [""; 0]);
}

#[test]
fn reach_says_who_reads_standard_input() {
    let place = Place::new(&[("a.py", "import os\nos.abort()\n")]);
    let (status, stdout, stderr) = place.run(&["reach", "-"]);
    assert_eq!((status, stdout.as_str()), (2, ""));
    assert!(stderr.contains("`check -` and `sites -` do"), "{stderr}");
}
