//! Floor 4: which files a run looks at. Walks the given paths once, honours `.gitignore`
//! (also outside a git checkout), skips what other people's code lies in, and says what
//! it could not read. Opens no file but ignore files; parses nothing.
//!
//! Nothing outside the given roots is read: a symbolic link that leaves them is
//! reported and not followed, and a link back into them is never walked twice.

#![allow(clippy::disallowed_methods)] // Discovery is one of the places that touch the file system.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{WalkBuilder, WalkState};

use crate::base::facts::RelPath;

/// Hidden folders that are read; every other hidden folder is skipped.
const HIDDEN: [&str; 21] = [
    ".github",
    ".gitea",
    ".forgejo",
    ".gitlab",
    ".gitlab-ci",
    ".githooks",
    ".husky",
    ".vscode",
    ".zed",
    ".devcontainer",
    ".claude",
    ".cursor",
    ".codex",
    ".gemini",
    ".windsurf",
    ".continue",
    ".agents",
    ".kiro",
    ".roo",
    ".clinerules",
    ".opencode",
];
/// Folders of installed or built things, skipped at any depth unless named.
const SKIPPED: [&str; 10] = [
    "node_modules",
    "site-packages",
    "target",
    "dist",
    "build",
    "vendor",
    "venv",
    ".venv",
    "__pycache__",
    ".tox",
];

/// How a database's file ends, and what SQLite adds for the files beside it.
const DATABASES: [&str; 4] = [".db", ".db3", ".sqlite", ".sqlite3"];
const BESIDE: [&str; 4] = ["-wal", "-shm", "-journal", ""];

/// What to look at.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The project's root: output is relative to it.
    pub root: PathBuf,
    /// Files and folders to look at, as given.
    pub paths: Vec<PathBuf>,
    /// Lines of a `.gitignore` in the root.
    pub exclude: Vec<String>,
    /// Globs of what is looked at although it would be skipped.
    pub include: Vec<String>,
    /// The store of the passes, wherever it lies: not looked at, nor what SQLite puts beside it.
    pub store: Option<PathBuf>,
    /// Worker threads; `None` is one a core.
    pub jobs: Option<usize>,
}

/// One regular file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Where to open it.
    pub real: PathBuf,
    /// What it looked like from outside.
    pub stamp: Stamp,
}

/// What of a file changes when it is written to, as far as that shows without opening it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// Its size in bytes.
    pub size: u64,
    /// When it was last written to: nanoseconds since 1970. Whoever writes can set it.
    pub modified: i128,
    /// When the file or what is known of it last changed, which nobody can set: nanoseconds since 1970;
    /// 0 where the system does not tell.
    pub changed: i128,
    /// The file's number on its disk; 0 where it has none.
    pub inode: u64,
    /// The disk's number.
    pub device: u64,
}

impl Stamp {
    /// Of a file as it lies there now; the default where there is none.
    pub fn at(path: &Path) -> Stamp {
        std::fs::metadata(path).map_or_else(|_| Stamp::default(), |meta| Stamp::of(&meta))
    }

    fn of(meta: &Metadata) -> Stamp {
        let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH);
        let nanos = |time| since(time).ok().and_then(|d| i128::try_from(d.as_nanos()).ok());
        #[cfg(unix)]
        let (changed, inode, device) = {
            use std::os::unix::fs::MetadataExt;
            let changed = i128::from(meta.ctime()) * 1_000_000_000 + i128::from(meta.ctime_nsec());
            (changed, meta.ino(), meta.dev())
        };
        #[cfg(not(unix))]
        let (changed, inode, device) = (0, 0, 0);
        let modified = meta.modified().ok().and_then(nanos).unwrap_or(0);
        Stamp { size: meta.len(), modified, changed, inode, device }
    }
}

/// What a walk found.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Files by relative path.
    pub files: BTreeMap<RelPath, Entry>,
    /// What could not be looked at: relative path and reason. The run is not complete.
    pub unreadable: BTreeSet<(RelPath, String)>,
    /// What was left out on purpose and is worth knowing: relative path and reason.
    pub notes: BTreeSet<(RelPath, String)>,
}

