//! Floor 3: a decided report as bytes, one file a format, one table. No format decides
//! anything: findings, counts and exit status are the same in each.

pub mod concise;
pub mod github;
pub mod gitlab;
pub mod json;
pub mod junit;
pub mod reach;
pub mod sarif;
pub mod sites;
pub mod text;

use crate::base::sources::Sources;
use crate::report::Report;

/// What a format may look at beside the report.
pub struct Look<'a> {
    /// Texts, for excerpts.
    pub sources: &'a Sources,
    /// Whether to colour.
    pub color: bool,
    /// Whether to add counts by rule.
    pub statistics: bool,
    /// Whether to close with the counts in a sentence, where the format is for people.
    pub verdict: bool,
}

/// An output format.
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// For whom it is.
    pub about: &'static str,
    /// The report as text.
    pub render: fn(&Report, &Look<'_>) -> String,
    /// Whether it closes with the counts in a sentence.
    pub has_verdict: bool,
}

/// Every output format of `check`.
pub const TABLE: &[Format] = &[
    Format { name: "text", about: "excerpts for people", render: text::render, has_verdict: true },
    Format { name: "concise", about: "a line a finding", render: concise::render, has_verdict: true },
    Format { name: "json", about: "one document", render: json::render, has_verdict: false },
    Format {
        name: "jsonl",
        about: "a JSON object a finding",
        render: json::render_lines,
        has_verdict: false,
    },
    Format {
        name: "sarif",
        about: "SARIF 2.1.0, for code scanning",
        render: sarif::render,
        has_verdict: false,
    },
    Format {
        name: "github",
        about: "annotations of GitHub workflows",
        render: github::render,
        has_verdict: false,
    },
    Format {
        name: "gitlab",
        about: "GitLab's code quality report",
        render: gitlab::render,
        has_verdict: false,
    },
    Format { name: "junit", about: "JUnit XML", render: junit::render, has_verdict: false },
];

