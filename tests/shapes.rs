//! Programs of shapes that make work grow faster than the text: what is reached in them is right,
//! however deep or wide they are.

mod tree;

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What `reach` prints for a daemon module and the module `m` that it imports.
fn reach(daemon: &str, module: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let files = BTreeMap::from([
        ("d.py".to_owned(), daemon.to_owned()),
        ("m.py".to_owned(), format!("import os\n{module}")),
        ("restartlint.toml".to_owned(), "daemon = [\"d.py\"]\n".to_owned()),
    ]);
    tree::write(folder.path(), &files);
    let output = tree::run(folder.path(), &["reach"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// One line for each number.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, "{}", line(at));
        text
    })
}

#[test]
fn a_long_chain_of_functions_is_followed_to_its_end() {
    let chain = lines(5000, |n| format!("def f{n}():\n    f{}()", n + 1));
    let shown = reach("import m\nm.f0()\n", &format!("{chain}def f5000(): os.abort()\n"));
    assert!(shown.ends_with("1 site in the reach of 1 daemon module\n"));
    // The head, the call in the daemon, one for each function, the end.
    assert_eq!(shown.lines().count(), 1 + 1 + 5000 + 1 + 1);
}

#[test]
fn functions_that_call_each_other_in_a_circle_end() {
    let circle = lines(3000, |n| format!("def f{n}():\n    f{}()", (n + 1) % 3000));
    let shown = reach("import m\nm.f0()\n", &format!("{circle}def apart(): os.abort()\n"));
    assert_eq!(shown, "0 sites in the reach of 1 daemon module\n");
}

#[test]
fn each_level_of_a_deep_hierarchy_calls_the_one_above() {
    let classes = lines(400, |n| format!("class C{}(C{n}):\n    def go(self):\n        super().go()", n + 1));
    let base = "class C0:\n    def go(self):\n        os.abort()\n    def stay(self): os.kill(1, 9)\n";
    let shown = reach("import m\nm.C400().go()\n", &format!("{base}{classes}"));
    assert!(shown.ends_with("1 site in the reach of 1 daemon module\n"));
    assert!(shown.contains("m.py:4:9: terminate os.abort\n    d.py:2:1 in <module>\n"), "{shown}");
    assert_eq!(shown.matches(" in C").count(), 401);
}

#[test]
fn what_a_base_stores_is_seen_at_every_level_and_on_no_other_branch() {
    let classes = lines(200, |n| format!("class C{}(C{n}):\n    pass", n + 1));
    let module = format!(
        "class C0:\n    def __init__(self, end):\n        self.end = end\n{classes}\
         class Apart:\n    def __init__(self):\n        self.end = other\n\
         def first(): os.abort()\ndef other(): os.kill(1, 9)\nApart()\n"
    );
    let shown = reach("import m\nm.C200(m.first).end()\n", &module);
    assert!(shown.contains("os.abort") && !shown.contains("os.kill"), "{shown}");
}

#[test]
fn stores_in_a_diamond_are_seen_by_the_order_of_the_class() {
    let module = "class Top:\n    def go(self): self.end()\nclass Left(Top):\n    pass\n\
                  class Right(Top):\n    def __init__(self): self.end = halt\n\
                  class Both(Left, Right):\n    def go(self): super().go()\n\
                  class Alone(Left):\n    def run(self): super().go()\n\
                  def halt(): os.abort()\n";
    let shown = reach("import m\nm.Both().go()\n", module);
    assert!(shown.contains("1 site in the reach"), "{shown}");
    let shown = reach("import m\nm.Alone().run()\n", module);
    assert!(shown.starts_with("0 sites"), "{shown}");
}

#[test]
fn no_function_of_a_large_table_is_forgotten() {
    let functions = lines(600, |n| format!("def f{n}(): os.abort()"));
    let table = lines(600, |n| format!("    'k{n}': f{n},"));
    let module = format!("{functions}TABLE = {{\n{table}}}\ndef go(key):\n    TABLE[key]()\n");
    let shown = reach("import m\nm.go(input())\n", &module);
    assert!(shown.ends_with("600 sites in the reach of 1 daemon module\n"), "{shown}");
}

#[test]
fn a_helper_that_many_functions_are_given_to_calls_all_of_them() {
    let functions = lines(400, |n| format!("def f{n}(): os.abort()"));
    let calls = lines(400, |n| format!("    call(f{n})"));
    let module = format!("def call(given): given()\n{functions}def go():\n{calls}def spare(): os.abort()\n");
    let shown = reach("import m\nm.go()\n", &module);
    assert!(shown.ends_with("400 sites in the reach of 1 daemon module\n"), "{shown}");
}

#[test]
fn a_name_given_on_many_times_is_still_what_it_was() {
    let names = lines(5000, |n| format!("a{} = a{n}", n + 1));
    let shown = reach("import m\n", &format!("a0 = os.abort\n{names}a5000()\n"));
    assert!(shown.starts_with("m.py:5003:1: terminate os.abort\n"), "{shown}");
}

#[test]
fn the_end_of_a_very_long_line_is_read() {
    let calls: Vec<String> = (0..5000).map(|n| format!("f{n}()")).collect();
    let shown = reach("import m\n", &format!("x = [{}, os.abort()]\n", calls.join(", ")));
    assert!(shown.contains("terminate os.abort") && shown.contains("1 site in the reach"), "{shown}");
}

#[test]
fn of_a_very_long_chain_the_excerpts_show_both_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let chain = lines(200, |n| format!("def f{n}():\n    f{}()", n + 1));
    let files = [
        ("restartlint.toml", "daemon = [\"d.py\"]\n".to_owned()),
        ("d.py", "import m\nm.f0()\n".to_owned()),
        ("m.py", format!("import os\n{chain}def f200(): os.abort()\n")),
    ];
    let files = files.into_iter().map(|(name, text)| (name.to_owned(), text)).collect();
    tree::write(folder.path(), &files);
    let shown = |format: &str| {
        let output = tree::run(folder.path(), &["check", "--format", format]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let text = shown("text");
    assert!(text.contains("step 12 of 202") && text.contains("step 190 of 202"), "{text}");
    assert!(!text.contains("step 13 of 202") && !text.contains("step 189 of 202"), "{text}");
    assert!(
        text.contains("steps 13 to 189 are not shown here (177 steps; `--format json` has all)"),
        "{text}"
    );
    // The functions, the site among them; and the finding's own.
    assert_eq!(shown("json").replace(' ', "").matches("\"symbol\":\"f").count(), 201 + 1);
}

#[test]
fn names_that_are_bound_over_and_over_are_asked_for_once() {
    let count = 6000;
    let chain = (0..count).map(|n| format!("a{n} = ")).collect::<String>();
    let texts = [
        format!("import os\n{}", lines(count, |n| format!("x = os._exit\nx({n})"))),
        format!("import os\n{chain}os._exit\n{}", lines(count / 3, |n| format!("a{}(1)", n * 3))),
        format!("import os\n{}", lines(count, |n| format!("globals()[\"x\"] = os._exit\nx({n})"))),
    ];
    for (text, wanted) in texts.iter().zip([count, count / 3, count]) {
        let folder = tempfile::tempdir().expect("a folder");
        tree::write(folder.path(), &BTreeMap::from([("a.py".to_owned(), text.clone())]));
        let output = tree::run(folder.path(), &["sites", "--format", "jsonl"]);
        assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), wanted);
    }
}