/// A link that the walk met.
type Link = PathBuf;

/// Walks the scope. A path that does not exist is among the unreadable.
pub fn discover(scope: &Scope) -> Listing {
    let mut listing = Listing::default();
    let exclude = excludes(scope);
    let walk = Walk { scope, exclude: &exclude };
    let mut links = Vec::new();
    for path in &scope.paths {
        match std::fs::metadata(path) {
            Err(error) => {
                listing.unreadable.insert((relative(&scope.root, path), reason(&error)));
            }
            Ok(meta) if meta.is_file() => walk.named_file(path, &meta, &mut listing),
            Ok(meta) if meta.is_dir() && walk.excluded(path, true) => {
                let why = "is excluded by the configuration; nothing in it is read".to_owned();
                listing.notes.insert((relative(&scope.root, path), why));
            }
            Ok(meta) if meta.is_dir() => {
                let plain = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
                walk.folder(path, &plain, true, &mut listing, &mut links);
            }
            Ok(_) => {
                listing
                    .unreadable
                    .insert((relative(&scope.root, path), "is neither a file nor a folder".to_owned()));
            }
        }
    }
    walk.included(&mut listing);
    walk.links(links, &mut listing);
    listing
}

/// What one thread of a walk met.
#[derive(Default)]
struct Part {
    files: Vec<(RelPath, Entry)>,
    unreadable: Vec<(RelPath, String)>,
    notes: Vec<(RelPath, String)>,
    links: Vec<Link>,
}

/// A thread's part, which joins the others when the thread ends.
struct Met<'a> {
    part: Part,
    all: &'a Mutex<Vec<Part>>,
}

impl Drop for Met<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        all.push(std::mem::take(&mut self.part));
    }
}

struct Walk<'a> {
    scope: &'a Scope,
    exclude: &'a Gitignore,
}

