//! The command line: statuses, streams, the environment, key files, the store.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use restartlint::edge::store::{OpenMode, Store};
use restartlint::pass::authority::{BREAK_GLASS_VARIABLE, MAINTENANCE_VARIABLE, OVERRIDE_VARIABLE};
use serde_json::{Value, json};

use super::cases::{BASE, filled_snapshot};

const NOW: &str = "2026-07-23T06:30:00Z";
const KEY: &str = "neither-printed-nor-told-0123456789";

/// A folder with an idle fleet, a request and a key in it.
pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        let base: Value = serde_json::from_str(BASE).unwrap();
        place.state(json!({"sessions": [{"session_id": "s-me", "role": "controller"}], "approvals": [{}]}));
        place.write("request.json", &base["request"].to_string());
        place.key("key", KEY, 0o600);
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn key(&self, name: &str, text: &str, mode: u32) {
        self.write(name, text);
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    pub fn state(&self, given: Value) {
        let base: Value = serde_json::from_str(BASE).unwrap();
        self.write("snapshot.json", &filled_snapshot(&base, &given).to_string());
    }

    /// Runs a command line in which `S`, `R`, `K` stand for the state, the request and the key.
    pub fn run(&self, line: &str) -> Answer {
        self.run_with(line, &[], None)
    }

    fn run_with(&self, line: &str, environment: &[(&str, &str)], stdin: Option<&str>) -> Answer {
        let line = line
            .replace(" S", " --snapshot snapshot.json")
            .replace(" R", " --request request.json")
            .replace(" K", " --drain-key key")
            .replace(" NOW", &format!(" --now {NOW}"))
            .replace(" JSON", " --format json");
        let mut command = Command::cargo_bin("restartlint").unwrap();
        command.current_dir(self.folder.path()).env_clear().args(line.split_whitespace());
        command.envs(environment.iter().copied());
        if let Some(stdin) = stdin {
            command.write_stdin(stdin);
        }
        let output = command.output().unwrap();
        let answer = Answer {
            status: output.status.code().expect("a status"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(!answer.out.contains(KEY) && !answer.err.contains(KEY), "{line} tells the key");
        assert!(
            answer.status == 0 || !answer.err.is_empty() || !answer.out.is_empty(),
            "{line} says nothing"
        );
        assert!(
            answer.status != 2 || (answer.out.is_empty() && !answer.err.is_empty()),
            "{line}: {answer:?}"
        );
        answer
    }

    fn issue(&self) -> Answer {
        let answer = self.run("drain issue S R K NOW");
        self.write("proof.json", &answer.out);
        answer
    }
}

#[derive(Debug)]
pub struct Answer {
    status: i32,
    pub out: String,
    err: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

#[test]
fn a_dry_run_reads_no_proof_and_no_key() {
    let place = Place::new();
    place.write("proof.json", "garbage");
    let answer = place.run("impact S R NOW JSON --drain-proof proof.json --drain-key nowhere");
    assert_eq!(answer.status, 0, "{answer:?}");
    let report = answer.json();
    assert_eq!((&report["dry_run"], &report["apply_gate"]), (&json!(true), &json!(null)));
    assert_eq!(report["evidence"], "recorded");
    assert_eq!(report["authority_source"], "caller_environment");
    assert!(answer.err.is_empty());
    assert_eq!(place.run("impact S R NOW JSON").out, answer.out, "the same input gives the same bytes");
}

#[test]
fn an_apply_needs_the_proof_of_the_present_state() {
    let place = Place::new();
    assert_eq!(place.issue().status, 0);
    let verified = place.run("drain verify --proof proof.json S R K NOW");
    assert_eq!((verified.status, &verified.json()["code"]), (0, &json!("ok")));
    let apply = "impact S R K NOW JSON --apply --drain-proof proof.json";
    let report = place.run(apply);
    assert_eq!(report.status, 0);
    assert_eq!(report.json()["apply_authorized"], true);
    assert_eq!(report.json()["apply_gate"]["replay_checked"], false);

    for (line, code) in [
        ("impact S R K NOW JSON --apply", "proof_missing"),
        ("impact S R K NOW JSON --apply --drain-proof gone.json", "proof_missing"),
        ("impact S R K NOW JSON --apply --drain-proof snapshot.json", "proof_malformed"),
        ("impact S R NOW JSON --apply --drain-proof proof.json", "key_unavailable"),
        ("impact S R NOW JSON --apply --drain-proof proof.json --drain-key gone", "key_unavailable"),
        ("impact S R K JSON --apply --drain-proof proof.json --now 2026-07-23T06:35:00Z", "proof_expired"),
    ] {
        let answer = place.run(line);
        let report = answer.json();
        assert_eq!((answer.status, &report["apply_gate"]["code"]), (1, &json!(code)), "{line}");
        assert_eq!((&report["allow_restart"], &report["incident"]["code"]), (&json!(true), &json!(code)));
        assert_eq!(report["incident"]["kind"], "apply_denied");
    }
}

#[test]
fn a_key_that_others_can_read_is_none() {
    let place = Place::new();
    place.issue();
    for (name, text, mode) in [("open", KEY, 0o644), ("group", KEY, 0o640), ("short", "0123456789", 0o600)] {
        place.key(name, text, mode);
        let issued = place.run(&format!("drain issue S R --drain-key {name} NOW"));
        assert_eq!(issued.status, 2, "{name}");
        assert!(issued.err.contains("key"), "{issued:?}");
        let verified = place.run(&format!("drain verify --proof proof.json S R --drain-key {name} NOW"));
        assert_eq!((verified.status, &verified.json()["code"]), (1, &json!("key_unavailable")), "{name}");
    }
    place.key("key", &format!("{KEY}\n"), 0o400);
    assert_eq!(
        place.run("drain verify --proof proof.json S R K NOW").status,
        0,
        "one newline is no part of it"
    );
}

#[test]
fn what_cannot_be_proved_is_refused() {
    let place = Place::new();
    for ttl in ["0", "-1", "901", "99999999999999999999", "x"] {
        assert_eq!(place.run(&format!("drain issue S R K NOW --ttl={ttl}")).status, 2, "{ttl}");
    }
    assert_eq!(place.run("drain issue S R K NOW --ttl 900").json()["expires_at"], "2026-07-23T06:45:00Z");
    assert_eq!(place.run("drain issue S R K NOW --issuer me").json()["issuer"], "me");
    for words in
        ["--class turbo_restart", "--class role_restart", "--class session_restart --target-role author"]
    {
        let line = format!("drain issue S {words} --session s-me --role controller K NOW");
        assert_eq!(place.run(&line).status, 2, "{words}");
    }
    place.state(json!({"sessions": [{"session_id": "s-me", "role": "controller"}], "leases": [{"session_id": "s-me"}]}));
    let unclean = place.issue();
    assert_eq!((unclean.status, &unclean.json()["clean"]), (1, &json!(false)));
    assert_eq!(unclean.json()["outstanding"], json!(["lease:l-1"]));
    assert!(unclean.err.contains("not drained"));
}

#[test]
fn two_proofs_of_one_state_differ_in_their_ids() {
    let place = Place::new();
    let (one, other) = (place.issue().json(), place.issue().json());
    assert_eq!(one["fingerprint"], other["fingerprint"]);
    assert_ne!(one["proof_id"], other["proof_id"]);
    assert_eq!(one["fingerprint"], place.run("impact S R NOW JSON").json()["fingerprint"]);
}

#[test]
fn authority_comes_from_the_environment_alone_and_is_not_told() {
    let place = Place::new();
    place.state(json!({"sessions": [{"session_id": "s-me", "role": "controller"}, {}], "approvals": [{}]}));
    let line = "impact S --class full_mcp_restart --session s-me --role controller --override NOW JSON";
    let run = |environment: &[(&str, &str)]| place.run_with(line, environment, None);
    assert_eq!(run(&[]).status, 1);
    for value in ["", " ", "0", "false", "False", "NO"] {
        assert_eq!(run(&[(OVERRIDE_VARIABLE, value)]).status, 1, "{value:?}");
    }
    for variable in [BREAK_GLASS_VARIABLE, MAINTENANCE_VARIABLE] {
        assert_eq!(run(&[(variable, "1")]).status, 1, "{variable}");
    }
    let secret = "granted-by-7f3a91";
    for format in ["json", "text", "html"] {
        let line = line.replace("JSON", &format!("--format {format}"));
        let answer = place.run_with(&line, &[(OVERRIDE_VARIABLE, secret)], None);
        assert_eq!(answer.status, 0, "{answer:?}");
        assert!(!answer.out.contains(secret) && !answer.err.contains(secret));
    }
}

#[test]
fn break_glass_passes_the_drain_gate_only() {
    let place = Place::new();
    let line =
        "impact S --class full_mcp_restart --session s-me --role controller --break-glass --apply NOW JSON";
    let granted = [(BREAK_GLASS_VARIABLE, "1")];
    let answer = place.run_with(line, &granted, None);
    assert_eq!((answer.status, &answer.json()["apply_gate"]["code"]), (0, &json!("break_glass")));
    assert_eq!(place.run(line).json()["apply_gate"]["code"], "proof_missing");
    let answer = place.run_with(&line.replace("controller", "author"), &granted, None);
    assert_eq!((answer.status, &answer.json()["restart_class_authorized"]), (1, &json!(false)));
    place.state(json!({"sessions": [{"session_id": "s-me", "role": "controller"}, {}], "approvals": [{}]}));
    assert_eq!(place.run_with(line, &granted, None).json()["reason_codes"], json!(["live_work"]));
}

#[test]
fn a_proof_serves_once_where_a_store_remembers() {
    let place = Place::new();
    place.issue();
    let apply = "impact S R K NOW JSON --apply --drain-proof proof.json --store store.db";
    let verify = "drain verify --proof proof.json S R K NOW --store store.db";
    assert_eq!(place.run(verify).status, 0, "before the first apply there is no store");
    assert!(!place.path("store.db").exists(), "a verification makes none");
    assert_eq!(place.run(apply).json()["apply_gate"]["replay_checked"], true);
    assert_eq!(place.run(verify).json()["code"], "proof_replayed");
    let pretty = serde_json::to_string_pretty(&place.json("proof.json")).unwrap();
    place.write("proof.json", &pretty);
    for _ in 0..2 {
        let again = place.run(apply);
        assert_eq!((again.status, &again.json()["apply_gate"]["code"]), (1, &json!("proof_replayed")));
    }
    place.issue();
    assert_eq!(place.run(apply).status, 0, "a fresh proof is no replay");
    // A denied apply uses nothing up.
    place.issue();
    place.state(json!({"sessions": [{"session_id": "s-me", "role": "controller"}], "approvals": []}));
    assert_eq!(place.run(apply).json()["apply_gate"]["code"], "ok");
    assert_eq!(place.run(verify).status, 0);

    let store = Store::open(&place.path("store.db"), OpenMode::Existing).unwrap();
    let incidents = store.incidents().unwrap();
    let codes: Vec<&str> = incidents.iter().map(|incident| incident.code.as_str()).collect();
    assert_eq!(codes.len(), 2, "the same denial is kept once: {codes:?}");
    assert!(codes.contains(&"proof_replayed") && codes.contains(&"approval_missing"));
    assert!(incidents.iter().all(|i| i.requester.as_deref().is_some_and(|r| r.contains("s-me"))));
}

impl Place {
    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.path(name)).unwrap()).unwrap()
    }
}

