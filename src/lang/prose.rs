//! What a sentence says about the command in it: run it, never run it, or nothing.
//!
//! Knows English sentences only, and only the words that instruct and forbid.

/// What a text says about a command that follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// The reader is told to run it.
    Run,
    /// The reader is told not to.
    Never,
    /// It is only mentioned.
    Nothing,
}

const INSTRUCTS: &[&str] = &[
    "run", "rerun", "re-run", "use", "type", "execute", "call", "invoke", "try", "enter", "issue", "launch",
    "perform",
];
const BY: &[&str] = &["by", "with", "via", "using", "through"];
const ENDS: &[&str] =
    &["restart", "stop", "kill", "reload", "terminate", "end", "bounce", "restarting", "reset", "clean"];
const GERUNDS: &[&str] = &["running", "using", "executing", "calling", "invoking", "typing", "issuing"];
const FORBIDS: &[&str] = &[
    "never",
    "avoid",
    "forbidden",
    "prohibited",
    "disallowed",
    "mustn't",
    "shouldn't",
    "don't",
    "dont",
    "cannot",
    "can't",
    "no",
];
const FORBIDS_TWO: &[(&str, &str)] = &[
    ("do", "not"),
    ("must", "not"),
    ("should", "not"),
    ("may", "not"),
    ("can", "not"),
    ("is", "not"),
    ("are", "not"),
    ("under", "no"),
    ("instead", "of"),
    ("rather", "than"),
    ("not", "to"),
    ("in", "place"),
    ("without", "running"),
    ("refrain", "from"),
];
/// Words after which a verb is no instruction.
const NOT_IMPERATIVE_AFTER: &[&str] = &[
    "the", "a", "an", "its", "this", "that", "of", "each", "every", "in", "under", "hooks", "which", "tests",
    "it", "they", "we", "is", "are", "be", "been", "was", "were", "being", "gets", "does", "did", "who",
    "would", "could", "i",
];
/// Words that mark an example as one not to follow.
const BAD: &[&str] =
    &["bad", "wrong", "incorrect", "anti-pattern", "antipattern", "dangerous", "unsafe", "❌", "✗", "🚫"];

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| {
        c.is_whitespace()
            || matches!(c, ',' | ':' | '(' | ')' | '*' | '_' | '"' | '—' | '/' | '!' | '.' | '?')
    })
    .map(|w| {
        w.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '❌' | '✗' | '🚫'))
            .replace('’', "'")
            .to_lowercase()
    })
    .filter(|w| !w.is_empty())
    .collect()
}

/// Whether a sentence forbids what follows it.
pub fn forbids(text: &str) -> bool {
    let words = words(text);
    let single = words.iter().any(|w| FORBIDS.contains(&w.as_str()) && w != "no");
    let double = words.windows(2).any(|w| FORBIDS_TWO.iter().any(|(a, b)| w[0] == *a && w[1] == *b));
    single || double || (words.first().is_some_and(|w| w == "no") && words.len() < 4)
}

/// Whether a text marks what follows it as a bad example, or forbids it.
pub fn marks_as_bad(text: &str) -> bool {
    forbids(text) || words(text).iter().any(|w| BAD.contains(&w.as_str())) || text.contains(['❌', '✗', '🚫'])
}

/// What the sentence before a piece of inline code says about it. `before` is the text
/// from the sentence's start, other code in it left out.
pub fn before_code(before: &str) -> Says {
    let clause = last_clause(before);
    if forbids(clause) {
        return Says::Never;
    }
    if instructs(clause) { Says::Run } else { Says::Nothing }
}

/// Whether a clause tells the reader to run what follows.
pub fn instructs(clause: &str) -> bool {
    let words = words(clause);
    let verb = words.iter().enumerate().any(|(i, w)| {
        let before = i.checked_sub(1).and_then(|i| words.get(i)).map_or("", String::as_str);
        // "the call", "its use": a noun; "is run": a passive; "it runs": not said to the reader.
        let told =
            before != "will" || i.checked_sub(2).and_then(|i| words.get(i)).is_some_and(|w| w == "you");
        INSTRUCTS.contains(&w.as_str()) && told && !NOT_IMPERATIVE_AFTER.contains(&before)
    });
    let gerund = words.windows(2).any(|w| BY.contains(&w[0].as_str()) && GERUNDS.contains(&w[1].as_str()));
    let means = words.last().is_some_and(|w| BY.contains(&w.as_str()))
        && words.iter().any(|w| ENDS.contains(&w.as_str()));
    verb || gerund || means || conditional(clause)
}

