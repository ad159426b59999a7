//! `rules`: the rule table.

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::{Failure, Outcome, output};
use crate::base::finding::Severity;
use crate::data::checks;
use crate::render::json;

/// Arguments of `rules`.
#[derive(Debug, Args)]
pub struct RulesArgs {
    /// How to print.
    #[arg(long, value_enum, default_value_t = RulesFormat::Text, value_name = "FORMAT")]
    pub format: RulesFormat,
}

/// How `rules` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RulesFormat {
    /// A line a rule.
    Text,
    /// One document.
    Json,
}

#[derive(Serialize)]
struct WireRules<'a> {
    schema: u32,
    rules: Vec<WireRule<'a>>,
}

#[derive(Serialize)]
struct WireRule<'a> {
    code: &'a str,
    name: &'a str,
    severity: Severity,
    silenceable: bool,
    summary: &'a str,
}

/// Runs `rules`.
pub fn run(args: &RulesArgs) -> Result<Outcome, Failure> {
    let text = match args.format {
        RulesFormat::Text => checks::all()
            .iter()
            .map(|r| format!("{}  {:<27} {:<8} {}\n", r.code, r.name, r.severity.name(), r.summary))
            .collect(),
        RulesFormat::Json => json::pretty(&WireRules {
            schema: 1,
            rules: checks::all()
                .iter()
                .map(|r| WireRule {
                    code: &r.code,
                    name: &r.name,
                    severity: r.severity,
                    silenceable: !r.fixed,
                    summary: &r.summary,
                })
                .collect(),
        }),
    };
    output::result(&text, None)?;
    Ok(Outcome::Clean)
}
