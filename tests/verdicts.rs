//! Verdicts on trees that are made by hand: what the rules say of a site depends on the
//! site, the inventory and the reach alone, whatever scanner found it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use restartlint::base::effect::Effect;
use restartlint::base::facts::{Chain, DaemonModule, FileFacts, Language, Step, Tree};
use restartlint::base::finding::Finding;
use restartlint::base::site::{Confidence, Site, Target, TargetKind};
use restartlint::base::source::Source;
use restartlint::base::sources::Sources;
use restartlint::base::span::Span;
use restartlint::check::{self, Ctx, Inputs, Presence};
use restartlint::data::config::Config;
use restartlint::data::inventory::{Inventory, read::read};

const DAEMON: &str = "d.py";
const PLAIN: &str = "a.py";

/// Site `n` stands on line `n + 1`.
fn site(n: usize, primitive: &str, effect: Effect) -> Site {
    let mut site = Site::new(Span::new(n * 10, n * 10 + 5), primitive, effect);
    site.symbol = "f".into();
    site.function = 1;
    site
}

fn findings(daemon: Vec<Site>, plain: Vec<Site>, inventory: Option<&Inventory>) -> Vec<Finding> {
    let text = "123456789\n".repeat(64);
    let mut sources = Sources::default();
    let mut tree = Tree { listed: vec![PLAIN.into(), DAEMON.into()], ..Tree::default() };
    for (path, sites) in [(PLAIN, plain), (DAEMON, daemon)] {
        sources.insert(path, Source::new(text.clone()));
        let mut facts = FileFacts::new(path, Language::Python);
        facts.sites = sites;
        tree.files.push(facts);
    }
    tree.daemons.push(DaemonModule {
        path: DAEMON.into(),
        file: Some(1),
        declared: true,
        reason: "declared".into(),
    });
    // Function 7 of the plain file is called by the daemon.
    let step = Step { file: 1, span: Span::new(0, 3), symbol: "g".into() };
    tree.reach.insert((0, 7), Chain { steps: vec![step], confidence: Confidence::Likely });
    if let Some(inventory) = inventory {
        sources.insert(inventory.file.clone(), Source::new(inventory.text.clone()));
    }
    let config = Config::default();
    let presence =
        Presence { existing: [PLAIN, DAEMON, "*.py"].map(str::to_owned).into(), ..Presence::default() };
    let ctx = Ctx::new(Inputs {
        tree: &tree,
        sources: &sources,
        config: &config,
        inventory,
        document: None,
        presence: &presence,
    });
    check::run(&ctx)
}

fn codes(found: &[Finding]) -> Vec<(&str, u32)> {
    let mut codes: Vec<(&str, u32)> = found.iter().map(|f| (f.code, f.place.start.line)).collect();
    codes.sort();
    codes
}

fn inventory(entries: &[(&str, &str, &str)]) -> Inventory {
    let mut text = String::from("schema = 1\n");
    for (id, classification, more) in entries {
        text += &format!(
            "[[path]]\nid = \"{id}\"\ntitle = \"t\"\nclassification = \"{classification}\"\nmechanism = \"m\"\n\
             guard = \"g\"\nreferences = [\"#1\"]\n{more}\n"
        );
    }
    read("restart-paths.toml", &text).expect("a well-formed inventory")
}

#[test]
fn each_effect_in_the_daemon_has_its_rule() {
    let sites = Effect::ALL.iter().enumerate().map(|(n, e)| site(n, "p", *e)).collect();
    let found = findings(sites, Vec::new(), None);
    assert_eq!(
        codes(&found),
        [
            ("RL101", 1),
            ("RL102", 2),
            ("RL103", 4),
            ("RL104", 5),
            ("RL105", 6),
            ("RL106", 7),
            ("RL107", 8),
            ("RL108", 3)
        ]
    );
}

#[test]
fn outside_every_effect_but_exit_is_unregistered() {
    let sites = Effect::ALL.iter().enumerate().map(|(n, e)| site(n, "p", *e)).collect();
    let found = findings(Vec::new(), sites, None);
    assert!(found.iter().all(|f| f.code == "RL301"));
    assert_eq!(codes(&found).iter().map(|c| c.1).collect::<Vec<_>>(), [1, 2, 4, 5, 6, 7, 8]);
}

