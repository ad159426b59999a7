//! What tree-sitter-python makes of a text, as rows: it reads what is broken, or written for Python 2, as
//! far as that goes, and stops after a while.

use std::ops::Range;
use std::sync::LazyLock;

use tree_sitter::{Language, Tree};

use super::tree::{Field, Kind, Rows};
use crate::base::span::Span;
use crate::lang::reading;

/// Kinds and fields by the grammar's numbers.
struct Numbers {
    kinds: Vec<Kind>,
    fields: Vec<Field>,
}

static NUMBERS: LazyLock<Numbers> = LazyLock::new(|| {
    let language: Language = tree_sitter_python::LANGUAGE.into();
    let kinds = (0..language.node_kind_count()).map(|id| {
        u16::try_from(id).ok().and_then(|id| language.node_kind_for_id(id)).map_or(Kind::Other, Kind::of)
    });
    let fields = (0..=language.field_count()).map(|id| {
        u16::try_from(id).ok().and_then(|id| language.field_name_for_id(id)).map_or(Field::Other, Field::of)
    });
    Numbers { kinds: kinds.collect(), fields: fields.collect() }
});

/// Parses a text, or the ranges of it; `None` if it took too long.
pub(super) fn parse(text: &str, ranges: &[Range<usize>]) -> Option<Tree> {
    reading::parse_ranges(&tree_sitter_python::LANGUAGE.into(), text, ranges)
}

/// The rows of a parsed text.
pub(super) fn rows(tree: &Tree) -> Rows {
    let numbers = &*NUMBERS;
    let mut rows = Rows::empty();
    let mut open: Vec<usize> = Vec::new();
    let mut cursor = tree.walk();
    'walk: loop {
        let node = cursor.node();
        let mut enter = false;
        if !node.is_extra() || open.is_empty() {
            let id = node.kind_id();
            let kind = match numbers.kinds.get(usize::from(id)) {
                Some(kind) => *kind,
                None => Kind::Error,
            };
            let field = cursor.field_id().map_or(Field::Other, |id| {
                numbers.fields.get(usize::from(id.get())).copied().unwrap_or(Field::Other)
            });
            let named = node.is_named();
            if named || field != Field::Other || matches!(kind, Kind::Async | Kind::From) {
                let span = Span::new(node.start_byte(), node.end_byte());
                let at = rows.push(kind, field, named, span);
                // Most nodes are leaves, and nothing below a string's text is asked for.
                enter = node.child_count() > 0 && kind != Kind::StringContent && cursor.goto_first_child();
                if enter {
                    open.push(at);
                }
            }
        }
        if enter {
            continue;
        }
        while !cursor.goto_next_sibling() {
            let Some(at) = open.pop() else { break 'walk };
            rows.close(at);
            if !cursor.goto_parent() {
                break 'walk;
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::syntax::named_children;

    /// Holds the rows of a text against the parser's own nodes.
    fn agree(text: &str) {
        let tree = parse(text, &[]).unwrap();
        let rows = rows(&tree);
        let place = |node: tree_sitter::Node<'_>| Span::new(node.start_byte(), node.end_byte());
        let mut stack = vec![(tree.root_node(), rows.root())];
        while let Some((node, row)) = stack.pop() {
            assert_eq!((Kind::of(node.kind()), place(node)), (row.kind(), row.span()), "{node}");
            // The parser gives the cases of a `match` twice: to its block, and to itself.
            let asked = |name: &&&str| row.kind() != Kind::Match || **name != "alternative";
            for name in Field::NAMES.iter().filter(asked) {
                let wanted = node.child_by_field_name(name).map(|n| (Kind::of(n.kind()), place(n)));
                let found = row.field(Field::of(name)).map(|n| (n.kind(), n.span()));
                assert_eq!(wanted, found, "{name} of {node}");
            }
            for (keyword, at) in [(Kind::Async, 0), (Kind::From, 1)] {
                let matters = matches!(row.kind(), Kind::Function | Kind::With | Kind::Yield);
                let wanted = node.child(at).is_some_and(|c| Kind::of(c.kind()) == keyword);
                assert!(!matters || wanted == row.has(keyword), "{node}");
            }
            if row.kind() != Kind::StringContent {
                let children = named_children(node);
                assert_eq!(children.len(), row.children().count(), "{node}");
                stack.extend(children.into_iter().zip(row.children()));
            }
        }
        let walked: Vec<u32> = rows.root().walk().map(|node| node.span().start).collect();
        assert!(walked.is_sorted() && walked.len() <= rows.len());
    }

    #[test]
    fn the_grammar_knows_every_name() {
        let language: Language = tree_sitter_python::LANGUAGE.into();
        let is_kind =
            |name: &str| [true, false].iter().any(|named| language.id_for_node_kind(name, *named) != 0);
        assert!(Kind::NAMES.iter().all(|name| *name == "ERROR" || is_kind(name)));
        assert!(Field::NAMES.iter().all(|name| language.field_id_for_name(name).is_some()));
    }

    #[test]
    fn rows_tell_what_the_parser_tells() {
        agree("");
        agree(
            r"
import a.b as c, d
from . import (x, # one
  y as z)
from m import *
@deco(1)
async def f(a, *b: int, c=1, d: str = 's', **e) -> T:
    '''doc\n'''
    async with g() as h, i: pass
    yield from f'{a!r:>{w}} {b}' 'c'
    x: int = y = -1 + 2 % 3 or not z
    k += lambda *p, q=1: (p if q else None, *r)
    return x[1:2, ::3][0](*a, k=1, **b)
class A[T](B, metaclass=M):
    # note
    n: int
    def m(self): global t; nonlocal u; del v, w[0]
try:
    raise E from e
except* (A, B) as e: pass
except C: ...
else: pass
finally: pass
for a, *b in c:
    continue
else: break
while (n := 1) is not 2 < 3: pass
match p:
    case {'a': q, **r} | C(s, t=1) if u: pass
    case _: pass
v = [i async for i in j if i] + [k for k in l] + {**m, 'n': {o for o in p}}
if a: b
elif c: d
else: e
print >>f, 1
exec 'x' in y
assert a, b
",
        );
        agree("def f(:\n  x = (1,\nclass : pass\n'''open {x}");
    }
}
