//! `explain`: a rule, an effect, a primitive or a status: what it is, why it matters, what to do.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;

use super::known::Known;
use super::{Failure, Outcome, output};
use crate::base::effect::Effect;
use crate::data::commands::CommandCatalogue;
use crate::data::glossary::{self, Word};
use crate::data::primitive_names::{self, plain};
use crate::data::primitives::{Catalogue, PrimitiveEntry};
use crate::data::{checks, effects, pages, suggest};
use crate::scan::catalogues::PROGRAM_LANGUAGES;

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Rules' codes or names, effects, primitives such as `pkill`, and words that say how something stands, such as
    /// `unclassified`.
    #[arg(required = true, value_name = "WHAT", value_parser = Known::topics(), hide_possible_values = true)]
    pub what: Vec<String>,
}

/// Runs `explain`: every name or none.
pub fn run(args: &ExplainArgs) -> Result<Outcome, Failure> {
    let catalogue = CommandCatalogue::shared();
    let names = primitive_names::all();
    let (mut texts, mut unknown_names) = (Vec::new(), Vec::new());
    for what in asked(&args.what, names) {
        match text(&what, catalogue) {
            Some(text) => texts.push(text),
            None => unknown_names.push(unknown(&what, names, catalogue)),
        }
    }
    if !unknown_names.is_empty() {
        return Err(Failure::new(unknown_names.join("\n")));
    }
    output::result(&texts.join("\n"), None)?;
    Ok(Outcome::Clean)
}

fn text(what: &str, catalogue: &CommandCatalogue) -> Option<String> {
    rule(what)
        .or_else(|| effect(what, catalogue))
        .or_else(|| primitive(what, catalogue))
        .or_else(|| status(what))
}

/// What is asked for: each word for itself, but for those that make one name (`systemctl restart`).
fn asked(words: &[String], names: &BTreeSet<String>) -> Vec<String> {
    let mut asked = Vec::new();
    let mut rest = words;
    while !rest.is_empty() {
        let joined = |count: usize| rest.get(..count).unwrap_or(&[]).join(" ");
        let count = (2..=rest.len()).rev().find(|count| names.contains(&joined(*count))).unwrap_or(1);
        asked.push(joined(count));
        rest = rest.get(count..).unwrap_or(&[]);
    }
    asked
}

/// A word that says how something stands, with the rules whose names hold it.
fn status(what: &str) -> Option<String> {
    let Word { word, of, meaning, more } = glossary::find(what)?;
    let rules = related(word);
    let rules =
        if rules.is_empty() { String::new() } else { format!("\nRelated rules: {}.\n", rules.join(", ")) };
    Some(format!("# {word}\n\nThis is a {of}: {meaning}\n\n{more}\n{rules}"))
}

fn rule(what: &str) -> Option<String> {
    let rule = checks::find(what)?;
    Some(pages::of(&rule.code)?.to_owned())
}

fn effect(what: &str, catalogue: &CommandCatalogue) -> Option<String> {
    let effect = Effect::from_name(&what.to_ascii_lowercase())?;
    let about = effects::about(effect);
    let mut commands: Vec<&str> = Vec::new();
    // Several rules may be of one program.
    for name in catalogue.rules().iter().filter(|r| r.effect == effect).flat_map(|r| &r.names) {
        if !commands.contains(&name.as_str()) {
            commands.push(name);
        }
    }
    let mut out = format!(
        "# {effect}\n\n{}\n\n{}\n\nIn the daemon's reach: {}.\n",
        about.meaning, about.why, about.rule
    );
    for language in PROGRAM_LANGUAGES {
        let Ok(catalogue) = Catalogue::embedded(language) else { continue };
        let mut names: Vec<String> = catalogue
            .primitives()
            .iter()
            .filter(|e| e.effect == effect)
            .flat_map(|e| {
                e.canonical.clone().map_or_else(|| e.names.iter().map(|n| plain(n)).collect(), |c| vec![c])
            })
            .collect();
        names.sort();
        names.dedup();
        if !names.is_empty() {
            out += &format!("\nPrimitives of {}: {}.\n", language.name(), names.join(", "));
        }
    }
    if !commands.is_empty() {
        out += &format!("\nCommands: {}.\n", commands.join(", "));
    }
    Some(out + &format!("\nInstead: {}\n", about.instead))
}

/// A name of a program's catalogue, else a command.
fn primitive(what: &str, commands: &CommandCatalogue) -> Option<String> {
    let mut found: BTreeMap<Effect, Vec<String>> = BTreeMap::new();
    for language in PROGRAM_LANGUAGES {
        let Ok(catalogue) = Catalogue::embedded(language) else { continue };
        let entries = catalogue.primitives().iter();
        let named = |e: &&PrimitiveEntry| {
            e.canonical.as_deref() == Some(what) || e.names.iter().any(|n| plain(n) == what)
        };
        if let Some(entry) = entries.filter(named).min_by_key(|e| e.effect) {
            found.entry(entry.effect).or_default().push(format!("a primitive of {}", language.name()));
        }
    }
    let name = what.split(' ').next().unwrap_or(what);
    if let Some(rule) = commands.commands(name).next() {
        found.entry(rule.effect).or_default().push("a command".to_owned());
    }
    if found.is_empty() {
        return None;
    }
    let mut out = format!("# {what}\n");
    for (effect, kinds) in found {
        let about = effects::about(effect);
        let elsewhere = match effect {
            Effect::Exit => "no finding",
            _ => "RL301, unless the inventory covers it",
        };
        out += &format!(
            "\nThis is {} with the effect `{effect}`: {}\n\n{}\n\nIn the daemon's reach: {}. Elsewhere: {elsewhere}.\n\n\
             Instead: {}\n",
            kinds.join(" and "),
            about.meaning,
            about.why,
            about.rule,
            about.instead
        );
    }
    Some(out)
}

/// The rules whose names hold a plain word.
fn related(what: &str) -> Vec<String> {
    let word = what.to_ascii_lowercase();
    let holds =
        |name: &str| name.split(['-', '_']).any(|part| part == word || part.strip_suffix('s') == Some(&word));
    let named = checks::all().iter().filter(|rule| holds(&rule.name));
    named.map(|rule| format!("{} ({})", rule.code, rule.name)).collect()
}

fn unknown(what: &str, names: &BTreeSet<String>, catalogue: &CommandCatalogue) -> String {
    let mut known: Vec<&str> = checks::words().collect();
    known.extend(Effect::ALL.map(Effect::name));
    known.extend(glossary::all().map(|entry| entry.word));
    known.extend(catalogue.command_names());
    known.extend(names.iter().map(String::as_str));
    let (near, related) = (suggest::did_you_mean(what, known), related(what));
    let next = match (near.is_empty(), related.is_empty()) {
        (false, _) => near,
        (true, false) => format!("related rules: {}", related.join(", ")),
        (true, true) => {
            "`restartlint rules` lists the rules, and each effect's text its primitives".to_owned()
        }
    };
    format!("`{what}` is no rule, effect, primitive or status; {next}")
}
