//! Programs that no rule knows: whether what they are given may end a daemon.

use crate::base::effect::Effect;
use crate::base::text::Text;
use crate::command::{self, CommandContext, Invocation, Loose};

use super::Guard;
use super::daemons::{base, stem};
use super::decide::Judged;
use super::report::{Reason, Verdict};

/// How long a text is read again as a command.
const MAX_TEXT: usize = 1 << 16;

impl Guard<'_> {
    /// Judges a program by its texts: a word that speaks of ending beside a daemon's name, or a text
    /// that would be a command with a clear aim.
    pub(super) fn loose(&self, loose: &Loose) -> Option<Judged> {
        let whole = loose.texts.join(" ");
        let daemon = self.mentioned(&whole).filter(|_| self.catalogue.speaks_of_ending(&whole));
        if daemon.is_some() || loose.texts.iter().any(|text| self.would_end(text)) {
            return Some(open(loose, daemon));
        }
        None
    }

    /// The daemon whose name stands in a text.
    pub(super) fn mentioned(&self, text: &str) -> Option<String> {
        let text = text.to_lowercase();
        let named = |name: &&String| {
            let (base, stem) = (base(name).to_lowercase(), stem(name).to_lowercase());
            text.contains(&base) || (stem.len() > 2 && text.contains(&stem))
        };
        self.daemons.names().iter().find(named).cloned()
    }

    /// Whether a text, read as a command, ends something that can be told.
    fn would_end(&self, text: &str) -> bool {
        if text.len() > MAX_TEXT
            || !text.trim().contains(char::is_whitespace)
            || !self.catalogue.named_in(text)
        {
            return false;
        }
        let invocation = Invocation::Shell(Text::literal(text));
        let analysis = command::analyse(&invocation, self.catalogue, &CommandContext::default(), true);
        analysis.found.iter().filter_map(|found| self.found(found)).any(|judged| {
            judged.reason.verdict() == Verdict::Contaminating
                || matches!(judged.reason, Reason::PidWithoutEvidence | Reason::NotComparable)
        })
    }
}

fn open(loose: &Loose, daemon: Option<String>) -> Judged {
    Judged {
        effect: Effect::Kill,
        primitive: loose.program.clone(),
        target: None,
        target_kind: None,
        reason: Reason::UnknownProgram,
        span: loose.span,
        nested_in: loose.nested_in.clone(),
        words: Vec::new(),
        daemon,
        remote: loose.remote.clone(),
    }
}
