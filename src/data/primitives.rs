//! The primitive catalogues: what each language's operations do to a process. One TOML
//! file a language in `rules/`, embedded, extended by the user's `[[primitive]]` entries.
//!
//! A name is an access path over canonical names: `os.execv`, `psutil.Process().kill` (a
//! method of what a call gives), `psutil.process_iter()[].kill` (of an element of it).

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::primitive_entries::RawCatalogue;
pub use super::primitive_entries::{
    ArgRef, ArgTest, Condition, PrimitiveEntry, RunnerEntry, RunnerForm, ServerEntry, ValueKind,
};
use crate::base::facts::Language;
use crate::base::text::Origin;

/// One language's catalogue, ready for look-ups by access path.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    primitives: Vec<PrimitiveEntry>,
    by_path: FxHashMap<String, usize>,
    runners: Vec<RunnerEntry>,
    runner_by_path: FxHashMap<String, usize>,
    values: FxHashMap<String, ValueKind>,
    takers: FxHashSet<String>,
    each_takers: FxHashSet<String>,
    registrars: FxHashSet<String>,
    renames: Vec<(String, String)>,
    /// The first components of the paths that are renamed.
    rename_heads: FxHashSet<String>,
    observers: FxHashSet<String>,
    wrappers: FxHashSet<String>,
    partials: FxHashSet<String>,
    plain_bases: FxHashSet<String>,
    everywhere: FxHashSet<String>,
    common: FxHashSet<String>,
    /// Servers that make a file a daemon module.
    pub servers: Vec<ServerEntry>,
    trigger_files: Vec<String>,
    /// Words that decide, without parsing, whether a file can hold a site.
    pub hints: Vec<String>,
    standard_library: FxHashSet<String>,
    input: Vec<String>,
    stop_registrars: FxHashSet<String>,
    stop_takers: FxHashSet<String>,
    stop_events: FxHashSet<String>,
    stop_members: FxHashSet<String>,
    handle_members: FxHashSet<String>,
    modules: BTreeSet<String>,
    contexts: FxHashSet<String>,
    leads: FxHashSet<String>,
    prefixes: FxHashSet<String>,
    stages: FxHashSet<String>,
    runner_modules: FxHashSet<String>,
}

/// Why a catalogue cannot be used: a fault of the embedded data or of a user's entry.
#[derive(Debug, thiserror::Error)]
#[error("the {language} primitive catalogue is not valid: {source}")]
pub struct CatalogueError {
    language: &'static str,
    source: Box<toml::de::Error>,
}

impl Catalogue {
    /// The embedded catalogue of a language; empty for languages that have none.
    pub fn embedded(language: Language) -> Result<Catalogue, CatalogueError> {
        let text = match language {
            Language::Python => include_str!("../../rules/python.toml"),
            Language::Javascript => include_str!("../../rules/javascript.toml"),
            Language::Go => include_str!("../../rules/go.toml"),
            Language::Rust => include_str!("../../rules/rust.toml"),
            _ => return Ok(Catalogue::default()),
        };
        Catalogue::parse(language, text)
    }