fn seed(path: &Path, statements: &[String]) {
    drop(Store::open(path, OpenMode::Create).unwrap());
    let connection = rusqlite::Connection::open(path).unwrap();
    for statement in statements {
        connection.execute(statement, []).unwrap_or_else(|error| panic!("{error}: {statement}"));
    }
}

#[test]
fn a_store_alone_is_observed() {
    let place = Place::new();
    let now = jiff::Timestamp::now();
    let later = now + jiff::SignedDuration::from_mins(20);
    let session = |id: &str, role: &str, pid: u32| {
        format!(
            "INSERT INTO sessions (session_id, role, profile, connector, pid, status, last_heartbeat_at) \
             VALUES ('{id}', '{role}', 'p', 'forge', {pid}, 'active', '{now}')"
        )
    };
    let lease = format!(
        "INSERT INTO leases (lease_id, session_id, work, phase, status, worktree, expires_at) VALUES \
         ('l-1', 's-a', '{{\"kind\":\"pr\",\"number\":818}}', 'pushing', 'active', NULL, '{later}')"
    );
    let own = std::process::id();
    seed(
        &place.path("store.db"),
        &[session("s-me", "controller", own), session("s-a", "author", own), lease],
    );
    let words = "--class config_reload --session s-me --role controller";
    let answer = place.run(&format!("impact --store store.db {words} JSON"));
    let report = answer.json();
    assert_eq!((answer.status, &report["evidence"]), (1, &json!("observed")));
    assert_eq!(report["inventory_errors"], json!([]));
    assert_eq!(report["reason_codes"], json!(["live_work"]));
    assert_eq!(report["critical_sections"], json!(["l-1"]));
    assert_eq!(report["work"], json!([{"kind": "pr", "number": 818}]));
    assert_eq!(
        place.run(&format!("impact --store store.db {words} NOW JSON")).status,
        2,
        "--now is for records"
    );
    assert_eq!(place.run(&format!("impact --store gone.db {words} JSON")).status, 2);
    assert!(!place.path("gone.db").exists());

    // A store that the project names is the one that is observed, where no snapshot is named.
    place.write("restartlint.toml", "store = \"store.db\"\n");
    assert_eq!(place.run(&format!("impact {words} JSON")).json()["evidence"], "observed");
    assert_eq!(place.run(&format!("impact S {words} NOW JSON")).json()["evidence"], "recorded");
}

