//! The classifier as its callers see it.

use proptest::prelude::*;

use super::*;
use crate::base::effect::Effect;
use crate::base::site::{Confidence, TargetKind};
use crate::base::text::{Origin, Piece, Text};
use crate::data::commands::CommandCatalogue;

fn catalogue() -> CommandCatalogue {
    CommandCatalogue::built_in()
}

fn script(text: &str) -> Vec<Action> {
    let context = CommandContext {
        own_script: Some("run.sh".to_owned()),
        is_script: true,
        ..CommandContext::default()
    };
    actions(&Invocation::Shell(Text::literal(text)), &catalogue(), &context)
}

fn string(text: &str) -> Vec<Action> {
    actions(&Invocation::Shell(Text::literal(text)), &catalogue(), &CommandContext::default())
}

fn names(actions: &[Action]) -> Vec<String> {
    actions.iter().map(|a| format!("{} {}", a.effect, a.primitive)).collect()
}

fn argv(words: &[Text], own: &str) -> Vec<String> {
    let context = CommandContext {
        own_script: Some(own.to_owned()),
        own_module: Some("relay".to_owned()),
        ..CommandContext::default()
    };
    names(&actions(&Invocation::Argv(words.to_vec()), &catalogue(), &context))
}

fn lit(text: &str) -> Text {
    Text::literal(text)
}

#[track_caller]
fn check(text: &str, want: &[&str]) {
    assert_eq!(names(&script(text)), want, "{text}");
}

#[test]
fn prefixes_are_seen_through() {
    for text in [
        "pkill x",
        "sudo -u root -n pkill x",
        "doas pkill x",
        "env -i A=b pkill x",
        "env -S 'pkill x'",
        "A=b C='d e' pkill x",
        "nohup pkill x &",
        "timeout -s KILL 5 pkill x",
        "timeout -k 2 --signal=TERM 5s pkill x",
        "nice -n 10 ionice -c 3 pkill x",
        "time -p pkill x",
        "stdbuf -oL pkill x",
        "setsid -w pkill x",
        "command -- pkill x",
        "builtin command -p pkill x",
        "exec pkill x",
        "eval 'pkill x'",
        "eval pkill x",
        "sh -c 'pkill x'",
        "bash -lc \"pkill x\"",
        "bash -euo pipefail -c 'pkill x'",
        "bash -c \"sudo sh -c 'pkill x'\"",
        "npx -y cross-env A=b pkill x",
        "systemd-run --user --scope pkill x",
        "docker exec -it box pkill x",
        "docker exec box sh -c 'pkill x'",
        "su - svc -c 'pkill x'",
        "chpst -u svc pkill x",
        "$SUDO pkill x",
        "ssh -p 22 me@box pkill x",
        "ssh box 'cd / && pkill x'",
        "/usr/bin/pkill x",
        "\\pkill x",
        "p'k'\"il\"l x",
        "$'\\x70kill' x",
        "$(which pkill) x",
        "K=pkill; \"$K\" x",
        "K='pkill x'; $K",
        "bash <<'E'\npkill x\nE",
        "bash <<< 'pkill x'",
        "echo 'pkill x' | sh",
        "printf '%s\\n' 'pkill x' | sudo bash",
        "echo cGtpbGwgeAo= | base64 -d | sh",
        "cat <<'E' | sh\npkill x\nE",
        "alias k='pkill x'",
        "f() { pkill x; }",
        "trap 'pkill x' EXIT",
        "find . -name y -exec pkill x \\;",
        "ls | xargs -I{} pkill x",
        "! pkill x",
        "if a; then b; else pkill x; fi",
        "case $1 in stop) pkill x ;; esac",
        "while read y; do pkill x; done < f",
        "(cd / && pkill x)",
        "diff <(pkill x) /dev/null",
        "echo \"$(pkill x)\"",
        "concurrently 'pkill x' ls",
        "bash <(echo pkill x)",
    ] {
        check(text, &["kill pkill"]);
    }
}

#[test]
fn words_are_no_commands() {
    for text in [
        "echo pkill x",
        "# pkill x",
        "ls # pkill x",
        "grep -rn 'pkill -f' .",
        "M='pkill x'",
        "c=(pkill 'kill 9')",
        "man pkill",
        "command -v pkill",
        "type kill",
        "which killall",
        "[ -x /usr/bin/pkill ]",
        "cat <<'E'\npkill x\nE",
        "cat > x.sh <<E\npkill x\nE",
        "git commit -m 'pkill x'",
        "case $x in pkill|kill) ;; esac",
        ": pkill",
        "trap - EXIT",
        "bash -c 'echo \"$1\"' _ 'pkill x'",
        "sudo -l pkill",
        "reboot() { :; }; reboot",
        "timeout 5 python3 job.py",
        "exec >log 2>&1",
        "exec 3<&1",
        "exec {fd}<>/dev/tty",
        "exec {fd}>&-",
        "systemctl status x",
        "systemctl daemon-reload",
        "docker ps",
        "docker rm x",
        "shutdown -c",
        "fuser -v 80/tcp",
        "tmux ls",
        "node server.js --watch",
        "watchexec -- make",
        "cargo watch -x check",
        "kubectl scale --replicas=2 deploy/x",
        "kubectl get pods",
    ] {
        check(text, &[]);
    }
}

