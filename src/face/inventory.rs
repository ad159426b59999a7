//! `inventory`: check it, render its document, show an entry, assert an attempt's path id.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::attempt::{Attempt, PathEntry};
use super::cli::Cli;
use super::project::Project;
use super::sites::{ScanArgs, incomplete, scan_project};
use super::{Failure, Outcome, output};
use crate::base::source::Source;
use crate::base::terminal::{one_line, visible};
use crate::check::{Ctx, Inputs, Presence, contradiction};
use crate::data::inventory::document::{drift, updated};
use crate::data::inventory::draft;
use crate::data::inventory::{Classification, Inventory, RestartPath};
use crate::data::suggest;
use crate::scan::Watch;

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
    /// Is it well-formed, decided, and its document in step?
    Check {
        /// A folder of the project; the working folder if none is given.
        path: Option<PathBuf>,
    },
    /// Write its document; prose around the generated part is kept.
    ///
    /// The document is the one that `inventory-doc` names; where nothing is configured, it stands beside the
    /// inventory under its name with `.md`: `restart-paths.md`.
    Render {
        /// A folder of the project; the working folder if none is given.
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
            let (project, inventory) = open(cli, path)?;
            contradictions(&project, &inventory, cli)?;
            check(&project, &inventory)
        }
        Action::Render { path } => render(&open(cli, path)?, cli),
        Action::Show { id: Some(id), format } => show(&open(cli, &None)?, id, *format),
        Action::Show { id: None, format } => list(&open(cli, &None)?, *format),
        Action::Assert { id, permitted, format } => assert(&open(cli, &None)?, id, *permitted, *format),
    }
}

/// The project of a path and its inventory, which must be there.
pub(super) fn open(cli: &Cli, path: &Option<PathBuf>) -> Result<(Project, Inventory), Failure> {
    let paths: Vec<PathBuf> = path.iter().cloned().collect();
    let project = Project::open(cli, &paths)?;
    match project.inventory()? {
        Some(inventory) => Ok((project, inventory)),
        None => Err(Failure::new(format!(
            "there is no inventory: {} does not exist; `restartlint init` drafts one",
            output::shown(&project.file(&project.inventory_file()))
        ))),
    }
}

/// Two sanctioning paths may contradict each other over a site, which only a scan shows. It
/// is made only where there are paths of both sanctioning classes.
pub(super) fn contradictions(project: &Project, inventory: &Inventory, cli: &Cli) -> Result<(), Failure> {
    let classes: BTreeSet<Classification> = inventory
        .paths
        .iter()
        .map(|p| p.classification.value)
        .filter(|classification| classification.sanctions())
        .collect();
    if classes.len() < 2 {
        return Ok(());
    }
    let scan = scan_project(project, &ScanArgs::everything(), Watch::default(), None, cli)?;
    if let Some(failure) = incomplete(&scan) {
        return Err(failure);
    }
    let presence = Presence::default();
    let ctx = Ctx::new(Inputs {
        tree: &scan.tree,
        sources: &scan.sources,
        config: &project.config,
        inventory: Some(inventory),
        document: None,
        presence: &presence,
    });
    match contradiction::faults(&ctx) {
        Some(faults) => Err(Failure::Report(miette::Report::new(faults.report()))),
        None => Ok(()),
    }
}

/// What is not in order: the rule, and a line with its place.
pub(super) fn faults(
    project: &Project,
    inventory: &Inventory,
) -> Result<Vec<(&'static str, String)>, Failure> {
    let mut faults = Vec::new();
    for path in &inventory.paths {
        let fault = match draft::left(path).as_slice() {
            [] => continue,
            ["classification", ..] => format!("the path `{}` is still unclassified", path.id.value),
            left => format!(
                "the path `{}` is classified, and still has the {} of its draft",
                path.id.value,
                left.join(" and ")
            ),
        };
        let place = place(&inventory.file, &inventory.text, path.id.span.start);
        faults.push(("RL308", format!("{place}: RL308 {fault}")));
    }
    if let Some(document) = project.document(Some(inventory))? {
        let remedy = "run `restartlint inventory render`";
        match &document.text {
            None => {
                let named = document.named_at.as_ref().zip(project.config.origin.as_ref());
                let place = named.map_or_else(
                    || document.path.clone(),
                    |(span, origin)| place(&origin.file, &origin.text, span.start),
                );
                let fault = format!("the document `{}` does not exist", document.path);
                faults.push(("RL307", format!("{place}: RL307 {fault}; {remedy}")));
            }
            Some(text) => {
                if let Some(drift) = drift(text, inventory) {
                    let place = place(&document.path, text, drift.at);
                    faults.push(("RL307", format!("{place}: RL307 {}; {remedy}", drift.message)));
                }
            }
        }
    }
    Ok(faults)
}

fn check(project: &Project, inventory: &Inventory) -> Result<Outcome, Failure> {
    let faults = faults(project, inventory)?;
    if faults.is_empty() {
        let count = inventory.paths.len();
        let plural = if count == 1 { "" } else { "s" };
        output::result(&format!("{}: {count} path{plural}, in order\n", one_line(&inventory.file)), None)?;
        return Ok(Outcome::Clean);
    }
    let lines: Vec<String> = faults.into_iter().map(|(_, line)| line).collect();
    output::result(&(visible(&lines.join("\n")) + "\n"), None)?;
    Ok(Outcome::Denied)
}

/// A place in a file that a message begins with.
fn place(file: &str, text: &str, at: usize) -> String {
    let source = Source::new(text);
    let position = source.position(u32::try_from(at).unwrap_or(u32::MAX));
    format!("{file}:{}:{}", position.line, position.column)
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
        "registered and sanctioned, if its guard holds. Registered is not permitted: forbidden and removed paths are \
         registered too"
    } else {
        "registered, and this path permits nothing. Registered is not permitted: forbidden and removed paths are \
         registered too"
    };
    let word = format!("{}\nverdict: {verdict}\n", entry(path).trim_end());
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
        ("classification", format!("{} ({})", classification.name(), classification.meaning())),
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