impl Walk<'_> {
    fn excluded(&self, path: &Path, is_dir: bool) -> bool {
        // Matching is relative to the root; a path outside it has nothing to match.
        // The root itself is what the lines are relative to: none can mean it.
        path.strip_prefix(&self.scope.root).is_ok_and(|rel| {
            !rel.as_os_str().is_empty() && self.exclude.matched_path_or_any_parents(rel, is_dir).is_ignore()
        })
    }

    fn named_file(&self, path: &Path, meta: &Metadata, listing: &mut Listing) {
        let name = relative(&self.scope.root, path);
        if self.excluded(path, false) {
            listing.notes.insert((name, "is excluded by the configuration".to_owned()));
        } else {
            listing.files.insert(name, Entry { real: path.to_owned(), stamp: Stamp::of(meta) });
        }
    }

    /// Walks one folder; `plain` is its canonical path. Links met on the way are collected.
    fn folder(&self, start: &Path, plain: &Path, honour: bool, listing: &mut Listing, links: &mut Vec<Link>) {
        let found = Mutex::new(Vec::new());
        let above = if honour { ignores_above(plain, &self.scope.root) } else { Vec::new() };
        let (exclude, root) = (self.exclude.clone(), self.scope.root.clone());
        let store = self.scope.store.clone();
        let (from, plain) = (start.to_owned(), plain.to_owned());
        let walker = WalkBuilder::new(start)
            .hidden(false)
            .parents(false)
            .ignore(false)
            .git_global(false)
            .git_exclude(false)
            .git_ignore(honour)
            .require_git(false)
            .follow_links(false)
            .threads(self.scope.jobs.unwrap_or(0))
            .filter_entry(move |entry| {
                let is_dir = entry.file_type().is_some_and(|t| t.is_dir());
                let path = entry.path();
                if entry.depth() > 0 && is_dir && honour && skipped(path) {
                    return false;
                }
                if entry.depth() > 0 && !is_dir && is_database(path, store.as_deref()) {
                    return false;
                }
                if !above.is_empty()
                    && let (Ok(below), false) = (path.strip_prefix(&from), entry.depth() == 0)
                {
                    let real = plain.join(below);
                    if above.iter().any(|set| set.matched(&real, is_dir).is_ignore()) {
                        return false;
                    }
                }
                entry.depth() == 0
                    || !path.strip_prefix(&root).is_ok_and(|rel| exclude.matched(rel, is_dir).is_ignore())
            })
            .build_parallel();
        // Each thread keeps what it meets and hands it over at its end.
        walker.run(|| {
            let mut met = Met { part: Part::default(), all: &found };
            Box::new(move |entry| {
                self.visit(entry, &mut met.part);
                WalkState::Continue
            })
        });
        let parts = found.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut files = Vec::with_capacity(parts.iter().map(|part| part.files.len()).sum());
        for part in parts {
            files.extend(part.files);
            listing.unreadable.extend(part.unreadable);
            listing.notes.extend(part.notes);
            links.extend(part.links);
        }
        // One merge of sorted files, not an insertion for each.
        listing.files.append(&mut files.into_iter().collect());
    }

    fn visit(&self, entry: Result<ignore::DirEntry, ignore::Error>, found: &mut Part) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let (path, why) = walk_error(&error);
                found.unreadable.push((relative(&self.scope.root, &path), why));
                return;
            }
        };
        let Some(kind) = entry.file_type() else { return };
        if kind.is_symlink() {
            found.links.push(entry.path().to_owned());
        } else if kind.is_file() {
            let name = relative(&self.scope.root, entry.path());
            match entry.metadata() {
                Ok(meta) => {
                    let stamp = Stamp::of(&meta);
                    found.files.push((name, Entry { real: entry.path().to_owned(), stamp }));
                }
                Err(error) => {
                    let (_, why) = walk_error(&error);
                    found.unreadable.push((name, why));
                }
            }
        }
        if !kind.is_symlink() && !kind.is_file() && !kind.is_dir() {
            let why = "is neither a file nor a folder; it is not read".to_owned();
            found.notes.push((relative(&self.scope.root, entry.path()), why));
        }
        if let Some(error) = entry.error() {
            // A fault in an ignore file: what it would have hidden is looked at.
            found.notes.push((relative(&self.scope.root, entry.path()), error.to_string()));
        }
    }

    /// What `include` names, whatever else would skip it.
    fn included(&self, listing: &mut Listing) {
        for glob in &self.scope.include {
            let Some(set) = glob_set([glob.as_str()]) else { continue };
            let start = self.scope.root.join(literal_prefix(glob));
            let within = self.scope.paths.iter().any(|p| start.starts_with(p) || p.starts_with(&start));
            if !within || !start.exists() {
                continue;
            }
            let mut part = Listing::default();
            if start.is_file() {
                let stamp = Stamp::at(&start);
                part.files.insert(relative(&self.scope.root, &start), Entry { real: start, stamp });
            } else {
                let plain = std::fs::canonicalize(&start).unwrap_or_else(|_| start.clone());
                self.folder(&start, &plain, false, &mut part, &mut Vec::new());
            }
            let asked = |real: &Path| self.scope.paths.iter().any(|p| real.starts_with(p));
            listing
                .files
                .extend(part.files.into_iter().filter(|(name, e)| set.is_match(name) && asked(&e.real)));
            listing.unreadable.extend(part.unreadable);
        }
    }

    /// Links: one that leads out is reported; one to something that was not walked under
    /// its own name is read under the link's.
    fn links(&self, mut links: Vec<Link>, listing: &mut Listing) {
        // Where every file really lies is asked only if something may lead there.
        if links.is_empty() {
            return;
        }
        let roots: Vec<PathBuf> =
            self.scope.paths.iter().filter_map(|p| std::fs::canonicalize(p).ok()).collect();
        let mut seen: BTreeSet<PathBuf> =
            listing.files.values().filter_map(|e| std::fs::canonicalize(&e.real).ok()).collect();
        let mut walked: BTreeSet<PathBuf> = BTreeSet::new();
        while !links.is_empty() {
            links.sort();
            for link in std::mem::take(&mut links) {
                let name = relative(&self.scope.root, &link);
                let target = match std::fs::canonicalize(&link) {
                    Ok(target) => target,
                    Err(error) => {
                        let why = format!("is a symbolic link that leads nowhere ({})", reason(&error));
                        listing.notes.insert((name, why));
                        continue;
                    }
                };
                if !roots.iter().any(|root| target.starts_with(root)) {
                    let why = "is a symbolic link that leaves the given paths; not followed".to_owned();
                    listing.notes.insert((name, why));
                } else if target.is_file() {
                    if seen.insert(target) && !self.excluded(&link, false) {
                        let stamp = Stamp::at(&link);
                        listing.files.insert(name, Entry { real: link, stamp });
                    }
                } else if target.is_dir()
                    && !skipped(&link)
                    && !below_skipped(&target, &roots)
                    && !self.excluded(&link, true)
                    && !roots.iter().any(|root| root.starts_with(&target))
                    && walked.insert(target.clone())
                {
                    let mut part = Listing::default();
                    self.folder(&link, &target, true, &mut part, &mut links);
                    for (name, entry) in part.files {
                        if std::fs::canonicalize(&entry.real).is_ok_and(|real| seen.insert(real)) {
                            listing.files.insert(name, entry);
                        }
                    }
                    listing.unreadable.extend(part.unreadable);
                    listing.notes.extend(part.notes);
                }
            }
        }
    }
}

