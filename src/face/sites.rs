//! `sites`: every site of a checkout, without policy.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::{Args, CommandFactory, ValueEnum};

use super::cli::Cli;
use super::known::Known;
use super::output::OutputArgs;
use super::project::Project;
use super::stdin::StdinArgs;
use super::{Failure, Outcome, output, progress, unread};
use crate::base::facts::Language;
use crate::data::config_entries::language_of;
use crate::data::suggest;
use crate::lang::files::language_of as language_of_file;
use crate::render;
use crate::scan::cache::Cache;
use crate::scan::{self, Scan, ScanRequest, Watch};

/// Arguments of `sites`.
#[derive(Debug, Args)]
pub struct SitesArgs {
    /// Files and folders to read; the working folder if none is given, standard input for `-`.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = SitesFormat::Text, value_name = "FORMAT")]
    pub format: SitesFormat,
    /// Where the result goes.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The name of standard input.
    #[command(flatten)]
    pub stdin: StdinArgs,
    /// Options of the scan.
    #[command(flatten)]
    pub scan: ScanArgs,
}

/// Options that every command that scans has.
#[derive(Debug, Args)]
pub struct ScanArgs {
    /// Read only these languages, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = Known::languages(), hide_possible_values = true)]
    pub language: Vec<String>,
    /// Look at every file anew, and keep nothing for later runs.
    #[arg(long)]
    pub no_cache: bool,
    /// Where results are kept between runs, instead of the user's cache folder.
    #[arg(long, value_name = "FOLDER", env = "RESTARTLINT_CACHE_DIR", hide_env_values = true)]
    pub cache_dir: Option<PathBuf>,
    /// Parse every Python file whole: slow, and the same sites. It shows that nothing is left out.
    #[arg(long, hide = true)]
    pub whole: bool,
    /// Worker threads; one a core unless given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

impl ScanArgs {
    /// Every language, on every core.
    pub fn everything() -> ScanArgs {
        ScanArgs { language: Vec::new(), no_cache: false, cache_dir: None, whole: false, jobs: None }
    }

    /// Where results are kept; nowhere if that is not wanted, or there is no place for it.
    fn cache(&self) -> Option<Cache> {
        if self.no_cache {
            return None;
        }
        let given = self.cache_dir.clone().filter(|folder| !folder.as_os_str().is_empty());
        let folder = given.or_else(|| Some(dirs::cache_dir()?.join("restartlint")))?;
        // Two builds of one version may find different things.
        let program = std::env::current_exe().and_then(std::fs::metadata).ok()?;
        let build = format!("{} {} {:?}", env!("CARGO_PKG_VERSION"), program.len(), program.modified().ok());
        Some(Cache { folder, build, begun: SystemTime::now() })
    }

    /// The languages, or every unknown name with the nearest known one.
    pub fn languages(&self) -> Result<Option<BTreeSet<Language>>, Failure> {
        let mut set = BTreeSet::new();
        let mut unknown = Vec::new();
        for name in &self.language {
            match language_of(name.trim()) {
                Some(language) => {
                    set.insert(language);
                }
                None => {
                    let known = Language::ALL.map(Language::name);
                    let near = suggest::did_you_mean(name, known);
                    unknown.push(format!(
                        "unknown language `{name}`; {}",
                        if near.is_empty() {
                            format!("the languages are {}", known.join(", "))
                        } else {
                            near
                        }
                    ));
                }
            }
        }
        if !unknown.is_empty() {
            return Err(Failure::new(unknown.join("\n")));
        }
        Ok((!set.is_empty()).then_some(set))
    }
}

/// How `sites` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SitesFormat {
    /// A line a site.
    Text,
    /// One document.
    Json,
    /// An object a line.
    Jsonl,
}

/// Runs the scan that a command asks for, with a progress bar, and says what could not be read.
pub(super) fn scan_project(
    project: &Project,
    args: &ScanArgs,
    watch: Watch,
    stdin: Option<scan::Stdin>,
    cli: &Cli,
) -> Result<Scan, Failure> {
    scan_to(project, args, watch, stdin, cli, true)
}

