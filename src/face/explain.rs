//! `explain`: a rule, an effect or a primitive: what it is, why it matters, what to do.

use clap::Args;

use super::known::Known;
use super::{Failure, Outcome, output};
use crate::base::effect::Effect;
use crate::data::commands::CommandCatalogue;
use crate::data::inventory::Classification;
use crate::data::primitives::{Catalogue, PrimitiveEntry};
use crate::data::{checks, effects, pages, suggest};
use crate::scan::catalogues::PROGRAM_LANGUAGES;

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A rule's code or name, an effect, or a primitive such as `pkill`.
    #[arg(required = true, value_name = "WHAT", value_parser = Known::topics(), hide_possible_values = true)]
    pub what: Vec<String>,
}

/// Runs `explain`.
pub fn run(args: &ExplainArgs) -> Result<Outcome, Failure> {
    let what = args.what.join(" ");
    let catalogue = CommandCatalogue::built_in();
    let text = rule(&what)
        .or_else(|| effect(&what, &catalogue))
        .or_else(|| primitive(&what, &catalogue))
        .ok_or_else(|| unknown(&what, &catalogue))?;
    output::result(&text, None)?;
    Ok(Outcome::Clean)
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
                e.canonical.clone().map_or_else(|| e.names.iter().map(|n| reported(n)).collect(), |c| vec![c])
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
    let mut found: std::collections::BTreeMap<Effect, Vec<String>> = std::collections::BTreeMap::new();
    for language in PROGRAM_LANGUAGES {
        let Ok(catalogue) = Catalogue::embedded(language) else { continue };
        let entries = catalogue.primitives().iter();
        let named = |e: &&PrimitiveEntry| {
            e.canonical.as_deref() == Some(what) || e.names.iter().any(|n| reported(n) == what)
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

/// A catalogued path as it is reported: without calls and subscripts.
fn reported(name: &str) -> String {
    name.replace("()", "").replace("[]", "")
}

/// The rules whose names hold a plain word, and what else the word is.
fn related(what: &str) -> String {
    let word = what.to_ascii_lowercase();
    let classification = Classification::from_name(&word).map(|_| "RL308".to_owned());
    let holds =
        |name: &str| name.split(['-', '_']).any(|part| part == word || part.strip_suffix('s') == Some(&word));
    let named = checks::all().iter().filter(|rule| holds(&rule.name));
    let mut rules: Vec<String> = named.map(|rule| format!("{} ({})", rule.code, rule.name)).collect();
    match (classification, rules.as_mut_slice()) {
        (Some(code), []) => {
            format!("it is a classification of the inventory, and {code} says what they mean")
        }
        (Some(code), _) => format!(
            "it is a classification of the inventory, and {code} says what they mean; related rules: {}",
            rules.join(", ")
        ),
        (None, []) => "`restartlint rules` lists the rules".to_owned(),
        (None, _) => format!("related rules: {}", rules.join(", ")),
    }
}

fn unknown(what: &str, catalogue: &CommandCatalogue) -> Failure {
    let effects = Effect::ALL.map(Effect::name);
    let commands = catalogue.command_names();
    let mut words: Vec<&str> = checks::words().collect();
    words.extend(effects);
    words.extend(commands);
    let catalogues = PROGRAM_LANGUAGES.map(|language| Catalogue::embedded(language).ok());
    let names = catalogues.iter().flatten().flat_map(Catalogue::primitives).flat_map(|entry| &entry.names);
    let names: Vec<String> = names.map(|name| reported(name)).collect();
    words.extend(names.iter().map(String::as_str));
    let near = suggest::did_you_mean(what, words);
    let near = if near.is_empty() { related(what) } else { near };
    Failure::new(format!("`{what}` is no rule, effect or primitive; {near}"))
}
