//! What files tell each other by name, before any of them is parsed: which of a file's names matter
//! elsewhere, and which of other files' names matter to it.

use std::collections::BTreeSet;

use crate::base::facts::Tells;

/// What a file has for others, and needs of them.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Hands {
    /// Names of this file that run what they are given.
    pub runs: BTreeSet<String>,
    /// Those of them that bring a command themselves, and are given the rest of it.
    pub completes: BTreeSet<String>,
    /// Names that may stand for a command: asked of the files that this one imports.
    pub asks: BTreeSet<String>,
    /// Names of other files that took part: these run, or are, a command that this file names or runs.
    pub used: BTreeSet<String>,
}

/// Names that other files have to do with, for one file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Given {
    /// Those that matter wherever they are used.
    pub values: BTreeSet<String>,
    /// Those that run a command.
    pub runs: BTreeSet<String>,
    /// Those that are a command.
    pub commands: BTreeSet<String>,
    /// The file's own that another file runs, or feeds with a command.
    pub asked: BTreeSet<String>,
    /// The file's own whose truth decides a site of another file.
    pub tested: BTreeSet<String>,
    /// Others have from it what it imports, and it may not mention any of that.
    pub hands_on: bool,
}

impl Given {
    /// Adds names by what they say.
    pub fn tell(&mut self, names: impl IntoIterator<Item = (String, Tells)>) {
        for (name, tells) in names {
            let of = match tells {
                Tells::Value => &mut self.values,
                Tells::Runs => &mut self.runs,
                Tells::Command => &mut self.commands,
            };
            of.insert(name);
        }
    }

    /// Adds another's names. Whether any was new.
    pub fn extend(&mut self, other: &Given) -> bool {
        let mut new = other.hands_on && !std::mem::replace(&mut self.hands_on, true);
        for (mine, theirs) in [
            (&mut self.values, &other.values),
            (&mut self.runs, &other.runs),
            (&mut self.commands, &other.commands),
            (&mut self.asked, &other.asked),
            (&mut self.tested, &other.tested),
        ] {
            for name in theirs {
                new |= !mine.contains(name) && mine.insert(name.clone());
            }
        }
        new
    }

    /// With another's names.
    #[must_use]
    pub fn with(&self, other: &Given) -> Given {
        let mut all = self.clone();
        all.extend(other);
        all
    }

    /// Whether it names nothing.
    pub fn is_empty(&self) -> bool {
        !self.hands_on
            && [&self.values, &self.runs, &self.commands, &self.asked, &self.tested]
                .iter()
                .all(|names| names.is_empty())
    }
}
