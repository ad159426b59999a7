//! Floor 3: one reader a language. A reader knows its syntax and lowers it to facts; it
//! knows no rule, no inventory and no other language.

pub mod builder;
pub mod collect;
pub mod document;
pub mod embedded;
pub mod files;
pub mod fragment;
pub mod prefilter;
pub mod prose;
pub mod python;
mod rst;
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