#[test]
fn a_reached_function_has_the_daemon_rule_with_its_chain_and_the_least_confidence() {
    let mut reached = site(3, "os.execv", Effect::Replace);
    reached.function = 7;
    let found = findings(Vec::new(), vec![reached], None);
    assert_eq!(codes(&found), [("RL101", 4)]);
    assert_eq!(found[0].confidence, Confidence::Likely);
    let chain: Vec<(&str, u32)> =
        found[0].chain.iter().map(|s| (s.place.path.as_str(), s.place.start.line)).collect();
    assert_eq!(chain, [(DAEMON, 1), (PLAIN, 4)]);
}

#[test]
fn hand_overs_children_and_tests_are_quiet() {
    let quiet = |set: fn(&mut Site)| {
        let mut one = site(0, "os.execv", Effect::Replace);
        set(&mut one);
        findings(vec![one.clone()], vec![one], None)
    };
    assert_eq!(codes(&quiet(|s| s.launcher = true)), []);
    assert_eq!(codes(&quiet(|s| s.fork_child = true)), []);
    assert_eq!(codes(&quiet(|s| s.test_only = true)), []);
    // A child that kills is no child that ends itself.
    let mut kill = site(0, "os.kill", Effect::Kill);
    kill.fork_child = true;
    assert_eq!(codes(&findings(vec![kill], Vec::new(), None)), [("RL103", 1)]);
}

#[test]
fn exits_at_the_entry_point_and_for_a_gone_client_are_quiet() {
    let mut entry = site(0, "sys.exit", Effect::Exit);
    entry.entrypoint = true;
    let mut gone = site(1, "sys.exit", Effect::Exit);
    gone.client_gone = true;
    let other = site(2, "sys.exit", Effect::Exit);
    let found = findings(vec![entry.clone(), gone, other], Vec::new(), None);
    assert_eq!(codes(&found), [("RL108", 3)]);
    let never = inventory(&[("x", "forbidden", "locations = [\"d.py\"]\nprimitives = [\"sys.exit\"]")]);
    assert_eq!(codes(&findings(vec![entry], Vec::new(), Some(&never))), [("RL303", 1)]);
}

#[test]
fn the_daemon_rule_beats_forbidden_and_names_the_path() {
    let never = inventory(&[("never", "forbidden", "locations = [\"*.py\"]\nprimitives = [\"os.execv\"]")]);
    let one = site(0, "os.execv", Effect::Replace);
    let found = findings(vec![one.clone()], vec![one], Some(&never));
    assert_eq!(codes(&found), [("RL101", 1), ("RL303", 1)]);
    assert!(found.iter().all(|f| f.path_id.as_deref() == Some("never") && f.related.len() == 1));
}

#[test]
fn removed_beats_forbidden_beats_sanctioned() {
    let at = "locations = [\"a.py\"]\nprimitives = [\"os.execv\"]";
    let one = || vec![site(0, "os.execv", Effect::Replace)];
    let all = inventory(&[
        ("yes", "sanctioned_narrow_recovery", at),
        ("never", "forbidden", at),
        ("gone", "removed", at),
    ]);
    assert_eq!(codes(&findings(Vec::new(), one(), Some(&all))), [("RL201", 1)]);
    let two = inventory(&[("yes", "sanctioned_narrow_recovery", at), ("never", "forbidden", at)]);
    assert_eq!(codes(&findings(Vec::new(), one(), Some(&two))), [("RL303", 1)]);
}

#[test]
fn a_bare_command_is_forbidden_only_where_it_hits_a_daemon() {
    let never = inventory(&[("never", "forbidden", "locations = [\"host:shell\"]\ncommands = [\"pkill\"]")]);
    let kill = |n: usize, kind, target: &str| {
        let mut one = site(n, "pkill", Effect::Kill);
        one.command = vec!["pkill".into(), "-f".into(), target.into()];
        one.target = Some(Target { kind, text: target.into() });
        one
    };
    let sites = vec![
        kill(0, TargetKind::Pattern, "d.py"),
        kill(1, TargetKind::Pattern, "python3"),
        kill(2, TargetKind::Pattern, "webpack"),
        kill(3, TargetKind::Variable, "…"),
    ];
    let found = findings(Vec::new(), sites, Some(&never));
    assert_eq!(codes(&found), [("RL301", 3), ("RL301", 4), ("RL303", 1), ("RL303", 2)]);
}

