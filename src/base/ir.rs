//! The program facts of one file, the same for every language that reach follows.
//!
//! A language lowers its syntax tree to a [`Program`]: an arena of expressions, cells
//! (one for each set of bindings that may reach a use), functions and classes. Whatever
//! a language does not model is [`Expr::Unknown`], with its subexpressions lowered
//! before it, so that the calls inside it are still seen. No offset here refers to
//! anything but the decoded text of the file.
//!
//! Invariants: an expression refers only to expressions of the same program; a
//! function's expressions lie in [`Function::exprs`], one contiguous range; function 0
//! is the module's top level.

use serde::{Deserialize, Serialize};

use super::span::Span;

/// Index of an expression in [`Program::exprs`].
pub type ExprId = u32;
/// Index of a cell in [`Program::cells`].
pub type CellId = u32;
/// Index of a function in [`Program::functions`].
pub type FuncId = u32;
/// Index of a class in [`Program::classes`].
pub type ClassId = u32;
/// Index of a guard in [`Program::guards`].
pub type GuardId = u32;

/// Before the name of a class's member that an implementation of a trait from outside gives: whoever
/// takes a value of the class may call it.
pub const FOREIGN: &str = "impl ";
/// Before the name of a store into a trait: the member that one implementation gives.
pub const DYNAMIC: &str = "dyn ";

/// One argument of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arg {
    /// Its value.
    pub value: ExprId,
    /// Its keyword, if it has one.
    pub name: Option<String>,
    /// Whether it is spread.
    pub spread: Spread,
}

impl Arg {
    /// A plain positional argument.
    pub fn positional(value: ExprId) -> Arg {
        Arg { value, name: None, spread: Spread::No }
    }
}

/// Whether an argument, element or parameter stands for several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Spread {
    /// One value.
    No,
    /// The elements of a sequence (`*args`, `...args`).
    Sequence,
    /// The entries of a mapping (`**kwargs`).
    Mapping,
}

/// A binary operator, as far as folding needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BinaryOp {
    /// Addition or concatenation.
    Add,
    /// Python's `%` formatting, or a remainder.
    Percent,
    /// Python's `|`: the entries of both sides, or either type.
    Union,
    /// Path joining (`/`), or a division.
    Slash,
    /// Equality, identity included.
    Equal,
    /// Inequality.
    NotEqual,
    /// Greater than.
    Greater,
    /// Less than.
    Less,
    /// Membership: the left side is held by the right one.
    In,
    /// No membership.
    NotIn,
    /// Logical and: the value of either side.
    And,
    /// Logical or, null-coalescing: the value of either side.
    Or,
    /// Any other operator: the result is unknown.
    Other,
}

/// An expression.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Expr {
    /// Nothing is known; what it contains was lowered before it.
    Unknown,
    /// A string literal.
    Str(String),
    /// An integer literal.
    Int(i64),
    /// A Boolean literal.
    Bool(bool),
    /// `None`, `null`, `undefined`, `nil`.
    Null,
    /// A string made of parts in order (f-string, template literal, `format!`).
    Template(Vec<ExprId>),
    /// A read of a variable: the union of the cell's bindings.
    Cell(CellId),
    /// A thing outside the tree, by canonical dotted path: `os`, `os.execv`,
    /// `std::process::abort`, `builtins.exit`, `process`.
    External(String),
    /// Something imported; the linker finds out whether it lies in the tree. Boxed, since with
    /// its two texts it would be the largest kind of expression.
    Import(Box<Import>),
    /// A member of a value.
    Attr {
        /// The value.
        base: ExprId,
        /// The member's name.
        name: String,
    },
    /// An element of a container, or a computed member.
    Index {
        /// The container.
        base: ExprId,
        /// The key.
        key: ExprId,
    },
    /// A call.
    Call(Call),
    /// A list, tuple, set or array.
    Seq(Vec<(ExprId, Spread)>),
    /// A dictionary or object literal; `None` as key spreads the value.
    Map(Vec<(Option<ExprId>, ExprId)>),
    /// Any one of these values (conditional expression, match arms).
    Union(Vec<ExprId>),
    /// A function value; its body is [`Program::functions`] at that index.
    Func(FuncId),
    /// A class value.
    Class(ClassId),
    /// A binary operation.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Left side.
        left: ExprId,
        /// Right side.
        right: ExprId,
    },
    /// Logical negation.
    Not(ExprId),
    /// Arithmetic negation.
    Neg(ExprId),
    /// One element of an iterable: a loop variable, a destructured element of unknown position.
    Element(ExprId),
    /// The element at a fixed position of a sequence.
    Item(ExprId, u32),
    /// A slice of a sequence from a constant start, when that is known, to its end.
    Slice(ExprId, Option<u32>),
    /// The awaited value of an expression; also any other step that leaves callables as they are.
    Same(ExprId),
    /// Some instance of the class that an expression names: what a declared type says.
    Instance(ExprId),
    /// The value that entering a context manager yields.
    Enter(ExprId),
    /// The parent class's view of the current instance (`super()`).
    Super(ClassId),
}

