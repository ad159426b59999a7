//! From one file to what it says: opened if its name or its first bytes make it one that is read,
//! searched for the words that matter, and read by its language's reader. What cannot be read is a
//! problem of that file.

#![allow(clippy::disallowed_methods)] // Part of the pipeline: it opens the files that discovery listed.

use std::io::Read as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::imported::Imported;
use super::python::{Before, Reading};
use super::rounds::Known;
use super::{Scan, ScanRequest, Stdin, Tools, conflict, kept, link};
use crate::base::facts::{FileFacts, Language, Problem, ProblemKind, RelPath};
use crate::base::source::{Decoding, Source, declared_encoding, keeps_ascii, wide};
use crate::base::span::Span;
use crate::data::config::MAX_FILE_SIZE;
use crate::discover::{Entry, Listing};
use crate::lang::files::HEAD;
use crate::lang::python::given::Given;
use crate::lang::{self, language_of};

/// Files that a worker takes at once, at most: what one has begun with no other can take over, and files
/// differ in what they take by a thousand times.
pub(super) const FEW: usize = 4;
/// How many bytes of a file are searched for a coding line.
const CODING: usize = 4096;

/// What became of one file.
pub(super) enum Read {
    /// Of no language that is asked for.
    Skipped,
    /// Read, and nothing in it.
    Nothing,
    /// Read, and nothing in it but what other files may need.
    Known(RelPath, Box<Known>),
    /// Not read.
    Unreadable(RelPath, String),
    /// Read, with what it says, and its text where it stands in no file.
    Facts(Box<FileFacts>, Option<Source>, Option<Box<Known>>),
}

pub(super) fn read_all(tools: &Tools<'_>, listing: &Listing) -> Vec<Read> {
    // What a name rules out takes no time, and is no part of what is to be done.
    let files: Vec<_> = listing
        .files
        .iter()
        .filter(|(path, _)| lang::files::may_be(path, tools.request.languages.as_ref()))
        .collect();
    let (done, total) = (AtomicUsize::new(0), files.len());
    files
        .into_par_iter()
        .with_max_len(FEW)
        .map(|(path, entry)| {
            let read = read_file(tools, path, entry);
            if let Some(progress) = tools.request.progress {
                progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
            }
            read
        })
        .collect()
}

pub(super) fn limit(request: &ScanRequest<'_>) -> u64 {
    request.config.max_file_size.unwrap_or(MAX_FILE_SIZE)
}

/// Standard input is held to the limit of files.
pub(super) fn read_stdin(tools: &Tools<'_>, stdin: &Stdin) -> Read {
    let limit = limit(tools.request);
    if u64::try_from(stdin.bytes.len()).unwrap_or(u64::MAX) <= limit {
        return match language_of(&stdin.name, &stdin.bytes).filter(|language| tools.request.wants(*language))
        {
            Some(language) => read_bytes(tools, &stdin.name, language, stdin.bytes.clone()),
            None => Read::Skipped,
        };
    }
    let Some(language) = language_of(&stdin.name, b"") else { return Read::Skipped };
    let message = format!("is over the limit of {limit} bytes: it was not read");
    problem(tools.request, &stdin.name, language, ProblemKind::TooLarge, message)
}

fn read_file(tools: &Tools<'_>, path: &str, entry: &Entry) -> Read {
    let request = tools.request;
    let limit = limit(request);
    if entry.stamp.size > limit {
        let Some(language) = language_of(path, b"") else { return Read::Skipped };
        let size = entry.stamp.size;
        let message = format!("is {size} bytes long, over the limit of {limit}: it was not read");
        return problem(request, path, language, ProblemKind::TooLarge, message);
    }
    match open(request, path, entry) {
        Ok(Some((language, bytes))) => read_bytes(tools, path, language, bytes),
        Ok(None) => Read::Skipped,
        Err(error) => Read::Unreadable(path.to_owned(), format!("cannot be read ({error})")),
    }
}

/// The language of a file that is to be read, and all of its bytes. Of others, no more is read than what tells.
fn open(
    request: &ScanRequest<'_>,
    path: &str,
    entry: &Entry,
) -> std::io::Result<Option<(Language, Vec<u8>)>> {
    let size = usize::try_from(entry.stamp.size).unwrap_or(HEAD);
    let mut file = std::fs::File::open(&entry.real)?;
    let mut bytes = Vec::with_capacity(size.min(HEAD) + 1);
    file.by_ref().take(HEAD as u64).read_to_end(&mut bytes)?;
    let language = language_of(path, &bytes).filter(|language| request.wants(*language));
    let Some(language) = language else { return Ok(None) };
    if bytes.len() == HEAD {
        bytes.reserve_exact(size.saturating_sub(HEAD) + 1);
        file.read_to_end(&mut bytes)?;
    }
    Ok(Some((language, bytes)))
}