#[test]
fn probes_and_own_children_are_silent() {
    for text in [
        "kill -0 \"$P\"",
        "kill -s 0 5",
        "kill -n 0 5",
        "kill -l",
        "kill -L",
        "kill --list",
        "kill -l 15",
        "killall -0 node",
        "pkill -0 -f x",
        "pkill --signal 0 -f x",
        "sleep 9 & kill $!",
        "sleep 9 &\np=$!\nkill -9 \"$p\"",
        "sleep 9 & ps+=($!); kill \"${ps[@]}\"",
        "sleep 9 & trap \"kill $!\" EXIT",
        "sleep 9 & trap 'kill $p' EXIT; p=$!",
        "kill %1",
        "kill $(jobs -p)",
        "stop() { kill \"$1\"; }; sleep 9 & stop $!",
    ] {
        check(text, &[]);
    }
    check("sleep 9 & p=$!; p=$(cat f); kill $p", &["kill kill"]);
}

#[test]
fn supervisors_and_verbs() {
    for (text, want) in [
        ("systemctl --user restart x", "supervise systemctl restart"),
        ("systemctl -q stop x y", "supervise systemctl stop"),
        ("service x restart", "supervise service restart"),
        ("launchctl kickstart -k gui/1/x", "supervise launchctl kickstart"),
        ("docker --context c restart x", "supervise docker restart"),
        ("docker container restart x", "supervise docker container restart"),
        ("docker rm -fv x", "supervise docker rm"),
        ("docker compose -f a.yml down", "supervise docker compose down"),
        ("docker-compose restart api", "supervise docker compose restart"),
        ("docker compose up -d --force-recreate", "supervise docker compose up"),
        ("kubectl -n a rollout restart deploy/x", "supervise kubectl rollout restart"),
        ("kubectl delete pod x", "supervise kubectl delete pod"),
        ("kubectl scale --replicas=0 deploy/x", "supervise kubectl scale"),
        ("pm2 restart all", "supervise pm2 restart"),
        ("shutdown -r now", "supervise shutdown"),
        ("init 6", "supervise init 6"),
        ("exec systemctl restart x", "supervise systemctl restart"),
        ("nomad job restart x", "supervise nomad job restart"),
        ("fuser -k 80/tcp", "kill fuser"),
        ("taskkill //F //IM node.exe", "kill taskkill"),
        ("tmux -L s kill-session -t x", "kill tmux kill-session"),
        ("npx kill-port 80", "kill kill-port"),
        ("wmic process where name='x' delete", "kill wmic process"),
        ("powershell -Command Stop-Process -Name node", "kill Stop-Process"),
        ("cmd /c \"taskkill /IM python.exe\"", "kill taskkill"),
        ("npx nodemon s.js", "reload nodemon"),
        ("python -m uvicorn a:b --reload", "reload uvicorn"),
        ("flask --app x run --debug", "reload flask run"),
        ("ls | entr -r python s.py", "reload entr"),
        ("cargo watch -x run", "reload cargo watch"),
        ("cargo watch -x 'run --bin x'", "reload cargo watch"),
        ("npx tsx watch s.ts", "reload tsx watch"),
        ("node --watch s.js", "reload node"),
        ("watchexec -r -- node s.js", "reload watchexec"),
    ] {
        check(text, &[want]);
    }
    let free = script("systemctl \"$verb\" x");
    assert_eq!(free[0].confidence, Confidence::Possible);
    assert_eq!(names(&script("for v in stop start; do systemctl $v x; done")), ["supervise systemctl stop"]);
}

#[test]
fn exec_replaces_a_script_and_hands_over() {
    for (text, launcher) in [
        ("exec \"$@\"", true),
        ("exec python server.py", true),
        ("a && exec node x", true),
        ("eval exec \"$CMD\"", true),
        ("exec \"$0\" \"$@\"", false),
        ("exec bash \"$0\"", false),
        ("S=$(readlink -f \"$0\"); exec \"$S\"", false),
        ("exec sudo -E \"$0\" \"$@\"", false),
        ("exec ./run.sh", false),
    ] {
        let found = script(text);
        assert_eq!(names(&found), ["replace exec"], "{text}");
        assert_eq!(found[0].launcher, launcher, "{text}");
    }
    for text in
        ["(exec node x)", "bash -c 'exec node x'", "exec node x &", "echo | exec cat", "ssh h 'exec x'"]
    {
        check(text, &[]);
    }
    assert!(string("exec node server.js").is_empty());
}