    /// Parses a catalogue.
    pub fn parse(language: Language, text: &str) -> Result<Catalogue, CatalogueError> {
        let raw: RawCatalogue = toml::from_str(text)
            .map_err(|source| CatalogueError { language: language.name(), source: Box::new(source) })?;
        let mut catalogue = Catalogue {
            runners: raw.runner,
            takers: raw.taker.into_iter().flat_map(|t| t.names).collect(),
            each_takers: raw.each_takers.into_iter().collect(),
            registrars: raw.registrars.into_iter().collect(),
            observers: raw.observers.into_iter().collect(),
            wrappers: raw.wrappers.into_iter().collect(),
            partials: raw.partials.into_iter().collect(),
            plain_bases: raw.plain_bases.into_iter().collect(),
            everywhere: raw.everywhere.into_iter().collect(),
            common: raw.common.into_iter().collect(),
            servers: raw.server,
            trigger_files: raw.trigger_files,
            hints: raw.hints,
            standard_library: raw.standard_library.into_iter().collect(),
            input: raw.input,
            stop_registrars: raw.stop_registrars.into_iter().collect(),
            stop_takers: raw.stop_takers.into_iter().collect(),
            stop_events: raw.stop_events.into_iter().collect(),
            stop_members: raw.stop_members.into_iter().collect(),
            handle_members: raw.handle_members.into_iter().collect(),
            ..Catalogue::default()
        };
        for rename in raw.rename {
            for from in rename.from {
                catalogue.rename_heads.insert(head(&from).to_owned());
                catalogue.renames.push((from, rename.to.clone()));
            }
        }
        for value in raw.value {
            for name in value.names {
                catalogue.values.insert(name, value.is);
            }
        }
        for (at, runner) in catalogue.runners.iter().enumerate() {
            for name in runner.names.clone() {
                let name = &name;
                catalogue.runner_by_path.insert(name.clone(), at);
                if let Some((module, _)) = name.rsplit_once('.')
                    && !module.contains(['(', '['])
                {
                    catalogue.runner_modules.insert(module.to_owned());
                }
                if let Some(end) = name.find(".context.") {
                    catalogue.contexts.insert(name[..end + ".context".len()].to_owned());
                }
            }
        }
        let child_pids: Vec<String> = catalogue
            .values
            .iter()
            .filter(|(_, kind)| **kind == ValueKind::Child)
            .map(|(name, _)| format!("{name}.pid"))
            .collect();
        let runners = catalogue.runners.iter().flat_map(|r| &r.names);
        let names: Vec<String> = runners
            .chain(catalogue.values.keys())
            .chain(&child_pids)
            .chain(&catalogue.takers)
            .chain(&catalogue.observers)
            .chain(&catalogue.wrappers)
            .chain(&catalogue.partials)
            .chain(&catalogue.stop_registrars)
            .chain(&catalogue.stop_members)
            .chain(catalogue.renames.iter().map(|(from, _)| from))
            .cloned()
            .collect();
        for name in names {
            catalogue.add_prefixes(&name);
        }
        let runners: Vec<String> = catalogue.runners.iter().flat_map(|r| r.names.clone()).collect();
        for name in runners {
            catalogue.add_stages(&name);
        }
        for entry in raw.primitive {
            catalogue.add(entry);
        }
        Ok(catalogue)
    }

    /// Adds a primitive; a later entry of the same name takes the place of an earlier one.
    pub fn add(&mut self, entry: PrimitiveEntry) {
        for name in &entry.names {
            self.by_path.insert(name.clone(), self.primitives.len());
            self.add_leads(name);
            self.add_prefixes(name);
            self.add_stages(name);
            if let Some((module, _)) = name.rsplit_once('.')
                && !module.contains(['(', '['])
            {
                self.prefixes.insert(format!("{module}[]"));
                self.modules.insert(module.to_owned());
            }
        }
        self.primitives.push(entry);
    }

    /// Remembers what can be on the way to a primitive or runner.
    fn add_stages(&mut self, path: &str) {
        for (at, _) in path.match_indices(['.', '(', '[']).chain([(path.len(), "")]) {
            self.stages.insert(path[..at].to_owned());
        }
    }

