//! `init`: a configuration and a draft inventory from what is there, or drafts of what an inventory lacks.
//! Overwrites nothing.

use std::path::{Path, PathBuf};

use clap::Args;

use super::check::{add_sources, watch};
use super::cli::Cli;
use super::inventory;
use super::project::{Project, there};
use super::sites::{ScanArgs, incomplete, scan_project};
use super::{Failure, Outcome, output, policy, unread};
use crate::check::judge::{SiteView, Verdict};
use crate::check::{Ctx, Inputs, registered};
use crate::data::inventory::Inventory;
use crate::data::inventory::draft::{self, Group};
use crate::scan::{Scan, Watch};

/// Arguments of `init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The project's folder; the working folder if none is given. With `--missing`, what is drafted lies in it,
    /// and a file does as well.
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
    if let Some(path) = args.path.as_deref().filter(|path| path.is_file()) {
        return Err(Failure::new(format!(
            "{} is a file, and `init` drafts a whole project: give its folder; `restartlint init --missing FILE` drafts \
             what an inventory lacks of one file",
            output::shown(path)
        )));
    }
    let project = Project::of_folder(cli, args.path.as_deref())?;
    let inventory = project.file(&project.inventory_file());
    if inventory.exists() {
        return Err(Failure::new(format!(
            "{} is there already, and init overwrites nothing; `restartlint init --missing` prints drafts of what it lacks",
            output::shown(&inventory)
        )));
    }
    let mut scan = scan_project(&project, &ScanArgs::everything(), Watch::default(), None, cli)?;
    let groups = groups(&project, &mut scan, None)?;
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
    args.path.as_deref().map_or(Ok(()), there)?;
    let paths: Vec<PathBuf> = args.path.iter().cloned().collect();
    let (project, inventory) = inventory::with_inventory(Project::open(cli, &paths)?)?;
    let part = if args.path.is_some() { project.paths.clone() } else { vec![project.root.clone()] };
    // The daemon's reach is that of the whole project, whatever part is asked for.
    let project = project.into_whole();
    let mut scan =
        scan_project(&project, &ScanArgs::everything(), watch(&project, Some(&inventory)), None, cli)?;
    let mut groups = groups(&project, &mut scan, Some(&inventory))?;
    groups.retain(|group| part.iter().any(|path| project.file(&group.path).starts_with(path)));
    output::result(&draft::entries(&groups, &inventory.ids().collect::<Vec<_>>()), None)?;
    let file = output::shown(&project.file(&inventory.file));
    let said = match (groups.len(), &args.path) {
        (0, Some(path)) if !part.iter().any(|path| project.root.starts_with(path)) => {
            format!("{file} lacks no site of {}; nothing is drafted", output::shown(path))
        }
        (0, _) => format!("{file} lacks no site; nothing is drafted"),
        (1, _) => format!("1 path drafted, and nothing written: append it to {file}, and decide on it"),
        (count, _) => {
            format!("{count} paths drafted, and nothing written: append them to {file}, and decide on each")
        }
    };
    output::note(cli, &format!("restartlint: note: {said}"));
    Ok(Outcome::Clean)
}

/// The drafts of a scan: of each site that `check` reports and no path means. What it has nothing to say of, such
/// as the exit of an entry point, needs nobody's decision.
fn groups(project: &Project, scan: &mut Scan, inventory: Option<&Inventory>) -> Result<Vec<Group>, Failure> {
    if let Some(failure) = incomplete(scan) {
        return Err(failure);
    }
    let document = project.document(inventory)?;
    let presence = unread::presence(project, scan, inventory, true);
    add_sources(scan, project, inventory, document.as_ref());
    let ctx = Ctx::new(Inputs {
        tree: &scan.tree,
        sources: &scan.sources,
        config: &project.config,
        inventory,
        document: document.as_ref(),
        presence: &presence,
    });
    let settings = policy::settings(&project.config, &[], &[])?;
    let is_on = |view: &SiteView<'_>| {
        settings.get(registered::speaker(view)).is_some_and(|setting| setting.level.is_some())
    };
    let lacking = ctx.views.iter().filter(|view| {
        is_on(view)
            && matches!(view.verdict, Verdict::Unregistered | Verdict::Daemon(None))
            && registered::draft(&ctx, view).is_none()
            && registered::exits_only(&ctx, view).is_none()
            && !registered::is_ignored(&ctx, view)
    });
    Ok(draft::group(lacking.map(|SiteView { file, site, reach, .. }| draft::Drafted {
        path: &file.path,
        primitive: &site.primitive,
        effect: site.effect,
        symbol: &site.symbol,
        in_reach: reach.is_some(),
    })))
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
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
