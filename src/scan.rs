//! Floor 4: the one pipeline function, from paths to a [`Tree`] with its texts.
//!
//! discover → read each file that can hold a site, in parallel → link → reach. A file's
//! facts depend on that file alone. One file that makes a reader fail is one problem of
//! that file, never the end of the run.

#![allow(clippy::disallowed_methods)] // The pipeline opens the files that discovery lists.

pub mod asserted;
pub mod catalogues;
pub mod conflict;
pub mod daemons;
mod entry_points;
mod imported;
mod link;
mod manuals;
mod packages;
mod python;
mod reach;
mod rounds;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rayon::prelude::*;

use crate::base::facts::{FileFacts, Language, Problem, ProblemKind, RelPath, Tree};
use crate::base::source::{Decoding, Source, declared_encoding, keeps_ascii, wide};
use crate::base::sources::Sources;
use crate::base::span::Span;
use crate::data::config::{Config, MAX_FILE_SIZE};
use crate::discover::{self, Entry, Listing, Scope};
use crate::graph::link::Files;
use crate::lang::python::given::Given;
use crate::lang::{self, language_of};

use catalogues::Catalogues;
use imported::{Imported, Places};
use python::{PythonReader, Reading};
use rounds::Known;

/// Stack of a worker thread, in bytes.
const STACK: usize = 64 << 20;

/// How many bytes of a file are searched for a coding line.
const HEAD: usize = 4096;

/// Names that readers look for beside primitives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watch {
    /// Symbols of `removed` paths.
    pub symbols: Vec<String>,
    /// Assertion functions whose constant argument is a path id.
    pub assertions: Vec<String>,
}

/// One file given on standard input.
#[derive(Debug, Clone)]
pub struct Stdin {
    /// The name that it is read and reported under, relative to the root.
    pub name: RelPath,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Called with the number of files done and of all.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// What to scan.
pub struct ScanRequest<'a> {
    /// The project's root; an absolute path.
    pub root: PathBuf,
    /// Files and folders; absolute paths.
    pub paths: Vec<PathBuf>,
    /// Read this instead of the paths.
    pub stdin: Option<Stdin>,
    /// The configuration.
    pub config: &'a Config,
    /// Watched names.
    pub watch: Watch,
    /// Read only these languages.
    pub languages: Option<BTreeSet<Language>>,
    /// Worker threads; `None` is one a core.
    pub jobs: Option<usize>,
    /// Whether the daemon's reach is asked for.
    pub reach: bool,
    /// Parse every Python file whole, whatever stands in it: what the choice of pieces is held against.
    pub whole: bool,
    /// Told after each file.
    pub progress: Option<Progress<'a>>,
}

/// What a scan found.
#[derive(Debug, Default)]
pub struct Scan {
    /// The linked tree.
    pub tree: Tree,
    /// Texts of the files that say anything.
    pub sources: Sources,
    /// What could not be looked at, with the reason. The run is not complete.
    pub unreadable: BTreeSet<(RelPath, String)>,
    /// What was left out on purpose and is worth knowing.
    pub notes: BTreeSet<(RelPath, String)>,
}

/// Why a scan could not even start.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// No worker threads.
    #[error("no worker threads could be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// The embedded catalogues are not valid.
    #[error("{0}")]
    Catalogue(String),
}

/// Scans. Deterministic: the same bytes give the same tree, whatever the number of threads.
pub fn scan(request: &ScanRequest<'_>) -> Result<Scan, ScanError> {
    let own = match request.config.primitives.as_slice() {
        [] => None,
        primitives => Some(Catalogues::with(primitives).map_err(ScanError::Catalogue)?),
    };
    let catalogues = match &own {
        Some(catalogues) => catalogues,
        None => embedded()?,
    };
    let pool = pool(request.jobs)?;
    Ok(pool.install(|| run(request, catalogues)))
}

/// The catalogues without a configuration's additions, read once for the whole process.
fn embedded() -> Result<&'static Catalogues, ScanError> {
    static EMBEDDED: LazyLock<Result<Catalogues, String>> = LazyLock::new(Catalogues::embedded);
    EMBEDDED.as_ref().map_err(|error| ScanError::Catalogue(error.clone()))
}