/// Whether a folder below the start is skipped for its name or for what it is.
fn skipped(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|n| n.to_str()) else { return false };
    SKIPPED.contains(&name)
        || (name.starts_with('.') && !HIDDEN.contains(&name))
        || path.join("pyvenv.cfg").is_file()
}

/// Whether a file is a database or lies beside one. Others make and remove such files at any moment,
/// and to close one takes away the locks that this process holds on it.
fn is_database(path: &Path, store: Option<&Path>) -> bool {
    let text = path.to_string_lossy();
    BESIDE.iter().filter_map(|end| text.strip_suffix(end)).any(|file| {
        DATABASES.iter().any(|end| file.ends_with(end)) || store.is_some_and(|store| Path::new(file) == store)
    })
}

/// Whether a folder lies in a skipped one below a root: a link into it is no way round.
fn below_skipped(target: &Path, roots: &[PathBuf]) -> bool {
    roots
        .iter()
        .filter(|root| target.starts_with(root))
        .all(|root| target.ancestors().take_while(|a| a.starts_with(root) && a != root).any(skipped))
}

fn excludes(scope: &Scope) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for line in &scope.exclude {
        // The configuration's reader has refused what is no pattern.
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// The `.gitignore` files of the folders above the start, up to the top of its git checkout;
/// where there is none, up to the project's root.
fn ignores_above(start: &Path, root: &Path) -> Vec<Gitignore> {
    let checkout = start.ancestors().find(|a| a.join(".git").exists());
    let Some(top) = checkout.or_else(|| start.starts_with(root).then_some(root)) else { return Vec::new() };
    start
        .ancestors()
        .skip(1)
        .take_while(|a| a.starts_with(top))
        .map(|folder| {
            let mut builder = GitignoreBuilder::new(folder);
            let _ = builder.add(folder.join(".gitignore"));
            builder.build().unwrap_or_else(|_| Gitignore::empty())
        })
        .filter(|set| !set.is_empty())
        .collect()
}

/// A set of globs in which `*` does not cross `/`; `None` if one is no glob.
pub fn glob_set<'a>(globs: impl IntoIterator<Item = &'a str>) -> Option<GlobSet> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        builder.add(GlobBuilder::new(glob).literal_separator(true).build().ok()?);
    }
    builder.build().ok()
}

