//! The decision: which proposed findings are shown, which are hidden and why. Made once;
//! every format prints the same.

use std::collections::{BTreeMap, BTreeSet};

use super::annotations::{Annotation, Asks};
use super::baseline::{Baseline, Entry};
use super::fingerprint::fingerprints;
use super::summary::ReportedFinding;
use crate::base::finding::{Finding, Severity};
use crate::base::site::Confidence;

/// How one rule is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The rule's name.
    pub name: &'static str,
    /// Its severity by default.
    pub default: Severity,
    /// Its severity as configured; `None` is off.
    pub level: Option<Severity>,
    /// Whether the command line asks for it.
    pub selected: bool,
    /// Cannot be silenced by an annotation.
    pub fixed: bool,
    /// Speaks of the daemon's reach, which only a run over the whole project knows.
    pub reach: bool,
}

/// The settings of all rules by code.
pub type Settings = BTreeMap<&'static str, Setting>;

/// The decision.
#[derive(Debug, Clone, Default)]
pub struct Decision {
    /// What is shown, by path, place, code.
    pub shown: Vec<ReportedFinding>,
    /// How many findings the baseline hides.
    pub baselined: usize,
    /// How many findings an annotation silences.
    pub silenced: usize,
    /// Entries of the baseline that nothing matches any more.
    pub stale: Vec<Entry>,
}

/// What this run could have met.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The whole project was looked at, so that the daemon's reach is known.
    pub whole: bool,
    /// Whether the run could have met an entry of the baseline; one that it could not is not stale.
    pub entry: &'a dyn Fn(&Entry) -> bool,
    /// The code under which an `ignore` that silences nothing is reported.
    pub unused: &'static str,
}

/// Decides.
pub fn decide(
    proposed: Vec<Finding>,
    annotations: &[Annotation],
    settings: &Settings,
    baseline: Option<&Baseline>,
    scope: Scope<'_>,
) -> Decision {
    let mut findings = proposed;
    sort(&mut findings);
    let (silenced, mut more) = apply_ignores(&findings, annotations, settings, scope);
    let mut keep: Vec<bool> = (0..findings.len()).map(|at| !silenced.contains(&at)).collect();
    keep.resize(findings.len() + more.len(), true);
    findings.append(&mut more);
    let mut both: Vec<(Finding, bool)> = findings.into_iter().zip(keep).collect();
    both.sort_by(|a, b| key(&a.0).cmp(&key(&b.0)));
    // Fingerprints count over all proposed findings, so that silencing one renames no other.
    let findings: Vec<Finding> = both.iter().map(|(f, _)| f.clone()).collect();
    let names = fingerprints(&findings);
    let hidden: BTreeSet<&str> =
        baseline.iter().flat_map(|b| &b.entries).map(|e| e.fingerprint.as_str()).collect();
    let elsewhere = if scope.whole { BTreeSet::new() } else { hidden_as_reach(&findings, settings, &hidden) };
    let mut decision = Decision { silenced: silenced.len(), ..Decision::default() };
    for (at, ((mut finding, kept), fingerprint)) in both.into_iter().zip(&names).enumerate() {
        let Some(setting) = settings.get(finding.code) else { continue };
        let Some(severity) = severity(finding.severity, setting) else { continue };
        if !kept || !setting.selected {
            continue;
        }
        if hidden.contains(fingerprint.as_str()) || elsewhere.contains(&at) {
            decision.baselined += 1;
            continue;
        }
        finding.severity = severity;
        decision.shown.push(ReportedFinding {
            finding,
            name: setting.name,
            fingerprint: fingerprint.clone(),
        });
    }
    let present: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    decision.stale = baseline
        .iter()
        .flat_map(|b| &b.entries)
        .filter(|e| !present.contains(e.fingerprint.as_str()) && (scope.entry)(e))
        .filter(|e| scope.whole || !settings.get(e.code.as_str()).is_some_and(|s| s.reach))
        .cloned()
        .collect();
    decision
}

