//! `guard command` and `guard hook` as an agent's host calls them: status, streams, shapes.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

const CONFIG: &str = "[guard]\nprocesses = [\"mcp_server.py\", \"gitea-mcp\"]\n";

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("restartlint.toml"), CONFIG).unwrap();
    folder
}

fn run(folder: &Path, args: &[&str], input: &str) -> (i32, String, String) {
    let output = Command::cargo_bin("restartlint")
        .unwrap()
        .current_dir(folder)
        .env_remove("CLAUDE_PROJECT_DIR")
        .env_remove("GEMINI_PROJECT_DIR")
        .args(args)
        .write_stdin(input.to_owned())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn verdict(folder: &Path, command: &str) -> (i32, Value) {
    let (status, out, _) = run(folder, &["guard", "command", "--format", "json", "--", command], "");
    (status, serde_json::from_str(&out).unwrap())
}

#[test]
fn a_verdict_has_its_status_and_its_shape() {
    let project = project();
    let (status, report) = verdict(project.path(), "sudo pkill -f mcp_server.py");
    assert_eq!(status, 1);
    assert_eq!(report["verdict"], "contaminating");
    assert_eq!(report["contaminated"], true);
    assert_eq!(report["path_id"], Value::Null);
    let action = &report["actions"][0];
    assert_eq!(action["effect"], "kill");
    assert_eq!(action["primitive"], "pkill");
    assert_eq!(action["target"], "mcp_server.py");
    assert_eq!(action["target_kind"], "pattern");
    assert_eq!(action["reason_code"], "names_daemon");
    assert_eq!(action["span"]["start"], 0);
    assert_eq!(action["span"]["end"], 27);
    assert_eq!(action["nested_in"][0], "sudo");
    assert_eq!(verdict(project.path(), "ps aux | grep mcp_server").0, 0);
    assert_eq!(verdict(project.path(), "kill -9 \"$PID\"").1["verdict"], "undetermined");
}

#[test]
fn a_daemon_is_known_by_the_command_that_is_installed_for_it() {
    let project = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(project.path().join(name), text).unwrap();
    write("restartlint.toml", "daemon = [\"src/weather/server.py\"]\n");
    write(
        "pyproject.toml",
        "[project.scripts]\nweather-mcp = \"weather.server:main\"\nweather = \"weather:run\"\nstorm = \"storm.cli:main\"\n",
    );
    for (command, verdict_is) in [
        ("pkill -f weather-mcp", "contaminating"),
        ("killall weather", "contaminating"),
        ("pkill -f storm", "clean"),
        ("pkill -f webserver.py", "clean"),
    ] {
        assert_eq!(verdict(project.path(), command).1["verdict"], verdict_is, "{command}");
    }
}

#[test]
fn a_module_of_a_package_is_known_by_what_starts_it() {
    let project = tempfile::tempdir().unwrap();
    let config = "daemon = [\"src/notes_mcp/server.py\"]\n";
    std::fs::write(project.path().join("restartlint.toml"), config).unwrap();
    for (pattern, status) in [
        ("notes_mcp", 1),
        ("src/notes_mcp", 1),
        ("notes_mcp.", 1),
        ("'python3 -m notes_mcp'", 1),
        ("notes_mcp.server", 1),
        ("other_mcp", 0),
        ("'python3 -m other'", 0),
        ("nginx", 0),
    ] {
        let (found, said) = verdict(project.path(), &format!("pkill -f {pattern}"));
        assert_eq!(found, status, "{pattern}: {said}");
    }
}

#[test]
fn the_command_is_one_argument_or_standard_input() {
    let project = project();
    assert_eq!(run(project.path(), &["guard", "command", "-"], "killall gitea-mcp\n").0, 1);
    assert_eq!(run(project.path(), &["guard", "command", "-"], "ls\n").0, 0);
    assert_eq!(run(project.path(), &["guard", "command", "--", "pkill", "-f", "x"], "").0, 2);
    assert_eq!(run(project.path(), &["guard", "command", "--config", "gone.toml", "--", "ls"], "").0, 2);
    assert_eq!(run(project.path(), &["guard", "command", "--store", "gone.db", "--", "ls"], "").0, 2);
}

#[test]
fn a_wildcard_among_the_daemon_modules_names_its_files() {
    let project = project();
    std::fs::create_dir_all(project.path().join("src/servers")).unwrap();
    std::fs::write(project.path().join("src/servers/author.py"), "").unwrap();
    std::fs::write(project.path().join("restartlint.toml"), "daemon = [\"src/servers/*.py\"]\n").unwrap();
    assert_eq!(verdict(project.path(), "pkill -f servers/author.py").1["verdict"], "contaminating");
    assert_eq!(verdict(project.path(), "pkill -f nginx").1["verdict"], "clean");
}

#[test]
fn inline_python_is_read_by_its_scanner() {
    let project = project();
    let of = |code: &str| verdict(project.path(), &format!("python3 -c \"{code}\"")).1["verdict"].clone();
    assert_eq!(of("import os; os.system('pkill -f mcp_server.py')"), "contaminating");
    assert_eq!(of("import os; os.system('pkill -f nginx')"), "clean");
    assert_eq!(of("import os; os.kill(3999999, 9)"), "undetermined");
    assert_eq!(of("print('pkill -f mcp_server.py')"), "clean");
    assert_eq!(of("import os, sys; os.system(sys.argv[1])"), "undetermined");
}

#[test]
fn the_hook_allows_with_0_and_blocks_with_2() {
    let project = project();
    let hook = |event: &str| run(project.path(), &["guard", "hook"], event);
    let shell = |command: &str| format!(r#"{{"tool_name":"Bash","tool_input":{{"command":"{command}"}}}}"#);
    assert_eq!(hook(&shell("ls -l")).0, 0);
    let (status, out, err) = hook(&shell("pkill -f mcp_server.py"));
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.contains("mcp_server.py") && err.contains("next step"), "{err}");
    assert_eq!(hook(r#"{"tool_name":"Read","tool_input":{"path":"x"}}"#).0, 0);
    assert_eq!(hook("{").0, 2);
    assert_eq!(hook("").0, 2);
    assert_eq!(hook(r#"{"tool_name":"bash","tool_input":{}}"#).0, 2);
}

/// A script, a target and a package's script are read where they lie in the project.
#[test]
fn what_a_command_runs_is_read_in_the_project() {
    let project = project();
    let write = |name: &str, text: &str| {
        let path = project.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("build.sh", "#!/bin/sh\nset -e\ncargo build\n");
    write("stop.sh", "#!/bin/sh\npkill -f mcp_server.py\n");
    write("all.sh", "./build.sh\nsh stop.sh\n");
    write("loop.sh", "sh loop.sh\n");
    write("sub/build.sh", "killall gitea-mcp\n");
    write(
        "Makefile",
        "N = gitea-mcp\nbuild:\n\tcargo build\nrestart: build\n\tkillall $(N)\nreload:\n\ttouch x\n",
    );
    write(
        "package.json",
        r#"{"scripts":{"build":"tsc","stop":"pkill -f mcp_server.py","start":"node x.js"}}"#,
    );
    for (command, clean) in [
        ("bash build.sh", true),
        ("./build.sh --release", true),
        ("sh < build.sh", true),
        ("sh < stop.sh", false),
        ("sh < gone.sh", false),
        ("bash stop.sh", false),
        ("./stop.sh", false),
        ("source stop.sh", false),
        ("bash all.sh", false),
        ("bash loop.sh", true),
        ("cd sub && bash build.sh", false),
        ("(cd sub); bash build.sh", false),
        ("bash gone.sh", false),
        ("make build", true),
        ("make reload", true),
        ("make restart", false),
        ("make", true),
        ("make -C gone restart", false),
        ("npm run build", true),
        ("npm stop", false),
        ("npm restart", false),
        ("npm run gone", true),
    ] {
        let (status, report) = verdict(project.path(), command);
        assert_eq!(status == 0, clean, "{command}: {report:#}");
    }
    // Nothing outside the project is read, through a link neither.
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("x.sh"), "ls\n").unwrap();
    let path = outside.path().join("x.sh");
    assert_eq!(verdict(project.path(), &format!("bash {}", path.display())).1["verdict"], "undetermined");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&path, project.path().join("link.sh")).unwrap();
        assert_eq!(verdict(project.path(), "bash link.sh").1["verdict"], "undetermined");
    }
}

#[test]
fn inline_programs_that_hide_what_they_run_are_not_clean() {
    let project = project();
    let of = |code: &str| verdict(project.path(), &format!("python3 -c \"{code}\"")).1["verdict"].clone();
    for code in [
        "import os; os.system(chr(112)+'kill -f mcp_server.py')",
        "import os; getattr(os, 'ki'+'ll')(3999999, 9)",
        "import os; getattr(os, 'llik'[::-1])(3999999, 9)",
        "import subprocess as s; s.run('mcp_server.py pkill -f'.split()[::-1])",
        "exec('import os; os.kill(3999999, 9)')",
        "__import__('os').system('pkill -f mcp_server.py')",
        "from os import *; kill(3999999, 9)",
        "import os; f=os.kill; f(3999999, 9)",
        "import os; [f(3999999,9) for n,f in vars(os).items() if n[:2]=='ki']",
        "import runpy; runpy.run_path('x.py')",
        "import os; os.system('pk' 'ill -f mcp_server.py')",
        "import os; os.system(f'pk{str()}ill -f mcp_server.py')",
        "import os; os.popen('%sill -f mcp_server.py' % 'pk')",
    ] {
        assert_ne!(of(code), "clean", "{code}");
    }
    for code in [
        "import sys; print(sys.version)",
        "import json; print(json.load(open('x.json'))['kill'])",
        "import re; print(re.compile('mcp_server').pattern)",
        "import subprocess; subprocess.run(['git', 'status'], check=True)",
        "import subprocess; print(subprocess.check_output('git log -1', shell=True, text=True))",
        "import asyncio, app; asyncio.run(app.main())",
        "import os; print(os.getpid(), os.environ['HOME'])",
        "print('pkill -f mcp_server.py')",
    ] {
        assert_eq!(of(code), "clean", "{code}");
    }
}

#[test]
fn the_hook_sees_a_command_wherever_a_tool_carries_it() {
    let project = project();
    let hook = |event: &str| run(project.path(), &["guard", "hook"], event).0;
    for (event, status) in [
        (r#"{"tool_name":"Runner","tool_input":{"cmd":"pkill -f mcp_server.py"}}"#, 2),
        (r#"{"tool_name":"Runner","tool_input":{"cmd":"ls"}}"#, 0),
        (r#"{"tool_name":"Runner","tool_input":{"steps":[{"script":"killall gitea-mcp"}]}}"#, 2),
        (r#"{"tool_name":"Repl","tool_input":{"code":"import os; os.system('pkill -f mcp_server.py')"}}"#, 2),
        (r#"{"tool_name":"Repl","tool_input":{"code":"print(1)"}}"#, 0),
        (r#"{"tool_name":"Bash","tool_input":{"command":["bash","-lc","pkill -f mcp_server.py"]}}"#, 2),
        (r#"{"tool_name":"Bash","tool_input":{"command":["bash","-lc","git status"]}}"#, 0),
        (r#"{"tool_name":"Task","tool_input":{"command":7}}"#, 2),
        (r#"{"tool_name":"Task","tool_input":{"command":{"line":"pkill -f mcp_server.py"}}}"#, 2),
        (r#"{"tool_name":"Task","tool_input":{"prompt":"do not pkill -f mcp_server.py"}}"#, 0),
        (r#"{"tool_name":"mcp__box__run_command","tool_input":{"input":"pkill -f mcp_server.py"}}"#, 2),
        (r#"{"tool_name":"Edit","tool_input":{"file_path":"a","new_string":"pkill -f mcp_server.py"}}"#, 0),
    ] {
        assert_eq!(hook(event), status, "{event}");
    }
}

#[test]
fn the_hook_judges_in_the_folder_that_the_event_names() {
    let (project, elsewhere) = (project(), tempfile::tempdir().unwrap());
    // Here another daemon is known, so that this one's name is provably somebody else's.
    std::fs::write(elsewhere.path().join("restartlint.toml"), "[guard]\nprocesses = [\"other-daemon\"]\n")
        .unwrap();
    let sub = project.path().join("sub");
    std::fs::create_dir(&sub).unwrap();
    std::fs::write(sub.join("stop.sh"), "killall gitea-mcp\n").unwrap();
    let event = |command: &str, cwd: Value| {
        serde_json::json!({"tool_name": "Bash", "tool_input": {"command": command}, "cwd": cwd}).to_string()
    };
    let hook = |event: String| run(elsewhere.path(), &["guard", "hook"], &event);
    let kill = "killall gitea-mcp";
    assert_eq!(hook(event(kill, Value::Null)).0, 0);
    let (status, _, err) = hook(event(kill, project.path().to_str().unwrap().into()));
    assert_eq!(status, 2, "{err}");
    assert!(err.contains("blocked:") && err.contains("gitea-mcp"), "{err}");
    // The files that a command names are looked for there too.
    let (status, _, err) = hook(event("sh stop.sh", sub.to_str().unwrap().into()));
    assert_eq!(status, 2, "{err}");
    // A folder that is not there, and what is no folder's name, leave the guard in its own.
    assert_eq!(hook(event(kill, "/no/such/folder".into())).0, 0);
    assert_eq!(hook(event(kill, 7.into())).0, 0);
    assert_eq!(run(project.path(), &["guard", "hook"], &event(kill, "/no/such/folder".into())).0, 2);
    // A configuration that is named stays the one that the hook's own folder means.
    std::fs::write(elsewhere.path().join("named.toml"), CONFIG).unwrap();
    let named = ["--config", "named.toml", "guard", "hook"];
    assert_eq!(run(elsewhere.path(), &named, &event(kill, sub.to_str().unwrap().into())).0, 2);
}

#[test]
fn going_to_another_project_frees_no_daemon() {
    let (project, elsewhere) = (project(), tempfile::tempdir().unwrap());
    std::fs::write(elsewhere.path().join("restartlint.toml"), "[guard]\nprocesses = [\"other-daemon\"]\n")
        .unwrap();
    std::fs::write(elsewhere.path().join("run.sh"), "killall gitea-mcp\n").unwrap();
    std::fs::write(project.path().join("run.sh"), "ls\n").unwrap();
    let there = elsewhere.path().to_str().unwrap();
    let hook = |event: Value| run(project.path(), &["guard", "hook"], &event.to_string()).0;
    for kill in ["killall gitea-mcp", "killall other-daemon"] {
        assert_eq!(
            hook(serde_json::json!({"tool_name": "Bash", "tool_input": {"command": kill}, "cwd": there})),
            2
        );
    }
    let harmless =
        serde_json::json!({"tool_name": "Bash", "tool_input": {"command": "killall vite"}, "cwd": there});
    assert_eq!(hook(harmless), 0);
    // The tool's own folder, for the scripts too.
    for (command, folder, status) in [
        ("sh run.sh", there, 2),
        ("sh run.sh", ".", 0),
        ("killall other-daemon", there, 2),
        ("env -C x sh run.sh", ".", 2),
    ] {
        let input = serde_json::json!({"command": command, "workdir": folder});
        assert_eq!(hook(serde_json::json!({"tool_name": "Bash", "tool_input": input})), status, "{command}");
    }
    // A host's own word of where the session began.
    let event = r#"{"tool_name":"Bash","tool_input":{"command":"killall gitea-mcp"}}"#;
    let began = |folder: &Path| {
        let mut command = Command::cargo_bin("restartlint").unwrap();
        command.args(["guard", "hook"]).current_dir(elsewhere.path()).env("CLAUDE_PROJECT_DIR", folder);
        command.write_stdin(event).output().unwrap().status.code()
    };
    assert_eq!(began(project.path()), Some(2));
    assert_eq!(began(elsewhere.path()), Some(0));
}

#[test]
fn a_program_of_no_told_language_is_read_as_a_command_too() {
    let project = project();
    for (code, status) in [("pkill -f mcp_server.py", 2), ("print('x')", 0), ("kill = 3\nprint(kill)", 0)] {
        let event = serde_json::json!({"tool_name": "Interpreter", "tool_input": {"code": code}}).to_string();
        assert_eq!(run(project.path(), &["guard", "hook"], &event).0, status, "{code}");
    }
    let event = serde_json::json!({"tool_name": "Bash", "tool_input": {"command": "pk\0ill x"}}).to_string();
    assert_eq!(run(project.path(), &["guard", "hook"], &event).0, 2);
}

#[test]
fn whatever_is_broken_blocks_and_says_the_next_step() {
    let project = project();
    let event = r#"{"tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    let write = |name: &str, bytes: &[u8]| std::fs::write(project.path().join(name), bytes).unwrap();
    let blocked = |event: &str| {
        let (status, out, err) = run(project.path(), &["guard", "hook"], event);
        assert_eq!((status, out.as_str()), (2, ""), "{err}");
        assert!(err.starts_with("restartlint: blocked: "), "{err}");
        assert!(err.contains("\nnext step: "), "{err}");
        err
    };
    for event in
        ["", "[]", "{\"tool_name\":", r#"{"tool_name":"Bash","tool_input":{}}"#, r#"{"tool_input":{}}"#]
    {
        blocked(event);
    }
    write("restart-paths.toml", b"schema = 99\n");
    assert!(blocked(event).contains("restart-paths.toml"));
    write("restartlint.toml", b"daemon = 1\n");
    let said = blocked(event);
    assert!(said.contains("restartlint.toml:1:10") && said.contains("daemon = 1"), "{said}");
    write("restartlint.toml", b"\xff");
    blocked(event);
    write("restartlint.toml", b"store = \"state.db\"\n");
    std::fs::remove_file(project.path().join("restart-paths.toml")).unwrap();
    write("state.db", b"no store");
    assert!(blocked(event).contains("state.db"));
}

#[test]
fn a_store_that_is_not_there_is_noted_once_and_not_where_quiet_is_asked_for() {
    let project = project();
    std::fs::write(project.path().join("restartlint.toml"), format!("store = \"gone.db\"\n{CONFIG}"))
        .unwrap();
    let shell = |command: &str| format!(r#"{{"tool_name":"Bash","tool_input":{{"command":"{command}"}}}}"#);
    let event = shell("ls -l; ls");
    let (status, _, err) = run(project.path(), &["guard", "hook"], &event);
    assert_eq!((status, err.matches("no registry is asked").count()), (0, 1), "{err}");
    assert_eq!(run(project.path(), &["-q", "guard", "hook"], &event), (0, String::new(), String::new()));
    // What is blocked is said nevertheless.
    let (status, _, err) = run(project.path(), &["-q", "guard", "hook"], &shell("pkill -f mcp_server.py"));
    assert!(status == 2 && err.contains("blocked"), "{err}");
}