/// The worker threads of this process, made once for each number of them: every thread keeps some memory,
/// and a server scans many times.
fn pool(jobs: Option<usize>) -> Result<Arc<rayon::ThreadPool>, ScanError> {
    static POOLS: Mutex<BTreeMap<Option<usize>, Arc<rayon::ThreadPool>>> = Mutex::new(BTreeMap::new());
    // The map is whole at any moment, also when a thread that held it has failed.
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&jobs) {
        return Ok(Arc::clone(pool));
    }
    // Depth limits, not this, bound recursion; the room is for what lies between.
    let mut pool = rayon::ThreadPoolBuilder::new().stack_size(STACK);
    if let Some(jobs) = jobs {
        pool = pool.num_threads(jobs);
    }
    let pool = Arc::new(pool.build()?);
    pools.insert(jobs, Arc::clone(&pool));
    Ok(pool)
}

fn run(request: &ScanRequest<'_>, catalogues: &Catalogues) -> Scan {
    let mut scan = Scan::default();
    let mut listing = match &request.stdin {
        Some(_) => Listing::default(),
        None => list(request),
    };
    scan.tree.listed = match &request.stdin {
        Some(stdin) => vec![stdin.name.clone()],
        None => listing.files.keys().cloned().collect(),
    };
    let roots: Vec<String> = request.config.source_roots.iter().map(|r| r.value.clone()).collect();
    let mut files = Files::new(scan.tree.listed.iter().cloned(), &roots);
    packages::name(&mut files, &packages::manifests(&listing));
    let files = files;
    let own = request.config.primitives.iter().filter(|p| p.language == Language::Python);
    let words: Vec<String> = request
        .watch
        .assertions
        .iter()
        .cloned()
        .chain(own.filter_map(|p| p.name.trim_end_matches("()").rsplit('.').next().map(str::to_owned)))
        .collect();
    let python = PythonReader::new(catalogues, &request.watch.symbols, &words, request.whole);
    let listed = scan.tree.listed.clone();
    let places: Places<'_> = listed.iter().map(String::as_str).zip(0..).collect();
    let tools =
        Tools { request, catalogues, files: &files, python: &python, listed: &listed, places: &places };
    let read = match &request.stdin {
        Some(stdin) => vec![read_stdin(&tools, stdin)],
        None => read_all(&tools, &listing),
    };
    // What is too large
    let limit = limit(request);
    listing.files.retain(|_, entry| entry.size <= limit);
    let mut known = BTreeMap::new();
    for file in read {
        match file {
            Read::Skipped => {}
            Read::Nothing => scan.tree.scanned += 1,
            Read::Unreadable(path, why) => {
                if let Some(language) = language_of(&path, b"") {
                    let mut facts = FileFacts::new(path.clone(), language);
                    let message = why.clone();
                    facts.problems.push(Problem {
                        kind: ProblemKind::Unreadable,
                        span: Span::default(),
                        message,
                    });
                    scan.tree.files.push(facts);
                }
                scan.unreadable.insert((path, why));
            }
            Read::Known(path, file) => {
                scan.tree.scanned += 1;
                known.insert(path, *file);
            }
            Read::Facts(facts, source, file) => {
                known.extend(file.map(|file| (facts.path.clone(), *file)));
                scan.tree.scanned += 1;
                if let Some(source) = source {
                    scan.sources.insert(facts.path.clone(), source);
                }
                scan.tree.files.push(*facts);
            }
        }
    }
    scan.unreadable.extend(listing.unreadable.clone());
    scan.notes.extend(listing.notes.clone());
    scan.tree.files.sort_by(|a, b| a.path.cmp(&b.path));
    manuals::leave_out(&mut scan.tree.files, &request.root);
    rounds::follow_exports(&tools, &listing, known, &mut scan);
    link::sites(&mut scan.tree, &files, catalogues);
    for facts in &mut scan.tree.files {
        asserted::mark(facts, &request.watch.assertions);
    }
    // A run over a part of the project, or over one text, says nothing about what lies elsewhere.
    let whole = request.stdin.is_none() && request.paths.iter().any(|p| request.root.starts_with(p));
    let exists = |name: &str| !whole && (name.contains('*') || request.root.join(name).exists());
    scan.tree.daemons = daemons::modules(request.config, &scan.tree, &exists);
    link::entries(&mut scan.tree, &files);
    if request.reach {
        let points = entry_points::named(&tools, &listing, &scan);
        entry_points::detect(&tools, &listing, &mut scan, &points);
        reach::follow(&tools, &listing, &mut scan);
        entry_points::mark(&mut scan, &points);
    }
    scan
}