/// Sites that a run over the whole project finds in the daemon's reach, and that the baseline hides
/// there: in a run over a part they come under another rule.
fn hidden_as_reach(findings: &[Finding], settings: &Settings, hidden: &BTreeSet<&str>) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    if hidden.is_empty() {
        return found;
    }
    let of_site = |f: &Finding| f.primitive.is_some() && !settings.get(f.code).is_some_and(|s| s.reach);
    let sites: Vec<usize> =
        findings.iter().enumerate().filter(|(_, f)| of_site(f)).map(|(at, _)| at).collect();
    for (code, _) in settings.iter().filter(|(_, s)| s.reach) {
        let as_reach: Vec<Finding> =
            sites.iter().filter_map(|&at| findings.get(at)).map(|f| Finding { code, ..f.clone() }).collect();
        let names = fingerprints(&as_reach);
        found.extend(
            sites.iter().zip(names).filter(|(_, name)| hidden.contains(name.as_str())).map(|(&at, _)| at),
        );
    }
    found
}

/// The severity that is shown: the configured one, but no more than a rule proposed below its default.
fn severity(proposed: Severity, setting: &Setting) -> Option<Severity> {
    let level = setting.level?;
    Some(if proposed < setting.default { level.min(proposed) } else { level })
}

/// Sorts by path, place, code.
pub fn sort(findings: &mut [Finding]) {
    findings.sort_by(|a, b| key(a).cmp(&key(b)));
}

fn key(f: &Finding) -> (&str, crate::base::span::Position, &str, crate::base::span::Position, &str) {
    (&f.place.path, f.place.start, f.code, f.place.end, &f.message)
}

/// The indices of findings that an `ignore` silences, and a finding for each `ignore` that silences nothing.
fn apply_ignores(
    findings: &[Finding],
    annotations: &[Annotation],
    settings: &Settings,
    scope: Scope<'_>,
) -> (BTreeSet<usize>, Vec<Finding>) {
    let mut silenced = BTreeSet::new();
    let mut more = Vec::new();
    for annotation in annotations {
        let Asks::Ignore { codes, reason } = &annotation.asks else { continue };
        let known = |code: &&String| settings.get(code.as_str()).is_some_and(|s| !s.fixed);
        // Without a reason it silences nothing; a rule has said so.
        if reason.is_empty() {
            continue;
        }
        let mut idle = Vec::new();
        for code in codes.iter().filter(known) {
            let hit = findings.iter().enumerate().find(|(at, f)| {
                f.code == code.as_str()
                    && f.place.path == annotation.place.path
                    && f.place.start.line == annotation.line
                    && !silenced.contains(at)
            });
            match hit {
                Some((at, _)) => {
                    silenced.insert(at);
                }
                // What a rule of the reach says here, a run over a part of the project cannot know.
                None if !scope.whole && settings.get(code.as_str()).is_some_and(|s| s.reach) => {}
                None => idle.push(code.as_str()),
            }
        }
        if !idle.is_empty() {
            more.push(unused_ignore(annotation, &idle, scope.unused, settings));
        }
    }
    (silenced, more)
}

