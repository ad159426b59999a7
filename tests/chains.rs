//! Chains as `reach` prints them: which of several ways is shown, and how sure it is.

mod tree;

use std::collections::BTreeMap;

/// What `reach` prints for a tree with the daemon module `d.py`.
fn reach(files: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let mut all: BTreeMap<String, String> =
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    all.insert("restartlint.toml".to_owned(), "daemon = [\"d.py\"]\n".to_owned());
    tree::write(folder.path(), &all);
    let output = tree::run(folder.path(), &["reach"]);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn of_two_shortest_chains_the_first_by_path_and_line_is_shown() {
    let shown = reach(&[
        ("d.py", "from a import A\nA().run(input())\n"),
        (
            "a.py",
            "import os\nclass A:\n    def run(self, name):\n        self.manage()\n        \
             getattr(self, 'handle_%s' % name)()\n    def handle_x(self): self.again()\n    \
             def again(self): self.spawn()\n    def manage(self): self.spawns()\n    \
             def spawns(self): self.spawn()\n    def spawn(self): os.abort()\n",
        ),
    ]);
    assert_eq!(
        shown,
        "a.py:10:22: terminate os.abort\n    d.py:2:1 in <module>\n    a.py:4:9 in A.run\n    \
         a.py:8:23 in A.manage\n    a.py:9:23 in A.spawns\n    a.py:10:22 in A.spawn\n\
         1 site in the reach of 1 daemon module\n"
    );
}

#[test]
fn the_first_step_decides_before_the_later_ones() {
    let shown = reach(&[
        ("d.py", "import b, a\nb.g()\na.f()\n"),
        ("a.py", "import c\ndef f(): c.end()\n"),
        ("b.py", "import c\n\n\ndef g(): c.end()\n"),
        ("c.py", "import os\ndef end(): os.abort()\n"),
    ]);
    assert!(shown.contains("    d.py:2:1 in <module>\n    b.py:4:10 in g\n"), "{shown}");
}

#[test]
fn an_event_loop_surely_calls_what_it_is_given() {
    let shown = reach(&[
        ("d.py", "import asyncio, h\nasyncio.run(h.main())\n"),
        (
            "h.py",
            "import asyncio, os\nasync def answer(r, w):\n    os.abort()\nasync def main():\n    \
             await asyncio.start_unix_server(answer, path='x')\n",
        ),
    ]);
    assert!(shown.starts_with("h.py:3:5: terminate os.abort\n"), "{shown}");
}

#[test]
fn an_element_under_a_free_key_is_possible_however_it_is_taken_apart() {
    let table = "import os\nclass Job:\n    def run(self):\n        os.abort()\nclass Table:\n    \
                 def __init__(self):\n        self.pairs = {'a': ('x', Job().run)}\n        \
                 self.jobs = {'a': Job()}\n    def unpacked(self, word):\n        \
                 name, handler = self.pairs[word]\n        handler()\n    def method(self, word):\n        \
                 job = self.jobs[word]\n        job.run()\n    def known(self, word):\n        \
                 self.jobs['a'].run()\n";
    for (call, possible) in [("unpacked", true), ("method", true), ("known", false)] {
        let shown = reach(&[("d.py", &format!("import t\nt.Table().{call}(input())\n")), ("t.py", table)]);
        assert_eq!(shown.contains("os.abort (possible)"), possible, "{call}: {shown}");
        assert!(shown.contains("1 site in the reach"), "{call}: {shown}");
    }
}

#[test]
fn an_override_that_nobody_is_seen_to_make_is_likely() {
    let parts = "import os\nclass Engine:\n    def stop(self): pass\nclass Diesel(Engine):\n    \
                 def stop(self): os.abort()\n";
    let daemon = "from b import Engine\ndef halt(engine: Engine):\n    engine.stop()\n";
    let shown = reach(&[("d.py", daemon), ("b.py", parts)]);
    assert!(shown.starts_with("b.py:5:21: terminate os.abort (likely)\n"), "{shown}");
    let made = format!("{parts}ONE = Diesel()\n");
    let shown = reach(&[("d.py", daemon), ("b.py", &made)]);
    assert!(shown.starts_with("b.py:5:21: terminate os.abort\n"), "{shown}");
    let base = format!("{parts}ONE = Engine()\n");
    let shown = reach(&[("d.py", daemon), ("b.py", &base)]);
    assert!(shown.starts_with("0 sites"), "{shown}");
}

#[test]
fn processes_that_psutil_hands_out_have_its_name() {
    let shown = reach(&[(
        "d.py",
        "import psutil\nfor child in psutil.Process(1).children():\n    child.kill()\n\
         for other in psutil.process_iter():\n    other.terminate()\n",
    )]);
    assert!(shown.starts_with("d.py:3:5: kill psutil.Process.kill\n"), "{shown}");
    assert!(shown.contains("d.py:5:5: kill psutil.Process.terminate\n"), "{shown}");
}

#[test]
fn what_lies_in_lists_within_lists_is_reached_from_the_first_place_that_holds_it() {
    // Each list of the daemon holds all that the next holds: the first place by line stands.
    let mut daemon = "import h\nl0 = [h.halt]\n".to_owned();
    for at in 1..40 {
        daemon.push_str(&format!("l{at} = [l{}, h.Job(), h.Jobs]\n", at - 1));
    }
    let parts = "import os, threading\ndef halt(): os.abort()\nclass Job:\n    def __call__(self): \
                 os.abort()\nclass Jobs(threading.Thread):\n    def run(self): os.abort()\n";
    let shown = reach(&[("d.py", &daemon), ("h.py", parts)]);
    assert_eq!(
        shown,
        "h.py:2:13: terminate os.abort (possible)\n    d.py:2:6 in <module>\n    h.py:2:13 in halt\n\
         h.py:4:25: terminate os.abort (possible)\n    d.py:3:6 in <module>\n    h.py:4:25 in Job.__call__\n\
         h.py:6:20: terminate os.abort (possible)\n    d.py:3:6 in <module>\n    h.py:6:20 in Jobs.run\n\
         3 sites in the reach of 1 daemon module\n"
    );
}

#[test]
fn a_handed_over_list_is_reached_by_whoever_comes_first() {
    // Two functions hand the same list to code that nobody sees; the shorter way is shown.
    let shown = reach(&[
        ("d.py", "import h\nh.far(1)\nh.near(2)\n"),
        (
            "h.py",
            "import os, queue\ndef halt(): os.abort()\nTABLE = [[halt]]\ndef far(q):\n    further(q)\n\
             def further(q):\n    queue.put(TABLE)\ndef near(q):\n    queue.put(TABLE)\n",
        ),
    ]);
    assert!(shown.contains("    d.py:3:1 in <module>\n    h.py:9:15 in near\n"), "{shown}");
}