/// An expression and its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// What it is.
    pub expr: Expr,
    /// Where it stands.
    pub span: Span,
    /// The conditions under which it is evaluated.
    pub guard: Option<GuardId>,
    /// The function whose code it is part of.
    pub function: FuncId,
}

impl Node {
    /// Whether it is a string as written.
    pub fn is_text(&self) -> bool {
        matches!(self.expr, Expr::Str(_) | Expr::Template(_))
    }
}

/// A call expression.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// What is called.
    pub callee: ExprId,
    /// Its arguments in order; boxed, since calls make the largest kind of expression.
    pub args: Box<[Arg]>,
    /// What sort of call this is.
    pub kind: CallKind,
}

/// The sort of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallKind {
    /// An ordinary call.
    Plain,
    /// A constructor call (`new X()`).
    New,
    /// A decorator applied to a definition: the decorated value is the only argument.
    Decorator,
    /// A raised or thrown value (`raise SystemExit`).
    Raise,
    /// Starts another thread of control (`go f()`, `defer f()`).
    Deferred,
}

/// An import, as written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Import {
    /// The module specifier as the language writes it: `a.b`, `..util`, `./ops.mjs`, `crate::ops`.
    pub module: String,
    /// The imported name; `None` for the module itself, `"*"` never (see [`Program::stars`]).
    pub name: Option<String>,
}

/// A set of bindings that may reach a use of a name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cell {
    /// The variable's name.
    pub name: String,
    /// The values it may hold.
    pub values: Vec<ExprId>,
    /// Other cells whose values it may hold (joins of branches, loops, closures).
    pub from: Vec<CellId>,
}

/// A condition under which code runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guard {
    /// The enclosing guard.
    pub parent: Option<GuardId>,
    /// What kind of condition.
    pub kind: GuardKind,
}

/// The kinds of [`Guard`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum GuardKind {
    /// The branch where the condition holds (`true`) or does not (`false`).
    Branch(ExprId, bool),
    /// Code after a branch on this condition that always leaves; the flag is the value that the condition has here.
    AfterLeaving(ExprId, bool),
    /// Code after a loop over this expression has ended.
    AfterLoop(ExprId),
    /// An exception handler.
    Handler,
    /// A handler of the host's interrupt alone (`except KeyboardInterrupt`).
    Interrupted,
}

/// A parameter of a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// The cell that uses inside the function read. A default value is among the cell's values.
    pub cell: CellId,
    /// Whether it collects further arguments.
    pub spread: Spread,
    /// Can only be given by keyword.
    pub keyword_only: bool,
}

/// What a function is, beside ordinary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FunctionKind {
    /// The module's top level; also class bodies, which run with it.
    Module,
    /// Code that runs only when the file is the program (`if __name__ == "__main__"`).
    MainGuard,
    /// An ordinary function or a lambda.
    Plain,
    /// Called on an instance: its first parameter is the instance, if the language has an explicit one.
    Method,
    /// Called on a class: its first parameter is the class.
    ClassMethod,
    /// Called without an instance.
    Static,
    /// Read like an attribute.
    Property,
}

