//! Each format: where its commands stand, and what in it is no command.

use super::*;

/// `line effect primitive` of every site.
fn sites(path: &str, text: &str) -> Vec<String> {
    let source = Source::new(text);
    let facts = facts(path, &source, &CommandCatalogue::built_in());
    assert!(facts.problems.iter().all(|p| p.kind == ProblemKind::UnboundedRestart), "{:?}", facts.problems);
    facts
        .sites
        .iter()
        .map(|s| format!("{} {} {}", source.position(s.span.start).line, s.effect, s.primitive))
        .collect()
}

fn unbounded(path: &str, text: &str) -> usize {
    let facts = facts(path, &Source::new(text), &CommandCatalogue::built_in());
    facts.problems.iter().filter(|p| p.kind == ProblemKind::UnboundedRestart).count()
}

#[test]
fn make_recipes_and_shell_functions() {
    let text = "K = pkill -f\nP := $(shell systemctl stop a)\nall: x ; killall y\nhalt:\n\t@-$(K) relay || true\n\techo kill\n\
                \tps | grep x | \\\n\t  xargs kill\n\tkill -0 $$PID\n# pkill x\nN = pkill z\nclean:\n\t$(shell pidof a | xargs kill -9)\n";
    assert_eq!(
        sites("Makefile", text),
        ["2 supervise systemctl stop", "3 kill killall", "5 kill pkill", "8 kill kill", "13 kill kill"]
    );
}

#[test]
fn just_and_task_runners() {
    let text = "k := \"pkill\"\nx := `killall y`\n\nstop name:\n  @{{k}} -f {{name}}\n  echo pkill\n\nall: stop\n  #!/usr/bin/env bash\n  \
                set -e\n  systemctl restart a\n\npy:\n  #!/usr/bin/env python3\n  pkill = 1\n";
    assert_eq!(sites("justfile", text), ["2 kill killall", "5 kill pkill", "11 supervise systemctl restart"]);
    let text = "version: 3\ntasks:\n  a: pkill x\n  b:\n    cmds:\n      - echo kill\n      - cmd: killall {{.N}}\n      - |\n        \
                set -e\n        docker restart y\n    desc: pkill z\n";
    assert_eq!(
        sites("Taskfile.yml", text),
        ["3 kill pkill", "7 kill killall", "10 supervise docker restart"]
    );
    let text = "[tox]\nenvlist = a\n[testenv]\ncommands =\n  pytest\n  - pkill -f {posargs}\n# pkill\ndescription = pkill x\n";
    assert_eq!(sites("tox.ini", text), ["6 kill pkill"]);
    let text = "web: uvicorn a:b --reload\n# w: pkill x\nworker: python w.py\n";
    assert_eq!(sites("Procfile", text), ["1 reload uvicorn"]);
}

#[test]
fn project_files() {
    let text = "{\n  \"name\": \"pkill x\",\n  \"scripts\": {\n    \"dev\": \"nodemon\",\n    \"stop\": \"cross-env A=\\\"1\\\" pkill -f x\",\n    \
                \"test\": \"jest kill\"\n  }\n}\n";
    assert_eq!(sites("package.json", text), ["4 reload nodemon", "5 kill pkill"]);
    let text = "[project.scripts]\nkill = \"a:kill\"\n[tool.poe.tasks]\nstop = \"pkill x\"\nb = { shell = \"killall y\" }\n\
                [tool.pdm.scripts]\nc = { cmd = [\"systemctl\", \"stop\", \"z\"] }\n";
    assert_eq!(
        sites("pyproject.toml", text),
        ["4 kill pkill", "5 kill killall", "7 supervise systemctl stop"]
    );
}

#[test]
fn dockerfiles_in_both_forms() {
    let text = "FROM a\n# RUN pkill x\nENV K=\"pkill x\"\nRUN --mount=type=cache,target=/x a && \\\n    # no\n    pkill y || true\n\
                HEALTHCHECK --interval=5s CMD kill -0 1 || exit 1\nRUN <<EOF\nset -e\nkillall z\nEOF\n\
                ENTRYPOINT [\"uvicorn\"]\nCMD [\"a:b\", \"--reload\"]\n";
    assert_eq!(sites("Dockerfile", text), ["6 kill pkill", "10 kill killall", "13 reload uvicorn"]);
    assert_eq!(sites("Dockerfile", "FROM a\nCMD exec node s.js\nRUN [\"pkill\", \"x\"]\n"), ["3 kill pkill"]);
}