fn list(request: &ScanRequest<'_>) -> Listing {
    discover::discover(&Scope {
        root: request.root.clone(),
        paths: request.paths.clone(),
        exclude: request.config.exclude.iter().map(|e| e.value.clone()).collect(),
        store: request.config.store.as_ref().map(|store| request.root.join(&store.value)),
        include: included(request.config),
        jobs: request.jobs,
    })
}

/// What is looked at although it would be skipped: what the configuration says, and the
/// daemon modules that it names, since a named file is looked at wherever it lies.
fn included(config: &Config) -> Vec<String> {
    let named = config.daemon.iter().filter(|d| !discover::literal_prefix(&d.value).is_empty());
    config.include.iter().chain(named).map(|e| e.value.clone()).collect()
}

/// What became of one file.
enum Read {
    /// Of no language that is asked for.
    Skipped,
    /// Read, and nothing in it.
    Nothing,
    /// Read, and nothing in it but what other files may need.
    Known(RelPath, Box<Known>),
    /// Not read.
    Unreadable(RelPath, String),
    /// Read, with what it says.
    Facts(Box<FileFacts>, Option<Source>, Option<Box<Known>>),
}

fn read_all(tools: &Tools<'_>, listing: &Listing) -> Vec<Read> {
    let (done, total) = (AtomicUsize::new(0), listing.files.len());
    listing
        .files
        .par_iter()
        .map(|(path, entry)| {
            let read = read_file(tools, path, entry);
            if let Some(progress) = tools.request.progress {
                progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
            }
            read
        })
        .collect()
}

fn limit(request: &ScanRequest<'_>) -> u64 {
    request.config.max_file_size.unwrap_or(MAX_FILE_SIZE)
}

/// Standard input is held to the limit of files.
fn read_stdin(tools: &Tools<'_>, stdin: &Stdin) -> Read {
    let limit = limit(tools.request);
    if u64::try_from(stdin.bytes.len()).unwrap_or(u64::MAX) <= limit {
        return read_bytes(tools, &stdin.name, stdin.bytes.clone());
    }
    let Some(language) = language_of(&stdin.name, b"") else { return Read::Skipped };
    let message = format!("is over the limit of {limit} bytes: it was not read");
    problem(tools.request, &stdin.name, language, ProblemKind::TooLarge, message)
}

fn read_file(tools: &Tools<'_>, path: &str, entry: &Entry) -> Read {
    let request = tools.request;
    let limit = limit(request);
    if entry.size > limit {
        let Some(language) = language_of(path, b"") else { return Read::Skipped };
        let message = format!("is {} bytes long, over the limit of {limit}: it was not read", entry.size);
        return problem(request, path, language, ProblemKind::TooLarge, message);
    }
    match std::fs::read(&entry.real) {
        Ok(bytes) => read_bytes(tools, path, bytes),
        Err(error) => Read::Unreadable(path.to_owned(), format!("cannot be read ({error})")),
    }
}

fn problem(
    request: &ScanRequest<'_>,
    path: &str,
    language: Language,
    kind: ProblemKind,
    message: String,
) -> Read {
    if request.languages.as_ref().is_some_and(|l| !l.contains(&language)) {
        return Read::Skipped;
    }
    let mut facts = FileFacts::new(path, language);
    facts.problems.push(Problem { kind, span: Span::default(), message });
    Read::Facts(Box::new(facts), None, None)
}

