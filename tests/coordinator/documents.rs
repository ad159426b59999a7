//! The documents that say what the coordinator does, held against the code: the page
//! of the classes, the sample report, and the operators' page.
//!
//! The tables of `docs/operators.md` are generated between markers. Its prose may name only
//! fields, codes, classes and options that exist, and no number at all.

use std::collections::BTreeSet;
use std::fmt::Write;

use clap::CommandFactory;
use restartlint::data::coordinator::{HEARTBEAT_WINDOW_MINUTES, MOST_WINDOW_MINUTES};
use restartlint::face::cli::Cli;
use restartlint::pass::authority::{
    Authority, BREAK_GLASS_VARIABLE, MAINTENANCE_VARIABLE, OVERRIDE_VARIABLE,
};
use restartlint::pass::classes::{ApprovalLevel, RestartClass, Role, ScopeKind, TargetKind, builtin};
use restartlint::pass::drain::key::LEAST_KEY_BYTES;
use restartlint::pass::drain::proof::{DEFAULT_LIFETIME_S, MAX_LIFETIME_S};
use restartlint::pass::drain::{GateCode, Proof, Verification};
use restartlint::pass::impact::completeness::{SKEW_S, SNAPSHOT_AGE_S};
use restartlint::pass::impact::liveness::{ENDED_STATUSES, MUTATING_PHASES};
use restartlint::pass::impact::reason::ReasonCode;
use restartlint::pass::impact::report::{AUDIT_FIELDS, Audit, BlastRadius, Evidence, Freshness, Verdict};
use restartlint::pass::impact::{Application, Question, Report, Request, Settings, Snapshot, evaluate};
use restartlint::pass::lease::active::TERMINAL_PHASES;
use restartlint::pass::lease::{ActiveLease, Assessment, LeaseKind, LeaseReason, Mutation};
use serde_json::Value;

use super::generated::hold;

const PAGE: &str = "docs/operators.md";

/// What is taken: the members that must be there, and no others.
fn taken<T: schemars::JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

/// What is given: every member is always there.
fn given<T: schemars::JsonSchema>() -> Value {
    schemars::generate::SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("snapshot", taken::<Snapshot>()),
        ("restart-request", taken::<Request>()),
        ("impact-report", given::<Report>()),
        ("drain-proof", taken::<Proof>()),
        ("drain-verification", given::<Verification>()),
        ("lease-active", given::<ActiveLease>()),
        ("lease-assessment", given::<Assessment>()),
    ]
}

#[test]
fn the_audit_record_has_the_members_that_the_classes_may_name() {
    let schema = given::<Audit>();
    let members: BTreeSet<&str> =
        schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, AUDIT_FIELDS.into_iter().collect());
}

#[test]
fn the_sample_report_is_what_the_sample_state_gives() {
    let snapshot = Snapshot::from_json(include_str!("../../docs/samples/snapshot.json")).unwrap();
    let request = Request::from_json(include_str!("../../docs/samples/request.json")).unwrap();
    let question = Question {
        snapshot: &snapshot,
        evidence: Evidence::Recorded,
        request: &request,
        authority: Authority::default(),
        now: "2026-07-23T06:30:00Z".parse().unwrap(),
        settings: Settings::default(),
    };
    let report = evaluate(question, Application::DryRun);
    hold("docs/samples/restart-dry-run.json", &(serde_json::to_string_pretty(&report).unwrap() + "\n"));
}

fn role_list<'a>(roles: impl IntoIterator<Item = &'a Role>) -> String {
    roles.into_iter().map(|role| role.name()).collect::<Vec<_>>().join(", ")
}

fn target_name(class: &RestartClass) -> &'static str {
    match class.target {
        TargetKind::None => "—",
        TargetKind::Session => "`target_session_id`",
        TargetKind::Role => "`target_role`",
        TargetKind::Connector => "`target_connector`",
    }
}

fn scope_name(class: &RestartClass) -> &'static str {
    match class.scope {
        ScopeKind::Requester => "the requester's session",
        ScopeKind::Session => "the target session",
        ScopeKind::Role => "the role's sessions",
        ScopeKind::Connector => "the connector's sessions",
        ScopeKind::All => "all sessions",
    }
}

