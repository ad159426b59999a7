//! `impact`: what a restart would break, who may ask for it, and what is authorised.

mod html;
mod text;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::cli::Cli;
use super::input::read_file;
use super::output::{self, shown};
use super::question::QuestionArgs;
use super::store::open_or_make;
use super::{Failure, Outcome};
use crate::edge::coordinator::{keep_incident, replay_of, use_up};
use crate::edge::key_file::read_key;
use crate::edge::store::Store;
use crate::pass::drain::{GateCode, Key, Offer, Proof, Replay};
use crate::pass::impact::{Application, Report, evaluate};

/// Arguments of `impact`.
///
/// Exit status: 0 the restart is allowed (with --apply: the apply is authorised); 1 denied;
/// 2 the question could not be read. Nothing is ever restarted.
#[derive(Debug, Args)]
pub struct ImpactArgs {
    /// The state and the request.
    #[command(flatten)]
    pub question: QuestionArgs,
    /// Ask whether an apply is authorised; without it no proof and no key is read.
    #[arg(long)]
    pub apply: bool,
    /// The drain proof, as `drain issue` printed it.
    #[arg(long, value_name = "FILE")]
    pub drain_proof: Option<PathBuf>,
    /// The key of the proof's MAC: at least 32 bytes in a file of mode 600.
    #[arg(long, value_name = "FILE")]
    pub drain_key: Option<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = ReportFormat::Text, value_name = "FORMAT")]
    pub format: ReportFormat,
}

/// How a report is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For a person at a terminal.
    Text,
    /// One JSON document.
    Json,
    /// One page that needs nothing else.
    Html,
}

/// Answers the question and keeps what has to be kept.
pub fn run(args: &ImpactArgs, cli: &Cli) -> Result<Outcome, Failure> {
    let asked = args.question.ask(cli)?;
    for hint in asked.hints() {
        output::note(cli, &format!("restartlint: note: {hint}"));
    }
    let mut store = args.question.store(cli)?.as_deref().map(open_or_make).transpose()?;
    let report = if args.apply {
        let proof = proof_bytes(args);
        let key = args.drain_key.as_deref().and_then(offered_key);
        decide(&asked, Some((proof.as_deref(), key.as_ref())), store.as_mut())?
    } else {
        decide(&asked, None, store.as_mut())?
    };
    answered(&rendered(&report, args.format)?, report.allowed())
}

/// Evaluates a dry run, or an apply with what is offered for it, and keeps the incident of a denial.
pub(super) fn decide(
    asked: &super::question::Asked,
    offered: Option<(Option<&[u8]>, Option<&Key>)>,
    mut store: Option<&mut Store>,
) -> Result<Report, Failure> {
    let report = match offered {
        Some((proof, key)) => apply(asked, proof, key, store.as_deref_mut())?,
        None => evaluate(asked.question(), Application::DryRun),
    };
    if let Some(store) = store {
        keep_incident(store, &report)?;
    }
    Ok(report)
}

/// Evaluates an apply. A proof is used up before anyone is told that it was accepted; if another
/// process used it up in between, the evaluation is repeated with that knowledge.
fn apply(
    asked: &super::question::Asked,
    proof: Option<&[u8]>,
    key: Option<&Key>,
    store: Option<&mut Store>,
) -> Result<Report, Failure> {
    let Some(store) = store else {
        let offer = Offer { proof, key, replay: Replay::Unchecked };
        return Ok(evaluate(asked.question(), Application::Apply(offer)));
    };
    let replay = replay_of(store, proof)?;
    let report = evaluate(asked.question(), Application::Apply(Offer { proof, key, replay }));
    let by_proof = report.apply_gate.as_ref().is_some_and(|gate| gate.code == GateCode::Ok);
    let read = proof.and_then(Proof::from_json);
    match read {
        Some(read) if by_proof && report.apply_authorized.get() => match use_up(store, &read, asked.now)? {
            Replay::Used => {
                let offer = Offer { proof, key, replay: Replay::Used };
                Ok(evaluate(asked.question(), Application::Apply(offer)))
            }
            Replay::Fresh | Replay::Unchecked => Ok(report),
        },
        _ => Ok(report),
    }
}

/// The proof's bytes; a file that cannot be read is no proof, and says so on standard error.
fn proof_bytes(args: &ImpactArgs) -> Option<Vec<u8>> {
    let path = args.drain_proof.as_deref()?;
    match read_file(path) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            output::warn(&format!("the proof {} cannot be read: {error}", shown(path)));
            None
        }
    }
}

/// The key; one that cannot be had is said on standard error, and the gate denies.
pub(super) fn offered_key(path: &std::path::Path) -> Option<Key> {
    match read_key(path) {
        Ok(key) => Some(key),
        Err(fault) => {
            output::warn(&format!("{}: {fault}", shown(path)));
            None
        }
    }
}

/// Prints an answer; the status tells it too. A reader that has gone away must not turn a denial
/// into success.
pub(super) fn answered(text: &str, allowed: bool) -> Result<Outcome, Failure> {
    match output::result(text, None) {
        Ok(()) | Err(Failure::ClosedPipe) => Ok(if allowed { Outcome::Clean } else { Outcome::Denied }),
        Err(failure) => Err(failure),
    }
}

fn rendered(report: &Report, format: ReportFormat) -> Result<String, Failure> {
    match format {
        ReportFormat::Text => Ok(text::page(report)),
        ReportFormat::Html => Ok(html::page(report)),
        ReportFormat::Json => json(report),
    }
}

/// A document for standard output.
pub(super) fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::new(format!("the answer cannot be written as JSON: {error}")))?;
    Ok(text + "\n")
}
