//! The words in which answers say how something stands: of what they are, and what they mean. Pure.

use super::inventory::Classification;

/// One word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub word: &'static str,
    /// Of what it is, as it stands behind "a".
    pub of: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Where to read on.
    pub more: &'static str,
}

const SEVERITY: (&str, &str) =
    ("severity of a finding", "`--fail-on` says which severities make the exit status 1.");
const CONFIDENCE: (&str, &str) =
    ("confidence of a finding", "A finding is as sure as its site and the least sure step of its chain.");
const VERDICT: (&str, &str) =
    ("verdict of the guard on a command", "`restartlint guard --help` says what follows from it.");
const PART: (&str, &str) =
    ("state of a part, as `doctor` reports it", "`restartlint doctor` says it of each part.");
const MEMBER: (&str, &str) =
    ("state of a member of the fleet", "`restartlint fleet assess` says it of each member.");
const CLASS: (&str, &str) = (
    "classification of a path in the inventory",
    "`restartlint explain RL308` says what each class is for and what it covers.",
);

const WORDS: [((&str, &str), &str, &str); 17] = [
    (SEVERITY, "error", "It must be mended or decided on."),
    (SEVERITY, "warning", "It should be mended."),
    (SEVERITY, "note", "It is worth knowing."),
    (CONFIDENCE, "certain", "Every step to the site is resolved by binding."),
    (CONFIDENCE, "likely", "Some step goes by a name that is unique in the tree."),
    (
        CONFIDENCE,
        "possible",
        "A step goes through a container with a free key, or through a callable that is handed to an unknown function.",
    ),
    (VERDICT, "clean", "It neither kills nor restarts, or each such action is provably aimed elsewhere."),
    (VERDICT, "undetermined", "Something about it cannot be decided."),
    (VERDICT, "contaminating", "An action hits a daemon, or is broad enough to."),
    (PART, "works", "It was tried, and works."),
    (PART, "inactive", "Nobody set it up, or it is not decided yet: it does nothing."),
    (PART, "broken", "It is set up, and does not work."),
    (MEMBER, "running", "Exactly one member runs."),
    (MEMBER, "duplicate", "Several run."),
    (MEMBER, "stale", "None runs, and a row says that one does."),
    (MEMBER, "missing", "None runs."),
    (MEMBER, "unknown", "A source cannot be read, so nothing can be said."),
];

/// Every word: the classifications of the inventory, then how findings, commands, parts and members stand.
pub fn all() -> impl Iterator<Item = Word> {
    let classes = Classification::ALL.map(|class| word(CLASS, class.name(), class.about()));
    classes.into_iter().chain(WORDS.into_iter().map(|(of, name, meaning)| word(of, name, meaning)))
}

fn word((of, more): (&'static str, &'static str), word: &'static str, meaning: &'static str) -> Word {
    Word { word, of, meaning, more }
}

/// What a word means, in whatever capitals.
pub fn find(name: &str) -> Option<Word> {
    all().find(|entry| entry.word.eq_ignore_ascii_case(name))
}
