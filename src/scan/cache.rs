//! What earlier runs found, in a folder of its own. An entry is named by the contents that it stands
//! for: every file that a run may open, the request, and the build of this program. Beside it stands,
//! by project, what those files looked like from outside: where nothing has been written to since, no
//! file is opened to name the entry.
//!
//! Runs at the same time do each other no harm: an entry appears as a whole or not at all. One that
//! cannot be read, or is not what was written, is none; a folder that cannot be written is no fault.

#![allow(clippy::disallowed_methods)] // The cache is files.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use blake3::{Hash, Hasher};
use rayon::prelude::*;

use super::kept::Kept;
use super::{Scan, ScanRequest, packages};
use crate::base::facts::Language;
use crate::base::source::Source;
use crate::discover::{Entry, Listing, Stamp};
use crate::graph::link::parent;
use crate::lang::files::{language_of, may_be};

/// A smaller tree is read as fast as it is looked up.
const LEAST_FILES: usize = 64;
/// Entries of one kind that are kept, the last used ones.
const MOST_ENTRIES: usize = 64;
/// Entries that were not used for so long are removed.
const LONGEST_UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// What every entry begins with.
const MAGIC: &[u8] = b"restartlint cache 1\n";
/// Nanoseconds within which a second write may leave a file's times as they are: the ticks of the clocks
/// that disks are stamped with, and those of systems that tell one time only.
const TICK: i128 = 50_000_000;
const COARSE_TICK: i128 = 2_000_000_000;
/// Manifests are read whatever languages are asked for, up to a size of their own.
const MANIFESTS: [&str; 4] = ["package.json", "pyproject.toml", "Cargo.toml", "go.mod"];
/// What the folders above a document are asked for, listed or not.
const BESIDE_DOCUMENTS: [&str; 4] = ["package.json", "pyproject.toml", "Cargo.toml", "src/main.rs"];
/// The folder in the given one that holds the entries: nothing else lies in it.
const OWN: &str = "restartlint-results";
/// Larger entries were not written by this program.
const LARGEST: u64 = 256 << 20;

/// Where results are kept, and for whom.
#[derive(Debug, Clone)]
pub struct Cache {
    /// The folder; it is made where there is none.
    pub folder: PathBuf,
    /// What tells this build of the program from any other.
    pub build: String,
    /// When the run began.
    pub begun: SystemTime,
}

/// One run's look into the cache.
pub(super) struct Lookup<'c> {
    cache: &'c Cache,
    /// The name of what the project's files looked like.
    project: Hash,
    stamps: Hash,
    /// Files that are read although they need not be listed.
    beside: Vec<PathBuf>,
    /// The name of the result; none until the files were read.
    contents: Option<Hash>,
}

