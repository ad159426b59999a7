//! `inventory`: check it, render its document, show an entry, assert an attempt's path id.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::attempt::{Attempt, PathEntry};
use super::check::{add_sources, warning, watch};
use super::cli::Cli;
use super::project::Project;
use super::sites::{ScanArgs, incomplete, scan_project};
use super::{Failure, Outcome, output, policy, unread};
use crate::base::finding::Finding;
use crate::base::terminal::{one_line, visible};
use crate::check::misspelt::{self, Misspelt};
use crate::check::{Ctx, Inputs, contradiction, document, entries};
use crate::data::inventory::document::updated;
use crate::data::inventory::{Inventory, RestartPath};
use crate::data::suggest;
use crate::report::decide;
use crate::scan::Scan;

/// Arguments of `inventory`.
#[derive(Debug, Args)]
pub struct InventoryArgs {
    /// What to do with it.
    #[command(subcommand)]
    pub action: Action,
}

/// What to do with the inventory.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Is it well-formed, decided, true of the sources, and its document in step?
    Check {
        /// A folder of the project, or its inventory; the working folder if none is given.
        path: Option<PathBuf>,
    },
    /// Write its document; prose around the generated part is kept.
    ///
    /// The document is the one that `inventory-doc` names; where nothing is configured, it stands beside the
    /// inventory under its name with `.md`: `restart-paths.md`.
    Render {
        /// A folder of the project, or its inventory; the working folder if none is given.
        path: Option<PathBuf>,
    },
    /// Print one entry; without an id, the ids that there are.
    Show {
        /// The path's id.
        id: Option<String>,
        /// How to print.
        #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
        format: Format,
    },
    /// Hold a restart attempt against the inventory: it must name a registered path.
    ///
    /// Registered is not permitted: forbidden and removed paths are registered too.
    Assert {
        /// The path's id.
        id: String,
        /// The path must be sanctioned as well.
        #[arg(long)]
        permitted: bool,
        /// How to print.
        #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
        format: Format,
    },
}

/// How an entry is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A line a key.
    Text,
    /// One document.
    Json,
}

/// Runs `inventory`.
pub fn run(args: &InventoryArgs, cli: &Cli) -> Result<Outcome, Failure> {
    match &args.action {
        Action::Check { path } => {
            let (project, inventory) = open(cli, path.as_deref())?;
            check(&project.into_whole(), &inventory, cli)
        }
        Action::Render { path } => render(&open(cli, path.as_deref())?, cli),
        Action::Show { id: Some(id), format } => show(&open(cli, None)?, id, *format),
        Action::Show { id: None, format } => list(&open(cli, None)?, *format),
        Action::Assert { id, permitted, format } => assert(&open(cli, None)?, id, *permitted, *format),
    }
}

/// The project of a path and its inventory, which must be there.
pub(super) fn open(cli: &Cli, path: Option<&Path>) -> Result<(Project, Inventory), Failure> {
    let project = Project::of_folder(cli, path)?;
    with_inventory(project)
}

/// A project with its inventory, which must be there.
pub(super) fn with_inventory(project: Project) -> Result<(Project, Inventory), Failure> {
    match project.inventory()? {
        Some(inventory) => Ok((project, inventory)),
        None => Err(Failure::new(format!(
            "there is no inventory: {} does not exist; `restartlint init` drafts one",
            output::shown(&project.file(&project.inventory_file()))
        ))),
    }
}