#[test]
fn a_copy_of_this_program_is_a_respawn() {
    let interpreter = Text::free(Origin::Interpreter);
    let own = Text::free(Origin::OwnScript);
    let rest = Text::rest(Origin::OwnArgv);
    assert_eq!(argv(&[interpreter.clone(), own.clone()], "a.py"), ["respawn "]);
    assert_eq!(argv(&[interpreter.clone(), rest], "a.py"), ["respawn "]);
    assert_eq!(argv(&[interpreter.clone(), lit("-m"), lit("relay")], "a.py"), ["respawn "]);
    assert_eq!(argv(&[lit("python3"), lit("-u"), lit("a.py")], "a.py"), ["respawn "]);
    assert_eq!(argv(&[lit("nohup"), lit("node"), own], "a.js"), ["respawn "]);
    assert_eq!(argv(&[Text::free(Origin::OwnProgram), lit("--child")], "a.rs"), ["respawn "]);
    assert!(argv(&[interpreter.clone(), lit("-m"), lit("other")], "a.py").is_empty());
    assert!(argv(&[interpreter.clone(), lit("-c"), lit("1")], "a.py").is_empty());
    assert!(argv(&[interpreter.clone(), Text::rest(Origin::OwnArgs)], "a.py").is_empty());
    assert!(argv(&[interpreter, lit("b.py")], "a.py").is_empty());
    let mut shell = Text::free(Origin::Interpreter);
    shell.push(Piece::Literal(" ".to_owned()));
    shell.push(Piece::Free(Origin::OwnScript));
    let found = actions(&Invocation::Shell(shell), &catalogue(), &CommandContext::default());
    assert_eq!(names(&found), ["respawn "]);
}

#[test]
fn argument_lists_need_no_shell() {
    assert_eq!(argv(&[lit("pkill"), lit("-f"), lit("a b")], ""), ["kill pkill"]);
    assert_eq!(argv(&[lit("sudo"), lit("kill"), Text::free(Origin::Unknown)], ""), ["kill kill"]);
    assert_eq!(argv(&[lit("bash"), lit("-c"), lit("cd / && pkill x")], ""), ["kill pkill"]);
    assert_eq!(argv(&[lit("kill"), Text::free(Origin::OwnPid)], ""), ["terminate kill"]);
    assert_eq!(names(&script("kill -TERM -$$")), ["terminate kill"]);
    assert!(argv(&[lit("kill"), Text::free(Origin::ChildPid)], "").is_empty());
    assert!(argv(&[lit("ls"), lit("; pkill x")], "").is_empty());
    assert!(argv(&[lit("pkill x")], "").is_empty());
}

#[test]
fn targets_and_words_are_kept() {
    let found = script("sudo pkill -f mcp_server.py");
    assert_eq!(found[0].words, ["pkill", "-f", "mcp_server.py"]);
    assert_eq!(found[0].nested_in, ["sudo"]);
    let target = found[0].target.clone().unwrap();
    assert_eq!((target.kind, target.text.as_str()), (TargetKind::Pattern, "mcp_server.py"));
    assert_eq!((found[0].span.start, found[0].span.end), (0, 27));
    let found = script("ps aux | grep relay | awk '{print $2}' | xargs kill -9");
    assert_eq!(found[0].target.clone().unwrap().text, "relay");
    let found = script("kill $(pgrep -f relay)");
    assert_eq!(found[0].target.clone().unwrap().text, "relay");
    let found = script("stop() {\n  killall node\n}\n");
    assert_eq!(found[0].function.as_deref(), Some("stop"));
    assert_eq!(found[0].effect, Effect::Kill);
}

#[test]
fn broken_and_odd_texts_are_survived() {
    for text in
        ["echo 'unterminated", "if then fi ((", "", "   ", "\0\u{ff} ${", "kill -", "$", "`", "<<", "a <<E"]
    {
        let _ = script(text);
        let _ = string(text);
    }
    check("pkill -f one\nif [ x ; then\n  echo \"unterminated\n", &["kill pkill"]);
}

proptest! {
    #[test]
    fn any_text_is_survived(text in "[ -~\n$`'\"(){};|&<>]{0,80}") {
        let _ = script(&text);
        let _ = string(&text);
    }
}

#[test]
fn a_function_that_shifts_runs_the_argument_that_has_moved_up() {
    check("f() { local u=\"$1\"; shift; su -c \"$1\" \"$u\"; }; f root 'pkill x'", &["kill pkill"]);
    check("f() { shift 2; \"$@\"; }; f a b pkill x", &["kill pkill"]);
    check("f() { while test $#; do sh -c \"$1\"; shift; done; }; f ls 'pkill x'", &["kill pkill"]);
    // What was shifted away is not run.
    check("f() { shift; sh -c \"$1\"; }; f 'pkill x' ls", &[]);
    check("f() { shift; \"$@\"; }; f pkill x", &[]);
}