#[test]
fn compose_services_and_their_policies() {
    let text = "services:\n  a:\n    command: uvicorn a:b --reload\n    restart: always\n    stop_signal: SIGKILL\n  b:\n    command: [\"nodemon\", \"s.js\"]\n    \
                restart: on-failure:3\n    healthcheck:\n      test: [\"CMD-SHELL\", \"kill -0 1\"]\n  c:\n    restart: unless-stopped\n    \
                deploy:\n      restart_policy:\n        max_attempts: 3\n    environment:\n      K: pkill x\n";
    assert_eq!(sites("compose.yaml", text), ["3 reload uvicorn", "7 reload nodemon"]);
    assert_eq!(unbounded("compose.yaml", text), 1);
    let policy =
        "services:\n  a:\n    image: x\n    deploy:\n      restart_policy:\n        condition: any\n";
    assert_eq!(unbounded("compose.yaml", policy), 1);
    assert_eq!(unbounded("compose.yaml", &format!("{policy}        max_attempts: 3\n")), 0);
}

#[test]
fn kubernetes_lists() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: pkill\nspec:\n  containers:\n    - name: a\n      command: [\"sh\", \"-c\"]\n      \
                args: [\"pkill -f x\"]\n      livenessProbe:\n        exec:\n          command: [\"kill\", \"-0\", \"1\"]\n---\napiVersion: v1\nkind: Pod\n\
                spec:\n  containers:\n    - args:\n      - nodemon\n      - s.js\n";
    assert_eq!(sites("k.yaml", text), ["9 kill pkill", "19 reload nodemon"]);
}

#[test]
fn workflows_and_pipelines() {
    let text = "on: push\njobs:\n  a:\n    name: pkill x\n    steps:\n      - uses: a/b@v1\n        with: {run: pkill x}\n      - run: pkill -f ${{ inputs.x }}\n      \
                - name: b\n        run: |\n          set -e\n\n          docker restart y\n      - shell: python\n        run: |\n          kill = 1\n";
    assert_eq!(sites(".github/workflows/a.yml", text), ["8 kill pkill", "13 supervise docker restart"]);
    let text = "stages: [a]\nvariables:\n  script: pkill x\nt:\n  script:\n    - echo \"pkill\"\n    - pkill -f x\n    - - killall y\n  after_script: reboot\n";
    assert_eq!(sites(".gitlab-ci.yml", text), ["7 kill pkill", "8 kill killall", "9 supervise reboot"]);
    let text = "repos:\n  - repo: local\n    hooks:\n      - id: a\n        language: system\n        entry: bash -c 'pkill -f x'\n      - id: b\n        \
                language: pygrep\n        entry: pkill -f\n      - id: c\n        language: system\n        entry: bash -c\n        args: [killall x]\n";
    assert_eq!(sites(".pre-commit-config.yaml", text), ["6 kill pkill", "12 kill killall"]);
}

#[test]
fn clients_tasks_and_hooks() {
    let text = "{\"mcpServers\": {\n \"a\": {\"command\": \"node\", \"args\": [\"s.js\"]},\n \"b\": {\n  \"args\": [\"-y\", \"tsx\", \"watch\", \"s.ts\"],\n  \
                \"command\": \"npx\",\n  \"env\": {\"N\": \"pkill x\"}}}}\n";
    assert_eq!(sites(".mcp.json", text), ["5 reload tsx watch"]);
    let text = "{\"permissions\": {\"deny\": [\"Bash(pkill:*)\"]},\n \"hooks\": {\"Stop\": [{\"hooks\": [\n  {\"type\": \"command\", \"command\": \"pkill -f x\"}]}]}}";
    assert_eq!(sites(".claude/settings.json", text), ["3 kill pkill"]);
    let text = "{\n  // pkill\n  \"tasks\": [\n    {\"label\": \"pkill\", \"type\": \"shell\", \"command\": \"pkill -f x\"},\n    \
                {\"type\": \"process\", \"command\": \"bash\", \"args\": [\"-c\", \"killall y\"]},\n  ]\n}";
    assert_eq!(sites(".vscode/tasks.json", text), ["4 kill pkill", "5 kill killall"]);
    let text = "[mcp_servers.a]\ncommand = \"nodemon\"\nargs = [\"s.js\"]\n";
    assert_eq!(sites(".codex/config.toml", text), ["2 reload nodemon"]);
}

