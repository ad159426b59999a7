//! `doctor`, and the way of a newcomer from the README to a denied kill.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

fn run(folder: &Path, args: &[&str], input: &str) -> (i32, String, String) {
    let program = assert_cmd::cargo::cargo_bin!("restartlint");
    // As after an installation.
    let path = std::env::join_paths([program.parent().unwrap(), Path::new("/usr/bin")]).unwrap();
    run_with(folder, args, input, path.to_str().unwrap())
}

fn run_with(folder: &Path, args: &[&str], input: &str, path: &str) -> (i32, String, String) {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("restartlint"))
        .env("PATH", path)
        .current_dir(folder)
        .args(args)
        .write_stdin(input.to_owned())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn states(folder: &Path, expected: i32) -> Vec<(String, String)> {
    let (status, out, err) = run(folder, &["doctor", "--format", "json"], "");
    assert_eq!(status, expected, "{out}{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    let word = |part: &Value, key: &str| part[key].as_str().unwrap().to_owned();
    report["parts"].as_array().unwrap().iter().map(|p| (word(p, "name"), word(p, "state"))).collect()
}

fn state(states: &[(String, String)], name: &str) -> String {
    states.iter().find(|(n, _)| n == name).map(|(_, state)| state.clone()).unwrap()
}

const SERVER: &str = "from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP(\"demo\")\n\nif __name__ == \"__main__\":\n    mcp.run()\n";

#[test]
fn an_empty_project_is_sound_and_mostly_inactive() {
    let folder = tempfile::tempdir().unwrap();
    let states = states(folder.path(), 0);
    for name in ["configuration", "inventory", "daemon detection", "guard", "hook", "store", "fleet"] {
        assert_eq!(state(&states, name), "inactive", "{name}");
    }
    assert_eq!(state(&states, "process listing"), "works");
}

#[test]
fn a_newcomer_reaches_a_denied_kill_in_two_commands_after_the_installation() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mcp_server.py"), SERVER).unwrap();
    let (status, out, _) = run(folder.path(), &["init"], "");
    assert!(status == 0 && out.contains("none is drafted"), "{out}");
    let event = r#"{"tool_name":"Bash","tool_input":{"command":"pkill -f mcp_server.py"}}"#;
    let (status, out, err) = run(folder.path(), &["guard", "hook"], event);
    assert_eq!((status, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("names the daemon"), "{err}");

    std::fs::create_dir(folder.path().join(".claude")).unwrap();
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/agents.md")).unwrap();
    let settings = page.split("```json\n").find(|part| part.contains("PreToolUse")).unwrap();
    let settings = settings.split("```").next().unwrap();
    std::fs::write(folder.path().join(".claude/settings.json"), settings).unwrap();
    let states = states(folder.path(), 0);
    for name in ["configuration", "inventory", "daemon detection", "guard", "hook"] {
        assert_eq!(state(&states, name), "works", "{name}");
    }
}

#[test]
fn what_is_broken_is_said_and_denied() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("restartlint.toml", "daemon = [\"gone.py\"]\nstore = \"state.db\"\n");
    write("state.db", "this is no store");
    write("restart-paths.toml", "schema = 99\n");
    let found = states(folder.path(), 1);
    for name in ["inventory", "daemon detection", "store"] {
        assert_eq!(state(&found, name), "broken", "{name}");
    }
    write("restartlint.toml", "daemon = 1\n");
    assert_eq!(states(folder.path(), 1), [("configuration".to_owned(), "broken".to_owned())]);
}

fn part(folder: &Path, name: &str, args: &[&str]) -> (String, String, String) {
    let all: Vec<&str> = ["doctor", "--format", "json"].into_iter().chain(args.iter().copied()).collect();
    let report: Value = serde_json::from_str(&run(folder, &all, "").1).unwrap();
    let part = report["parts"].as_array().unwrap().iter().find(|part| part["name"] == name).unwrap();
    let text = |key: &str| part[key].as_str().unwrap_or("").to_owned();
    (text("state"), text("detail"), text("next_step"))
}

