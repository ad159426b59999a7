//! The checkout's current revision, read from git's own files; no program is started.
//!
//! Knows worktrees (a `.git` file and a common folder), loose and packed references,
//! references that name others, and a detached head. What it does not know, such as
//! another storage of references, is an error and never a guess.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

/// How many references may name the next one.
const MOST_HOPS: usize = 5;
/// A head or a loose reference is one line.
const MOST_BYTES: u64 = 4096;
/// Packed references of the largest repositories stay below this.
const MOST_PACKED: u64 = 256 * 1024 * 1024;

/// Why the revision cannot be told.
#[derive(Debug, Error)]
pub enum RevisionError {
    /// No `.git` here or above.
    #[error("{0} lies in no git checkout")]
    NoCheckout(String),
    /// A file that must be there cannot be read.
    #[error("{path} cannot be read: {error}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// A file says something that this reader does not understand.
    #[error("{path} {fault}")]
    Malformed {
        /// The file.
        path: String,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// The branch has no commit, or its reference is kept in another way.
    #[error(
        "the reference {0} is not to be found: the branch has no commit, or references are stored in another form"
    )]
    Unborn(String),
}

/// The full revision of the checkout that a path lies in, in lower-case hex.
///
/// # Errors
/// No checkout, or git files that cannot be read or understood.
pub fn head(path: &Path) -> Result<String, RevisionError> {
    let git = git_folder(path)?;
    let common = common_folder(&git)?;
    let mut text = read(&git.join("HEAD"), MOST_BYTES)?;
    for _ in 0..MOST_HOPS {
        let line = text.trim_end();
        let Some(name) = line.strip_prefix("ref:").map(str::trim) else {
            return revision(line).ok_or_else(|| malformed(&git.join("HEAD"), "names no revision"));
        };
        let name = reference_name(name)
            .ok_or_else(|| malformed(&git.join("HEAD"), "names a reference that cannot be one"))?;
        text = reference(&git, &common, name)?;
    }
    Err(malformed(&git.join("HEAD"), "names a reference that names others without end"))
}

/// A full object name: 40 hex digits, or 64 in a SHA-256 repository.
fn revision(text: &str) -> Option<String> {
    let hex = text.len() == 40 || text.len() == 64;
    (hex && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| text.to_ascii_lowercase())
}

/// The name, if it stays inside git's folder and is one that git allows.
fn reference_name(name: &str) -> Option<&str> {
    let inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    (inside && name.starts_with("refs/") && !name.contains(['\0', '\\', ' '])).then_some(name)
}

fn git_folder(path: &Path) -> Result<PathBuf, RevisionError> {
    let start = path.canonicalize().map_err(|error| unreadable(path, error))?;
    for folder in start.ancestors() {
        let git = folder.join(".git");
        if git.is_dir() {
            return Ok(git);
        }
        if git.is_file() {
            let text = read(&git, MOST_BYTES)?;
            let named =
                text.trim_end().strip_prefix("gitdir:").map(str::trim).filter(|name| !name.is_empty());
            let named = named.ok_or_else(|| malformed(&git, "names no git folder"))?;
            return Ok(folder.join(named));
        }
        // A bare repository, or a path inside git's own folder.
        if folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir() {
            return Ok(folder.to_owned());
        }
    }
    Err(RevisionError::NoCheckout(path.display().to_string()))
}

/// The folder that the worktrees of a repository share.
fn common_folder(git: &Path) -> Result<PathBuf, RevisionError> {
    let file = git.join("commondir");
    if !file.exists() {
        return Ok(git.to_owned());
    }
    let text = read(&file, MOST_BYTES)?;
    match text.trim_end() {
        "" => Err(malformed(&file, "names no folder")),
        named => Ok(git.join(named)),
    }
}