#[test]
fn the_window_is_configured_by_the_project() {
    let place = Place::new();
    let silent = json!({"sessions": [{"session_id": "s-me", "role": "controller"},
        {"last_heartbeat_at": "2026-07-23T06:00:00Z"}], "approvals": [{}]});
    place.state(silent);
    assert_eq!(place.run("impact S R NOW JSON").status, 0);
    place.write("restartlint.toml", "[coordinator]\nheartbeat-window-minutes = 30\n");
    assert_eq!(place.run("impact S R NOW JSON").json()["reason_codes"], json!(["live_work"]));
    place.write("restartlint.toml", "[coordinator]\nheartbeat-window-minutes = 1\n");
    assert_eq!(place.run("impact S R NOW JSON").status, 2);
}

#[test]
fn what_cannot_be_read_is_status_two_with_its_place() {
    let place = Place::new();
    place.write("bad.json", "{\"schema\":1,\n \"sessions\":[{\"session_id\":\"a\",\"pid\":\"x\"}]}");
    place.write("latin.json", "");
    std::fs::write(place.path("latin.json"), b"{\"schema\":\xff}").unwrap();
    for (line, said) in [
        ("impact --snapshot bad.json R NOW JSON", "bad.json:2:"),
        ("impact --snapshot gone.json R NOW JSON", "gone.json"),
        ("impact --snapshot latin.json R NOW JSON", "UTF-8"),
        ("impact S --request bad.json NOW JSON", "unknown field"),
        ("impact R NOW JSON", "--snapshot"),
        ("impact R JSON", "--store"),
        ("impact S NOW JSON", "--class"),
        ("impact S --class x --role y NOW JSON", "--session"),
        ("impact S R --class x NOW JSON", "--class"),
        ("impact S R JSON --now yesterday", "yesterday"),
        ("impact S R NOW --format xml", "xml"),
        ("impact --snapshot - --request - NOW JSON", "standard input"),
        ("impact S R NOW JSON --store snapshot.json", "snapshot.json"),
        ("lease active --comments gone.json --pr 1", "gone.json"),
        ("lease active --comments snapshot.json --pr 1", "snapshot.json"),
        ("lease active --comments request.json --pr x", "x"),
        ("lease assess --comments - --pr 1 --mutation close --reviewed-head a --live-head a", "close"),
    ] {
        let answer = place.run_with(line, &[], Some("[]"));
        assert_eq!(answer.status, 2, "{line}: {answer:?}");
        assert!(answer.err.contains(said), "{line}: {}", answer.err);
    }
    let piped = std::fs::read_to_string(place.path("snapshot.json")).unwrap();
    assert_eq!(place.run_with("impact --snapshot - R NOW JSON", &[], Some(&piped)).status, 0);
}