#[test]
fn an_excerpt_keeps_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("restartlint.toml"), "daemon = 1\n").unwrap();
    let (status, out, _) = run(folder.path(), &["doctor"], "");
    assert_eq!(status, 1);
    let lines: Vec<&str> = out.lines().collect();
    let at = lines.iter().position(|line| line.ends_with("daemon = 1")).unwrap();
    let mark = lines[at + 1].chars().position(|c| c == '┬');
    assert_eq!(mark, Some(lines[at].chars().count() - 1), "{out}");
    let (_, detail, _) = part(folder.path(), "configuration", &[]);
    assert!(detail.lines().count() > 3, "{detail}");
}

#[test]
fn a_hook_that_blocks_nothing_is_not_said_to_work() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".claude")).unwrap();
    let write = |text: &str| std::fs::write(folder.path().join(".claude/settings.json"), text).unwrap();
    let guard = r#""type":"command","command":"restartlint guard hook""#;
    let entry = |event: &str, matcher: &str, hook: &str| {
        format!(r#"{{"hooks":{{"{event}":[{{"matcher":"{matcher}","hooks":[{{{hook}}}]}}]}}}}"#)
    };
    for matcher in ["Bash", "Edit|Bash", "", "*"] {
        write(&entry("PreToolUse", matcher, guard));
        assert_eq!(part(folder.path(), "hook", &[]).0, "works", "{matcher}");
    }
    for (settings, state, said) in [
        (entry("PreToolUse", "Edit", guard), "inactive", "inactive for shell commands"),
        (entry("PreToolUse", "bash", guard), "inactive", "inactive for shell commands"),
        (entry("PostToolUse", "Bash", guard), "inactive", "PostToolUse"),
        (entry("PreToolUse", "Bash", r#""command":"restartlint guard hook""#), "inactive", "type"),
        (entry("PreToolUse", "Bash", &format!(r#"{guard},"async":true"#)), "inactive", "background"),
        (
            entry("PreToolUse", "Bash", r#""type":"command","command":"restartlint guard hook || true""#),
            "broken",
            "exit status",
        ),
        (
            entry("PreToolUse", "Bash", r#""type":"command","command":"./bin/restartlint guard hook""#),
            "broken",
            "no such program",
        ),
        (
            r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","command":"restartlint guard hook"}]}}"#.to_owned(),
            "inactive",
            "does not look",
        ),
        (
            format!(r#"{{"disableAllHooks":true,{}"#, &entry("PreToolUse", "Bash", guard)[1..]),
            "inactive",
            "disableAllHooks",
        ),
        (
            entry("PreToolUse", "Bash", r#""type":"command","command":"restartlint guard hok""#),
            "broken",
            "a similar subcommand exists: 'hook'",
        ),
        (
            entry("PreToolUse", "Bash", r#""type":"command","command":"restartlint gaurd hook 2>&1""#),
            "broken",
            "did you mean the command `guard`?",
        ),
        (
            entry("Stop", "", r#""type":"command","command":"sh -c 'cd x; restartlint guard hook --jsn'""#),
            "broken",
            "'--jsn'",
        ),
        (
            entry("PreToolUse", "Bash", r#""type":"command","command":"restartlnit guard hook""#),
            "broken",
            "no program `restartlnit`, so it judges nothing: did you mean `restartlint`?",
        ),
        (
            entry("Stop", "", r#""type":"command","command":"bash -lc 'cd x && /opt/restart-lint gaurd'""#),
            "broken",
            "no program `/opt/restart-lint`",
        ),
        (
            entry(
                "PreToolUse",
                "Bash",
                r#""type":"command","command":"sh -c \"/no/restartlint guard hook\"""#,
            ),
            "broken",
            "no such program",
        ),
        (
            entry("PreToolUse", "Bash", r#""type":"command","command":"bash -c restartlint guard hook""#),
            "broken",
            "the words behind it are the script's arguments",
        ),
        (
            entry(
                "PreToolUse",
                "Bash",
                r#""type":"command","command":"bash -c 'echo restartlint guard hook'""#,
            ),
            "broken",
            "names it where no command runs it",
        ),
        (
            entry(
                "PreToolUse",
                "Bash",
                r#""type":"command","command":"bash -c 'restartlint guard hook; true'""#,
            ),
            "broken",
            "exit status",
        ),
        (
            entry("PreToolUse", "Bash", r#""type":"command","command":"restartlists show""#),
            "inactive",
            "no settings",
        ),
        (
            entry("Stop", "", r#""type":"command","command":"restartlint check src/""#),
            "inactive",
            "no settings",
        ),
        ("{".to_owned(), "broken", "no JSON"),
        ("{}".to_owned(), "inactive", "no settings"),
    ] {
        write(&settings);
        let (found, detail, step) = part(folder.path(), "hook", &[]);
        assert_eq!(found, state, "{settings}: {detail}");
        assert!(detail.contains(said), "{settings}: {detail}");
        assert!(!step.is_empty(), "{settings}");
    }
    write(&entry("PreToolUse", "Edit", guard));
    assert!(part(folder.path(), "hook", &[]).2.contains(r#""matcher": "Bash""#));
    // Where the program is not found, the host goes on without it; a shell around it changes nothing.
    let wrapped = r#""type":"command","command":"bash -o pipefail -c \"sh -c 'restartlint guard hook'\"""#;
    for hook in [guard, wrapped] {
        write(&entry("PreToolUse", "Bash", hook));
        assert_eq!(part(folder.path(), "hook", &[]).0, "works");
        let (status, out, _) = run_with(folder.path(), &["doctor"], "", "/nowhere");
        assert_eq!(status, 1);
        assert!(out.contains("not on the PATH"), "{out}");
    }
}

#[test]
fn a_store_that_cannot_be_made_is_broken() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("restartlint.toml");
    std::fs::write(&config, "store = \"state/deep/here.db\"\n").unwrap();
    let state = folder.path().join("state");
    std::fs::write(&state, "").unwrap();
    for args in [&[][..], &["--store", "state/other.db"]] {
        let (state, detail, step) = part(folder.path(), "store", args);
        assert_eq!(state, "broken", "{detail}");
        assert!(detail.contains("cannot be made") && step.contains("another store"), "{detail} {step}");
    }
    // A folder that is missing is made with the store, and not by asking.
    std::fs::remove_file(&state).unwrap();
    assert_eq!(part(folder.path(), "store", &[]).0, "inactive");
    assert!(!state.exists());
    std::fs::create_dir(&state).unwrap();
    assert_eq!(part(folder.path(), "store", &[]).0, "inactive");
    assert_eq!(std::fs::read_dir(&state).unwrap().count(), 0);
}

#[test]
fn a_draft_and_a_glob_without_files_are_not_said_to_work() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("ops.sh", "pkill -f server.py\n");
    assert_eq!(run(folder.path(), &["init"], "").0, 0);
    let (state, detail, _) = part(folder.path(), "inventory", &[]);
    assert_eq!(state, "inactive", "{detail}");
    assert!(detail.contains("RL308"), "{detail}");
    write("restartlint.toml", "daemon = [\"servers/*.py\"]\n");
    let (state, detail, _) = part(folder.path(), "daemon detection", &[]);
    assert_eq!(state, "broken", "{detail}");
    assert!(detail.contains("servers/*.py"), "{detail}");
}

#[test]
fn the_settings_of_the_readme_and_of_the_page_for_agents_work() {
    for page in ["README.md", "docs/agents.md"] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".claude")).unwrap();
        let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
        let settings = page.split("```json\n").find(|part| part.contains("PreToolUse")).unwrap();
        let settings = settings.split("```").next().unwrap();
        std::fs::write(folder.path().join(".claude/settings.json"), settings).unwrap();
        assert_eq!(part(folder.path(), "hook", &[]).0, "works");
        // The command of the page, on a server of the name that it speaks of.
        std::fs::write(folder.path().join("mcp_server.py"), SERVER).unwrap();
        assert_eq!(run(folder.path(), &["init"], "").0, 0);
        let line = page.lines().find(|line| line.ends_with("| restartlint guard hook")).unwrap();
        let event = line.split('\'').nth(1).unwrap();
        let (status, _, err) = run(folder.path(), &["guard", "hook"], event);
        assert_eq!(status, 2);
        assert!(page.contains(err.trim_end()), "{err}");
    }
}