/// The folders that a glob names before its first wildcard; the whole of it if it has none.
pub fn literal_prefix(glob: &str) -> &str {
    match glob.find(['*', '?', '[', '{']) {
        None => glob,
        Some(at) => glob.get(..at).and_then(|head| head.rfind('/')).and_then(|s| glob.get(..s)).unwrap_or(""),
    }
}

/// The path relative to the root, with `/`; a path outside the root as it is.
pub fn relative(root: &Path, path: &Path) -> RelPath {
    if let Some(plain) = plainly_below(root, path) {
        return plain.to_owned();
    }
    let path = path.strip_prefix(root).unwrap_or(path);
    let mut text = String::new();
    for part in path.components() {
        if matches!(part, std::path::Component::CurDir) {
            continue;
        }
        if !text.is_empty() && !text.ends_with('/') {
            text.push('/');
        }
        // Bytes that are no UTF-8 are written out, so that two names never become one.
        for chunk in part.as_os_str().as_encoded_bytes().utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
        }
    }
    if text.is_empty() { ".".to_owned() } else { text }
}

/// The rest of a path that begins with the root, where it is written as it is reported.
fn plainly_below<'p>(root: &Path, path: &'p Path) -> Option<&'p str> {
    if std::path::MAIN_SEPARATOR != '/' {
        return None;
    }
    let rest = path.to_str()?.strip_prefix(root.to_str()?)?.strip_prefix('/')?;
    let is_plain = !rest.starts_with(['/', '.']) && !rest.ends_with('/');
    (is_plain && !rest.contains("//") && !rest.contains("/.") && !rest.is_empty()).then_some(rest)
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "does not exist".to_owned(),
        std::io::ErrorKind::PermissionDenied => "may not be read (permission denied)".to_owned(),
        _ => format!("cannot be read ({error})"),
    }
}

fn walk_error(error: &ignore::Error) -> (PathBuf, String) {
    let mut error = error;
    let mut path = PathBuf::new();
    loop {
        match error {
            ignore::Error::WithPath { path: at, err } => {
                path = at.clone();
                error = err;
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => error = err,
            ignore::Error::Io(io) => return (path, reason(io)),
            other => return (path, other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_are_plain_and_never_collide() {
        let root = Path::new("/p");
        assert_eq!(relative(root, Path::new("/p/./a/b.py")), "a/b.py");
        assert_eq!(relative(root, root), ".");
        assert_eq!(relative(root, Path::new("/q/x")), "/q/x");
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_no_text_are_written_out() {
        use std::os::unix::ffi::OsStrExt;
        let path = |name: &[u8]| Path::new("/p").join(std::ffi::OsStr::from_bytes(name));
        assert_eq!(relative(Path::new("/p"), &path(b"a\xff.py")), "a\\xff.py");
        assert_ne!(
            relative(Path::new("/p"), &path(b"\xfe.py")),
            relative(Path::new("/p"), &path(b"\xff.py"))
        );
    }

    #[test]
    fn a_database_is_known_by_its_name_or_as_the_store() {
        let store = Some(Path::new("/p/fleet"));
        for path in ["/p/a.db", "/p/a.sqlite3-wal", "/p/a.db-shm", "/p/fleet", "/p/fleet-journal"] {
            assert!(is_database(Path::new(path), store), "{path}");
        }
        for path in ["/p/db", "/p/a.db.py", "/p/fleet.sh", "/p/q/fleet", "/p/fleet-wal.sh"] {
            assert!(!is_database(Path::new(path), store), "{path}");
        }
    }

    #[test]
    fn a_glob_names_its_folders_up_to_the_first_wildcard() {
        assert_eq!(literal_prefix("a/b/*.py"), "a/b");
        assert_eq!(literal_prefix("a/b.py"), "a/b.py");
        assert_eq!(literal_prefix("**/x"), "");
        assert!(glob_set(["["]).is_none());
    }
}