#[test]
fn a_reader_that_has_gone_away_turns_no_denial_into_success() {
    let place = Place::new();
    place.state(json!({"sessions": [{}], "leases": [{}]}));
    place.issue();
    for line in [
        "impact --snapshot snapshot.json --request request.json --now 2026-07-23T06:30:00Z",
        "drain issue --snapshot snapshot.json --request request.json --now 2026-07-23T06:30:00Z --drain-key key",
        "drain verify --snapshot snapshot.json --request request.json --proof proof.json --drain-key key",
    ] {
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("restartlint"))
            .args(line.split(' '))
            .current_dir(place.folder.path())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(1), "{line}");
    }
}

#[test]
fn leases_are_read_from_comments() {
    let place = Place::new();
    let body = "<!-- mcp-conflict-fix-lease:v1 -->\npr: #818\nprofile: demo\nhead_before: a\nphase: claimed\n\
                expires_at: 2026-07-23T07:00:00Z";
    let comments =
        json!([{"body": body}, {"body": "<!-- mcp-conflict-fix-lease:v1 -->\nphase: \u{1b}[31mdone"}]);
    place.write("comments.json", &comments.to_string());
    let answer = place.run("lease active --comments comments.json --pr 818 NOW JSON");
    assert_eq!((answer.status, &answer.json()["lease"]["profile"]), (0, &json!("demo")));
    assert_eq!(answer.json()["malformed"][0]["index"], 1);
    let none = place.run("lease active --comments comments.json --pr 818 --kind reviewer NOW JSON");
    assert_eq!(none.json(), json!({"lease": null, "malformed": []}));
    let text = place.run("lease active --comments comments.json --pr 818 NOW");
    assert!(text.out.contains("held by demo") && !text.out.contains('\u{1b}'), "{text:?}");

    let head = "89abcdef0123456789abcdef0123456789abcdef";
    let assess = |pr: u32, mutation: &str, live: &str| {
        place.run(&format!(
            "lease assess --comments comments.json --pr {pr} --mutation {mutation} --reviewed-head {head} --live-head {live} NOW JSON"
        ))
    };
    let blocked = assess(818, "request_changes", head);
    assert_eq!((blocked.status, &blocked.json()["reason_codes"]), (1, &json!(["conflict_fix_active"])));
    assert_eq!(assess(819, "merge", head).status, 0);
    assert_eq!(assess(819, "approve", "89abcdef").json()["reason_codes"], json!(["stale_head"]));
}

