//! Public reports of daemons that restarted themselves or were killed: each input must be
//! flagged with its effect, or stay silent. The inputs are our own (`fixtures/incidents`).

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

mod tree;

use std::path::Path;

use restartlint::base::facts::ProblemKind;
use restartlint::data::commands::CommandCatalogue;
use restartlint::data::config::Config;
use restartlint::pass::guard::{Daemons, Guard, Verdict};
use restartlint::scan::{ScanRequest, Stdin, Watch, scan};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Incident {
    id: String,
    about: String,
    file: String,
    text: String,
    sites: Vec<String>,
    /// What `check` says of the file as a tree of its own.
    findings: Option<Vec<String>>,
    guard: Option<String>,
    unbounded: Option<usize>,
    #[serde(default)]
    fork_child: bool,
}

#[derive(Deserialize)]
struct Incidents {
    incident: Vec<Incident>,
}

fn incidents() -> Vec<Incident> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/incidents");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .iter()
        .flat_map(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            toml::from_str::<Incidents>(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display())).incident
        })
        .collect()
}

#[test]
fn every_incident_is_flagged_or_silent_as_it_should() {
    let incidents = incidents();
    for number in 1..=50 {
        let id = format!("I{number:02}");
        assert!(incidents.iter().any(|i| i.id == id), "{id} is missing");
    }
    let config = Config::default();
    for incident in &incidents {
        let request = ScanRequest {
            root: "/".into(),
            paths: Vec::new(),
            stdin: Some(Stdin { name: incident.file.clone(), bytes: incident.text.clone().into_bytes() }),
            config: &config,
            watch: Watch::default(),
            languages: None,
            jobs: Some(1),
            reach: false,
            cache: None,
            whole: false,
            progress: None,
        };
        let scan = scan(&request).unwrap();
        let mut sites = Vec::new();
        let mut unbounded = 0;
        for file in &scan.tree.files {
            unbounded += file.problems.iter().filter(|p| p.kind == ProblemKind::UnboundedRestart).count();
            for site in &file.sites {
                let line = scan.sources.place(&file.path, site.span).start.line;
                sites.push(format!("{line} {} {}", site.effect, site.primitive));
                assert_eq!(site.fork_child, incident.fork_child, "{}: {}", incident.id, incident.about);
            }
        }
        assert_eq!(sites, incident.sites, "{}: {}", incident.id, incident.about);
        if let Some(wanted) = incident.unbounded {
            assert_eq!(unbounded, wanted, "{}: {}", incident.id, incident.about);
        }
    }
}

#[test]
fn check_says_of_them_what_it_should() {
    for incident in incidents() {
        let Some(findings) = incident.findings else { continue };
        let example = tree::Example {
            files: [(incident.file.clone(), incident.text.clone())].into(),
            findings: Some(findings),
            ..tree::Example::default()
        };
        assert_eq!(tree::faults(&example), Vec::<String>::new(), "{}: {}", incident.id, incident.about);
    }
}

#[test]
fn the_guard_judges_the_commands_among_them() {
    let catalogue = CommandCatalogue::built_in();
    let daemons = Daemons::named(["relay", "mcp_server.py"], &catalogue);
    for incident in incidents() {
        let Some(wanted) = &incident.guard else { continue };
        let verdict = Guard::new(&catalogue, &daemons).judge(&incident.text, &[]).verdict;
        let wanted = match wanted.as_str() {
            "contaminating" => Verdict::Contaminating,
            "undetermined" => Verdict::Undetermined,
            _ => Verdict::Clean,
        };
        assert_eq!(verdict, wanted, "{}: {}", incident.id, incident.about);
    }
}
