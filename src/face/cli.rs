//! The argument grammar. Each command's arguments stand in its own file; this one
//! only names the commands and hands over.

use std::path::PathBuf;

use clap::{ArgAction, Parser, Subcommand, ValueEnum};

use super::{Failure, Outcome};

/// Finds the places where a long-lived stdio daemon can restart, kill, reload or replace itself.
///
/// Exit status: 0 clean or allowed; 1 a finding, or denied; 2 the work could not be done.
/// Without a command, `check` runs.
#[derive(Debug, Parser)]
#[command(
    name = "restartlint",
    version,
    about,
    max_term_width = 100,
    override_usage = "restartlint [OPTIONS] [COMMAND]\n       restartlint [OPTIONS] [PATH]... (as `check`)"
)]
pub struct Cli {
    /// Read this configuration instead of the nearest one upward from the first path.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// When to colour text.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
    /// Print results and errors only: no notes on standard error, and no closing line below findings.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more on standard error.
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// The same global options with another configuration, for a pass that a command runs within itself.
    pub fn with_config(&self, config: Option<PathBuf>) -> Cli {
        let Cli { color, quiet, verbose, .. } = *self;
        Cli { config, color, quiet, verbose, command: Command::Man }
    }
}

/// When to colour text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Hold a checkout against its inventory (the default command).
    Check(super::check::CheckArgs),
    /// List every site, without policy.
    Sites(super::sites::SitesArgs),
    /// Print the call chains from the daemon to every site that it can reach.
    Reach(super::reach::ReachArgs),
    /// Print what a rule, an effect or a primitive is, why it matters and what to do.
    Explain(super::explain::ExplainArgs),
    /// Print the rule table.
    Rules(super::rules::RulesArgs),
    /// Write a configuration and a draft inventory from what is there.
    Init(super::init::InitArgs),
    /// Check, render or question the inventory.
    Inventory(super::inventory::InventoryArgs),
    /// Say what a restart would break and whether it is authorised.
    Impact(super::impact::ImpactArgs),
    /// Make or verify a proof that the work has been drained.
    Drain(super::drain::DrainArgs),
    /// Read the leases in a pull request's comments.
    Lease(super::lease::LeaseArgs),
    /// Does a command kill the daemon, and has someone done so?
    Guard(super::guard::GuardArgs),
    /// Is the revision that runs still the checkout's?
    Parity(super::parity::ParityArgs),
    /// Which servers really run, and are they the ones that are expected?
    Fleet(super::fleet::FleetArgs),
    /// Say whether what protects this project works, and what of it is inactive.
    Doctor(super::doctor::DoctorArgs),
    /// Serve the passes to agents, as MCP tools on standard input and output.
    #[cfg(feature = "mcp")]
    Mcp(super::mcp::McpArgs),
    /// Print completions for a shell.
    Completions(super::shell::CompletionsArgs),
    /// Print the manual page.
    Man,
}

impl Command {
    /// Whether the command serves a host until its input ends.
    pub fn serves(&self) -> bool {
        #[cfg(feature = "mcp")]
        let serves = matches!(self, Command::Mcp(_));
        #[cfg(not(feature = "mcp"))]
        let serves = false;
        serves
    }
}

/// Runs the chosen command.
pub fn dispatch(cli: &Cli) -> Result<Outcome, Failure> {
    match &cli.command {
        Command::Check(args) => super::check::run(args, cli),
        Command::Sites(args) => super::sites::run(args, cli),
        Command::Reach(args) => super::reach::run(args, cli),
        Command::Explain(args) => super::explain::run(args),
        Command::Rules(args) => super::rules::run(args),
        Command::Init(args) => super::init::run(args, cli),
        Command::Inventory(args) => super::inventory::run(args, cli),
        Command::Impact(args) => super::impact::run(args, cli),
        Command::Drain(args) => super::drain::run(args, cli),
        Command::Lease(args) => super::lease::run(args, cli),
        Command::Guard(args) => super::guard::run(args, cli),
        Command::Parity(args) => super::parity::run(args, cli),
        Command::Fleet(args) => super::fleet::run(args, cli),
        Command::Doctor(args) => super::doctor::run(args, cli),
        #[cfg(feature = "mcp")]
        Command::Mcp(args) => super::mcp::run(args, cli),
        Command::Completions(args) => super::shell::completions(args),
        Command::Man => super::shell::man(),
    }
}
