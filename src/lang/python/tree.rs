//! A parsed text as one row a node, in the order of the text. Lowering looks at a tree several
//! times (names first, then code), and asks each node for its kind and its fields: rows answer
//! that from memory, where the parser's own tree walks and compares names. Nothing here knows
//! what a node means.

use std::cell::Cell;
use std::sync::LazyLock;

use tree_sitter::{Language, Tree};

use crate::base::scratch::Scratch;
use crate::base::span::Span;

/// Names the kinds of node, or the fields, that lowering asks for; all others are one.
macro_rules! named {
    ($(#[$doc:meta])* $kind:ident, $other:ident: $($variant:ident = $name:literal,)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum $kind { $other, $($variant,)* }

        impl $kind {
            #[cfg(test)]
            const NAMES: &[&str] = &[$($name,)*];

            fn of(name: &str) -> $kind {
                match name {
                    $($name => $kind::$variant,)*
                    _ => $kind::$other,
                }
            }
        }
    };
}

named! {
    /// What a node is.
    Kind, Other:
    Add = "+",
    AddAssign = "+=",
    AliasedImport = "aliased_import",
    And = "and",
    AsPattern = "as_pattern",
    AsPatternTarget = "as_pattern_target",
    Assert = "assert_statement",
    Assignment = "assignment",
    Async = "async",
    Attribute = "attribute",
    Augmented = "augmented_assignment",
    Await = "await",
    Binary = "binary_operator",
    Block = "block",
    Boolean = "boolean_operator",
    Break = "break_statement",
    Call = "call",
    CaseClause = "case_clause",
    CasePattern = "case_pattern",
    Class = "class_definition",
    ClassPattern = "class_pattern",
    Comparison = "comparison_operator",
    ConcatenatedString = "concatenated_string",
    Conditional = "conditional_expression",
    Continue = "continue_statement",
    Decorated = "decorated_definition",
    Decorator = "decorator",
    DefaultParameter = "default_parameter",
    Delete = "delete_statement",
    Dictionary = "dictionary",
    DictionaryComprehension = "dictionary_comprehension",
    DictionarySplat = "dictionary_splat",
    DictionarySplatPattern = "dictionary_splat_pattern",
    DottedName = "dotted_name",
    Elif = "elif_clause",
    Else = "else_clause",
    Error = "ERROR",
    Except = "except_clause",
    Exec = "exec_statement",
    ExpressionList = "expression_list",
    ExpressionStatement = "expression_statement",
    False = "false",
    Finally = "finally_clause",
    For = "for_statement",
    ForIn = "for_in_clause",
    From = "from",
    Function = "function_definition",
    FutureImport = "future_import_statement",
    Generator = "generator_expression",
    Global = "global_statement",
    Identifier = "identifier",
    If = "if_statement",
    IfClause = "if_clause",
    Import = "import_statement",
    ImportFrom = "import_from_statement",
    Integer = "integer",
    Interpolation = "interpolation",
    KeywordArgument = "keyword_argument",
    KeywordPattern = "keyword_pattern",
    KeywordSeparator = "keyword_separator",
    Lambda = "lambda",
    List = "list",
    ListComprehension = "list_comprehension",
    ListPattern = "list_pattern",
    ListSplat = "list_splat",
    ListSplatPattern = "list_splat_pattern",
    Match = "match_statement",
    Module = "module",
    NamedExpression = "named_expression",
    None = "none",
    Nonlocal = "nonlocal_statement",
    Not = "not_operator",
    Or = "or",
    Pair = "pair",
    Parenthesized = "parenthesized_expression",
    ParenthesizedListSplat = "parenthesized_list_splat",
    Pass = "pass_statement",
    PatternList = "pattern_list",
    Percent = "%",
    PercentAssign = "%=",
    Print = "print_statement",
    Raise = "raise_statement",
    Return = "return_statement",
    Set = "set",
    SetComprehension = "set_comprehension",
    Slash = "/",
    SlashAssign = "/=",
    Slice = "slice",
    String = "string",
    StringContent = "string_content",
    Subscript = "subscript",
    Subtract = "-",
    True = "true",
    Try = "try_statement",
    Tuple = "tuple",
    TuplePattern = "tuple_pattern",
    Type = "type",
    TypeAlias = "type_alias_statement",
    TypedDefaultParameter = "typed_default_parameter",
    TypedParameter = "typed_parameter",
    Unary = "unary_operator",
    While = "while_statement",
    WildcardImport = "wildcard_import",
    With = "with_statement",
    WithClause = "with_clause",
    Yield = "yield",
}

named! {
    /// The part that a node plays in the one above it.
    Field, Other:
    Alias = "alias",
    Alternative = "alternative",
    Argument = "argument",
    Arguments = "arguments",
    Attribute = "attribute",
    Body = "body",
    Condition = "condition",
    Consequence = "consequence",
    Definition = "definition",
    Expression = "expression",
    FormatSpecifier = "format_specifier",
    Function = "function",
    Guard = "guard",
    Key = "key",
    Left = "left",
    ModuleName = "module_name",
    Name = "name",
    Object = "object",
    Operator = "operator",
    Operators = "operators",
    Parameters = "parameters",
    ReturnType = "return_type",
    Right = "right",
    Subject = "subject",
    Subscript = "subscript",
    Superclasses = "superclasses",
    Type = "type",
    TypeConversion = "type_conversion",
    Value = "value",
}

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

/// A node: 16 bytes.
#[derive(Debug, Clone, Copy)]
struct Row {
    start: u32,
    end: u32,
    /// The row after everything below this one.
    next: u32,
    kind: Kind,
    field: Field,
    /// Keywords and operators have no name of their own.
    named: bool,
}

/// Rows that a worker keeps for its next file, at most.
const MOST_KEPT: usize = 1 << 14;

thread_local! {
    static KEPT: Cell<Vec<Row>> = const { Cell::new(Vec::new()) };
}

/// The rows of a tree: every named node but comments, and the keywords and operators that tell something.
pub(super) struct Rows {
    rows: Scratch<Row>,
}

impl Rows {
    /// The rows of a parsed text.
    pub(super) fn new(tree: &Tree) -> Rows {
        let numbers = &*NUMBERS;
        let mut rows = Scratch::new(&KEPT, MOST_KEPT);
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
                    let at = rows.len();
                    rows.push(Row {
                        start: span.start,
                        end: span.end,
                        next: at as u32 + 1,
                        kind,
                        field,
                        named,
                    });
                    // Most nodes are leaves, and nothing below a string's text is asked for.
                    enter =
                        node.child_count() > 0 && kind != Kind::StringContent && cursor.goto_first_child();
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
                rows[at].next = rows.len() as u32;
                if !cursor.goto_parent() {
                    break 'walk;
                }
            }
        }
        Rows { rows }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The whole text's node.
    pub(super) fn root(&self) -> Node<'_> {
        Node { rows: &self.rows, at: 0 }
    }
}

