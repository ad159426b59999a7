//! `explain`: a rule, an effect or a primitive: what it is, why it matters, what to do.

use clap::Args;

use super::{Failure, Outcome, output};
use crate::base::effect::Effect;
use crate::data::commands::CommandCatalogue;
use crate::data::{checks, effects, pages, suggest};

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A rule's code or name, an effect, or a primitive such as `pkill`.
    #[arg(required = true, value_name = "WHAT")]
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
    let commands: Vec<&str> = catalogue
        .rules()
        .iter()
        .filter(|r| r.effect == effect)
        .flat_map(|r| &r.names)
        .map(String::as_str)
        .collect();
    let mut out = format!(
        "# {effect}\n\n{}\n\n{}\n\nIn the daemon's reach: {}.\n",
        about.meaning, about.why, about.rule
    );
    if !commands.is_empty() {
        out += &format!("\nCommands: {}.\n", commands.join(", "));
    }
    Some(out + &format!("\nInstead: {}\n", about.instead))
}

fn primitive(what: &str, catalogue: &CommandCatalogue) -> Option<String> {
    let name = what.split(' ').next().unwrap_or(what);
    let effect = catalogue.commands(name).next().map(|r| r.effect)?;
    let about = effects::about(effect);
    Some(format!(
        "# {what}\n\nA command with the effect `{effect}`: {}\n\n{}\n\nIn the daemon's reach: {}; outside it: RL301, \
         unless the inventory covers it.\n\nInstead: {}\n",
        about.meaning, about.why, about.rule, about.instead
    ))
}

fn unknown(what: &str, catalogue: &CommandCatalogue) -> Failure {
    let effects = Effect::ALL.map(Effect::name);
    let commands = catalogue.command_names();
    let mut words: Vec<&str> = checks::words().collect();
    words.extend(effects);
    words.extend(commands);
    let near = suggest::did_you_mean(what, words);
    let near = if near.is_empty() { "`restartlint rules` lists the rules".to_owned() } else { near };
    Failure::new(format!("`{what}` is no rule, effect or primitive; {near}"))
}
