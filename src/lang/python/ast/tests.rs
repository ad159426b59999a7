//! Both parsers' rows lead to the same program.

#![allow(clippy::disallowed_methods)] // Fixtures are read.

use rustc_hash::FxHashSet;

use super::super::grammar;
use super::super::lower::lower;
use super::super::tree::Rows;
use super::read;

/// What a program says, its places aside: both count some brackets differently.
fn program(rows: &Rows, text: &str) -> Vec<String> {
    let program = lower(rows, text, &FxHashSet::default(), &[]).program;
    let exprs =
        program.exprs.iter().map(|node| format!("{:?} in {}, {:?}", node.expr, node.function, node.guard));
    let functions = program
        .functions
        .iter()
        .map(|f| format!("{} {:?} {:?} {:?}", f.symbol, f.kind, f.params, f.is_async));
    let imports = program.imports.iter().map(|i| format!("{:?} in {}", i.import, i.function));
    let rest = [
        format!("{:?}", program.stores),
        format!("{:?}", program.exports),
        format!("{:?}", program.stars),
        format!("{:?}", program.public),
        format!(
            "{:?}",
            program.classes.iter().map(|c| (&c.symbol, &c.bases, &c.fields, c.meta)).collect::<Vec<_>>()
        ),
    ];
    exprs.chain(functions).chain(imports).chain(rest).collect()
}

/// Holds both programs of a text against each other; `false` where only one parser knows the text.
fn agree(name: &str, text: &str) -> bool {
    let Some(ours) = read(text, &[], false) else {
        return false;
    };
    let tree = grammar::parse(text, &[]).unwrap();
    if tree.root_node().has_error() {
        return false;
    }
    let (ours, other) = (program(&ours.rows, text), program(&grammar::rows(&tree), text));
    for (at, (said, meant)) in ours.iter().zip(&other).enumerate() {
        assert_eq!(said, meant, "{name}, after {:?}", &ours[at.saturating_sub(4)..at]);
    }
    assert_eq!(ours.len(), other.len(), "{name}");
    true
}

#[test]
fn both_parsers_say_the_same_of_every_form() {
    assert!(agree(
        "forms",
        r"
from __future__ import annotations
import a.b as c, d, e . f
from . import (x, # one
  y as z)
from .. pkg.mod import n
from ... import o
from m import *
@deco(1)
# above
@ other . deco
async def f(a, /, *b: int, c=1, d: str = 's', **e: T) -> T:
    '''doc\n'''
    async with g() as h, i: pass
    with (j as k, l()): pass
    yield from (f'{a!r:>{w}} {b} {{c}}' 'c', rb'\x00' b'd')
    x: int = -1 + 2 % 3 or not z and a or b
    x = y = 1
    k += lambda *p, q=1, **r: (p if q else None, *r)
    k /= 2
    return x[1:2, ::3][0](*a, k=1, **b), x[(1, 2)]
def g(a, *, b, c: int = 2): return a, b
class A(B, metaclass=M, **kw):
    # note
    n: int
    m: ClassVar[int] = 1
    def m(self): global t; nonlocal u; del v, w
try:
    raise E from e
except (A, B) as e: pass
except C: ...
except: raise
else: pass
finally: pass
for a, *b in c, d:
    continue
else: break
while (n := 1) is not 2 < 3 == 4 and a is b and c not in d and e != f > g: pass
else: pass
match p:
    case {'a': q, **r} | C(s, t=1) if u: pass
    case [1, x, *rest] | (None as w): pass
    case A.b | 'text' | -1: pass
    case _: pass
v = [i async for i in j if i if k] + [k for k in l for m in k] + {**m, 'n': {o for o in p}}
v = {k: v for k, v in any(x for x in y)} @ sorted((x for x in y), key=z)
if __name__ == '__main__': f(await_=1)
elif c: d
else: e
assert a, b
print(a, b)
a, b = b, a
[c, (d, e)] = f
x.y[0].z = 1.5j
__all__ = ['a', 'b']
__all__ += ['c']
x = ~a ** b if (c) else (d)
x = ''
x = f''
x = f'{x!s}' f'{y}'
x = (yield)
x = *a, b
"
    ));
}

#[test]
fn both_parsers_say_the_same_of_the_fixtures() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let (mut same, mut left) = (0, Vec::new());
    for entry in walkdir::WalkDir::new(root).sort_by_file_name().into_iter().filter_map(Result::ok) {
        if entry.path().extension().is_none_or(|extension| extension != "py") {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(entry.path()) else { continue };
        let name = entry.path().display().to_string();
        if agree(&name, &text) { same += 1 } else { left.push(name) }
    }
    assert!(same > 20 * left.len(), "{same}: {left:?}");
}

#[test]
fn what_the_grammar_mistakes_is_read_as_it_is_meant() {
    let said = |text: &str| program(&read(text, &[], false).unwrap().rows, text).join("\n");
    // `*a.b` hands on the elements of `a.b`.
    assert!(said("x = [*a.b]\n").contains("Seq([(1, Sequence)])"), "{}", said("x = [*a.b]\n"));
    // An attribute of a call, no declaration of a type.
    assert!(said("type(a).b = c\n").contains("Attr(\"b\")"), "{}", said("type(a).b = c\n"));
    // Quotes in quotes.
    assert!(said("x = f'{a['b']}'\n").contains("Index"));
}

#[test]
fn pieces_keep_the_places_of_their_text() {
    let text = "import os\nskipped = (\nclass A:\n    x = 1\n    def f(self):\n        os.abort()";
    let piece = |part: &str| text.find(part).unwrap();
    let ranges = [0..10, piece("class")..piece("    x"), piece("    def")..text.len()];
    let rows = read(text, &ranges, false).unwrap().rows;
    let shown: Vec<&str> = rows.root().walk().filter_map(|node| text.get(node.span().range())).collect();
    for part in ["import os", "A", "f", "self", "os.abort()", "abort"] {
        assert!(shown.contains(&part), "{part}: {shown:?}");
    }
    let class = rows.root().walk().find(|node| text[node.span().range()].starts_with("class")).unwrap();
    assert_eq!(class.span().range(), piece("class")..text.len());
}

#[test]
fn a_text_with_a_fault_is_left_to_the_grammar() {
    for text in ["print 'a'\n", "def f(:\n", "x = (\n", "exec 'a' in b\n", "raise E, 'a'\n", "x = 0777\n"] {
        assert!(read(text, &[], false).is_none(), "{text}");
    }
    // Deep, and yet no fault.
    let deep = format!("x = {}1{}\n", "(".repeat(3000), ")".repeat(3000));
    assert!(read(&deep, &[], false).is_none());
}

#[test]
fn comments_are_given_where_they_are_asked_for() {
    let text = "x = 1 # one\n# two\ny = '# no'\n";
    let comments = read(text, &[], true).unwrap().comments;
    let shown: Vec<&str> = comments.iter().map(|span| &text[span.range()]).collect();
    assert_eq!(shown, ["# one", "# two"]);
    assert!(read(text, &[], false).unwrap().comments.is_empty());
}
