//! Host files that hold commands: one file a format, each a plain function.
//!
//! A format's reader knows where commands stand in it and how it quotes them; what a
//! command does is `crate::command`'s word.

mod ci;
mod client;
mod container;
pub mod data;
mod docker;
mod ini;
mod just;
mod make;
mod manifest;
mod plist;
mod project;
mod template;
mod unit;
mod values;

use crate::base::facts::{FileFacts, Language, ProblemKind};
use crate::base::source::Source;
use crate::data::commands::CommandCatalogue;

use super::collect::{Collector, Comments, HASH};
use super::files::{Format, format_of};
use data::Data;

const SEMICOLON: Comments = Comments { line: &["#", ";"], block: None };
const SLASHES: Comments = Comments { line: &["//"], block: Some(("/*", "*/")) };
const MARKUP: Comments = Comments { line: &[], block: Some(("<!--", "-->")) };

/// Whether a file is of a format that can be ill-formed, so that it is parsed whatever it holds: a
/// fault is reported. A template of a manifest is no manifest yet.
pub fn must_parse(path: &str, bytes: &[u8]) -> bool {
    let template = || memchr::memmem::find(bytes, b"{{").is_some();
    match format_of(path, bytes) {
        Some(Format::Kubernetes) => !template(),
        Some(
            Format::Plist
            | Format::Taskfile
            | Format::Compose
            | Format::Workflow
            | Format::Gitlab
            | Format::PreCommit
            | Format::PackageJson
            | Format::Pyproject
            | Format::VscodeTasks
            | Format::McpClient
            | Format::McpToml,
        ) => true,
        _ => false,
    }
}

/// The facts of a host file; of a file that is none, nothing.
pub fn facts(path: &str, source: &Source, catalogue: &CommandCatalogue) -> FileFacts {
    let mut collector = Collector::new(path, Language::Embedded, source, catalogue);
    let Some(format) = format_of(path, source.text.as_bytes()) else { return collector.finish() };
    let text = source.text.as_str();
    let read = |collector: &mut Collector<'_>, data: Data, reader: fn(&mut Collector<'_>, &Data)| {
        // A template of a manifest is none yet: what it becomes need not have the fault.
        let template = format == Format::Kubernetes && text.contains("{{");
        if let Some((span, why)) = data.fault.as_ref().filter(|_| !template) {
            collector.problem(ProblemKind::Syntax, *span, format!("is not well-formed: {why}"));
        }
        reader(collector, &data);
    };
    let yaml = || template::yaml(text, format == Format::Kubernetes);
    match format {
        Format::Make => make::read(&mut collector),
        Format::Just => just::read(&mut collector),
        Format::Procfile => project::procfile(&mut collector),
        Format::Dockerfile => docker::read(&mut collector),
        Format::Tox => ini::tox(&mut collector),
        Format::Supervisord => ini::supervisord(&mut collector),
        Format::Unit => unit::read(&mut collector),
        Format::Plist => plist::read(&mut collector),
        Format::Taskfile => read(&mut collector, yaml(), project::taskfile),
        Format::Compose => read(&mut collector, yaml(), container::compose),
        Format::Kubernetes if path.to_ascii_lowercase().ends_with(".json") => {
            read(&mut collector, Data::json(text), manifest::kubernetes);
        }
        Format::Kubernetes => read(&mut collector, yaml(), manifest::kubernetes),
        Format::Workflow => read(&mut collector, yaml(), ci::workflow),
        Format::Gitlab => read(&mut collector, yaml(), ci::gitlab),
        Format::PreCommit => read(&mut collector, yaml(), ci::pre_commit),
        Format::PackageJson => read(&mut collector, Data::json(text), project::package_json),
        Format::Pyproject => read(&mut collector, Data::toml(text), project::pyproject),
        Format::VscodeTasks => read(&mut collector, Data::json(text), client::tasks),
        Format::McpClient => read(&mut collector, Data::json(text), client::servers),
        Format::McpToml => read(&mut collector, Data::toml(text), client::servers),
    }
    let comments = match format {
        Format::Supervisord | Format::Tox | Format::Unit => &SEMICOLON,
        Format::VscodeTasks | Format::McpClient | Format::PackageJson => &SLASHES,
        Format::Plist => &MARKUP,
        _ => &HASH,
    };
    collector.annotations(comments);
    collector.finish()
}

#[cfg(test)]
mod tests;