fn approval_name(class: &RestartClass) -> String {
    match class.approval_for_itself {
        None => class.approval.name().to_owned(),
        Some(itself) => format!("{} for the own session, else {}", itself.name(), class.approval.name()),
    }
}

#[test]
fn the_page_of_the_classes_is_that_of_the_data() {
    let mut page = "# Restart classes\n\nGenerated from `rules/restart-classes.toml` by `tests/coordinator/documents.rs`; do not edit.\n\
        The classes stand from the least privilege to the most: ask for the first that helps.\n"
        .to_owned();
    for class in builtin().iter() {
        let others = if class.others.is_empty() {
            String::new()
        } else {
            format!("; for another's session: {}", role_list(&class.others))
        };
        let _ = write!(
            page,
            "\n## {}\n\n{}\n\n| | |\n|---|---|\n| permission | `{}` |\n| who may ask | {}{others} |\n| target | {} |\n\
             | approval | {} |\n| counted | {}{} |\n| a process ends | {} |\n| blast radius to expect | {} |\n\
             | to be drained | {} |\n| recovery | {} |\n| audit fields | {} |\n",
            class.name,
            class.summary,
            class.permission,
            role_list(&class.roles),
            target_name(class),
            approval_name(class),
            scope_name(class),
            if class.one_at_a_time { ", one at a time" } else { "" },
            if class.ends_process { "yes" } else { "no" },
            class.expected_blast_radius.name(),
            class.drain_scope,
            class.recovery,
            class.audit_fields.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", "),
        );
    }
    hold("docs/restart-classes.md", &page);
}

/// Every member of a schema as `path`, with its description, in the order of its names.
fn members(schema: &Value) -> Vec<(String, String)> {
    fn walk(root: &Value, at: &Value, path: &str, out: &mut Vec<(String, String)>) {
        let Some(properties) = at["properties"].as_object() else { return };
        for (name, member) in properties {
            let described = member["description"].as_str().unwrap_or_default().replace('\n', " ");
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            out.push((path.clone(), described));
            let (inner, listed) = match member["items"].is_object() {
                true => (&member["items"], "[]"),
                false => (member, ""),
            };
            if let Some(target) = referred(root, inner) {
                walk(root, target, &format!("{path}{listed}"), out);
            }
        }
    }
    let mut out = Vec::new();
    walk(schema, schema, "", &mut out);
    out
}

/// What a member refers to, through `$ref` or one that may be null.
fn referred<'a>(root: &'a Value, member: &'a Value) -> Option<&'a Value> {
    let choices = member["anyOf"].as_array().into_iter().flatten();
    let reference = member["$ref"].as_str().or_else(|| choices.filter_map(|c| c["$ref"].as_str()).next())?;
    Some(&root["$defs"][reference.rsplit('/').next()?])
}

fn member_table(schema: &Value) -> String {
    let mut table = "| member | what it says |\n|---|---|\n".to_owned();
    for (path, described) in members(schema) {
        assert!(!described.is_empty(), "{path} is not described");
        let _ = writeln!(table, "| `{path}` | {described} |");
    }
    table
}

fn option_table(path: &[&str]) -> String {
    let mut root = Cli::command();
    root.build();
    let command = path.iter().fold(&root, |command, name| command.find_subcommand(name).unwrap());
    let mut table = "| option | default | what it does |\n|---|---|---|\n".to_owned();
    for arg in command.get_arguments() {
        let (Some(long), false) = (arg.get_long(), arg.is_global_set() || arg.get_id() == "help") else {
            continue;
        };
        let value = arg.get_value_names().filter(|_| arg.get_action().takes_values());
        let value = value.and_then(|names| names.first()).map(|name| format!(" {name}")).unwrap_or_default();
        let defaults: Vec<_> = arg.get_default_values().iter().map(|v| v.to_string_lossy()).collect();
        let default = match (defaults.is_empty(), arg.get_action().takes_values()) {
            (false, true) => format!("`{}`", defaults.join(",")),
            _ => "—".to_owned(),
        };
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(table, "| `--{long}{}` | {default} | {help} |", value.replace('|', "\\|"));
    }
    table
}