/// The same; `reach` says whether the daemon's reach is asked for.
fn scan_to(
    project: &Project,
    args: &ScanArgs,
    watch: Watch,
    stdin: Option<scan::Stdin>,
    cli: &Cli,
    reach: bool,
) -> Result<Scan, Failure> {
    let stdin_given = stdin.as_ref().map(|s| s.name.clone());
    let bar = progress::Bar::new(cli.quiet);
    let at = |done, total| bar.at(done, total);
    let request = ScanRequest {
        root: project.root.clone(),
        paths: project.paths.clone(),
        stdin,
        config: &project.config,
        watch,
        languages: args.languages()?,
        jobs: args.jobs.map(usize::from),
        reach,
        cache: args.cache(),
        whole: args.whole,
        progress: Some(&at),
    };
    let scan = scan::scan(&request);
    bar.end();
    let scan = scan.map_err(|e| Failure::new(e.to_string()))?;
    if stdin_given.is_none() {
        note_unread(project, cli);
    }
    for (path, why) in &scan.notes {
        output::note(cli, &format!("restartlint: note: {} {why}", project.as_given(path)));
    }
    for (path, why) in &scan.unreadable {
        output::warn(&format!("{} {why}", project.as_given(path)));
    }
    Ok(scan)
}

/// Why a run had nothing to look at, if so: that it found nothing then says nothing.
pub(super) fn nothing_read(project: &Project, scan: &Scan, args: &ScanArgs) -> Option<String> {
    if scan.tree.scanned > 0 || !scan.unreadable.is_empty() {
        return None;
    }
    let what = match (scan.tree.listed.is_empty(), project.config.exclude.is_empty()) {
        (true, true) => "the given paths hold no file that is not ignored",
        (true, false) => {
            "the given paths hold no file that is neither ignored nor excluded by the configuration's `exclude`"
        }
        (false, _) if !args.language.is_empty() => {
            "no file of the given paths is of a language that is asked for"
        }
        (false, _) => "no file of the given paths is of a kind that is read",
    };
    Some(format!("nothing was looked at: {what}"))
}

/// Warns of a run that had nothing to look at.
pub(super) fn tell_nothing_read(project: &Project, scan: &Scan, args: &ScanArgs) {
    if let Some(why) = nothing_read(project, scan, args) {
        output::warn(&format!("warning: {why}"));
    }
}

/// A file that is named and of no kind that is read: it was asked for, so it is told.
fn note_unread(project: &Project, cli: &Cli) {
    for path in project.paths.iter().filter(|p| p.is_file() && is_unread_kind(project, p)) {
        let name = crate::discover::relative(&project.root, path);
        let name = project.as_given(&name);
        output::note(cli, &format!("restartlint: note: {name} is of no kind that is read"));
    }
}

/// Whether a file is of no kind that is read, by its name and its first bytes.
pub(super) fn is_unread_kind(project: &Project, path: &Path) -> bool {
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|f| f.take(512).read_to_end(&mut head));
    let name = crate::discover::relative(&project.root, path);
    read.is_ok() && language_of_file(&name, &head).is_none()
}

/// The failure of a word that is no path and was meant to be a command, alone or with words behind it that
/// are none either: nothing was asked for that could be looked at, so there is no result.
pub(super) fn command_meant(paths: &[PathBuf]) -> Option<Failure> {
    let (word, rest) = paths.split_first()?;
    if rest.iter().any(|path| path.exists()) {
        return None;
    }
    let text = word.to_str().filter(|text| !text.contains(['/', '.']) && !word.exists())?;
    let commands = super::cli::Cli::command();
    let names: Vec<&str> = commands.get_subcommands().map(|c| c.get_name()).collect();
    let near = suggest::nearest(text, names)?;
    Some(Failure::new(format!("{text} does not exist; did you mean the command `{near}`?")))
}

/// Whether no path could be looked at, so that there is no answer.
pub(super) fn unseen(scan: &Scan) -> bool {
    scan.tree.listed.is_empty() && !scan.unreadable.is_empty()
}

/// The failure of a run that did not look at everything it was asked to look at.
pub(super) fn incomplete(scan: &Scan) -> Option<Failure> {
    let count = scan.unreadable.len();
    (count > 0).then(|| {
        Failure::new(format!(
            "{count} path{} could not be looked at (see above); what is printed is not the whole answer",
            if count == 1 { "" } else { "s" }
        ))
    })
}

/// Runs `sites`.
pub fn run(args: &SitesArgs, cli: &Cli) -> Result<Outcome, Failure> {
    let project = args.stdin.project(cli, &args.paths)?;
    let stdin = args.stdin.read(&project, &args.paths)?;
    let only = stdin.as_ref().map(|s| s.name.clone());
    let scan = scan_to(&project, &args.scan, Watch::default(), stdin, cli, false)?;
    let text = match args.format {
        SitesFormat::Text => render::sites::text(&scan.tree, &scan.sources),
        SitesFormat::Json => render::sites::json(&scan.tree, &scan.sources),
        SitesFormat::Jsonl => render::sites::jsonl(&scan.tree, &scan.sources),
    };
    args.output.write(&text, !unseen(&scan))?;
    tell_nothing_read(&project, &scan, &args.scan);
    unread::tell(&project, &scan, only.as_deref()).map_or(Ok(Outcome::Clean), Err)
}
