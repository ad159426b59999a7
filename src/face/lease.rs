//! `lease`: who holds a pull request, and whether a reviewer may act on it.

use std::fmt::Write;

use clap::{Args, Subcommand, ValueEnum};
use jiff::Timestamp;

use super::cli::Cli;
use super::impact::{answered, json};
use super::input::Source;
use super::question::instant;
use super::{Failure, Outcome};
use crate::base::terminal::one_line;
use crate::edge::clock;
use crate::pass::lease::{
    ActiveLease, Assessment, Comment, HeadPair, LeaseKind, Mutation, assess, find_active_lease,
};

/// Arguments of `lease`.
#[derive(Debug, Args)]
pub struct LeaseArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: LeaseCommand,
}

/// What `lease` does.
#[derive(Debug, Subcommand)]
pub enum LeaseCommand {
    /// Print the active lease of a pull request, and the markers that cannot be read.
    Active(ActiveArgs),
    /// Say whether a reviewer's mutation is allowed; exit 0 if it is, else 1.
    Assess(AssessArgs),
}

/// What both have in common.
#[derive(Debug, Args)]
pub struct CommentArgs {
    /// The comments as a JSON array, oldest first (`-`: standard input).
    #[arg(long, value_name = "FILE|-", value_parser = Source::parse)]
    pub comments: Source,
    /// The pull request.
    #[arg(long, value_name = "N")]
    pub pr: u64,
    /// The present (RFC 3339); the clock's if not given.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub now: Option<Timestamp>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = LeaseFormat::Text, value_name = "FORMAT")]
    pub format: LeaseFormat,
}

/// Arguments of `lease active`.
#[derive(Debug, Args)]
pub struct ActiveArgs {
    /// The comments and the pull request.
    #[command(flatten)]
    pub common: CommentArgs,
    /// Which leases to look at.
    #[arg(long, value_enum, default_value_t = KindName::ConflictFix, value_name = "KIND")]
    pub kind: KindName,
}

/// Arguments of `lease assess`.
#[derive(Debug, Args)]
pub struct AssessArgs {
    /// The comments and the pull request.
    #[command(flatten)]
    pub common: CommentArgs,
    /// What the reviewer is about to do.
    #[arg(long, value_enum, value_name = "MUTATION")]
    pub mutation: MutationName,
    /// The full hash of the head that was reviewed.
    #[arg(long, value_name = "SHA")]
    pub reviewed_head: String,
    /// The full hash of the head that is there now.
    #[arg(long, value_name = "SHA")]
    pub live_head: String,
}

/// How an answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LeaseFormat {
    /// For a person at a terminal.
    Text,
    /// One JSON document.
    Json,
}

/// The kinds of leases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum KindName {
    /// An author repairs conflicts.
    ConflictFix,
    /// A reviewer reviews.
    Reviewer,
}

/// The mutations of a reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum MutationName {
    /// Approve the pull request.
    Approve,
    /// Request changes of it.
    RequestChanges,
    /// Merge it.
    Merge,
}

/// Runs `lease`.
pub fn run(args: &LeaseArgs, _cli: &Cli) -> Result<Outcome, Failure> {
    match &args.command {
        LeaseCommand::Active(args) => run_active(args),
        LeaseCommand::Assess(args) => run_assess(args),
    }
}

fn run_active(args: &ActiveArgs) -> Result<Outcome, Failure> {
    let comments = args.common.comments.read()?.value(Comment::list_from_json)?;
    let kind = match args.kind {
        KindName::ConflictFix => LeaseKind::ConflictFix,
        KindName::Reviewer => LeaseKind::Reviewer,
    };
    let found = find_active_lease(&comments, kind, args.common.pr, args.common.present());
    let text = match args.common.format {
        LeaseFormat::Json => json(&found)?,
        LeaseFormat::Text => active_text(&found, args.common.pr),
    };
    answered(&text, true)
}

fn run_assess(args: &AssessArgs) -> Result<Outcome, Failure> {
    let comments = args.common.comments.read()?.value(Comment::list_from_json)?;
    let mutation = match args.mutation {
        MutationName::Approve => Mutation::Approve,
        MutationName::RequestChanges => Mutation::RequestChanges,
        MutationName::Merge => Mutation::Merge,
    };
    let heads = HeadPair { reviewed: &args.reviewed_head, live: &args.live_head };
    let found = assess(&comments, args.common.pr, mutation, heads, args.common.present());
    let text = match args.common.format {
        LeaseFormat::Json => json(&found)?,
        LeaseFormat::Text => assess_text(&found, mutation, args.common.pr),
    };
    answered(&text, found.mutation_allowed)
}

impl CommentArgs {
    fn present(&self) -> Timestamp {
        self.now.unwrap_or_else(clock::now)
    }
}

fn active_text(found: &ActiveLease, pr: u64) -> String {
    let mut out = match &found.lease {
        None => format!("pull request #{pr}: no active lease\n"),
        Some(lease) => {
            let of = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
            one_line(&format!(
                "pull request #{pr}: held by {} (session {}), phase {}, until {}",
                of(&lease.profile),
                of(&lease.session_id),
                of(&lease.phase),
                of(&lease.expires_at),
            )) + "\n"
        }
    };
    for marker in &found.malformed {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "comment {}: {}", marker.index, one_line(&marker.reason));
    }
    out
}

fn assess_text(found: &Assessment, mutation: Mutation, pr: u64) -> String {
    if found.mutation_allowed {
        return format!("allowed: {} of pull request #{pr}\n", mutation.name());
    }
    let mut out = format!("denied: {} of pull request #{pr}\n", mutation.name());
    for (code, reason) in found.reason_codes.iter().zip(&found.reasons) {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "  {}: {}", code.name(), one_line(reason));
    }
    out
}