#[test]
fn units_and_supervisors() {
    let text = "[Unit]\nDescription=pkill x\n[Service]\nExecStartPre=-/usr/bin/pkill -f old\nExecStart=/usr/bin/uvicorn a:b \\\n  # no\n  --reload\n\
                ExecReload=/bin/kill -HUP $MAINPID\nExecStop=/bin/sh -c 'killall x'\nRestart=always\nRestartSec=3\n";
    assert_eq!(
        sites("a.service", text),
        ["4 kill pkill", "5 reload uvicorn", "8 kill kill", "9 kill killall"]
    );
    assert_eq!(unbounded("a.service", text), 1);
    for limit in ["RestartPreventExitStatus=3", "StartLimitBurst=5", "StartLimitIntervalSec=60"] {
        assert_eq!(unbounded("a.service", &format!("[Service]\nRestart=always\n{limit}\n")), 0, "{limit}");
    }
    assert_eq!(unbounded("a.service", "[Service]\nRestart=on-failure\n"), 0);
    for none in ["StartLimitIntervalSec=0", "StartLimitIntervalSec=0s\nStartLimitBurst=5", "RestartSec=5"] {
        assert_eq!(unbounded("a.service", &format!("[Service]\nRestart=always\n{none}\n")), 1, "{none}");
    }
    let text = "[program:a]\ncommand=nodemon s.js\nautorestart=true\n; command=pkill x\n[program:b]\ncommand = bash -c \"pkill y\" ; z\nautorestart=unexpected\n";
    assert_eq!(sites("supervisord.conf", text), ["2 reload nodemon", "6 kill pkill"]);
    assert_eq!(unbounded("supervisord.conf", text), 1);
    let text = "<?xml version=\"1.0\"?>\n<plist version=\"1.0\">\n<dict>\n<key>Label</key><string>pkill x</string>\n<key>ProgramArguments</key>\n<array>\n\
                <string>/bin/sh</string>\n<string>-c</string>\n<string>a &amp;&amp; pkill -f x</string>\n</array>\n</dict>\n</plist>\n";
    assert_eq!(sites("a.plist", text), ["7 kill pkill"]);
}

#[test]
fn a_file_that_is_not_well_formed_is_reported() {
    for (path, text) in [
        ("compose.yaml", "a: [\n"),
        ("package.json", "{"),
        ("pyproject.toml", "a = ["),
        ("a.plist", "<a><b></a>"),
    ] {
        let facts = facts(path, &Source::new(text), &CommandCatalogue::built_in());
        assert!(facts.problems.iter().any(|p| p.kind == ProblemKind::Syntax), "{path}");
    }
}

#[test]
fn a_chart_template_is_read_around_its_actions() {
    let text = "{{- if .Values.on }}\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  labels: {{ include \"l\" . | nindent 4 }}\n  \
                name: \"{{ include \"n\" . }}\"\nspec:\n  containers:\n    - name: a\n      {{- with .b }}\n      command: [\"pkill\", \"-f\", {{ . | quote }}]\n      \
                {{- end }}\n    - name: c\n      command:\n        - sh\n        - -c\n        - |\n          {{- if .d }}\n          killall {{ .e }}\n          \
                {{- end }}\n{{- end }}\n";
    assert_eq!(sites("chart/templates/a.yaml", text), ["11 kill pkill", "19 kill killall"]);
    // What is no YAML without its actions either is read as far as it goes, and is no fault of the manifest.
    let broken = "apiVersion: v1\nkind: Pod\nspec:\n  command: [\"reboot\"]\n{{ range .a }}\n - : [\n";
    assert_eq!(sites("chart/templates/b.yaml", broken).len(), 1);
}

#[test]
fn make_definitions_shell_assignments_and_appended_values() {
    let text = "X != pkill a\ndefine HELP\n\tpkill b\nendef\ndefine two =\n@pkill c\nendef\nK = pkill\nK += -f d\nr:\n\t$(call two,x)\n\
                \t$(K)\n\t@echo \"$(HELP)\" x != y\nt: C = killall e\nt:\n\t$(C)\ndefine RULE\n$(1):\n\tkillall f\nendef\n$(eval $(call RULE,z))\n";
    let found = sites("Makefile", text);
    assert_eq!(
        found,
        ["1 kill pkill", "11 kill pkill", "12 kill pkill", "16 kill killall", "19 kill killall"]
    );
}

#[test]
fn just_expressions_run_commands() {
    let text = "x := \"a\" + `ls` + `pkill a`\ny := ```\n  pkill b\n```\nz := shell('pkill c')\n# `pkill d`\n\
                r p=`pkill e`:\n  echo {{ `pkill f` }} '`'\n";
    assert_eq!(
        sites("justfile", text),
        ["1 kill pkill", "3 kill pkill", "5 kill pkill", "7 kill pkill", "8 kill pkill"]
    );
}

#[test]
fn tox_factors_and_defaults() {
    let text = "[testenv]\ncommands =\n  py38: pkill a\n  !lint,x-{a,b}: - pkill b\n  {posargs:pkill c}\n  python -m d: e\n";
    assert_eq!(sites("tox.ini", text), ["3 kill pkill", "4 kill pkill", "5 kill pkill"]);
}