/// Whether the last verb of a text is one that functions are called by: a bare word after it is a function's name.
pub fn calls(before: &str) -> bool {
    let words = words(last_clause(before));
    let verb = words.iter().rev().find(|w| INSTRUCTS.contains(&w.as_str()) || GERUNDS.contains(&w.as_str()));
    verb.is_some_and(|w| matches!(w.as_str(), "call" | "invoke" | "calling" | "invoking"))
}

/// "If it hangs:", "When stuck:": the code after the colon is the remedy.
fn conditional(clause: &str) -> bool {
    let body = clause.trim_end();
    body.ends_with(':') && {
        let first = words(body).into_iter().next().unwrap_or_default();
        matches!(
            first.as_str(),
            "if" | "when" | "then" | "otherwise" | "finally" | "first" | "next" | "afterwards"
        )
    }
}

/// The part of a sentence after its last turn (`;`, "but", "instead", ", use").
fn last_clause(text: &str) -> &str {
    let lower = text.to_lowercase();
    if lower.len() != text.len() {
        return text;
    }
    let mut start = 0;
    for turn in ["; ", " but ", " instead ", " — ", " – ", ", instead "] {
        for (at, _) in lower.match_indices(turn) {
            let end = at + turn.len();
            // "instead of" is no turn: it forbids what follows.
            if turn.contains("instead")
                && lower.get(end..).is_some_and(|rest| rest.starts_with("of ") || rest.trim() == "of")
            {
                continue;
            }
            start = start.max(end);
        }
    }
    if lower.starts_with("instead ") && !lower.starts_with("instead of") {
        start = start.max("instead ".len());
    }
    for verb in INSTRUCTS {
        let turn = format!(", {verb} ");
        for (at, _) in lower.match_indices(&turn) {
            let head = lower.get(..at).unwrap_or("");
            // "never, under any circumstances, run" does not turn.
            if !head.ends_with("circumstances") && !head.ends_with("ever") && !head.ends_with("please") {
                start = start.max(at + 2);
            }
        }
        // ", use" right before the code.
        if lower.trim_end().ends_with(&format!(", {verb}")) {
            let at = lower.trim_end().len() - verb.len();
            let head = lower.get(..at).unwrap_or("").trim_end_matches([',', ' ']);
            if !head.ends_with("circumstances") && !head.ends_with("ever") && !head.ends_with("please") {
                start = start.max(at);
            }
        }
    }
    text.get(start..).unwrap_or(text)
}

/// The offsets where the sentences of a text begin.
pub fn sentence_starts(text: &str) -> Vec<usize> {
    let mut starts = vec![0];
    let mut chars = text.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        if !matches!(c, '.' | '!' | '?') {
            continue;
        }
        let Some(&(next, after)) = chars.peek() else { break };
        // "e.g. x", "mcp_server.py": no end of a sentence.
        let abbreviation =
            text.get(..i).is_some_and(|t| t.ends_with("e.g") || t.ends_with("i.e") || t.ends_with("etc"));
        if after.is_whitespace() && !abbreviation {
            starts.push(next);
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_mentions_and_prohibitions() {
        for text in [
            "To restart the server, run ",
            "Then use ",
            "Instead run ",
            "You will run ",
            "You can restart it by running ",
            "Restart it with ",
            "If the relay hangs: ",
            "Do not kill it by hand, use ",
            "Don't kill it; run ",
        ] {
            assert_eq!(before_code(text), Says::Run, "{text}");
        }
        for text in [
            "Never run ",
            "Do not use ",
            "Don’t run ",
            "You must not run ",
            "Avoid ",
            "Under no circumstances may an agent\nrun ",
            "Never, under any circumstances, run ",
            "Run the tool instead of ",
        ] {
            assert_eq!(before_code(text), Says::Never, "{text}");
        }
        for text in [
            "The guard calls ",
            "",
            "X and ",
            "The call of ",
            "It runs ",
            "If the connection is down, will try to restart (",
            "This will run ",
            "A server that is run under a watcher (",
        ] {
            assert_eq!(before_code(text), Says::Nothing, "{text}");
        }
    }

    #[test]
    fn sentences() {
        assert_eq!(sentence_starts("Do not run x. Run y! e.g. z.py now").len(), 3);
    }
}
