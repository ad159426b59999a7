//! `drain`: makes a proof that the work in scope has been drained, and verifies one.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::cli::Cli;
use super::impact::{answered, json, offered_key};
use super::input::read_file;
use super::output::{self, shown};
use super::question::QuestionArgs;
use super::{Failure, Outcome};
use crate::edge::chance::fresh_id;
use crate::edge::coordinator::replay_of;
use crate::edge::key_file::read_key;
use crate::edge::store::{OpenMode, Store};
use crate::pass::classes::{TargetKind, builtin};
use crate::pass::drain::proof::{DEFAULT_LIFETIME_S, MAX_LIFETIME_S, Terms};
use crate::pass::drain::{Lifetime, Offer, Replay, issue, verify};
use crate::pass::impact::Question;
use crate::pass::impact::evaluate::counted;

/// Arguments of `drain`.
#[derive(Debug, Args)]
pub struct DrainArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: DrainCommand,
}

/// What `drain` does.
#[derive(Debug, Subcommand)]
pub enum DrainCommand {
    /// Print a signed proof of the present state; exit 0 if it is clean, else 1.
    Issue(IssueArgs),
    /// Say whether a proof would pass the drain gate now; exit 0 if it would, else 1.
    Verify(VerifyArgs),
}

/// Arguments of `drain issue`.
#[derive(Debug, Args)]
pub struct IssueArgs {
    /// The state and the request.
    #[command(flatten)]
    pub question: QuestionArgs,
    /// The key of the proof's MAC: at least 32 bytes in a file of mode 600.
    #[arg(long, value_name = "FILE")]
    pub drain_key: PathBuf,
    /// How long the proof holds, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = DEFAULT_LIFETIME_S,
          value_parser = clap::value_parser!(i64).range(1..=MAX_LIFETIME_S), allow_negative_numbers = true)]
    pub ttl: i64,
    /// Who makes the proof.
    #[arg(long, value_name = "NAME", default_value = "restartlint", value_parser = issuer)]
    pub issuer: String,
    /// How to print.
    #[arg(long, value_enum, default_value_t = JsonOnly::Json, value_name = "FORMAT")]
    pub format: JsonOnly,
}

/// Arguments of `drain verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The proof, as `drain issue` printed it.
    #[arg(long, value_name = "FILE")]
    pub proof: PathBuf,
    /// The state and the request.
    #[command(flatten)]
    pub question: QuestionArgs,
    /// The key of the proof's MAC.
    #[arg(long, value_name = "FILE")]
    pub drain_key: Option<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = JsonOnly::Json, value_name = "FORMAT")]
    pub format: JsonOnly,
}

/// The one format of a proof and its verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum JsonOnly {
    /// One JSON document.
    Json,
}

/// Runs `drain`.
pub fn run(args: &DrainArgs, cli: &Cli) -> Result<Outcome, Failure> {
    match &args.command {
        DrainCommand::Issue(args) => run_issue(args, cli),
        DrainCommand::Verify(args) => run_verify(args, cli),
    }
}

fn run_issue(args: &IssueArgs, cli: &Cli) -> Result<Outcome, Failure> {
    let asked = args.question.ask(cli)?;
    let question = asked.question();
    scope_is_known(question)?;
    let lifetime = Lifetime::from_secs(args.ttl)
        .ok_or_else(|| Failure::new(format!("--ttl must be 1 to {MAX_LIFETIME_S} seconds")))?;
    let path = &args.drain_key;
    let key = read_key(path).map_err(|fault| Failure::new(format!("{}: {fault}", shown(path))))?;
    let proof_id = fresh_id("dp-")?;
    let (count, target) = counted(question);
    let terms = Terms {
        class: &question.request.restart_class,
        target,
        proof_id: &proof_id,
        issuer: &args.issuer,
        now: asked.now,
        lifetime,
    };
    let proof = issue(&count, terms, &key).map_err(|fault| Failure::new(fault.to_string()))?;
    let outcome = answered(&json(&proof)?, proof.clean)?;
    if !proof.clean {
        output::warn(&format!("the state is not drained: {}", proof.outstanding.join(", ")));
    }
    Ok(outcome)
}

/// A proof is made for a scope; without a class and its target there is none.
fn scope_is_known(question: Question<'_>) -> Result<(), Failure> {
    let request = question.request;
    let Some(class) = builtin().get(&request.restart_class) else {
        let names: Vec<&str> = builtin().iter().map(|class| class.name.as_str()).collect();
        let known = names.join(", ");
        return Err(Failure::new(format!(
            "no restart class is called {:?}; there are {known}",
            request.restart_class
        )));
    };
    if class.target != TargetKind::None && request.target(class.target).is_none() {
        return Err(Failure::new(format!(
            "{} needs a target, and the request names none of its kind",
            class.name
        )));
    }
    Ok(())
}

fn run_verify(args: &VerifyArgs, cli: &Cli) -> Result<Outcome, Failure> {
    let asked = args.question.ask(cli)?;
    let proof = match read_file(&args.proof) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            output::warn(&format!("the proof {} cannot be read: {error}", shown(&args.proof)));
            None
        }
    };
    let key = args.drain_key.as_deref().and_then(offered_key);
    let replay = match args.question.store(cli)? {
        Some(path) => match Store::open(&path, OpenMode::Existing) {
            Ok(store) => replay_of(&store, proof.as_deref())?,
            // An apply makes the store; before the first one no proof was used.
            Err(error) if error.is_missing() => {
                output::warn(&format!("{error}; no proof was used before"));
                Replay::Fresh
            }
            Err(error) => return Err(error.into()),
        },
        None => Replay::Unchecked,
    };
    let offer = Offer { proof: proof.as_deref(), key: key.as_ref(), replay };
    let verification = verify(asked.question(), offer);
    answered(&json(&verification)?, verification.allow)
}

/// A name on one line: a proof is compared byte for byte and read by people.
fn issuer(text: &str) -> Result<String, String> {
    if text.trim().is_empty() || text.chars().any(char::is_control) {
        Err("a name on one line".to_owned())
    } else {
        Ok(text.to_owned())
    }
}