fn read_bytes(tools: &Tools<'_>, path: &str, bytes: Vec<u8>) -> Read {
    let (request, catalogues) = (tools.request, tools.catalogues);
    let Some(language) = language_of(path, &bytes) else { return Read::Skipped };
    if request.languages.as_ref().is_some_and(|l| !l.contains(&language)) {
        return Read::Skipped;
    }
    if lang::holds_commands(language)
        && wide(&bytes).is_none()
        && !(language == Language::Embedded && lang::embedded::must_parse(path, &bytes))
        && !catalogues.prefilter().may_hold(language, &bytes, &request.watch.symbols)
    {
        return Read::Nothing;
    }
    let source = Source::decode(bytes);
    let read = catch_unwind(AssertUnwindSafe(|| facts_of(tools, path, language, &source)));
    let (mut facts, known) = match read {
        Ok(read) => read,
        Err(_) => {
            let message = "could not be read: the reader failed on it".to_owned();
            return problem(request, path, language, ProblemKind::GaveUp, message);
        }
    };
    if lang::files::is_template(path) {
        facts.problems.retain(|p| p.kind != ProblemKind::Syntax);
    }
    if language == Language::Python {
        facts.problems.extend(misread(&source));
    }
    if source.decoding == Decoding::Lossy {
        facts.problems.push(Problem {
            kind: ProblemKind::Encoding,
            span: Span::default(),
            message: "is not valid in its encoding: it was read with replacement characters".to_owned(),
        });
    }
    conflict::mark(&mut facts, &source);
    match known {
        Some(known) if says_nothing(&facts) => Read::Known(path.to_owned(), Box::new(known)),
        None if says_nothing(&facts) => Read::Nothing,
        known => Read::Facts(Box::new(facts), Some(source), known.map(Box::new)),
    }
}

/// What makes the interpreter read other code than stands there.
fn misread(source: &Source) -> Option<Problem> {
    let text = source.text.as_bytes();
    let problem = |at: usize, message: String| Problem {
        kind: ProblemKind::Encoding,
        span: Span::new(at, at),
        message,
    };
    let declared = declared_encoding(text.get(..text.len().min(HEAD)).unwrap_or(text));
    match declared.filter(|name| !keeps_ascii(name)) {
        Some(name) => Some(problem(
            0,
            format!(
                "declares the encoding `{name}`, which is not decoded: what runs may not be what was read"
            ),
        )),
        None => memchr::memchr(0, text).map(|at| {
            problem(at, "holds a NUL byte: what stands after it may not have been read".to_owned())
        }),
    }
}

fn says_nothing(facts: &FileFacts) -> bool {
    facts.sites.is_empty()
        && facts.program.is_none()
        && facts.watched.is_empty()
        && facts.annotations.is_empty()
        && facts.problems.is_empty()
        && facts.lookups.is_empty()
        && facts.server.is_none()
}

/// The facts of one file, by its language's reader, its sites found as far as the file alone tells;
/// of a Python file, what other files may need too.
fn facts_of(
    tools: &Tools<'_>,
    path: &str,
    language: Language,
    source: &Source,
) -> (FileFacts, Option<Known>) {
    let (request, catalogues) = (tools.request, tools.catalogues);
    if language == Language::Python {
        let Reading { facts, hands, commands } =
            tools.python.read(path, source, &Given::default(), tools.files, catalogues);
        let facts = facts.unwrap_or_else(|| FileFacts::new(path, language));
        // Nothing imports a notebook.
        let known = (!path.ends_with(".ipynb")).then(|| Known {
            imported: Imported::of(path, &source.text, tools.files, tools.places),
            commands,
            hands,
        });
        return (facts, known);
    }
    let watch = &request.watch.symbols;
    let mut facts = lang::commands_facts(path, language, source, &catalogues.commands, watch)
        .or_else(|| program_facts(tools, path, language, source))
        .unwrap_or_else(|| FileFacts::new(path, language));
    if facts.program.is_some() {
        link::settle(&mut facts, tools.files, catalogues, &|_| false);
    }
    (facts, None)
}

/// The facts of a program's file, unsettled; `None` for other files.
fn program_facts(tools: &Tools<'_>, path: &str, language: Language, source: &Source) -> Option<FileFacts> {
    let watch = tools.request.watch.symbols.iter().cloned().collect();
    match language {
        Language::Python => Some(tools.python.whole(path, source, tools.catalogues)),
        Language::Go => Some(lang::go::facts(path, source, tools.catalogues.of(language), &watch)),
        Language::Rust => {
            let catalogue = tools.catalogues.of(language);
            Some(lang::rust::facts(path, source, catalogue, &tools.catalogues.commands, &watch))
        }
        Language::Javascript => {
            Some(lang::javascript::facts(path, source, tools.catalogues.of(language), &watch))
        }
        _ => None,
    }
}

/// What every step of one run uses.
struct Tools<'r> {
    request: &'r ScanRequest<'r>,
    catalogues: &'r Catalogues,
    files: &'r Files,
    python: &'r PythonReader,
    /// Every file of the tree, in order.
    listed: &'r [RelPath],
    /// The place of each in that list.
    places: &'r Places<'r>,
}
