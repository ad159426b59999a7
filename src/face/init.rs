//! `init`: a configuration and a draft inventory from what is there, or drafts of what an inventory lacks.
//! Overwrites nothing.

use std::path::PathBuf;

use clap::Args;

use super::check::{add_sources, watch};
use super::cli::Cli;
use super::inventory;
use super::project::Project;
use super::sites::{ScanArgs, incomplete, scan_project};
use super::{Failure, Outcome, output, unread};
use crate::base::effect::Effect;
use crate::check::judge::{SiteView, Verdict};
use crate::check::{Ctx, Inputs, registered};
use crate::data::inventory::draft;
use crate::scan::{Scan, Watch};

/// Arguments of `init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The project's folder; the working folder if none is given.
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Print drafts of the sites that the inventory lacks; write nothing.
    ///
    /// `restartlint init --missing >> restart-paths.toml` puts them behind the entries that are there.
    #[arg(long)]
    pub missing: bool,
}

/// Runs `init`.
pub fn run(args: &InitArgs, cli: &Cli) -> Result<Outcome, Failure> {
    if args.missing {
        return missing(args, cli);
    }
    let paths: Vec<PathBuf> = args.path.iter().cloned().collect();
    let project = Project::open(cli, &paths)?;
    let inventory = project.file(&project.inventory_file());
    if inventory.exists() {
        return Err(Failure::new(format!(
            "{} is there already, and init overwrites nothing; `restartlint init --missing` prints drafts of what it lacks",
            output::shown(&inventory)
        )));
    }
    let scan = scan_project(&project, &ScanArgs::everything(), Watch::default(), None, cli)?;
    if let Some(failure) = incomplete(&scan) {
        return Err(failure);
    }
    let groups = draft::group(sites(&scan));
    let mut written = Vec::new();
    if project.config.origin.is_none() {
        let file = project.file("restartlint.toml");
        write(&file, &configuration(&scan))?;
        written.push(output::shown(&file));
    }
    write(&inventory, &draft::write(&groups))?;
    written.push(output::shown(&inventory));
    let next = match groups.len() {
        0 => "no restart path was found, so none is drafted; `restartlint doctor` says what of the protection works"
            .to_owned(),
        count => format!(
            "{count} path{} drafted, each `unclassified`: decide on each (`restartlint explain RL308` says what the \
             classes mean), then run `restartlint check`",
            if count == 1 { "" } else { "s" }
        ),
    };
    output::result(&format!("written: {}\n{next}\n", written.join(", ")), None)?;
    Ok(Outcome::Clean)
}

/// Prints drafts of the sites that no path of the inventory means, not even an undecided one, and that no
/// annotation has decided.
fn missing(args: &InitArgs, cli: &Cli) -> Result<Outcome, Failure> {
    let (project, inventory) = inventory::open(cli, &args.path)?;
    let project = project.into_whole();
    let mut scan =
        scan_project(&project, &ScanArgs::everything(), watch(&project, Some(&inventory)), None, cli)?;
    if let Some(failure) = incomplete(&scan) {
        return Err(failure);
    }
    let document = project.document(Some(&inventory))?;
    let presence = unread::presence(&project, &scan, Some(&inventory), true);
    add_sources(&mut scan, &project, Some(&inventory), document.as_ref());
    let ctx = Ctx::new(Inputs {
        tree: &scan.tree,
        sources: &scan.sources,
        config: &project.config,
        inventory: Some(&inventory),
        document: document.as_ref(),
        presence: &presence,
    });
    let lacking = ctx.views.iter().filter(|view| {
        matches!(view.verdict, Verdict::Unregistered | Verdict::Daemon(None))
            && registered::draft(&ctx, view).is_none()
            && !registered::is_ignored(&ctx, view)
    });
    let groups = draft::group(lacking.map(|SiteView { file, site, .. }| {
        (file.path.as_str(), site.primitive.as_str(), site.effect.name(), site.symbol.as_str())
    }));
    output::result(&draft::entries(&groups, &inventory.ids().collect::<Vec<_>>()), None)?;
    let file = output::shown(&project.file(&inventory.file));
    let said = match groups.len() {
        0 => format!("{file} lacks no site; nothing is drafted"),
        1 => format!("1 path drafted, and nothing written: append it to {file}, and decide on it"),
        count => {
            format!("{count} paths drafted, and nothing written: append them to {file}, and decide on each")
        }
    };
    output::note(cli, &format!("restartlint: note: {said}"));
    Ok(Outcome::Clean)
}

fn write(file: &std::path::Path, text: &str) -> Result<(), Failure> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|e| Failure::new(format!("the folder {} cannot be made: {e}", output::shown(folder))))?;
    }
    // `create_new`: a file that appeared meanwhile is not overwritten either.
    let opened = std::fs::OpenOptions::new().write(true).create_new(true).open(file);
    opened
        .and_then(|mut f| std::io::Write::write_all(&mut f, text.as_bytes()))
        .map_err(|e| Failure::new(format!("{} cannot be written: {e}", output::shown(file))))
}

/// Every site that a rule could speak of.
fn sites(scan: &Scan) -> impl Iterator<Item = (&str, &str, &'static str, &str)> {
    scan.tree.files.iter().enumerate().flat_map(move |(at, file)| {
        let daemon = scan.tree.daemons.iter().any(|d| d.file == Some(at));
        file.sites
            .iter()
            .filter(move |s| {
                let reached = daemon || scan.tree.reach.contains_key(&(at, s.function));
                !s.test_only && (s.effect != Effect::Exit || reached)
            })
            .map(|s| (file.path.as_str(), s.primitive.as_str(), s.effect.name(), s.symbol.as_str()))
    })
}

fn configuration(scan: &Scan) -> String {
    let names: Vec<String> = scan
        .tree
        .daemons
        .iter()
        .map(|d| format!("  {}, # {}\n", toml::Value::String(d.path.clone()), d.reason.replace('\n', " ")))
        .collect();
    let daemon = if names.is_empty() {
        "# No file that builds a stdio server was found. Declare the modules that run inside the daemon:\n\
         # daemon = [\"server.py\"]\n"
            .to_owned()
    } else {
        format!("# The files that run inside the long-lived process.\ndaemon = [\n{}]\n", names.concat())
    };
    format!(
        "{daemon}\n# The registered ways to restart, and the document that people read \
         (`restartlint inventory render`).\ninventory = \"{}\"\n# inventory-doc = \"docs/restart-paths.md\"\n",
        crate::data::config::INVENTORY
    )
}
