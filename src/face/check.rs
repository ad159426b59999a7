//! `check`: the linter, and the default command.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use super::cli::Cli;
use super::known::Known;
use super::output::OutputArgs;
use super::project::Project;
use super::sites::{ScanArgs, command_meant, incomplete, nothing_read, scan_project, unseen};
use super::stdin::StdinArgs;
use super::{Failure, Outcome, output, policy, unread};
use crate::base::finding::{Finding, Severity};
use crate::base::source::Source;
use crate::check::misspelt::{self, Misspelt};
use crate::check::{self, Ctx, Document, Inputs, Presence, contradiction};
use crate::data::inventory::{Classification, Inventory};
use crate::render::{self, Look};
use crate::report::baseline::{Baseline, Entry};
use crate::report::decide::{Scope, decide};
use crate::report::{Report, Summary};
use crate::scan::{Scan, Watch, daemons};

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Files and folders to read; the working folder if none is given, standard input for `-`.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// How to print: text, concise, json, jsonl, sarif, github, gitlab or junit.
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_default_value = true,
          value_parser = PossibleValuesParser::new(render::TABLE.iter().map(|f| f.name)))]
    pub format: String,
    /// Where the result goes.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The least severity that makes the exit status 1.
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Error)]
    pub fail_on: FailOn,
    /// Show only these rules: codes, names, or the beginning of codes, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "CODES", value_parser = Known::rules(), hide_possible_values = true)]
    pub select: Vec<String>,
    /// Do not show these rules.
    #[arg(long, value_delimiter = ',', value_name = "CODES", value_parser = Known::rules(), hide_possible_values = true)]
    pub ignore: Vec<String>,
    /// Hide the findings that this file lists.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write every finding to this file, as a baseline for later runs.
    #[arg(long, value_name = "FILE")]
    pub write_baseline: Option<PathBuf>,
    /// The name of standard input.
    #[command(flatten)]
    pub stdin: StdinArgs,
    /// Add the number of findings by rule.
    #[arg(long)]
    pub statistics: bool,
    /// Options of the scan.
    #[command(flatten)]
    pub scan: ScanArgs,
}

/// The least severity that fails a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Errors.
    Error,
    /// Warnings and errors.
    Warning,
    /// Any finding.
    Note,
    /// Nothing.
    Never,
}

impl FailOn {
    fn least(self) -> Option<Severity> {
        match self {
            FailOn::Error => Some(Severity::Error),
            FailOn::Warning => Some(Severity::Warning),
            FailOn::Note => Some(Severity::Note),
            FailOn::Never => None,
        }
    }
}

/// Everything that a check found out.
pub(super) struct Checked {
    /// The report.
    pub report: Report,
    /// The scan that it comes from.
    pub scan: Scan,
    /// Why there was nothing to look at, if so.
    pub nothing: Option<String>,
    project: Project,
    inventory: Option<Inventory>,
    stale: Vec<Entry>,
    misspelt: Vec<Misspelt>,
    /// Files were named, and they are not all of the project.
    partial: bool,
}

impl CheckArgs {
    /// A check of these paths with these rules, all else as the command has it.
    #[cfg(feature = "mcp")]
    pub(super) fn of(
        paths: Vec<PathBuf>,
        select: Vec<String>,
        ignore: Vec<String>,
        scan: ScanArgs,
    ) -> CheckArgs {
        CheckArgs {
            paths,
            format: "json".to_owned(),
            output: OutputArgs::default(),
            fail_on: FailOn::Error,
            select,
            ignore,
            baseline: None,
            write_baseline: None,
            stdin: StdinArgs::default(),
            statistics: false,
            scan,
        }
    }
}

/// Runs `check`.
pub fn run(args: &CheckArgs, cli: &Cli) -> Result<Outcome, Failure> {
    let checked = checked(args, cli)?;
    let Checked { report, scan, stale, .. } = &checked;
    let failure = incomplete(scan);
    print(args, cli, report, scan, failure.is_none())?;
    say(args, cli, &checked);
    if let Some(failure) = failure {
        return Err(failure);
    }
    let denied = report.fails(args.fail_on.least()) || (!stale.is_empty() && args.fail_on != FailOn::Never);
    Ok(if denied { Outcome::Denied } else { Outcome::Clean })
}

