//! A parsed text as one row a node, in the order of the text. Lowering looks at a tree several
//! times (names first, then code), and asks each node for its kind and its fields: rows answer
//! that from memory, where the parser's own tree walks and compares names. Nothing here knows
//! what a node means.

use std::cell::Cell;

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
            pub(super) const NAMES: &[&str] = &[$($name,)*];

            /// What a name of the grammar stands for.
            pub(super) fn of(name: &str) -> $kind {
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
    EqualTo = "==",
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
    Greater = ">",
    Identifier = "identifier",
    If = "if_statement",
    IfClause = "if_clause",
    Import = "import_statement",
    ImportFrom = "import_from_statement",
    In = "in",
    Integer = "integer",
    Interpolation = "interpolation",
    Is = "is",
    IsNot = "is not",
    KeywordArgument = "keyword_argument",
    KeywordPattern = "keyword_pattern",
    KeywordSeparator = "keyword_separator",
    Lambda = "lambda",
    Less = "<",
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
    NotEqualTo = "!=",
    NotIn = "not in",
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
    Union = "|",
    UnionAssign = "|=",
    Unequal = "<>",
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

/// The rows of a text: every named node but comments, and the keywords and operators that tell something.
pub(super) struct Rows {
    rows: Scratch<Row>,
}

impl Rows {
    /// No rows yet.
    pub(super) fn empty() -> Rows {
        Rows { rows: Scratch::new(&KEPT, MOST_KEPT) }
    }

    /// Adds a node after all others, which is below those that are still open.
    pub(super) fn push(&mut self, kind: Kind, field: Field, named: bool, span: Span) -> usize {
        let at = self.rows.len();
        self.rows.push(Row { start: span.start, end: span.end, next: at as u32 + 1, kind, field, named });
        at
    }

    /// Says that everything since lies below this node.
    pub(super) fn close(&mut self, at: usize) {
        self.rows[at].next = self.rows.len() as u32;
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
