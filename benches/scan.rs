//! How long a scan takes: over the sample checkout, over many small files without a site, and over
//! programs that are hard to follow. `cargo bench` runs them; `benches/peers.py` compares with other tools.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use divan::{Bencher, black_box};
use restartlint::data::config::Config;
use restartlint::scan::{Scan, ScanRequest, Watch, scan};

fn main() {
    divan::main();
}

/// The scan of a folder, with the daemon's reach.
fn scanned(root: &Path) -> Scan {
    let config = Config::default();
    let request = ScanRequest {
        root: root.to_path_buf(),
        paths: vec![root.to_path_buf()],
        stdin: None,
        config: &config,
        watch: Watch::default(),
        languages: None,
        jobs: None,
        reach: true,
        cache: None,
        whole: false,
        progress: None,
    };
    scan(&request).unwrap()
}

/// A folder with these files; it is removed with the value.
fn tree(files: &[(String, String)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path: PathBuf = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

#[divan::bench]
fn sample_checkout(bencher: Bencher<'_, '_>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sample");
    bencher.bench(|| black_box(scanned(&root)));
}

/// Files that import what has primitives and use none.
#[divan::bench(args = [100, 1000, 2000])]
fn files_without_a_site(bencher: Bencher<'_, '_>, count: usize) {
    let text = "import os\n\n\ndef size(path):\n    return os.path.getsize(path)\n".repeat(20);
    let files: Vec<_> = (0..count).map(|n| (format!("pkg{}/m{n}.py", n % 50), text.clone())).collect();
    let folder = tree(&files);
    bencher.bench(|| black_box(scanned(folder.path())));
}

/// One call after another, from the daemon to the site.
#[divan::bench(args = [100, 1000, 5000])]
fn chain_of_calls(bencher: Bencher<'_, '_>, length: usize) {
    let mut text = String::from("import os\nfrom mcp.server.fastmcp import FastMCP\nmcp = FastMCP('a')\n");
    for n in 0..length {
        let _ = write!(text, "def f{n}():\n    f{}()\n", n + 1);
    }
    let _ = write!(text, "def f{length}():\n    os._exit(1)\nf0()\nmcp.run()\n");
    let folder = tree(&[("server.py".to_owned(), text)]);
    bencher.bench(|| black_box(scanned(folder.path())));
}

/// Classes above one another, each of which calls the method of the one above.
#[divan::bench(args = [100, 1000])]
fn a_deep_hierarchy(bencher: Bencher<'_, '_>, depth: usize) {
    let mut text = "import os\nclass C0:\n    def go(self):\n        os.abort()\n".to_owned();
    for n in 1..=depth {
        let _ = writeln!(text, "class C{n}(C{}):\n    def go(self):\n        super().go()", n - 1);
    }
    let files = [
        ("m.py".to_owned(), text),
        (
            "d.py".to_owned(),
            format!("from fastmcp import FastMCP\nimport m\nmcp = FastMCP('d')\nm.C{depth}().go()\n"),
        ),
    ];
    let folder = tree(&files);
    assert_eq!(scanned(folder.path()).tree.daemons.len(), 1);
    bencher.bench(|| black_box(scanned(folder.path())));
}
