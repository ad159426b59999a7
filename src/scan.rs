//! Floor 4: the one pipeline function, from paths to a [`Tree`] with its texts.
//!
//! discover → read each file that can hold a site, in parallel → link → reach. A file's
//! facts depend on that file alone. One file that makes a reader fail is one problem of
//! that file, never the end of the run.

#![allow(clippy::disallowed_methods)] // The pipeline opens the files that discovery lists.

pub mod asked;
pub mod asserted;
pub mod cache;
pub mod catalogues;
pub mod conflict;
pub mod daemons;
mod entry_points;
mod imported;
mod kept;
mod link;
mod manuals;
mod packages;
mod python;
mod reach;
mod read;
mod rounds;
mod servers;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crate::base::facts::{FileFacts, Language, Problem, ProblemKind, RelPath, Tree};
use crate::base::sources::Sources;
use crate::base::span::Span;
use crate::data::config::Config;
use crate::discover::{self, Listing, Scope};
use crate::graph::link::Files;
use crate::lang::files::may_be;
use crate::lang::language_of;

use cache::{Cache, Lookup};
use catalogues::{Catalogues, PROGRAM_LANGUAGES};
use imported::Places;
use python::{Linking, PythonReader};
use read::{Read, limit, read_all, read_stdin};

/// Stack of a worker thread, in bytes.
const STACK: usize = 64 << 20;

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
    /// Where results are kept between runs; nowhere if there is none.
    pub cache: Option<Cache>,
    /// Parse every Python file whole, whatever stands in it: what the choice of pieces is held against.
    pub whole: bool,
    /// Told after each file.
    pub progress: Option<Progress<'a>>,
}

impl ScanRequest<'_> {
    /// Whether files of a language are read.
    fn wants(&self, language: Language) -> bool {
        self.languages.as_ref().is_none_or(|wanted| wanted.contains(&language))
    }
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
    /// A primitive of the configuration is not valid.
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
        None => &EMBEDDED,
    };
    let pool = pool(request.jobs)?;
    Ok(pool.install(|| run(request, catalogues)))
}

/// The catalogues without a configuration's additions, read once for the whole process.
static EMBEDDED: LazyLock<Catalogues> = LazyLock::new(Catalogues::default);

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

/// Takes what an earlier run has kept, or scans and keeps it.
fn run(request: &ScanRequest<'_>, catalogues: &Catalogues) -> Scan {
    let listing = || match &request.stdin {
        Some(_) => Listing::default(),
        None => list(request),
    };
    // The catalogues take as long to read as a small tree: a kept result needs none.
    let catalogued = || {
        if request.cache.is_none() {
            rayon::join(|| catalogues.commands(), || catalogues.of(Language::Python));
        }
    };
    let (listing, ()) = rayon::join(listing, catalogued);
    let Some(mut lookup) = Lookup::new(request, &listing) else { return read(request, catalogues, listing) };
    if let Some(scan) = lookup.find(request, &listing) {
        return scan;
    }
    let scan = read(request, catalogues, listing.clone());
    lookup.keep(&listing, &scan);
    scan
}

/// Scans what was listed.
fn read(request: &ScanRequest<'_>, catalogues: &Catalogues, mut listing: Listing) -> Scan {
    let mut scan = Scan::default();
    let listed: Vec<RelPath> = match &request.stdin {
        Some(stdin) => vec![stdin.name.clone()],
        None => listing.files.keys().cloned().collect(),
    };
    let roots: Vec<String> = request.config.source_roots.iter().map(|r| r.value.clone()).collect();
    let modules = || {
        let mut files = Files::new(listed.iter().filter(|path| is_code(path)).cloned(), &roots);
        packages::name(&mut files, &packages::manifests(&listing));
        files
    };
    let own = request.config.primitives.iter().filter(|p| p.language == Language::Python);
    let words: Vec<String> = request
        .watch
        .assertions
        .iter()
        .cloned()
        .chain(own.filter_map(|p| p.name.trim_end_matches("()").rsplit('.').next().map(str::to_owned)))
        .collect();
    let reader = || PythonReader::new(catalogues, &request.watch.symbols, &words, request.whole);
    let (files, python) = rayon::join(modules, reader);
    let places: Places<'_> = listed.iter().map(String::as_str).zip(0..).collect();
    let tools =
        Tools { request, catalogues, files: &files, python: &python, listed: &listed, places: &places };
    let read = match &request.stdin {
        Some(stdin) => vec![read_stdin(&tools, stdin)],
        None => read_all(&tools, &listing),
    };
    // What is too large is not opened later either.
    let limit = limit(request);
    listing.files.retain(|_, entry| entry.stamp.size <= limit);
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
    servers::across(&mut scan.tree, &files, catalogues);
    let which = if request.reach { link::Sites::All } else { link::Sites::AndNoReach };
    link::sites(&mut scan.tree, &files, catalogues, which);
    for facts in &mut scan.tree.files {
        asserted::mark(facts, &request.watch.assertions);
    }
    // A run over a part of the project, or over one text, says nothing about what lies elsewhere.
    let whole = request.stdin.is_none() && request.paths.iter().any(|p| request.root.starts_with(p));
    scan.tree.listed.clone_from(&listed);
    let exists = |name: &str| !whole && (name.contains('*') || request.root.join(name).exists());
    scan.tree.daemons = daemons::modules(request.config, &scan.tree, &exists);
    link::entries(&mut scan.tree, &files);
    if request.reach {
        let points = entry_points::named(&tools, &listing, &scan);
        entry_points::detect(&tools, &listing, &mut scan, &points);
        reach::follow(&tools, &listing, &mut scan);
        entry_points::mark(&mut scan, &points);
    }
    read::texts(&listing, &mut scan);
    scan
}

/// Whether an import may lead to a file of that name.
fn is_code(path: &str) -> bool {
    static PROGRAMS: LazyLock<BTreeSet<Language>> = LazyLock::new(|| PROGRAM_LANGUAGES.into_iter().collect());
    may_be(path, Some(&PROGRAMS))
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

impl<'r> Tools<'r> {
    fn linking(&self) -> Linking<'r> {
        Linking { files: self.files, catalogues: self.catalogues }
    }
}