#[test]
fn project_tasks_of_every_shape() {
    let text = "[tool.poe.tasks]\na = [{cmd = \"pkill a\"}, \"x\"]\nb.sequence = [[{shell = \"pkill b\"}]]\nc.switch = [{case = \"x\", cmd = \"pkill c\"}]\n\
                [tool.rye.scripts]\nd = [\"pkill\", \"d\"]\ne = {cmd = [\"pkill\", \"e\"]}\n[tool.pixi.feature.x.tasks]\nf = \"pkill f\"\n\
                [tool.tox.env_run_base]\ncommands = [[\"pkill\", \"g\"]]\n";
    let lines = [2, 3, 4, 6, 7, 9, 11].map(|line| format!("{line} kill pkill"));
    assert_eq!(sites("pyproject.toml", text), lines);
    // Of a key that is written twice, readers take the last.
    let text = "{\"scripts\": {\"a\": \"ls\"},\n\"scripts\": {\"a\": \"pkill x\"}}";
    assert_eq!(sites("package.json", text), ["2 kill pkill"]);
}

#[test]
fn dockerfiles_with_blank_lines_shifts_and_split_entry_points() {
    let text = "#escape=`\nRUN ls `\n && pkill a\n";
    assert_eq!(sites("Dockerfile", text), ["3 kill pkill"]);
    let text = "RUN ls && \\\n\n  pkill a\nRUN x=$((1<<3)); echo \"a <<B\"\nRUN pkill b\nENTRYPOINT [\"pkill\"]\nCMD [\"-f\", \"c\"]\n";
    assert_eq!(sites("Dockerfile", text), ["3 kill pkill", "5 kill pkill", "6 kill pkill"]);
    let source = Source::new(text);
    let facts = facts("Dockerfile", &source, &CommandCatalogue::built_in());
    let last = facts.sites.last().and_then(|s| s.target.as_ref()).map(|t| t.text.as_str());
    assert_eq!(last, Some("c"));
}

#[test]
fn a_program_and_its_arguments_are_one_command() {
    let target = |path: &str, text: &str| {
        let facts = facts(path, &Source::new(text), &CommandCatalogue::built_in());
        let targets = facts.sites.iter().filter_map(|s| s.target.as_ref()).map(|t| t.text.clone());
        targets.collect::<Vec<_>>().join(" ")
    };
    for (path, text) in [
        ("compose.yml", "services: {a: {entrypoint: sudo pkill, command: -f relay}}\n"),
        (
            ".pre-commit-config.yaml",
            "repos: [{hooks: [{language: system, entry: pkill, args: [-f, relay]}]}]\n",
        ),
        (".vscode/tasks.json", "{\"tasks\": [{\"command\": \"pkill\", \"args\": [\"-f\", \"relay\"]}]}"),
        ("action.yml", "runs: {using: docker, entrypoint: pkill, args: [-f, relay]}\n"),
        (
            "x.plist",
            "<plist><dict><key>Program</key><string>/usr/bin/&#112;kill</string><key>ProgramArguments</key>\
                     <array><string>x</string><string>-f</string><string>relay</string></array></dict></plist>",
        ),
    ] {
        assert_eq!(target(path, text), "relay", "{path}");
    }
    let zed = "{\"a\": {\"command\": {\"path\": \"nodemon\", \"args\": [\"server.js\"]}}}";
    assert_eq!(sites("settings.json", zed), ["1 reload nodemon"]);
}

#[test]
fn units_and_supervisors_as_their_readers_have_them() {
    let text = "[Service]\nExecStart=/bin/sh -c '\\x70kill a'\nExecStop=/usr/bin/pkill b \\";
    assert_eq!(sites("a.service", text), ["2 kill pkill", "3 kill pkill"]);
    assert_eq!(
        sites("supervisord.conf", "[program:a]\ncommand=sh -c \"ls;\n  pkill a\"\n"),
        ["2 kill pkill"]
    );
}

#[test]
fn manifests_are_known_by_quoted_keys_too_and_windows_steps_by_their_shell() {
    let json = "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"spec\": {\"command\": [\"pkill\", \"x\"]}}";
    assert_eq!(sites("a.json", json), ["1 kill pkill"]);
    let late = format!("#{}\napiVersion: v1\nkind: Pod\nspec: {{command: [pkill, x]}}\n", "x".repeat(5000));
    assert_eq!(sites("a.yaml", &late), ["4 kill pkill"]);
    let text = "jobs:\n  a:\n    steps:\n    - shell: pwsh\n      run: |\n        if ($x) { Stop-Process -Name y }\n    - run: |\n        \
                echo \"{{\"\n        pkill x\n        echo \"}}\"\n";
    assert_eq!(sites(".github/workflows/a.yml", text), ["6 kill Stop-Process", "9 kill pkill"]);
}
