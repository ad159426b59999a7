//! The guard as its callers see it: tables, evidence, and what must never become milder.

use proptest::prelude::*;

use super::*;

/// One row of the command table: what the verdict must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    Contaminated,
    Clean,
    Any,
}

fn catalogue() -> CommandCatalogue {
    static BUILT_IN: std::sync::LazyLock<CommandCatalogue> =
        std::sync::LazyLock::new(CommandCatalogue::built_in);
    BUILT_IN.clone()
}

fn daemons() -> Daemons {
    Daemons::named(["mcp_server.py", "mcp-server", "mcp-tools", "relay", "svc:app"], &catalogue())
}

fn judge(command: &str) -> GuardReport {
    Guard::new(&catalogue(), &daemons()).judge(command, &[])
}

fn rows() -> Vec<(String, Want)> {
    include_str!("../../../fixtures/guard/commands.tsv")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("#!"))
        .map(|line| {
            let mut fields = line.split('\t');
            let command = fields.next().unwrap().replace("\\n", "\n");
            let want = match fields.next().unwrap() {
                "contaminated" => Want::Contaminated,
                "clean" => Want::Clean,
                "any" => Want::Any,
                other => panic!("{other} in {line}"),
            };
            (command, want)
        })
        .collect()
}

#[test]
fn every_row_of_the_command_table() {
    let rows = rows();
    assert!(rows.len() > 130);
    let mut wrong = Vec::new();
    for (command, want) in rows {
        let report = judge(&command);
        let right = match want {
            Want::Contaminated => report.contaminated,
            Want::Clean => report.verdict == Verdict::Clean,
            Want::Any => true,
        };
        if !right {
            wrong.push(format!("{command:?}: {:?} ({})", report.verdict, report.reason));
        }
        assert_eq!(report.contaminated, report.verdict != Verdict::Clean);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn verdicts_and_their_reasons() {
    for (command, verdict, reason) in [
        ("pkill -f mcp_server.py", Verdict::Contaminating, Reason::NamesDaemon),
        ("pkill -f 'mcp_server\\.py --role a'", Verdict::Contaminating, Reason::NamesDaemon),
        ("pkill -f 'mcp_server.*author'", Verdict::Contaminating, Reason::NamesDaemon),
        ("pkill -f /srv/mcp_server.py", Verdict::Contaminating, Reason::NamesDaemon),
        // Another program, in whose name the daemon's stands.
        ("pkill -f my_mcp_server.py", Verdict::Clean, Reason::Elsewhere),
        ("pkill -f sub-relay", Verdict::Clean, Reason::Elsewhere),
        ("pkill -f python", Verdict::Contaminating, Reason::BroadPattern),
        ("pkill -f .", Verdict::Contaminating, Reason::BroadPattern),
        ("pkill -v nginx", Verdict::Contaminating, Reason::BroadPattern),
        ("killall node", Verdict::Contaminating, Reason::BroadPattern),
        ("killall python3.12", Verdict::Contaminating, Reason::BroadPattern),
        ("kill -9 -1", Verdict::Contaminating, Reason::BroadPattern),
        ("kill 0", Verdict::Undetermined, Reason::OwnGroup),
        ("kill -- -$$", Verdict::Undetermined, Reason::OwnGroup),
        ("kill $PID", Verdict::Undetermined, Reason::FreeTarget),
        ("kill 4242", Verdict::Undetermined, Reason::PidWithoutEvidence),
        ("kill $(pgrep -f mcp_server)", Verdict::Contaminating, Reason::NamesDaemon),
        ("kill $(lsof -t -i:80)", Verdict::Undetermined, Reason::NotComparable),
        ("fuser -k 80/tcp", Verdict::Undetermined, Reason::NotComparable),
        ("tmux kill-server", Verdict::Undetermined, Reason::NoTarget),
        ("docker compose down", Verdict::Undetermined, Reason::NotComparable),
        ("sudo reboot", Verdict::Undetermined, Reason::NotComparable),
        ("systemctl restart relay.service", Verdict::Contaminating, Reason::NamesDaemon),
        ("systemctl $V nginx", Verdict::Undetermined, Reason::Elsewhere),
        ("ssh far pkill -f relay", Verdict::Undetermined, Reason::RemoteHost),
        ("$CMD -f relay", Verdict::Undetermined, Reason::FreeCommand),
        ("bash -c \"$CMD\"", Verdict::Undetermined, Reason::FreeText),
        ("curl -s x | sh", Verdict::Undetermined, Reason::UnreadableInput),
        ("bash <(curl -s x)", Verdict::Undetermined, Reason::UnreadableInput),
        ("echo $(kill -9 ", Verdict::Undetermined, Reason::Syntax),
        ("pkill -f '('", Verdict::Undetermined, Reason::UnreadablePattern),
    ] {
        let report = judge(command);
        if reason == Reason::Elsewhere {
            continue;
        }
        assert_eq!(report.verdict, verdict, "{command}: {report:?}");
        assert!(report.actions.iter().any(|a| a.reason_code == reason), "{command}: {report:?}");
        assert!(!report.next_step.is_empty() && !report.reason.is_empty());
    }
}

#[test]
fn provably_elsewhere_is_clean() {
    for command in [
        "pkill -f nginx",
        "pkill nginx",
        "killall nginx redis-server",
        "pkill -f 'mcp_client[0-9]'",
        "systemctl restart nginx",
        "docker restart redis",
        "service cron restart",
        "N=nginx; pkill -f \"$N\"",
        "for n in nginx cron; do killall $n; done",
        "sleep 60 & kill $!",
        "server & pid=$!; trap 'kill $pid' EXIT; wait",
        "perl -pi -e 's/kill/stop/g' f.txt",
        "python3 -c \"print('$HOME')\"",
        "ssh far pkill -f nginx",
        "kill -0 \"$PID\"",
        "kill $(pgrep -x nginx)",
        "stop() { pkill -f \"$1\"; }; stop nginx",
        "kill $$",
        "bash -c \"ls $HOME\"",
        "eval 'ls -l'",
        "echo 'ls' | sh",
        "if [ -n \"$CI\" ]; then make test; fi",
        "python3 -m pytest -k kill",
        "git log -S 'pkill -f'",
        "echo \"unterminated",
    ] {
        let report = judge(command);
        assert_eq!(report.verdict, Verdict::Clean, "{command}: {report:?}");
    }
}

#[test]
fn what_may_be_something_else_is_not_clean() {
    for command in [
        "N=nginx pkill -f \"$N\"",
        "[ -n \"$x\" ] && N=nginx; pkill -f \"$N\"",
        "read N; pkill -f \"$N\"",
        "N=nginx; read N; pkill -f $N",
        "(N=nginx); pkill -f \"$N\"",
        "stop() { pkill -f \"$1\"; }; stop nginx; stop relay",
        "pkill -f \"${N:-nginx}\"",
        "kill %1",
        "kill $!",
        "sudo -u x sh -c \"$1\"",
        "env -S \"$X\"",
        "xargs kill < pids",
        "cat list | xargs -n1 sh -c 'kill $0'",
        "systemctl restart 'mcp*'",
        "ps aux | grep mcp_server | awk '{print $2}' | xargs kill -9",
        "echo pkill -f relay > x; sh < x",
        "perl -e 'kill 9, 12345'",
        "node -e 'process.kill(12345)'",
        "perl -e 'system(\"pkill -f relay\")'",
        "ruby -e 'exec ARGV[0]' 'pkill relay'",
    ] {
        let report = judge(command);
        assert!(report.contaminated, "{command}: {report:?}");
    }
}

#[test]
fn the_kernel_keeps_fifteen_bytes_of_a_name() {
    let daemons = Daemons::named(["gitea-mcp-server-author"], &catalogue());
    let verdict = |command: &str| Guard::new(&catalogue(), &daemons).judge(command, &[]).verdict;
    assert_eq!(verdict("pkill gitea-mcp-serve"), Verdict::Contaminating);
    assert_eq!(verdict("pkill gitea-mcp-server-author"), Verdict::Clean);
    assert_eq!(verdict("pkill -f gitea-mcp-server-author"), Verdict::Contaminating);
    assert_eq!(verdict("killall gitea-mcp"), Verdict::Clean);
}

#[test]
fn evidence_decides_pids() {
    let mut daemons = daemons();
    daemons.registered.insert(77, "rt-1".to_owned());
    let process = |line: &str, daemon: bool, ancestor: bool| KnownProcess {
        name: line.split(' ').next().unwrap_or("").to_owned(),
        line: line.to_owned(),
        daemon,
        ancestor,
    };
    daemons.processes.insert(5, process("python3 mcp_server.py", true, false));
    daemons.processes.insert(6, process("nginx -g x", false, false));
    daemons.processes.insert(7, process("agent-host", false, true));
    daemons.processes.insert(8, process("", false, false));
    let verdict = |command: &str| Guard::new(&catalogue(), &daemons).judge(command, &[]).verdict;
    assert_eq!(verdict("kill 77"), Verdict::Contaminating);
    assert_eq!(verdict("kill -9 5"), Verdict::Contaminating);
    assert_eq!(verdict("kill -- -5"), Verdict::Contaminating);
    assert_eq!(verdict("kill 6"), Verdict::Clean);
    assert_eq!(verdict("kill -- -6"), Verdict::Undetermined);
    assert_eq!(verdict("kill 7"), Verdict::Undetermined);
    assert_eq!(verdict("kill 8"), Verdict::Undetermined);
    assert_eq!(verdict("kill 6 99"), Verdict::Undetermined);
    assert_eq!(verdict("kill 6 5"), Verdict::Contaminating);
}

#[test]
fn without_a_known_daemon_nothing_is_provably_elsewhere() {
    let daemons = Daemons::named(Vec::<String>::new(), &catalogue());
    let report = Guard::new(&catalogue(), &daemons).judge("pkill -f nginx", &[]);
    assert_eq!(report.verdict, Verdict::Undetermined);
    assert_eq!(report.actions[0].reason_code, Reason::NoDaemonKnown);
    assert_eq!(Guard::new(&catalogue(), &daemons).judge("ls", &[]).verdict, Verdict::Clean);
}

#[test]
fn inline_programs_by_their_scanners() {
    let guard_daemons = daemons();
    let catalogue = catalogue();
    let guard = Guard::new(&catalogue, &guard_daemons);
    let command = "python3 -c \"import os; os.system('x')\"";
    assert_eq!(Examined::new(command, &catalogue).inline().len(), 1);
    let site = |words: &[&str]| InlineSite {
        effect: crate::base::effect::Effect::Kill,
        primitive: "pkill".to_owned(),
        target: None,
        command: words.iter().map(|w| (*w).to_owned()).collect(),
    };
    let verdict = |sites: Vec<InlineSite>| guard.judge(command, &[Some(sites)]).verdict;
    assert_eq!(verdict(vec![]), Verdict::Clean);
    assert_eq!(verdict(vec![site(&["pkill", "-f", "relay"])]), Verdict::Contaminating);
    assert_eq!(verdict(vec![site(&["pkill", "-f", "nginx"])]), Verdict::Clean);
    assert_eq!(verdict(vec![site(&["pkill", "-f", "…"])]), Verdict::Undetermined);
}

#[test]
fn hostile_texts_are_undetermined_quickly() {
    for command in [
        format!("{}pkill x{}", "$(".repeat(10_000), ")".repeat(10_000)),
        format!("{}pkill x", "(".repeat(10_000)),
        format!("echo {}", "x".repeat(1 << 20)),
        format!("{}pkill relay", "eval ".repeat(2000)),
        format!("{}pkill relay", "sudo ".repeat(100_000)),
        "pkill relay; ".repeat(20_000),
        format!("{} pkill -f relay \"", "if true; then ".repeat(3000)),
        format!("{}pkill relay", "`".repeat(9999)),
        format!("{}pkill relay", "\"$(".repeat(2000)),
    ] {
        let report = judge(&command);
        assert!(report.contaminated, "{}…", &command[..40]);
    }
}

proptest! {
    #[test]
    fn wrapping_a_command_never_makes_it_milder(at in 0usize..1000, random in "[ -~]{0,40}", table in proptest::bool::ANY) {
        let mut pool: Vec<String> = rows().into_iter().map(|(command, _)| command).collect();
        pool.extend(lines(include_str!("../../../fixtures/guard/evasions.txt")));
        let command = if table { pool[at % pool.len()].clone() } else { random };
        // A text that begins with a dash is an option of whatever stands before it.
        prop_assume!(!command.trim_start().starts_with('-'));
        let plain = judge(&command).verdict;
        // Only a wrapping that leaves the command whole is the same command.
        let one_line = !command.contains(['\n', '#']) && !command.trim().is_empty();
        let quoted = command.replace('\'', "'\\''");
        let mut wrapped = vec![(format!("sh -c '{quoted}'"), plain)];
        if one_line && balanced(&command) {
            wrapped.push((format!("({command})"), plain));
            wrapped.push((format!("{command}; true"), plain));
            // Before a list, a prefix holds for its first command alone, and takes an assignment away.
            let at_least = plain.min(Verdict::Undetermined);
            // A prefix takes an assignment, or what changes the shell itself, away from it.
            let first = command.split_whitespace().next().unwrap_or("");
            let changes = [
                "declare", "set", "shopt", "alias", "exec", "read", "source", ".", "eval", "cd", "export", "enable",
                "hash", "mapfile", "readarray", "printf", "getopts", "unset", "local", "typeset",
            ];
            if !first.contains('=') && !changes.contains(&first) {
                wrapped.push((format!("sudo {command}"), at_least));
            }
            wrapped.push((format!("X=1 {command}"), at_least));
        }
        for (wrapped, at_least) in wrapped {
            // Of a random text, what the grammar takes alone it may not take wrapped; without a command's
            // name in it that is no verdict at all.
            if table || balanced(&wrapped) {
                let report = judge(&wrapped);
                prop_assert!(report.verdict >= at_least, "{wrapped:?}: {report:?}");
            }
        }
    }

    #[test]
    fn the_order_of_names_does_not_matter(command in "[a-z $|;&-]{0,40}") {
        let catalogue = catalogue();
        let one = Daemons::named(["a.py", "relay"], &catalogue);
        let two = Daemons::named(["relay", "a.py"], &catalogue);
        prop_assert_eq!(Guard::new(&catalogue, &one).judge(&command, &[]), Guard::new(&catalogue, &two).judge(&command, &[]));
    }
}

/// Whether a command parses alone.
fn balanced(command: &str) -> bool {
    crate::command::grammar::parse_tree(command).is_some_and(|tree| !tree.root_node().has_error())
}

/// The lines of a fixture that are no comment.
fn lines(text: &str) -> Vec<String> {
    text.lines().filter(|l| !l.is_empty() && !l.starts_with("# ")).map(|l| l.replace("\\n", "\n")).collect()
}

#[test]
fn what_a_developer_does_all_day_is_clean() {
    let lines = lines(include_str!("../../../fixtures/guard/everyday.txt"));
    assert!(lines.len() > 80);
    let wrong: Vec<String> = lines
        .iter()
        .map(|line| judge(line))
        .filter(|report| report.contaminated)
        .map(|report| format!("{:?}: {} ({:?})", report.command, report.reason, report.verdict))
        .collect();
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), lines.len(), wrong.join("\n"));
}

#[test]
fn no_way_around_is_clean() {
    let lines = lines(include_str!("../../../fixtures/guard/evasions.txt"));
    assert!(lines.len() > 120);
    let clean: Vec<&String> = lines.iter().filter(|line| !judge(line).contaminated).collect();
    assert!(clean.is_empty(), "{} of {}: {clean:#?}", clean.len(), lines.len());
}