fn code_table(rows: impl IntoIterator<Item = (String, String, String)>) -> String {
    let mut table = "| code | what it means | next step |\n|---|---|---|\n".to_owned();
    for (code, meaning, next) in rows {
        let _ = writeln!(table, "| `{code}` | {meaning} | {next} |");
    }
    table
}

fn defaults() -> String {
    let rows = [
        ("a session is live after its last heartbeat for", format!("{HEARTBEAT_WINDOW_MINUTES} minutes")),
        ("that window can be widened up to", format!("{MOST_WINDOW_MINUTES} minutes")),
        ("a snapshot is too old after", format!("{} minutes", SNAPSHOT_AGE_S / 60)),
        ("a clock may run ahead by", format!("{SKEW_S} seconds")),
        ("a proof holds for", format!("{DEFAULT_LIFETIME_S} seconds")),
        ("a proof holds at most for", format!("{MAX_LIFETIME_S} seconds")),
        ("a key has at least", format!("{LEAST_KEY_BYTES} bytes")),
        ("a session has ended with the status", ENDED_STATUSES.map(|s| format!("`{s}`")).join(", ")),
        ("a lease writes in the phases", MUTATING_PHASES.map(|p| format!("`{p}`")).join(", ")),
        ("a marker ends a claim with the phase", TERMINAL_PHASES.map(|p| format!("`{p}`")).join(", ")),
    ];
    let mut table = "| what | value |\n|---|---|\n".to_owned();
    for (what, value) in rows {
        let _ = writeln!(table, "| {what} | {value} |");
    }
    table
}

fn authorities() -> String {
    let rows = [
        (OVERRIDE_VARIABLE, "an override of live work, and the approval of an operator's own request"),
        (BREAK_GLASS_VARIABLE, "passing the drain gate without a proof"),
        (MAINTENANCE_VARIABLE, "clearing a contamination marker"),
    ];
    let mut table = "| variable | grants |\n|---|---|\n".to_owned();
    for (variable, grants) in rows {
        let _ = writeln!(table, "| `{variable}` | {grants} |");
    }
    table
}

fn classes() -> String {
    let mut table =
        "| class | target | who may ask | approval | counted |\n|---|---|---|---|---|\n".to_owned();
    for class in builtin().iter() {
        let _ = writeln!(
            table,
            "| `{}` | {} | {} | {} | {} |",
            class.name,
            target_name(class),
            role_list(&class.roles),
            approval_name(class),
            scope_name(class)
        );
    }
    table
}

/// The parts of the page that the code writes.
fn parts() -> Vec<(&'static str, String)> {
    let of = |name: &str| {
        let schemas = schemas();
        member_table(&schemas.iter().find(|(n, _)| *n == name).unwrap().1)
    };
    let gate = GateCode::ALL.map(|c| (c.name().into(), c.meaning().into(), c.next_step().into()));
    let reasons = ReasonCode::ALL.map(|c| (c.name().into(), c.meaning().into(), c.next_step().into()));
    vec![
        ("classes", classes()),
        ("authorities", authorities()),
        ("defaults", defaults()),
        ("reasons", code_table(reasons)),
        ("gate", code_table(gate)),
        ("snapshot", of("snapshot")),
        ("request", of("restart-request")),
        ("report", of("impact-report")),
        ("proof", of("drain-proof")),
        ("verification", of("drain-verification")),
        ("lease", of("lease-active")),
        ("assessment", of("lease-assessment")),
        ("impact options", option_table(&["impact"])),
        ("drain issue options", option_table(&["drain", "issue"])),
        ("drain verify options", option_table(&["drain", "verify"])),
        ("lease active options", option_table(&["lease", "active"])),
        ("lease assess options", option_table(&["lease", "assess"])),
    ]
}

/// The page with each part put between its markers.
fn filled(page: &str) -> String {
    parts().into_iter().fold(page.to_owned(), |page, (name, text)| {
        let (open, close) = (format!("<!-- {name}: generated -->\n"), format!("<!-- end of {name} -->"));
        let start = page.find(&open).unwrap_or_else(|| panic!("{PAGE} lacks the part {name}")) + open.len();
        let end = start + page[start..].find(&close).unwrap_or_else(|| panic!("{name} has no end"));
        format!("{}{text}{}", &page[..start], &page[end..])
    })
}

fn page() -> String {
    std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE)).unwrap()
}

