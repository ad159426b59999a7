//! guard: does a shell command end, restart or signal a daemon?
//!
//! Pure. A command's analysis, the daemons' names, what the system shows of processes and
//! what other languages' scanners say of inline programs go in; a verdict with its reasons
//! comes out. What cannot be decided is undetermined, never clean.
//!
//! ```
//! use restartlint::data::commands::CommandCatalogue;
//! use restartlint::pass::guard::{Daemons, Guard, Verdict};
//!
//! let catalogue = CommandCatalogue::built_in();
//! let daemons = Daemons::named(["mcp_server.py"], &catalogue);
//! let guard = Guard::new(&catalogue, &daemons);
//! assert_eq!(guard.judge("sudo pkill -f mcp_server.py", &[]).verdict, Verdict::Contaminating);
//! assert_eq!(guard.judge("ps aux | grep mcp_server", &[]).verdict, Verdict::Clean);
//! assert_eq!(guard.judge("kill -9 \"$PID\"", &[]).verdict, Verdict::Undetermined);
//! ```

mod daemons;
mod decide;
pub mod hook;
mod inline;
mod loose;
mod pattern;
mod report;
pub mod task;

pub use daemons::{Daemons, Forbidden, KnownProcess};
pub use inline::InlineSite;
pub use report::{GuardAction, GuardReport, Reason, Verdict};

use std::collections::BTreeMap;

use crate::base::text::Text;
use crate::command::{self, Analysis, CommandContext, Inline, Invocation, Runs, Undecided, UndecidedReason};
use crate::data::commands::CommandCatalogue;

use decide::Judged;

/// How long a command is looked at, in bytes; a longer one is undetermined.
pub const MAX_COMMAND: usize = 512 << 10;

/// A command, taken apart; what it means for a daemon is still open.
#[derive(Debug, Clone)]
pub struct Examined {
    command: String,
    analysis: Analysis,
}

impl Examined {
    /// Takes a command apart.
    pub fn new(command: &str, catalogue: &CommandCatalogue) -> Examined {
        Examined::with(command, catalogue, BTreeMap::new())
    }

    /// The same with the texts of files and tasks that it runs.
    pub fn with(command: &str, catalogue: &CommandCatalogue, scripts: BTreeMap<Runs, String>) -> Examined {
        let analysis = if command.len() > MAX_COMMAND {
            let span = crate::base::span::Span::new(0, command.len());
            let undecided = vec![Undecided { reason: UndecidedReason::TooLarge, span }];
            Analysis { undecided, ..Analysis::default() }
        } else if command.contains('\0') {
            // What a shell makes of it differs: some leave it out, some end there.
            let span = crate::base::span::Span::new(0, command.len());
            let undecided = vec![Undecided { reason: UndecidedReason::UnreadableInput, span }];
            Analysis { undecided, ..Analysis::default() }
        } else {
            let context = CommandContext { is_script: true, scripts, ..CommandContext::default() };
            command::analyse(&Invocation::Shell(Text::literal(command)), catalogue, &context, true)
        };
        Examined { command: command.to_owned(), analysis }
    }

    /// The programs of other languages that it holds, for their own scanners.
    pub fn inline(&self) -> &[Inline] {
        &self.analysis.inline
    }

    /// The files and tasks that it runs and whose texts it was not taken apart with.
    pub fn wanted(&self) -> &[Runs] {
        &self.analysis.wanted
    }

    /// Whether evidence of processes can matter: it does something to a process, or may.
    pub fn acts(&self) -> bool {
        !self.analysis.found.is_empty() || !self.analysis.inline.is_empty() || !self.analysis.loose.is_empty()
    }
}

/// The guard with what it knows.
#[derive(Debug, Clone, Copy)]
pub struct Guard<'a> {
    catalogue: &'a CommandCatalogue,
    daemons: &'a Daemons,
}

impl<'a> Guard<'a> {
    /// A guard of these daemons.
    pub fn new(catalogue: &'a CommandCatalogue, daemons: &'a Daemons) -> Guard<'a> {
        Guard { catalogue, daemons }
    }

    /// The verdict on a command. `inline` is what other languages' scanners say of its inline
    /// programs, in their order; a missing or absent word is decided by the text alone.
    pub fn judge(&self, command: &str, inline: &[Option<Vec<InlineSite>>]) -> GuardReport {
        self.judge_examined(&Examined::new(command, self.catalogue), inline)
    }

    /// The same of a command that is already taken apart.
    pub fn judge_examined(&self, examined: &Examined, inline: &[Option<Vec<InlineSite>>]) -> GuardReport {
        let Examined { command, analysis } = examined;
        let mut judged: Vec<Judged> = Vec::new();
        for found in &analysis.found {
            judged.extend(self.found(found));
        }
        for (at, program) in analysis.inline.iter().enumerate() {
            let sites = inline.get(at).and_then(Option::as_deref);
            judged.extend(self.program(program, sites));
        }
        for loose in &analysis.loose {
            judged.extend(self.loose(loose));
        }
        for undecided in &analysis.undecided {
            judged.extend(self.open(command, undecided));
        }
        report::build(command, judged, self.daemons)
    }

    /// Something of the command that stayed open. A syntax error counts only where a
    /// catalogued command's name stands anywhere in the text.
    fn open(&self, command: &str, undecided: &Undecided) -> Option<Judged> {
        if undecided.reason == UndecidedReason::Syntax && !self.catalogue.named_in(command) {
            return None;
        }
        Some(Judged::open(command, undecided))
    }
}

#[cfg(test)]
mod tests;