/// Holds a checkout against its inventory; prints nothing of the result.
pub(super) fn checked(args: &CheckArgs, cli: &Cli) -> Result<Checked, Failure> {
    let start = Instant::now();
    StdinArgs::asked(&args.paths)?;
    if let Some(failure) = command_meant(&args.paths) {
        return Err(failure);
    }
    let project = args.stdin.project(cli, &args.paths)?;
    if args.write_baseline.as_deref() == Some(Path::new("-")) {
        return Err(Failure::new(
            "`--write-baseline -`: standard output carries the result; name a file for the baseline",
        ));
    }
    let settings = policy::settings(&project.config, &args.select, &args.ignore)?;
    let baseline = args.baseline.as_deref().map(read_baseline).transpose()?;
    let inventory = project.inventory()?;
    let document = project.document(inventory.as_ref())?;
    let stdin = args.stdin.read(&project, &args.paths)?;
    let only = stdin.as_ref().map(|s| s.name.clone());
    let mut scan = scan_project(&project, &args.scan, watch(&project, inventory.as_ref()), stdin, cli)?;
    let whole = only.is_none() && args.scan.language.is_empty() && project.is_whole();
    let presence = unread::presence(&project, &scan, inventory.as_ref(), whole);
    add_sources(&mut scan, &project, inventory.as_ref(), document.as_ref());
    let ctx = Ctx::new(Inputs {
        tree: &scan.tree,
        sources: &scan.sources,
        config: &project.config,
        inventory: inventory.as_ref(),
        document: document.as_ref(),
        presence: &presence,
    });
    if let Some(faults) = contradiction::faults(&ctx) {
        return Err(Failure::Report(miette::Report::new(faults.report())));
    }
    let mut proposed = check::run(&ctx);
    if let Some(only) = &only {
        proposed.retain(|f: &Finding| f.place.path == *only);
    } else if !project.is_whole() {
        // The drafts of an inventory that was not asked for are another change's work.
        let asked = |path: &String| scan.tree.listed.binary_search(path).is_ok();
        proposed.retain(|f: &Finding| f.code != "RL308" || asked(&f.place.path));
    }
    let in_scope = |entry: &Entry| scope(entry, &scan, &presence, !args.scan.language.is_empty());
    let in_scope = Scope { whole: presence.whole, entry: &in_scope, unused: "RL403" };
    let first = decide(proposed.clone(), &ctx.annotations, &settings, baseline.as_ref(), in_scope);
    let decision = match &args.write_baseline {
        None => first,
        // A baseline of a run that did not see everything would take the place of a whole one.
        Some(file) if incomplete(&scan).is_some() => {
            output::warn(&format!("{} is not written: not every path was looked at", output::shown(file)));
            first
        }
        Some(file) => {
            let all = decide(proposed.clone(), &ctx.annotations, &settings, None, in_scope);
            let new = Baseline::of(&all.shown);
            output::result(&new.write(), Some(file))?;
            let count = new.entries.len();
            output::note(cli, &format!("{count} findings written to {}", output::shown(file)));
            decide(proposed, &ctx.annotations, &settings, Some(&new), in_scope)
        }
    };
    let summary = Summary { partial: !whole, ..summary(&ctx, &scan, &decision, start) };
    let stale = decision.stale;
    // A single file on standard input is no question about the inventory.
    let mut misspelt = if only.is_none() { misspelt::all(&ctx) } else { Vec::new() };
    misspelt.retain(|found| !decision.shown.iter().any(|shown| found.is_told_by(&shown.finding)));
    let report = Report { findings: decision.shown, daemons: scan.tree.daemons.clone(), summary };
    let report = report.counted();
    let partial = only.is_none() && !project.is_whole();
    let nothing = nothing_read(&project, &scan, &args.scan);
    Ok(Checked { report, scan, nothing, project, inventory, stale, misspelt, partial })
}

/// A misspelt primitive in a line, with its place.
pub(super) fn warning(Misspelt { place, message, path_id }: &Misspelt) -> String {
    format!(
        "warning: {}:{}:{}: the path `{path_id}` matches nothing by this: {message}",
        place.path, place.start.line, place.start.column
    )
}

fn read_baseline(file: &Path) -> Result<Baseline, Failure> {
    let text = std::fs::read_to_string(file).map_err(|e| {
        Failure::new(format!(
            "the baseline {} cannot be read: {e}; `--write-baseline` writes one",
            output::shown(file)
        ))
    })?;
    Baseline::read(&text)
        .map_err(|why| Failure::new(format!("the baseline {} is not usable: {why}", output::shown(file))))
}

/// The names that readers look for.
pub(super) fn watch(project: &Project, inventory: Option<&Inventory>) -> Watch {
    let removed = inventory
        .into_iter()
        .flat_map(|i| &i.paths)
        .filter(|p| p.classification.value == Classification::Removed);
    let mut symbols: Vec<String> = removed.flat_map(|p| &p.symbols).map(|s| s.value.clone()).collect();
    symbols.sort();
    symbols.dedup();
    Watch { symbols, assertions: project.config.assertions() }
}

