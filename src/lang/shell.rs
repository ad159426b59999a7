//! Shell scripts: the file is one command text, run by a shell of its own.

use crate::base::facts::{FileFacts, Language, ProblemKind, WatchKind, WatchedUse};
use crate::base::source::Source;
use crate::base::text::Text;
use crate::command::{CommandContext, Invocation, analyse};
use crate::data::commands::CommandCatalogue;

use super::collect::{Collector, HASH};

/// The facts of a script. `watch` are symbols of the inventory: functions of that name are noted.
pub fn facts(path: &str, source: &Source, catalogue: &CommandCatalogue, watch: &[String]) -> FileFacts {
    let mut collector = Collector::new(path, Language::Shell, source, catalogue);
    let own = path.rsplit('/').next().unwrap_or(path);
    let context =
        CommandContext { own_script: Some(own.to_owned()), is_script: true, ..CommandContext::default() };
    let invocation = Invocation::Shell(Text::literal(source.text.as_str()));
    let analysis = analyse(&invocation, catalogue, &context, false);
    for found in analysis.found {
        let span = found.action.span;
        collector.site(found.action, span);
    }
    if analysis.gave_up {
        let message = "nests too deep, or costs too much, to be read in full";
        collector.problem(ProblemKind::GaveUp, crate::base::span::Span::default(), message);
    } else if let Some(fault) = analysis.faults.first() {
        let message = "has a syntax error: commands near it may not have been seen";
        collector.problem(ProblemKind::Syntax, *fault, message);
    }
    for (name, span) in analysis.functions {
        if watch.contains(&name) {
            let symbol = name.clone();
            collector.facts.watched.push(WatchedUse { kind: WatchKind::Symbol, name, span, symbol });
        }
    }
    collector.annotations(&HASH);
    collector.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::effect::Effect;

    #[test]
    fn a_script_has_sites_functions_and_annotations() {
        let text = "#!/bin/sh\nstop_it() {\n  pkill -f relay # restartlint: path=a\n}\nexec \"$@\"\n";
        let source = Source::new(text);
        let facts = facts("bin/run.sh", &source, &CommandCatalogue::built_in(), &["stop_it".to_owned()]);
        let sites: Vec<_> = facts.sites.iter().map(|s| (s.effect, s.symbol.as_str(), s.launcher)).collect();
        assert_eq!(sites, [(Effect::Kill, "stop_it", false), (Effect::Replace, "<module>", true)]);
        assert_eq!(facts.watched.len(), 1);
        assert_eq!(facts.annotations[0].text, "path=a");
        assert!(facts.problems.is_empty());
    }

    #[test]
    fn an_alias_is_reported_where_it_is_defined() {
        let source = Source::new("alias k='pkill -f mcp'\nk\n");
        let facts = facts("a.bash", &source, &CommandCatalogue::built_in(), &[]);
        assert_eq!(facts.sites.len(), 1);
        assert_eq!(source.position(facts.sites[0].span.start).line, 1);
    }

    #[test]
    fn a_broken_script_keeps_its_sites_and_is_reported() {
        let source = Source::new("pkill -f one\nif [ x ; then\n  echo \"unterminated\n");
        let facts = facts("a.sh", &source, &CommandCatalogue::built_in(), &[]);
        assert_eq!(facts.sites.len(), 1);
        assert_eq!(facts.problems[0].kind, ProblemKind::Syntax);
    }

    fn sites(path: &str, text: &str) -> Vec<(u32, String)> {
        let source = Source::new(text);
        let facts = facts(path, &source, &CommandCatalogue::built_in(), &[]);
        assert!(facts.problems.is_empty(), "{text}: {:?}", facts.problems);
        let line = |at| source.position(at).line;
        facts.sites.iter().map(|s| (line(s.span.start), s.command.join(" "))).collect()
    }

    #[test]
    fn a_hidden_line_end_parts_no_word() {
        let one = |line, command: &str| vec![(line, command.to_owned())];
        assert_eq!(sites("a.sh", "ls\npk\\\nill -f x\n"), one(2, "pkill -f x"));
        assert_eq!(sites("a.sh", "x=$(pk\\\nill -f y)\nls # a\\\npkill -f x\n").len(), 2);
        assert_eq!(sites("a.sh", "sh -c 'ls # a\\\npkill x'\n"), one(1, "pkill x"));
        assert_eq!(sites("a.sh", "echo 'a\\\nb'\ncat <<'E'\npk\\\nill x\nE\n"), []);
    }

    #[test]
    fn a_carriage_return_ends_a_line() {
        let two = [(2, "pkill -f x".to_owned()), (3, "killall y".to_owned())];
        assert_eq!(sites("a.sh", "# old\rpkill -f x\rkillall y\r"), two);
        assert_eq!(sites("a.sh", "# new\r\npkill -f x\r\nkillall y\r\n"), two);
    }

    #[test]
    fn what_the_grammar_lacks_is_no_fault() {
        let text = "#!/usr/bin/env bats\n@test \"stops (all) of $x\" {\n  run pkill -f x\n  [[ $a == [\\{]\"b\"[,]* ]]\n}\n\nf() {\n  exec {p}<> <(:)\n  \
                    exec 3<>x\n  killall y\n}\n";
        let found = sites("a.bats", text);
        assert_eq!(found.last(), Some(&(10, "killall y".to_owned())));
    }
}