    /// Whether a thing of this path can lead to a primitive or to an operation that runs commands.
    pub fn is_stage(&self, path: &str) -> bool {
        let begins = |from: &str| {
            from.strip_prefix(path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '(', '[', '/']))
        };
        self.stages.contains(path) || self.renames.iter().any(|(from, _)| begins(from))
    }

    /// Remembers every stage of a path that goes through a call or an element.
    fn add_prefixes(&mut self, path: &str) {
        for (at, _) in path.match_indices(['.', '(', '[']).skip(1).chain([(path.len(), "")]) {
            if path[..at].contains(['(', '[']) {
                self.prefixes.insert(path[..at].to_owned());
            }
        }
    }

    /// Whether a path through calls or elements is on the way to a catalogued name.
    pub fn is_prefix(&self, path: &str) -> bool {
        self.prefixes.contains(path) || self.is_input(path)
    }

    /// Remembers the objects on the way to a path: `flask.Flask()` on the way to `flask.Flask().run`.
    fn add_leads(&mut self, path: &str) {
        for (at, _) in path.match_indices(['.', '(', '[']).skip(1) {
            if path[..at].ends_with([')', ']']) {
                self.leads.insert(path[..at].to_owned());
            }
        }
    }

    /// Whether a path is an object that has primitives as methods.
    pub fn leads(&self, path: &str) -> bool {
        self.leads.contains(path)
    }

    /// Whether an object that leads to primitives says so to the files that get it: not what a module
    /// makes that is used everywhere for other things.
    pub fn leads_others(&self, path: &str) -> bool {
        self.leads(path) && !self.is_everywhere(head(path))
    }

    /// Whether a top-level module is used everywhere for things that do not matter.
    pub fn is_everywhere(&self, module: &str) -> bool {
        self.everywhere.contains(module)
    }

    /// Whether other things have a last component as well, so that it says too little alone.
    pub fn is_common(&self, last: &str) -> bool {
        self.common.contains(last)
    }

    /// The path under which a thing is catalogued (`posix.execv` → `os.execv`).
    pub fn canonical_path<'p>(&self, path: &'p str) -> std::borrow::Cow<'p, str> {
        if !self.rename_heads.contains(head(path)) {
            return std::borrow::Cow::Borrowed(path);
        }
        for (from, to) in &self.renames {
            if let Some(rest) = path.strip_prefix(from.as_str())
                && (rest.is_empty() || rest.starts_with(['.', '(', '[']))
            {
                return std::borrow::Cow::Owned(format!("{to}{rest}"));
            }
        }
        std::borrow::Cow::Borrowed(path)
    }

    /// The paths that stand for others, with those others (`posix` for `os`).
    pub fn renames(&self) -> impl Iterator<Item = (&str, &str)> {
        self.renames.iter().map(|(from, to)| (from.as_str(), to.as_str()))
    }

    /// The primitive at a canonical path.
    pub fn primitive(&self, path: &str) -> Option<&PrimitiveEntry> {
        self.by_path.get(path).map(|&at| &self.primitives[at])
    }

    /// The runner at a canonical path.
    pub fn runner(&self, path: &str) -> Option<&RunnerEntry> {
        self.runner_by_path.get(path).map(|&at| &self.runners[at])
    }

    /// What a path stands for in commands and pids.
    pub fn value(&self, path: &str) -> Option<ValueKind> {
        self.values.get(path).copied()
    }

    /// The last names of what starts a child and gives back its pid, sorted.
    pub fn child_makers(&self) -> Vec<&str> {
        let makers = self.values.iter().filter(|(_, kind)| **kind == ValueKind::ChildPid);
        let last = |path: &'_ str| path.split('(').next().map_or(0, str::len);
        let mut names: Vec<&str> =
            makers.filter_map(|(path, _)| path[..last(path)].rsplit('.').next()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether the operation calls what it is given.
    pub fn is_taker(&self, path: &str) -> bool {
        self.takers.contains(path)
    }

    /// Whether a method of that name is given functions that others outside call.
    pub fn is_registrar(&self, name: &str) -> bool {
        self.registrars.contains(name)
    }

    /// Whether an operation of that name calls its first argument with each element of its second.
    pub fn gives_each(&self, name: &str) -> bool {
        self.each_takers.contains(name)
    }

    /// Whether the operation only looks at what it is given.
    pub fn is_observer(&self, path: &str) -> bool {
        self.observers.contains(path)
    }

    /// Whether the operation gives back its first argument.
    pub fn is_wrapper(&self, path: &str) -> bool {
        self.wrappers.contains(path)
    }

    /// Whether the operation binds arguments to a callable.
    pub fn is_partial(&self, path: &str) -> bool {
        self.partials.contains(path)
    }

    /// Whether a base class brings no caller of its own.
    pub fn is_plain_base(&self, path: &str) -> bool {
        self.plain_bases.contains(path)
    }

    /// Whether a top-level module belongs to the language's own library.
    pub fn is_standard(&self, module: &str) -> bool {
        self.standard_library.contains(module)
    }

    /// Whether an access path reads what the client sends.
    pub fn is_input(&self, path: &str) -> bool {
        self.input.iter().any(|known| {
            path.strip_prefix(known.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '(', '[']))
        })
    }

    /// Whether an operation registers a handler for the event that is its first argument.
    pub fn registers_stop(&self, path: &str) -> bool {
        self.stop_registrars.contains(path)
    }

    /// Whether an operation takes handlers for the host's stop alone.
    pub fn takes_stop(&self, path: &str) -> bool {
        self.stop_takers.contains(path)
    }

    /// Whether an event means that the host says stop, or that the client is gone.
    pub fn is_stop_event(&self, name: &str) -> bool {
        self.stop_events.contains(name)
    }

    /// Whether a member holds a handler that is called when the client is gone.
    pub fn is_stop_member(&self, path: &str) -> bool {
        self.stop_members.contains(path)
    }

    /// Whether a member of that name holds a child's handle.
    pub fn is_handle_member(&self, name: &str) -> bool {
        self.handle_members.contains(name)
    }

    /// The object that an operation is known to hand to the functions it is given, if the catalogue
    /// names anything of it (`invoke.task.context`).
    pub fn context_of(&self, path: &str) -> Option<String> {
        let context = format!("{path}.context");
        self.contexts.contains(&context).then_some(context)
    }

    /// Whether calling or handing over the path can be a site: a primitive or a runner.
    pub fn matters(&self, path: &str) -> bool {
        self.by_path.contains_key(path) || self.runner_by_path.contains_key(path)
    }

    /// Whether a lookup by a free name on this module can yield a primitive.
    pub fn has_primitives(&self, module: &str) -> bool {
        self.modules.contains(module)
    }

    /// Whether a name that begins and ends so can be a primitive of the module.
    pub fn can_name_primitive(&self, module: &str, start: &str, end: &str) -> bool {
        self.by_path.keys().any(|path| {
            path.strip_prefix(module)
                .and_then(|rest| rest.strip_prefix(['.', ':']))
                .is_some_and(|name| name.starts_with(start) && name.ends_with(end))
        })
    }

    /// Whether a module has operations that run commands.
    pub fn has_runners(&self, module: &str) -> bool {
        self.runner_modules.contains(module)
    }

    /// Whether what stands at a path builds or runs a stdio server.
    pub fn is_server(&self, path: &str) -> bool {
        self.servers.iter().any(|server| server.names.iter().any(|name| name == path))
    }

    /// Whether a path names a file that a client or server watches. Compared by its last components.
    pub fn is_trigger(&self, path: &str) -> bool {
        let path = path.replace('\\', "/");
        self.trigger_files.iter().any(|known| {
            path.strip_suffix(known.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        })
    }

    /// The names of the files that a client or server watches, without their folders.
    pub fn trigger_names(&self) -> impl Iterator<Item = &str> {
        self.trigger_files.iter().map(|file| file.rsplit('/').next().unwrap_or(file))
    }

    /// Every primitive, in the order of the catalogue.
    pub fn primitives(&self) -> &[PrimitiveEntry] {
        &self.primitives
    }

    /// Every runner, in the order of the catalogue.
    pub fn runners(&self) -> &[RunnerEntry] {
        &self.runners
    }
}

impl PrimitiveEntry {
    /// The name that is reported for a canonical path of this entry.
    pub fn reported(&self, path: &str) -> String {
        let plain = path.replace("()", "").replace("[]", "");
        match (&self.canonical, &self.prefix) {
            (Some(name), _) => name.clone(),
            (None, Some(prefix)) => format!("{prefix}{}", plain.rsplit('.').next().unwrap_or(&plain)),
            (None, None) => plain,
        }
    }
}

/// The first component of an access path.
fn head(path: &str) -> &str {
    let end = path.find(['.', ':', '(', '[']).unwrap_or(path.len());
    path.get(..end).unwrap_or(path)
}

/// The origin that a value has as a word of a command, if it is one.
pub fn origin_of(kind: ValueKind) -> Option<Origin> {
    match kind {
        ValueKind::Interpreter => Some(Origin::Interpreter),
        ValueKind::OwnScript => Some(Origin::OwnScript),
        ValueKind::OwnArgv => Some(Origin::OwnArgv),
        ValueKind::OwnProgram => Some(Origin::OwnProgram),
        ValueKind::OwnModule => Some(Origin::OwnModule),
        ValueKind::OwnPackage => Some(Origin::OwnPackage),
        ValueKind::OwnPid => Some(Origin::OwnPid),
        ValueKind::OwnGroup => Some(Origin::OwnGroup),
        ValueKind::ChildPid => Some(Origin::ChildPid),
        _ => None,
    }
}
