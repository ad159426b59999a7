//! What `impact` and `drain` have in common on the command line: the state, the request
//! and the present.

use std::path::{Path, PathBuf};

use clap::Args;
use jiff::Timestamp;

use super::Failure;
use super::cli::Cli;
use super::input::Source;
use super::project::Project;
use super::store::store_path;
use crate::data::suggest;
use crate::edge::{authority, clock, coordinator, process};
use crate::pass::authority::{Authority, AuthoritySource};
use crate::pass::classes::{CLASS_NAMES, Role};
use crate::pass::impact::report::Evidence;
use crate::pass::impact::request::{Request, Requester};
use crate::pass::impact::{Question, Settings, Snapshot};
use crate::pass::instant::parse_instant;

/// Where the state and the request come from.
#[derive(Debug, Args)]
pub struct QuestionArgs {
    /// The recorded state as JSON (`-`: standard input).
    #[arg(long, value_name = "FILE|-", value_parser = Source::parse)]
    pub snapshot: Option<Source>,
    /// The store. Alone, the state is observed from it; beside a snapshot it only knows used proofs and keeps incidents.
    #[arg(long, value_name = "DB")]
    pub store: Option<PathBuf>,
    /// The request as JSON (`-`: standard input); or the options that follow.
    #[arg(long, value_name = "FILE|-", value_parser = Source::parse)]
    pub request: Option<Source>,
    /// The request, option by option.
    #[command(flatten)]
    pub words: RequestWords,
    /// The present of a recorded state (RFC 3339); the clock's if not given.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub now: Option<Timestamp>,
}

/// A request without a file.
#[derive(Debug, Args)]
pub struct RequestWords {
    /// The restart class.
    #[arg(long, value_name = "CLASS", conflicts_with = "request")]
    pub class: Option<String>,
    /// The requester's role.
    #[arg(long, value_name = "ROLE", conflicts_with = "request")]
    pub role: Option<String>,
    /// The requester's session.
    #[arg(long, value_name = "ID", conflicts_with = "request")]
    pub session: Option<String>,
    /// The session to restart.
    #[arg(long, value_name = "ID", conflicts_with = "request")]
    pub target_session: Option<String>,
    /// The role to restart.
    #[arg(long, value_name = "ROLE", conflicts_with = "request")]
    pub target_role: Option<String>,
    /// The connector to restart.
    #[arg(long, value_name = "NAME", conflicts_with = "request")]
    pub target_connector: Option<String>,
    /// Ask that live work be overridden; the authority comes from the environment alone.
    #[arg(long = "override", conflicts_with = "request")]
    pub request_override: bool,
    /// Ask that the drain gate be passed without a proof; the authority comes from the environment alone.
    #[arg(long, conflicts_with = "request")]
    pub break_glass: bool,
}

/// A question that was read in full.
#[derive(Debug)]
pub struct Asked {
    snapshot: Snapshot,
    evidence: Evidence,
    request: Request,
    settings: Settings,
    authority: Authority,
    /// The present.
    pub now: Timestamp,
}

impl Asked {
    /// A request against the state that the store and the process table show now.
    pub fn observed(
        request: Request,
        store: &Path,
        source: AuthoritySource,
        cli: &Cli,
    ) -> Result<Asked, Failure> {
        let settings = settings(cli)?;
        let now = clock::now();
        let snapshot = coordinator::observe(store, now, &process::alive_since)?;
        let authority = authority::read(source);
        Ok(Asked { snapshot, evidence: Evidence::Observed, request, settings, authority, now })
    }

