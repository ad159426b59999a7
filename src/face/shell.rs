//! `completions` and `man`: what a shell and a manual reader need, made from the grammar.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::cli::Cli;
use super::{Failure, Outcome, output};

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Runs `completions`.
pub fn completions(args: &CompletionsArgs) -> Result<Outcome, Failure> {
    let mut bytes = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "restartlint", &mut bytes);
    output::result(&String::from_utf8_lossy(&bytes), None)?;
    Ok(Outcome::Clean)
}

/// Runs `man`: one manual page, the commands' own after the first.
pub fn man() -> Result<Outcome, Failure> {
    let mut bytes = Vec::new();
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut bytes)?;
    for sub in command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help") {
        clap_mangen::Man::new(sub.clone()).render(&mut bytes)?;
    }
    output::result(&String::from_utf8_lossy(&bytes), None)?;
    Ok(Outcome::Clean)
}
