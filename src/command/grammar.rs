//! The shell grammar: a text becomes a [`Script`].
//!
//! Parses with tree-sitter-bash, within a budget that depends on the text alone.
//! What costs more is reported by [`Script::gave_up`]. Knows no catalogue.

use std::borrow::Cow;
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Tree};

use super::lower;
use super::recover;
use super::script::Script;
use super::word::{Composed, Placeholders};

/// How many openings of a nesting a text may have in a row before it is not parsed at all.
const MAX_OPENINGS: usize = 300;
/// How many progress calls of the parser a text may cost, beside what its length allows.
const BASE_BUDGET: usize = 4_000;

/// Parses a text into a tree; `None` if it nests too deep or costs too much.
pub fn parse_tree(text: &str) -> Option<Tree> {
    if nests_too_deep(text) {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    // Counted, not timed: the same text gives the same answer on every machine.
    let mut budget = BASE_BUDGET + text.len();
    let mut progress = |_: &tree_sitter::ParseState| {
        budget = budget.saturating_sub(1);
        if budget == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let read = without_leading_backslashes(text);
    let bytes = read.as_bytes();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or(&[]), None, Some(options))
}

/// The text with the backslash of a line's first word blanked: the grammar takes the line end
/// before `\pkill` for no end at all. Offsets stay; the word means the same.
fn without_leading_backslashes(text: &str) -> Cow<'_, str> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('\\') {
        let letter = text.as_bytes().get(at + 1).is_some_and(u8::is_ascii_alphabetic);
        let before = text.get(..at).unwrap_or("").trim_end_matches([' ', '\t']);
        if letter && before.ends_with('\n') {
            found.push(at);
        }
    }
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = text.to_owned();
    for at in found {
        out.replace_range(at..at + 1, " ");
    }
    Cow::Owned(out)
}

/// Whether brackets open far more often than they close: the grammar's cost grows with
/// the square of such nesting.
fn nests_too_deep(text: &str) -> bool {
    let mut depth = 0usize;
    for byte in text.bytes() {
        match byte {
            b'(' | b'{' => {
                depth += 1;
                if depth > MAX_OPENINGS {
                    return true;
                }
            }
            b')' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Parses a composed text; `scene` is its number among the scripts of one analysis.
pub fn parse(composed: &Composed, scene: u32) -> Script {
    let Some(tree) = parse_tree(&composed.text) else {
        return Script { scene, gave_up: true, ..Script::default() };
    };
    lower(&tree, &composed.text, &composed.placeholders, scene)
}

/// Takes a tree of `text` apart.
pub fn lower(tree: &Tree, text: &str, placeholders: &Placeholders, scene: u32) -> Script {
    let mut script = lower::statements(tree, text, placeholders, scene);
    if tree.root_node().has_error() {
        recover::by_lines(&mut script, tree, text, placeholders);
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::script::Input;
    use crate::command::word::Word;

    fn commands(text: &str) -> Vec<Vec<String>> {
        let script = parse(&Composed::plain(text), 0);
        script.commands.iter().map(|c| c.words.iter().map(Word::display).collect()).collect()
    }

    #[test]
    fn quoting_is_taken_off() {
        assert_eq!(commands(r#"p'k'"il"l -f \x "a b""#), [vec!["pkill", "-f", "x", "a b"]]);
        assert_eq!(commands("$'\\x70kill' x"), [vec!["pkill", "x"]]);
        assert_eq!(commands("ls\n  \\pkill x"), [vec!["ls"], vec!["pkill", "x"]]);
        assert_eq!(commands("pkill \\\n  -f \\\n x"), [vec!["pkill", "-f", "x"]]);
    }

    #[test]
    fn substitutions_come_before_the_command_that_uses_them() {
        assert_eq!(commands("echo $(pkill a) `b`"), [vec!["pkill", "a"], vec!["b"], vec!["echo", "…", "…"]]);
        assert_eq!(commands("cat <<E\n$(pkill x)\nE\n"), [vec!["pkill", "x"], vec!["cat"]]);
        assert_eq!(commands("cat <<'E'\n$(pkill x)\nE\n"), [vec!["cat"]]);
    }

    #[test]
    fn pipelines_feed_the_next_stage() {
        let script = parse(&Composed::plain("cat <<'E' | sh\npkill x\nE\n"), 0);
        assert_eq!(script.commands.len(), 2);
        assert!(matches!(script.commands[0].input, Input::Text(_)));
        assert_eq!(script.commands[1].input, Input::Pipe(0..1));
    }

    #[test]
    fn a_long_list_and_deep_nesting_do_not_use_the_stack() {
        let long = "true && ".repeat(20_000) + "pkill x";
        assert_eq!(parse(&Composed::plain(&long), 0).commands.len(), 20_001);
        let deep = "$(".repeat(10_000) + &")".repeat(10_000);
        assert!(parse(&Composed::plain(&deep), 0).gave_up);
        let deeper = "if a; then ".repeat(2_000);
        let _ = parse(&Composed::plain(&deeper), 0);
    }

    #[test]
    fn a_line_of_another_shell_hides_no_other() {
        let found = commands("for p (${(f)\"$(pgrep mcp)\"}) kill -9 $p\npkill -f mcp &!\n");
        assert!(found.iter().any(|words| words[0] == "pkill"), "{found:?}");
    }
}