fn problem(
    request: &ScanRequest<'_>,
    path: &str,
    language: Language,
    kind: ProblemKind,
    message: String,
) -> Read {
    if !request.wants(language) {
        return Read::Skipped;
    }
    let mut facts = FileFacts::new(path, language);
    facts.problems.push(Problem { kind, span: Span::default(), message });
    Read::Facts(Box::new(facts), None, None)
}

fn read_bytes(tools: &Tools<'_>, path: &str, language: Language, bytes: Vec<u8>) -> Read {
    let (request, catalogues) = (tools.request, tools.catalogues);
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
            let Problem { kind, message, .. } = failed();
            return problem(request, path, language, kind, message);
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
    let says_nothing = !facts.speaks() && facts.program.is_none();
    match known {
        Some(known) if says_nothing => Read::Known(path.to_owned(), Box::new(known)),
        None if says_nothing => Read::Nothing,
        // A file is read again where its text is shown: most of what is looked at is not.
        known => {
            let text = request.stdin.is_some().then_some(source);
            Read::Facts(Box::new(facts), text, known.map(Box::new))
        }
    }
}

/// What is said of a file that makes its reader fail.
pub(super) fn failed() -> Problem {
    let message = "could not be read: the reader failed on it".to_owned();
    Problem { kind: ProblemKind::GaveUp, span: Span::default(), message }
}

/// What makes the interpreter read other code than stands there.
fn misread(source: &Source) -> Option<Problem> {
    let text = source.text.as_bytes();
    let problem = |at: usize, message: String| Problem {
        kind: ProblemKind::Encoding,
        span: Span::new(at, at),
        message,
    };
    let declared = declared_encoding(text.get(..text.len().min(CODING)).unwrap_or(text));
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

/// Reads the texts that are shown and were not kept.
pub(super) fn texts(listing: &Listing, scan: &mut Scan) {
    let missing: Vec<&RelPath> =
        kept::shown(&scan.tree).filter(|path| scan.sources.get(path).is_none()).collect();
    let read: Vec<(RelPath, Source)> = missing
        .into_par_iter()
        .filter_map(|path| {
            let bytes = std::fs::read(&listing.files.get(path)?.real).ok()?;
            Some((path.clone(), Source::decode(bytes)))
        })
        .collect();
    for (path, source) in read {
        scan.sources.insert(path, source);
    }
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
        let Reading { facts, hands, commands, chosen, met } =
            tools.python.read(path, source, &Given::default(), Before::default(), tools.linking());
        let facts = facts.unwrap_or_else(|| FileFacts::new(path, language));
        // Nothing imports a notebook.
        let known = (!path.ends_with(".ipynb")).then(|| Known {
            imported: Imported::of(path, &source.text, tools.files, tools.places),
            commands,
            hands,
            chosen,
            met: met.map(Box::new),
        });
        return (facts, known);
    }
    let watch = &request.watch.symbols;
    let mut facts = lang::commands_facts(path, language, source, catalogues.commands(), watch)
        .or_else(|| program_facts(tools, path, language, source))
        .unwrap_or_else(|| FileFacts::new(path, language));
    if facts.program.is_some() {
        link::settle(&mut facts, tools.files, catalogues, &|_| false);
    }
    (facts, None)
}

/// The facts of a program's file, unsettled; `None` for other files.
pub(super) fn program_facts(
    tools: &Tools<'_>,
    path: &str,
    language: Language,
    source: &Source,
) -> Option<FileFacts> {
    let watch = tools.request.watch.symbols.iter().cloned().collect();
    match language {
        Language::Python => Some(tools.python.whole(path, source, tools.catalogues)),
        Language::Go => Some(lang::go::facts(path, source, tools.catalogues.of(language), &watch)),
        Language::Rust => {
            let catalogue = tools.catalogues.of(language);
            Some(lang::rust::facts(path, source, catalogue, tools.catalogues.commands(), &watch))
        }
        Language::Javascript => {
            Some(lang::javascript::facts(path, source, tools.catalogues.of(language), &watch))
        }
        _ => None,
    }
}