/// A node of a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'t> {
    rows: &'t [Row],
    at: u32,
}

impl<'t> Node<'t> {
    fn row(self) -> Row {
        self.rows[self.at as usize]
    }

    /// What it is.
    pub(super) fn kind(self) -> Kind {
        self.row().kind
    }

    /// Where it stands.
    pub(super) fn span(self) -> Span {
        let row = self.row();
        Span { start: row.start, end: row.end }
    }

    /// Whether both are the same node of one tree.
    pub(super) fn is(self, other: Node<'_>) -> bool {
        self.at == other.at
    }

    /// The named nodes right below it, in order, comments aside.
    pub(super) fn children(self) -> impl Iterator<Item = Node<'t>> + Clone {
        self.all().filter(|child| child.row().named)
    }

    /// The first node below it that plays a part.
    pub(super) fn field(self, field: Field) -> Option<Node<'t>> {
        self.all().find(|child| child.row().field == field)
    }

    /// The nodes below it that play a part.
    pub(super) fn fields(self, field: Field) -> impl Iterator<Item = Node<'t>> {
        self.all().filter(move |child| child.row().field == field)
    }

    /// Whether a keyword stands right below it.
    pub(super) fn has(self, keyword: Kind) -> bool {
        self.all().any(|child| child.row().kind == keyword && !child.row().named)
    }

    fn all(self) -> Siblings<'t> {
        Siblings { rows: self.rows, at: self.at + 1, end: self.row().next }
    }

    /// It and every named node below it, in the order of the text.
    pub(super) fn walk(self) -> Walk<'t> {
        Walk { rows: self.rows, at: self.at, end: self.row().next, below: self.at }
    }
}

#[derive(Clone)]
struct Siblings<'t> {
    rows: &'t [Row],
    at: u32,
    end: u32,
}

impl<'t> Iterator for Siblings<'t> {
    type Item = Node<'t>;

    fn next(&mut self) -> Option<Node<'t>> {
        if self.at >= self.end {
            return None;
        }
        let node = Node { rows: self.rows, at: self.at };
        self.at = node.row().next;
        Some(node)
    }
}

/// See [`Node::walk`].
pub(super) struct Walk<'t> {
    rows: &'t [Row],
    at: u32,
    end: u32,
    /// The row after everything below the last node.
    below: u32,
}

impl Walk<'_> {
    /// Leaves out what lies below the last node.
    pub(super) fn pass_over(&mut self) {
        self.at = self.below;
    }
}

impl<'t> Iterator for Walk<'t> {
    type Item = Node<'t>;

    fn next(&mut self) -> Option<Node<'t>> {
        while self.at < self.end {
            let node = Node { rows: self.rows, at: self.at };
            self.at += 1;
            let row = node.row();
            if row.named {
                self.below = row.next;
                return Some(node);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::python::parse;
    use crate::lang::syntax::named_children;

    /// Holds the rows of a text against the parser's own nodes.
    fn agree(text: &str) {
        let tree = parse(text).unwrap();
        let rows = Rows::new(&tree);
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
        let walked: Vec<u32> = rows.root().walk().map(|node| node.at).collect();
        assert!(walked.is_sorted() && walked.iter().all(|at| rows.rows[*at as usize].named));
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
