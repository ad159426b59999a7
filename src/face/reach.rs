//! `reach`: the call chains from the daemon to every site that it can reach.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::cli::Cli;
use super::output::OutputArgs;
use super::project::Project;
use super::sites::{ScanArgs, scan_project, tell_nothing_read, unseen};
use super::{Failure, Outcome, output, unread};
use crate::render::reach;
use crate::scan::Watch;

/// Arguments of `reach`.
#[derive(Debug, Args)]
pub struct ReachArgs {
    /// Files and folders to read; the working folder if none is given.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = ReachFormat::Text, value_name = "FORMAT")]
    pub format: ReachFormat,
    /// Where the result goes.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Options of the scan.
    #[command(flatten)]
    pub scan: ScanArgs,
}

/// How `reach` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReachFormat {
    /// Each site, and under it the steps that lead to it.
    Text,
    /// One document.
    Json,
    /// A graph for Graphviz.
    Dot,
    /// A page that stands alone.
    Html,
}

/// Runs `reach`.
pub fn run(args: &ReachArgs, cli: &Cli) -> Result<Outcome, Failure> {
    if args.paths.iter().any(|path| path.as_os_str() == "-") {
        let text = "`reach` follows a tree and reads no standard input; `check -` and `sites -` do";
        return Err(Failure::new(text.to_owned()));
    }
    let project = Project::open(cli, &args.paths)?;
    let scan = scan_project(&project, &args.scan, Watch::default(), None, cli)?;
    let found = reach::collect(&scan.tree, &scan.sources);
    let text = match args.format {
        ReachFormat::Text => reach::as_text(&found),
        ReachFormat::Json => reach::as_json(&found),
        ReachFormat::Dot => reach::as_dot(&found),
        ReachFormat::Html => reach::as_html(&found),
    };
    // Where no path could be looked at, there is no answer to print.
    let unseen = unseen(&scan);
    if !unseen || args.format != ReachFormat::Text || args.output.file().is_some() {
        args.output.write(&text, !unseen)?;
    }
    tell_nothing_read(&project, &scan, &args.scan);
    if unseen {
        // What could not be looked at is told below.
    } else if !project.is_whole() {
        output::note(
            cli,
            "restartlint: note: only a part of the project was looked at: chains from daemon modules or through files that \
             lie elsewhere are not shown",
        );
    } else if scan.tree.daemons.is_empty() {
        output::note(
            cli,
            "restartlint: note: no daemon module is declared or found; declare it with `daemon = [\"server.py\"]` in restartlint.toml",
        );
    }
    unread::tell(&project, &scan, None).map_or(Ok(Outcome::Clean), Err)
}
