//! The files and tasks that a command runs, read so that the guard can look into them.
//!
//! Nothing outside the project is read, nothing is run. What is not there, is too long or
//! leads out of the project stays unread, and the guard says so.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use crate::command::Runs;
use crate::data::commands::CommandCatalogue;
use crate::pass::guard::{Examined, task};

/// How often files that other files run are looked for.
const MOST_ROUNDS: usize = 4;
/// How many files are read.
const MOST_FILES: usize = 32;
/// How long a file may be, in bytes.
const MOST_BYTES: u64 = 256 << 10;

/// A command taken apart, with what it runs.
pub(super) fn examined(command: &str, catalogue: &CommandCatalogue, roots: &[&Path]) -> Examined {
    let mut scripts: BTreeMap<Runs, String> = BTreeMap::new();
    let mut asked: Vec<Runs> = Vec::new();
    let mut examined = Examined::new(command, catalogue);
    let Ok(here) = std::env::current_dir() else { return examined };
    for _ in 0..MOST_ROUNDS {
        let wanted: Vec<Runs> = examined.wanted().iter().filter(|w| !asked.contains(w)).cloned().collect();
        let mut found = false;
        for runs in wanted {
            if asked.len() >= MOST_FILES {
                return examined;
            }
            if let Some(text) = text_of(&runs, &here, roots) {
                scripts.insert(runs.clone(), text);
                found = true;
            }
            asked.push(runs);
        }
        if !found {
            break;
        }
        examined = Examined::with(command, catalogue, scripts.clone());
    }
    examined
}

fn text_of(runs: &Runs, here: &Path, roots: &[&Path]) -> Option<String> {
    match runs {
        Runs::File(path) => read(&here.join(path), roots),
        Runs::Task { runner, folder, name } => {
            let folder = here.join(folder);
            match runner.as_str() {
                "make" | "gmake" => {
                    let file = ["GNUmakefile", "makefile", "Makefile"]
                        .iter()
                        .find_map(|f| read(&folder.join(f), roots))?;
                    task::recipe(&file, name)
                }
                "npm" | "yarn" | "pnpm" | "bun" => {
                    task::package_script(&read(&folder.join("package.json"), roots)?, name)
                }
                _ => None,
            }
        }
    }
}

/// A file's text, if it lies in a project and is short enough.
fn read(path: &Path, roots: &[&Path]) -> Option<String> {
    let real = path.canonicalize().ok()?;
    let within = |root: &&Path| root.canonicalize().is_ok_and(|root| real.starts_with(root));
    if !roots.iter().any(within) || !real.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(&real).ok()?.take(MOST_BYTES + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > MOST_BYTES || bytes.contains(&0) {
        return None;
    }
    String::from_utf8(bytes).ok()
}