fn unused_ignore(
    annotation: &Annotation,
    codes: &[&str],
    unused: &'static str,
    settings: &Settings,
) -> Finding {
    Finding {
        code: unused,
        severity: settings.get(unused).map_or(Severity::Error, |s| s.default),
        confidence: Confidence::Certain,
        message: format!(
            "this annotation ignores {} on line {}, and there is no such finding there",
            codes.join(" and "),
            annotation.line
        ),
        place: annotation.place.clone(),
        primitive: None,
        effect: None,
        via: None,
        symbol: None,
        path_id: None,
        chain: Vec::new(),
        related: Vec::new(),
        help: "remove it; an annotation is for the site on its own line, or alone on the line directly above the site"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::finding::Place;
    use crate::base::span::Position;
    use crate::report::sample::{finding, settings, whole};

    fn ignore(code: &str, line: u32) -> Annotation {
        let at = Position { line, column: 1 };
        Annotation {
            asks: Asks::Ignore { codes: vec![code.to_owned()], reason: "because".into() },
            place: Place { path: "a.py".into(), start: at, end: at },
            line,
        }
    }

    fn run(findings: &[Finding], annotations: &[Annotation], baseline: Option<&Baseline>) -> Decision {
        decide(findings.to_vec(), annotations, &settings(), baseline, whole())
    }

    fn codes(decision: &Decision) -> Vec<(&'static str, u32)> {
        decision.shown.iter().map(|f| (f.finding.code, f.finding.place.start.line)).collect()
    }

    #[test]
    fn an_ignore_silences_one_finding_of_its_code_on_its_line() {
        let two = [finding("RL301", "a.py", 3), finding("RL301", "a.py", 3)];
        let decision = run(&two, &[ignore("RL301", 3)], None);
        assert_eq!(codes(&decision), [("RL301", 3)]);
        assert_eq!(decision.silenced, 1);
        let wrong = run(&two[..1], &[ignore("RL303", 3)], None);
        assert_eq!(codes(&wrong), [("RL403", 3), ("RL301", 3)]);
    }

    #[test]
    fn a_fixed_rule_is_never_silenced() {
        let decision = run(&[finding("RL101", "a.py", 3)], &[ignore("RL101", 3)], None);
        assert_eq!(codes(&decision), [("RL101", 3)]);
    }

    #[test]
    fn the_baseline_hides_and_a_stale_entry_is_told() {
        let all = run(&[finding("RL301", "a.py", 3), finding("RL301", "a.py", 5)], &[], None);
        let baseline = Baseline::of(&all.shown);
        let again = run(&[finding("RL301", "a.py", 30), finding("RL303", "a.py", 31)], &[], Some(&baseline));
        assert_eq!(codes(&again), [("RL303", 31)]);
        assert_eq!((again.baselined, again.stale.len()), (1, 1));
    }

    #[test]
    fn a_run_over_a_part_says_nothing_of_the_reach() {
        let part = Scope { whole: false, entry: &|e| e.path == "a.py", ..whole() };
        let ignores = [ignore("RL108", 3), ignore("RL301", 4)];
        let decision = decide(Vec::new(), &ignores, &settings(), None, part);
        assert_eq!(codes(&decision), [("RL403", 4)]);
        let known = [finding("RL101", "a.py", 3), finding("RL301", "a.py", 3), finding("RL301", "b.py", 3)];
        let baseline = Baseline::of(&run(&known, &[], None).shown);
        let stale = |scope| decide(Vec::new(), &[], &settings(), Some(&baseline), scope).stale;
        assert_eq!(stale(part).iter().map(|e| e.code.as_str()).collect::<Vec<_>>(), ["RL301"]);
        assert_eq!(stale(whole()).len(), 3);
        // The site in the reach comes as RL301 here, and is hidden all the same.
        let now = vec![finding("RL301", "a.py", 3), finding("RL301", "c.py", 3)];
        let reach = Baseline::of(&run(&known[..1], &[], None).shown);
        let decision = decide(now, &[], &settings(), Some(&reach), part);
        assert_eq!((decision.baselined, decision.shown.len(), decision.stale.len()), (1, 1, 0));
    }

    #[test]
    fn silencing_one_renames_no_other() {
        let two = [finding("RL301", "a.py", 3), finding("RL301", "a.py", 5)];
        let plain = run(&two, &[], None);
        let silenced = run(&two, &[ignore("RL301", 3)], None);
        assert_eq!(silenced.shown[0].fingerprint, plain.shown[1].fingerprint);
    }

    #[test]
    fn levels_apply_and_a_proposed_lower_severity_stays_lower() {
        let mut settings = settings();
        settings.get_mut("RL301").unwrap().level = Some(Severity::Note);
        settings.get_mut("RL303").unwrap().level = None;
        let mut low = finding("RL401", "a.py", 1);
        low.severity = Severity::Warning;
        let findings = vec![finding("RL301", "a.py", 3), finding("RL303", "a.py", 4), low];
        let decision = decide(findings, &[], &settings, None, whole());
        let seen: Vec<_> = decision.shown.iter().map(|f| (f.finding.code, f.finding.severity)).collect();
        assert_eq!(seen, [("RL401", Severity::Warning), ("RL301", Severity::Note)]);
    }
}