#[test]
fn what_a_path_demands_must_hold() {
    let boot = inventory(&[(
        "boot",
        "sanctioned_narrow_recovery",
        "locations = [\"a.py\"]\nprimitives = [\"os.execv\"]\nguarded_by = [\"sys.executable\"]\nscope = \"import\"",
    )]);
    let with = |n: usize, guard: &str, before: bool| {
        let mut one = site(n, "os.execv", Effect::Replace);
        one.guards = vec![guard.into()];
        one.import_time = true;
        one.before_imports = before;
        one
    };
    let sites = vec![
        with(0, "sys.executable", true),
        with(1, "sys.executable.lower", true),
        with(2, "sys.executables", true),
        with(3, "sys.executable", false),
    ];
    let found = findings(Vec::new(), sites, Some(&boot));
    assert_eq!(codes(&found), [("RL304", 3), ("RL304", 4)]);
}

proptest! {
    /// One site, one finding: whatever the site is and whatever the inventory says.
    #[test]
    fn one_site_yields_at_most_one_finding(
        sites in proptest::collection::vec((0usize..8, any::<[bool; 6]>(), 0u32..9, 0usize..3), 1..20),
        paths in proptest::collection::vec((0usize..6, 0usize..4, 0usize..3, any::<bool>()), 0..5),
    ) {
        let names = ["os.execv", "os._exit", "sys.exit"];
        let made: Vec<Site> = sites.iter().enumerate().map(|(n, (effect, flags, function, name))| {
            let mut one = site(n, names[*name], Effect::ALL[*effect]);
            [one.launcher, one.fork_child, one.client_gone, one.entrypoint, one.import_time, one.before_imports] = *flags;
            one.function = *function;
            one
        }).collect();
        let classes = ["sanctioned_narrow_recovery", "guarded_fail_closed", "forbidden", "removed", "host_residual", "unclassified"];
        let ids: Vec<String> = (0..paths.len()).map(|n| format!("p{n}")).collect();
        let entries: Vec<(&str, &str, String)> = paths.iter().zip(&ids).map(|((class, place, name, flag), id)| {
            let more = if classes[*class] == "host_residual" {
                "locations = [\"host:x\"]\nresidual_host = true\n".to_owned()
            } else {
                let place = ["a.py", "*.py", "d.py::f", "d.py"][*place];
                let exception = if *flag { "daemon_exception = true\n" } else { "scope = \"import\"\n" };
                format!("locations = [\"{place}\"]\nprimitives = [\"{}\"]\n{exception}", names[*name])
            };
            (id.as_str(), classes[*class], more)
        }).collect();
        let entries: Vec<(&str, &str, &str)> = entries.iter().map(|(a, b, c)| (*a, *b, c.as_str())).collect();
        let inventory = inventory(&entries);
        let found = findings(made.clone(), made, Some(&inventory));
        let mut counts: BTreeMap<(String, u32), usize> = BTreeMap::new();
        for finding in found.iter().filter(|f| f.place.path.ends_with(".py")) {
            *counts.entry((finding.place.path.clone(), finding.place.start.line)).or_default() += 1;
        }
        prop_assert!(counts.values().all(|n| *n == 1), "{counts:?}");
    }

    /// Whatever stands in a user's file, reading it ends with a value or with faults that have a place.
    #[test]
    fn any_text_is_read_or_faulted(text in "(?s)(schema = 1\n)?(\\[\\[path\\]\\]\n)?([a-z_]{1,12} ?= ?(\"[^\"\n]{0,9}\"|\\[.{0,9}\\]|-?[0-9]{1,20}|true)\n){0,6}.{0,20}") {
        if let Err(faults) = read("restart-paths.toml", &text) {
            prop_assert!(faults.faults.iter().all(|f| f.span.start <= f.span.end && f.span.end <= text.len()));
            let shown = format!("{:?}", miette::Report::new(faults.report()));
            prop_assert!(!shown.is_empty());
        }
        let host = restartlint::data::config::Host::Own;
        if let Err(faults) = Config::read("restartlint.toml", &text, host) {
            let shown = format!("{:?}", miette::Report::new(faults.report()));
            prop_assert!(!shown.is_empty());
        }
    }
}
