//! Strings that are known in part: what constant folding yields and what the
//! command classifier reads.

use serde::{Deserialize, Serialize};

/// Where a piece that does not fold to a literal comes from, as far as it matters
/// for deciding what a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Origin {
    /// Nothing is known about it.
    Unknown,
    /// The interpreter or runtime that runs this program (`sys.executable`, `process.execPath`).
    Interpreter,
    /// The file of this program (`__file__`, `sys.argv[0]`, `__filename`).
    OwnScript,
    /// All arguments of this program, the script's name among them (`sys.argv`).
    OwnArgv,
    /// The arguments of this program without its own name (`sys.argv[1:]`).
    OwnArgs,
    /// The executable of this program (`current_exe()`, `os.Args[0]` in Go).
    OwnProgram,
    /// The dotted name of this file's module, as in `-m NAME` (`__name__`, `__spec__.name`).
    OwnModule,
    /// The dotted name of the package that this file lies in (`__package__`).
    OwnPackage,
    /// This process's pid.
    OwnPid,
    /// This process's group.
    OwnGroup,
    /// The pid (or group) of a child that the same function or class started.
    ChildPid,
    /// A parameter of the enclosing function, by its number: the caller decides.
    Parameter(u16),
}

/// One piece of a [`Text`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Piece {
    /// Literal text.
    Literal(String),
    /// A part that is not a literal.
    Free(Origin),
    /// In an argument list: any number of further words of that origin (`*sys.argv`).
    Rest(Origin),
}

/// A string known in part: literal and free pieces in order. Adjacent literals
/// are always joined, so a fully known string has at most one piece.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Text {
    pieces: Vec<Piece>,
}

impl Text {
    /// A fully known string.
    pub fn literal(text: impl Into<String>) -> Text {
        let text = text.into();
        Text { pieces: if text.is_empty() { Vec::new() } else { vec![Piece::Literal(text)] } }
    }

    /// A wholly free string of that origin.
    pub fn free(origin: Origin) -> Text {
        Text { pieces: vec![Piece::Free(origin)] }
    }

    /// Any number of words of that origin; meaningful in argument lists only.
    pub fn rest(origin: Origin) -> Text {
        Text { pieces: vec![Piece::Rest(origin)] }
    }

    /// Appends one piece, joining adjacent literals.
    pub fn push(&mut self, piece: Piece) {
        match (self.pieces.last_mut(), piece) {
            (_, Piece::Literal(new)) if new.is_empty() => {}
            (Some(Piece::Literal(old)), Piece::Literal(new)) => old.push_str(&new),
            (_, piece) => self.pieces.push(piece),
        }
    }

    /// The literal text that it begins with and that it ends with; empty where an end is free.
    pub fn ends(&self) -> (&str, &str) {
        fn literal(piece: Option<&Piece>) -> &str {
            match piece {
                Some(Piece::Literal(text)) => text,
                _ => "",
            }
        }
        (literal(self.pieces.first()), literal(self.pieces.last()))
    }

    /// Appends another text.
    pub fn extend(&mut self, other: &Text) {
        for piece in &other.pieces {
            self.push(piece.clone());
        }
    }

    /// The pieces in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The whole string, if no piece is free.
    pub fn as_literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The origin, if the text is exactly one free piece.
    pub fn origin(&self) -> Option<Origin> {
        match self.pieces.as_slice() {
            [Piece::Free(origin) | Piece::Rest(origin)] => Some(*origin),
            _ => None,
        }
    }

    /// Whether this stands for any number of words.
    pub fn is_rest(&self) -> bool {
        matches!(self.pieces.as_slice(), [Piece::Rest(_)])
    }

    /// The literal pieces with each free piece shown as `…`, for messages.
    pub fn display(&self) -> String {
        self.pieces
            .iter()
            .map(|p| match p {
                Piece::Literal(text) => text.as_str(),
                Piece::Free(_) | Piece::Rest(_) => "…",
            })
            .collect()
    }
}