impl<'c> Lookup<'c> {
    /// Begins; none where nothing is kept.
    pub(super) fn new(request: &'c ScanRequest<'_>, listing: &Listing) -> Option<Lookup<'c>> {
        let cache = request.cache.as_ref().filter(|_| listing.files.len() >= LEAST_FILES)?;
        let mut project = asked(cache, request);
        project.update(request.root.as_os_str().as_encoded_bytes());
        let beside = beside(request, listing);
        let stamps = stamped(listing, &beside);
        Some(Lookup { cache, project: project.finalize(), stamps, beside, contents: None })
    }

    /// The result of an earlier run, if there is one for these very files.
    pub(super) fn find(&mut self, request: &ScanRequest<'_>, listing: &Listing) -> Option<Scan> {
        let known = self.cache.read("projects", &self.project).and_then(|bytes| {
            let (stamps, contents) = bytes.split_at_checked(blake3::OUT_LEN)?;
            (stamps == self.stamps.as_bytes()).then(|| Hash::from_slice(contents).ok()).flatten()
        });
        if let Some(contents) = known
            && let Some(scan) = self.load(&contents, listing)
        {
            return Some(scan);
        }
        let mut asked = asked(self.cache, request);
        for path in &self.beside {
            let hash = std::fs::read(path).map(|bytes| blake3::hash(&bytes)).ok();
            field(&mut asked, hash.as_ref().map_or(&[][..], |hash| hash.as_bytes()));
        }
        let contents = contents(asked, request, listing)?;
        self.contents = Some(contents);
        let scan = self.load(&contents, listing)?;
        self.remember(listing, &contents);
        Some(scan)
    }

    /// Keeps a result, unless a file was written to while it was made.
    pub(super) fn keep(&self, listing: &Listing, scan: &Scan) {
        let Some(contents) = self.contents.filter(|_| is_unchanged(listing)) else { return };
        let Ok(bytes) = postcard::to_stdvec(&Kept::of(scan)) else { return };
        self.cache.write("trees", &contents, &bytes);
        self.remember(listing, &contents);
        self.cache.prune();
    }

    fn load(&self, contents: &Hash, listing: &Listing) -> Option<Scan> {
        let bytes = self.cache.read("trees", contents)?;
        let kept: Kept = postcard::from_bytes(&bytes).ok()?;
        kept.into_scan(listing.files.keys().cloned().collect(), |path| {
            Some(Source::decode(std::fs::read(&listing.files.get(path)?.real).ok()?))
        })
    }

    /// Notes what the files look like, if a later write is sure to show.
    fn remember(&self, listing: &Listing, contents: &Hash) {
        let since = self.cache.begun.duration_since(SystemTime::UNIX_EPOCH).ok();
        let Some(begun) = since.and_then(|d| i128::try_from(d.as_nanos()).ok()) else { return };
        let settled = |stamp: &Stamp| match stamp.changed {
            0 => stamp.modified + COARSE_TICK < begun,
            changed => changed.max(stamp.modified) + TICK < begun,
        };
        let beside = self.beside.iter().map(|path| Stamp::at(path));
        if listing.files.values().map(|entry| entry.stamp).chain(beside).all(|stamp| settled(&stamp)) {
            let bytes = [self.stamps.as_bytes().as_slice(), contents.as_bytes()].concat();
            self.cache.write("projects", &self.project, &bytes);
        }
    }
}

impl Cache {
    fn read(&self, kind: &str, name: &Hash) -> Option<Vec<u8>> {
        let path = self.folder.join(OWN).join(kind).join(name.to_hex().as_str());
        std::fs::symlink_metadata(&path).ok().filter(|meta| meta.is_file() && meta.len() <= LARGEST)?;
        let bytes = std::fs::read(&path).ok()?;
        let (sum, body) = bytes.strip_prefix(MAGIC)?.split_at_checked(blake3::OUT_LEN)?;
        if blake3::hash(body) != Hash::from_slice(sum).ok()? {
            return None;
        }
        // What is used stays; a folder that is read only keeps its order.
        let _ = std::fs::File::open(&path).and_then(|file| file.set_modified(self.begun));
        Some(body.to_vec())
    }