/// A function, method, lambda, or a module's top level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Its own name; empty for a lambda.
    pub name: String,
    /// `Class.method`, `function`, `<module>`; for a lambda or closure the enclosing symbol.
    pub symbol: String,
    /// The whole definition.
    pub span: Span,
    /// Which kind.
    pub kind: FunctionKind,
    /// The class it is a member of.
    pub class: Option<ClassId>,
    /// The function that it is written in; `None` for function 0.
    pub parent: Option<FuncId>,
    /// Its parameters in order, the instance's among them.
    pub params: Vec<Param>,
    /// For languages where the instance is not a parameter (`this`): the cell of it.
    pub this: Option<CellId>,
    /// Values that it returns.
    pub returns: Vec<ExprId>,
    /// Values that it yields.
    pub yields: Vec<ExprId>,
    /// Its expressions, a contiguous range of [`Program::exprs`].
    pub exprs: std::ops::Range<ExprId>,
    /// Code that only tests run.
    pub test_only: bool,
    /// Declared asynchronous.
    pub is_async: bool,
}

/// A class, struct with methods, or object with a prototype.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Its qualified name.
    pub symbol: String,
    /// The whole definition.
    pub span: Span,
    /// Its base classes in order.
    pub bases: Vec<ExprId>,
    /// Members by name: methods and class attributes, after decorators.
    pub members: Vec<(String, ExprId)>,
    /// Decorators and other values applied to the class.
    pub decorators: Vec<ExprId>,
    /// Annotated names in the order of the text: the parameters of a constructor made of them.
    pub fields: Vec<String>,
    /// The class of the class, where it is named.
    pub meta: Option<ExprId>,
}

/// A store into an attribute or an element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Store {
    /// The object or container.
    pub base: ExprId,
    /// Where in it.
    pub slot: Slot,
    /// What is stored.
    pub value: ExprId,
}

/// A place in an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Slot {
    /// An attribute by name.
    Attr(String),
    /// An element by key.
    Key(ExprId),
    /// Some element (`append`, `push`).
    Any,
}

/// An import statement, for the import graph: where, and in which function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportSite {
    /// What is imported. `name` is given for `from m import n`, since `m.n` may be a module.
    pub import: Import,
    /// Its place.
    pub span: Span,
    /// The function that it stands in.
    pub function: FuncId,
}

/// The program facts of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Program {
    /// The expression arena.
    pub exprs: Vec<Node>,
    /// The cell arena.
    pub cells: Vec<Cell>,
    /// Functions; 0 is the module's top level.
    pub functions: Vec<Function>,
    /// Classes.
    pub classes: Vec<Class>,
    /// Guards.
    pub guards: Vec<Guard>,
    /// Stores into attributes and elements.
    pub stores: Vec<Store>,
    /// Import statements in order.
    pub imports: Vec<ImportSite>,
    /// Names that other files can import, with the cell that holds their final value. `"default"` and
    /// `"module.exports"` are names like others.
    pub exports: Vec<(String, CellId)>,
    /// Modules all of whose exports are re-exported (`from m import *`, `export * from`).
    pub stars: Vec<String>,
    /// What `from this import *` brings, if the file says so (`__all__`).
    pub public: Option<Vec<String>>,
}

impl Program {
    /// The expressions that a cell may hold, through joins of at most `most` cells.
    pub fn bound_values(&self, cell: CellId, most: usize) -> Vec<ExprId> {
        let mut cells = vec![cell];
        let mut values = Vec::new();
        let mut read = 0;
        while let Some(at) = cells.get(read).copied() {
            read += 1;
            let cell = &self.cells[at as usize];
            values.extend(cell.values.iter().copied());
            for from in &cell.from {
                if cells.len() < most && !cells.contains(from) {
                    cells.push(*from);
                }
            }
        }
        values
    }

    /// Gives back the room that the arenas of a finished program do not need: it is kept as long as
    /// the tree is, and a list that grew by doubling may be half empty.
    pub fn shrink(&mut self) {
        exact(&mut self.exprs);
        exact(&mut self.cells);
        exact(&mut self.functions);
        exact(&mut self.classes);
        exact(&mut self.guards);
        exact(&mut self.stores);
        exact(&mut self.imports);
        exact(&mut self.exports);
    }
}

/// Moves a list to a block of its size. Shrinking it where it lies would free nothing: an allocator
/// leaves a block alone that is more than half full.
fn exact<T>(list: &mut Vec<T>) {
    if list.capacity() > list.len() {
        let mut fitting = Vec::with_capacity(list.len());
        fitting.append(list);
        *list = fitting;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_stays_small() {
        // There are millions of them in a large tree.
        assert_eq!((size_of::<Expr>(), size_of::<Node>()), (32, 56));
    }
}