/// The format of that name.
pub fn find(name: &str) -> Option<&'static Format> {
    TABLE.iter().find(|f| f.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::effect::Effect;
    use crate::base::facts::DaemonModule;
    use crate::base::finding::{ChainStep, Finding, Related, Severity};
    use crate::base::site::{Confidence, Via};
    use crate::base::source::Source;
    use crate::base::span::Span;
    use crate::report::decide::{Setting, decide};
    use crate::report::{Report, Summary};

    const SERVER: &str = "import ops\n\n\ndef serve():\n    ops.restart()\n";
    const OPS: &str = "import os\n\n\ndef restart():\n    os.execv(\"/opt/app\",\n             [\"app\"])\n";
    const INVENTORY: &str = "schema = 1\n\n[[path]]\nid = \"manual_kill\"\n";
    /// A name and a text that would steer a terminal, were they sent raw.
    const SLY: &str = "bad\u{1b}[31m,name:%.sh";
    const SLY_TEXT: &str = "echo '\u{1b}]0;title\u{7}\u{202e}'\npkill -f server.py\n";

    fn sources() -> Sources {
        let mut sources = Sources::default();
        for (name, text) in
            [("server.py", SERVER), ("lib/öps.py", OPS), ("restart-paths.toml", INVENTORY), (SLY, SLY_TEXT)]
        {
            sources.insert(name, Source::new(text));
        }
        sources
    }

    fn place(sources: &Sources, path: &str, needle: &str) -> crate::base::finding::Place {
        let text = &sources.get(path).unwrap().text;
        let start = text.find(needle).unwrap();
        sources.place(path, Span::new(start, start + needle.len()))
    }

    fn findings(sources: &Sources) -> Vec<Finding> {
        let base = Finding {
            code: "RL101",
            severity: Severity::Error,
            confidence: Confidence::Likely,
            message: "`os.execv` in `restart` replaces the daemon's process image".into(),
            place: place(sources, "lib/öps.py", "os.execv(\"/opt/app\",\n             [\"app\"])"),
            primitive: Some("os.execv".into()),
            effect: Some(Effect::Replace),
            via: Some(Via::Direct),
            symbol: Some("restart".into()),
            path_id: None,
            chain: vec![
                ChainStep { place: place(sources, "server.py", "ops.restart()"), symbol: "serve".into() },
                ChainStep { place: place(sources, "lib/öps.py", "os.execv"), symbol: "restart".into() },
            ],
            related: Vec::new(),
            help: "do not replace the process".into(),
        };
        let kill = Finding {
            code: "RL303",
            confidence: Confidence::Certain,
            message: "`pkill -f server.py` is forbidden by the path `manual_kill`".into(),
            place: place(sources, SLY, "pkill -f server.py"),
            primitive: Some("pkill".into()),
            effect: Some(Effect::Kill),
            via: Some(Via::Command),
            symbol: Some("<module>".into()),
            path_id: Some("manual_kill".into()),
            chain: Vec::new(),
            related: vec![Related {
                place: place(sources, "restart-paths.toml", "\"manual_kill\""),
                message: "forbidden here".into(),
            }],
            help: "ask the operator\nfor a window, 100% of the time".into(),
            ..base.clone()
        };
        let note = Finding {
            code: "RL309",
            severity: Severity::Note,
            message: "this restarts for ever".into(),
            place: crate::base::finding::Place { path: "gone.service".into(), ..kill.place.clone() },
            primitive: None,
            effect: None,
            via: None,
            symbol: None,
            path_id: None,
            related: Vec::new(),
            help: String::new(),
            ..kill.clone()
        };
        vec![base, kill, note]
    }

    fn report(sources: &Sources) -> Report {
        let setting = |name, default| Setting {
            name,
            default,
            level: Some(default),
            selected: true,
            fixed: false,
            reach: false,
        };
        let settings = [
            ("RL101", setting("daemon-self-replacement", Severity::Error)),
            ("RL303", setting("forbidden-path", Severity::Error)),
            ("RL309", setting("unbounded-restart-policy", Severity::Note)),
        ]
        .into();
        let decision = decide(findings(sources), &[], &settings, None, crate::report::sample::whole());
        Report {
            findings: decision.shown,
            daemons: vec![DaemonModule {
                path: "server.py".into(),
                file: Some(0),
                declared: true,
                reason: "declared".into(),
            }],
            summary: Summary {
                files_seen: 4,
                files_scanned: 3,
                sites: 2,
                files_with_sites: 2,
                baselined: 1,
                daemon_exceptions: 1,
                ..Summary::default()
            },
        }
        .counted()
    }

    fn rendered(name: &str, report: &Report, color: bool) -> String {
        let sources = sources();
        (find(name).unwrap().render)(
            report,
            &Look { sources: &sources, color, statistics: false, verdict: true },
        )
    }

    #[test]
    fn every_format_prints_the_same_sample() {
        let report = report(&sources());
        for format in TABLE {
            let mut text = rendered(format.name, &report, false);
            if format.name == "sarif" {
                // The rules' help is the documentation; the sample is about the results.
                let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
                let driver = &mut value["runs"][0]["tool"]["driver"];
                assert_eq!(driver["rules"].as_array().unwrap().len(), crate::data::checks::all().len());
                driver["rules"] = serde_json::json!([]);
                text = serde_json::to_string_pretty(&value).unwrap();
            }
            insta::assert_snapshot!(format.name, text);
        }
    }

    #[test]
    fn a_clean_report_in_every_format() {
        let report = Report::default();
        for format in TABLE.iter().filter(|f| f.name != "sarif") {
            insta::assert_snapshot!(format!("clean-{}", format.name), rendered(format.name, &report, false));
        }
    }

    #[test]
    fn nothing_that_steers_a_terminal_is_sent_raw() {
        let report = report(&sources());
        for format in TABLE {
            let text = rendered(format.name, &report, false);
            let raw = text.chars().find(|c| crate::base::terminal::steers(*c));
            assert_eq!(raw, None, "{}: {text}", format.name);
        }
        let colored = rendered("text", &report, true);
        assert!(colored.contains("\u{1b}[0m") && !colored.contains("\u{1b}]0;title"));
    }

    #[test]
    fn every_result_of_sarif_has_a_place_a_rule_and_a_fingerprint_without_lines() {
        let text = rendered("sarif", &report(&sources()), false);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let run = &value["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        for result in run["results"].as_array().unwrap() {
            let index = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(rules[index]["id"], result["ruleId"]);
            let place = &result["locations"][0]["physicalLocation"];
            let uri = place["artifactLocation"]["uri"].as_str().unwrap();
            assert!(!uri.starts_with('/') && uri.is_ascii() && !uri.contains([' ', ':', '\\']), "{uri}");
            assert!(place["region"]["startLine"].as_u64().unwrap() >= 1);
            assert_eq!(result["partialFingerprints"]["restartlint/v1"].as_str().unwrap().len(), 16);
        }
        for rule in rules {
            assert!(!rule["help"]["text"].as_str().unwrap().is_empty());
            assert!(rule["help"]["markdown"].as_str().unwrap().contains("## Instead"));
        }
        let steps = &run["results"].as_array().unwrap().iter().find(|r| r["ruleId"] == "RL101").unwrap()["codeFlows"]
            [0]["threadFlows"][0]["locations"];
        assert_eq!(steps.as_array().unwrap().len(), 2);
    }
}