/// What a reference says: a loose one in the worktree's own folder or the shared one, else a packed one.
fn reference(git: &Path, common: &Path, name: &str) -> Result<String, RevisionError> {
    for folder in [git, common] {
        let file = folder.join(name);
        if file.is_file() {
            return read(&file, MOST_BYTES);
        }
    }
    let packed = common.join("packed-refs");
    if packed.is_file() {
        for line in read(&packed, MOST_PACKED)?.lines() {
            if let Some((revision, found)) = line.split_once(' ')
                && found.trim_end() == name
                && !line.starts_with('#')
            {
                return Ok(revision.to_owned());
            }
        }
    }
    Err(RevisionError::Unborn(name.to_owned()))
}

fn read(path: &Path, most: u64) -> Result<String, RevisionError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(most).read_to_end(&mut bytes))
        .map_err(|error| unreadable(path, error))?;
    String::from_utf8(bytes).map_err(|_| malformed(path, "is no text"))
}

fn unreadable(path: &Path, error: std::io::Error) -> RevisionError {
    RevisionError::Unreadable { path: path.display().to_string(), error }
}

fn malformed(path: &Path, fault: &'static str) -> RevisionError {
    RevisionError::Malformed { path: path.display().to_string(), fault }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";

    fn checkout(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        folder
    }

    #[test]
    fn a_branch_is_followed_to_its_loose_reference() {
        let tree = checkout(&[
            (".git/HEAD", "ref: refs/heads/feat/x\n"),
            (".git/refs/heads/feat/x", &format!("{ONE}\n")),
            (".git/packed-refs", &format!("# pack-refs with: peeled\n{TWO} refs/heads/feat/x\n")),
            ("src/a.py", ""),
        ]);
        assert_eq!(head(tree.path()).unwrap(), ONE, "loose beats packed");
        assert_eq!(head(&tree.path().join("src/a.py")).unwrap(), ONE);
    }

    #[test]
    fn packed_detached_and_symbolic_heads_are_read() {
        let packed = format!("# pack-refs\n{ONE} refs/heads/main\n{TWO} refs/tags/v1\n^{ONE}\n");
        let tree = checkout(&[(".git/HEAD", "ref: refs/heads/main"), (".git/packed-refs", &packed)]);
        assert_eq!(head(tree.path()).unwrap(), ONE);
        let tree = checkout(&[(".git/HEAD", &format!("{}\n", TWO.to_uppercase()))]);
        assert_eq!(head(tree.path()).unwrap(), TWO);
        let tree = checkout(&[
            (".git/HEAD", "ref: refs/heads/alias\n"),
            (".git/refs/heads/alias", "ref: refs/heads/main\n"),
            (".git/refs/heads/main", ONE),
        ]);
        assert_eq!(head(tree.path()).unwrap(), ONE);
    }

    #[test]
    fn a_worktree_has_its_own_head_and_the_shared_references() {
        let tree = checkout(&[
            ("main/.git/HEAD", "ref: refs/heads/main\n"),
            ("main/.git/refs/heads/main", ONE),
            ("main/.git/refs/heads/side", TWO),
            ("main/.git/worktrees/side/HEAD", "ref: refs/heads/side\n"),
            ("main/.git/worktrees/side/commondir", "../..\n"),
            ("side/.git", "gitdir: ../main/.git/worktrees/side\n"),
        ]);
        assert_eq!(head(&tree.path().join("main")).unwrap(), ONE);
        assert_eq!(head(&tree.path().join("side")).unwrap(), TWO);
    }

    #[test]
    fn what_cannot_be_told_is_an_error() {
        let cases: [&[(&str, &str)]; 8] = [
            &[(".git/HEAD", "ref: refs/heads/none\n")],
            &[(".git/HEAD", "ref: ../../etc/passwd\n")],
            &[(".git/HEAD", "ref: /etc/passwd\n")],
            &[(".git/HEAD", "1111\n")],
            &[(".git/HEAD", "")],
            &[(".git/config", "")],
            &[(".git", "nothing of use")],
            &[(".git/HEAD", "ref: refs/heads/a"), (".git/refs/heads/a", "ref: refs/heads/a")],
        ];
        for files in cases {
            let tree = checkout(files);
            assert!(head(tree.path()).is_err(), "{files:?}");
        }
        assert!(head(Path::new("/nowhere/at/all")).is_err());
    }
}
