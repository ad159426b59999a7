//! The shell grammar: a text becomes a [`Script`].
//!
//! Parses with tree-sitter-bash, within a budget that depends on the text alone.
//! What costs more is reported by [`Script::gave_up`]. Knows no catalogue.

use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Tree};

use super::lower;
use super::recover;
use super::respelled;
use super::script::Script;
use super::word::{Composed, Placeholders};

/// How many openings of a nesting a text may have in a row before it is not parsed at all.
const MAX_OPENINGS: usize = 300;
/// How many stages a pipeline may have.
const MAX_STAGES: usize = 500;
/// How many here-documents and `$[` a text may have.
const MAX_EXPANSIONS: usize = 2_000;
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
    let read = respelled::for_grammar(text);
    let bytes = read.as_bytes();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or(&[]), None, Some(options))
}

/// Whether the grammar's cost would grow with the square of what stands here: brackets that open
/// far more often than they close, closing brackets in a row, one pipeline of very many
/// stages, very many here-documents or old arithmetic expansions. The parser's own budget does not see it.
fn nests_too_deep(text: &str) -> bool {
    let (mut depth, mut closing, mut stages, mut openings) = (0usize, 0usize, 0usize, 0usize);
    let mut last = b'\n';
    let mut before = b'\n';
    for byte in text.bytes() {
        match byte {
            b'(' | b'{' => {
                depth += 1;
                closing = 0;
            }
            b')' | b'}' => {
                depth = depth.saturating_sub(1);
                closing += 1;
            }
            b'|' => stages += 1,
            // A line end after `|` goes on with the pipeline.
            b';' => stages = 0,
            b'\n' if last != b'|' => stages = 0,
            b'[' if before == b'$' => openings += 1,
            b'<' if before == b'<' => openings += 1,
            _ => {}
        }
        if depth > MAX_OPENINGS || closing > MAX_OPENINGS || stages > MAX_STAGES || openings > MAX_EXPANSIONS
        {
            return true;
        }
        if !byte.is_ascii_whitespace() {
            last = byte;
            if !matches!(byte, b')' | b'}') {
                closing = 0;
            }
        } else if byte == b'\n' && last != b'|' {
            last = byte;
        }
        before = byte;
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
    fn characters_beyond_ascii_after_a_brace_are_parsed() {
        for text in ["pkill {\u{100000} | cat", "pkill {1..\u{100000}} | cat", "pkill {12\u{1f600}"] {
            assert_eq!(commands(text)[0][0], "pkill", "{text}");
        }
    }

    #[test]
    fn quoting_is_taken_off() {
        assert_eq!(commands(r#"p'k'"il"l -f \x "a b""#), [vec!["pkill", "-f", "x", "a b"]]);
        assert_eq!(commands("$'\\x70kill' x"), [vec!["pkill", "x"]]);
        assert_eq!(commands("ls\n  \\pkill x"), [vec!["ls"], vec!["pkill", "x"]]);
        assert_eq!(commands("pkill \\\n  -f \\\n x"), [vec!["pkill", "-f", "x"]]);
    }

    #[test]
    fn a_loop_over_the_arguments_needs_no_separator() {
        for text in
            ["for arg do\n  pkill \"$arg\"\ndone\n", "case $1 in\n a) for x do kill $x; done ;;\nesac\n"]
        {
            let script = parse(&Composed::plain(text), 0);
            assert!(script.errors.is_empty(), "{text}");
            assert_eq!(script.commands.len(), 1, "{text}");
        }
        assert_eq!(commands("echo wait for it do not\n"), [vec!["echo", "wait", "for", "it", "do", "not"]]);
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