pub(super) fn add_sources(
    scan: &mut Scan,
    project: &Project,
    inventory: Option<&Inventory>,
    document: Option<&Document>,
) {
    if let Some(origin) = &project.config.origin {
        scan.sources.insert(origin.file.clone(), Source::new(origin.text.clone()));
    }
    if let Some(inventory) = inventory {
        scan.sources.insert(inventory.file.clone(), Source::new(inventory.text.clone()));
    }
    if let Some(Document { path, text: Some(text), .. }) = document {
        scan.sources.insert(path.clone(), Source::new(text.clone()));
    }
}

/// Whether this run could have met an entry of the baseline.
fn scope(entry: &Entry, scan: &Scan, presence: &Presence, limited: bool) -> bool {
    // With `--language`, a listed file may not have been read: only one that says anything counts.
    let looked_at = if limited {
        scan.tree.files.binary_search_by(|f| f.path.cmp(&entry.path)).is_ok()
    } else {
        scan.tree.listed.binary_search(&entry.path).is_ok()
    };
    presence.whole || looked_at
}

fn summary(
    ctx: &Ctx<'_>,
    scan: &Scan,
    decision: &crate::report::decide::Decision,
    start: Instant,
) -> Summary {
    let excepted = |v: &&check::judge::SiteView<'_>| {
        matches!(v.verdict, check::judge::Verdict::Covered { exception: true, .. })
    };
    Summary {
        files_seen: scan.tree.listed.len(),
        files_scanned: scan.tree.scanned,
        sites: ctx.views.len(),
        files_with_sites: scan.tree.files.iter().filter(|file| !file.sites.is_empty()).count(),
        baselined: decision.baselined,
        silenced: decision.silenced,
        daemon_exceptions: ctx.views.iter().filter(excepted).count(),
        duration_ms: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
        ..Summary::default()
    }
}

/// Prints the result. Where not everything could be looked at, there is no verdict.
fn print(args: &CheckArgs, cli: &Cli, report: &Report, scan: &Scan, whole: bool) -> Result<(), Failure> {
    let Some(format) = render::find(&args.format) else {
        return Err(Failure::new(format!("unknown format `{}`", args.format)));
    };
    let look = Look {
        sources: &scan.sources,
        color: output::stdout_color(cli.color, args.output.file().is_some()),
        statistics: args.statistics,
        verdict: whole && !cli.quiet,
    };
    args.output.write(&(format.render)(report, &look), !unseen(scan))?;
    if args.statistics && !format.has_verdict {
        output::note(cli, render::concise::statistics(report).trim_end());
    }
    Ok(())
}

/// What is worth knowing beside the result.
fn say(
    args: &CheckArgs,
    cli: &Cli,
    Checked { report, scan, nothing, project, inventory, stale, misspelt, partial }: &Checked,
) {
    for file in daemons::undeclared(&project.config, &scan.tree) {
        let why = file.server.as_deref().unwrap_or("it builds a server");
        output::note(
            cli,
            &format!("restartlint: note: {} is no declared daemon module, but {why}", file.path),
        );
    }
    if let Some(why) = nothing {
        output::warn(&format!("warning: {why}"));
    }
    let outside = report.findings.iter().any(|f| f.finding.code == "RL301");
    if outside && !report.summary.partial && scan.tree.daemons.is_empty() {
        output::note(
            cli,
            "restartlint: note: no daemon module is declared or found, so nothing here is known to lie in a daemon's reach; \
             declare it with `daemon = [\"server.py\"]` in restartlint.toml",
        );
    }
    // The verdict for people says it too, but for what it means for a finding.
    let says = render::find(&args.format).is_some_and(|format| format.has_verdict);
    if *partial && !scan.tree.listed.is_empty() && (outside || !says) {
        output::note(
            cli,
            "restartlint: note: only a part of the project was looked at, so the daemon's reach is not known in full: what is \
             RL301 here may be RL101 to RL107 in a check of the whole project",
        );
    }
    if cli.verbose > 0 {
        for daemon in &scan.tree.daemons {
            output::note(cli, &format!("restartlint: daemon module {}: {}", daemon.path, daemon.reason));
        }
    }
    if inventory.is_none() && report.summary.sites > 0 {
        output::note(
            cli,
            "restartlint: note: there is no inventory; `restartlint init` drafts one with every site found",
        );
    }
    for found in misspelt {
        output::warn(&warning(found));
    }
    for entry in stale {
        output::warn(&format!(
            "error: the baseline lists {} in {}{} ({}), which no longer occurs; write the baseline anew, or the \
             stale entry hides the next one",
            entry.code,
            entry.path,
            entry.symbol.as_ref().map(|s| format!(", `{s}`")).unwrap_or_default(),
            entry.fingerprint
        ));
    }
}