/// What is not in order about the inventory itself, each as `check` finds it. Two sanctioning paths that
/// contradict each other over a site are a failure. The sources are read only where a path sanctions any of them.
/// Beside them, the primitives that are misspelt and of which no finding tells.
pub(super) fn faults(
    project: &Project,
    inventory: &Inventory,
    cli: &Cli,
) -> Result<(Vec<Finding>, Vec<Misspelt>), Failure> {
    let sanctions = inventory.paths.iter().any(|path| path.classification.value.sanctions());
    let mut scan = if sanctions {
        scan_project(project, &ScanArgs::everything(), watch(project, Some(inventory)), None, cli)?
    } else {
        Scan::default()
    };
    if let Some(failure) = incomplete(&scan) {
        return Err(failure);
    }
    let written = project.document(Some(inventory))?;
    let presence = unread::presence(project, &scan, Some(inventory), project.is_whole());
    add_sources(&mut scan, project, Some(inventory), written.as_ref());
    let ctx = Ctx::new(Inputs {
        tree: &scan.tree,
        sources: &scan.sources,
        config: &project.config,
        inventory: Some(inventory),
        document: written.as_ref(),
        presence: &presence,
    });
    if let Some(faults) = contradiction::faults(&ctx) {
        return Err(Failure::Report(miette::Report::new(faults.report())));
    }
    let settings = policy::settings(&project.config, &[], &[])?;
    let rules = [entries::stale, entries::daemon_sanctioned, entries::unclassified, document::run];
    let mut found: Vec<Finding> = rules.iter().flat_map(|rule| rule(&ctx)).collect();
    found.retain(|finding| settings.get(finding.code).is_some_and(|setting| setting.level.is_some()));
    decide::sort(&mut found);
    let mut misspelt = misspelt::all(&ctx);
    misspelt.retain(|one| !found.iter().any(|finding| one.is_told_by(finding)));
    Ok((found, misspelt))
}

/// A finding on a line: its place, the rule, and what is wrong.
pub(super) fn line(finding: &Finding) -> String {
    let Finding { place, code, message, .. } = finding;
    one_line(&format!("{}:{}:{}: {code} {message}", place.path, place.start.line, place.start.column))
}

fn check(project: &Project, inventory: &Inventory, cli: &Cli) -> Result<Outcome, Failure> {
    let (faults, misspelt) = faults(project, inventory, cli)?;
    for found in &misspelt {
        output::warn(&warning(found));
    }
    if faults.is_empty() {
        let count = inventory.paths.len();
        let plural = if count == 1 { "" } else { "s" };
        output::result(&format!("{}: {count} path{plural}, in order\n", one_line(&inventory.file)), None)?;
        return Ok(Outcome::Clean);
    }
    let mut told = BTreeSet::new();
    let mut lines = String::new();
    for fault in &faults {
        lines += &line(fault);
        // What is to be done is said once of faults that are alike.
        if told.insert(&fault.help) {
            lines += &one_line(&format!("; {}", fault.help));
        }
        lines.push('\n');
    }
    output::result(&lines, None)?;
    Ok(Outcome::Denied)
}

fn render((project, inventory): &(Project, Inventory), cli: &Cli) -> Result<Outcome, Failure> {
    let name = project.document_file();
    let file = project.file(&name);
    let old = match std::fs::read_to_string(&file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(Failure::new(format!("{} cannot be read: {error}", output::shown(&file)))),
    };
    let new = match &old {
        Some(text) => updated(text, inventory),
        None => updated("# Restart paths\n", inventory),
    };
    if old.as_ref() == Some(&new) {
        output::note(cli, &format!("{name} is in step"));
        return Ok(Outcome::Clean);
    }
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|e| Failure::new(format!("{} cannot be made: {e}", output::shown(folder))))?;
    }
    output::result(&new, Some(&file))?;
    output::note(cli, &format!("{name} is written"));
    Ok(Outcome::Clean)
}

/// An entry, or why there is none, with the nearest ids.
pub(super) fn find<'a>(inventory: &'a Inventory, id: &str) -> Result<&'a RestartPath, String> {
    inventory.get(id).ok_or_else(|| {
        let near = suggest::ranked(id, inventory.ids());
        let help = if near.is_empty() {
            format!("the registered ids are {}", inventory.ids().collect::<Vec<_>>().join(", "))
        } else {
            format!("the nearest are {}", near.join(", "))
        };
        visible(&format!("`{id}` is not registered in {}; {help}", inventory.file))
    })
}

