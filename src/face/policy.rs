//! The rules' settings of a run: the catalogue, then the configuration, then `--select`
//! and `--ignore`. Every unknown name at once, each with the nearest known one.

use super::{Failure, output};
use crate::data::checks::{self, Rule};
use crate::data::config::Config;
use crate::data::suggest;
use crate::report::decide::{Setting, Settings};

/// The settings. An unknown name in `select` is an error, in `ignore` a warning.
pub fn settings(config: &Config, select: &[String], ignore: &[String]) -> Result<Settings, Failure> {
    let (selected, unknown) = resolve(select);
    if !select.is_empty() && selected.is_empty() && unknown.is_empty() {
        return Err(Failure::new(
            "--select names no rule: nothing would be checked; leave it out, or name one",
        ));
    }
    if !unknown.is_empty() {
        return Err(Failure::new(unknown.join("\n")));
    }
    let (ignored, unknown) = resolve(ignore);
    for name in unknown {
        output::warn(&format!("warning: in --ignore: {name}"));
    }
    Ok(checks::all()
        .iter()
        .map(|rule| {
            let code = rule.code.as_str();
            let setting = Setting {
                name: rule.name.as_str(),
                default: rule.severity,
                level: config.rules.get(code).copied().unwrap_or(Some(rule.severity)),
                selected: (select.is_empty() || selected.contains(&code)) && !ignored.contains(&code),
                fixed: rule.fixed,
                reach: rule.reach,
            };
            (code, setting)
        })
        .collect())
}

/// The codes that the names mean, and a sentence for each name that means nothing.
fn resolve(names: &[String]) -> (Vec<&'static str>, Vec<String>) {
    let (mut codes, mut unknown) = (Vec::new(), Vec::new());
    for name in names.iter().map(|n| n.trim()).filter(|n| !n.is_empty()) {
        let found = matching(name);
        if found.is_empty() {
            let near = suggest::did_you_mean(name, checks::words());
            let near = if near.is_empty() { "`restartlint rules` lists them all".to_owned() } else { near };
            unknown.push(format!("unknown rule `{name}`; {near}"));
        }
        codes.extend(found.into_iter().map(|r| r.code.as_str()));
    }
    (codes, unknown)
}

/// The rules that a name means: a code, a name, or the beginning of codes.
fn matching(name: &str) -> Vec<&'static Rule> {
    let upper = name.to_ascii_uppercase();
    checks::all()
        .iter()
        .filter(|r| {
            r.name == name || r.code == upper || (upper.starts_with("RL") && r.code.starts_with(&upper))
        })
        .collect()
}