    /// Writes an entry beside its place and moves it there. What fails is as if it had not been tried.
    fn write(&self, kind: &str, name: &Hash, body: &[u8]) {
        let own = self.folder.join(OWN);
        let folder = own.join(kind);
        let written = std::fs::create_dir_all(&folder).and_then(|()| {
            // Neither a checkout that the folder lies in nor a backup has to do with it.
            if !own.join(".gitignore").exists() {
                std::fs::write(own.join(".gitignore"), "*\n")?;
                std::fs::write(own.join("CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55\n")?;
            }
            let mut file = tempfile::NamedTempFile::new_in(&folder)?;
            file.write_all(MAGIC)?;
            file.write_all(blake3::hash(body).as_bytes())?;
            file.write_all(body)?;
            file.persist(folder.join(name.to_hex().as_str())).map_err(|error| error.error)
        });
        drop(written);
    }

    /// Removes what was not used for long, and what is more than is kept.
    fn prune(&self) {
        for kind in ["trees", "projects"] {
            let Ok(entries) = std::fs::read_dir(self.folder.join(OWN).join(kind)) else { continue };
            let used = |meta: &Metadata| meta.modified().ok();
            let mut found: Vec<(SystemTime, PathBuf)> =
                entries.flatten().filter_map(|e| Some((used(&e.metadata().ok()?)?, e.path()))).collect();
            found.sort();
            let too_many = found.len().saturating_sub(MOST_ENTRIES);
            for (at, (used, path)) in found.iter().enumerate() {
                let age = self.begun.duration_since(*used).unwrap_or_default();
                if at < too_many || age > LONGEST_UNUSED {
                    let _ = std::fs::remove_file(path);
                }
            }
        }
    }
}

/// Everything but the files that a result depends on.
fn asked(cache: &Cache, request: &ScanRequest<'_>) -> Hasher {
    let paths: Vec<&Path> =
        request.paths.iter().map(|path| path.strip_prefix(&request.root).unwrap_or(path)).collect();
    let exist: Vec<bool> =
        request.config.daemon.iter().map(|daemon| request.root.join(&daemon.value).exists()).collect();
    let ScanRequest { config, watch, languages, reach, whole, .. } = request;
    let mut hasher = Hasher::new();
    for part in [
        cache.build.clone(),
        format!("{config:?}"),
        format!("{watch:?}"),
        format!("{languages:?} {reach} {whole} {paths:?} {exist:?}"),
    ] {
        field(&mut hasher, part.as_bytes());
    }
    hasher
}

/// Adds a part so that two parts never become one.
fn field(hasher: &mut Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

/// The files that the folders above the listed documents are asked for.
fn beside(request: &ScanRequest<'_>, listing: &Listing) -> Vec<PathBuf> {
    let is_document = |path: &&String| language_of(path, b"") == Some(Language::Document);
    if !request.wants(Language::Document) {
        return Vec::new();
    }
    let mut folders: BTreeSet<&str> = BTreeSet::new();
    for path in listing.files.keys().filter(is_document) {
        let above =
            std::iter::successors(Some(parent(path)), |folder| (!folder.is_empty()).then(|| parent(folder)));
        folders.extend(above);
    }
    let names = |folder: &str| BESIDE_DOCUMENTS.map(|name| request.root.join(folder).join(name));
    folders.into_iter().flat_map(names).collect()
}

/// What the files of a listing, and those beside it, look like from outside.
fn stamped(listing: &Listing, beside: &[PathBuf]) -> Hash {
    let mut hasher = Hasher::new();
    said(&mut hasher, listing);
    let stamp = |hasher: &mut Hasher, stamp: &Stamp| {
        let Stamp { size, modified, changed, inode, device } = stamp;
        hasher.update(&size.to_le_bytes()).update(&inode.to_le_bytes()).update(&device.to_le_bytes());
        hasher.update(&modified.to_le_bytes()).update(&changed.to_le_bytes());
    };
    for (path, entry) in &listing.files {
        field(&mut hasher, path.as_bytes());
        stamp(&mut hasher, &entry.stamp);
    }
    for path in beside {
        stamp(&mut hasher, &Stamp::at(path));
    }
    hasher.finalize()
}

/// What the walk said beside its files.
fn said(hasher: &mut Hasher, listing: &Listing) {
    for (path, why) in listing.unreadable.iter().chain(&listing.notes) {
        field(hasher, path.as_bytes());
        field(hasher, why.as_bytes());
    }
}

/// The name of the result for what stands in the files; none where one cannot be read.
fn contents(mut hasher: Hasher, request: &ScanRequest<'_>, listing: &Listing) -> Option<Hash> {
    let limit = super::read::limit(request);
    let files: Vec<(&String, &Entry)> = listing.files.iter().collect();
    let hashes: Option<Vec<Option<Hash>>> = files
        .par_iter()
        .map(|(path, entry)| {
            let name = path.rsplit('/').next().unwrap_or(path);
            let is_manifest = MANIFESTS.contains(&name) && entry.stamp.size <= packages::LONGEST;
            let is_read = may_be(path, request.languages.as_ref()) && entry.stamp.size <= limit;
            if !is_manifest && !is_read {
                return Some(None);
            }
            Some(Some(blake3::hash(&std::fs::read(&entry.real).ok()?)))
        })
        .collect();
    said(&mut hasher, listing);
    for ((path, entry), hash) in files.iter().zip(hashes?) {
        field(&mut hasher, path.as_bytes());
        match hash {
            Some(hash) => hasher.update(hash.as_bytes()),
            // The size is what is said of a file that is too large.
            None if entry.stamp.size > limit => hasher.update(&entry.stamp.size.to_le_bytes()),
            None => hasher.update(&[0]),
        };
    }
    Some(hasher.finalize())
}

fn is_unchanged(listing: &Listing) -> bool {
    listing.files.par_iter().all(|(_, entry)| Stamp::at(&entry.real) == entry.stamp)
}