#[test]
fn a_name_from_the_snapshot_steers_nothing() {
    let place = Place::new();
    let evil = "</td><script>alert(1)</script>\u{1b}[2J\"'&";
    place.state(json!({
        "sessions": [{"session_id": "s-me", "role": "controller"}, {"session_id": evil, "role": evil}],
        "leases": [{"lease_id": evil, "session_id": evil, "work": {"kind": evil, "number": 1}}],
        "terminal_lock": {"lock_id": evil, "holder_session_id": evil},
        "prior_recovery": [{"kind": evil, "at": NOW, "outcome": evil}],
        "listing_errors": [evil],
    }));
    let words = ["--class", evil, "--session", evil, "--role", evil, "--target-role", evil];
    for format in ["html", "text"] {
        let mut command = Command::cargo_bin("restartlint").unwrap();
        command.current_dir(place.folder.path()).env_clear();
        command.args(["impact", "--snapshot", "snapshot.json", "--now", NOW, "--format", format]).args(words);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let page = String::from_utf8(output.stdout).unwrap();
        assert!(!page.contains('\u{1b}'), "{format}");
        if format == "html" {
            assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));
            assert!(
                !page.contains("src=")
                    && !page.contains("href=")
                    && !page.contains("http:")
                    && !page.contains("https:"),
                "it needs nothing else"
            );
            for (open, close) in [
                ("<table>", "</table>"),
                ("<tr", "</tr>"),
                ("<td>", "</td>"),
                ("<dl>", "</dl>"),
                ("<ul", "</ul>"),
            ] {
                assert_eq!(page.matches(open).count(), page.matches(close).count(), "{open}");
            }
        }
    }
}

#[test]
fn the_page_shows_what_an_operator_looks_for() {
    let place = Place::new();
    place.state(json!({"sessions": [{"session_id": "s-me", "role": "controller"}, {}], "leases": [{"phase": "pushing"}],
        "approvals": [{}]}));
    place.issue();
    let line = "impact S R K NOW --format html --apply --drain-proof proof.json";
    let page = place.run(line).out;
    for shown in [
        "DENIED: full_mcp_restart",
        "<b>unsafe</b>",
        "<b>medium</b>",
        "s-a",
        "pr #818",
        "live_work",
        "proof_unclean",
        "Next:",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    let text = place.run(&line.replace("html", "text")).out;
    for shown in
        ["DENIED: full_mcp_restart (apply)", "verdict       unsafe", "writing now", "proof_unclean", "next  "]
    {
        assert!(text.contains(shown), "{shown}\n{text}");
    }
}

#[test]
fn a_mistyped_class_or_role_is_denied_and_the_known_name_is_told() {
    let place = Place::new();
    let line = "impact --snapshot snapshot.json NOW --session s-me --class confg_reload --role controler";
    let answer = place.run(line);
    assert_eq!(answer.status, 1, "{answer:?}");
    assert!(
        answer.err.contains("no restart class is called `confg_reload`; did you mean `config_reload`?"),
        "{answer:?}"
    );
    assert!(answer.err.contains("no role is called `controler`; did you mean `controller`?"), "{answer:?}");
}