    /// What the request names and nobody knows, with the name that was perhaps meant. A denial says only that it is unknown.
    pub fn hints(&self) -> Vec<String> {
        let roles = Role::ALL.map(Role::name);
        let request = &self.request;
        let role = Some(request.requester.role.as_str());
        let asked: [(&str, Option<&str>, &[&str]); 3] = [
            ("restart class", Some(request.restart_class.as_str()), &CLASS_NAMES),
            ("role", role, &roles),
            ("target role", request.target_role.as_deref(), &roles),
        ];
        let hint = |(kind, name, known): (&str, Option<&str>, &[&str])| {
            let name = name.filter(|name| !known.contains(name))?;
            let near = suggest::did_you_mean(name, known.iter().copied());
            let help = if near.is_empty() { format!("there are {}", known.join(", ")) } else { near };
            Some(format!("no {kind} is called `{name}`; {help}"))
        };
        asked.into_iter().filter_map(hint).collect()
    }

    /// The question as the passes take it.
    pub fn question(&self) -> Question<'_> {
        Question {
            snapshot: &self.snapshot,
            evidence: self.evidence,
            request: &self.request,
            authority: self.authority,
            now: self.now,
            settings: self.settings,
        }
    }
}

impl QuestionArgs {
    /// The store: the one that was named, else the configured one where no snapshot was named.
    pub fn store(&self, cli: &Cli) -> Result<Option<PathBuf>, Failure> {
        match (&self.store, &self.snapshot) {
            (None, Some(_)) => Ok(None),
            (named, _) => store_path(named.as_deref(), cli).map(Some),
        }
    }

    /// Reads the request and the state.
    pub fn ask(&self, cli: &Cli) -> Result<Asked, Failure> {
        if self.snapshot == Some(Source::Stdin) && self.request == Some(Source::Stdin) {
            return Err(Failure::new(
                "standard input holds one document; name a file for --snapshot or --request",
            ));
        }
        let request = match &self.request {
            Some(source) => source.read()?.value(Request::from_json)?,
            None => self.words.request()?,
        };
        let source = AuthoritySource::CallerEnvironment;
        match &self.snapshot {
            Some(recorded) => Ok(Asked {
                snapshot: recorded.read()?.value(Snapshot::from_json)?,
                evidence: Evidence::Recorded,
                request,
                settings: settings(cli)?,
                authority: authority::read(source),
                now: self.now.unwrap_or_else(clock::now),
            }),
            None if self.now.is_some() => Err(Failure::new(
                "--now goes with a recorded state (--snapshot): what is observed is of the present",
            )),
            None => Asked::observed(request, &self.observed_store(cli)?, source, cli),
        }
    }
}

/// What the configuration says of the coordinator.
fn settings(cli: &Cli) -> Result<Settings, Failure> {
    let minutes = Project::open(cli, &[])?.config.coordinator.heartbeat_window_minutes;
    Ok(Settings { heartbeat_window_s: minutes * 60 })
}

impl QuestionArgs {
    /// The store to observe; without one, and without a snapshot, there is no state.
    fn observed_store(&self, cli: &Cli) -> Result<PathBuf, Failure> {
        match self.store(cli)? {
            Some(store) => Ok(store),
            None => Err(Failure::new("name the state: --snapshot FILE, or --store DB to observe it")),
        }
    }
}

impl RequestWords {
    fn request(&self) -> Result<Request, Failure> {
        let missing =
            |option: &str| Failure::new(format!("the request lacks {option}; give it, or --request FILE"));
        let session_id = self.session.clone().filter(|id| !id.trim().is_empty());
        Ok(Request {
            restart_class: self.class.clone().ok_or_else(|| missing("--class"))?,
            requester: Requester {
                session_id: session_id.ok_or_else(|| missing("--session"))?,
                role: self.role.clone().ok_or_else(|| missing("--role"))?,
            },
            target_session_id: self.target_session.clone(),
            target_role: self.target_role.clone(),
            target_connector: self.target_connector.clone(),
            request_override: self.request_override,
            request_break_glass: self.break_glass,
        })
    }
}

/// An instant on the command line.
pub fn instant(text: &str) -> Result<Timestamp, String> {
    parse_instant(text).ok_or_else(|| "no instant such as 2026-07-23T06:30:00Z".to_owned())
}