/// Every entry: a line each, or all of them as one JSON array.
fn list((_, inventory): &(Project, Inventory), format: Format) -> Result<Outcome, Failure> {
    let text = match format {
        Format::Text => {
            let wide = inventory.ids().map(|id| id.chars().count()).max().unwrap_or(0);
            let line = |path: &RestartPath| {
                let classification = path.classification.value.name();
                one_line(&format!("{:wide$}  {classification}: {}", path.id.value, path.title)) + "\n"
            };
            inventory.paths.iter().map(line).collect()
        }
        Format::Json => json(&inventory.paths.iter().map(PathEntry::from).collect::<Vec<_>>())?,
    };
    output::result(&text, None)?;
    Ok(Outcome::Clean)
}

fn show((_, inventory): &(Project, Inventory), id: &str, format: Format) -> Result<Outcome, Failure> {
    match find(inventory, id) {
        Ok(path) => {
            let text = match format {
                Format::Text => entry(path),
                Format::Json => json(&PathEntry::from(path))?,
            };
            output::result(&text, None)?;
            Ok(Outcome::Clean)
        }
        Err(why) => {
            output::warn(&why);
            Ok(Outcome::Denied)
        }
    }
}

fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value);
    text.map(|t| t + "\n").map_err(|e| Failure::new(format!("the answer cannot be written: {e}")))
}

fn assert(
    (_, inventory): &(Project, Inventory),
    id: &str,
    permitted: bool,
    format: Format,
) -> Result<Outcome, Failure> {
    if format == Format::Json {
        let attempt = Attempt::of(inventory, id);
        output::result(&json(&attempt)?, None)?;
        let denied = !attempt.registered || (permitted && !attempt.permitted);
        return Ok(if denied { Outcome::Denied } else { Outcome::Clean });
    }
    let path = match find(inventory, id) {
        Ok(path) => path,
        Err(why) => {
            output::warn(&format!("{why}. A restart attempt must name a registered path"));
            return Ok(Outcome::Denied);
        }
    };
    let classification = path.classification.value;
    let sanctioned = classification.sanctions();
    let verdict = if sanctioned {
        "registered and sanctioned, if its guard holds"
    } else {
        "registered, and this path permits nothing"
    };
    // Whoever asks whether it is permitted knows of the difference.
    let difference = match permitted {
        true => "",
        false => ". Registered is not permitted: forbidden and removed paths are registered too",
    };
    let word = format!("{}\nverdict: {verdict}{difference}\n", entry(path).trim_end());
    output::result(&word, None)?;
    Ok(if permitted && !sanctioned { Outcome::Denied } else { Outcome::Clean })
}

/// An entry, a line a key.
fn entry(path: &RestartPath) -> String {
    let classification = path.classification.value;
    let list = |texts: Vec<String>| texts.join(", ");
    let mut out = String::new();
    for (key, text) in [
        ("id", path.id.value.clone()),
        ("title", path.title.clone()),
        ("classification", format!("{} ({})", classification.name(), path.meaning())),
        ("mechanism", path.mechanism.clone()),
        ("guard", path.guard.clone()),
        ("locations", list(path.locations.iter().map(|l| l.value.display()).collect())),
        ("primitives", list(path.primitives.iter().map(|p| p.value.text.clone()).collect())),
        ("commands", list(path.commands.iter().map(|c| c.value.text.clone()).collect())),
        ("symbols", list(path.symbols.iter().map(|s| s.value.clone()).collect())),
        ("processes", list(path.processes.iter().map(|s| s.value.clone()).collect())),
        ("guarded by", list(path.guarded_by.iter().map(|s| s.value.clone()).collect())),
        ("scope", if path.import_scope { "import".to_owned() } else { String::new() }),
        ("daemon exception", if path.daemon_exception { "yes".to_owned() } else { String::new() }),
        ("references", list(path.references.clone())),
        ("notes", path.notes.join(" ")),
    ] {
        if !text.is_empty() {
            out += &format!("{key}: {}\n", one_line(&text));
        }
    }
    out
}