#[test]
fn the_tables_of_the_operators_page_are_those_of_the_code() {
    hold(PAGE, &filled(&page()));
}

/// What stands outside the generated parts.
fn prose(page: &str) -> String {
    let mut text = page.to_owned();
    for (name, _) in parts() {
        let (open, close) = (format!("<!-- {name}: generated -->"), format!("<!-- end of {name} -->"));
        let (start, end) = (text.find(&open).unwrap(), text.find(&close).unwrap());
        text.replace_range(start..end + close.len(), "");
    }
    text
}

/// Everything that the prose may put in code style.
fn vocabulary() -> BTreeSet<String> {
    let mut words: BTreeSet<String> = BTreeSet::new();
    for (_, schema) in schemas() {
        for (path, _) in members(&schema) {
            words.extend(path.split(['.', '[']).map(|part| part.trim_end_matches(']').to_owned()));
            words.insert(path);
        }
    }
    words.extend(ReasonCode::ALL.map(|c| c.name().to_owned()));
    words.extend(GateCode::ALL.map(|c| c.name().to_owned()));
    words.extend(LeaseReason::ALL.map(|c| c.name().to_owned()));
    words.extend(Mutation::ALL.map(|m| m.name().to_owned()));
    words.extend(LeaseKind::ALL.map(|k| k.marker().to_owned()));
    words.extend(Role::ALL.map(|r| r.name().to_owned()));
    words.extend(
        [ApprovalLevel::None, ApprovalLevel::Controller, ApprovalLevel::Operator]
            .map(|a| a.name().to_owned()),
    );
    words.extend([Verdict::Safe, Verdict::Unsafe, Verdict::Override].map(|v| v.name().to_owned()));
    words.extend(
        [BlastRadius::None, BlastRadius::Low, BlastRadius::Medium, BlastRadius::High]
            .map(|b| b.name().to_owned()),
    );
    let freshness = [
        Freshness::Active,
        Freshness::Expired,
        Freshness::Released,
        Freshness::DeadProcess,
        Freshness::Unknown,
    ];
    words.extend(freshness.map(|f| f.name().to_owned()));
    words.extend(["recorded", "observed"].map(str::to_owned));
    words.extend(["server_environment", "caller_environment"].map(str::to_owned));
    words.extend(builtin().iter().map(|class| class.name.clone()));
    words.extend([OVERRIDE_VARIABLE, BREAK_GLASS_VARIABLE, MAINTENANCE_VARIABLE].map(str::to_owned));
    words.extend(
        ["heartbeat-window-minutes", "[coordinator]", "store", "restartlint.toml"].map(str::to_owned),
    );
    for (path, names) in [
        ("impact", &["impact"][..]),
        ("drain issue", &["drain", "issue"]),
        ("drain verify", &["drain", "verify"]),
        ("lease active", &["lease", "active"]),
        ("lease assess", &["lease", "assess"]),
    ] {
        words.insert(path.to_owned());
        let command = Cli::command();
        let command = names.iter().fold(&command, |c, name| c.find_subcommand(name).unwrap());
        words
            .extend(command.get_arguments().filter_map(|arg| arg.get_long()).map(|long| format!("--{long}")));
    }
    words
}

#[test]
fn the_prose_names_only_what_there_is_and_no_number() {
    let page = prose(&page());
    let known = vocabulary();
    let mut fenced = false;
    for line in page.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        for (at, part) in line.split('`').enumerate() {
            if at % 2 == 1 {
                assert!(known.contains(part), "{PAGE} names `{part}`, which does not exist: {line}");
            } else {
                let plain = part.replace("](", "").replace("schemas/", "");
                assert!(
                    !plain.contains(|c: char| c.is_ascii_digit()),
                    "{PAGE} states a number in prose: {line}"
                );
            }
        }
    }
}

#[test]
fn every_command_of_the_page_is_one() {
    let page = page();
    let commands: Vec<&str> = page.lines().filter(|line| line.starts_with("restartlint ")).collect();
    assert!(commands.len() > 4, "the page lost its examples");
    for line in commands {
        let words = line.split_whitespace().take_while(|word| *word != ">" && *word != "|");
        if let Err(error) = Cli::command().try_get_matches_from(words) {
            panic!("{line}\n{error}");
        }
    }
}
