//! Floor 3: one reader a language. A reader knows its syntax and lowers it to facts; it
//! knows no rule, no inventory and no other language.

pub mod builder;
pub mod python;
pub mod syntax;
