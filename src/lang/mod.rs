//! Floor 3: one reader a language. A reader knows its syntax and lowers it to facts; it
//! knows no rule, no inventory and no other language.

pub mod builder;
pub mod collect;
pub mod document;
pub mod embedded;
pub mod files;
pub mod fragment;
pub mod go;
pub mod javascript;
pub mod prefilter;
pub mod prose;
pub mod python;
pub mod reading;
mod rst;
pub mod rust;
pub mod server;
pub mod shell;
pub mod syntax;
pub mod windows;

use crate::base::facts::{FileFacts, Language};
use crate::base::source::Source;
use crate::data::commands::CommandCatalogue;

pub use files::language_of;

/// Whether files of a language hold commands rather than a program.
pub fn holds_commands(language: Language) -> bool {
    matches!(language, Language::Shell | Language::Windows | Language::Embedded | Language::Document)
}

/// The facts of a file that holds commands rather than a program: a script, a host file or
/// a document. `None` for the languages that have a program. `watch` are the inventory's symbols.
pub fn commands_facts(
    path: &str,
    language: Language,
    source: &Source,
    catalogue: &CommandCatalogue,
    watch: &[String],
) -> Option<FileFacts> {
    match language {
        Language::Shell => Some(shell::facts(path, source, catalogue, watch)),
        Language::Windows => Some(windows::facts(path, source, catalogue)),
        Language::Embedded => Some(embedded::facts(path, source, catalogue)),
        Language::Document => Some(document::facts(path, source, catalogue)),
        Language::Python | Language::Rust | Language::Javascript | Language::Go => None,
    }
}

#[cfg(test)]
mod survival {
    //! Whatever a file holds: no reader fails on it, and every span lies in its text.

    use proptest::prelude::*;

    use super::*;

    const PATHS: &[(&str, Language)] = &[
        ("a.sh", Language::Shell),
        ("a.ps1", Language::Windows),
        ("a.bat", Language::Windows),
        ("a.md", Language::Document),
        ("a.rst", Language::Document),
        ("Makefile", Language::Embedded),
        ("justfile", Language::Embedded),
        ("Taskfile.yml", Language::Embedded),
        ("tox.ini", Language::Embedded),
        ("package.json", Language::Embedded),
        ("pyproject.toml", Language::Embedded),
        ("Procfile", Language::Embedded),
        ("Dockerfile", Language::Embedded),
        ("compose.yaml", Language::Embedded),
        (".github/workflows/a.yml", Language::Embedded),
        (".gitlab-ci.yml", Language::Embedded),
        (".pre-commit-config.yaml", Language::Embedded),
        ("a.service", Language::Embedded),
        ("a.plist", Language::Embedded),
        ("supervisord.conf", Language::Embedded),
        (".vscode/tasks.json", Language::Embedded),
        (".mcp.json", Language::Embedded),
    ];

    /// Pieces that formats and shells give a meaning to.
    fn piece() -> impl Strategy<Value = String> {
        prop_oneof![
            "[ -~]{0,6}",
            Just("\n".to_owned()),
            Just("\n\t".to_owned()),
            Just("\r\n  ".to_owned()),
            Just("é…🧪".to_owned()),
            Just("pkill -f x".to_owned()),
            Just("```sh\n".to_owned()),
            Just("command: ".to_owned()),
            Just("\"command\": \"".to_owned()),
            Just("RUN ".to_owned()),
            Just("ExecStart=".to_owned()),
            Just("[program:a]\ncommand=".to_owned()),
            Just("run `kill 5`".to_owned()),
            Just("<<'E'\n".to_owned()),
            Just("{{x}}".to_owned()),
            Just("$(A)".to_owned()),
            Just("\\\n".to_owned()),
            Just("|\n    ".to_owned()),
            Just("<string>".to_owned()),
            Just("# restartlint: path=a".to_owned()),
        ]
    }

    proptest! {
        #[test]
        fn any_text_is_read(pieces in proptest::collection::vec(piece(), 0..24), at in 0..PATHS.len()) {
            static BUILT_IN: std::sync::LazyLock<CommandCatalogue> = std::sync::LazyLock::new(CommandCatalogue::built_in);
            let (path, language) = PATHS[at];
            let text = pieces.concat();
            let source = Source::new(text.as_str());
            let facts = commands_facts(path, language, &source, &BUILT_IN, &["f".to_owned()]).unwrap();
            let spans = facts.sites.iter().map(|s| s.span).chain(facts.annotations.iter().map(|a| a.span));
            for span in spans.chain(facts.problems.iter().map(|p| p.span)) {
                prop_assert!(span.start <= span.end, "{path} {text:?} {span:?}");
                prop_assert!(span.end as usize <= text.len(), "{path} {text:?} {span:?}");
                prop_assert!(text.get(span.range()).is_some(), "{path} {text:?} {span:?}");
            }
        }
    }
}
